// Package forge makes tools for agents of a media pipeline.
//
//	set, err := forge.Tools(forge.Config{Pipeline: p, Library: shelf, Surface: forge.Composite})
//	// set.ByName: list_media, media_query
//
// Models pass ids, never bytes. [Composite] is one tool that takes statements (or structured operations) and costs one
// round trip for many steps; [Granular] is one narrow tool for each verb. Either way the tools follow the engines: a verb
// that nothing here does is in no schema and no description. What a change gives is kept in the [Library] as media with an
// id, its sources and the lowest trust of them on record, so that calls can build on each other; what is read is text.
//
// Failures are text that a model can repair: Error (CODE): the fact, the nearest valid name, one line to copy.
package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/internal/pipe"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/tool"
)

// Surface says which tools are made.
type Surface uint8

// The surfaces. There is no default: a program says what it wants.
const (
	Composite Surface = iota + 1 // list_media and media_query
	Granular                     // list_media and a tool for each verb
)

// Trust says where media come from. What is not first-party may hold words that want to be instructions.
type Trust string

// The tiers, lowest first.
const (
	Private    Trust = "third-party-private" // attachments and files of users
	Public     Trust = "third-party-public"  // fetched from the web
	FirstParty Trust = "first-party"         // made by this program
)

var tiers = []Trust{Private, Public, FirstParty}

// Lowest returns the lowest of some tiers; one that is not known is the lowest of all.
func Lowest(ts ...Trust) Trust {
	best := len(tiers) - 1
	for _, t := range ts {
		best = min(best, max(0, slices.Index(tiers, t)))
	}
	return tiers[best]
}

// Origin says how media came into a session.
type Origin string

// The origins.
const (
	Attachment Origin = "attachment"
	ToolResult Origin = "tool-result"
)

// Item describes media that a session can see.
type Item struct {
	ID       string   `json:"id"`
	Filename string   `json:"filename"`
	Kind     string   `json:"kind"` // image, audio, document
	MIMEType string   `json:"mimeType"`
	Size     int64    `json:"size"` // bytes
	Source   string   `json:"source"`
	Origin   Origin   `json:"origin"`
	Trust    Trust    `json:"trust"`                 // of the bytes: what a tool made is first-party
	Inherits Trust    `json:"inheritsTrust"`         // the lowest trust of what it was made from
	Derived  []string `json:"derivedFrom,omitempty"` // ids
	// AlsoNamed are further names under which the same bytes came.
	AlsoNamed []string  `json:"alsoNamed,omitempty"`
	At        time.Time `json:"at,omitzero"`
}

// KindOf returns the kind of a type of media.
func KindOf(mime string) string {
	switch media.FamilyOf(mime) {
	case media.Image:
		return "image"
	case media.Audio:
		return "audio"
	}
	return "document"
}

// Library keeps the media of sessions. Implementations are safe for concurrent use.
type Library interface {
	// List returns what a session can see: attachments in order, then results in order.
	List(ctx context.Context, session string) ([]Item, error)
	// Open returns one of these. An error wraps fs.ErrNotExist when there is no such media in the session.
	Open(ctx context.Context, session, id string) (Item, []byte, error)
	// Put keeps media and returns it with its id.
	Put(ctx context.Context, session string, item Item, data []byte) (Item, error)
}

// GateCall is what a gate is asked.
type GateCall struct {
	Tool string
	Args json.RawMessage
}

// Override renames or describes a tool anew. Empty fields leave it as it is.
type Override struct{ Name, Description string }

// Config configures the tools.
type Config struct {
	Pipeline *media.Pipeline
	Library  Library
	Surface  Surface
	// Overrides by default name.
	Overrides map[string]Override
	// Gate, where it is set, is asked after a call is understood and before any byte moves. Its error refuses the call and
	// is the cause of the error that the caller sees. In a toolbox the road's gate serves as it; then leave this nil.
	Gate func(ctx context.Context, call GateCall) error
	// Files allows file:PATH as a media id: a file of the workspace, read under the same rules as by read_file.
	Files bool
}

// Set is the tools that were made.
type Set struct {
	Order  []string // names, in the order in which models see them
	ByName map[string]tool.Tool
}

// Tools returns the tools in order.
func (s *Set) Tools() []tool.Tool {
	out := make([]tool.Tool, len(s.Order))
	for i, n := range s.Order {
		out[i] = s.ByName[n]
	}
	return out
}

// ListName and QueryName are the default names of the two tools of the composite surface.
const (
	ListName  = "list_media"
	QueryName = "media_query"
)

// Tools makes the tools. Errors: a contradiction in the configuration.
func Tools(cfg Config) (*Set, error) {
	f := &forge{Config: cfg}
	switch {
	case cfg.Pipeline == nil || cfg.Library == nil:
		return nil, errors.New("media forge: Pipeline and Library must be set")
	case cfg.Surface != Composite && cfg.Surface != Granular:
		return nil, errors.New("media forge: Surface must be named: Composite or Granular")
	}
	f.creatable = cfg.Pipeline.Creatable()
	f.listName = ListName
	if o := cfg.Overrides[ListName]; o.Name != "" {
		f.listName = o.Name
	}
	defs := []*made{f.list()}
	if cfg.Surface == Composite {
		q, err := f.query()
		if err != nil {
			return nil, err
		}
		defs = append(defs, q)
	} else {
		for _, v := range cfg.Pipeline.Verbs() {
			defs = append(defs, f.verb(v))
		}
	}
	set := &Set{ByName: map[string]tool.Tool{}}
	used := map[string]bool{}
	for _, m := range defs {
		o, ok := cfg.Overrides[m.def.Name]
		used[m.def.Name] = ok
		m.def.Permission = m.def.Name
		if o.Name != "" {
			m.def.Name = o.Name
		}
		if o.Description != "" {
			m.def.Description = o.Description
		}
		if set.ByName[m.def.Name] != nil {
			return nil, fmt.Errorf("media forge: two tools are named %q", m.def.Name)
		}
		m.def.Category, m.def.Version, m.def.Author = "media", "1", "tackle"
		set.ByName[m.def.Name] = m
		set.Order = append(set.Order, m.def.Name)
	}
	for name := range cfg.Overrides {
		if !used[name] {
			return nil, fmt.Errorf("media forge: an override is for %q, and there is no such tool here: %s", name, strings.Join(set.Order, ", "))
		}
	}
	return set, nil
}

type forge struct {
	Config
	creatable []string
	listName  string // as models know it
}

// made is a tool with its plan.
type made struct {
	def  tool.Definition
	plan func(ctx context.Context, call *tool.Call, args json.RawMessage) (tool.Action, error)
}

// Definition is described at tool.Tool.
func (m *made) Definition() tool.Definition { return m.def }

// Plan is described at tool.Tool.
func (m *made) Plan(ctx context.Context, call *tool.Call, args json.RawMessage) (tool.Action, error) {
	return m.plan(ctx, call, args)
}

func (f *forge) list() *made {
	return &made{
		def: tool.Definition{Name: ListName, Title: "List media", Annotations: tool.Annotations{ReadOnly: true, Idempotent: true}, Example: `{}`,
			Description: "List the media of this session (attachments, and results of earlier calls) as JSON: id, filename, kind, mimeType, size, source, origin, trust.",
			Schema:      object(nil)},
		plan: func(_ context.Context, call *tool.Call, _ json.RawMessage) (tool.Action, error) {
			return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}, Alone: true}, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
				items, err := f.Library.List(ctx, call.Session)
				if err != nil {
					return tool.Result{}, tool.Fault(err)
				}
				if items == nil {
					items = []Item{}
				}
				return tool.TextResult(pretty(items), items), nil
			}}, nil
		},
	}
}

// pretty writes JSON for models.
func pretty(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

func object(props map[string]*jsonschema.Schema, required ...string) *jsonschema.Schema {
	if props == nil {
		props = map[string]*jsonschema.Schema{}
	}
	return &jsonschema.Schema{Type: "object", Properties: props, Required: required, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
}

// lineError is an error in the form of media tools.
func lineError(err error) error {
	var e *media.Error
	if !errors.As(err, &e) {
		return err
	}
	t := &tool.Error{Code: tool.Code(e.Code), Message: e.Fact(), Hint: e.Advice(), Parameter: e.Arg, Line: true, Err: err}
	if t.Hint == "" {
		t.Hint = "Correct this and call again."
		if e.Code == media.StepFailed {
			t.Hint = ""
		}
	}
	return t
}

func badRequest(format string, args ...any) error {
	return &tool.Error{Code: tool.BadRequest, Message: fmt.Sprintf(format, args...), Line: true, Hint: `Pass media_id with q, as in {"media_id":"a1b2","q":"extract text"}, or with ops.`}
}

// plainID is an id as models write it: with the @ of a statement, or with blanks.
func plainID(id string) string { return strings.TrimPrefix(strings.TrimSpace(id), "@") }

// toolName is a verb's id as the name of a tool.
func toolName(v pipe.Verb) string { return strings.ReplaceAll(v.ID, ".", "_") }
