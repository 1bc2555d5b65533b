package pipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Available says which verbs a deployment can do, by id. nil means all.
type Available func(id string) bool

// checker turns raw steps of either front into a plan.
type checker struct {
	lang    *Language
	can     Available
	src     string
	oneline bool
	step    int
}

// Parse makes a plan of a statement. Errors: *Error.
func (l *Language) Parse(src string, can Available) (Plan, error) {
	segs, err := l.Syntax(src)
	if err != nil {
		return Plan{}, l.honest(err, can)
	}
	for i := range segs {
		for j := range segs[i].Args {
			a := &segs[i].Args[j]
			for _, t := range a.Items {
				a.given = append(a.given, tokenItem(t))
			}
		}
	}
	return (&checker{lang: l, can: can, src: src, oneline: !strings.Contains(strings.TrimSpace(src), "\n")}).plan(segs)
}

// honest takes back a line to copy that would not do: where its verb cannot be done here at all, that is the error.
func (l *Language) honest(err error, can Available) error {
	e, ok := err.(*Error)
	if !ok || e.Use == "" {
		return err
	}
	_, again := l.Parse(e.Use, can)
	if a, ok := again.(*Error); ok {
		if a.Code == EngineRequired {
			a.Pos = Pos{}
			return a
		}
		e.Use = ""
	}
	return e
}

// Ops makes a plan of structured operations: [{"verb": "convert", "args": {"to": "md"}}], or one such object.
// Errors: *Error; what is not of that shape has code BadArg.
func (l *Language) Ops(raw []byte, can Available) (Plan, error) {
	c := &checker{lang: l, can: can}
	raw = bytes.TrimSpace(raw)
	var steps []struct {
		Verb string                     `json:"verb"`
		Args map[string]json.RawMessage `json:"args"`
	}
	if len(raw) > 0 && raw[0] == '{' {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&steps)
	if err == nil && (len(steps) == 0 || len(steps) > MaxSteps) {
		err = fmt.Errorf("it has %d steps, not 1 to %d", len(steps), MaxSteps)
	}
	if err != nil {
		return Plan{}, &Error{Code: BadArg, Arg: "ops", Message: fmt.Sprintf("ops is no list of steps: %v.", err), Use: `[{"verb":"convert","args":{"to":"md"}}]`}
	}
	segs := make([]Segment, len(steps))
	for i, s := range steps {
		segs[i].Verb = s.Verb
		_, segs[i].folds = l.Verb(s.Verb)
		for _, name := range slices.Sorted(mapKeys(s.Args)) {
			v := s.Args[name]
			if string(v) == "null" { // an optional argument that models send as null
				if vb, ok := l.Verb(s.Verb); ok {
					if p, ok := vb.Param(name); ok && p.Type != Any {
						continue
					}
				}
			}
			segs[i].Args = append(segs[i].Args, jsonArg(name, v))
		}
	}
	return c.plan(segs)
}

func (c *checker) plan(segs []Segment) (Plan, error) {
	p := Plan{Steps: make([]Step, 0, len(segs))}
	for i := range segs {
		c.step = i + 1
		s, v, err := c.check(&segs[i])
		if err != nil {
			err.Oneline = c.oneline
			return Plan{}, err
		}
		if i+1 < len(segs) && (v.Out == Many || v.Out == Data) {
			what := "a value, not a file"
			if v.Out == Many {
				what = "several files"
			}
			e := c.fail(Unsupported, &segs[i], "%s gives %s, so only the last step may be one.", spoken(v.ID), what)
			e.Oneline, e.Final = c.oneline, false
			e.Use = c.without(segs, i)
			return Plan{}, e
		}
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}

// Unsupported is the code for a verb that does not apply to what it is given.
const Unsupported = "UNSUPPORTED_OP"

// without returns the statement up to and with segment i.
func (c *checker) without(segs []Segment, i int) string {
	if c.src == "" {
		return ""
	}
	return strings.TrimSpace(c.src[:segs[i].End.Offset])
}

func (c *checker) fail(code string, s *Segment, format string, args ...any) *Error {
	return &Error{Code: code, Pos: s.Pos, Step: c.step, Verb: s.Verb, Message: fmt.Sprintf(format, args...)}
}

// usable returns the verbs that work here, as statements have them.
func (c *checker) usable() []string {
	out := []string{}
	for i := range c.lang.verbs {
		if id := c.lang.verbs[i].ID; c.can == nil || c.can(id) {
			out = append(out, spoken(id))
		}
	}
	return out
}

func (c *checker) check(s *Segment) (Step, *Verb, *Error) {
	v, ok := c.lang.Verb(s.Verb)
	if !ok {
		e := c.fail(UnknownVerb, s, "there is no verb %s.", quoted(s.Verb))
		e.Suggest = c.closest(s.Verb)
		if len(e.Suggest) == 0 {
			e.Usable = c.usable()
		} else if b, ok := c.lang.Verb(e.Suggest[0]); ok {
			e.Use = c.lang.Example(b)
		}
		return Step{}, nil, e
	}
	s.Verb = v.ID
	if c.can != nil && !c.can(v.ID) {
		e := c.fail(EngineRequired, s, "%s needs %s and this deployment has none.", spoken(v.ID), v.Needs)
		e.Final, e.Usable = true, c.usable()
		return Step{}, nil, e
	}
	step := Step{Verb: v.ID, From: s.Pos, To: s.End}
	for i := range s.Args {
		if _, ok := v.Param(s.Args[i].Name); !ok {
			return step, v, c.unknownArg(s, v, &s.Args[i])
		}
	}
	for i := range s.Args {
		a := &s.Args[i]
		p, _ := v.Param(a.Name)
		val, problem := p.value(a.given, a.list)
		if problem != nil {
			e := c.fail(BadArg, s, "%s %s: %s", spoken(v.ID), a.Name, problem.text)
			e.Pos, e.Arg = a.Pos, a.Name
			e.Use = c.repaired(s, a, problem.use)
			if e.Use == "" {
				e.Use = c.lang.Example(v)
			}
			return step, v, e
		}
		if step.Args == nil {
			step.Args = map[string]any{}
		}
		step.Args[a.Name] = val
	}
	return step, v, c.missing(s, v, &step)
}

// closest looks among the verbs that work here.
func (c *checker) closest(written string) []string {
	best := near(written, c.usable(), true)
	if len(best) > 0 {
		return best
	}
	// More words than the verb has: the first of them may be it.
	if first, _, more := strings.Cut(written, " "); more {
		return near(first, c.usable(), true)
	}
	return nil
}

func (c *checker) unknownArg(s *Segment, v *Verb, a *Arg) *Error {
	e := c.fail(UnknownArg, s, "%s takes no %s.", spoken(v.ID), quoted(a.Name))
	e.Pos, e.Arg = a.Pos, a.Name
	var names []string
	for _, p := range v.Params {
		names = append(names, p.Name)
	}
	own := v.own()
	switch e.Suggest = near(a.Name, names, false); {
	case len(e.Suggest) > 0:
	case len(own) == 0:
		e.Message = fmt.Sprintf("%s takes no arguments, so no %s.", spoken(v.ID), quoted(a.Name))
	case len(own) == 1:
		e.Suggest = own
	default:
		e.Message += " It takes " + strings.Join(own, ", ") + "."
	}
	e.Use = c.lang.Example(v)
	return e
}

func (c *checker) missing(s *Segment, v *Verb, step *Step) *Error {
	for i := range v.Params {
		p := &v.Params[i]
		if _, ok := step.Args[p.Name]; p.Required && !ok {
			e := c.fail(MissingArg, s, "%s needs %s (%s).", spoken(v.ID), p.Name, p.kind())
			e.Arg, e.Use = p.Name, c.lang.Example(v)
			return e
		}
	}
	if len(v.OneOf) > 0 && !slices.ContainsFunc(v.OneOf, func(n string) bool { _, ok := step.Args[n]; return ok }) {
		e := c.fail(MissingArg, s, "%s needs %s.", spoken(v.ID), strings.Join(v.OneOf, " or "))
		e.Arg, e.Use = v.OneOf[0], c.lang.Example(v)
		return e
	}
	return nil
}

// repaired returns the segment with another value for one argument, if that parses.
func (c *checker) repaired(s *Segment, a *Arg, value string) string {
	if value == "" || c.src == "" || len(a.Items) == 0 {
		return ""
	}
	from, to := a.Items[0].Pos.Offset, a.Items[len(a.Items)-1].End
	text := c.src[s.Pos.Offset:from] + value + c.src[to:s.End.Offset]
	if _, err := c.lang.Parse(text, nil); err != nil {
		return ""
	}
	return strings.TrimSpace(text)
}
