package glob

import "strings"

// Verdict is what a list of patterns says about a path.
type Verdict uint8

const (
	Undecided Verdict = iota
	Included
	Excluded
)

// Overrides is the list behind ripgrep's -g: rules of an ignore file turned around. A plain pattern includes what it
// matches, "!" excludes; the last match decides; once there is a plain pattern, files that nothing matches are excluded.
// A nil or zero value decides nothing.
//
// An included path is meant to be searched even where an ignore file or a leading dot says otherwise, as in ripgrep.
type Overrides struct {
	exclude []bool
	plain   bool
	ix      index
}

// NewOverrides compiles a list. Braces are read here, unlike in ignore files; an empty alternative is allowed, so that
// "foo{,.txt}" also means "foo" (ripgrep drops it). Errors: *Error.
func NewOverrides(patterns []string, fold bool) (*Overrides, error) {
	o := &Overrides{ix: index{fold: fold}}
	d := dialect{fold: fold, ignore: true}
	for _, p := range patterns {
		body, exclude := strings.CutPrefix(p, "!")
		if body == "" {
			return nil, &Error{p, 0, "pattern is empty"}
		}
		alts, err := d.compile(body)
		if err != nil {
			return nil, err
		}
		o.ix.add(alts, int32(len(o.exclude)))
		o.exclude = append(o.exclude, exclude)
		o.plain = o.plain || !exclude
	}
	o.ix.build()
	return o, nil
}

// Empty reports whether the list has no pattern.
func (o *Overrides) Empty() bool { return o == nil || len(o.exclude) == 0 }

// Match decides about a path.
func (o *Overrides) Match(path string, dir bool) Verdict {
	if o.Empty() {
		return Undecided
	}
	switch i := o.ix.last(path, baseAt(path), dir); {
	case i >= 0 && o.exclude[i]:
		return Excluded
	case i >= 0:
		return Included
	case o.plain && !dir:
		return Excluded
	}
	return Undecided
}

// Set is an unordered list of patterns under the rules of [Overrides] without "!", for file types: does any match?
type Set struct{ ix index }

// NewSet compiles a list. Errors: *Error.
func NewSet(patterns []string, fold bool) (*Set, error) {
	s := &Set{ix: index{fold: fold}}
	d := dialect{fold: fold, ignore: true}
	for i, p := range patterns {
		alts, err := d.compile(p)
		if err != nil {
			return nil, err
		}
		s.ix.add(alts, int32(i))
	}
	s.ix.build()
	return s, nil
}

// Match returns the position of the last pattern that matches a file, or -1.
func (s *Set) Match(path string) int { return int(s.ix.last(path, baseAt(path), false)) }
