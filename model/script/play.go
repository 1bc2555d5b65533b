package script

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// place is where a conversation stands.
type place struct {
	turn    int               // to be played
	tries   int               // of it that failed
	given   bool              // it was played to its end
	rule    int               // the rule that answered last, from 1; 0: a turn did
	asked   [32]byte          // the last request
	answers int               // of the model in it
	ruled   bool              // a rule has answered since the last turn: the conversation may have been shortened
	vars    map[string]string // what was captured so far
}

// Stream is described at model.Model.
func (m *Model) Stream(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
	b := &wire.Builder{On: on}
	b.Answer.Model = m.info.Name
	c, err := m.next(req)
	if err == nil {
		b.Answer.ID = c.name
		err = m.play(ctx, b, req, c)
		m.mu.Lock()
		if c.place.given = err == nil; err != nil {
			c.place.tries++
		}
		m.mu.Unlock()
	}
	return b.Done(), err
}

// diverge is the error of a conversation that does not go as the script wants it.
func (m *Model) diverge(format string, args ...any) error {
	return &model.Error{Provider: "script", Class: model.Refused,
		Message: fmt.Sprintf("%s: %s: change the script, or what leads to it", m.file, fmt.Sprintf(format, args...))}
}

// cue is what answers a request.
type cue struct {
	place *place
	turn  *Turn
	name  string // of the answer, which makes the ids of its calls
	vars  map[string]string
	try   int // from 0
}

// next finds what answers a request.
func (m *Model) next(req model.Request) (*cue, error) {
	now, sum := facts(req), digest(req)
	key := req.Session
	if key == "" {
		key = "\x00" + now.start // a conversation that nobody named is known by its first words
	}
	turns, of := m.turns(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.places[key]
	switch {
	case p == nil:
		p = m.arrive(now, turns)
		m.places[key] = p
	case p.asked != sum:
		p.advance(now)
	}
	p.asked = sum
	i, caught := m.rule(now, p.vars)
	if p.rule = i; i > 0 {
		p.ruled = true
		maps.Copy(p.vars, caught)
		return &cue{p, &m.script.Rules[i-1], fmt.Sprintf("rule_%d", i), maps.Clone(p.vars), p.tries}, nil
	}
	if p.turn >= len(turns) {
		return nil, m.diverge("%sit has %s, and the conversation wants one more after %s", of, count(len(turns), "turn"), now)
	}
	t := &turns[p.turn]
	caught, why := t.Expect.holds(now, p.vars)
	if why != "" {
		p.given = false
		return nil, m.diverge("%sturn %d%s %s", of, p.turn+1, atLine(t.line), why)
	}
	maps.Copy(p.vars, caught)
	return &cue{p, t, fmt.Sprintf("turn_%d", p.turn+1), maps.Clone(p.vars), p.tries}, nil
}

// rule returns the first rule that holds, from 1, or 0.
func (m *Model) rule(now scene, vars map[string]string) (int, map[string]string) {
	for i := range m.script.Rules {
		if caught, why := m.script.Rules[i].Expect.holds(now, vars); why == "" {
			return i + 1, caught
		}
	}
	return 0, nil
}

// advance moves to the turn after the last, or back where the conversation was taken back.
func (p *place) advance(now scene) {
	switch {
	case p.rule > 0: // what a rule answered moves nothing
	case now.answers < p.answers && !p.ruled:
		p.turn, p.tries = now.answers, 0
	case p.given || now.answers > p.answers:
		p.turn++
		p.tries, p.ruled = 0, false
	}
	p.answers, p.given = now.answers, false
}

// arrive finds the place of a conversation that this process has not seen: as many turns were played as it holds answers that no rule
// gave, and their expectations tell the variables.
func (m *Model) arrive(now scene, turns []Turn) *place {
	p := &place{answers: now.answers, vars: map[string]string{}}
	maps.Copy(p.vars, m.script.Vars)
	for _, s := range now.before {
		if i, caught := m.rule(s, p.vars); i > 0 {
			maps.Copy(p.vars, caught)
			continue
		}
		if p.turn < len(turns) {
			caught, _ := turns[p.turn].Expect.holds(s, p.vars)
			maps.Copy(p.vars, caught)
		}
		p.turn++
	}
	return p
}

// turns returns the turns for a conversation, and for messages which they are.
func (m *Model) turns(now scene) (turns []Turn, of string) {
	for i, c := range m.script.Conversations {
		if re, err := regexp.Compile(string(c.Starts)); err == nil && re.MatchString(now.start) {
			return c.Turns, fmt.Sprintf("conversation %d, ", i+1)
		}
	}
	return m.script.Turns, ""
}

// scene is what happened since the answer before.
type scene struct {
	start, system string
	tools         []model.Tool
	user          []string
	results       []model.Result
	answers       int
	before        []scene // one for each answer
}

func facts(req model.Request) scene {
	s := scene{system: req.System, tools: req.Tools}
	for _, msg := range req.Messages {
		if msg.Role == model.Assistant {
			s.before = append(s.before, scene{start: s.start, system: s.system, tools: s.tools, user: s.user, results: s.results})
			s.answers++
			s.user, s.results = nil, nil
			continue
		}
		for _, b := range msg.Blocks {
			switch {
			case b.Result != nil:
				s.results = append(s.results, *b.Result)
			case b.Part != nil && b.Part.Kind == content.Text:
				s.user = append(s.user, b.Part.Text)
			}
		}
		if s.start == "" {
			s.start = strings.Join(s.user, "\n")
		}
	}
	return s
}

// String says what came, for messages.
func (s scene) String() string {
	switch n := len(s.results); {
	case n > 0:
		r := s.results[n-1]
		return fmt.Sprintf("%s, the last of %s: %s", count(n, "result"), r.Name, short(content.JoinText(r.Parts)))
	case len(s.user) > 0:
		return "the user's " + short(strings.Join(s.user, "\n"))
	}
	return "nothing new"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// short quotes the start and the end of a text.
func short(s string) string {
	const keep = 300
	if len(s) > 2*keep {
		i, j := keep, len(s)-keep
		for !utf8.RuneStart(s[i]) {
			i--
		}
		for !utf8.RuneStart(s[j]) {
			j++
		}
		s = s[:i] + " … " + s[j:]
	}
	return fmt.Sprintf("%q", s)
}

// holds checks an expectation. why says what is wrong; caught is what its expressions captured.
func (e Expect) holds(s scene, vars map[string]string) (caught map[string]string, why string) {
	caught = map[string]string{}
	var r *model.Result
	for i := range s.results {
		if e.Tool == "" || s.results[i].Name == e.Tool {
			r = &s.results[i]
		}
	}
	text := ""
	if r != nil {
		text = content.JoinText(r.Parts)
	}
	if len(s.results) > 0 {
		caught["last"] = content.JoinText(s.results[len(s.results)-1].Parts)
	}
	if e.Tool != "" && r == nil {
		return nil, fmt.Sprintf("expects a result of %s, and there is %s", e.Tool, s)
	}
	if (e.Result != "" || e.Error != nil) && r == nil {
		return nil, fmt.Sprintf("expects a result, and there is %s", s)
	}
	if e.Error != nil && r.Error != *e.Error {
		want := "an error"
		if !*e.Error {
			want = "no error"
		}
		return nil, fmt.Sprintf("expects %s of %s, and it says %s", want, r.Name, short(text))
	}
	for _, x := range []struct {
		what string
		p    Pattern
		text string
	}{{"the result", e.Result, text}, {"the user's words", e.User, strings.Join(s.user, "\n")}, {"the system text", e.System, s.system}} {
		if x.p == "" {
			continue
		}
		re, err := regexp.Compile(expand(string(x.p), func(name string) string { return regexp.QuoteMeta(vars[name]) }))
		if err != nil { // a variable cannot break it
			return nil, err.Error()
		}
		found := re.FindStringSubmatch(x.text)
		if found == nil {
			return nil, fmt.Sprintf("expects %s to match %s, and it is %s", x.what, re, short(x.text))
		}
		for i, n := range re.SubexpNames() {
			if n != "" {
				caught[n] = found[i]
			}
		}
	}
	offered := func(name string) bool {
		return slices.ContainsFunc(s.tools, func(t model.Tool) bool { return t.Name == name })
	}
	for _, n := range e.Offers {
		if !offered(n) {
			return nil, fmt.Sprintf("expects the tool %s to be offered, and there is %s", n, toolNames(s.tools))
		}
	}
	for _, n := range e.Lacks {
		if offered(n) {
			return nil, fmt.Sprintf("expects the tool %s not to be offered, and it is", n)
		}
	}
	return caught, ""
}

func toolNames(tools []model.Tool) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// digest tells requests apart. The media in them count by their size alone.
func digest(req model.Request) [32]byte {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			switch {
			case b.Part != nil:
				_ = e.Encode([]any{m.Role, b.Part.Kind, b.Part.Text, len(b.Part.Data)}) // into a hash; strings and numbers marshal
			case b.Call != nil:
				_ = e.Encode([]any{b.Call.ID, b.Call.Name, string(b.Call.Arguments), b.Call.Malformed})
			case b.Result != nil:
				_ = e.Encode([]any{b.Result.CallID, content.JoinText(b.Result.Parts), content.Bytes(b.Result.Parts)})
			case b.Reasoning != nil:
				_ = e.Encode(b.Reasoning.Text)
			}
		}
		_ = e.Encode(m.Role)
	}
	_ = e.Encode([]any{req.System, req.Choose})
	return [32]byte(h.Sum(nil))
}

// play answers with a turn.
func (m *Model) play(ctx context.Context, b *wire.Builder, req model.Request, c *cue) error {
	t := c.turn
	fill := func(s string) string { return expand(s, func(n string) string { return c.vars[n] }) }
	if err := m.wait(ctx, time.Duration(t.Delay)); err != nil {
		return err
	}
	if c.try < len(t.Fail) {
		f := t.Fail[c.try]
		if err := m.words(ctx, fill(f.Say), b.Text); err != nil {
			return err
		}
		out := &model.Error{Provider: "script", Class: f.Class, Message: fill(f.Message), After: time.Duration(f.After), Status: f.Status}
		if out.Class == "" {
			out.Class = model.Retry
		}
		if out.Message == "" {
			out.Message = "the script fails here"
		}
		return out
	}
	if err := m.words(ctx, fill(t.Think), b.Reasoning); err != nil {
		return err
	}
	if err := m.words(ctx, fill(t.Say), b.Text); err != nil {
		return err
	}
	for i, x := range t.Calls {
		call := model.Call{ID: x.ID, Name: x.Tool}
		if call.ID == "" {
			call.ID = fmt.Sprintf("%s_call_%d", c.name, i+1)
		}
		if x.Raw != "" {
			wire.Arguments(&call, fill(x.Raw))
		} else {
			args, err := toJSON(&x.Args, fill)
			if err != nil { // was checked
				return m.diverge("the args of %s: %v", x.Tool, err)
			}
			call.Arguments = args
		}
		if err := b.Call(call); err != nil {
			return err
		}
	}
	b.Close()
	b.Answer.Stop = t.Stop
	if t.Stop == "" {
		b.Answer.Stop = model.End
		if len(t.Calls) > 0 {
			b.Answer.Stop = model.Calls
		}
	}
	if t.Usage != nil {
		b.Answer.Usage = *t.Usage
	} else {
		b.Answer.Usage = guess(req, b.Answer.Message)
	}
	return nil
}

// words says a text word by word.
func (m *Model) words(ctx context.Context, s string, say func(string) error) error {
	for s != "" {
		n := strings.IndexAny(s[1:], " \n")
		word := s
		if n >= 0 {
			word = s[:n+2]
		}
		s = s[len(word):]
		if err := say(word); err != nil {
			return err
		}
		if err := m.wait(ctx, time.Duration(m.script.Pace)); err != nil {
			return err
		}
	}
	return nil
}

// wait waits, and says whether the context has ended.
func (m *Model) wait(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return &model.Error{Provider: "script", Class: model.Canceled, Message: "the request was canceled", Cause: err}
	}
	return nil
}

// guess counts a token for every four bytes, as is about right for English.
func guess(req model.Request, answer model.Message) model.Usage {
	in := len(req.System)
	for _, t := range req.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range req.Messages {
		in += size(m)
	}
	return model.Usage{Input: (in + 3) / 4, Output: (size(answer) + 3) / 4}
}

func size(m model.Message) (n int) {
	for _, b := range m.Blocks {
		switch {
		case b.Part != nil:
			n += len(b.Part.Text)
		case b.Reasoning != nil:
			n += len(b.Reasoning.Text)
		case b.Call != nil:
			n += len(b.Call.Name) + len(b.Call.Arguments) + len(b.Call.Malformed)
		case b.Result != nil:
			n += len(content.JoinText(b.Result.Parts))
		}
	}
	return n
}
