package command

import (
	"path"
	"slices"
	"strings"
)

// Answer says whether a pattern that restricts is about a command.
type Answer uint8

// The answers.
const (
	No Answer = iota
	// Maybe: the shell computes a word that decides it, or the command is a guess.
	Maybe
	Yes
)

// Allows reports whether the pattern covers call i entirely, so that a rule with it may allow the call:
//
//   - Tokens and arguments agree one by one; "..." covers any number of arguments, also none.
//   - The name may stand with its directory where that is /bin or /usr/bin.
//   - All words are literal. Where "..." stands, a glob is fine that begins with a text that is no dash, and with
//     Expansions what the shell computes; never arithmetic, indirection and encoded strings.
//   - Options keep to Flags, redirections to Redirects, assignments to Assignments.
//   - What a wrapper runs is covered too by a pattern for the wrapper whose tokens reach the command behind it, as
//     ["sudo", "systemctl", "status", "..."] does and ["sudo", "..."] does not.
//   - A call that runs what cannot be seen is never covered, see [Call.Problem] and [Call.Exact].
func (p *Pattern) Allows(f *Facts, i int) bool {
	if p.permits(&f.Calls[i]) {
		return true
	}
	for from, k := f.Calls[i].From, f.Calls[i].Parent; k >= 0; from, k = f.Calls[k].From, f.Calls[k].Parent {
		if p.reach() > from && p.permits(&f.Calls[k]) {
			return true
		}
	}
	return false
}

// Names returns the names, without directories, that a command must have for the pattern to allow it, or what runs it; nil
// means any.
func (p *Pattern) Names() []string {
	if len(p.Argv) == 0 || len(p.Argv[0].One) == 0 {
		return nil
	}
	names := make([]string, 0, len(p.Argv[0].One))
	for _, one := range p.Argv[0].One {
		names = append(names, one[strings.LastIndexByte(one, '/')+1:])
	}
	return names
}

// reach returns the number of arguments that are spelled out.
func (p *Pattern) reach() int {
	for i, t := range p.Argv {
		if t.Rest {
			return i
		}
	}
	return len(p.Argv)
}

// permits matches one call without its surroundings.
func (p *Pattern) permits(c *Call) bool {
	if c.Problem != "" || c.Guess || c.Exact && !p.Exact() || len(c.Args) == 0 || len(p.Argv) == 0 {
		return false
	}
	for _, a := range c.Assigns {
		if !slices.Contains(p.Assignments, a.Name) {
			return false
		}
	}
	for i := range c.Redirects {
		if !p.redirects(&c.Redirects[i]) {
			return false
		}
	}
	options := true // until "--"
	for i := range c.Args {
		if !p.word(&c.Args[i], &options, i >= p.reach()) {
			return false
		}
	}
	return align(p.Argv, c.Args, func(t *Token, k int) bool { return t.permits(&c.Args[k], k == 0) }, nil)
}

func (p *Pattern) redirects(r *Redirect) bool {
	if ok, _ := r.Harmless(); ok {
		return true
	}
	switch {
	case !p.Redirects, device(r.Target.Text), strings.HasPrefix(r.FD, "{"):
		return false
	case r.Body != nil && !r.Body.Literal():
		return p.Expansions && r.Body.Doubt&(Arithmetic|Encoded) == 0
	case !r.Target.Literal():
		return p.Expansions && r.Target.Doubt&(Arithmetic|Encoded) == 0
	}
	return true
}

// word judges a word whatever token covers it. behind says that the word may be one that "..." stands for; a word that is
// spelled out is judged by its token.
func (p *Pattern) word(w *Word, options *bool, behind bool) bool {
	switch {
	case w.Literal():
	case !behind:
		return false
	case w.operand():
		return true
	case !p.Expansions || w.Doubt&(Arithmetic|Encoded) != 0 || !p.Flags.empty():
		return false
	}
	if !behind || !*options || p.Flags.empty() || len(w.Text) < 2 || w.Text[0] != '-' {
		return true
	}
	if w.Text == "--" {
		*options = false
		return true
	}
	long := slices.ContainsFunc(p.Flags.Deny, func(f string) bool { return len(f) > 2 && f[1] != '-' })
	if slices.ContainsFunc(p.Flags.Deny, func(f string) bool { return spells(w.Text, f, !long) }) {
		return false
	}
	name, _, _ := strings.Cut(w.Text, "=")
	return len(p.Flags.Allow) == 0 || slices.Contains(p.Flags.Allow, name)
}

// spells reports whether an argument may be a spelling of a flag: with a value, abbreviated, or, for a letter where
// letters can be joined, in a cluster or with the value attached. Letters cannot be joined where long options have one
// dash, as Go's.
func spells(arg, flag string, clusters bool) bool {
	name, _, _ := strings.Cut(arg, "=")
	switch {
	case name == flag:
		return true
	case strings.HasPrefix(flag, "--"):
		return strings.HasPrefix(name, "--") && len(name) > 2 && strings.HasPrefix(flag, name) || "-"+name == flag
	case len(flag) == 2: // a letter
		return clusters && !strings.HasPrefix(arg, "--") && strings.IndexByte(arg, flag[1]) > 0
	}
	return "-"+flag == name // Go's flags have one dash or two
}

// permits reports whether a token that an allow spells out covers a word.
func (t *Token) permits(w *Word, command bool) bool {
	if !w.Literal() {
		return false
	}
	if t.Glob != "" {
		dots := slices.Contains(strings.Split(w.Text, "/"), "..")
		dash := strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(t.Glob, "-")
		return !dots && !dash && wildcard(t.Glob, w.Text)
	}
	if slices.Contains(t.One, w.Text) {
		return true
	}
	base, ok := trusted(w.Text)
	return command && ok && slices.Contains(t.One, base)
}

// Restricts reports whether a rule with the pattern that denies or asks is about call i. It reaches further than an
// allow: the tokens may be followed by anything, options may stand between them, the name counts in any directory and
// case, and a word that the shell computes may be what a token says, as may a script that cannot be seen. Calls that only start others, and guesses, count.
func (p *Pattern) Restricts(f *Facts, i int) Answer {
	c := &f.Calls[i]
	answer := No
	if p.Text != "" && p.restrictsText(f, c) {
		answer = Yes
	}
	if answer == No && len(p.Argv) > 0 && len(c.Args) > 0 {
		answer = p.restrictsArgs(c)
	}
	if answer == Yes && c.Guess || answer == No && c.Hidden {
		answer = Maybe
	}
	return answer
}

// restrictsText matches the text form, as its authors' programs do.
func (p *Pattern) restrictsText(f *Facts, c *Call) bool {
	text := foldCase(p.Text)
	matches := func(s string) bool {
		s = foldCase(s)
		return wildcard(text, s) || strings.HasSuffix(text, " *") && wildcard(strings.TrimSuffix(text, " *"), s)
	}
	if matches(strings.Join(strings.Fields(f.Line), " ")) {
		return true
	}
	if len(c.Args) == 0 {
		return false
	}
	words := make([]string, len(c.Args))
	for i := range c.Args {
		if words[i] = c.Args[i].Source; c.Args[i].Literal() {
			words[i] = c.Args[i].Text
		}
	}
	joined := strings.Join(words, " ")
	if matches(joined) {
		return true
	}
	words[0] = path.Base(words[0])
	return matches(strings.Join(words, " "))
}

// restrictsArgs matches the tokens.
func (p *Pattern) restrictsArgs(c *Call) Answer {
	tokens := append(p.Argv[:len(p.Argv):len(p.Argv)], Token{Rest: true})
	literal := func(t *Token, k int) bool { return c.Args[k].Literal() && t.restricts(c.Args[k].Text, k == 0) }
	skip := func(t *Token, k int) skipping {
		if k == 0 || t.option() {
			return skipNothing
		}
		switch w := c.Args[k].Text; {
		case len(w) > 1 && w[0] == '-' && (strings.Contains(w, "=") || k+1 == len(c.Args)):
			return skipOne
		case len(w) > 1 && w[0] == '-':
			return skipTwo // with or without a value
		}
		return skipNothing
	}
	if align(tokens, c.Args, literal, skip) {
		return Yes
	}
	for i := range c.Args {
		if !c.Args[i].Literal() && !(i == 0 && !p.begins(c.Args[0].lead)) {
			return p.maybe(tokens, c)
		}
	}
	return No
}

// begins reports whether the first token may begin with a text.
func (p *Pattern) begins(lead string) bool {
	t := &p.Argv[0]
	return t.Glob != "" || t.Rest || lead == "" || slices.ContainsFunc(t.One, func(s string) bool {
		return strings.HasPrefix(foldCase(s), foldCase(path.Base(lead))) || strings.HasPrefix(foldCase(s), foldCase(lead))
	}) || strings.HasSuffix(lead, "/")
}

// maybe reports Maybe when the tokens agree with the words, each word that the shell computes standing for any number.
func (p *Pattern) maybe(tokens []Token, c *Call) Answer {
	// A word that the shell computes is matched as "..." on the side of the words: align with the sides exchanged.
	n, m := len(c.Args), len(tokens)
	can := make([]bool, (n+1)*(m+1))
	at := func(i, j int) *bool { return &can[i*(n+1)+j] }
	for i := m; i >= 0; i-- {
		for j := n; j >= 0; j-- {
			v := i == m && j == n
			if i < m && tokens[i].Rest {
				v = v || *at(i+1, j) || j < n && *at(i, j+1)
			}
			if j < n && !c.Args[j].Literal() {
				v = v || *at(i, j+1) || i < m && *at(i+1, j)
			}
			if i < m && j < n && !tokens[i].Rest && c.Args[j].Literal() && tokens[i].restricts(c.Args[j].Text, j == 0) {
				v = v || *at(i+1, j+1)
			}
			*at(i, j) = v
		}
	}
	if *at(0, 0) {
		return Maybe
	}
	return No
}

// option reports whether the token is one for options.
func (t *Token) option() bool {
	return t.Rest || strings.HasPrefix(t.Glob, "-") || strings.HasPrefix(t.Glob, "*") ||
		slices.ContainsFunc(t.One, func(s string) bool { return strings.HasPrefix(s, "-") })
}

// restricts reports whether a token of a rule that restricts covers an argument.
func (t *Token) restricts(arg string, command bool) bool {
	if !command {
		return t.Glob != "" && wildcard(t.Glob, arg) || slices.Contains(t.One, arg) ||
			slices.ContainsFunc(t.One, func(s string) bool { return len(s) > 1 && s[0] == '-' && spells(arg, s, true) })
	}
	full := strings.TrimSuffix(foldCase(arg), ".exe")
	base := path.Base(full)
	if t.Glob != "" {
		return wildcard(foldCase(t.Glob), full) || wildcard(foldCase(t.Glob), base)
	}
	return slices.ContainsFunc(t.One, func(s string) bool { s = foldCase(s); return s == full || s == base || path.Base(s) == base })
}

func foldCase(s string) string { return strings.ToLower(s) }

// skipping says how many words may be left out in front of a token.
type skipping uint8

const (
	skipNothing skipping = iota
	skipOne              // the word
	skipTwo              // the word, or it and the next
)

// align reports whether tokens cover all words: fits compares a token with the word at an index, and skip, which may be
// nil, lets words be left out in front of a token.
func align(tokens []Token, words []Word, fits func(*Token, int) bool, skip func(*Token, int) skipping) bool {
	n, m := len(words), len(tokens)
	if skip == nil && !slices.ContainsFunc(tokens, func(t Token) bool { return t.Rest }) {
		if n != m {
			return false
		}
		for i := range tokens {
			if !fits(&tokens[i], i) {
				return false
			}
		}
		return true
	}
	// row[j] says that the tokens from i on cover the words from j on.
	row, next := make([]bool, n+3), make([]bool, n+3)
	next[n] = true
	for i := m - 1; i >= 0; i-- {
		t := &tokens[i]
		for j := n; j >= 0; j-- {
			switch {
			case t.Rest:
				row[j] = next[j] || j < n && row[j+1]
			case j == n:
				row[j] = false
			default:
				row[j] = next[j+1] && fits(t, j)
				if skip != nil && !row[j] {
					s := skip(t, j)
					row[j] = s >= skipOne && row[j+1] || s == skipTwo && j+2 <= n && row[j+2]
				}
			}
		}
		row, next = next, row
	}
	return next[0]
}

// wildcard matches a text with a pattern in which "*" stands for any characters and "?" for one.
func wildcard(pattern, s string) bool {
	star, mark := -1, 0
	p, n := 0, 0
	for n < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
