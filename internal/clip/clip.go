// Package clip is the only code that cuts text.
//
// Every result that a model may see passes through here once: a whole text is kept up to lines and bytes together
// ([Limits]), from its start, its end or both ([Keep]); a long line becomes a window of columns ([Piece]); a long list
// becomes its first entries ([Entries]). What was cut, how much and in which unit comes back beside the text ([Cut]),
// and a marker stands at the place of the cut, never counted in the budget.
//
// [Cutter] does the same for text that arrives in pieces, in memory bounded by the limits; the result is the same as
// that of [Text] on the whole. Cuts fall between characters of valid UTF-8; invalid bytes count as one character each
// and are never repaired. The package is pure: no clock, no files, no goroutines.
package clip

import (
	"fmt"
	"strings"
)

// The defaults of limits, shared by every tool (SPEC O1, O4, O5).
const (
	DefaultLines     = 2000      // lines of one result
	DefaultBytes     = 50 * 1024 // bytes of one result
	DefaultTailBytes = 32 * 1024 // bytes of command output, both streams together
	DefaultColumns   = 2000      // characters of one line
	DefaultEntries   = 100       // entries of a listing
)

// Limits bound one result; both are checked. In each field 0 means the default and a negative number no limit.
type Limits struct {
	Lines int `json:"lines,omitempty"`
	Bytes int `json:"bytes,omitempty"`
}

// Resolve replaces 0 by the defaults and any negative number by -1.
func (l Limits) Resolve() Limits {
	return Limits{Lines: resolve(l.Lines, DefaultLines), Bytes: resolve(l.Bytes, DefaultBytes)}
}

func resolve(n, def int) int {
	if n == 0 {
		return def
	}
	return max(n, -1)
}

// Min returns the tighter of two limits, field by field: a tool's own and its face's (O2).
func (l Limits) Min(o Limits) Limits {
	l, o = l.Resolve(), o.Resolve()
	return Limits{Lines: tighter(l.Lines, o.Lines), Bytes: tighter(l.Bytes, o.Bytes)}
}

func tighter(a, b int) int {
	if a < 0 || (b >= 0 && b < a) {
		return b
	}
	return a
}

// Fits reports whether s needs no cut.
func (l Limits) Fits(s string) bool {
	l = l.Resolve()
	return (l.Bytes < 0 || len(s) <= l.Bytes) && (l.Lines < 0 || countLines(s) <= int64(l.Lines))
}

// Keep says which part of a text survives a cut.
type Keep uint8

// What to keep: the start (text that is read in order), the end (logs, where the error stands last), or both
// (commands that explore: what a read shows first is what it was run for).
const (
	Head Keep = iota
	Tail
	HeadTail
)

func (k Keep) String() string {
	switch k {
	case Tail:
		return "tail"
	case HeadTail:
		return "head+tail"
	}
	return "head"
}

// Unit names what was counted.
type Unit string

// The units of a cut.
const (
	UnitLines      Unit = "lines"
	UnitBytes      Unit = "bytes"
	UnitCharacters Unit = "characters"
	UnitEntries    Unit = "entries"
)

// Span counts one unit: how much there was and how much was kept.
type Span struct {
	Total int64 `json:"total"`
	Kept  int64 `json:"kept"`
}

// Cut says what was cut. The zero Cut means that nothing was. A partial line counts as a line.
type Cut struct {
	Unit    Unit `json:"unit,omitempty"` // the unit whose limit was reached
	Lines   Span `json:"lines,omitzero"`
	Bytes   Span `json:"bytes,omitzero"`
	Entries Span `json:"entries,omitzero"` // lists only

	Characters Span `json:"characters,omitzero"` // single lines only
}

// Truncated reports whether anything was cut.
func (c Cut) Truncated() bool { return c.Unit != "" }

// Span returns the counts in the cut's own unit.
func (c Cut) Span() Span {
	switch c.Unit {
	case UnitLines:
		return c.Lines
	case UnitEntries:
		return c.Entries
	case UnitCharacters:
		return c.Characters
	}
	return c.Bytes
}

// Dropped returns how much was cut, in the cut's own unit.
func (c Cut) Dropped() int64 { s := c.Span(); return s.Total - s.Kept }

// String says it in words, such as "2000 of 5321 lines kept", or "" where nothing was cut.
func (c Cut) String() string {
	if !c.Truncated() {
		return ""
	}
	s := c.Span()
	return fmt.Sprintf("%d of %d %s kept", s.Kept, s.Total, c.Unit)
}

// Result is a text after the cut. Where nothing was cut all of it is in Head.
type Result struct {
	Keep Keep
	Head string // kept start, byte for byte as it was
	Tail string // kept end, byte for byte as it was
	Cut  Cut
}

// Text returns what is kept with a marker where something is missing.
func (r Result) Text() string {
	if !r.Cut.Truncated() {
		return r.Head + r.Tail
	}
	var b strings.Builder
	b.Grow(len(r.Head) + len(r.Tail) + 64)
	b.WriteString(r.Head)
	if r.Head != "" && !strings.HasSuffix(r.Head, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(r.Marker())
	if r.Keep != Head {
		b.WriteByte('\n')
		b.WriteString(r.Tail)
	}
	return b.String()
}

// Marker returns the marker alone, such as "…(1234 bytes truncated from head)…", or "" where nothing was cut.
func (r Result) Marker() string {
	if !r.Cut.Truncated() {
		return ""
	}
	place := "end"
	switch r.Keep {
	case Tail:
		place = "head"
	case HeadTail:
		place = "middle"
	}
	return fmt.Sprintf("…(%d %s truncated from %s)…", r.Cut.Dropped(), r.Cut.Unit, place)
}

// Entries keeps the first limit items; a non-positive limit keeps all. The result shares the items' array.
func Entries[T any](items []T, limit int) ([]T, Cut) {
	if limit <= 0 || len(items) <= limit {
		return items, Cut{}
	}
	return items[:limit:limit], Cut{Unit: UnitEntries, Entries: Span{Total: int64(len(items)), Kept: int64(limit)}}
}
