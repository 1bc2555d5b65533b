package media

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tackle-dev/tackle/internal/pipe"
)

// Config configures a pipeline. It is copied.
type Config struct {
	// Engines in the order of preference. None is legal: then only what needs none is offered.
	Engines []Engine
	// More finds engines whose finding takes time, such as programs that are tried first. See Find.
	More func(ctx context.Context) ([]Engine, error)
	// Selection stages arbitrate where several engines can do a step.
	Selection []Selector
	// Use are interceptors around every step, the first outermost.
	Use []Interceptor
	// Resolve turns ids into media, for plans that name some. A run may bring its own.
	Resolve Resolver
	Limits  Limits
}

// Resolver turns an id into a media. An *Error passes to the caller as it is.
type Resolver func(ctx context.Context, id string) (Payload, error)

// Selection is what a stage is asked: which of the engines, by id, shall do it, best first.
type Selection struct {
	Kind       string // convert, mutate, edit
	In         Payload
	To         string
	Ops        []string
	Candidates []string
}

// Selector drops or reorders candidates. Ids that are no candidates are ignored; none left is an error that names those
// that were dropped.
type Selector func(ctx context.Context, s Selection) ([]string, error)

// StepInfo is what an interceptor is told. Steps that are one call of an engine (changes of a picture) come together.
type StepInfo struct {
	Plan  Plan
	Index int // of the first step, from 0
	Steps []Step
	In    Payload
}

// Next runs what an interceptor stands around.
type Next func(ctx context.Context, in Payload) (Result, error)

// Interceptor stands around a step. It calls next, or answers itself; neither is an error.
type Interceptor func(ctx context.Context, s StepInfo, next Next) (Result, error)

// Pipeline runs plans over its engines.
type Pipeline struct {
	cfg    Config
	lang   *pipe.Language
	supply atomic.Pointer[[]Engine] // only ever grows at its end
	more   sync.Mutex
	found  bool
}

func (p *Pipeline) engines() []Engine { return *p.supply.Load() }

// New checks the configuration and makes a pipeline. An error names the engine by index and id.
func New(cfg Config) (*Pipeline, error) {
	cfg.Engines, cfg.Selection, cfg.Use = slices.Clone(cfg.Engines), slices.Clone(cfg.Selection), slices.Clone(cfg.Use)
	cfg.Limits = cfg.Limits.WithDefaults()
	if err := checkAll(cfg.Engines); err != nil {
		return nil, err
	}
	p := &Pipeline{cfg: cfg, lang: pipe.Standard()}
	p.supply.Store(&cfg.Engines)
	return p, nil
}

// checkAll finds contradictions in engines and between them.
func checkAll(engines []Engine) error {
	ids := map[string]bool{}
	for i := range engines {
		e := &engines[i]
		err := e.check()
		if err == nil && ids[e.ID] {
			err = errors.New("another engine has its id")
		}
		if err != nil {
			return fmt.Errorf("media engine %d (%q): %w", i, e.ID, err)
		}
		ids[e.ID] = true
	}
	return nil
}

// Find adds the engines that Config.More finds; an engine that is there already stays as it is. The first call looks, others
// return at once. A program calls it before the first use of the pipeline, not at its start.
func (p *Pipeline) Find(ctx context.Context) error {
	p.more.Lock()
	defer p.more.Unlock()
	if p.found || p.cfg.More == nil {
		return nil
	}
	more, err := p.cfg.More(ctx)
	if err != nil {
		return err
	}
	all := slices.Clone(p.engines())
	for _, e := range more {
		if !slices.ContainsFunc(all, func(have Engine) bool { return have.ID == e.ID }) {
			all = append(all, e)
		}
	}
	if err := checkAll(all); err != nil {
		return err
	}
	p.found = true
	p.supply.Store(&all)
	return nil
}

// served reports whether some engine declares a verb.
func (p *Pipeline) served(id string) bool {
	image, mutates := strings.CutPrefix(id, "image.")
	for i := range p.engines() {
		e := &p.engines()[i]
		switch {
		case id == "extract.metadata":
			return true
		case mutates:
			if slices.ContainsFunc(e.Mutate, func(m Mutate) bool { return image == "format" || slices.Contains(m.Ops, image) }) {
				return true
			}
		case id == "audio.transcribe":
			return p.speech()
		}
		if id == "convert" || id == "extract.text" {
			if slices.ContainsFunc(e.Convert, func(c Convert) bool {
				return !Matches(c.From, EmptyMIME) && slices.ContainsFunc(c.To, func(t string) bool { return t == "txt" || id == "convert" && slices.Contains(pipe.Targets, t) })
			}) {
				return true
			}
		}
		if slices.ContainsFunc(e.Edit, func(d Edit) bool { return slices.Contains(d.Ops, id) }) {
			return true
		}
	}
	return id == "extract.metadata"
}

// speech reports whether sound can be decoded and decoded sound be written down.
func (p *Pipeline) speech() bool {
	decoder, writer := false, false
	for i := range p.engines() {
		for _, c := range p.engines()[i].Convert {
			decoder = decoder || slices.Contains(c.To, "pcm")
			writer = writer || Matches(c.From, PCMMIME) && slices.Contains(c.To, "txt")
		}
	}
	return decoder && writer
}

// Available reports whether a verb can be used here.
func (p *Pipeline) Available(id string) bool { return p.served(id) }

// Reads reports whether text can be read out of pictures here.
func (p *Pipeline) Reads() bool {
	return slices.ContainsFunc(p.engines(), func(e Engine) bool {
		return slices.ContainsFunc(e.Convert, func(c Convert) bool { return Matches(c.From, "image/png") && slices.Contains(c.To, "txt") })
	})
}

// Encodes reports whether pictures can be written in a format here.
func (p *Pipeline) Encodes(token string) bool {
	f, ok := FormatOf(token)
	return ok && slices.ContainsFunc(p.engines(), func(e Engine) bool {
		return slices.ContainsFunc(e.Mutate, func(m Mutate) bool { return slices.Contains(m.Encodes, f.Token) })
	})
}

// Verbs returns the verbs that can be used here, in the order of the table, each with the arguments and values that mean
// something here.
func (p *Pipeline) Verbs() []pipe.Verb {
	var out []pipe.Verb
	for _, v := range p.lang.Verbs() {
		if p.Available(v.ID) {
			out = append(out, p.narrowed(v))
		}
	}
	return out
}

// locks reports whether some engine knows encrypted or signed files.
func (p *Pipeline) locks() bool {
	return slices.ContainsFunc(p.engines(), func(e Engine) bool { return e.Locks })
}

func (p *Pipeline) narrowed(v pipe.Verb) pipe.Verb {
	params := v.Params
	v.Params = nil
	for _, a := range params {
		switch {
		case a.Common && !p.locks():
			continue
		case v.ID == "convert" && a.Name == "to":
			a.Enum, a.Sample = p.allTargets(), ""
		case v.ID == "image.format" && a.Name == "to", v.ID == "extract.assets" && a.Name == "format":
			a.Enum = slices.DeleteFunc(slices.Clone(a.Enum), func(t string) bool { return !p.Encodes(t) })
			if len(a.Enum) == 0 {
				continue
			}
		case v.ID == "extract.text" && !a.Common && !p.Reads():
			continue
		}
		v.Params = append(v.Params, a)
	}
	return v
}

// Language returns the language of statements, with all verbs, also those that no engine here does.
func (p *Pipeline) Language() *pipe.Language { return p.lang }

// Limits returns the limits of a run.
func (p *Pipeline) Limits() Limits { return p.cfg.Limits }

// Compile makes a plan of a statement and runs nothing. Errors: *Error.
func (p *Pipeline) Compile(statement string) (Plan, error) {
	plan, err := p.lang.Parse(statement, p.Available)
	if err != nil {
		return Plan{}, err
	}
	return plan, p.compile(plan)
}

// CompileOps makes a plan of structured operations: [{"verb": …, "args": {…}}]. Errors: *Error.
func (p *Pipeline) CompileOps(ops []byte) (Plan, error) {
	plan, err := p.lang.Ops(ops, p.Available)
	if err != nil {
		return Plan{}, err
	}
	return plan, p.compile(plan)
}

// Print writes a plan as a statement, which compiles to an equal plan.
func (p *Pipeline) Print(plan Plan) (string, error) { return p.lang.Print(plan) }

// compile refuses what no run could do.
func (p *Pipeline) compile(plan Plan) error {
	for i := range plan.Steps {
		s := &plan.Steps[i]
		if ms, ok := s.Args["match"].([]Match); ok {
			for _, m := range ms {
				if _, err := NewPattern(m, p.cfg.Limits.Match); err != nil {
					return &Error{Code: BadArg, Step: i + 1, Verb: s.Verb, Arg: "match", Pos: s.From, Oneline: true,
						Message: fmt.Sprintf("%s match: %v.", words(s.Verb), err), Use: `redact match=/\d{3}-\d{2}-\d{4}/`}
				}
			}
		}
		if to, ok := s.Args["to"].(string); ok && s.Verb == "convert" && !p.anyEdge(to) {
			e := p.engineMissing(i, s, fmt.Sprintf("nothing here converts to %s.", to))
			e.Verb = "convert to=" + to
			return e
		}
	}
	return nil
}

func (p *Pipeline) engineMissing(i int, s *Step, fact string) *Error {
	e := &Error{Code: EngineRequired, Step: i + 1, Verb: s.Verb, Final: true, Message: fact}
	if s.Verb == "convert" {
		e.Message += " Reachable formats: " + strings.Join(p.allTargets(), ", ") + "."
	}
	return e
}

func words(verb string) string { return strings.ReplaceAll(verb, ".", " ") }

// Query compiles a statement and runs it.
func (p *Pipeline) Query(ctx context.Context, in Payload, statement string) (Result, error) {
	plan, err := p.Compile(statement)
	if err != nil {
		return Result{}, err
	}
	return p.Run(ctx, in, plan, RunOptions{})
}

// Ops compiles structured operations and runs them.
func (p *Pipeline) Ops(ctx context.Context, in Payload, ops []byte) (Result, error) {
	plan, err := p.CompileOps(ops)
	if err != nil {
		return Result{}, err
	}
	return p.Run(ctx, in, plan, RunOptions{})
}
