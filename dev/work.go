package dev

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/search"
)

// work has an engine look at files, or takes what it found before in the same contents.
func (w *workspace) work(ctx context.Context, step string, eng Engine, c Capability, files, overlay []File) (*Report, error) {
	info := eng.Info()
	done := Work{Engine: info.Name, Version: info.Version, Capability: c, Files: len(files)}
	defer func() { w.result.Engines = append(w.result.Engines, done) }()
	job := Job{Capability: c, Root: w.p.root.Real, Files: files, Overlay: overlay}
	a := info.Can[c]
	for _, command := range a.Commands { // no road leads here unasked; this holds should one be built
		if !w.granted[command] {
			return nil, &Error{Code: EngineFailed, Step: step, Engine: info.Name, Message: fmt.Sprintf("the engine %s was not started: nobody was asked about %q", info.Name, command), Hint: "Nothing was written. Run the step in a call of its own."}
		}
	}
	if len(a.Inputs) > 0 {
		return w.whole(ctx, step, eng, job, a, &done)
	}
	out := &Report{Contents: map[string][]byte{}}
	var jobs []Job
	var keys []key
	var fresh Job
	for _, f := range files {
		config := w.configOf(ctx, info, f.Path)
		k := keyOf(info, c, config, []File{f})
		if r, ok := w.p.results.get(k); ok {
			done.Known++
			out.add(f.Path, r)
			continue
		}
		keys = append(keys, k)
		if !info.Batch {
			one := job
			one.Files, one.Config = []File{f}, config
			jobs = append(jobs, one)
			continue
		}
		fresh.Files = append(fresh.Files, f)
		fresh.Config = append(fresh.Config, config...)
	}
	for part := range slices.Chunk(fresh.Files, batchSize) {
		one := job
		one.Files, one.Config = part, uniqueFiles(fresh.Config)
		jobs = append(jobs, one)
	}
	reports, err := w.p.each(ctx, step, eng, jobs)
	if err != nil {
		return nil, err
	}
	n := 0
	for i := range jobs {
		parts, rest := reports[i].split(jobs[i].Files)
		for k, f := range jobs[i].Files {
			w.p.results.put(keys[n], parts[k])
			n++
			out.add(f.Path, parts[k])
		}
		out.Diagnostics = joined(out.Diagnostics, rest)
	}
	return out, nil
}

// batchSize is how many files a job of an engine that wants many has at most: command lines have an end.
const batchSize = 1000

// each runs jobs, several at a time where there are several, and returns their reports in order. The first failure ends
// the others.
func (p *Pipeline) each(ctx context.Context, step string, eng Engine, jobs []Job) ([]*Report, error) {
	reports := make([]*Report, len(jobs))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		wg.Go(func() {
			for i := range next {
				r, err := p.one(ctx, step, eng, &jobs[i])
				if err != nil {
					cancel(err)
					continue
				}
				reports[i] = r
			}
		})
	}
	for i := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return reports, nil
}

// one runs one job with the time limit. An engine that neither returns nor ends with its context is left behind.
func (p *Pipeline) one(ctx context.Context, step string, eng Engine, job *Job) (*Report, error) {
	limit, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	type outcome struct {
		r   *Report
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if v := recover(); v != nil {
				o = outcome{err: &panicError{v, debug.Stack()}}
			}
			done <- o
		}()
		o.r, o.err = eng.Run(limit, job)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-limit.Done():
		select { // a moment to end by itself, and to say why
		case o = <-done:
		case <-afterGrace(ctx):
			o.err = limit.Err()
		}
	}
	switch {
	case o.err == nil && o.r == nil:
		return &Report{}, nil
	case o.err == nil:
		return o.r, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, p.failed(step, eng.Info(), o.err)
}

// panicError is an engine's own mistake. Its stack is for programs, not for models.
type panicError struct {
	value any
	Stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("it failed by a mistake of its own: %v", e.value)
}

// failed makes an error that names the engine and what to do.
func (p *Pipeline) failed(step string, info Info, err error) error {
	e := &Error{Code: EngineFailed, Step: step, Engine: info.Name, Err: err, Message: fmt.Sprintf("the engine %s failed: %s", info.Name, sentence(err)),
		Hint: "Nothing was written. Take the engine out of the configuration, or repair it, if it fails again."}
	var own *Error
	switch {
	case errors.As(err, &own):
		e.Path = own.Path
		e.Message = fmt.Sprintf("the engine %s failed: %s", info.Name, own.Message)
		if own.Hint != "" {
			e.Hint = "Nothing was written. " + own.Hint
		}
	case errors.Is(err, context.DeadlineExceeded):
		e.Message = fmt.Sprintf("the engine %s was ended: it was not ready after %v", info.Name, p.cfg.Timeout)
		e.Hint = "Nothing was written. Name fewer files, or have its time limit raised."
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "Nothing was written. Its program is gone: install it again, or take the engine out of the configuration."
	}
	return e
}

// whole runs an engine whose findings depend on files of the whole root, unless none of them changed.
func (w *workspace) whole(ctx context.Context, step string, eng Engine, job Job, a Ability, done *Work) (*Report, error) {
	info := eng.Info()
	inputs, err := w.inputs(ctx, a.Inputs, job.Overlay)
	if err != nil {
		return nil, inStep(step, err)
	}
	for _, f := range job.Files {
		job.Config = append(job.Config, w.configOf(ctx, info, f.Path)...)
	}
	job.Config = uniqueFiles(job.Config)
	for _, f := range inputs {
		job.Inputs = append(job.Inputs, f.Path)
	}
	k := keyOf(info, job.Capability, append(slices.Clone(job.Config), inputs...), job.Files)
	if r, ok := w.p.results.get(k); ok {
		done.Known = len(job.Files)
		return r, nil
	}
	reports, err := w.p.each(ctx, step, eng, []Job{job})
	if err != nil {
		return nil, err
	}
	w.p.results.put(k, reports[0])
	return reports[0], nil
}

// inputs returns the files of the root that fit any of the globs, each with the digest of its content in place of it.
func (w *workspace) inputs(ctx context.Context, globs []string, overlay []File) ([]File, error) {
	over := map[string]bool{}
	var out []File
	for _, f := range overlay {
		over[f.Path] = true
		if f.Content != nil && matches(globs, f.Path) {
			out = append(out, digested(f))
		}
	}
	q := search.FilesQuery{Filter: search.Filter{Root: w.p.root.Real, Hidden: true, AnyTree: true, Globs: []string{"!node_modules"}}}
	res, err := w.p.search.Files(ctx, q)
	if err != nil {
		return nil, w.p.pathError(".", err)
	}
	for _, f := range res.Files {
		if over[f.Path] || !matches(globs, f.Path) {
			continue
		}
		data, err := w.p.read(ctx, filepath.Join(w.p.root.Real, filepath.FromSlash(f.Path)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, w.p.pathError(f.Path, err)
		}
		out = append(out, digested(File{f.Path, data}))
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, ctx.Err()
}

func digested(f File) File {
	sum := change.Sum(f.Content)
	return File{f.Path, sum[:]}
}

func (p *Pipeline) read(ctx context.Context, real string) ([]byte, error) {
	f, err := p.cfg.Host.Open(ctx, real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, p.cfg.MaxFileSize+1))
}

// configOf returns the configuration files of an engine that count for a file: those in its folder and in every folder
// above it.
func (w *workspace) configOf(ctx context.Context, info Info, file string) []File {
	if len(info.Config) == 0 {
		return nil
	}
	k := info.Name + "\x00" + path.Dir(file)
	if list, ok := w.configs[k]; ok {
		return list
	}
	var out []File
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, base := range info.Config {
			name := path.Join(dir, base)
			real := filepath.Join(w.p.root.Real, filepath.FromSlash(name))
			if e, ok := w.files[real]; ok && e.loaded {
				if e.now.Type == change.File {
					out = append(out, File{name, e.content()})
				}
				continue
			}
			if data, err := w.p.read(ctx, real); err == nil {
				out = append(out, File{name, data})
			}
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	if w.configs == nil {
		w.configs = map[string][]File{}
	}
	w.configs[k] = out
	return out
}

func uniqueFiles(list []File) []File {
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b File) bool { return a.Path == b.Path })
}

// keyOf names everything on which findings depend.
func keyOf(info Info, c Capability, rest []File, files []File) key {
	h := sha256.New()
	put := func(b []byte) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	put([]byte(info.Name))
	put([]byte(info.Version))
	put([]byte(c))
	for _, list := range [][]File{rest, files} {
		put([]byte{byte(len(list)), byte(len(list) >> 8), byte(len(list) >> 16)})
		for _, f := range list {
			put([]byte(f.Path))
			put(f.Content)
		}
	}
	return key(h.Sum(nil))
}
