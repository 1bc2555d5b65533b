package dev

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Severity says how bad a diagnostic is.
type Severity string

// The severities, the worst first.
const (
	Err  Severity = "error"
	Warn Severity = "warning"
	Note Severity = "info"
	Hint Severity = "hint"
)

// Severities returns every severity, the worst first.
func Severities() []Severity { return []Severity{Err, Warn, Note, Hint} }

// Diagnostic is one thing that was found.
type Diagnostic struct {
	File     string   `json:"file,omitempty"` // relative to the root; "" for the whole
	Range    Range    `json:"range,omitzero"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code,omitempty"` // the rule, in the words of the engine
	Source   string   `json:"source"`         // the engine, or "dev" for the pipeline itself
	Message  string   `json:"message"`
	Fix      bool     `json:"fix,omitempty"` // lint with fix repairs it
}

// Range is a part of a file. The zero Range is the whole file.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end,omitzero"` // exclusive; zero where it is unknown
}

// Position is a place in a file. Line and Column count from 1, 0 where unknown. Columns are those of the engine: bytes in
// engines of this process, and mostly UTF-16 units in those of the web.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column,omitempty"`
}

// At returns the range that begins at a place and whose end is unknown.
func At(line, column int) Range { return Range{Start: Position{line, column}} }

// String is the form of compilers: file:line:column: severity: message (source code).
func (d Diagnostic) String() string {
	where := d.File
	if d.Range.Start.Line > 0 {
		where += fmt.Sprintf(":%d", d.Range.Start.Line)
		if d.Range.Start.Column > 0 {
			where += fmt.Sprintf(":%d", d.Range.Start.Column)
		}
	}
	if where != "" {
		where += ": "
	}
	from := d.Source
	if d.Code != "" {
		from += " " + d.Code
	}
	return fmt.Sprintf("%s%s: %s (%s)", where, d.Severity, d.Message, from)
}

// Counts counts diagnostics by severity.
type Counts map[Severity]int

func count(list []Diagnostic) Counts {
	c := Counts{}
	for i := range list {
		c[list[i].Severity]++
	}
	return c
}

// MarshalJSON writes every severity, also those that do not occur.
func (c Counts) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Error   int `json:"error"`
		Warning int `json:"warning"`
		Info    int `json:"info"`
		Hint    int `json:"hint"`
	}{c[Err], c[Warn], c[Note], c[Hint]})
}

// unique drops what a second engine says of the same place in the same words. The list is sorted.
func unique(list []Diagnostic) []Diagnostic {
	out := list[:0]
	for i := range list {
		d := &list[i]
		said := false
		for k := len(out) - 1; k >= 0 && d.Range.Start.Line > 0 && out[k].File == d.File && out[k].Range.Start == d.Range.Start; k-- {
			said = said || out[k].Message == d.Message && out[k].Severity == d.Severity && (out[k].Source != d.Source || out[k].Code == d.Code)
		}
		if !said {
			out = append(out, *d)
		}
	}
	return out
}

// sortDiagnostics orders by file, place, severity and text, so that results do not depend on who was ready first.
func sortDiagnostics(list []Diagnostic) {
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
			cmp.Compare(a.Range.Start.Column, b.Range.Start.Column),
			cmp.Compare(slices.Index(Severities(), a.Severity), slices.Index(Severities(), b.Severity)),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
}
