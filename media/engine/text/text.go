// Package text is the engine for text files: plain text, Markdown, HTML, XML with SVG, and the text of JSON, YAML and CSV.
//
// It redacts, sanitises, normalises, changes, appends, compares, patches and cuts, and converts between Markdown, HTML and
// plain text. A text keeps its encoding, its line endings and its type. What is redacted is looked for as a reader would
// see it (entities and escapes decoded, words that tags split put together), and the result is checked the same way before
// it is given out.
package text

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	enc "github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/media"
)

var textual = []string{"text/*", "application/json", "application/yaml", "application/xml", "image/svg+xml"}

// Engine returns the engine.
func Engine() media.Engine {
	return media.Engine{
		ID: "text",
		Convert: []media.Convert{
			{From: []string{media.EmptyMIME}, To: []string{"txt", "md", "html"}, Keep: media.Exact, Do: blank},
			{From: []string{"text/markdown"}, To: []string{"html"}, Keep: media.Structure, Do: toHTML},
			{From: []string{"text/html"}, To: []string{"md"}, Keep: media.Structure, Do: toMarkdown},
			{From: []string{"text/plain"}, To: []string{"html", "md"}, Keep: media.Structure, Do: fromPlain},
			{From: textual, To: []string{"txt"}, Keep: media.Text, Do: toText},
		},
		Edit: []media.Edit{
			{Over: textual, Ops: []string{"redact"}, Do: redact},
			{Over: textual, Ops: []string{"sanitize"}, Do: sanitize},
			{Over: textual, Ops: []string{"normalize"}, Do: normalize},
			{Over: textual, Ops: []string{"update_text"}, Do: updateText},
			{Over: textual, Ops: []string{"append"}, Do: appendText},
			{Over: textual, Ops: []string{"apply_patch"}, Do: applyPatch},
			{Over: []string{"text/markdown", "text/html"}, Ops: []string{"split"}, Do: split},
			{Over: []string{"text/html", "image/svg+xml", "text/markdown"}, Ops: []string{"extract.assets"}, Do: assets},
			{Over: textual, Ops: []string{"extract.metadata"}, Do: describe},
			{Over: []string{"text/*", "application/*", "message/*", "image/svg+xml"}, Ops: []string{"diff", "chunk"}, Do: readings},
		},
	}
}

const shell = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n</head>\n<body>\n%s</body>\n</html>\n"

func blank(_ context.Context, r *media.Request) (media.Result, error) {
	s := ""
	if r.To == "html" {
		s = fmt.Sprintf(shell, "Untitled", "")
	}
	return media.Result{Media: &media.Payload{Data: []byte(s)}}, nil
}

// file is a text that is being changed.
type file struct {
	r        *media.Request
	src      string
	enc      enc.Encoding
	warnings []string
	counts   media.Counts
}

func open(r *media.Request) (*file, error) {
	t, err := enc.Decode(r.In.Data)
	if err != nil {
		return nil, media.Failf("%s is no text that can be changed without loss: %v.", r.In.Name, err)
	}
	return &file{r: r, src: string(t.Content), enc: t.Encoding}, nil
}

func (f *file) warn(format string, args ...any) {
	f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
}

// done returns the text in the encoding that it had, or in UTF-8 where that lacks a character.
func (f *file) done(out string) (media.Result, error) {
	data, err := f.enc.Encode([]byte(out))
	if err != nil {
		data = []byte(out)
		f.warn("The result is UTF-8; %v has no form for the new text.", f.enc)
	}
	if data == nil {
		data = []byte{}
	}
	return media.Result{Media: &media.Payload{Data: data}, Warnings: f.warnings, Counts: f.counts}, nil
}

// Normalize brings a text to one form: line feeds, no blanks at the ends of lines, composed characters, UTF-8.
func Normalize(ctx context.Context, r *media.Request) (media.Result, error) { return normalize(ctx, r) }

func normalize(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	out := strings.ReplaceAll(strings.ReplaceAll(f.src, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(out, "\n")
	hard := r.In.MIME == "text/markdown" // there two blanks at the end of a line are a line break
	for i, l := range lines {
		t := strings.TrimRight(l, " \t\u00a0\u3000")
		if hard && strings.HasSuffix(l, "  ") && t != "" {
			t += "  "
		}
		lines[i] = t
	}
	out = norm.NFC.String(strings.Join(lines, "\n"))
	if f.enc.Charset != enc.UTF8 || f.enc.BOM {
		f.warn("It was %v and is UTF-8 now.", f.enc)
	}
	f.enc = enc.Encoding{}
	f.counts.Modified = changedLines(f.src, out)
	return f.done(out)
}

// changedLines counts lines that differ; the texts have the same number of lines.
func changedLines(a, b string) int {
	n := 0
	for a != "" || b != "" {
		var x, y string
		x, _, a = enc.Next(a, true)
		y, _, b = enc.Next(b, true)
		if x != y {
			n++
		}
	}
	return n
}

func updateText(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	anchor, with := r.Args["anchor"].(string), r.Args["replace"].(string)
	if anchor == "" {
		return media.Result{}, media.Failf("the anchor is empty.")
	}
	at := strings.Index(f.src, anchor)
	if at < 0 && strings.Contains(anchor, "\n") {
		ending := enc.DetectEnding([]byte(f.src))
		anchor, with = enc.WithEnding(anchor, ending), enc.WithEnding(with, ending)
		at = strings.Index(f.src, anchor)
	}
	if at < 0 {
		return media.Result{}, media.Failf("the text %q does not stand in %s. Read it with extract text and copy the words exactly.", clip(anchor), r.In.Name)
	}
	if n := strings.Count(f.src, anchor); n > 1 {
		f.warn("The text stands there %d times; only the first, in line %d, was replaced.", n, strings.Count(f.src[:at], "\n")+1)
	}
	f.counts.Modified = 1
	return f.done(f.src[:at] + with + f.src[at+len(anchor):])
}

// clip shortens quoted text to 80 characters.
func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

func appendText(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	add := r.Args["text"].(string)
	ending := enc.DetectEnding([]byte(f.src)).Chars()
	add = strings.ReplaceAll(strings.ReplaceAll(add, "\r\n", "\n"), "\n", ending)
	if own, given := r.Args["newline"].(bool); own || !given {
		if f.src != "" && !strings.HasSuffix(f.src, ending) {
			f.src += ending
		}
		if !strings.HasSuffix(add, ending) {
			add += ending
		}
	}
	f.counts.Added = max(1, strings.Count(add, ending))
	return f.done(f.src + add)
}

// hidden reports characters that a reader does not see and that change what is seen: controls, bidirectional overrides,
// and tag characters, which can carry instructions.
func hidden(c rune) bool {
	switch {
	case c == '\t' || c == '\n' || c == '\r':
		return false
	case c < 0x20 || c == 0x7f || c >= 0x80 && c < 0xa0:
		return true
	case c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069:
		return true
	}
	return c >= 0xe0000 && c <= 0xe007f
}

func stripHidden(s string) (string, int) {
	n := 0
	out := strings.Map(func(c rune) rune {
		if hidden(c) {
			n++
			return -1
		}
		return c
	}, s)
	return out, n
}

func describe(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	m := map[string]any{"encoding": f.enc.String(), "line_endings": enc.DetectEnding([]byte(f.src)).String(), "lines": enc.Count([]byte(f.src)),
		"words": len(strings.FieldsFunc(f.src, func(c rune) bool { return unicode.IsSpace(c) }))}
	if r.In.MIME == "text/markdown" {
		var heads []string
		for _, h := range headings(f.src) {
			heads = append(heads, strings.Repeat("#", h.level)+" "+h.text)
		}
		m["headings"] = heads[:min(len(heads), 100)]
	}
	return media.Result{Read: &media.Reading{Data: m}}, nil
}
