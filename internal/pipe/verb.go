package pipe

import (
	"fmt"
	"slices"
	"strings"
)

// Type says what an argument accepts and how a plan holds it.
type Type uint8

// The types of arguments, with the Go type of their value in a plan.
const (
	Text      Type = iota // string: text, quoted or bare; a bare number is its digits
	Number                // float64 within Min and Max
	Bool                  // bool
	Enum                  // string: one of Enum
	Numbers               // Ints: one whole number or a list of numbers and ranges, each at least Min
	Texts                 // []string: one or many; each one of Enum where that is set
	Matches               // []Match: a text, an expression, or a list of both
	Name                  // NameOrIndex: a bare whole number is an index from 1, a text a name
	Media                 // string: the id of a media, @id
	MediaList             // []string: ids
	JSON                  // json.RawMessage, compact: in a statement a quoted string
	Any                   // json.RawMessage, compact: any value; a text that is no JSON is a string
)

// Family is a kind of media.
type Family string

// The families of formats.
const (
	Document     Family = "document"
	Spreadsheet  Family = "spreadsheet"
	Presentation Family = "presentation"
	Image        Family = "image"
	Audio        Family = "audio"
)

// Output is what a verb gives.
type Output uint8

// The outputs of verbs.
const (
	One   Output = iota // one media
	Many                // several media; only as the last step
	Read                // text that the next step may take as a text file
	Data                // a value; only as the last step
	Maybe               // one media or several, known when it has run
)

// Param is one argument of a verb.
type Param struct {
	Name     string
	Type     Type
	Required bool
	Min, Max float64 // of Number and Numbers; 0, 0: any
	Whole    bool    // of Number
	Enum     []string
	Default  string // as it is shown; "" where there is none
	Sample   string // a value as a statement has it
	Doc      string
	// Common arguments belong to many verbs. They are described once and left out of signatures.
	Common bool
}

// Verb is one operation.
type Verb struct {
	ID       string // as in "sheet.update_cells"
	Params   []Param
	Families []Family // what it works on
	Out      Output
	Doc      string // one sentence for models
	Needs    string // what can do it, as in "a conversion engine"
	// OneOf names arguments of which at least one must be there.
	OneOf []string
}

// Param returns an argument by name.
func (v *Verb) Param(name string) (*Param, bool) {
	for i := range v.Params {
		if v.Params[i].Name == name {
			return &v.Params[i], true
		}
	}
	return nil, false
}

// own returns the names of the arguments that are not common to many verbs.
func (v *Verb) own() []string {
	var out []string
	for i := range v.Params {
		if !v.Params[i].Common {
			out = append(out, v.Params[i].Name)
		}
	}
	return out
}

// Works reports whether the verb is for a family.
func (v *Verb) Works(f Family) bool { return slices.Contains(v.Families, f) }

// Fold returns the form in which verbs are looked up: lower case, with one "." for each run of blanks, dots and
// underscores.
func Fold(verb string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(verb), func(r rune) bool { return r == ' ' || r == '.' || r == '_' || r == '\t' || r == '\n' || r == '\r' }), ".")
}

// Language is a set of verbs. It is immutable and safe for concurrent use.
type Language struct {
	verbs  []Verb
	folded map[string]*Verb
}

// New makes a language of verbs. Two verbs that fold alike, and two arguments of one name, are an error.
func New(verbs []Verb) (*Language, error) {
	l := &Language{verbs: slices.Clone(verbs), folded: map[string]*Verb{}}
	for i := range l.verbs {
		v := &l.verbs[i]
		f := Fold(v.ID)
		if o, ok := l.folded[f]; ok {
			return nil, fmt.Errorf("the verbs %q and %q are one when folded", o.ID, v.ID)
		}
		if n := strings.Count(v.ID, ".") + strings.Count(v.ID, "_"); f == "" || n > 2 {
			return nil, fmt.Errorf("verb %q: want one to three words", v.ID)
		}
		l.folded[f] = v
		seen := map[string]bool{}
		for _, p := range v.Params {
			if seen[p.Name] {
				return nil, fmt.Errorf("verb %q has two arguments %q", v.ID, p.Name)
			}
			seen[p.Name] = true
		}
	}
	return l, nil
}

// Verbs returns the verbs in the order of the table.
func (l *Language) Verbs() []Verb { return l.verbs }

// Verb finds a verb in any spelling that folds to it.
func (l *Language) Verb(name string) (*Verb, bool) {
	v, ok := l.folded[Fold(name)]
	return v, ok
}

// Signature returns the arguments of a verb as models are told them: convert to=pdf|html, select pages=1-3,5.
// Optional ones stand in brackets.
func (v *Verb) Signature() string {
	var b strings.Builder
	b.WriteString(spoken(v.ID))
	for i := range v.Params {
		p := &v.Params[i]
		if p.Common {
			continue
		}
		s := p.Name + "=" + p.shape()
		if !p.Required {
			s = "[" + s + "]"
		}
		b.WriteString(" " + s)
	}
	return b.String()
}

// Notes says what the signature does not: what arguments mean, and their defaults. It is "" where there is nothing to say.
func (v *Verb) Notes() string {
	var notes []string
	for _, p := range v.Params {
		switch {
		case p.Common:
		case p.Default != "" && p.Doc != "":
			notes = append(notes, fmt.Sprintf("%s: %s, default %s", p.Name, p.Doc, p.Default))
		case p.Doc != "":
			notes = append(notes, p.Name+": "+p.Doc)
		case p.Default != "" && !p.Required:
			notes = append(notes, "default "+p.Name+"="+p.Default)
		}
	}
	return strings.Join(notes, "; ")
}

func (p *Param) shape() string {
	switch {
	case len(p.Enum) > 0 && p.Type == Enum && !p.Required && p.Default != "":
		return strings.Join(p.Enum, "|")
	case len(p.Enum) > 0:
		return strings.Join(p.Enum, "|")
	case p.Sample != "":
		return p.Sample
	case p.Type == Bool:
		return "true|false"
	}
	return p.kind()
}

func (p *Param) kind() string {
	return [...]string{"text", "number", "true|false", "name", "numbers", "texts", "text or /regex/", "name or index", "@id", "@id,@id", "JSON", "any"}[p.Type]
}

// example returns a statement of the verb with its required arguments only.
func (v *Verb) example() string {
	s := spoken(v.ID)
	one := false
	for i := range v.Params {
		p := &v.Params[i]
		if p.Required || !one && slices.Contains(v.OneOf, p.Name) {
			s += " " + p.Name + "=" + p.sample()
			one = one || !p.Required
		}
	}
	return s
}

func (p *Param) sample() string {
	switch {
	case p.Sample != "":
		return p.Sample
	case len(p.Enum) > 0:
		return p.Enum[0]
	}
	return [...]string{`"text"`, "1", "true", "name", "1-3", "one,two", `"text"`, "1", "@id", "@id", "'{}'", "1"}[p.Type]
}

// Example returns one correct statement of the verb with its required arguments.
func (l *Language) Example(v *Verb) string {
	p, err := l.Parse(v.example(), nil)
	if err != nil {
		return v.example()
	}
	s, err := l.Print(p)
	if err != nil {
		return v.example()
	}
	return s
}
