package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unwrap adds what the call at index i runs. Whoever allows what a wrapper runs allows the wrapper, if it is the one that
// everybody has: "./timeout" is any program.
func (w *walker) unwrap(i int) {
	w.open(i)
	c := &w.facts.Calls[i]
	if !c.Through {
		return
	}
	if _, ok := trusted(c.Args[0].Text); !ok {
		c.Through = false
	}
}

func (w *walker) open(i int) {
	c := &w.facts.Calls[i]
	if len(c.Args) == 0 || len(w.facts.Calls) >= maxSeenCalls {
		return
	}
	switch name := c.Name(); name {
	case "":
		c.Problem = "the command's name is " + c.Args[0].doubt()
	case "sh", "bash", "dash", "ash", "rbash", "zsh", "ksh", "ksh93", "mksh", "oksh", "fish", "csh", "tcsh", "elvish", "nu", "xonsh":
		w.shell(i, name)
	case "eval":
		w.eval(i)
	case "trap":
		c.Problem = "it sets a handler"
		if len(c.Args) > 1 {
			w.nest(i, 1, &c.Args[1], syntax.LangBash)
		}
	case "su", "script":
		w.option(i, "-c", "--command", "--session-command")
	case "find", "gfind":
		w.find(i)
	case "fd", "fdfind":
		w.after(i, "-x", "-X", "--exec", "--exec-batch")
	default:
		if p := builtin(c); p != "" {
			c.Problem = p
			return
		}
		if wr, n := wrapperOf(c); wr != nil {
			w.wrapped(i, wr, n)
		}
	}
}

// hide notes that a call runs what cannot be seen.
func (c *Call) hide(reason string) { c.Hidden, c.Problem = true, reason }

// builtin says why a builtin may run or set what cannot be seen in the line.
func builtin(c *Call) string {
	starts := func(options ...string) bool {
		return slices.ContainsFunc(c.Args[1:], func(w Word) bool {
			return slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(w.Text, o) })
		})
	}
	switch c.Name() {
	case "read", "mapfile", "readarray", "getopts", "unset", "declare", "typeset", "local", "export", "readonly", "let":
		return "it sets variables"
	case "hash", "enable", "complete", "compgen", "bind", "alias", "shopt", "set":
		return "it changes what later commands mean"
	case "printf":
		if args, _ := c.Argv(); starts("-v") || len(args) > 1 && !printfFormat(args[1:]) {
			return "it sets a variable"
		}
	case "wait":
		if starts("-p") {
			return "it sets a variable"
		}
	case "test", "[":
		if starts("-v", "-R") {
			return "it evaluates the name of a variable"
		}
	}
	return ""
}

// wrapped adds what a wrapper runs. n words name the wrapper.
func (w *walker) wrapped(i int, wr *wrapper, n int) {
	c := &w.facts.Calls[i]
	args := c.Args[n:]
	isEnv := strings.HasSuffix(c.Name(), "env")
	if c.Name() == "command" && len(args) > 0 && strings.HasPrefix(args[0].Text, "-") && strings.ContainsAny(args[0].Text, "vV") {
		return // it only says what a name means
	}
	texts, literal := make([]string, len(args)), len(args)
	for k := range args {
		texts[k] = args[k].Text
		if !args[k].Literal() && literal == len(args) {
			literal = k
		}
	}
	d := wr.decode(texts)
	start := len(args)
	if len(d.operands) > wr.skip {
		start = d.operands[wr.skip]
	}
	if wr.skip > 0 && start < literal && texts[start] == "--" {
		start++ // kubectl exec POD -- COMMAND
	}
	var assigns []Assign
	for wr.env && start < literal && strings.Contains(texts[start], "=") {
		name, _, _ := strings.Cut(texts[start], "=")
		assigns = append(assigns, Assign{Name: name, Source: args[start].Source})
		start++
	}
	if d.refused != "" || literal < start || start < len(args) && strings.HasPrefix(texts[start], "-") {
		w.guess(i, n, wr.input)
		return
	}
	for _, o := range d.options {
		if isEnv && (o.name == "u" || o.name == "unset" || o.name == "i" || o.name == "ignore-environment") {
			assigns = append(assigns, Assign{Name: o.value, Source: "-" + o.name})
		}
	}
	if start == len(args) {
		return // nothing to run
	}
	c.Through = wr.through
	if wr.joined {
		w.join(i, n+start)
		return
	}
	w.child(i, n+start, assigns, wr.input, d.options)
}

// child adds the call that begins at a word of another.
func (w *walker) child(i, from int, assigns []Assign, input bool, options []option) {
	parent := &w.facts.Calls[i]
	within := 0
	for k := i; k >= 0; k = w.facts.Calls[k].Parent {
		within++
	}
	if within > maxWrappers {
		parent.hide("too many commands within one another")
		return
	}
	words := append([]Word(nil), parent.Args[from:]...)
	if input {
		words = fed(words, options)
	}
	c := Call{Args: words, Offset: words[0].Offset, Guess: parent.Guess}
	c.Assigns = append(parent.Assigns[:len(parent.Assigns):len(parent.Assigns)], assigns...)
	j := w.add(c, frame{parent: i, from: from, via: Wrapped, redirs: parent.Redirects})
	w.unwrap(j)
}

// fed marks the words that a wrapper replaces, or adds one for those that it appends.
func fed(words []Word, options []option) []Word {
	replaced := ""
	for _, o := range options {
		switch o.name {
		case "I":
			replaced = o.value
		case "i", "replace":
			if replaced = o.value; replaced == "" {
				replaced = "{}"
			}
		}
	}
	if replaced == "" {
		return append(words, Word{Source: "…", Doubt: Input, Offset: words[len(words)-1].Offset})
	}
	for k := range words {
		words[k].replace(replaced)
	}
	return words
}

// replace marks a word that holds the placeholder of a wrapper.
func (w *Word) replace(placeholder string) {
	if k := strings.Index(w.Text, placeholder); k >= 0 && w.Literal() {
		w.Doubt, w.lead, w.Text = Input, w.Text[:k], w.Text[:k]
	}
}

// guess adds every later word of a call as the beginning of a command that it may run.
func (w *walker) guess(i, from int, input bool) {
	c := &w.facts.Calls[i]
	c.Exact = true
	if c.Guess {
		return
	}
	args := c.Args
	const most = 32
	for k := from; k < len(args) && k < from+most; k++ {
		text := args[k].Text
		if args[k].Literal() && strings.ContainsAny(text, " \t\n;") {
			for _, prefix := range [...]string{"-S", "--split-string=", "-c"} {
				text = strings.TrimPrefix(text, prefix)
			}
			script := args[k]
			script.Text = text
			w.nest(i, k, &script, syntax.LangBash)
			continue
		}
		if strings.HasPrefix(text, "-") || strings.Contains(text, "=") {
			continue
		}
		words := append([]Word(nil), args[k:]...)
		if input {
			words = fed(words, nil)
		}
		j := w.add(Call{Args: words, Offset: args[k].Offset, Assigns: c.Assigns, Guess: true},
			frame{parent: i, from: k, via: Wrapped, redirs: c.Redirects})
		w.unwrap(j)
		c = &w.facts.Calls[i]
	}
}

// find adds what find runs with -exec and its like. The rest of its expression decides whether it only looks.
func (w *walker) find(i int) {
	c := &w.facts.Calls[i]
	args := c.Args
	if !slices.ContainsFunc(args, func(w Word) bool { return strings.HasPrefix(w.Text, "-exec") || strings.HasPrefix(w.Text, "-ok") }) {
		return
	}
	var rest []string
	var starts [][2]int
	for k := 1; k < len(args); k++ {
		switch args[k].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := k + 1
			for end < len(args) && args[end].Text != ";" && (args[end].Text != "+" || args[end-1].Text != "{}") {
				end++
			}
			if end > k+1 {
				starts = append(starts, [2]int{k + 1, end})
			}
			k = end
		default:
			rest = append(rest, args[k].Text)
		}
	}
	if len(starts) == 0 {
		return
	}
	_, literal := c.Argv()
	c.Through = literal && checkFind(rest) == ""
	for _, s := range starts {
		words := append([]Word(nil), args[s[0]:s[1]]...)
		for k := range words {
			words[k].found = words[k].Literal() && words[k].Text == "{}"
			words[k].replace("{}")
		}
		j := w.add(Call{Args: words, Offset: words[0].Offset, Assigns: w.facts.Calls[i].Assigns, Guess: c.Guess},
			frame{parent: i, from: s[0], via: Wrapped, redirs: w.facts.Calls[i].Redirects})
		w.unwrap(j)
	}
}

// after adds the command behind the first of some options.
func (w *walker) after(i int, names ...string) {
	c := &w.facts.Calls[i]
	for k := 1; k < len(c.Args)-1; k++ {
		for _, n := range names {
			if c.Args[k].Text == n {
				w.child(i, k+1, nil, true, nil)
				return
			}
		}
		if t := c.Args[k].Text; len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t, "xX") {
			w.guess(i, k+1, true)
			return
		}
	}
}
