// Package ooxml is the engine for documents (docx) and presentations (pptx).
//
// A file is changed as a surgeon would: a change is a splice of the bytes of one part, and every part that the change does
// not concern is the same bytes as before. Prefixes, unknown elements and the formatting of runs stay. Redaction looks at
// every part that can hold words, in the ways a reader and a program could see them, looks again at the result, and gives
// out nothing that still holds a match.
//
// Encrypted files are opened with the password of the step; what is made of them is not encrypted. Signed ones are read; a change ends the signature, and is done only where the step says so.
package ooxml

import (
	"context"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
)

const (
	docxMIME = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	pptxMIME = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	xlsxMIME = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	xlsmMIME = "application/vnd.ms-excel.sheet.macroenabled.12"
)

// Engine returns the engine.
func Engine() media.Engine {
	both := []string{docxMIME, pptxMIME}
	return media.Engine{
		ID:    "ooxml",
		Locks: true,
		Convert: []media.Convert{
			{From: []string{media.EmptyMIME}, To: []string{"docx", "pptx"}, Keep: media.Exact, Do: blank},
			{From: []string{"text/markdown", "text/html", "text/plain"}, To: []string{"docx"}, Keep: media.Structure, Do: toDoc},
			{From: both, To: []string{"txt", "md", "html"}, Keep: media.Structure, Do: convert},
			{From: []string{lockedMIME}, To: []string{"txt", "md", "html"}, Keep: media.Structure, Do: unlocked},
		},
		Edit: []media.Edit{
			{Over: []string{lockedMIME}, Ops: lockedOps, Do: unlocked},
			{Over: both, Ops: []string{"redact"}, Do: redact},
			{Over: both, Ops: []string{"sanitize"}, Do: sanitize},
			{Over: both, Ops: []string{"normalize"}, Do: normalize},
			{Over: both, Ops: []string{"update_text"}, Do: updateText},
			{Over: []string{docxMIME}, Ops: []string{"split"}, Do: splitDoc},
			{Over: []string{pptxMIME}, Ops: deckOps, Do: arrange},
			{Over: []string{pptxMIME}, Ops: shapeOps, Do: reshape},
			{Over: []string{pptxMIME}, Ops: []string{"split"}, Do: splitDeck},
			{Over: both, Ops: []string{"extract.metadata"}, Do: describe},
			{Over: both, Ops: []string{"extract.assets"}, Do: assets},
		},
	}
}

// read reads a file into a neutral document.
func (f *file) read(pictures bool) (*flow.Doc, error) {
	if f.deck {
		return f.readDeck(pictures)
	}
	return f.readDoc(pictures)
}

func convert(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	d, err := f.read(r.To == "html")
	if err != nil {
		return media.Result{}, err
	}
	if d.Title == "" {
		d.Title = media.Base(r.In.Name)
	}
	if err := r.Limits.Err(); err != nil {
		return media.Result{}, err
	}
	if n := d.Deletions(); n > 0 {
		f.warn("Text that is deleted but tracked was left out: %s.", counted(n, "piece"))
	}
	out := ""
	switch r.To {
	case "md":
		out = d.Markdown(flow.Options{})
	case "html":
		out = d.HTML(flow.Options{})
	default:
		out = d.Text(flow.Options{})
	}
	return media.Result{Media: &media.Payload{Data: []byte(out)}, Warnings: f.warnings}, nil
}
