package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/internal/scan"
)

// PatternError is a pattern that cannot be searched for: where, why, and the text that was probably meant.
type PatternError = scan.Error

// Scanner searches bytes in memory for a pattern; it is for one goroutine. See GrepQuery.Scanner.
type Scanner = scan.Scanner

// Grep searches for lines and returns a page of them.
// Errors: *PatternError, *glob.Error, *TypeError, *PathError, or those of the root.
func (e *Engine) Grep(ctx context.Context, q GrepQuery) (GrepResult, error) {
	q = q.normal()
	c := &collector{q: &q}
	g, err := e.grepWalk(ctx, &q, c)
	if err != nil {
		return GrepResult{}, err
	}
	c.w = g.w
	rec, err := g.run()
	if err != nil {
		return GrepResult{}, err
	}
	r := c.result()
	r.Receipt, r.Notes = rec, g.p.Notes
	r.AtLeast = rec.Partial != Complete
	r.PastEnd = len(r.Files) == 0 && r.total(q.Mode) > 0
	return r, nil
}

// total returns the total that Offset and Limit count in.
func (r *GrepResult) total(m Mode) int {
	if m == Content {
		return r.TotalLines
	}
	return r.TotalFiles
}

// StreamGrep calls f for every file with a hit, in no order, from several goroutines at once: worker tells them apart.
// A file with many lines may come in several calls, one after the other, the later ones with more set. Paging and
// ordering do not apply. The result holds totals only. An error of f ends the search and is returned.
func (e *Engine) StreamGrep(ctx context.Context, q GrepQuery, f func(worker int, h *FileHits, more bool) error) (GrepResult, error) {
	q = q.normal()
	s := &grepStream{q: &q, f: f, sums: make([]sums, e.workers)}
	g, err := e.grepWalk(ctx, &q, s)
	if err != nil {
		return GrepResult{}, err
	}
	s.w = g.w
	g.w.ordered = false
	rec, err := g.run()
	if err == nil {
		err = s.err
	}
	r := GrepResult{Receipt: rec, Notes: g.p.Notes, AtLeast: rec.Partial != Complete}
	for i := range s.sums {
		r.TotalFiles += s.sums[i].files
		r.TotalMatches += s.sums[i].matches
		r.TotalLines += s.sums[i].lines
	}
	return r, err
}

// normal fills in defaults and removes what does not apply.
func (q GrepQuery) normal() GrepQuery {
	if q.MaxColumns == 0 {
		q.MaxColumns = 2000
	}
	if q.CountFor == 0 {
		q.CountFor = countFor
	}
	q.Before, q.After = max(q.Before, 0), max(q.After, 0)
	q.Offset, q.Limit = max(q.Offset, 0), max(q.Limit, 0)
	if q.Mode != Content {
		q.Before, q.After, q.MaxBytes = 0, 0, 0
	} else {
		q.Order = ByPath
	}
	return q
}

// Scanner returns a scanner for the query's pattern: to check a pattern before a search, and to find the matches in the
// lines that a search returned (Spans).
// Errors: *PatternError.
func (q *GrepQuery) Scanner() (*Scanner, error) {
	p, err := q.compile()
	if err != nil {
		return nil, err
	}
	return p.NewScanner(), nil
}

func (q *GrepQuery) compile() (*scan.Program, error) {
	return scan.Compile(q.Pattern, scan.Options{
		Literal: q.Literal, Fold: q.CaseInsensitive, Smart: q.SmartCase, Word: q.Word, Line: q.WholeLine,
		Multiline: q.Multiline, DotAll: q.DotAll,
	})
}

// sink gets the hits of a grep.
type sink interface {
	// wants returns how many output lines of a file are to be kept: 0 none, negative all.
	wants(rel string) int
	// hit takes a file with something to report.
	hit(worker int, ls *lineSearch, d Dir, rel string, base int)
	settled(least string, all bool)
}

// grepWalk is the visitor of a grep: it searches the files and hands the outcome to its sink.
type grepWalk struct {
	w       *walker
	q       *GrepQuery
	p       *scan.Program
	sink    sink
	workers []*lineSearch
	large   chan []byte
}

// maxLarge is how many workers may have a file larger than one read in memory at once.
const maxLarge = 2

func (e *Engine) grepWalk(ctx context.Context, q *GrepQuery, s sink) (*grepWalk, error) {
	p, err := q.compile()
	if err != nil {
		return nil, err
	}
	g := &grepWalk{q: q, p: p, sink: s, workers: make([]*lineSearch, e.workers), large: make(chan []byte, maxLarge)}
	for range maxLarge {
		g.large <- nil
	}
	if g.w, err = e.walker(ctx, q.Filter, g); err != nil {
		return nil, err
	}
	g.w.ordered = q.Limit > 0 || q.MaxBytes > 0
	return g, nil
}

// run walks, and gives the buffers back.
func (g *grepWalk) run() (Receipt, error) {
	rec, err := g.w.run()
	for _, ls := range g.workers {
		if ls != nil {
			g.w.e.buffers.Put(&ls.buf)
		}
	}
	return rec, err
}

func (g *grepWalk) file(worker int, t *tally, d Dir, rel string, base int) {
	ls := g.workers[worker]
	if ls == nil {
		ls = &lineSearch{q: g.q, s: g.p.NewScanner(), buf: g.w.e.buffer(), large: g.large, multi: g.p.Multiline,
			explicit: g.w.root == nil, stopped: g.w.stop.Load}
		ls.emitter = emitter{content: g.q.Mode == Content, before: g.q.Before, after: g.q.After, columns: g.q.MaxColumns}
		if s, ok := g.sink.(*grepStream); ok && ls.content {
			ls.flush = func() { s.part(worker, ls) }
		}
		g.workers[worker] = ls
	}
	if !ls.file(t, d, rel, base, g.sink.wants(rel)) {
		return
	}
	if (ls.counts > 0) != (g.q.Mode == FilesWithoutMatch) {
		g.sink.hit(worker, ls, d, rel, base)
	}
}

func (g *grepWalk) settled(least string, all bool) { g.sink.settled(least, all) }

// hits makes the result for the file that was just searched.
func (ls *lineSearch) hits(rel string) FileHits {
	h := FileHits{Path: strings.Clone(rel), Count: ls.counts, Lines: ls.take(), Binary: ls.binary}
	if ls.done() && ls.q.MaxPerFile == 0 {
		h.Count = 0
	}
	return h
}

// grepStream hands hits to a callback.
type grepStream struct {
	w    *walker
	q    *GrepQuery
	f    func(int, *FileHits, bool) error
	sums []sums
	mu   sync.Mutex
	err  error
}

type sums struct {
	files, matches, lines int
	more                  bool
	_                     [64]byte
}

func (s *grepStream) wants(string) int { return -1 }

func (s *grepStream) settled(string, bool) {}

func (s *grepStream) part(worker int, ls *lineSearch) {
	h := ls.hits(ls.rel)
	s.call(worker, &h)
	s.sums[worker].more = true
}

func (s *grepStream) hit(worker int, ls *lineSearch, _ Dir, rel string, _ int) {
	sum := &s.sums[worker]
	sum.files++
	sum.lines += ls.total
	if s.q.Mode == Content || s.q.Mode == Count {
		sum.matches += ls.counts
	}
	h := ls.hits(rel)
	if !sum.more || len(h.Lines) > 0 {
		s.call(worker, &h)
	}
	sum.more = false
}

func (s *grepStream) call(worker int, h *FileHits) {
	err := s.f(worker, h, s.sums[worker].more)
	if err == nil {
		return
	}
	s.mu.Lock()
	s.err = cmp.Or(s.err, err)
	s.mu.Unlock()
	s.w.end(Canceled)
}

// collector keeps the hits of one page.
//
// Files come in any order, so what belongs to the page is known for certain only at the end. But once the files that are
// kept fill the page, nothing behind the last of them can belong to it: such files are only counted, and when a file
// before it turns up, the last one is dropped. The page is complete when the walk has settled everything before its
// last file.
type collector struct {
	w *walker
	q *GrepQuery

	mu       sync.Mutex
	kept     []keptFile // a heap, the last by path on top
	lines    int        // output lines of kept
	full     bool
	complete bool

	files, matches, total int
}

type keptFile struct {
	FileHits
	lines int // output lines, kept or not
}

// need returns how many output lines (or files) make a full page, 0 for no limit. A page that is bounded by bytes alone
// cannot have more lines than bytes.
func (c *collector) need() int {
	switch {
	case c.q.Order == Newest:
		return 0
	case c.q.Limit > 0:
		return c.q.Offset + c.q.Limit + 1 // one more tells whether there is a next page
	case c.q.MaxBytes > 0:
		return c.q.Offset + c.q.MaxBytes + 1
	}
	return 0
}

func (c *collector) wants(rel string) int {
	need := c.need()
	if need == 0 {
		return -1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full && comparePaths(rel, c.kept[0].Path) > 0 {
		return 0
	}
	return need
}

func (c *collector) hit(_ int, ls *lineSearch, d Dir, rel string, base int) {
	k := keptFile{lines: 1}
	if c.q.Mode == Content {
		k.lines = ls.total
	}
	need := c.need()
	if ls.wanted != 0 {
		k.FileHits = ls.hits(rel)
	}
	if c.q.Order == Newest {
		if info, err := d.Stat(rel[base:]); err == nil {
			k.ModTime = info.ModTime
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	c.total += k.lines
	if c.q.Mode == Content || c.q.Mode == Count {
		c.matches += ls.counts
	}
	if k.Path == "" || c.full && comparePaths(rel, c.kept[0].Path) > 0 {
		return
	}
	c.push(k)
	c.lines += k.lines
	for need > 0 && c.lines-c.kept[0].lines >= need {
		c.lines -= c.kept[0].lines
		c.pop()
	}
	c.full = need > 0 && c.lines >= need
}

// settled ends the walk, after a while for counting, when the page is complete.
func (c *collector) settled(least string, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.complete || all || !c.full || c.q.CountFor < 0 {
		return
	}
	if least != "" && comparePaths(c.kept[0].Path, least) < 0 {
		c.complete = true
		c.w.endAfter(c.q.CountFor, PageFilled)
	}
}

func (c *collector) push(k keptFile) {
	c.kept = append(c.kept, k)
	for i := len(c.kept) - 1; i > 0; {
		up := (i - 1) / 2
		if comparePaths(c.kept[up].Path, c.kept[i].Path) >= 0 {
			return
		}
		c.kept[up], c.kept[i] = c.kept[i], c.kept[up]
		i = up
	}
}

func (c *collector) pop() {
	n := len(c.kept) - 1
	c.kept[0] = c.kept[n]
	c.kept[n] = keptFile{}
	c.kept = c.kept[:n]
	for i := 0; ; {
		last := 2*i + 1
		if last >= n {
			return
		}
		if last+1 < n && comparePaths(c.kept[last+1].Path, c.kept[last].Path) > 0 {
			last++
		}
		if comparePaths(c.kept[i].Path, c.kept[last].Path) >= 0 {
			return
		}
		c.kept[i], c.kept[last] = c.kept[last], c.kept[i]
		i = last
	}
}

// result cuts the page.
func (c *collector) result() GrepResult {
	slices.SortFunc(c.kept, func(a, b keptFile) int {
		if c.q.Order == Newest {
			if t := b.ModTime.Compare(a.ModTime); t != 0 {
				return t
			}
		}
		return comparePaths(a.Path, b.Path)
	})
	r := GrepResult{TotalFiles: c.files, TotalMatches: c.matches}
	if c.q.Mode == Content {
		r.TotalLines = c.total
		c.cutLines(&r)
		return r
	}
	kept := page(c.kept, c.q.Offset, c.q.Limit)
	for _, k := range kept {
		r.Files = append(r.Files, k.FileHits)
	}
	if end := c.q.Offset + len(kept); len(kept) > 0 && end < c.files {
		r.NextOffset = end
	}
	return r
}

// cutLines cuts a page of lines out of the kept files.
func (c *collector) cutLines(r *GrepResult) {
	at, bytes := 0, 0 // the number of the next output line, and what the page holds so far
	for _, k := range c.kept {
		from := min(max(c.q.Offset-at, 0), len(k.Lines))
		to := from
		for ; to < len(k.Lines); to++ {
			size := len(k.Lines[to].Text) + 1
			tooMany := c.q.Limit > 0 && at+to >= c.q.Offset+c.q.Limit
			tooMuch := c.q.MaxBytes > 0 && bytes+size > c.q.MaxBytes && at+to > c.q.Offset
			if tooMany || tooMuch {
				r.NextOffset = at + to
				break
			}
			bytes += size
		}
		at += k.lines
		if to > from || k.Binary && k.lines == 0 {
			h := k.FileHits
			h.Lines = h.Lines[from:to]
			r.Files = append(r.Files, h)
		}
		if r.NextOffset > 0 {
			return
		}
	}
}
