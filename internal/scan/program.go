package scan

import "regexp/syntax"

// Program is a compiled pattern. It is immutable and safe for concurrent use; searching is done by the Scanners made
// from it, one for each goroutine.
type Program struct {
	Multiline bool     // matches may span lines
	Notes     []string // what was understood differently from what ripgrep would: whole sentences for the result

	opt     Options
	re      *syntax.Regexp // without Word and Line
	expr    string         // the same in text
	nfa     *nfa
	needles []*literal // every match holds one of them
	pure    bool       // and every occurrence of one is a match (with Word: if it does not continue a word)
}

// Compile compiles a pattern. Errors: *Error.
func Compile(pattern string, opt Options) (*Program, error) {
	t := &translator{in: pattern, empty: true}
	if err := t.translate(opt.Literal); err != nil {
		return nil, err
	}
	p := &Program{opt: opt, expr: t.out.String(), Notes: t.notes}
	p.opt.Fold = opt.Fold || opt.Smart && !t.upper
	re, err := syntax.Parse(p.expr, p.flags())
	if err != nil {
		return nil, t.parseError(err)
	}
	if !opt.Multiline && needsLines(re) {
		p.opt.Multiline = true
		p.Notes = append(p.Notes, "The pattern contains a line end, so matches may span lines.")
		if re, err = syntax.Parse(p.expr, p.flags()); err != nil {
			return nil, t.parseError(err)
		}
	}
	p.Multiline = p.opt.Multiline
	p.re = re.Simplify()
	p.nfa = p.compileNFA()
	if p.nfa.full {
		return nil, t.fail(0, "pattern is too large when its repetitions are written out")
	}
	p.plan()
	return p, nil
}

func (p *Program) flags() syntax.Flags {
	flags := (syntax.Perl | syntax.UnicodeGroups) &^ syntax.OneLine // "^" and "$" are the ends of a line
	if p.opt.Fold {
		flags |= syntax.FoldCase
	}
	if p.opt.Multiline && p.opt.DotAll {
		flags |= syntax.DotNL
	}
	return flags
}

// needsLines reports whether a literal part has a line end. Classes that happen to contain one do not count: without
// Multiline they are taken not to.
func needsLines(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		for _, r := range re.Rune {
			if r == '\n' {
				return true
			}
		}
	}
	for _, s := range re.Sub {
		if needsLines(s) {
			return true
		}
	}
	return false
}
