// Package outline finds the definitions in a source file: functions, types, constants and headings, each with the lines
// it spans and the text that declares it. Bytes in, values out; it never fails.
//
//	for _, s := range outline.Parse("server.go", src) { fmt.Println(s.Line, s.End, s.Text) }
//
// Go is parsed by its own parser and Markdown by goldmark, since both are good and bounded. Of every other language only
// the declarations are read, by a lexer that knows strings, comments and brackets, and a small grammar of what stands
// before a body: that is all that an outline needs, it works on code that does not compile (which is what an agent looks
// at), and it reads some 50 MB a second. docs/decisions.md tells what was measured against it.
//
// It is not for compilers: a declaration that a macro makes is not seen, bodies of functions are not entered, and where
// a file is broken, what follows may be attributed to the wrong container.
package outline

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Kind is what a symbol is.
type Kind string

// The kinds. Impl, Extension and Package group others and define no name themselves.
const (
	Function  Kind = "function"
	Method    Kind = "method"
	Class     Kind = "class"
	Struct    Kind = "struct"
	Interface Kind = "interface"
	Trait     Kind = "trait"
	Enum      Kind = "enum"
	Union     Kind = "union"
	Type      Kind = "type"
	Module    Kind = "module"
	Namespace Kind = "namespace"
	Object    Kind = "object"
	Constant  Kind = "constant"
	Variable  Kind = "variable"
	Property  Kind = "property"
	Macro     Kind = "macro"
	Impl      Kind = "impl"
	Extension Kind = "extension"
	Heading   Kind = "heading"
)

// Symbol is one definition.
type Symbol struct {
	Name      string `json:"name"`
	Kind      Kind   `json:"kind"`
	Container string `json:"container,omitempty"` // names of what it stands in, joined by "."
	Line      int    `json:"line"`                // first line, 1-based
	End       int    `json:"end"`                 // last line, inclusive
	Depth     int    `json:"depth,omitempty"`     // how many symbols it stands in
	Text      string `json:"text"`                // the declaration without its body, on one line, at most MaxText bytes
}

// MaxText bounds Symbol.Text, in bytes.
const MaxText = 160

// Defines reports whether the symbol defines its name, as opposed to adding to what is defined elsewhere.
func (s *Symbol) Defines() bool { return s.Kind != Impl && s.Kind != Extension }

// language is one that can be read.
type language struct {
	name  string
	exts  []string
	names []string // base names
	types []string // names in the type list of package search
	read  func(src []byte) []Symbol
}

// languages in the order of their names, made when the first file is read.
var languages = sync.OnceValue(table)

// Languages returns the names of the languages that are read.
func Languages() []string {
	var out []string
	for _, l := range languages() {
		out = append(out, l.name)
	}
	return out
}

// Types returns the names, in the type list of package search, under which files that can be read are found.
func Types() []string {
	var out []string
	for _, l := range languages() {
		out = append(out, l.types...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Language returns the name of the language of a file by its name, or "".
func Language(name string) string {
	if l := find(name); l != nil {
		return l.name
	}
	return ""
}

func find(name string) *language {
	base := path.Base(name)
	ext := path.Ext(base)
	all := languages()
	for i := range all {
		l := &all[i]
		if slices.Contains(l.names, base) || ext != "" && slices.Contains(l.exts, ext) {
			return l
		}
	}
	return nil
}

// Parse returns the symbols of a file in the order of their lines, containers before what they hold; nil where the
// language is not known. name is its path or base name.
func Parse(name string, src []byte) []Symbol {
	l := find(name)
	if l == nil {
		return nil
	}
	out := l.read(bytes.TrimPrefix(src, []byte("\ufeff")))
	slices.SortStableFunc(out, func(a, b Symbol) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Depth - b.Depth
	})
	return out
}

// oneLine makes the text of a symbol: blanks collapsed, cut at a character.
func oneLine(src []byte) string {
	s := strings.ToValidUTF8(strings.Join(strings.Fields(string(src[:min(len(src), 4*MaxText)])), " "), "\uFFFD")
	if len(s) <= MaxText {
		return s
	}
	cut := MaxText - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// join adds a name to a container.
func join(container, name string) string {
	if container == "" || name == "" {
		return container + name
	}
	return container + "." + name
}

// lineIndex turns offsets that ascend into line numbers.
type lineIndex struct {
	src  []byte
	at   int
	line int
}

func (l *lineIndex) of(offset int) int {
	if offset < l.at || l.line == 0 {
		l.at, l.line = 0, 1
	}
	l.line += bytes.Count(l.src[l.at:offset], []byte{'\n'})
	l.at = offset
	return l.line
}
