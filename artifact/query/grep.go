package query

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/clip"
)

// Match is a line that grep found. In Data of grep it stands in Matches.
type Match struct {
	Line   int64  `json:"line"`   // 1-based
	Column int    `json:"column"` // where the match begins, 1-based, in characters
	Text   string `json:"text"`   // as shown
}

// Matches is the Data of grep.
type Matches struct {
	Total   int64   `json:"total"` // matching lines in all
	Matches []Match `json:"matches"`
}

func grep(ctx context.Context, d *document, q Query) (Answer, error) {
	if q.Pattern == "" {
		return Answer{}, invalid("pattern", `for example pattern="error|panic"`, "grep needs a pattern")
	}
	m, err := newMatcher(q)
	if err != nil {
		return Answer{}, err
	}
	s := search{d: d, q: q, m: m}
	if err := s.run(ctx); err != nil {
		return Answer{}, err
	}
	if s.found.Total == 0 {
		text := fmt.Sprintf("No line of %d matches %s.", s.lines, quote(q.Pattern))
		return Answer{Text: text, Data: s.found}, nil
	}
	if int64(q.Offset) >= s.found.Total {
		return Answer{}, invalid("offset", fmt.Sprintf("use an offset below %d", s.found.Total), "offset %d is behind the last match; matching lines: %d", q.Offset, s.found.Total)
	}
	return s.show(ctx)
}

// matcher decides whether a line matches. literal is text that every match holds, by which most lines are passed over
// without running the expression.
type matcher struct {
	re      *regexp.Regexp
	literal []byte
	exact   bool // the literal is the whole pattern
}

func newMatcher(q Query) (*matcher, error) {
	expr := q.Pattern
	if q.Literal {
		expr = regexp.QuoteMeta(expr)
	}
	if q.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, invalid("pattern", "mend it, or set literal=true to search for the text as it is", "the pattern %s is not a valid expression: %s", quote(q.Pattern), syntaxReason(err))
	}
	m := &matcher{re: re}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		tree = tree.Simplify()
		m.literal = []byte(required(tree))
		m.exact = tree.Op == syntax.OpLiteral && len(m.literal) > 0
	}
	if bytes.IndexByte(m.literal, '\n') >= 0 {
		return nil, invalid("pattern", "search line by line", "the pattern %s holds a line break, and grep looks at single lines", quote(q.Pattern))
	}
	return m, nil
}

func syntaxReason(err error) string {
	var se *syntax.Error
	if errors.As(err, &se) {
		return fmt.Sprintf("%s: %s", se.Code, quote(se.Expr))
	}
	return err.Error()
}

// required returns the longest text that every match of an expression holds, or "".
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(longest) {
				longest = s
			}
		}
		return longest
	}
	return ""
}

func (m *matcher) find(line []byte) []int {
	if len(m.literal) > 0 {
		i := bytes.Index(line, m.literal)
		if i < 0 {
			return nil
		}
		if m.exact {
			return []int{i, i + len(m.literal)}
		}
	}
	return m.re.FindIndex(line)
}

// hit is a matching line on the page that is shown.
type hit struct {
	line
	start, end int   // of the match in text
	skipped    int64 // bytes of the line before text, where it is a long one
}

type search struct {
	d     *document
	q     Query
	m     *matcher
	lines int64
	found Matches
	hits  []*hit
}

// run looks at every line, or, where every match holds a literal, at those that hold it. Only the lines that will be
// shown are kept.
func (s *search) run(ctx context.Context) error {
	if len(s.m.literal) > 0 {
		return s.runLiteral(ctx)
	}
	r := s.d.linesFrom(ctx, 0, 1)
	for {
		ln, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.lines = ln.n
		if err := s.look(ctx, ln); err != nil {
			return err
		}
	}
}

// runLiteral finds the literal in whole blocks and counts the lines between.
func (s *search) runLiteral(ctx context.Context) error {
	buf := make([]byte, blockSize)
	for off := int64(0); off < s.d.Size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := s.d.ReadAt(buf[:min(blockSize, s.d.Size-off)], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		block := buf[:n]
		if off+int64(n) < s.d.Size {
			block = block[:bytes.LastIndexByte(block, '\n')+1] // whole lines only
		}
		if len(block) == 0 {
			if n == 0 {
				return unlessEOF(io.EOF)
			}
			r := s.d.linesFrom(ctx, off, s.lines+1) // one line that is longer than a block
			ln, err := r.next()
			if err != nil {
				return unlessEOF(err)
			}
			s.lines, off = ln.n, r.off
			if err := s.look(ctx, ln); err != nil {
				return err
			}
			continue
		}
		if err := s.block(ctx, block, off); err != nil {
			return err
		}
		off += int64(len(block))
	}
	return nil
}

// block looks at the lines of a block that hold the literal. The block ends with a line.
func (s *search) block(ctx context.Context, block []byte, off int64) error {
	newline := []byte{'\n'}
	for pos := 0; pos < len(block); {
		i := bytes.Index(block[pos:], s.m.literal)
		if i < 0 {
			s.lines += int64(bytes.Count(block[pos:], newline))
			if block[len(block)-1] != '\n' {
				s.lines++
			}
			return nil
		}
		start := pos + bytes.LastIndexByte(block[pos:pos+i], '\n') + 1
		s.lines += int64(bytes.Count(block[pos:start], newline)) + 1
		end := len(block)
		if e := bytes.IndexByte(block[pos+i:], '\n'); e >= 0 {
			end = pos + i + e + 1
		}
		text := trimEnding(block[start:end])
		ln := line{n: s.lines, off: off + int64(start), size: int64(len(text)), text: text}
		if err := s.look(ctx, ln); err != nil {
			return err
		}
		pos = end
	}
	return nil
}

// look counts a line that matches and keeps it where it will be shown.
func (s *search) look(ctx context.Context, ln line) error {
	h, err := s.find(ctx, ln)
	if err != nil || h == nil {
		return err
	}
	if n := s.found.Total; n >= int64(s.q.Offset) && n < int64(s.q.Offset+s.q.Limit) {
		h.text = bytes.Clone(h.text)
		s.hits = append(s.hits, h)
	}
	s.found.Total++
	return nil
}

func (s *search) find(ctx context.Context, ln line) (*hit, error) {
	if ln.size > int64(len(ln.text)) {
		return s.d.findLong(ctx, s.m, ln)
	}
	if at := s.m.find(ln.text); at != nil {
		return &hit{line: ln, start: at[0], end: at[1]}, nil
	}
	return nil, nil
}

// show renders the page of hits with their context.
func (s *search) show(ctx context.Context) (Answer, error) {
	var b strings.Builder
	lines, shown := 0, 0
	last := int64(0) // number of the last line shown
	for i, h := range s.hits {
		p, err := s.d.window(ctx, h)
		if err != nil {
			return Answer{}, err
		}
		rows, to, err := s.rows(ctx, i, p, last)
		if err != nil {
			return Answer{}, err
		}
		size := 0
		for _, r := range rows {
			size += len(r) + 1
		}
		if shown > 0 && !fits(s.q.Limits, lines+len(rows)-1, b.Len(), size) {
			break
		}
		for _, r := range rows {
			b.WriteString(r + "\n")
		}
		lines, last = lines+len(rows), to
		s.found.Matches = append(s.found.Matches, Match{Line: h.n, Column: h.column(p), Text: p.String()})
		shown++
	}
	a := Answer{Data: s.found}
	if next := s.q.Offset + shown; int64(next) < s.found.Total {
		a.Truncated = true
		q := s.q
		q.Offset = next
		a.Next = &q
		fmt.Fprintf(&b, "[Matching lines %d–%d of %d; go on with offset=%d, or narrow the pattern.]", s.q.Offset+1, next, s.found.Total, next)
	} else {
		fmt.Fprintf(&b, "[%d of %d lines match.]", s.found.Total, s.lines)
	}
	a.Text = b.String()
	return a, nil
}

// column returns the column of the match in the whole line.
func (h *hit) column(p clip.Piece) int {
	first := clip.LineAt(string(h.text), clip.DefaultColumns, h.start, h.end).From // in text
	return p.From - first + utf8.RuneCount(h.text[:h.start]) + 1
}

// rows returns hit i with as much of its context as is not shown yet and does not belong to the next hit.
func (s *search) rows(ctx context.Context, i int, p clip.Piece, last int64) (rows []string, to int64, err error) {
	h := s.hits[i]
	from := max(h.n-int64(s.q.Before), last+1, 1)
	if last > 0 && from > last+1 && (s.q.Before > 0 || s.q.After > 0) {
		rows = append(rows, "--")
	}
	if from < h.n {
		off, err := s.d.before(ctx, h.off, int(h.n-from))
		if err != nil {
			return nil, 0, err
		}
		if rows, err = s.context(ctx, rows, off, from, h.n-1); err != nil {
			return nil, 0, err
		}
	}
	rows = append(rows, row(h.n, ":", p.String()))
	to = h.n
	end := h.n + int64(s.q.After)
	if i+1 < len(s.hits) {
		end = min(end, s.hits[i+1].n-1)
	}
	if end > h.n {
		r := s.d.linesFrom(ctx, h.off, h.n)
		if _, err := r.next(); err != nil {
			return nil, 0, unlessEOF(err)
		}
		if rows, err = s.context(ctx, rows, r.off, h.n+1, end); err != nil {
			return nil, 0, err
		}
		to = end
	}
	return rows, to, nil
}

func (s *search) context(ctx context.Context, rows []string, off, from, to int64) ([]string, error) {
	r := s.d.linesFrom(ctx, off, from)
	for n := from; n <= to; n++ {
		ln, err := r.next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row(n, "-", clip.Line(string(ln.text), clip.DefaultColumns).String()))
	}
	return rows, nil
}

// before returns the offset where the n lines before the line at off begin.
func (d *document) before(ctx context.Context, off int64, n int) (int64, error) {
	sub := &document{Source: Source{ReaderAt: d.ReaderAt, Size: off}}
	return sub.startOfLast(ctx, n)
}
