// Package script is a model that plays answers from a file, for tests, demos and drills: no key, no network, the same every time.
//
//	turns:
//	  - say: I run the tests.
//	    calls: [{tool: shell, args: {command: go test ./...}}]
//	  - expect: {tool: shell, result: 'FAIL: (?P<test>\w+)'}
//	    say: ${test} fails. I look at it.
//	    calls: [{tool: grep, args: {pattern: 'func ${test}'}}]
//	  - expect: {tool: grep}
//	    say: Done.
//
// Turns are played in order. Which one comes next follows from the conversation that is sent, so that a session that another process
// resumes goes on where it was. Each turn may say what it expects to have happened; where it did not, the answer is an error that
// says which turn of which file expected what, and what came instead. What an expectation captures by name (?P<name>…) can be used
// from then on as ${name}; $${ stands for a plain ${.
package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/model"
)

// Script is a file.
type Script struct {
	Name   string            `yaml:"name"`   // of the model; default "script"
	Window int               `yaml:"window"` // default 200,000 tokens
	Images *bool             `yaml:"images"` // default true
	Files  *bool             `yaml:"files"`  // default true
	Price  *model.Price      `yaml:"price"`
	Vars   map[string]string `yaml:"vars"`
	// Pace is how long it takes to say one word; default none.
	Pace Duration `yaml:"pace"`
	// Rules answer requests wherever the conversation stands, and are tried first. They do not count as turns: a request to summarise
	// comes when it comes.
	Rules []Turn `yaml:"rules"`
	Turns []Turn `yaml:"turns"`
	// Conversations are those beside Turns, such as those of children. The first whose Starts matches is played, and Turns if none does.
	Conversations []Conversation `yaml:"conversations"`
}

// Conversation is a list of turns for conversations whose first words of the user match.
type Conversation struct {
	Starts Pattern `yaml:"starts"`
	Turns  []Turn  `yaml:"turns"`
}

// Turn is one answer. One without Say and Calls is empty, as answers of models sometimes are.
type Turn struct {
	Expect Expect       `yaml:"expect"`
	Delay  Duration     `yaml:"delay"` // before the first word
	Think  string       `yaml:"think"` // reasoning
	Say    string       `yaml:"say"`
	Calls  []Call       `yaml:"calls"`
	Stop   model.Stop   `yaml:"stop"`  // default: calls where there are any, end otherwise
	Usage  *model.Usage `yaml:"usage"` // default: a quarter of the bytes
	Fail   []Failure    `yaml:"fail"`  // the first tries end so; the one after them is answered
	line   int
}

// Call is a call in an answer.
type Call struct {
	Tool string    `yaml:"tool"`
	ID   string    `yaml:"id"`   // default: one that is unique in the conversation
	Args yaml.Node `yaml:"args"` // an object; default {}
	Raw  string    `yaml:"raw"`  // in place of Args: the text of the arguments, which need not be JSON
}

// Failure is an answer that fails.
type Failure struct {
	Class   model.Class `yaml:"class"`   // default retry
	Message string      `yaml:"message"` // default "the script fails here"
	After   Duration    `yaml:"after"`
	Status  int         `yaml:"status"`
	Say     string      `yaml:"say"` // arrives before it fails
}

// Expect says what must have happened since the answer before. All that is set must hold.
type Expect struct {
	Tool   string   `yaml:"tool"`   // there is a result of this tool, and Result and Error speak of the last of them
	Result Pattern  `yaml:"result"` // the last result
	Error  *bool    `yaml:"error"`  // whether the last result is an error
	User   Pattern  `yaml:"user"`   // the words of the user, joined by newlines
	System Pattern  `yaml:"system"`
	Offers []string `yaml:"offers"` // tools that must be offered
	Lacks  []string `yaml:"lacks"`  // tools that must not be
}

// Pattern is a regular expression (RE2) in which ${name} stands for the text of a variable.
type Pattern string

// Duration is written as in Go: 200ms, 2s.
type Duration time.Duration

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v < 0 {
		return fmt.Errorf("line %d: %q is no duration: write 200ms or 2s", n.Line, n.Value)
	}
	*d = Duration(v)
	return nil
}

// UnmarshalYAML keeps the line of a turn for messages.
func (t *Turn) UnmarshalYAML(n *yaml.Node) error {
	type plain Turn // without this method
	if err := known(n, "expect", "delay", "think", "say", "calls", "stop", "usage", "fail"); err != nil {
		return err
	}
	if err := n.Decode((*plain)(t)); err != nil {
		return err
	}
	t.line = n.Line
	return nil
}

// known refuses keys that the decoder of a node would pass over.
func known(n *yaml.Node, keys ...string) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a turn is a mapping of %s", n.Line, strings.Join(keys, ", "))
	}
	for i := 0; i < len(n.Content); i += 2 {
		ok := false
		for _, k := range keys {
			ok = ok || n.Content[i].Value == k
		}
		if !ok {
			return fmt.Errorf("line %d: field %q not found in a turn: it has %s", n.Content[i].Line, n.Content[i].Value, strings.Join(keys, ", "))
		}
	}
	return nil
}

// Model plays a script. It is safe for concurrent use.
type Model struct {
	file   string
	script Script
	info   model.Info

	mu     sync.Mutex
	places map[string]*place // by session
}

// Parse reads a script. The name of its file is for messages. Errors name the line.
func Parse(file string, data []byte) (*Model, error) {
	var s Script
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&s); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty: give it turns")
		}
		return nil, fmt.Errorf("script %s: %w", file, err)
	}
	return New(file, s)
}

// New returns a model that plays s.
func New(file string, s Script) (*Model, error) {
	m := &Model{file: file, script: s, places: map[string]*place{}}
	m.info = model.Info{Provider: "script", Name: s.Name, Window: s.Window, Images: s.Images == nil || *s.Images, Files: s.Files == nil || *s.Files}
	if m.info.Name == "" {
		m.info.Name = "script"
	}
	if m.info.Window == 0 {
		m.info.Window = 200_000
	}
	if s.Price != nil {
		m.info.Price = *s.Price
	}
	if len(s.Turns) == 0 && len(s.Conversations) == 0 && len(s.Rules) == 0 {
		return nil, fmt.Errorf("script %s: it has no turns", file)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("script %s: %w", file, err)
	}
	return m, nil
}

// Info is described at model.Model.
func (m *Model) Info() model.Info { return m.info }

// check finds what can be wrong before anything is played: expressions, and variables that nothing has set.
func (m *Model) check() error {
	for i, c := range m.script.Conversations {
		if _, err := regexp.Compile(string(c.Starts)); err != nil {
			return fmt.Errorf("conversation %d: %w", i+1, err)
		}
		if err := m.checkTurns(fmt.Sprintf("conversation %d, ", i+1), c.Turns, true); err != nil {
			return err
		}
	}
	if err := m.checkTurns("", m.script.Turns, true); err != nil {
		return err
	}
	return m.checkTurns("rule, ", m.script.Rules, false)
}

func (m *Model) checkTurns(of string, turns []Turn, ordered bool) error {
	vars := map[string]bool{"last": true}
	for k := range m.script.Vars {
		vars[k] = true
	}
	if !ordered { // a rule may come after any turn
		for _, t := range append(m.script.Turns, conversationTurns(m.script.Conversations)...) {
			for _, p := range t.Expect.patterns() {
				addNames(vars, p.p)
			}
		}
	}
	for i, t := range turns {
		where := fmt.Sprintf("%sturn %d%s", of, i+1, atLine(t.line))
		for _, p := range t.Expect.patterns() {
			if err := checkText(string(p.p), vars); err != nil {
				return fmt.Errorf("%s: %s: %w", where, p.name, err)
			}
			re, err := regexp.Compile(expand(string(p.p), func(string) string { return "x" }))
			if err != nil {
				return fmt.Errorf("%s: %s: %w", where, p.name, err)
			}
			for _, n := range re.SubexpNames() {
				vars[n] = true
			}
		}
		if err := t.words(); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		for _, s := range t.texts() {
			if err := checkText(s, vars); err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
		}
		for _, c := range t.Calls {
			if err := c.check(vars); err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
		}
	}
	return nil
}

// words checks those that have few values.
func (t Turn) words() error {
	stops := []model.Stop{"", model.End, model.Calls, model.Length, model.Refusal}
	if !slices.Contains(stops, t.Stop) {
		return fmt.Errorf("stop %q is not one of %q", t.Stop, stops[1:])
	}
	classes := []model.Class{"", model.Retry, model.TooLong, model.Refused, model.Unauthorized, model.Invalid, model.Canceled}
	for _, f := range t.Fail {
		if !slices.Contains(classes, f.Class) {
			return fmt.Errorf("class %q is not one of %q", f.Class, classes[1:])
		}
	}
	return nil
}

func conversationTurns(cs []Conversation) (out []Turn) {
	for _, c := range cs {
		out = append(out, c.Turns...)
	}
	return out
}

func addNames(vars map[string]bool, p Pattern) {
	if re, err := regexp.Compile(expand(string(p), func(string) string { return "x" })); err == nil {
		for _, n := range re.SubexpNames() {
			vars[n] = true
		}
	}
}

func (c Call) check(vars map[string]bool) error {
	switch {
	case c.Tool == "":
		return errors.New("a call without tool: name one")
	case !c.Args.IsZero() && c.Args.Kind != yaml.MappingNode:
		return fmt.Errorf("the args of %s (line %d) are no mapping; raw takes any text", c.Tool, c.Args.Line)
	case !c.Args.IsZero() && c.Raw != "":
		return fmt.Errorf("the call of %s has args and raw: give one", c.Tool)
	}
	if err := checkText(c.Raw, vars); err != nil {
		return err
	}
	var bad error
	args, err := toJSON(&c.Args, func(s string) string {
		if err := checkText(s, vars); err != nil {
			bad = err
		}
		return s
	})
	if err != nil {
		return fmt.Errorf("the args of %s: %w", c.Tool, err)
	}
	if bad == nil && !json.Valid(args) {
		bad = fmt.Errorf("the args of %s (line %d) have no form in JSON", c.Tool, c.Args.Line)
	}
	return bad
}

func (t Turn) texts() []string {
	out := []string{t.Think, t.Say}
	for _, f := range t.Fail {
		out = append(out, f.Say, f.Message)
	}
	return out
}

type namedPattern struct {
	name string
	p    Pattern
}

func (e Expect) patterns() []namedPattern {
	return []namedPattern{{"result", e.Result}, {"user", e.User}, {"system", e.System}}
}

func atLine(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d)", n)
}
