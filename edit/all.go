package edit

import "github.com/tackle-dev/tackle/internal/text"

// Options are the options of ApplyAll. The zero value makes what can be made.
type Options struct {
	Atomic bool // all requests or none
}

// Outcome is what became of one request.
type Outcome struct {
	Result Result // without Content; its offsets are those of the content as the requests before left it
	Err    error  // one of the errors of Apply, nil if the request was applied
}

// Batch is what ApplyAll made of a list of requests.
type Batch struct {
	Content  []byte // the old content itself if nothing was applied
	Outcomes []Outcome
	Applied  int    // requests that are in Content: all that have no error, or with Atomic and an error none
	Spans    []Span // from the old content to Content, in order, not overlapping
}

// ApplyAll applies requests in order, each to what the ones before left. A request that fails leaves no trace and does
// not keep the others from being applied, unless Options say so; even then each is tried, so that all errors are known.
// The Line of a request counts in the old content, as its author saw it.
func ApplyAll(content []byte, reqs []Request, opt Options) Batch {
	b := Batch{Content: content}
	failed := false
	for _, req := range reqs {
		if req.Line > 0 {
			req.Line = movedLine(content, b.Content, b.Spans, req.Line)
		}
		res, err := Apply(b.Content, req)
		if err != nil {
			failed = true
			b.Outcomes = append(b.Outcomes, Outcome{Err: err})
			continue
		}
		b.Spans = joinSpans(b.Spans, res.Spans)
		b.Content, res.Content = res.Content, nil
		b.Outcomes = append(b.Outcomes, Outcome{Result: res})
		b.Applied++
	}
	if failed && opt.Atomic {
		b.Content, b.Applied, b.Spans = content, 0, nil
	}
	number(content, b.Content, b.Spans)
	return b
}

// movedLine translates a line of the old content into one of the new. Within a replaced place it stays as far below its
// beginning as it was.
func movedLine(old, new []byte, spans []Span, line int) int {
	number(old, new, spans)
	was, is := counter{content: old, cr: text.UsesCR(old)}, counter{content: new, cr: text.UsesCR(new)}
	moved := line
	for _, s := range spans {
		if s.Line > line {
			break
		}
		last, newLast := was.line(s.End), is.line(s.NewEnd)
		if line > last {
			moved = line - last + newLast
		} else {
			moved = min(line-s.Line+s.NewLine, newLast)
		}
	}
	return moved
}

// number fills in the lines of spans.
func number(old, new []byte, spans []Span) {
	was, is := counter{content: old, cr: text.UsesCR(old)}, counter{content: new, cr: text.UsesCR(new)}
	for i := range spans {
		spans[i].Line, spans[i].NewLine = was.line(spans[i].Start), is.line(spans[i].NewStart)
	}
}

// joinSpans joins the spans of two successive edits into those of one: a leads from the first content to the second, b
// from the second to the third. Spans that touch or overlap in the second content become one.
func joinSpans(a, b []Span) []Span {
	if len(a) == 0 {
		return b
	}
	var all []Span
	deltaA, deltaB := 0, 0 // how far offsets of the second content are ahead of the first, and of the third behind
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		lo, hi := 0, 0 // of the joined span in the second content
		if j == len(b) || i < len(a) && a[i].NewStart <= b[j].Start {
			lo, hi = a[i].NewStart, a[i].NewEnd
		} else {
			lo, hi = b[j].Start, b[j].End
		}
		s := Span{Start: lo - deltaA, NewStart: lo + deltaB}
		for grown := true; grown; {
			grown = false
			if i < len(a) && a[i].NewStart <= hi {
				hi = max(hi, a[i].NewEnd)
				deltaA += (a[i].NewEnd - a[i].NewStart) - (a[i].End - a[i].Start)
				i, grown = i+1, true
			}
			if j < len(b) && b[j].Start <= hi {
				hi = max(hi, b[j].End)
				deltaB += (b[j].NewEnd - b[j].NewStart) - (b[j].End - b[j].Start)
				j, grown = j+1, true
			}
		}
		s.End, s.NewEnd = hi-deltaA, hi+deltaB
		all = append(all, s)
	}
	return all
}
