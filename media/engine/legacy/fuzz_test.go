package legacy

import (
	"bytes"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
)

// FuzzCFB changes some places of files that are whole: seven bytes are a place and what is written there, and what is left
// over says where the file ends.
func FuzzCFB(f *testing.F) {
	var whole [][]byte
	for _, n := range []string{"contract.doc", "rich.xls"} {
		whole = append(whole, sample(f, n).Data)
	}
	for _, n := range []string{"test.ppt", "test.msg"} {
		whole = append(whole, foreign(f, n).Data)
	}
	for i := range whole {
		f.Add(byte(i), []byte{})
		f.Add(byte(i), []byte{0x30, 0, 0, 1, 0, 0, 0})                // where the directory begins
		f.Add(byte(i), []byte{0x4c, 0, 0, 0xff, 0xff, 0xff, 0x7f})    // where the table of sectors is
		f.Add(byte(i), []byte{0, 6, 0, 2, 0, 0, 0, 9, 2, 0, 7, 0xff}) // in the first streams, and an end
	}
	f.Fuzz(func(t *testing.T, which byte, edits []byte) {
		b := bytes.Clone(whole[int(which)%len(whole)])
		for ; len(edits) >= 7; edits = edits[7:] {
			at := (int(edits[0]) | int(edits[1])<<8 | int(edits[2])<<16) % len(b)
			copy(b[at:], edits[3:7])
		}
		if len(edits) > 0 {
			b = b[:len(b)*int(edits[0])/256]
		}
		r := &media.Request{In: media.Payload{Data: b, Name: "a"}, Limits: media.Limits{Cells: 100_000}}
		media.Identify(r.In)
		c, err := openCFB(r)
		if err != nil {
			return
		}
		var docs []*flow.Doc
		for _, read := range []func() (*flow.Doc, []string, error){c.doc, c.ppt, c.msg} {
			if d, _, err := read(); err == nil {
				docs = append(docs, d)
			}
		}
		for _, d := range docs {
			_ = d.Text(flow.Options{})
			_ = d.Markdown(flow.Options{})
		}
		if book, _, err := c.xls(); err == nil {
			_, _, _ = book.XLSX()
		}
		_ = c.properties()
	})
}
