package search

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/outline"
	"github.com/tackle-dev/tackle/search"
)

// maxSource is the size in bytes up to which a file is read for its symbols.
const maxSource = 4 << 20

// sourceFile is a file with its symbols.
type sourceFile struct {
	Path    string           `json:"path"` // relative to the place, with slashes
	Lines   int              `json:"lines"`
	Symbols []outline.Symbol `json:"symbols"`

	err error
}

// sources gives the files of a known language at a place, by path.
func (p *place) sources(ctx context.Context, cfg search.Config, f search.Filter) ([]string, search.Receipt, error) {
	if p.info.Type != change.Dir {
		return []string{""}, search.Receipt{Files: 1}, nil
	}
	res, err := search.New(search.HostFS(p.call.Host), cfg).Files(ctx, search.FilesQuery{Filter: f})
	paths := make([]string, 0, len(res.Files))
	for _, x := range res.Files {
		if outline.Language(x.Path) != "" {
			paths = append(paths, x.Path)
		}
	}
	return paths, res.Receipt, err
}

// parse reads files with a few workers and returns them in the order given. keep says which symbols are of interest.
func (p *place) parse(ctx context.Context, paths []string, keep func(*outline.Symbol) bool) []sourceFile {
	out := make([]sourceFile, len(paths))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		wg.Go(func() {
			for i := range next {
				out[i] = p.source(ctx, paths[i], keep)
			}
		})
	}
	for i := range paths {
		if ctx.Err() != nil {
			out = out[:i]
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// source reads one file; rel is "" for the place itself.
func (p *place) source(ctx context.Context, rel string, keep func(*outline.Symbol) bool) sourceFile {
	real := p.path.Real
	if rel != "" {
		real = filepath.Join(real, filepath.FromSlash(rel))
	}
	out := sourceFile{Path: rel}
	var src []byte
	if src, out.err = readSource(ctx, p.call.Host, real); out.err != nil {
		return out
	}
	out.Lines = bytes.Count(src, []byte{'\n'})
	if n := len(src); n > 0 && src[n-1] != '\n' {
		out.Lines++
	}
	for _, s := range outline.Parse(real, src) {
		if keep(&s) {
			out.Symbols = append(out.Symbols, s)
		}
	}
	return out
}

// readSource reads a text file of bounded size.
func readSource(ctx context.Context, h host.Host, real string) ([]byte, error) {
	f, err := h.Open(ctx, real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	switch {
	case err != nil:
		return nil, err
	case len(src) > maxSource:
		return nil, fmt.Errorf("is larger than %d MB", maxSource>>20)
	case bytes.IndexByte(src[:min(len(src), 8<<10)], 0) >= 0:
		return nil, fmt.Errorf("is binary")
	}
	return src, nil
}

// span writes lines as 12 or 12-40.
func span(s *outline.Symbol) string {
	if s.End == s.Line {
		return fmt.Sprint(s.Line)
	}
	return fmt.Sprintf("%d-%d", s.Line, s.End)
}

// failures says which files could not be read.
func (p *place) failures(files []sourceFile) []string {
	var names []string
	n := 0
	for i := range files {
		if files[i].err == nil {
			continue
		}
		if n++; n <= 3 {
			names = append(names, fmt.Sprintf("%s (%v)", p.show(files[i].Path), files[i].err))
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d not read: %s.", n, strings.Join(names, ", "))}
}
