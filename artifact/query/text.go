package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tackle-dev/tackle/internal/clip"
)

// LineRange is the Data of head, tail and cat.
type LineRange struct {
	From  int64    `json:"from"` // 1-based; 0 where nothing is shown
	To    int64    `json:"to"`
	Total int64    `json:"total"`
	Lines []string `json:"lines"` // as shown, without numbers
}

// Count is the Data of size, lines and tokens.
type Count struct {
	Bytes  int64 `json:"bytes"`
	Lines  int64 `json:"lines,omitempty"`
	Tokens int64 `json:"tokens,omitempty"` // estimated
}

func head(ctx context.Context, d *document, q Query) (Answer, error) {
	return d.showLines(ctx, q, 1, int64(q.Count))
}

func cat(ctx context.Context, d *document, q Query) (Answer, error) {
	if q.To != 0 && q.To < q.From {
		return Answer{}, invalid("to", "", "to=%d lies before from=%d", q.To, q.From)
	}
	to := q.To
	if to == 0 {
		to = 1<<62 - 1
	}
	return d.showLines(ctx, q, q.From, to)
}

// showLines shows the lines from and to, as far as they exist and fit.
func (d *document) showLines(ctx context.Context, q Query, from, to int64) (Answer, error) {
	total, err := d.total(ctx)
	if err != nil {
		return Answer{}, err
	}
	if total == 0 {
		return Answer{Text: "[" + d.name() + " is empty.]", Data: LineRange{}}, nil
	}
	if from > total {
		return Answer{}, invalid("from", fmt.Sprintf("ask for a line from 1 to %d", total), "line %d is behind the end: %s has %s", from, d.name(), plural(total, "line"))
	}
	off, _, err := d.startOf(ctx, from)
	if err != nil {
		return Answer{}, err
	}
	to = min(to, total)
	r := d.linesFrom(ctx, off, from)
	var b strings.Builder
	out := LineRange{From: from, To: from - 1, Total: total}
	for n := from; n <= to; n++ {
		ln, err := r.next()
		if err != nil {
			return Answer{}, unlessEOF(err)
		}
		p, err := d.piece(ctx, ln, q.Column, clip.DefaultColumns)
		if err != nil {
			return Answer{}, err
		}
		text := row(n, "\t", p.String())
		if room := fits(q.Limits, int(n-from), b.Len(), len(text)+1); !room && n > from {
			break
		}
		b.WriteString(text + "\n")
		out.To = n
		out.Lines = append(out.Lines, p.String())
	}
	a := Answer{Data: out, Truncated: out.To < to}
	switch {
	case out.To < to || (out.To < total && q.Op == Head):
		next := Query{Op: Cat, From: out.To + 1}
		if q.To > out.To {
			next.To = q.To
		}
		a.Next = &next
		fmt.Fprintf(&b, "[Lines %d–%d of %d; read on with op=cat from=%d.]", out.From, out.To, total, next.From)
	case out.To < total:
		fmt.Fprintf(&b, "[Lines %d–%d of %d.]", out.From, out.To, total)
	case from > 1:
		fmt.Fprintf(&b, "[Lines %d–%d of %d; this is the end.]", out.From, out.To, total)
	}
	a.Text = strings.TrimSuffix(b.String(), "\n")
	return a, nil
}

// fits reports whether one more line of some bytes has room beside what is there.
func fits(lim clip.Limits, lines, bytes, more int) bool {
	return (lim.Lines < 0 || lines < lim.Lines) && (lim.Bytes < 0 || bytes+more <= lim.Bytes)
}

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the content became shorter while it was read: %w", io.ErrUnexpectedEOF)
	}
	return err
}

func tail(ctx context.Context, d *document, q Query) (Answer, error) {
	total, err := d.total(ctx)
	if err != nil || total == 0 {
		return Answer{Text: "[" + d.name() + " is empty.]", Data: LineRange{}}, err
	}
	n := q.Count
	if q.Limits.Lines >= 0 {
		n = min(n, q.Limits.Lines)
	}
	n = int(min(int64(n), total))
	off, err := d.startOfLast(ctx, n)
	if err != nil {
		return Answer{}, err
	}
	first := total - int64(n) + 1
	r := d.linesFrom(ctx, off, first)
	var rows, texts []string
	size := 0
	for range n {
		ln, err := r.next()
		if err != nil {
			return Answer{}, unlessEOF(err)
		}
		p, err := d.piece(ctx, ln, 1, clip.DefaultColumns)
		if err != nil {
			return Answer{}, err
		}
		rows, texts = append(rows, row(ln.n, "\t", p.String())), append(texts, p.String())
		size += len(rows[len(rows)-1]) + 1
		for len(rows) > 1 && q.Limits.Bytes >= 0 && size > q.Limits.Bytes { // the last lines count most
			size -= len(rows[0]) + 1
			rows, texts = rows[1:], texts[1:]
			first++
		}
	}
	a := Answer{Data: LineRange{From: first, To: total, Total: total, Lines: texts}, Truncated: len(rows) < q.Count && first > 1}
	a.Text = strings.Join(rows, "\n")
	if first > 1 {
		from := max(first-int64(q.Count), 1)
		a.Next = &Query{Op: Cat, From: from, To: first - 1}
		a.Text = fmt.Sprintf("[Lines %d–%d of %d; those before with op=cat from=%d to=%d.]\n", first, total, total, from, first-1) + a.Text
	}
	return a, nil
}

func size(_ context.Context, d *document, _ Query) (Answer, error) {
	return Answer{Text: plural(d.Size, "byte"), Data: Count{Bytes: d.Size}}, nil
}

func lineCount(ctx context.Context, d *document, _ Query) (Answer, error) {
	n, err := d.total(ctx)
	return Answer{Text: plural(n, "line") + ", " + plural(d.Size, "byte"), Data: Count{Bytes: d.Size, Lines: n}}, err
}

func tokens(ctx context.Context, d *document, _ Query) (Answer, error) {
	n, err := d.estimate(ctx)
	return Answer{Text: fmt.Sprintf("about %s (estimated), %s", plural(n, "token"), plural(d.Size, "byte")), Data: Count{Bytes: d.Size, Tokens: n}}, err
}
