package command

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Parse reads a command line as bash does. The error is an [*Error] and says why the line as a whole cannot be trusted;
// the facts then hold what could be seen, which serves a rule that denies and none that allows. Without an error, each
// word, call and construct says for itself what is not known about it.
func Parse(line string) (Facts, error) {
	facts := Facts{Line: line}
	err := screen(line)
	if len(line) > maxSeen || !utf8.ValidString(line) {
		return facts, err
	}
	if n := strings.Count(line, "(") + strings.Count(line, "{") + strings.Count(line, "`"); n > maxBrackets {
		return facts, at(line, 0, "the line has %d opening brackets, and more than %d are not read", n, maxBrackets)
	}
	w := &walker{facts: &facts, text: line, fixed: -1, lang: syntax.LangBash, scripts: new(int)}
	if syn := w.script(frame{parent: -1}); syn != nil && err == nil {
		err = syn
	}
	if err == nil && len(facts.Calls) > MaxCalls {
		err = at(line, 0, "more than %d commands", MaxCalls)
	}
	if err == nil {
		return facts, nil
	}
	return facts, err
}

// screen refuses text that shells, or people, read in several ways.
func screen(line string) error {
	if len(line) > MaxLine {
		return at(line, 0, "the line has %d bytes, and more than %d are not read", len(line), MaxLine)
	}
	if i := strings.Index(line, "\\\n"); i >= 0 {
		return at(line, i, "a backslash before a newline, which shells read differently; write the command on one line")
	}
	for i, c := range line {
		switch {
		case c == '\n' || c == '\t' || c >= 0x20 && c < 0x7f:
		case c == utf8.RuneError && invalid(line[i:]):
			return at(line, i, "byte 0x%02x is no UTF-8", line[i])
		case c < 0x20 || c == 0x7f || unicode.IsControl(c):
			return at(line, i, "control character U+%04X", c)
		case unicode.IsSpace(c):
			return at(line, i, "white space U+%04X, which only looks like a blank", c)
		case unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Variation_Selector, c) || c == 0x3164 || c == 0xffa0 || c == 0x115f || c == 0x1160:
			return at(line, i, "character U+%04X, which does not show", c)
		}
	}
	return nil
}

func invalid(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return r == utf8.RuneError && n == 1
}

// A walker collects the calls of one script: the line itself, or the text that a call hands to a shell.
type walker struct {
	facts *Facts
	text  string // of the script
	fixed int    // offset in the line of the word that holds the script, or -1 for the line itself
	depth int
	lang  syntax.LangVariant
	names map[string]bool // functions that the script declares

	scripts *int // how many were read within the line
}

// A frame is what surrounds a statement.
type frame struct {
	parent, from int
	via          Via
	redirs       []Redirect // of the groups around it
}

// script parses the text and walks it.
func (w *walker) script(f frame) error {
	file, err := syntax.NewParser(syntax.Variant(w.lang)).Parse(strings.NewReader(w.text), "")
	if file != nil {
		first := len(w.facts.Calls)
		w.stmts(file.Stmts, f)
		for i := first; i < len(w.facts.Calls); i++ {
			if c := &w.facts.Calls[i]; w.names[c.Name()] {
				c.Problem = "the line declares a function of this name"
			}
		}
	}
	return w.failure(err)
}

func (w *walker) failure(err error) error {
	if err == nil {
		return nil
	}
	reason, offset := err.Error(), 0
	var pe syntax.ParseError
	var le syntax.LangError
	switch {
	case errors.As(err, &pe):
		reason, offset = pe.Text, int(pe.Pos.Offset())
	case errors.As(err, &le):
		le.Filename, offset = "", int(le.Pos.Offset())
		le.Pos = syntax.Pos{}
		reason = strings.TrimLeft(le.Error(), "0123456789:? ")
	}
	if w.fixed >= 0 {
		return at(w.facts.Line, w.fixed, "in the script: %s", reason)
	}
	return at(w.text, offset, "%s", reason)
}

func (w *walker) offset(n syntax.Node) int {
	if w.fixed >= 0 {
		return w.fixed
	}
	return int(n.Pos().Offset())
}

func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(w.text) {
		return ""
	}
	return w.text[from:to]
}

// construct notes the first construct that is more than commands in a row.
func (w *walker) construct(name string) {
	if w.facts.Construct == "" {
		w.facts.Construct = name
	}
}

func (w *walker) stmts(list []*syntax.Stmt, f frame) {
	for _, s := range list {
		w.stmt(s, f)
	}
}

func (w *walker) stmt(s *syntax.Stmt, f frame) {
	if len(w.facts.Calls) >= maxSeenCalls {
		return
	}
	if s.Background || s.Coprocess || s.Disown {
		w.construct("background")
	}
	if len(s.Redirs) > 0 {
		f.redirs = append(f.redirs[:len(f.redirs):len(f.redirs)], w.redirects(s.Redirs, f)...)
	}
	switch c := s.Cmd.(type) {
	case nil:
		w.add(Call{Offset: w.offset(s)}, f)
	case *syntax.CallExpr:
		w.call(c, f)
	case *syntax.BinaryCmd:
		w.stmt(c.X, f)
		w.stmt(c.Y, f)
	case *syntax.Subshell:
		w.stmts(c.Stmts, f)
	case *syntax.Block:
		w.stmts(c.Stmts, f)
	default:
		w.compound(c, f)
	}
}

// compound walks the commands that the read-only class does not know. What sets a variable or evaluates an expression
// becomes a call of its own that no pattern allows, because either can change what the rest of the line runs.
func (w *walker) compound(c syntax.Command, f frame) {
	switch c := c.(type) {
	case *syntax.IfClause:
		w.construct("if")
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond, f)
			w.stmts(c.Then, f)
		}
	case *syntax.WhileClause:
		w.construct("while")
		w.stmts(c.Cond, f)
		w.stmts(c.Do, f)
	case *syntax.ForClause:
		w.construct("for")
		call := Call{Offset: w.offset(c), Problem: "a loop over an expression"}
		call.Args = []Word{{Text: "for", Source: "for", Offset: call.Offset}}
		if it, ok := c.Loop.(*syntax.WordIter); ok {
			call.Problem = "a loop sets a variable"
			call.Assigns = []Assign{{Name: it.Name.Value}}
		}
		w.add(call, f)
		w.inside(c.Loop, f)
		w.stmts(c.Do, f)
	case *syntax.CaseClause:
		w.construct("case")
		w.inside(c.Word, f)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.inside(p, f)
			}
			w.stmts(item.Stmts, f)
		}
	case *syntax.FuncDecl:
		w.construct("function")
		if w.names == nil {
			w.names = map[string]bool{}
		}
		if c.Name != nil {
			w.names[c.Name.Value] = true
		}
		w.stmt(c.Body, f)
	case *syntax.TimeClause:
		w.construct("time")
		if c.Stmt != nil {
			w.stmt(c.Stmt, f)
		}
	case *syntax.CoprocClause:
		w.construct("coproc")
		w.stmt(c.Stmt, f)
	case *syntax.DeclClause:
		w.construct(c.Variant.Value)
		w.declare(c, f)
	case *syntax.TestClause:
		w.evaluates("[[", c, f)
	case *syntax.ArithmCmd:
		w.evaluates("((", c, f)
	case *syntax.LetClause:
		w.evaluates("let", c, f)
	default:
		w.construct("unknown")
		w.add(Call{Offset: w.offset(c), Problem: "a construct that is not known here"}, f)
	}
}

// evaluates adds a command that evaluates expressions: values in them run as code ('a[$(cmd)]').
func (w *walker) evaluates(name string, n syntax.Node, f frame) {
	w.construct(name)
	word := Word{Text: name, Source: name, Offset: w.offset(n)}
	rest := Word{Source: strings.TrimSpace(strings.TrimPrefix(w.source(n), name)), Doubt: Arithmetic, Offset: word.Offset}
	w.add(Call{Args: []Word{word, rest}, Offset: word.Offset, Problem: "it evaluates expressions"}, f)
	w.inside(n, f)
}

// declare adds export, declare, local, readonly, typeset and nameref.
func (w *walker) declare(c *syntax.DeclClause, f frame) {
	call := Call{Offset: w.offset(c), Problem: "it sets variables"}
	call.Args = append(call.Args, Word{Text: c.Variant.Value, Source: c.Variant.Value, Offset: call.Offset})
	for _, a := range c.Args {
		word := Word{Source: w.source(a), Doubt: Arithmetic, Offset: w.offset(a)}
		if a.Naked && a.Name == nil && a.Value != nil {
			word = w.word(a.Value)
		}
		call.Args = append(call.Args, word)
		if a.Name != nil {
			call.Assigns = append(call.Assigns, Assign{Name: a.Name.Value})
		}
	}
	w.add(call, f)
	w.inside(c, f)
}

// call adds a simple command, what its words run, and what it runs itself.
func (w *walker) call(c *syntax.CallExpr, f frame) {
	call := Call{Offset: w.offset(c), Args: make([]Word, 0, len(c.Args))}
	for _, a := range c.Assigns {
		name := ""
		if a.Name != nil {
			name = a.Name.Value
		}
		call.Assigns = append(call.Assigns, Assign{Name: name, Source: w.source(a)})
	}
	for _, a := range c.Args {
		call.Args = append(call.Args, w.word(a))
	}
	i := w.add(call, f)
	for _, a := range c.Assigns {
		w.inside(a, f)
	}
	for k, a := range c.Args {
		if call.Args[k].Doubt != 0 {
			w.inside(a, f)
		}
	}
	w.unwrap(i)
}

// add appends a call and returns its index.
func (w *walker) add(c Call, f frame) int {
	c.Parent, c.From, c.Via = f.parent, f.from, f.via
	c.Redirects = f.redirs
	w.facts.Calls = append(w.facts.Calls, c)
	return len(w.facts.Calls) - 1
}

// redirects reads redirections, and walks what their words run.
func (w *walker) redirects(list []*syntax.Redirect, f frame) []Redirect {
	out := make([]Redirect, 0, len(list))
	for _, r := range list {
		d := Redirect{Op: r.Op.String()}
		if r.N != nil {
			d.FD = r.N.Value
		}
		if r.Word != nil {
			d.Target = w.word(r.Word)
			w.inside(r.Word, f)
		}
		if w.lang == syntax.LangPOSIX && len(d.FD) > 1 {
			d.Target.mark(Encoded) // dash passes the digits of "10>x" as an argument
		}
		if r.Hdoc != nil {
			body := w.document(r.Hdoc, r.Word != nil && quotes(r.Word))
			d.Body = &body
			w.inside(r.Hdoc, f)
		}
		out = append(out, d)
	}
	return out
}

// quotes reports whether any part of the delimiter of a here-document is quoted; then its body is not expanded.
func quotes(w *syntax.Word) bool {
	for _, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

// inside walks the commands in the substitutions of a node.
func (w *walker) inside(n syntax.Node, f frame) {
	f.via, f.redirs = Substitution, nil
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.stmts(n.Stmts, f)
			return false
		case *syntax.ProcSubst:
			w.stmts(n.Stmts, f)
			return false
		}
		return true
	})
}
