package scan

import (
	"math"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxNeedles = 12 // each needle is a pass of its own over the buffer
	maxExact   = 24 // alternatives kept while literals are multiplied out
	denseHits  = 1.0 / 150
)

// needles is a set of texts of which every match holds at least one.
type needles []string

// facts is what is known about the texts that an expression matches.
type facts struct {
	exact    needles   // all the texts it matches, or nil when that is not known
	required []needles // sets of which one member each occurs in every match
}

// planner collects facts.
type planner struct {
	lines  bool // matches hold no "\n"
	folded bool // some literal ignores case
	exactC bool // some literal with a letter does not
}

func (pl *planner) facts(re *syntax.Regexp) facts {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return facts{exact: needles{""}}
	case syntax.OpLiteral:
		return pl.literal(re)
	case syntax.OpCharClass:
		return pl.class(re)
	case syntax.OpCapture:
		return pl.facts(re.Sub[0])
	case syntax.OpPlus:
		return facts{required: pl.facts(re.Sub[0]).sets()}
	case syntax.OpQuest:
		if f := pl.facts(re.Sub[0]); f.exact != nil && len(f.exact) < 8 {
			return facts{exact: append(slices.Clone(f.exact), "")}
		}
	case syntax.OpAlternate:
		return pl.alternate(re)
	case syntax.OpConcat:
		return pl.concat(re)
	}
	return facts{}
}

// literal gives the text. Where case is ignored, only ASCII letters without cousins beyond ASCII are kept: "k" also
// matches the Kelvin sign and "s" the long s, which the needle search cannot see, so the text breaks there.
func (pl *planner) literal(re *syntax.Regexp) facts {
	text := string(re.Rune)
	if re.Flags&syntax.FoldCase == 0 {
		pl.exactC = pl.exactC || strings.ToLower(text) != strings.ToUpper(text)
		return facts{exact: needles{text}}
	}
	pl.folded = true
	parts := strings.FieldsFunc(text, func(r rune) bool {
		return r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r)
	})
	if len(parts) == 1 && parts[0] == text {
		return facts{exact: needles{text}}
	}
	var f facts
	for _, p := range parts {
		f.required = append(f.required, needles{p})
	}
	return f
}

// class lists the members of a small class. Letters without their other case in the class make needles that ignore
// case inexact.
func (pl *planner) class(re *syntax.Regexp) facts {
	ranges := re.Rune
	if pl.lines {
		ranges = without(ranges, '\n')
	}
	var f facts
	for i := 0; i < len(ranges); i += 2 {
		if len(f.exact)+int(ranges[i+1]-ranges[i]) >= 4 {
			return facts{}
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			f.exact = append(f.exact, string(r))
		}
	}
	for _, s := range f.exact {
		upper, lower := strings.ToUpper(s), strings.ToLower(s)
		pl.exactC = pl.exactC || !slices.Contains(f.exact, upper) || !slices.Contains(f.exact, lower)
	}
	return f
}

func (pl *planner) alternate(re *syntax.Regexp) facts {
	var all needles
	exact := true
	for _, s := range re.Sub {
		f := pl.facts(s)
		exact = exact && f.exact != nil
		best := f.best(pl.folded)
		if f.exact != nil {
			best = f.exact
		}
		if best == nil || len(all)+len(best) > 4*maxExact {
			return facts{}
		}
		all = append(all, best...)
	}
	if exact {
		return facts{exact: all}
	}
	return facts{required: facts{required: []needles{all}}.sets()}
}

func (pl *planner) concat(re *syntax.Regexp) facts {
	var out facts
	cur := needles{""}
	whole := true
	flush := func() {
		out.required = append(out.required, facts{exact: cur}.sets()...)
		cur = needles{""}
	}
	for _, s := range re.Sub {
		f := pl.facts(s)
		if f.exact != nil && len(cur)*len(f.exact) <= maxExact {
			next := make(needles, 0, len(cur)*len(f.exact))
			for _, a := range cur {
				for _, b := range f.exact {
					next = append(next, a+b)
				}
			}
			cur = next
			continue
		}
		whole = false
		flush()
		if f.exact != nil {
			cur = f.exact
		}
		out.required = append(out.required, f.required...)
	}
	if whole {
		return facts{exact: cur}
	}
	flush()
	return out
}

// sets returns the required sets, without those that are no help because a member is empty.
func (f facts) sets() []needles {
	out := f.required
	if f.exact != nil {
		out = append(slices.Clone(out), f.exact)
	}
	return slices.DeleteFunc(out, func(n needles) bool { return slices.Contains(n, "") })
}

// best returns the required set that is found least often, or nil.
func (f facts) best(fold bool) needles {
	var best needles
	least := math.Inf(1)
	for _, n := range f.sets() {
		if c := n.chance(fold); c < least {
			best, least = n, c
		}
	}
	return best
}

func (n needles) chance(fold bool) float64 {
	sum := 0.0
	for _, s := range n {
		sum += textChance(s, fold)
	}
	return sum
}

// plan chooses the needles of a program.
func (p *Program) plan() {
	pl := &planner{lines: !p.opt.Multiline}
	f := pl.facts(p.re)
	best := f.best(pl.folded)
	if best == nil {
		return
	}
	p.pure = f.exact != nil && !p.opt.Line && !p.opt.Multiline && !(pl.folded && pl.exactC)
	slices.Sort(best)
	best = slices.Compact(best)
	if len(best) > maxNeedles || !p.pure && best.chance(pl.folded) > denseHits {
		p.pure = false
		return
	}
	for _, s := range best {
		p.needles = append(p.needles, newLiteral(s, pl.folded))
	}
}

// Required returns texts of which every match holds at least one, and whether they are meant without regard to (ASCII)
// case; nil when there are none. It is the seam for an index: only files with one of the texts can match.
func (p *Program) Required() (texts []string, fold bool) {
	for _, l := range p.needles {
		texts = append(texts, l.text)
		fold = l.fold
	}
	return texts, fold
}
