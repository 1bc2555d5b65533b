package glob

import (
	"strings"
	"unicode/utf8"
)

// compile turns a pattern into alternatives.
func (d dialect) compile(pattern string) ([]alt, error) {
	text := pattern
	var rule alt
	anchored := true
	if d.ignore {
		if strings.HasSuffix(text, "/") {
			rule.dirOnly = true
			text = text[:len(text)-1]
		}
		// Git looks for "/" in the text, also inside classes and after "\".
		anchored = strings.Contains(text, "/")
		text = strings.TrimPrefix(text, "/")
	}
	toks, err := d.parse(text)
	if err != nil {
		if e, ok := err.(*Error); ok {
			e.Offset += strings.Index(pattern, text)
			e.Pattern = pattern
		}
		return nil, err
	}
	lists, ok := expand(toks)
	if !ok {
		return nil, &Error{pattern, 0, "braces multiply out to more than 1024 alternatives"}
	}
	if d.cross {
		lists = flatten(lists)
	}
	alts := make([]alt, 0, len(lists))
	for _, l := range lists {
		a := rule
		a.tail = d.topOfTree
		d.fill(&a, l, anchored)
		alts = append(alts, a)
	}
	return alts, nil
}

// fill sets the components of an alternative.
func (d dialect) fill(a *alt, toks []tok, anchored bool) {
	if d.cross {
		a.flat = true
		for i := range toks {
			if toks[i].kind == tSlash {
				toks[i] = tok{kind: tLit, text: "/"}
			}
		}
		a.comps = []comp{d.comp(toks)}
		return
	}
	comps := d.split(toks)
	if a.tail && len(comps) > 1 && comps[len(comps)-1].isEmpty() && comps[len(comps)-2].kind == cGlobstar {
		comps = comps[:len(comps)-1] // "a/**/" is "a/**"
	}
	if !anchored && len(comps) == 1 {
		if comps[0].kind == cGlobstar {
			comps[0].kind = cAny
		}
		a.nameOnly, a.comps = true, comps
		return
	}
	if len(comps) == 2 && comps[0].kind == cGlobstar && comps[1].kind != cGlobstar && !comps[1].isEmpty() {
		a.nameOnly, a.comps = true, comps[1:] // "**/x" is "x" at any depth
		return
	}
	n := 0
	var lit strings.Builder
	for n < len(comps) && comps[n].kind == cEqual {
		lit.WriteString(comps[n].a)
		n++
		if n < len(comps) {
			lit.WriteByte('/')
		}
	}
	a.lit, a.comps = lit.String(), comps[n:]
}

func (c *comp) isEmpty() bool { return c.kind == cEqual && c.a == "" }

// split cuts tokens at slashes into components, with runs of "**" made one.
func (d dialect) split(toks []tok) []comp {
	var out []comp
	start := 0
	for i := 0; i <= len(toks); i++ {
		if i < len(toks) && toks[i].kind != tSlash {
			continue
		}
		part := toks[start:i]
		start = i + 1
		if len(part) == 1 && part[0].kind == tStar && part[0].n >= 2 {
			if len(out) == 0 || out[len(out)-1].kind != cGlobstar {
				out = append(out, comp{kind: cGlobstar})
			}
			continue
		}
		out = append(out, d.comp(part))
	}
	return out
}

// comp compiles the tokens of one component and picks the simplest test for it.
func (d dialect) comp(toks []tok) comp {
	merged := make([]tok, 0, len(toks))
	for _, t := range toks {
		if t.kind == tLit && d.fold {
			t.text = foldString(t.text)
		}
		if n := len(merged); n > 0 && merged[n-1].kind == t.kind {
			switch t.kind {
			case tLit:
				merged[n-1].text += t.text
				continue
			case tStar:
				continue
			}
		}
		merged = append(merged, t)
	}
	c := comp{kind: cWalk, toks: merged, fold: d.fold, byts: d.git}
	is := func(kinds ...tokKind) bool {
		if len(merged) != len(kinds) {
			return false
		}
		for i, k := range kinds {
			if merged[i].kind != k {
				return false
			}
		}
		return true
	}
	// A star ends between characters: a text that begins within one is not just the end of the name.
	within := func(i int) bool { return !d.git && !utf8.RuneStart(merged[i].text[0]) }
	switch {
	case is():
		c.kind = cEqual
	case is(tLit):
		c.kind, c.a = cEqual, merged[0].text
	case is(tStar):
		c.kind = cAny
	case is(tLit, tStar):
		c.kind, c.a = cPrefix, merged[0].text
	case is(tStar, tLit) && !within(1):
		c.kind, c.b = cSuffix, merged[1].text
	case is(tLit, tStar, tLit) && !within(2):
		c.kind, c.a, c.b = cBetween, merged[0].text, merged[2].text
	default:
		for _, t := range merged {
			if t.kind == tLit && len(t.text) > len(c.a) {
				c.a = t.text
			}
		}
	}
	return c
}

// flatten prepares alternatives whose wildcards cross "/": a "**" that is a whole component becomes the choice between
// nothing and "*/", at the end "*".
func flatten(lists [][]tok) [][]tok {
	var out [][]tok
	for _, l := range lists {
		forms := [][]tok{nil}
		afterStar := false
		for i := 0; i < len(l); i++ {
			t := l[i]
			start := i == 0 || l[i-1].kind == tSlash
			if t.kind == tStar && t.n >= 2 && start && i+1 < len(l) && l[i+1].kind == tSlash && len(forms) <= maxAlts/2 {
				i++
				if afterStar {
					continue
				}
				afterStar = true
				for _, f := range forms {
					forms = append(forms, append(f[:len(f):len(f)], t, l[i]))
				}
				continue
			}
			afterStar = false
			for k := range forms {
				forms[k] = append(forms[k], t)
			}
		}
		out = append(out, forms...)
	}
	return out
}
