package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellOptions are the options with which a shell does nothing but run the script it is given. Interactive shells (-i),
// which read start-up files and expand aliases, are not among them; login shells are, because models write "bash -lc".
// Left out is what changes the meaning of words: -k makes an environment of the arguments, -O extglob and dotglob make
// other globs.
var shellOptions = func() *grammar {
	g := &grammar{first: true, apart: true}
	g.options("a b c e f h l m n p t u v x B C E P T o= login norc noprofile posix restricted verbose")
	return g
}()

// setOptions are the values of -o that do no more.
var setOptions = []string{"allexport", "errexit", "errtrace", "functrace", "noclobber", "noexec", "noglob", "nounset", "pipefail", "posix", "verbose", "xtrace"}

// shell adds the script that a shell is given: the string of -c, or a here-document.
func (w *walker) shell(i int, name string) {
	c := &w.facts.Calls[i]
	texts := make([]string, 0, len(c.Args))
	for k := range c.Args[1:] {
		texts = append(texts, c.Args[1+k].Text)
	}
	d := shellOptions.decode(texts)
	command := false
	for _, o := range d.options {
		command = command || o.name == "c"
		if o.name == "o" && !slices.Contains(setOptions, o.value) && d.refused == "" {
			d.refused = "option -o " + o.value
		}
	}
	lang := syntax.LangBash
	switch name {
	case "bash", "rbash":
	case "sh", "dash", "ash":
		lang = syntax.LangPOSIX
	default:
		c.hide("another shell reads the script, in a language that is not known here")
	}
	switch {
	case d.refused != "":
		c.hide("a shell with " + d.refused)
		w.guess(i, 1, false)
	case command && len(d.operands) > 0:
		c.Through = c.Problem == "" && d.operands[0]+1 < len(c.Args)
		w.nest(i, 1+d.operands[0], &c.Args[1+d.operands[0]], lang)
	case len(d.operands) > 0:
		// It runs a file, like any interpreter.
	default:
		w.standardInput(i, lang)
	}
}

// standardInput adds the script of a shell that reads it from its input.
func (w *walker) standardInput(i int, lang syntax.LangVariant) {
	c := &w.facts.Calls[i]
	for k := len(c.Redirects) - 1; k >= 0; k-- {
		r := &c.Redirects[k]
		var script Word
		switch r.Op {
		case "<<", "<<-":
			if r.Body != nil {
				script = *r.Body
			}
		case "<<<":
			script = r.Target
		default:
			continue
		}
		c.Through = c.Problem == ""
		if r.Op == "<<-" {
			script.Text = strings.ReplaceAll("\n"+script.Text, "\n\t", "\n")
		}
		// The commands of the script do not read the script.
		w.nestWith(i, len(c.Args), &script, lang, slices.Delete(slices.Clone(c.Redirects), k, k+1))
		return
	}
	c.hide("a shell reads its script from its input")
}

// eval adds what eval runs: its words, joined.
func (w *walker) eval(i int) {
	c := &w.facts.Calls[i]
	if len(c.Args) == 1 {
		return
	}
	c.Through = true
	w.join(i, 1)
}

// join adds the script that the words of a call make together.
func (w *walker) join(i, from int) {
	c := &w.facts.Calls[i]
	script := Word{Offset: c.Args[from].Offset}
	for k := from; k < len(c.Args); k++ {
		if k > from {
			script.Text += " "
		}
		script.Text += c.Args[k].Text
		script.Doubt |= c.Args[k].Doubt
	}
	w.nest(i, from, &script, syntax.LangBash)
}

// option adds the script that is the value of one of some options.
func (w *walker) option(i int, names ...string) {
	c := &w.facts.Calls[i]
	for k := 1; k < len(c.Args); k++ {
		text := c.Args[k].Text
		for _, n := range names {
			value, attached := strings.CutPrefix(text, n+"=")
			short := len(n) == 2 && len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.HasSuffix(text, n[1:])
			script := c.Args[k]
			switch {
			case attached:
				script.Text = value
			case (text == n || short) && k+1 < len(c.Args):
				script = c.Args[k+1]
			default:
				continue
			}
			w.nest(i, k, &script, syntax.LangBash)
			return
		}
	}
	c.Exact = true
}

// nest reads a script that the call at index i runs. What cannot be read is a problem of the call.
func (w *walker) nest(i, from int, script *Word, lang syntax.LangVariant) {
	w.nestWith(i, from, script, lang, w.facts.Calls[i].Redirects)
}

// nestWith is nest with other redirections than those of the call.
func (w *walker) nestWith(i, from int, script *Word, lang syntax.LangVariant, redirs []Redirect) {
	c := &w.facts.Calls[i]
	switch {
	case !script.Literal():
		c.hide("it runs a script that holds " + script.doubt())
		if script.Doubt&^(Glob|Tilde|Brace) != 0 {
			return
		}
	case w.depth >= MaxDepth, *w.scripts >= maxScripts:
		c.hide("its script is nested too deeply")
		return
	}
	*w.scripts++
	if lang == syntax.LangPOSIX && (strings.Contains(script.Text, "$'") || strings.Contains(script.Text, `$"`)) {
		c.Problem = "shells read the quotes of its script differently"
	}
	fixed := w.fixed
	if fixed < 0 {
		fixed = script.Offset
	}
	inner := &walker{facts: w.facts, text: script.Text, fixed: fixed, depth: w.depth + 1, lang: lang, scripts: w.scripts}
	guess, first := c.Guess, len(w.facts.Calls)
	err := inner.script(frame{parent: i, from: from, via: Script, redirs: redirs})
	c = &w.facts.Calls[i]
	if err != nil {
		c.hide("its script cannot be read: " + err.(*Error).Reason)
	}
	if first == len(w.facts.Calls) {
		c.Through = false // nothing in the script could be asked about
	}
	for k := first; k < len(w.facts.Calls); k++ {
		n := &w.facts.Calls[k]
		n.Guess = n.Guess || guess || c.Exact
		n.Assigns = append(c.Assigns[:len(c.Assigns):len(c.Assigns)], n.Assigns...)
	}
}
