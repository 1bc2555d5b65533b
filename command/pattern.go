package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Pattern says which commands a rule is about. It is written as JSON:
//
//	["git", ["status", "diff"], "..."]
//	{"argv": ["go", "test", "..."], "flags": {"deny": ["-exec", "-toolexec"]}, "match": ["go test ./..."], "not_match": ["go vet"]}
//
// or in the text form of other agents: "git diff *", "git diff:*", "npm run build".
//
// A pattern is compared with the argument vector of each command, as bash would run it; quotes, blanks, wrappers, chains
// and prefixes cannot come between. See [Pattern.Allows] and [Pattern.Restricts] for what it covers.
type Pattern struct {
	// Argv are tokens for the command and its arguments.
	Argv []Token `json:"argv,omitempty"`
	// Text is the text form, which Argv was read from. A rule that denies or asks also compares it, "*" standing for any
	// characters, with the command's words joined by blanks, and with the whole line.
	Text string `json:"text,omitempty"`
	// Flags limits the options among the arguments that "..." stands for. Only for rules that allow.
	Flags Flags `json:"flags,omitzero"`
	// Redirects lets an allowed command write to files by redirections. Those to /dev/null and other descriptors need it not.
	Redirects bool `json:"redirects,omitempty"`
	// Assignments are the variables that may be set for an allowed command.
	Assignments []string `json:"assignments,omitempty"`
	// Expansions lets the arguments that "..." stands for be computed by the shell: $x, $(…), ~, the words of xargs.
	Expansions bool `json:"expansions,omitempty"`
	// Match and NotMatch are command lines that the pattern must cover and must not; see [Pattern.Check].
	Match    []string `json:"match,omitempty"`
	NotMatch []string `json:"not_match,omitempty"`
}

// Flags lists options, with their dashes and without values. Where Allow is not empty, only those are allowed. An option
// that is denied is denied in every spelling: with a value, abbreviated, and in a cluster of letters.
type Flags struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

func (f Flags) empty() bool { return len(f.Allow)+len(f.Deny) == 0 }

// Token stands for one argument, or for any number of them. In JSON it is a string, a list of alternatives,
// {"glob": "*.go"}, or "...".
type Token struct {
	One  []string // the argument is one of these
	Glob string   // the argument matches; "*" stands for any characters, "?" for one
	Rest bool     // "...": any number of arguments
}

const rest = "..."

// UnmarshalJSON reads a token.
func (t *Token) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = Token{Rest: one == rest}
		if !t.Rest {
			t.One = []string{one}
		}
		return nil
	}
	var many []string
	if json.Unmarshal(b, &many) == nil {
		if len(many) == 0 {
			return errors.New("a list of alternatives is empty")
		}
		*t = Token{One: many}
		return nil
	}
	var glob struct {
		Glob string `json:"glob"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if d.Decode(&glob) != nil || glob.Glob == "" {
		return fmt.Errorf(`token %s: want a string, a list of strings, {"glob": "*.go"} or "..."`, b)
	}
	*t = Token{Glob: glob.Glob}
	return nil
}

// MarshalJSON writes a token as it is read.
func (t Token) MarshalJSON() ([]byte, error) {
	switch {
	case t.Rest:
		return json.Marshal(rest)
	case t.Glob != "":
		return json.Marshal(map[string]string{"glob": t.Glob})
	case len(t.One) == 1 && t.One[0] != rest:
		return json.Marshal(t.One[0])
	}
	return json.Marshal(t.One)
}

// ParsePattern reads a pattern. It does not check it, see [Pattern.Check].
func ParsePattern(source string) (*Pattern, error) {
	p := &Pattern{}
	trimmed := strings.TrimSpace(source)
	switch {
	case trimmed == "":
		return nil, errors.New("the pattern is empty")
	case IsPattern(trimmed):
		var into any = p
		if trimmed[0] == '[' {
			into = &p.Argv
		}
		d := json.NewDecoder(strings.NewReader(trimmed))
		d.DisallowUnknownFields()
		if err := d.Decode(into); err != nil {
			return nil, fmt.Errorf("the pattern cannot be read: %w", err)
		}
		if d.More() {
			return nil, errors.New("there is text behind the pattern")
		}
		if p.Text != "" && len(p.Argv) > 0 {
			return nil, errors.New("a pattern has either argv or text")
		}
	default:
		p.Text = trimmed
	}
	if p.Text != "" {
		p.Text = strings.TrimSpace(p.Text)
		if prefix, ok := strings.CutSuffix(p.Text, ":*"); ok {
			p.Text = prefix + " *"
		}
		p.Argv = textTokens(p.Text)
	}
	return p, nil
}

// IsPattern reports whether a text is the JSON form of a pattern, which no path or name looks like.
func IsPattern(source string) bool {
	s := strings.TrimSpace(source)
	if s == "" || s[0] != '[' && s[0] != '{' {
		return false
	}
	inner := strings.TrimLeft(s[1:], " \t\r\n")
	return strings.HasPrefix(inner, `"`) || s[0] == '[' && (strings.HasPrefix(inner, "[") || strings.HasPrefix(inner, "{"))
}

// textTokens reads the text form, for rules that allow. Nil where the text is no single command of literal words and "*".
func textTokens(text string) []Token {
	facts, err := Parse(text)
	if err != nil || len(facts.Calls) != 1 && !facts.wrapping() || facts.Construct != "" {
		return nil
	}
	c := &facts.Calls[0]
	if len(c.Assigns)+len(c.Redirects) > 0 {
		return nil
	}
	var out []Token
	for i := range c.Args {
		w := &c.Args[i]
		switch {
		case w.Text == "*" && w.Doubt == Glob && i == len(c.Args)-1, w.Text == rest && w.Literal():
			out = append(out, Token{Rest: true})
		case w.Text == "*" && w.Doubt == Glob:
			out = append(out, Token{Glob: "*"}, Token{Rest: true})
		case w.Doubt == Glob && !strings.ContainsAny(w.Text, "[?"):
			if out = append(out, Token{Glob: w.Text}); i == len(c.Args)-1 && strings.HasSuffix(w.Text, "*") {
				out = append(out, Token{Rest: true}) // the star reaches over blanks
			}
		case w.Literal():
			out = append(out, Token{One: []string{w.Text}})
		default:
			return nil
		}
	}
	return out
}

// wrapping reports whether all calls but the first are run by it.
func (f *Facts) wrapping() bool {
	for i := range f.Calls {
		if i > 0 && f.Calls[i].Parent < 0 {
			return false
		}
	}
	return len(f.Calls) > 0
}

// String returns the pattern as JSON, in the short form where it has only tokens.
func (p *Pattern) String() string {
	q := *p
	if q.Text != "" {
		q.Argv = nil
	}
	var v any = &q
	if q.Text == "" && q.Flags.empty() && !q.Redirects && !q.Expansions && len(q.Assignments)+len(q.Match)+len(q.NotMatch) == 0 {
		v = q.Argv
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Exact reports whether the pattern spells out one whole argument vector.
func (p *Pattern) Exact() bool {
	return !slices.ContainsFunc(p.Argv, func(t Token) bool { return t.Rest || t.Glob != "" }) && len(p.Argv) > 0
}

// Broad says why an allow with the pattern covers about everything, or "": its command runs whatever its arguments say,
// and they are left open.
func (p *Pattern) Broad() string {
	if p.Exact() || len(p.Argv) == 0 || p.reach() > 1 {
		return ""
	}
	for _, name := range p.Argv[0].One {
		known := effects()[path.Base(name)]
		if slices.Contains(known, Evaluates) || slices.Contains(known, Elevates) {
			return name + " runs whatever its arguments say, so an allow with any arguments covers everything; spell out what it may run"
		}
	}
	return ""
}

// Check reports what is wrong with a pattern: what makes no sense, and examples that do not hold. restrict says that its
// rule denies or asks. The error joins everything.
func (p *Pattern) Check(restrict bool) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case len(p.Argv) == 0 && p.Text == "":
		fail("the pattern has no tokens")
	case len(p.Argv) > maxTokens:
		fail("the pattern has more than %d tokens", maxTokens)
	case restrict:
		if !p.Flags.empty() || p.Redirects || p.Expansions || len(p.Assignments) > 0 {
			fail(`flags, redirects, assignments and expansions say what an allow covers; a rule that denies or asks covers all of it. Write "..." and the option as tokens: ["git", "push", "...", "--force"]`)
		}
	case len(p.Argv) == 0:
		fail("the text %q is no single command with literal words, so it can deny and not allow", p.Text)
	case len(p.Argv[0].One) == 0:
		fail("a rule that allows spells out the command's name")
	}
	for _, f := range slices.Concat(p.Flags.Allow, p.Flags.Deny) {
		if len(f) < 2 || f[0] != '-' || strings.Contains(f, "=") {
			fail("the flag %q: write it with its dashes and without a value", f)
		}
	}
	if !p.Flags.empty() && p.Exact() {
		fail(`flags are about the arguments that "..." stands for, and the pattern has none`)
	}
	for _, example := range p.Match {
		if ok, why := p.covers(example, restrict); !ok {
			fail("the example %q should match and does not%s", example, why)
		}
	}
	for _, example := range p.NotMatch {
		if ok, _ := p.covers(example, restrict); ok {
			fail("the example %q should not match and does", example)
		}
	}
	return errors.Join(errs...)
}

const maxTokens = 64

// covers reports whether the pattern decides about an example: allows every part of it that does more than look, or
// restricts any part.
func (p *Pattern) covers(example string, restrict bool) (ok bool, why string) {
	facts, err := Parse(example)
	if restrict {
		for i := range facts.Calls {
			ok = ok || p.Restricts(&facts, i) == Yes
		}
		return ok, ""
	}
	if err != nil {
		return false, ": " + err.Error()
	}
	for _, i := range facts.Parts() {
		if p.Allows(&facts, i) {
			ok = true
			continue
		}
		if looks, _ := facts.Calls[i].ReadOnly(); !looks || len(facts.Parts()) == 1 {
			return false, ": it does not allow " + facts.Calls[i].String()
		}
	}
	return ok, ""
}

// Parts returns the indexes of the calls that must each be allowed for the line to be allowed. Calls that only start
// others, and guesses, are not among them; a rule that denies looks at all calls.
func (f *Facts) Parts() []int {
	var out []int
	for i := range f.Calls {
		c := &f.Calls[i]
		if !c.Guess && (!c.Through || c.Problem != "") {
			out = append(out, i)
		}
	}
	return out
}
