package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/clip"
)

// Value is one value of an answer.
type Value struct {
	Line  int64           `json:"line,omitempty"` // of JSON lines
	Path  string          `json:"path,omitempty"` // normalized path, where several values were selected
	Value json.RawMessage `json:"value"`
}

// Values is the Data of get, filter, slice and pluck.
type Values struct {
	Values []Value `json:"values"`
	Total  int     `json:"total"` // values in all; -1 where more follow that were not counted
}

// collector takes the values of an answer one by one and keeps those that are asked for and fit.
type collector struct {
	q     Query
	out   Values
	seen  int
	text  strings.Builder
	full  bool // no more fits or is wanted
	whole bool // go on counting when full
}

// add takes a value and reports whether the answer can take more.
func (c *collector) add(line int64, path string, v any) bool {
	c.seen++
	if c.seen <= c.q.Offset || c.full {
		c.full = c.full || len(c.out.Values) >= c.q.Limit
		return !c.full || c.whole
	}
	if len(c.out.Values) >= c.q.Limit {
		c.full = true
		return c.whole
	}
	val := Value{Line: line, Path: path, Value: encode(v)}
	row := string(val.Value)
	if path != "" {
		row = path + "\t" + row
	}
	if line > 0 {
		row = fmt.Sprintf("%d\t%s", line, row)
	}
	if n := len(c.out.Values); n > 0 && !fits(c.q.Limits, n, c.text.Len(), len(row)+1) {
		c.full = true
		return c.whole
	}
	c.text.WriteString(row + "\n")
	c.out.Values = append(c.out.Values, val)
	return true
}

// answer renders what was collected. counted says that seen is the number of all values.
func (c *collector) answer(counted bool) Answer {
	c.out.Total = c.seen
	if !counted && c.full {
		c.out.Total = -1
	}
	shown := len(c.out.Values)
	a := Answer{Data: c.out}
	if shown == 1 && c.q.Offset == 0 && !c.full && c.out.Values[0].Line == 0 {
		a.Text, a.Truncated = c.one(c.out.Values[0])
		if a.Truncated {
			a.Data = Values{Total: c.out.Total}
		}
		return a
	}
	cut := clip.Text(c.text.String(), c.q.Limits, clip.Head) // the first value alone may be too long
	a.Text = strings.TrimSuffix(cut.Text(), "\n")
	next := c.q.Offset + shown
	if c.full {
		q := c.q
		q.Offset = next
		a.Truncated, a.Next = true, &q
		of := ""
		if c.out.Total >= 0 {
			of = fmt.Sprintf(" of %d", c.out.Total)
		}
		a.Text += fmt.Sprintf("\n[Values %d–%d%s; go on with offset=%d, or narrow the question.]", c.q.Offset+1, next, of, next)
	}
	if cut.Cut.Truncated() {
		a.Truncated, a.Data = true, Values{Total: c.out.Total}
	}
	return a
}

// one renders a single value: indented where that fits, else compact, else its start.
func (c *collector) one(v Value) (text string, cut bool) {
	var b bytes.Buffer
	if err := json.Indent(&b, v.Value, "", "  "); err == nil && c.q.Limits.Fits(b.String()) {
		return b.String(), false
	}
	r := clip.Text(string(v.Value), c.q.Limits, clip.Head)
	if !r.Cut.Truncated() {
		return r.Text(), false
	}
	return r.Text() + "\n[The value is larger than an answer; ask for its keys, a slice, or a narrower path.]", true
}
