// Package query answers questions about content without loading it: lines, grep, sizes and token estimates of any text;
// types, keys, JSONPath and jq of JSON, JSON5 and JSON lines; sections of Markdown (SPEC O6).
//
// [Run] takes a [Source], which is random access to bytes, and one [Query]. Questions about lines and about each record
// of JSON lines run in constant memory whatever the size; a JSON document is decoded whole, up to [Query.MaxJSON] bytes.
// The [Answer] is bounded by [Query.Limits], complete in itself, and says how to read on. What cannot be answered is an
// [*Error] that names what exists instead.
//
// The package knows nothing about artifacts and touches no files: any io.ReaderAt will do.
package query

import (
	"context"
	"io"
	"time"

	"github.com/tackle-dev/tackle/internal/clip"
)

// Source is the content that is asked about. It must not change while it is.
type Source struct {
	io.ReaderAt
	Size  int64  // bytes
	Name  string // what it is called in answers; its extension helps to find the format
	MIME  string // media type, where known
	Lines int64  // number of lines where known; 0 means that it is counted when needed
}

// Op names a question.
type Op string

// Questions about any text.
const (
	Describe Op = "describe" // what it is and what can be asked; also the meaning of ""
	Head     Op = "head"     // the first Count lines
	Tail     Op = "tail"     // the last Count lines
	Cat      Op = "cat"      // lines From to To, a long line from Column on
	Grep     Op = "grep"     // lines that match Pattern
	Size     Op = "size"     // bytes
	Lines    Op = "lines"    // number of lines
	Tokens   Op = "tokens"   // estimated tokens
)

// Questions about JSON, JSON5 and JSON lines. Path narrows each of them; in JSON lines Path and Filter apply to every
// record in turn, and Start and End of slice count records.
const (
	Type   Op = "type"   // type of the value at Path
	Keys   Op = "keys"   // its keys with the types of their values
	Length Op = "length" // elements, members or characters
	Get    Op = "get"    // values at a JSONPath
	Filter Op = "filter" // results of a jq program
	Slice  Op = "slice"  // elements Start up to End of an array
	Pluck  Op = "pluck"  // only Fields of each object
)

// Questions about Markdown.
const (
	Sections Op = "sections" // the outline
	Section  Op = "section"  // the text of one section with its subsections
)

// The defaults of Query.
const (
	DefaultCount   = 100
	DefaultMaxJSON = 64 << 20
	DefaultTimeout = 5 * time.Second
)

// Query is one question. Only Op is needed; each field says for which questions it counts.
type Query struct {
	Op Op `json:"op"`

	Count  int   `json:"count,omitempty"`  // head, tail: lines, default 100
	From   int64 `json:"from,omitempty"`   // cat: first line, 1-based; default 1
	To     int64 `json:"to,omitempty"`     // cat: last line; default: as many as fit
	Column int   `json:"column,omitempty"` // cat: first character of the lines shown, 1-based

	Pattern    string `json:"pattern,omitempty"`     // grep: RE2
	Literal    bool   `json:"literal,omitempty"`     // grep: Pattern is plain text
	IgnoreCase bool   `json:"ignore_case,omitempty"` // grep
	Before     int    `json:"before,omitempty"`      // grep: lines of context
	After      int    `json:"after,omitempty"`       // grep: lines of context

	Path    string   `json:"path,omitempty"`   // JSON: a JSONPath (RFC 9535), default "$", the whole
	Program string   `json:"jq,omitempty"`     // filter: a jq program
	Start   int      `json:"start,omitempty"`  // slice: first element, 0-based; negative counts from the end
	End     *int     `json:"end,omitempty"`    // slice: element behind the last; negative counts from the end; default: the end
	Fields  []string `json:"fields,omitempty"` // pluck; "a.b" reaches into objects

	Section string `json:"section,omitempty"` // section: title, "parent > title", or number of the outline

	Offset int `json:"offset,omitempty"` // grep, get, filter, slice, pluck: results to skip
	Limit  int `json:"limit,omitempty"`  // grep, get, filter, slice, pluck, keys: results to show, default 100

	Limits  clip.Limits   `json:"-"` // of the answer's text
	MaxJSON int64         `json:"-"` // bytes of a JSON document that are decoded, default 64 MiB
	Timeout time.Duration `json:"-"` // of a jq program, default 5 s
}

func (q Query) withDefaults() Query {
	def := func(n *int, d int) {
		if *n <= 0 {
			*n = d
		}
	}
	def(&q.Count, DefaultCount)
	def(&q.Limit, DefaultCount)
	q.Offset, q.Before, q.After = max(q.Offset, 0), max(q.Before, 0), max(q.After, 0)
	q.From, q.Column = max(q.From, 1), max(q.Column, 1)
	q.Limits = q.Limits.Resolve()
	if q.MaxJSON <= 0 {
		q.MaxJSON = DefaultMaxJSON
	}
	if q.Timeout <= 0 {
		q.Timeout = DefaultTimeout
	}
	return q
}

// Answer is what a question brought. Text is for a model and complete in itself; Data is the same for programs, one of
// the types of this package.
type Answer struct {
	Op     Op     `json:"op"`
	Format Format `json:"format"`
	Text   string `json:"-"`
	Data   any    `json:"data,omitempty"`
	// Truncated says that more was asked for than is shown; Next is the query that goes on, where there is one.
	Truncated bool   `json:"truncated,omitempty"`
	Next      *Query `json:"next,omitempty"`
}

// engine answers one kind of question.
type engine func(ctx context.Context, d *document, q Query) (Answer, error)

// question tells what an Op needs.
type question struct {
	op      Op
	run     engine
	formats []Format
	usage   string // the fields that count, for lists of what can be asked
}

var (
	anyFormat  = []Format{Text, JSON, JSON5, JSONLines, Markdown, Binary}
	textual    = []Format{Text, JSON, JSON5, JSONLines, Markdown}
	structured = []Format{JSON, JSON5, JSONLines}
)

// questions is the one list of what can be asked.
func questions() []question {
	return []question{
		{Describe, describe, anyFormat, ""},
		{Head, head, textual, "count"},
		{Tail, tail, textual, "count"},
		{Cat, cat, textual, "from, to, column"},
		{Grep, grep, textual, "pattern, literal, ignore_case, before, after, offset, limit"},
		{Size, size, anyFormat, ""},
		{Lines, lineCount, textual, ""},
		{Tokens, tokens, textual, ""},
		{Type, typeOf, structured, "path"},
		{Keys, keys, structured, "path, limit"},
		{Length, length, structured, "path"},
		{Get, get, structured, "path, offset, limit"},
		{Filter, filter, structured, "jq, offset, limit"},
		{Slice, slice, structured, "path, start, end, limit"},
		{Pluck, pluck, structured, "fields, path, offset, limit"},
		{Sections, sections, []Format{Markdown}, ""},
		{Section, section, []Format{Markdown}, "section"},
	}
}

// Ops returns the questions that content of a format answers.
func Ops(f Format) []Op {
	var out []Op
	for _, qu := range questions() {
		if contains(qu.formats, f) {
			out = append(out, qu.op)
		}
	}
	return out
}

func contains[T comparable](list []T, v T) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// Run answers one question. Errors: *Error for what cannot be answered, else those of the source or of ctx.
func Run(ctx context.Context, src Source, q Query) (Answer, error) {
	format, err := Detect(src)
	if err != nil {
		return Answer{}, err
	}
	q = q.withDefaults()
	if q.Op == "" {
		q.Op = Describe
	}
	d := &document{Source: src, format: format}
	for _, qu := range questions() {
		if qu.op != q.Op {
			continue
		}
		if !contains(qu.formats, format) {
			return Answer{}, wrongFormat(d, q.Op, qu.formats)
		}
		a, err := qu.run(ctx, d, q)
		a.Op, a.Format = q.Op, format
		return a, err
	}
	return Answer{}, &Error{
		Code: CodeInvalid, Field: "op", Message: "unknown op " + quote(string(q.Op)), Exists: names(Ops(format)),
	}
}

// document is a source whose format is known.
type document struct {
	Source
	format  Format
	decoded any // by decode
	known   bool
}

func (d *document) name() string {
	if d.Name == "" {
		return "the content"
	}
	return d.Name
}
