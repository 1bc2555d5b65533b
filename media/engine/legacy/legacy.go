// Package legacy is the engine for formats that are read more than they are written: the old Office formats (doc, xls,
// ppt), RTF, e-books (epub) and e-mail (eml, msg).
//
// It turns them into text, Markdown and HTML with the structure that they hold, workbooks into xlsx, and gives their
// properties and the files within them. RTF and e-books it also changes: it redacts them, with a check of the result,
// sanitises and normalises them, and replaces a text. The old Office formats and mails are not written: convert them first.
package legacy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/richardlehane/mscfb"
	"github.com/richardlehane/msoleps"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/workbook"
)

const (
	docMIME  = "application/msword"
	xlsMIME  = "application/vnd.ms-excel"
	pptMIME  = "application/vnd.ms-powerpoint"
	rtfMIME  = "application/rtf"
	epubMIME = "application/epub+zip"
	emlMIME  = "message/rfc822"
	msgMIME  = "application/vnd.ms-outlook"
	xlsxMIME = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
)

// Engine returns the engine.
func Engine() media.Engine {
	return media.Engine{
		ID: "legacy",
		Convert: []media.Convert{
			{From: []string{docMIME, pptMIME, rtfMIME, epubMIME, emlMIME, msgMIME}, To: []string{"txt", "md", "html"}, Keep: media.Structure, Do: convert},
			{From: []string{xlsMIME}, To: []string{"xlsx", "csv", "json", "md", "html", "txt"}, Keep: media.Structure, Do: convertXLS},
		},
		Edit: []media.Edit{
			{Over: []string{rtfMIME}, Ops: []string{"redact"}, Do: redactRTF},
			{Over: []string{rtfMIME}, Ops: []string{"sanitize"}, Do: sanitizeRTF},
			{Over: []string{rtfMIME}, Ops: []string{"update_text"}, Do: updateRTF},
			{Over: []string{rtfMIME}, Ops: []string{"normalize"}, Do: normalizeRTF},
			{Over: []string{epubMIME}, Ops: []string{"redact"}, Do: redactEPUB},
			{Over: []string{epubMIME}, Ops: []string{"sanitize"}, Do: sanitizeEPUB},
			{Over: []string{epubMIME}, Ops: []string{"update_text"}, Do: updateEPUB},
			{Over: []string{epubMIME}, Ops: []string{"normalize"}, Do: normalizeEPUB},
			{Over: []string{xlsMIME}, Ops: []string{"split", "diff"}, Do: viaBook},
			{Over: []string{docMIME, xlsMIME, pptMIME, rtfMIME, epubMIME, emlMIME, msgMIME}, Ops: []string{"extract.metadata"}, Do: describe},
			{Over: []string{docMIME, xlsMIME, pptMIME, rtfMIME, epubMIME, emlMIME, msgMIME}, Ops: []string{"extract.assets"}, Do: assets},
		},
	}
}

// read makes a neutral document of any of the formats.
func read(r *media.Request, pictures bool) (*flow.Doc, []string, error) {
	switch r.In.MIME {
	case rtfMIME:
		return readRTF(r)
	case epubMIME:
		return readEPUB(r)
	case emlMIME:
		return readEML(r)
	}
	c, err := openCFB(r)
	if err != nil {
		return nil, nil, err
	}
	switch r.In.MIME {
	case docMIME:
		return c.doc()
	case pptMIME:
		return c.ppt()
	}
	return c.msg()
}

func convert(_ context.Context, r *media.Request) (media.Result, error) {
	d, warnings, err := read(r, r.To == "html")
	if err != nil {
		return media.Result{}, err
	}
	if d.Title == "" {
		d.Title = media.Base(r.In.Name)
	}
	if n := d.Deletions(); n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d tracked deletions are left out; in the file they are still there.", n))
	}
	s := ""
	switch r.To {
	case "md":
		s = d.Markdown(flow.Options{})
	case "html":
		s = d.HTML(flow.Options{})
	default:
		s = d.Text(flow.Options{})
	}
	return media.Result{Media: &media.Payload{Data: []byte(s)}, Warnings: warnings}, nil
}

// convertXLS converts a workbook by way of xlsx.
func convertXLS(ctx context.Context, r *media.Request) (media.Result, error) {
	x, warnings, err := asXLSX(r.In, r)
	if err != nil {
		return media.Result{}, err
	}
	if r.To == "xlsx" {
		return media.Result{Media: &media.Payload{Data: x.Data}, Warnings: append(warnings, "Values were carried over; formulas, colours, charts and pictures were not.")}, nil
	}
	sub := *r
	sub.In = *x
	res, err := sheet.Do(ctx, &sub)
	res.Warnings = append(warnings, res.Warnings...)
	return res, err
}

// viaBook splits and compares workbooks as xlsx.
func viaBook(ctx context.Context, r *media.Request) (media.Result, error) {
	x, warnings, err := asXLSX(r.In, r)
	if err != nil {
		return media.Result{}, err
	}
	sub := *r
	sub.In, sub.With = *x, nil
	for _, w := range r.With {
		if w.MIME == xlsMIME {
			other, _, err := asXLSX(w, r)
			if err != nil {
				return media.Result{}, err
			}
			w = *other
		}
		sub.With = append(sub.With, w)
	}
	res, err := sheet.Do(ctx, &sub)
	res.Warnings = append(warnings, res.Warnings...)
	return res, err
}

func asXLSX(p media.Payload, r *media.Request) (*media.Payload, []string, error) {
	b, warnings, err := readXLS(p, r.Limits)
	if err != nil {
		return nil, nil, err
	}
	data, more, err := b.XLSX()
	return &media.Payload{Data: data, MIME: xlsxMIME, Name: p.Name}, append(warnings, more...), err
}

func readXLS(p media.Payload, lim media.Limits) (*workbook.Book, []string, error) {
	c, err := openCFB(&media.Request{In: p, Limits: lim})
	if err != nil {
		return nil, nil, err
	}
	b, warnings, err := c.xls()
	if err != nil {
		return nil, nil, err
	}
	return b, warnings, b.Count(p.Name, lim)
}

// cfb is an open file of the old Office formats: streams by path, in lower case.
type cfb struct {
	lim     media.Limits
	name    string
	streams map[string][]byte
	order   []string // paths as they stand
}

func openCFB(r *media.Request) (*cfb, error) {
	lim := r.Limits.WithDefaults()
	f, err := mscfb.New(bytes.NewReader(r.In.Data))
	if err != nil {
		return nil, media.Failf("%s is damaged: %v.", r.In.Name, err)
	}
	c := &cfb{name: r.In.Name, streams: map[string][]byte{}, lim: lim}
	var total int64
	for {
		e, err := f.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, media.Failf("%s is damaged: %v.", r.In.Name, err)
		}
		if len(c.order) >= lim.Members {
			return nil, media.Failf("%s has more than the %d streams that are allowed.", r.In.Name, lim.Members)
		}
		if e.Size <= 0 {
			continue
		}
		// Streams lie within the file, so together they cannot be longer unless they share bytes.
		if total += e.Size; total > 4*int64(len(r.In.Data))+1<<20 {
			return nil, media.Failf("%s has streams that overlap, as files do that are made to explode; it is refused.", r.In.Name)
		}
		b, err := io.ReadAll(io.LimitReader(e, e.Size))
		if err != nil && len(b) == 0 {
			continue // what is left of a damaged file is read
		}
		p := strings.Join(append(e.Path, e.Name), "/")
		c.order = append(c.order, p)
		c.streams[strings.ToLower(p)] = b
	}
	if c.get("EncryptedPackage") != nil {
		return nil, media.Refusef("%s is encrypted. Save it without a password first.", r.In.Name)
	}
	return c, nil
}

func (c *cfb) get(path string) []byte { return c.streams[strings.ToLower(path)] }

func (c *cfb) bad(what string) error {
	return media.Failf("%s is damaged: %s.", c.name, what)
}

// properties returns the summary of a file: title, author, dates.
func (c *cfb) properties() map[string]any {
	out := map[string]any{}
	for _, s := range []string{"SummaryInformation", "DocumentSummaryInformation"} {
		raw := c.get(s)
		if raw == nil {
			continue
		}
		props, err := propertySet(raw)
		if err != nil {
			continue
		}
		for _, p := range props.Property {
			v := strings.TrimRight(fmt.Sprint(p), "\x00")
			if v == "" || p.Name == "" || strings.Contains(p.Name, "Thumbnail") || len(v) > 2000 || p.Name == "null" || p.Name == "CodePage" {
				continue
			}
			out[snake(p.Name)] = v
		}
	}
	return out
}

// propertySet reads a set of properties. The library that reads them stops at some damaged ones; the file is read without
// them.
func propertySet(raw []byte) (props *msoleps.Reader, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("damaged properties: %v", v)
		}
	}()
	return msoleps.NewFrom(bytes.NewReader(raw))
}

// snake writes LastAuthor as last_author.
func snake(s string) string {
	var b strings.Builder
	lower := false
	for _, r := range s {
		switch {
		case r == ' ' || r == '-' || r == '_':
			if lower {
				b.WriteByte('_')
			}
			lower = false
			continue
		case r >= 'A' && r <= 'Z':
			if lower {
				b.WriteByte('_')
			}
			lower = false
			b.WriteRune(r + 32)
			continue
		}
		b.WriteRune(r)
		lower = true
	}
	return b.String()
}
