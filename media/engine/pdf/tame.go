package pdf

import (
	"bytes"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

const (
	// tamePage bounds what a page may hold when all forms that it shows are written out, in bytes of content.
	tamePage = 8 << 20
	// tameFile bounds that of all pages together.
	tameFile = 256 << 20
)

// choose returns the sandbox for reading the text of a document, and the pages whose annotations show something, from 0;
// nil where that is not known.
func (e *engine) choose(quick bool, noted map[int]bool) (*sandbox, map[int]bool) {
	if quick && !e.quick.lost.Load() {
		return e.quick, noted
	}
	return e.box, noted
}

// tame reports whether the text of a file can be read without the means to stop in the middle of a page: its objects are
// whole, its fonts draw no content of their own, and what its pages show is small, written out. Forms within forms can be
// tiny and show a million of them. noted are the pages whose annotations show something, from 0; nil where that is not known.
func tame(r *media.Request) (quick bool, noted map[int]bool) {
	f, err := object.Open(r.In.Data, limits(r))
	if err != nil || f.Encrypted || f.Repaired {
		return false, nil
	}
	return (&document{File: f, name: r.In.Name}).tame(r.Limits.WithDefaults().Pages)
}

func (d *document) tame(most int) (quick bool, noted map[int]bool) {
	c := &counter{d: d, forms: map[*object.Stream]int64{}}
	total := int64(0)
	leaves := d.leaves()
	if len(leaves) == 0 || len(leaves) > most {
		return false, nil
	}
	noted = map[int]bool{}
	for i, p := range leaves {
		src, err := d.contents(p.dict)
		if err != nil {
			return false, nil
		}
		n := c.size(src, d.Dict(p.dict["Resources"]), 0)
		for _, a := range d.Array(p.dict["Annots"]) {
			if looks := d.Dict(d.Dict(a)["AP"]); looks != nil {
				noted[i] = true
				n += c.looks(looks["N"], 0)
			}
		}
		if total += n; n > tamePage || total > tameFile {
			return false, nil
		}
	}
	return true, noted
}

// looks returns how long the looks of an annotation are, in all its states.
func (c *counter) looks(o object.Object, depth int) int64 {
	switch v := c.d.Resolve(o).(type) {
	case *object.Stream:
		return c.form(v, nil, 0)
	case object.Dict:
		n := int64(0)
		for _, e := range v {
			if depth < 3 {
				n += c.looks(e, depth+1)
			}
		}
		return n
	}
	return 0
}

type counter struct {
	d     *document
	forms map[*object.Stream]int64
}

// size returns how long content is with its forms written out, and more than any bound where that cannot be told.
func (c *counter) size(src []byte, res object.Dict, depth int) int64 {
	n := int64(len(src))
	if depth > 20 {
		return 1 << 40
	}
	for _, f := range c.d.Dict(res["Font"]) {
		if c.d.Name(c.d.Dict(f)["Subtype"]) == "Type3" {
			return 1 << 40
		}
	}
	objects := c.d.Dict(res["XObject"])
	if len(objects) == 0 || !bytes.Contains(src, []byte("Do")) {
		return n
	}
	l := object.NewLexer(src)
	var last object.Object
	for {
		o, ok := l.Next()
		if !ok {
			return n
		}
		if o == object.Keyword("Do") {
			name, _ := last.(object.Name)
			if s, ok := c.d.Resolve(objects[name]).(*object.Stream); ok && c.d.Name(s.Dict["Subtype"]) == "Form" {
				if n += c.form(s, res, depth); n > tamePage {
					return n
				}
			}
		}
		last = o
	}
}

func (c *counter) form(s *object.Stream, res object.Dict, depth int) int64 {
	if n, ok := c.forms[s]; ok {
		return n
	}
	c.forms[s] = 1 << 40 // while it is being counted: a form that shows itself
	data, _, err := c.d.Decode(s)
	if err != nil {
		return 1 << 40
	}
	if own := c.d.Dict(s.Dict["Resources"]); own != nil {
		res = own
	}
	c.forms[s] = c.size(data, res, depth+1)
	return c.forms[s]
}
