package media

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/internal/pipe"
)

// MaxHops is how many conversions may follow each other to reach a format.
const MaxHops = 3

// terminal tokens may end a chain of conversions and never stand within one.
var terminal = []string{"txt", "json", "hocr", "srt", "vtt", "md", "csv", "pcm", "images"}

// edge is one declared conversion.
type edge struct {
	engine int
	decl   *Convert
	to     string
}

// edges returns the conversions from a type, direct ones only, in the order of supply.
func (p *Pipeline) edges(mime string) []edge {
	var out []edge
	for i := range p.engines() {
		for j := range p.engines()[i].Convert {
			c := &p.engines()[i].Convert[j]
			if !Matches(c.From, mime) {
				continue
			}
			for _, to := range c.To {
				out = append(out, edge{i, c, to})
			}
		}
	}
	return out
}

// hop is one step of a path: the format it reaches, by any engine that declares it.
type hop struct{ from, to string } // MIME type, token

// path returns the shortest chain of conversions from a type to a token; nil if there is none.
func (p *Pipeline) path(mime, to string) []hop {
	type node struct {
		mime string
		via  []hop
	}
	seen := map[string]bool{bare(mime): true}
	level := []node{{bare(mime), nil}}
	for n := 1; n <= MaxHops; n++ {
		var next []node
		for _, at := range level {
			for _, e := range p.edges(at.mime) {
				via := append(slices.Clone(at.via), hop{at.mime, e.to})
				if e.to == to {
					return via
				}
				f, ok := FormatOf(e.to)
				if !ok || seen[f.MIME] || slices.Contains(terminal, e.to) || e.decl.Keep < Structure {
					continue
				}
				seen[f.MIME] = true
				next = append(next, node{f.MIME, via})
			}
		}
		level = next
	}
	return nil
}

// Targets returns the tokens that can be reached from a type, nearest first.
func (p *Pipeline) Targets(mime string) []string {
	var out []string
	seen := map[string]bool{bare(mime): true}
	level := []string{bare(mime)}
	for range MaxHops {
		var next []string
		for _, at := range level {
			for _, e := range p.edges(at) {
				if !slices.Contains(out, e.to) {
					out = append(out, e.to)
				}
				f, ok := FormatOf(e.to)
				if ok && !seen[f.MIME] && !slices.Contains(terminal, e.to) && e.decl.Keep >= Structure {
					seen[f.MIME] = true
					next = append(next, f.MIME)
				}
			}
		}
		level = next
	}
	return out
}

// Creatable returns the formats in which a new file can be made. What has no form as a file (decoded sound, pages as
// pictures) is not among them.
func (p *Pipeline) Creatable() []string {
	return slices.DeleteFunc(p.Targets(EmptyMIME), func(t string) bool {
		f, ok := FormatOf(t)
		return !ok || f.MIME == PCMMIME
	})
}

// Create makes a blank file. Errors: *Error with code EMPTY_FORMAT_UNAVAILABLE or EMPTY_GENERATION_FAILED.
func (p *Pipeline) Create(ctx context.Context, format string) (Payload, error) {
	can := p.Creatable()
	f, ok := FormatOf(format)
	if !ok || !slices.Contains(can, f.Token) {
		e := &Error{Code: "EMPTY_FORMAT_UNAVAILABLE", Verb: "empty:" + CleanName(format), Final: true, Message: fmt.Sprintf("a new %s file cannot be made here.", CleanName(format))}
		if strings.TrimSpace(format) == "" {
			e.Message = "empty: names no format."
		}
		if len(can) == 0 {
			e.Message += " Nothing can be created here."
		} else {
			e.Message += " Available: " + strings.Join(can, ", ") + "."
		}
		return Payload{}, e
	}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Limits.Time)
	defer cancel()
	r := &run{p: p}
	out, err := r.convert(ctx, Payload{MIME: EmptyMIME, Name: "untitled"}, f.Token, nil)
	if err != nil {
		if ctx.Err() != nil {
			return Payload{}, ctx.Err()
		}
		return Payload{}, &Error{Code: "EMPTY_GENERATION_FAILED", Message: fmt.Sprintf("a new %s file could not be made: %v", f.Token, err)}
	}
	return *out.Media, nil
}

func (p *Pipeline) allTargets() []string {
	var out []string
	for i := range p.engines() {
		for _, c := range p.engines()[i].Convert {
			for _, t := range c.To {
				if slices.Contains(pipe.Targets, t) && !slices.Contains(out, t) && !Matches(c.From, EmptyMIME) {
					out = append(out, t)
				}
			}
		}
	}
	return out
}

func (p *Pipeline) anyEdge(to string) bool { return slices.Contains(p.allTargets(), to) }

// convert carries out the shortest chain of conversions.
func (r *run) convert(ctx context.Context, in Payload, to string, options map[string]any) (Result, error) {
	if f, ok := FormatOf(to); ok && f.MIME == bare(in.MIME) {
		return Result{Media: &in, Warnings: []string{fmt.Sprintf("%s is %s already; it stays as it is.", in.Name, f.Token)}}, nil
	}
	path := r.p.path(in.MIME, to)
	if path == nil {
		return Result{}, r.unreachable(&in, to)
	}
	var warnings []string
	for i, h := range path {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		res, err := r.hop(ctx, in, h.to, options)
		if err != nil {
			return Result{}, err
		}
		warnings = append(warnings, res.Warnings...)
		if h.to == "images" && i == len(path)-1 {
			res.Warnings = warnings
			return res, nil
		}
		if res.Media == nil {
			return Result{}, Failf("converting %s to %s gave nothing.", in.Name, h.to)
		}
		f, _ := FormatOf(h.to)
		out := *res.Media
		if out.MIME == "" {
			out.MIME = f.MIME
		}
		if out.Name == "" {
			out.Name = Renamed(in.Name, h.to)
		}
		if _, ok := PCMRate(out.MIME); h.to == "pcm" && !ok {
			return Result{}, Failf("the engine that decodes %s does not say at which rate.", in.Name)
		}
		in = out
	}
	if len(path) > 1 {
		var via []string
		for _, h := range path[:len(path)-1] {
			via = append(via, h.to)
		}
		if path[0].from != EmptyMIME {
			warnings = append(warnings, "Converted by way of "+strings.Join(via, " and ")+".")
		}
	}
	return Result{Media: &in, Warnings: warnings}, nil
}

func (r *run) unreachable(in *Payload, to string) *Error {
	targets := slices.DeleteFunc(r.p.Targets(in.MIME), func(t string) bool { return !slices.Contains(pipe.Targets, t) })
	e := &Error{Code: UnsupportedOp, Final: true, Verb: "convert to=" + to, Message: fmt.Sprintf("%s (%s) cannot be converted to %s here.", in.Name, in.MIME, to)}
	if len(targets) == 0 {
		e.Message += " It converts to nothing here."
	} else {
		e.Message += " It converts to " + strings.Join(targets, ", ") + "."
	}
	return e
}

// hop is one conversion by the engine that selection leaves.
func (r *run) hop(ctx context.Context, in Payload, to string, options map[string]any) (Result, error) {
	var able []candidate
	for _, e := range r.p.edges(in.MIME) {
		if e.to == to && (len(able) == 0 || able[len(able)-1].engine != e.engine) {
			able = append(able, candidate{e.engine, e.decl.Do})
		}
	}
	do, err := r.choose(ctx, Selection{Kind: "convert", In: in, To: to}, able)
	if err != nil {
		return Result{}, err
	}
	req := r.request(ctx, in, options)
	req.To = to
	return do(ctx, req)
}

// request is what every engine is told.
func (r *run) request(ctx context.Context, in Payload, args map[string]any) *Request {
	req := &Request{In: in, Args: args, Limits: r.p.cfg.Limits.During(ctx)}
	password := args["password"]
	req.ReadText = func(ctx context.Context, p Payload) (string, error) {
		return r.text(ctx, p, map[string]any{"password": password})
	}
	if args["ocr"] != "off" && FamilyOf(in.MIME) != Image && r.p.path("image/png", "txt") != nil {
		req.ReadPicture = func(ctx context.Context, p Payload) (string, error) {
			return r.text(ctx, p, map[string]any{"languages": args["languages"]})
		}
	}
	return req
}

type doing = func(context.Context, *Request) (Result, error)

type candidate struct {
	engine int
	do     doing
}

// choose asks the selection stages where more than one engine is able.
func (r *run) choose(ctx context.Context, s Selection, able []candidate) (doing, error) {
	if len(able) == 0 {
		return nil, Failf("no engine is able.")
	}
	if len(able) == 1 || len(r.p.cfg.Selection) == 0 {
		return able[0].do, nil
	}
	id := func(c candidate) string { return r.p.engines()[c.engine].ID }
	all := able
	for _, stage := range r.p.cfg.Selection {
		s.Candidates = nil
		for _, c := range able {
			s.Candidates = append(s.Candidates, id(c))
		}
		chosen, err := stage(ctx, s)
		if err != nil {
			return nil, err
		}
		var left []candidate
		for _, name := range chosen {
			if i := slices.IndexFunc(able, func(c candidate) bool { return id(c) == name }); i >= 0 && !slices.ContainsFunc(left, func(c candidate) bool { return id(c) == name }) {
				left = append(left, able[i])
			}
		}
		if able = left; len(able) == 0 {
			var names []string
			for _, c := range all {
				names = append(names, id(c))
			}
			return nil, Failf("every engine for this was ruled out here: %s.", strings.Join(names, ", "))
		}
	}
	return able[0].do, nil
}

// text gives the words of a media.
func (r *run) text(ctx context.Context, in Payload, options map[string]any) (string, error) {
	in = Identify(in)
	if in.MIME == "text/plain" {
		return DecodeText(in.Data), nil
	}
	res, err := r.convert(ctx, in, "txt", options)
	if err != nil {
		return "", err
	}
	return string(res.Media.Data), nil
}
