// Package pdf is the engine for PDF files: text, pictures of pages, pages chosen and put together, embedded files, metadata,
// sanitising, and redaction that takes content away and proves it.
//
// What pages show is read from their content, with the fonts that the file describes. PDFium draws pages, and reads those whose
// characters are not known otherwise, in WebAssembly: compiled into this program, without files, network or clock, each document
// in memory of its own that ends with it. The objects of a file are read and rewritten by package object, and every stream and
// string of a redacted file is looked through before that is given out. Scripts and actions of a document are never run.
//
// PDFium starts when it is first needed: seconds without [Config].Cache, a fraction of one with it.
package pdf

import (
	"context"

	"github.com/tackle-dev/tackle/media"
)

const mime = "application/pdf"

// engine has two sandboxes, of which each starts when it is first needed: one whose calls can be stopped, and a quick one.
type engine struct{ box, quick *sandbox }

// Engine returns the engine. Making it starts nothing.
func Engine(cfg Config) media.Engine {
	e := &engine{newSandbox(cfg, false), newSandbox(cfg, true)}
	over := []string{mime}
	return media.Engine{
		ID:    "pdf",
		Locks: true,
		Convert: []media.Convert{
			{From: over, To: []string{"txt"}, Keep: media.Text, Do: e.toText},
			{From: over, To: []string{"md", "html"}, Keep: media.Text, Do: e.toMarkup},
			{From: over, To: []string{"images"}, Keep: media.Visual, Do: e.toImages},
			{From: []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff"}, To: []string{"pdf"}, Keep: media.Visual, Do: fromImage},
		},
		Edit: []media.Edit{
			{Over: over, Ops: []string{"select", "reorder", "merge", "split"}, Do: e.arrange},
			{Over: over, Ops: []string{"redact"}, Do: e.redact},
			{Over: over, Ops: []string{"sanitize"}, Do: e.sanitize},
			{Over: over, Ops: []string{"update_text", "normalize"}, Do: refuse},
			{Over: over, Ops: []string{"extract.metadata"}, Do: e.describe},
			{Over: over, Ops: []string{"extract.assets"}, Do: e.assets},
		},
	}
}

// refuse says what a page cannot do.
func refuse(_ context.Context, r *media.Request) (media.Result, error) {
	if r.Op == "normalize" {
		return media.Result{}, media.Refusef("a PDF has no line endings or blanks to normalise. sanitize removes scripts and hidden content; convert to=txt gives its text.")
	}
	return media.Result{}, media.Refusef("the text of a PDF cannot be changed reliably: its lines do not flow. Change the document that it was made of, or convert to=md and work on that.")
}
