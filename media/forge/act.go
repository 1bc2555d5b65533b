package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/picture"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/tool"
)

// Answer is what people and programs see of a call.
type Answer struct {
	Plan     string       `json:"plan"` // as a statement
	Media    []Item       `json:"media,omitempty"`
	Data     any          `json:"data,omitempty"`  // what was read
	Trust    Trust        `json:"trust,omitempty"` // of what was read: the lowest of its sources
	Sources  []string     `json:"sources,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	Counts   media.Counts `json:"counts,omitzero"`
}

const filePrefix = "file:"

// maxShown is how many pictures of one result a model is shown: a container may hold hundreds, and providers refuse a request
// with too many.
const maxShown = 8

// source is a media that a call works on, resolved as far as planning may.
type source struct {
	id   string
	path host.Path // of a file of the workspace
	file bool
}

// source resolves an id without reading anything.
func (f *forge) source(ctx context.Context, call *tool.Call, id string) (source, error) {
	s := source{id: id}
	name, ok := strings.CutPrefix(plainID(id), filePrefix)
	if !ok || !f.Files {
		return s, nil
	}
	p, err := call.Resolve(ctx, name)
	if err != nil {
		var e *tool.Error
		if errors.As(err, &e) {
			c := *e
			c.Line, c.Parameter = true, "media_id"
			return s, &c
		}
		return s, err
	}
	s.path, s.file = p, true
	return s, nil
}

// action is a call that is understood: what it reads, and how it runs.
func (f *forge) action(ctx context.Context, call *tool.Call, id string, plan media.Plan, args json.RawMessage) (tool.Action, error) {
	intent := tool.Intent{Effects: []tool.Effect{tool.Read}}
	sources := map[string]source{}
	for _, ref := range append([]string{id}, plan.Refs()...) {
		s, err := f.source(ctx, call, ref)
		if err != nil {
			return tool.Action{}, err
		}
		sources[ref] = s
		if s.file {
			intent.Targets = append(intent.Targets, tool.PathTo(s.path, tool.Read))
			if call.Reading(s.path) != tool.Allow {
				intent.Permission = tool.ReadPermission // what stops read_file stops this, in the same words
			}
		}
	}
	return tool.Action{Intent: intent, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
		if f.Gate != nil {
			if err := f.Gate(ctx, GateCall{Tool: call.Tool, Args: args}); err != nil {
				return tool.Result{}, &tool.Error{Code: tool.ExecutionFailed, Message: fmt.Sprintf("%s was refused before anything was read: %v.", call.Tool, err), Err: err, Line: true,
					Hint: "Do not retry this call; take another way, or ask the person who refused it."}
			}
		}
		w := &work{f: f, call: call, sources: sources}
		in, err := w.resolve(ctx, id)
		if err != nil {
			return tool.Result{}, lineError(err)
		}
		res, err := f.Pipeline.Run(ctx, in, plan, media.RunOptions{Resolve: w.resolve, Progress: func(done, total int, next string) { r.Progress(float64(done), float64(total), next) }})
		if err != nil {
			return tool.Result{}, lineError(err)
		}
		return w.result(ctx, r, plan, &res)
	}}, nil
}

// work is one running call.
type work struct {
	f       *forge
	call    *tool.Call
	sources map[string]source
	used    []string
	trust   []Trust
}

// resolve turns an id into bytes.
func (w *work) resolve(ctx context.Context, id string) (media.Payload, error) {
	if format, ok := media.EmptyID(id); ok {
		w.used, w.trust = append(w.used, id), append(w.trust, FirstParty)
		return w.f.Pipeline.Create(ctx, format)
	}
	if s := w.sources[id]; s.file {
		data, err := w.read(ctx, s.path)
		if err != nil {
			var e *tool.Error
			if err = tool.PathError("media_id", strings.TrimPrefix(plainID(id), filePrefix), err); errors.As(err, &e) {
				c := *e
				c.Line = true
				return media.Payload{}, &c
			}
			return media.Payload{}, err
		}
		w.used, w.trust = append(w.used, id), append(w.trust, Private)
		return media.Payload{Data: data, Name: media.CleanName(path.Base(s.path.Real))}, nil
	}
	item, data, err := w.f.Library.Open(ctx, w.call.Session, plainID(id))
	if errors.Is(err, fs.ErrNotExist) {
		return media.Payload{}, w.miss(ctx, id)
	}
	if err != nil {
		return media.Payload{}, tool.Fault(fmt.Errorf("open media %s: %w", id, err))
	}
	w.used, w.trust = append(w.used, item.ID), append(w.trust, Lowest(item.Trust, item.Inherits))
	return media.Payload{Data: data, MIME: item.MIMEType, Name: item.Filename}, nil
}

func (w *work) read(ctx context.Context, p host.Path) ([]byte, error) {
	file, err := w.call.Host.Open(ctx, p.Real)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	most := w.f.Pipeline.Limits().Bytes
	if n := file.Info().Size; n > most {
		return nil, &tool.Error{Code: tool.LimitExceeded, Message: fmt.Sprintf("%s has %d bytes, more than the %d that are allowed.", p.Given, n, most), Hint: "Work on a smaller file.", Line: true}
	}
	return io.ReadAll(io.LimitReader(file, most+1))
}

// miss says that there is no such media, and what there is.
func (w *work) miss(ctx context.Context, id string) error {
	e := &tool.Error{Code: tool.MediaNotFound, Line: true, Message: fmt.Sprintf("no media with id %q.", media.CleanName(id)), Parameter: "media_id"}
	items, err := w.f.Library.List(ctx, w.call.Session)
	if err != nil {
		return tool.Fault(fmt.Errorf("list media: %w", err))
	}
	if slices.ContainsFunc(items, func(it Item) bool { return it.ID == plainID(id) }) {
		e.Message = fmt.Sprintf("the bytes of media %q are no longer kept.", media.CleanName(id))
	}
	if len(items) == 0 {
		e.Message += "\nNo media is visible in this session."
	} else {
		var seen []string
		for i, it := range items {
			if i == 40 {
				seen = append(seen, fmt.Sprintf("and %d more (%s)", len(items)-i, w.f.listName))
				break
			}
			seen = append(seen, fmt.Sprintf("%s (%s)", it.ID, media.CleanName(it.Filename)))
		}
		e.Message += "\nVisible media ids: " + strings.Join(seen, ", ")
	}
	if w.f.Files {
		e.Message += "\nA file of the workspace is media_id \"file:PATH\"."
	}
	if len(w.f.creatable) > 0 {
		e.Message += fmt.Sprintf("\nTo create NEW media instead, pass media_id \"empty:<format>\" (available: %s).", strings.Join(w.f.creatable, ", "))
	}
	return e
}

// result keeps what was made, and says it to the model.
func (w *work) result(ctx context.Context, r tool.Runner, plan media.Plan, res *media.Result) (tool.Result, error) {
	statement, err := w.f.Pipeline.Print(plan)
	if err != nil {
		statement = err.Error()
	}
	inherited := Lowest(w.trust...)
	a := Answer{Plan: statement, Warnings: res.Warnings, Counts: res.Counts, Sources: w.used}
	r.Meta("trust", string(inherited))
	r.Meta("derivedFrom", w.used)
	var parts []tool.Part
	if res.Read != nil {
		a.Data, a.Trust = res.Read.Data, inherited
		s := res.Read.Text
		if s == "" {
			if t, ok := res.Read.Data.(string); !ok || t != "" {
				s = pretty(res.Read.Data)
			} else {
				s = "(no text)"
			}
		}
		parts = append(parts, tool.Text(s))
	}
	list := res.List
	if res.Media != nil {
		list = []media.Payload{*res.Media}
	}
	for i := range list {
		p := &list[i]
		item, err := w.f.Library.Put(ctx, w.call.Session, Item{Filename: media.CleanName(p.Name), Kind: KindOf(p.MIME), MIMEType: p.MIME, Size: int64(len(p.Data)),
			Source: "tool:" + w.call.Tool, Origin: ToolResult, Trust: FirstParty, Inherits: inherited, Derived: w.used}, p.Data)
		if err != nil {
			return tool.Result{}, tool.Fault(fmt.Errorf("keep the result of %s: %w", w.call.Tool, err))
		}
		a.Media = append(a.Media, item)
		if i < maxShown {
			parts = append(parts, Show(item, p.Data)...)
		} else {
			parts = append(parts, tool.Text(Marker(item)), link(item))
		}
	}
	if len(list) > maxShown && slices.ContainsFunc(a.Media[maxShown:], func(it Item) bool { return it.Kind == "image" }) {
		parts = append(parts, tool.Text(fmt.Sprintf("(Only the first %d are shown as pictures; the others are there by id.)", maxShown)))
	}
	if n := notes(res); n != "" {
		parts = append(parts, tool.Text(n))
	}
	return tool.Result{Parts: parts, Data: a}, nil
}

func notes(res *media.Result) string {
	var b strings.Builder
	for _, c := range []struct {
		n    int
		what string
	}{{res.Counts.Added, "added"}, {res.Counts.Removed, "removed"}, {res.Counts.Modified, "changed"}} {
		if c.n > 0 && res.Read == nil {
			fmt.Fprintf(&b, "%d %s. ", c.n, c.what)
		}
	}
	for _, w := range res.Warnings {
		b.WriteString("\nNote: " + w)
	}
	return strings.TrimSpace(b.String())
}

// Marker is the line that stands before media, wherever it is shown to a model. It is written by the program and carries no
// authority; the name is made safe to stand in it.
func Marker(item Item) string {
	return fmt.Sprintf("[media id: %s | %s]", item.ID, media.CleanName(item.Filename))
}

// Show returns the parts that show media to a model: the marker, and then a picture that every provider takes, or for other
// media a link and what it is.
func Show(item Item, data []byte) []tool.Part {
	parts := []tool.Part{tool.Text(Marker(item))}
	if item.Kind == "image" {
		pic, err := picture.Whole(data, picture.Limits{})
		if err == nil {
			parts = append(parts, tool.Part{Kind: tool.ImageKind, Data: pic.Data, MIME: pic.MIME, Name: item.Filename, Width: pic.Width, Height: pic.Height})
			if pic.Note != "" {
				parts = append(parts, tool.Text("("+pic.Note+")"))
			}
			return parts
		}
		parts = append(parts, tool.Text(fmt.Sprintf("(not shown: %v)", err)))
	}
	return append(parts, link(item))
}

func link(item Item) tool.Part {
	return tool.Part{Kind: tool.LinkKind, URI: "artifact://" + item.ID, Name: item.Filename, MIME: item.MIMEType, Size: item.Size}
}
