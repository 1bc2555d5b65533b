package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command.
type Word struct {
	// Text is what the command gets, when the word is literal. Otherwise it is the literal text in front of what the shell
	// computes, but for a glob: there it is the pattern without its quotes.
	Text   string
	Source string // as written
	Doubt  Doubt  // why the word is not literal; 0 when it is
	Offset int    // in the line, in bytes
	lead   string // the literal text in front of the first doubt
	odd    bool   // holds a brace or a tilde outside of quotes, also where it means itself
	found  bool   // the whole word is a name that find puts there
}

// Doubt says why a word is not known before it runs. It is a set.
type Doubt uint8

// The reasons.
const (
	Variable   Doubt = 1 << iota // $x, ${x}
	Computed                     // $(…), `…`, <(…)
	Glob                         // *, ?, […]
	Tilde                        // ~
	Brace                        // {a,b}
	Input                        // what a wrapper adds: the words of xargs, the names of find
	Arithmetic                   // an expression, subscript or indirection: bash evaluates the values of variables as code there
	Encoded                      // $'…', $"…", or an escape that shells read differently
)

// doubts names the reasons, in the order of their bits.
var doubts = [...]string{"a variable", "a substitution", "a glob", "a tilde", "a brace expansion", "input", "arithmetic or indirection", "an encoded string"}

// Literal reports whether the word is known: the shell passes Text and nothing else.
func (w *Word) Literal() bool { return w.Doubt == 0 }

// mark makes the word one that is not literal.
func (w *Word) mark(d Doubt) {
	if w.Literal() {
		w.lead, w.Text = "", ""
	}
	w.Doubt |= d
}

// doubt says in words why the word is not literal.
func (w *Word) doubt() string {
	var names []string
	for i, n := range doubts {
		if w.Doubt&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if names == nil && w.odd {
		return "a brace or tilde"
	}
	return strings.Join(names, ", ")
}

// String returns the word quoted for a command line when it is literal, and as it is written otherwise.
func (w *Word) String() string {
	if w.Literal() {
		return Quote(w.Text)
	}
	return w.Source
}

// operand reports whether every word that a glob expands to begins with a literal text that is no dash, so that none of
// them can be taken for an option.
func (w *Word) operand() bool { return w.Doubt == Glob && w.lead != "" && w.lead[0] != '-' }

// Quote returns a text as one literal word of a command line, without quotes where it needs none.
func Quote(s string) string {
	if s == "" {
		return "''"
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./,:+@%", r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	if s == "[" || s == "]" || s == "{}" || s == "!" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// A reader evaluates the parts of one word.
type reader struct {
	b     strings.Builder
	lead  int // length of the text before the first doubt, or -1
	doubt Doubt
	brace bool // after an unquoted "{"
	odd   bool
}

func (r *reader) mark(d Doubt) {
	if r.lead < 0 {
		r.lead = r.b.Len()
	}
	r.doubt |= d
}

// word evaluates a word. The commands in its substitutions are found elsewhere, see walker.inside.
func (w *walker) word(x *syntax.Word) Word {
	if text, ok := plain(x); ok {
		return Word{Text: text, Source: w.source(x), Offset: w.offset(x)}
	}
	r := reader{lead: -1}
	for i, p := range x.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if r.literal(p.Value, len(x.Parts) == 1); strings.HasSuffix(p.Value, "$") && i+1 < len(x.Parts) {
				r.mark(Encoded) // a POSIX shell and bash read $'…' differently
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				r.mark(Encoded)
			}
			if r.brace {
				r.expands(p.Value)
			}
			r.b.WriteString(p.Value)
		case *syntax.DblQuoted:
			r.quoted(p)
		default:
			r.part(p)
		}
	}
	out := Word{Text: r.b.String(), Doubt: r.doubt, odd: r.odd, Source: w.source(x), Offset: w.offset(x)}
	if r.doubt != 0 {
		out.lead = out.Text[:r.lead]
		if r.doubt != Glob {
			out.Text = out.lead
		}
	}
	return out
}

// plain returns the text of a word that has one part with nothing special in it, as most have.
func plain(x *syntax.Word) (string, bool) {
	if len(x.Parts) != 1 {
		return "", false
	}
	switch p := x.Parts[0].(type) {
	case *syntax.Lit:
		return p.Value, !strings.ContainsAny(p.Value, `\~*?[{}$`)
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	}
	return "", false
}

// literal reads text outside of quotes.
func (r *reader) literal(v string, whole bool) {
	if whole && (v == "[" || v == "]" || v == "{}") {
		r.b.WriteString(v)
		return
	}
	for j := 0; j < len(v); j++ {
		switch c := v[j]; c {
		case '\\':
			if j++; j >= len(v) {
				r.mark(Encoded) // a backslash at the end of the line
				return
			}
			r.b.WriteByte(v[j])
		case '~':
			r.odd = true
			if s := r.b.String(); s == "" || strings.HasSuffix(s, "=") || strings.HasSuffix(s, ":") {
				r.mark(Tilde)
			}
			r.b.WriteByte(c)
		case '*', '?', '[':
			r.mark(Glob)
			r.b.WriteByte(c)
		case '{', '}':
			r.odd = true
			r.brace = r.brace || c == '{'
			r.b.WriteByte(c)
		default:
			if r.brace {
				r.expands(v[j:])
			}
			r.b.WriteByte(c)
		}
	}
}

// expands marks a word that may be a brace expansion: there is a comma or ".." behind the brace, quoted or not.
func (r *reader) expands(rest string) {
	if strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, "..") {
		r.mark(Brace)
	}
}

// quoted reads a string in double quotes.
func (r *reader) quoted(d *syntax.DblQuoted) {
	if d.Dollar {
		r.mark(Encoded)
	}
	for _, p := range d.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			r.part(p)
			continue
		}
		r.escaped(lit.Value, "$`\"\\")
	}
}

// escaped reads text in which a backslash counts only before some characters.
func (r *reader) escaped(v, special string) {
	for j := 0; j < len(v); j++ {
		if v[j] == '\\' && j+1 < len(v) && strings.IndexByte(special, v[j+1]) >= 0 {
			j++
		}
		r.b.WriteByte(v[j])
	}
}

// part marks what the shell computes.
func (r *reader) part(p syntax.WordPart) {
	switch p := p.(type) {
	case *syntax.ParamExp:
		r.mark(paramDoubt(p))
		syntax.Walk(p, func(n syntax.Node) bool { // what stands in ${x:-…} and ${x/…/…}
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				r.mark(Computed)
				return false
			case *syntax.ParamExp:
				r.mark(paramDoubt(n))
			case *syntax.ArithmExp:
				r.mark(Arithmetic)
			case *syntax.SglQuoted:
				if n.Dollar {
					r.mark(Encoded)
				}
			}
			return true
		})
	case *syntax.CmdSubst, *syntax.ProcSubst:
		r.mark(Computed)
	case *syntax.ExtGlob:
		r.mark(Glob | Encoded) // whether bash reads it as a glob depends on an option
	default:
		r.mark(Arithmetic)
	}
}

// paramDoubt says whether a parameter expansion only inserts a value, or has bash evaluate one.
func paramDoubt(p *syntax.ParamExp) Doubt {
	plain := !p.Excl && p.Index == nil && p.Slice == nil && p.Names == 0 && p.Param != nil && p.NestedParam == nil && p.Flags == nil
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.OtherParamOps, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			plain = false
		}
	}
	if plain {
		return Variable
	}
	return Variable | Arithmetic
}

// document evaluates the body of a here-document. In an unquoted one bash expands; a quoted one is a single literal.
func (w *walker) document(x *syntax.Word, quoted bool) Word {
	r := reader{lead: -1}
	for _, p := range x.Parts {
		lit, ok := p.(*syntax.Lit)
		switch {
		case !ok:
			r.part(p)
		case quoted:
			r.b.WriteString(lit.Value)
		default:
			r.escaped(lit.Value, "$`\\")
		}
	}
	out := Word{Text: r.b.String(), Doubt: r.doubt, Source: w.source(x), Offset: w.offset(x)}
	if r.doubt != 0 {
		out.Text = out.Text[:r.lead]
	}
	return out
}
