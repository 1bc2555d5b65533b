package media

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// fused is the request that steps on one picture become: one decode, the changes in order, one encode.
type fused struct {
	changes []Change
	ops     []string // needed, each once
	to      string   // "" keeps the format
	quality int
}

func fuse(steps []Step) fused {
	var f fused
	add := func(c Change) {
		f.changes = append(f.changes, c)
		if !slices.Contains(f.ops, c.Op) {
			f.ops = append(f.ops, c.Op)
		}
	}
	num := func(a map[string]any, name string) int { n, _ := a[name].(float64); return int(n) }
	for i := range steps {
		a := steps[i].Args
		switch strings.TrimPrefix(steps[i].Verb, "image.") {
		case "resize":
			fit, _ := a["fit"].(string)
			if fit == "" {
				fit = "cover"
			}
			add(Change{Op: "resize", Width: num(a, "width"), Height: num(a, "height"), Fit: fit})
		case "rotate":
			s, _ := a["deg"].(string)
			deg, _ := strconv.Atoi(s) // the table allows three numbers
			add(Change{Op: "rotate", Degrees: deg})
		case "flip":
			axis, _ := a["axis"].(string)
			add(Change{Op: "flip", Axis: axis})
		case "strip_metadata":
			add(Change{Op: "strip_metadata"})
		case "format":
			f.to, _ = a["to"].(string)
			if t, ok := FormatOf(f.to); ok {
				f.to = t.Token
			}
			f.quality = num(a, "quality")
			if strip, _ := a["strip_metadata"].(bool); strip {
				add(Change{Op: "strip_metadata"})
			}
		}
	}
	return f
}

type mutation struct {
	candidate
	decl *Mutate
}

func (r *run) mutations(mime string) []mutation {
	var out []mutation
	for i := range r.p.engines() {
		for j := range r.p.engines()[i].Mutate {
			if m := &r.p.engines()[i].Mutate[j]; Matches(m.Over, mime) {
				out = append(out, mutation{candidate{i, m.Do}, m})
			}
		}
	}
	return out
}

func (r *run) mutate(ctx context.Context, steps []Step, in Payload) (Result, error) {
	f := fuse(steps)
	to := f.to
	if to == "" {
		if own, ok := FormatOf(in.MIME); ok {
			to = own.Token
		}
	}
	var able []candidate
	var encodes []string
	all := r.mutations(in.MIME)
	for _, m := range all {
		for _, t := range m.decl.Encodes {
			if !slices.Contains(encodes, t) {
				encodes = append(encodes, t)
			}
		}
		if !slices.Contains(m.decl.Encodes, to) || slices.ContainsFunc(f.ops, func(op string) bool { return !slices.Contains(m.decl.Ops, op) }) {
			continue
		}
		if len(able) == 0 || able[len(able)-1].engine != m.engine {
			able = append(able, m.candidate)
		}
	}
	if len(able) == 0 {
		if len(all) == 0 {
			v, _ := r.p.lang.Verb(steps[0].Verb)
			return Result{}, r.inapplicable(v, &in)
		}
		e := &Error{Code: UnsupportedOp, Verb: "image.format", Message: fmt.Sprintf("%s cannot be written as %s here; pictures are written as %s.", in.Name, to, strings.Join(encodes, ", "))}
		if f.to == "" {
			e.Use = "image format to=png"
		}
		return Result{}, e
	}
	do, err := r.choose(ctx, Selection{Kind: "mutate", In: in, To: to, Ops: f.ops}, able)
	if err != nil {
		return Result{}, err
	}
	res, err := do(ctx, &Request{In: in, To: to, Changes: f.changes, Quality: f.quality, Limits: r.p.cfg.Limits})
	if err != nil {
		return Result{}, err
	}
	if m := res.Media; m != nil {
		m.MIME = mimeOf(to)
		m.Name = in.Name
		if bare(in.MIME) != m.MIME {
			m.Name = Renamed(in.Name, to)
		}
	}
	return res, nil
}
