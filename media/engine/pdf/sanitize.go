package pdf

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// unsafe are the actions that do more than move within the document or open an address.
var unsafe = map[object.Name]string{"JavaScript": "scripts", "Launch": "actions that start programs", "SubmitForm": "actions that send forms",
	"ImportData": "actions that read files", "GoToR": "links to other files", "GoToE": "links into embedded files", "Rendition": "media actions",
	"Movie": "media actions", "Sound": "media actions", "GoTo3DView": "media actions", "RichMediaExecute": "media actions"}

// hidden are annotations that carry files or programs.
var hidden = map[object.Name]string{"FileAttachment": "attachments", "RichMedia": "rich media", "Movie": "rich media", "Screen": "rich media", "Sound": "rich media", "3D": "rich media"}

// hazards counts what sanitizing removes.
func (d *document) hazards() map[string]int {
	found := map[string]int{}
	d.each(func(o object.Object) {
		v, ok := o.(object.Dict)
		if !ok {
			return
		}
		if what := unsafe[d.Name(v["S"])]; what != "" {
			found[what]++
		}
		if what := hidden[d.Name(v["Subtype"])]; what != "" && v["Rect"] != nil {
			found[what]++
		}
		if v["AA"] != nil {
			found["actions on events"]++
		}
		if v["EF"] != nil {
			found["attachments"]++
		}
	})
	if a := d.Dict(d.Catalog()["OpenAction"]); a != nil && d.Name(a["S"]) != "GoTo" {
		found["an action on opening"]++
	}
	if d.xfa() {
		found["an XFA form"]++
	}
	return found
}

// sanitize removes what acts, what carries files, and what tells of the author.
func (e *engine) sanitize(ctx context.Context, r *media.Request) (media.Result, error) {
	d, err := e.change(ctx, r, &r.In)
	if err != nil {
		return media.Result{}, err
	}
	found := d.hazards()
	d.disarm()
	d.forget()
	res, err := d.written()
	if err != nil {
		return res, err
	}
	again, err := object.Open(res.Media.Data, limits(r))
	if err != nil {
		return media.Result{}, fail(r.In.Name, err)
	}
	if left := (&document{File: again}).hazards(); len(left) > 0 {
		return media.Result{}, media.Failf("%s still holds %s after sanitizing, so it is not given out.", r.In.Name, strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(found)) {
		res.Counts.Removed += found[what]
		parts = append(parts, fmt.Sprintf("%s (%d)", what, found[what]))
	}
	if parts != nil {
		res.Warnings = append(res.Warnings, "Removed: "+strings.Join(parts, ", ")+"; metadata and earlier revisions too.")
	} else {
		res.Warnings = append(res.Warnings, "It held no active content; metadata and earlier revisions were removed.")
	}
	return res, nil
}

// disarm takes away actions, scripts, embedded files, media and XFA forms.
func (d *document) disarm() {
	c := d.Catalog()
	for _, k := range []object.Name{"OpenAction", "AA", "AF", "Collection", "Extensions"} {
		delete(c, k)
	}
	if names := d.Dict(c["Names"]); names != nil {
		for _, k := range []object.Name{"JavaScript", "EmbeddedFiles", "Renditions", "AlternatePresentations", "URLS"} {
			delete(names, k)
		}
	}
	if form := d.form(); form != nil {
		delete(form, "XFA")
		delete(form, "NeedAppearances")
	}
	for _, p := range d.leaves() {
		annots := d.Array(p.dict["Annots"])
		if annots == nil {
			continue
		}
		kept := object.Array{}
		for _, a := range annots {
			if v := d.Dict(a); v != nil && hidden[d.Name(v["Subtype"])] == "" {
				kept = append(kept, a)
			}
		}
		p.dict["Annots"] = kept
	}
	d.each(func(o object.Object) {
		v, ok := o.(object.Dict)
		if !ok {
			return
		}
		delete(v, "AA")
		delete(v, "EF")
		delete(v, "RF")
		for _, k := range []object.Name{"A", "PA", "Next", "OpenAction"} {
			d.dropUnsafe(v, k)
		}
		if what := unsafe[d.Name(v["S"])]; what != "" { // still reachable from somewhere odd
			clear(v)
		}
		if v["Rect"] != nil && hidden[d.Name(v["Subtype"])] != "" { // of a list that is no page's
			clear(v)
		}
	})
}

// dropUnsafe removes an action from where it stands.
func (d *document) dropUnsafe(v object.Dict, k object.Name) {
	switch a := d.Resolve(v[k]).(type) {
	case object.Dict:
		if unsafe[d.Name(a["S"])] != "" {
			delete(v, k)
		}
	case object.Array:
		if k != "Next" {
			return
		}
		kept := object.Array{}
		for _, e := range a {
			if unsafe[d.Name(d.Dict(e)["S"])] == "" {
				kept = append(kept, e)
			}
		}
		v[k] = kept
	}
}

// forget removes what tells of the document and who made it: Info, XMP, private data of programs, thumbnails, searches.
func (d *document) forget() {
	delete(d.Trailer, "Info")
	delete(d.Trailer, "ID")
	delete(d.Catalog(), "SpiderInfo")
	d.each(func(o object.Object) {
		if v, ok := o.(object.Dict); ok {
			for _, k := range []object.Name{"Metadata", "PieceInfo", "Thumb", "LastModified"} {
				delete(v, k)
			}
		}
	})
}
