package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klippa-app/go-pdfium"
	perrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/tackle-dev/tackle/media"
)

// Config says where and within what bounds PDFium runs. Zero fields mean the defaults.
type Config struct {
	// Cache is a directory for the compiled module, about 25 MB, which makes later starts thirty times faster. Empty
	// means that each process compiles it, which takes seconds. What stands there is run as code: the directory must be
	// writable by its owner only.
	Cache string
	// Workers is how many documents are worked on at once. Default 2.
	Workers int
	// Memory bounds the memory of one worker, in bytes. Default 1 GiB.
	Memory int64
	// Time bounds one document. Default 2 minutes.
	Time time.Duration
	// Grace is how long a quick call may go on when its time is over. Default 5 seconds.
	Grace time.Duration
}

// sandbox runs PDFium: in WebAssembly, without files, network or clock, each document in memory of its own. It starts when
// it is first used. It is safe for concurrent use.
type sandbox struct {
	cfg   Config
	slots chan struct{}
	// quick says that calls of PDFium run to their end: four times faster, because nothing asks in every loop whether to
	// stop. It is for documents that are known to be tame, see tame.
	quick bool
	// lost is set when a call did not come back; nothing runs here any more.
	lost atomic.Bool

	mu    sync.Mutex
	start chan struct{} // closed when the start has ended; nil before the first use
	pool  pdfium.Pool
	err   error
}

func newSandbox(cfg Config, quick bool) *sandbox {
	if cfg.Workers <= 0 {
		cfg.Workers = 2
	}
	if cfg.Memory <= 0 {
		cfg.Memory = 1 << 30
	}
	if cfg.Grace <= 0 {
		cfg.Grace = 5 * time.Second
	}
	if cfg.Time <= 0 {
		cfg.Time = 2 * time.Minute
	}
	return &sandbox{cfg: cfg, quick: quick, slots: make(chan struct{}, cfg.Workers)}
}

// ready waits for the start. The goroutine that starts ends with it.
func (s *sandbox) ready(ctx context.Context) error {
	s.mu.Lock()
	if s.start == nil {
		done := make(chan struct{})
		s.start = done
		go func() {
			defer close(done)
			pool, err := s.boot()
			s.mu.Lock()
			defer s.mu.Unlock()
			s.pool, s.err = pool, err
			if err != nil {
				s.start = nil // the next use tries again
			}
		}()
	}
	started := s.start
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-started:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *sandbox) boot() (pdfium.Pool, error) {
	const page = 64 << 10
	// Calls end when their worker is killed, but for quick ones. The module needs exceptions. The default of the library would be the files of
	// the host, so an empty file system is given.
	rc := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithCloseOnContextDone(!s.quick).WithMemoryLimitPages(uint32(min(s.cfg.Memory/page, 65536)))
	if s.cfg.Cache != "" {
		cache, err := wazero.NewCompilationCacheWithDir(s.cfg.Cache)
		if err == nil {
			rc = rc.WithCompilationCache(cache)
		} // a cache that cannot be used costs time, not the work
	}
	pool, err := webassembly.Init(webassembly.Config{Context: context.Background(), MaxTotal: s.cfg.Workers, RuntimeConfig: rc,
		FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	return pool, nil
}

// worker is one instance of PDFium with what it has open.
type worker struct {
	pdfium.Pdfium
	doc references.FPDF_DOCUMENT
}

// run gives a worker to a function, and kills it when the time is over or the context ends.
func (s *sandbox) run(ctx context.Context, do func(w *worker) error) (err error) {
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Time)
	defer cancel()
	late := func(err error) error {
		switch {
		case outer.Err() != nil:
			return outer.Err()
		case ctx.Err() != nil:
			return media.Failf("the PDF took longer than the %v that are allowed for one. Work on fewer pages.", s.cfg.Time)
		}
		return err
	}
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return late(ctx.Err())
	}
	if err := s.ready(ctx); err != nil {
		<-s.slots
		return late(err)
	}
	if !s.quick {
		defer func() { <-s.slots }()
		return s.work(ctx, late, do)
	}
	// The goroutine ends with the call that it is in. If one never came back, it would keep its slot, and this sandbox
	// would be given up.
	done := make(chan error, 1)
	go func() {
		defer func() { <-s.slots }()
		done <- s.work(ctx, late, do)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(s.cfg.Grace):
		s.lost.Store(true)
		return late(ctx.Err())
	}
}

// work gives a worker to a function.
func (s *sandbox) work(ctx context.Context, late func(error) error, do func(w *worker) error) (err error) {
	p, err := s.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return late(fmt.Errorf("start a worker of PDFium: %w", err))
	}
	var once sync.Once
	kill := func() { once.Do(func() { _ = p.Kill() }) } // it is gone either way
	stop := func() bool { return true }
	if !s.quick { // the memory of a worker in a call that goes on must not be taken away
		stop = context.AfterFunc(ctx, kill)
	}
	defer func() {
		// A worker serves one document. Whatever that did to it, the next gets a new one.
		stop()
		kill()
		if v := recover(); v != nil {
			err = fmt.Errorf("PDFium stopped: %.200s", fmt.Sprint(v))
		}
		if err != nil {
			err = late(err)
		}
	}()
	return do(&worker{Pdfium: p})
}

var (
	errPassword = errors.New("password")
	errFormat   = errors.New("format")
)

// open loads a document. Errors: errPassword, errFormat, or what the sandbox says.
func (w *worker) open(data []byte, password string) error {
	req := &requests.OpenDocument{File: &data}
	if password != "" {
		req.Password = &password
	}
	res, err := w.OpenDocument(req)
	if err != nil {
		return classify(err)
	}
	w.doc = res.Document
	return nil
}

// pages returns how many pages the document has.
func (w *worker) pages() (int, error) {
	n, err := w.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: w.doc})
	if err != nil {
		return 0, err
	}
	return n.PageCount, nil
}

// pageText returns the text of a page, from 0, as PDFium orders it.
func (w *worker) pageText(i int) (string, error) {
	page, err := w.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: w.doc, Index: i})
	if err != nil {
		return "", err
	}
	defer w.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page})
	text, err := w.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByReference: &page.Page}})
	if err != nil {
		return "", err
	}
	defer w.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
	n, err := w.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil || n.Count <= 0 {
		return "", err
	}
	t, err := w.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: n.Count})
	if err != nil {
		return "", err
	}
	return t.Text, nil
}

func classify(err error) error {
	switch {
	case errors.Is(err, perrors.ErrPassword), errors.Is(err, perrors.ErrSecurity):
		return errPassword
	case errors.Is(err, perrors.ErrFormat), errors.Is(err, perrors.ErrFile), errors.Is(err, perrors.ErrUnknown):
		return errFormat
	}
	return err
}
