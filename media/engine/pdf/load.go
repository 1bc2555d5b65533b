package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/klippa-app/go-pdfium/requests"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// document is a PDF whose objects can be read: without cipher, its cross references whole.
type document struct {
	*object.File
	name      string
	data      []byte
	encrypted bool
	mended    bool
	warnings  []string
	masks     map[int]bool
	direct    map[uintptr]*font // fonts that stand within resources
	programs  int               // programs of fonts that were read
	list      []leaf            // of leaves
	known     map[int]*font
	shown     map[*object.Stream]*shownForm
}

func (d *document) warn(format string, args ...any) {
	d.warnings = append(d.warnings, fmt.Sprintf(format, args...))
}

func password(r *media.Request) string {
	s, _ := r.Args["password"].(string)
	return s
}

func limits(r *media.Request) object.Limits {
	l := r.Limits.WithDefaults()
	return object.Limits{Decoded: l.Unpacked, Depth: l.Depth}
}

// fail says what an error of opening means for a model.
func fail(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errPassword):
		e := media.Failf(`%s is encrypted and does not open with the password given, or without one. Add password="…" to the step.`, name)
		return e
	case errors.Is(err, errFormat), errors.Is(err, object.ErrSyntax):
		return media.Failf("%s is no PDF that can be read: it is damaged beyond repair.", name)
	case errors.Is(err, object.ErrLimit):
		return media.Failf("%s: %v.", name, object.ErrLimit)
	case strings.Contains(err.Error(), "wasm error"):
		return media.Failf("%s made PDFium stop, which reads and draws pages: it is damaged, or was made to do that. Nothing else was harmed.", name)
	}
	return err
}

// load opens the objects of a file. PDFium takes a cipher away, and mends what the reader of objects cannot.
func (e *engine) load(ctx context.Context, r *media.Request, p *media.Payload) (*document, error) {
	d := &document{name: p.Name, data: p.Data}
	f, err := object.Open(p.Data, limits(r))
	if errors.Is(err, object.ErrLimit) {
		return nil, fail(p.Name, err)
	}
	if err == nil && !f.Encrypted {
		d.File = f
		return d, d.count(r)
	}
	d.encrypted, d.mended = err == nil, err != nil
	var out bytes.Buffer
	run := e.box.run(ctx, func(w *worker) error {
		if err := w.open(p.Data, password(r)); err != nil {
			return err
		}
		_, err := w.FPDF_SaveAsCopy(&requests.FPDF_SaveAsCopy{Document: w.doc, Flags: requests.SaveFlagRemoveSecurity, FileWriter: &out})
		return err
	})
	if run != nil {
		return nil, fail(p.Name, run)
	}
	d.data = out.Bytes()
	if d.File, err = object.Open(d.data, limits(r)); err != nil {
		return nil, fail(p.Name, err)
	}
	return d, d.count(r)
}

func (d *document) count(r *media.Request) error {
	if n := len(d.leaves()); n > r.Limits.WithDefaults().Pages {
		return media.Failf("%s has %d pages, more than the %d that are allowed.", d.name, n, r.Limits.WithDefaults().Pages)
	}
	return nil
}

// change opens a file in order to change it, which a signed one allows only where it is said.
func (e *engine) change(ctx context.Context, r *media.Request, p *media.Payload) (*document, error) {
	d, err := e.load(ctx, r, p)
	if err != nil {
		return nil, err
	}
	if d.signed() {
		if ok, _ := r.Args["unsign"].(bool); !ok {
			return nil, &media.Error{Code: media.UnsupportedOp, Verb: r.Op, Message: fmt.Sprintf("%s is signed, and any change ends its signature. Add unsign=true to the step if that is wanted.", p.Name)}
		}
		d.unsign()
		d.warn("%s was signed; the result is not.", p.Name)
	}
	if d.encrypted {
		d.warn("%s was encrypted; the result is not.", p.Name)
	}
	if d.mended || d.Repaired {
		d.warn("%s was damaged and has been mended; compare the pages.", p.Name)
	}
	return d, nil
}

// leaf is a page with what it inherits.
type leaf struct {
	ref  object.Ref
	dict object.Dict
}

// inherited are the entries of a page that its ancestors may hold.
var inherited = []object.Name{"Resources", "MediaBox", "CropBox", "Rotate"}

// mostNodes is how many nodes of a tree are looked at: trees can be small and lead to themselves without end.
const mostNodes = 1_000_000

// leaves returns the pages in order.
func (d *document) leaves() []leaf {
	if d.list != nil {
		return d.list
	}
	var out []leaf
	seen := map[object.Ref]bool{}
	met := 0 // lists of pages can hold themselves many times over, without a reference that is met again
	var walk func(o object.Object, from object.Dict, depth int)
	walk = func(o object.Object, from object.Dict, depth int) {
		ref, _ := o.(object.Ref)
		node, ok := d.Resolve(o).(object.Dict)
		if met++; !ok || depth > 64 || ref.Num != 0 && seen[ref] || met > mostNodes {
			return
		}
		seen[ref] = true
		have := object.Dict{}
		for _, k := range inherited {
			if v, ok := node[k]; ok {
				have[k] = v
			} else if v, ok := from[k]; ok {
				have[k] = v
			}
		}
		if kids := d.Array(node["Kids"]); kids != nil && d.Name(node["Type"]) != "Page" {
			for _, k := range kids {
				walk(k, have, depth+1)
			}
			return
		}
		for k, v := range have {
			node[k] = v
		}
		out = append(out, leaf{ref, node})
	}
	walk(d.Catalog()["Pages"], nil, 0)
	d.list = out
	return out
}

// each visits every object of the file, and every dictionary, array and string within it.
func (d *document) each(visit func(o object.Object)) {
	for _, n := range d.All() {
		d.within(d.Get(object.Ref{Num: n}), visit, 0)
	}
}

func (d *document) within(o object.Object, visit func(o object.Object), depth int) {
	if depth > 200 {
		return
	}
	visit(o)
	switch v := o.(type) {
	case object.Array:
		for _, e := range v {
			d.within(e, visit, depth+1)
		}
	case object.Dict:
		for _, e := range v {
			d.within(e, visit, depth+1)
		}
	case *object.Stream:
		d.within(v.Dict, visit, depth+1)
	}
}

// signed reports whether the file holds a signature of its bytes.
func (d *document) signed() bool {
	form := d.form()
	if form == nil && d.Catalog()["Perms"] == nil {
		return false
	}
	if d.Int(form["SigFlags"], 0)&1 != 0 {
		return true
	}
	found := false
	d.each(func(o object.Object) {
		if v, ok := o.(object.Dict); ok && (v["ByteRange"] != nil && v["Contents"] != nil) {
			found = true
		}
	})
	return found
}

// unsign takes signatures away; the fields that held them stay.
func (d *document) unsign() {
	for _, k := range []object.Name{"Perms", "DSS"} {
		delete(d.Catalog(), k)
	}
	if form := d.form(); form != nil {
		delete(form, "SigFlags")
	}
	d.each(func(o object.Object) {
		v, ok := o.(object.Dict)
		if !ok {
			return
		}
		if s := d.Dict(v["V"]); s != nil && s["ByteRange"] != nil {
			delete(v, "V")
		}
	})
}

func (d *document) form() object.Dict { return d.Dict(d.Catalog()["AcroForm"]) }
func (d *document) xfa() bool         { return d.Resolve(d.form()["XFA"]) != nil }

// written is a document that has been changed, as the result of a step.
func (d *document) written() (media.Result, error) {
	data, err := d.Write()
	if err != nil {
		return media.Result{}, fail(d.name, err)
	}
	return media.Result{Media: &media.Payload{Data: data}, Warnings: d.warnings}, nil
}
