package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// describe says what the content is and what can be asked.
func describe(ctx context.Context, d *document, q Query) (Answer, error) {
	desc := Description{Name: d.Name, Bytes: d.Size}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s", d.name(), d.format, plural(d.Size, "byte"))
	if d.format != Binary {
		var err error
		if desc.Lines, err = d.total(ctx); err != nil {
			return Answer{}, err
		}
		if desc.Tokens, err = d.estimate(ctx); err != nil {
			return Answer{}, err
		}
		fmt.Fprintf(&b, ", %s, about %s", plural(desc.Lines, "line"), plural(desc.Tokens, "token"))
	}
	if contains(structured, d.format) && d.Size <= q.MaxJSON {
		_, shape, st, err := d.shape(ctx, Query{MaxJSON: q.MaxJSON})
		var e *Error
		switch {
		case err == nil:
			desc.Shape = shape
		case errors.As(err, &e):
			desc.Shape = e.Message
		default:
			return Answer{}, err
		}
		fmt.Fprintf(&b, "\n%s%s", desc.Shape, st.note())
	}
	if d.format == Markdown {
		list, _, err := d.outline(ctx)
		if err != nil {
			return Answer{}, err
		}
		desc.Shape = plural(len(list), "heading")
		fmt.Fprintf(&b, ", %s", desc.Shape)
	}
	b.WriteString("\nAsk with op:")
	for _, qu := range questions() {
		if qu.op == Describe || !contains(qu.formats, d.format) {
			continue
		}
		desc.Ops = append(desc.Ops, qu.op)
		b.WriteString(" " + string(qu.op))
		if qu.usage != "" {
			b.WriteString(" (" + qu.usage + ")")
		}
		b.WriteByte(',')
	}
	return Answer{Text: strings.TrimSuffix(b.String(), ",") + ".", Data: desc}, nil
}

// Description is the Data of describe.
type Description struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Lines  int64  `json:"lines,omitempty"`
	Tokens int64  `json:"tokens,omitempty"` // estimated
	Shape  string `json:"shape,omitempty"`  // of JSON, in words
	Ops    []Op   `json:"ops"`
}
