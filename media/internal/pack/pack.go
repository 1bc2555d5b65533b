// Package pack reads and rewrites zip containers (workbooks, documents) within limits, and leaves alone what it is not
// asked to change.
//
// Sizes in a zip file are claims of whoever wrote it: every limit here counts the bytes that really come out. Members are
// looked up by name and never become paths. A rewritten container has every untouched member byte for byte, compressed
// as it was.
package pack

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/flate"

	"github.com/tackle-dev/tackle/media"
)

// File is an open container. It is safe for concurrent reading.
type File struct {
	zip    *zip.Reader
	lim    media.Limits
	opened atomic.Int64 // decoded bytes so far
	name   string
	index  map[string]*zip.File
}

// Open reads the directory of a container. Errors: *media.Error for damage, too many members, overlapping members, and
// names that are no plain relative paths.
func Open(p *media.Payload, lim media.Limits) (*File, error) {
	z, err := zip.NewReader(bytes.NewReader(p.Data), int64(len(p.Data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, media.Failf("%s is damaged: %v.", p.Name, err)
	}
	f := &File{zip: z, lim: lim.WithDefaults(), name: p.Name, index: map[string]*zip.File{}}
	if len(z.File) > f.lim.Members {
		return nil, media.Failf("%s has %d members, more than the %d that are allowed.", p.Name, len(z.File), f.lim.Members)
	}
	type span struct{ from, to int64 }
	var spans []span
	for _, m := range z.File {
		if !plain(m.Name) {
			return nil, media.Failf("%s holds a member named %q, which is no plain relative name; it is refused.", p.Name, short(m.Name))
		}
		if m.Flags&1 != 0 {
			return nil, media.Failf("%s is encrypted. Save it without a password first.", p.Name)
		}
		if f.index[m.Name] != nil {
			return nil, media.Failf("%s holds two members named %q; it is refused.", p.Name, short(m.Name))
		}
		f.index[m.Name] = m
		at, err := m.DataOffset()
		if err != nil {
			return nil, media.Failf("%s is damaged: its member %q is not where it should be.", p.Name, short(m.Name))
		}
		spans = append(spans, span{at, at + int64(m.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int { return int(min(1, max(-1, a.from-b.from))) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return nil, media.Failf("%s has members that overlap, as files do that are made to explode; it is refused.", p.Name)
		}
	}
	return f, nil
}

func short(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// plain reports whether a name is a relative path without tricks.
func plain(name string) bool {
	if name == "" || strings.ContainsAny(name, "\\\x00:") || strings.HasPrefix(name, "/") {
		return false
	}
	clean := path.Clean(strings.TrimSuffix(name, "/"))
	return clean != ".." && !strings.HasPrefix(clean, "../") && clean == strings.TrimSuffix(name, "/")
}

// Names returns the names of the members in order.
func (f *File) Names() []string {
	out := make([]string, len(f.zip.File))
	for i, m := range f.zip.File {
		out[i] = m.Name
	}
	return out
}

// Has reports whether there is a member.
func (f *File) Has(name string) bool { return f.index[name] != nil }

// Read returns a member, decoded. Errors: *media.Error for one that is not there, is damaged, or grows too much.
func (f *File) Read(name string) ([]byte, error) {
	m := f.index[name]
	if m == nil {
		return nil, media.Failf("%s has no part %q.", f.name, short(name))
	}
	r, err := m.Open()
	if err != nil {
		return nil, media.Failf("the part %q of %s cannot be read: %v.", short(name), f.name, err)
	}
	defer r.Close()
	var buf bytes.Buffer
	if n := m.UncompressedSize64; n < 64<<20 { // a larger claim is believed when it has come true
		buf.Grow(int(n) + 512)
	}
	most := f.lim.Unpacked - f.opened.Load()
	n, err := buf.ReadFrom(io.LimitReader(&stopping{r, &f.lim}, most+1))
	if stop := f.lim.Err(); stop != nil {
		return nil, stop
	}
	switch {
	case n > most || f.opened.Add(n) > f.lim.Unpacked:
		return nil, media.Failf("%s unpacks to more than the %d MB that are allowed; it is refused.", f.name, f.lim.Unpacked>>20)
	case n > 1<<20 && n/max(1, int64(m.CompressedSize64)) > f.lim.Ratio:
		return nil, media.Failf("the part %q of %s unpacks to %d times its size, as files do that are made to explode; it is refused.", short(name), f.name, n/max(1, int64(m.CompressedSize64)))
	case err != nil:
		return nil, media.Failf("the part %q of %s is damaged: %v.", short(name), f.name, err)
	}
	return buf.Bytes(), nil
}

// stopping is a reader that ends with the work that it is read for.
type stopping struct {
	r   io.Reader
	lim *media.Limits
}

func (s *stopping) Read(b []byte) (int, error) {
	if err := s.lim.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b[:min(len(b), 1<<20)])
}

// Rewrite returns the container with some members replaced, some removed (nil), and new ones at the end in the order of
// their names. All others are the same bytes as before.
func (f *File) Rewrite(change map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	var pressed *flate.Writer // one for all members, which are written one after the other: each would take half a megabyte
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (_ io.WriteCloser, err error) {
		if pressed == nil {
			pressed, err = flate.NewWriter(w, 5)
		} else {
			pressed.Reset(w)
		}
		return pressed, err
	})
	put := func(name string, like *zip.File, data []byte) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if like != nil {
			h.Method, h.Modified = like.Method, like.Modified
			if h.Method != zip.Store {
				h.Method = zip.Deflate
			}
		}
		m, err := w.CreateHeader(h)
		if err == nil {
			_, err = m.Write(data)
		}
		return err
	}
	for _, m := range f.zip.File {
		if err := f.lim.Err(); err != nil {
			return nil, err
		}
		data, changed := change[m.Name]
		var err error
		switch {
		case !changed:
			err = w.Copy(m)
		case data != nil:
			err = put(m.Name, m, data)
		}
		if err != nil {
			return nil, fmt.Errorf("write member %q: %w", m.Name, err)
		}
	}
	var added []string
	for name, data := range change {
		if f.index[name] == nil && data != nil {
			added = append(added, name)
		}
	}
	slices.Sort(added)
	for _, name := range added {
		if err := put(name, nil, change[name]); err != nil {
			return nil, fmt.Errorf("write member %q: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("write container: %w", err)
	}
	return out.Bytes(), nil
}

// Create returns a new container with the members in the order given.
func Create(members ...Member) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.Name, Method: zip.Deflate}
		if m.Plain {
			h.Method = zip.Store
		}
		d, err := w.CreateHeader(h)
		if err == nil {
			_, err = d.Write(m.Data)
		}
		if err != nil {
			return nil, fmt.Errorf("write member %q: %w", m.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("write container: %w", err)
	}
	return out.Bytes(), nil
}

// Member is a member to write.
type Member struct {
	Name  string
	Data  []byte
	Plain bool // not compressed
}

// CheckXML refuses XML with a document type, which can define entities that grow, and XML that is nested too deep or is
// not well formed.
func CheckXML(name string, data []byte, lim media.Limits) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("its encoding %q is not UTF-8", charset)
	}
	depth, most := 0, lim.WithDefaults().Depth
	for {
		t, err := d.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return media.Failf("%q is no XML: %v.", name, err)
		}
		switch t.(type) {
		case xml.Directive:
			return media.Failf("%q has a document type, which can define entities without end; it is refused.", name)
		case xml.StartElement:
			if depth++; depth > most {
				return media.Failf("%q is nested deeper than %d.", name, most)
			}
		case xml.EndElement:
			depth--
		}
	}
}
