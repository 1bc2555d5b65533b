package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of what a server can put upon us.
const (
	maxTools    = 512 // of one server
	maxPages    = 64  // of its list
	maxRestarts = 3   // within restartSpan
	restartSpan = time.Minute
)

// link is the connection to one server. It is made when first needed and again after the server died.
type link struct {
	cfg  Server
	pool *Pool

	reports  sync.Map // progress token → func(done, total float64, message string)
	token    atomic.Int64
	relisted atomic.Bool // the server says that its list changed

	mu       sync.Mutex
	live     *live
	dialing  chan struct{} // closed when the dial under way ended
	failed   error         // of the last dial
	restarts []time.Time
	closed   bool
}

// live is a connection that works, until it does not.
type live struct {
	session *sdk.ClientSession
	process *process // nil over HTTP
}

func (l *live) close() error {
	err := l.session.Close()
	if l.process != nil {
		err = l.process.Close()
	}
	return err
}

// connect returns the connection, dialing where there is none. Only one dial runs at a time.
func (l *link) connect(ctx context.Context) (*live, error) {
	if err := l.allowed(); err != nil {
		return nil, err
	}
	for {
		l.mu.Lock()
		switch {
		case l.closed:
			l.mu.Unlock()
			return nil, errors.New("the pool is closed")
		case l.live != nil:
			v := l.live
			l.mu.Unlock()
			return v, nil
		case l.dialing == nil:
			return l.dial(ctx) // unlocks
		}
		wait := l.dialing
		l.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		l.mu.Lock()
		err := l.failed
		l.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
}

// dial makes the connection. The caller holds mu; dial releases it. The dial is not ended by ctx, which belongs to one
// call: others may wait for it.
func (l *link) dial(ctx context.Context) (*live, error) {
	now := l.pool.opt.Clock()
	recent := l.restarts[:0]
	for _, t := range l.restarts {
		if now.Sub(t) < restartSpan {
			recent = append(recent, t)
		}
	}
	l.restarts = recent
	if len(recent) >= maxRestarts {
		err := l.failed
		l.mu.Unlock()
		return nil, fmt.Errorf("it was started %d times within %v and does not stay; the last time: %w", maxRestarts, restartSpan, orUnknown(err))
	}
	l.restarts = append(l.restarts, now)
	done := make(chan struct{})
	l.dialing = done
	l.mu.Unlock()
	type outcome struct {
		v   *live
		err error
	}
	result := make(chan outcome, 1)
	l.pool.running.Go(func() {
		v, err := l.open(l.pool.ctx)
		l.mu.Lock()
		l.dialing, l.failed = nil, err
		if err == nil && !l.closed {
			l.live = v
			l.pool.running.Go(func() { l.watch(v) })
		} else if err == nil {
			v.close()
			err = errors.New("the pool is closed")
		}
		l.mu.Unlock()
		close(done)
		result <- outcome{v, err}
	})
	select {
	case o := <-result:
		return o.v, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("it ended without a word")
	}
	return err
}

// watch notes the end of a connection.
func (l *link) watch(v *live) {
	err := v.session.Wait()
	l.drop(v)
	if v.process != nil {
		v.process.end(brokeGrace)
		err = v.process.explain(orUnknown(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
}

// drop forgets a connection that does not work any more, so that the next call makes another.
func (l *link) drop(v *live) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == v {
		l.live, l.failed = nil, nil
	}
}

// open starts the server and introduces us. A server that falls silent or dies at the question of the newer era is
// started again and asked in the older one.
func (l *link) open(ctx context.Context) (*live, error) {
	if !l.cfg.Legacy {
		short, cancel := context.WithTimeout(ctx, l.pool.opt.StartTime/2)
		v, err := l.introduce(short, "")
		cancel()
		if err == nil || l.cfg.URL != "" || ctx.Err() != nil {
			return v, err
		}
		if errors.Is(err, errNotStarted) {
			return nil, err
		}
	}
	long, cancel := context.WithTimeout(ctx, l.pool.opt.StartTime)
	defer cancel()
	return l.introduce(long, "2025-11-25")
}

var errNotStarted = errors.New("it could not be started")

func (l *link) introduce(ctx context.Context, version string) (*live, error) {
	v := &live{}
	var t sdk.Transport
	if l.cfg.URL != "" {
		h, err := l.oauth()
		if err != nil {
			return nil, fmt.Errorf("authorization: %w", err)
		}
		t = &sdk.StreamableClientTransport{Endpoint: l.cfg.URL, HTTPClient: l.httpClient(), MaxEventSize: l.pool.opt.MaxAnswer, MaxRetries: 2, OAuthHandler: h}
	} else {
		p, err := start(&l.cfg, l.pool.opt.Dir)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotStarted, err)
		}
		v.process, t = p, p.transport(l.pool.opt.MaxAnswer)
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "tackle", Version: l.pool.opt.Version}, l.options())
	s, err := c.Connect(ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		if v.process != nil {
			v.process.Close()
			err = v.process.explain(err)
		}
		return nil, err
	}
	v.session = s
	return v, nil
}

func (l *link) options() *sdk.ClientOptions {
	o := &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{}, // no roots, no sampling
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { l.relisted.Store(true); l.pool.announce() },
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			if f, ok := l.reports.Load(req.Params.ProgressToken); ok {
				f.(func(float64, float64, string))(req.Params.Progress, req.Params.Total, req.Params.Message)
			}
		},
	}
	if l.pool.opt.Elicit != nil {
		o.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}
		o.ElicitationHandler = l.elicit
	}
	return o
}

func (l *link) oauth() (auth.OAuthHandler, error) {
	if l.pool.opt.OAuth == nil {
		return nil, nil
	}
	return l.pool.opt.OAuth(&l.cfg)
}

// CheckAuthorizationURL refuses an address that a server gives for authorization and that is none: it must be http or
// https, without control characters and spaces, so that it can be opened in a browser by argument and is nothing else to
// anybody. Ask the person before opening it.
func CheckAuthorizationURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return fmt.Errorf("authorization address: %w", err)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil:
		return fmt.Errorf("authorization address %q: want http:// or https://", address)
	case strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\"'`$<>|;(){}\\^", r) }):
		return fmt.Errorf("authorization address %q holds characters that no address needs", address)
	}
	return nil
}

func (l *link) httpClient() *http.Client {
	return &http.Client{Transport: &headers{base: http.DefaultTransport, add: l.cfg.Headers}, CheckRedirect: sameOrigin}
}

// headers adds the configured headers to every request.
type headers struct {
	base http.RoundTripper
	add  map[string]string
}

// RoundTrip is described at http.RoundTripper.
func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(h.add) > 0 {
		r = r.Clone(r.Context())
		for k, v := range h.add {
			r.Header.Set(k, v)
		}
	}
	return h.base.RoundTrip(r)
}

// sameOrigin follows redirects only within the configured origin: the headers hold credentials.
func sameOrigin(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return fmt.Errorf("redirected to another origin, %s://%s", req.URL.Scheme, req.URL.Host)
	}
	if len(via) >= 5 {
		return errors.New("redirected too often")
	}
	return nil
}

// list asks for the tools, page by page.
func (l *link) list(ctx context.Context) ([]*sdk.Tool, error) {
	v, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	l.relisted.Store(false)
	var out []*sdk.Tool
	seen := map[string]bool{}
	params := &sdk.ListToolsParams{}
	for range maxPages {
		res, err := v.session.ListTools(ctx, params)
		if err != nil {
			return nil, v.process.explain(err)
		}
		for _, t := range res.Tools {
			if t != nil && !seen[t.Name] {
				seen[t.Name] = true
				out = append(out, t)
			}
		}
		switch {
		case res.NextCursor == "":
			return out, nil
		case res.NextCursor == params.Cursor:
			return out, errors.New("its list of tools names the same page twice")
		case len(out) > maxTools:
			return out[:maxTools], fmt.Errorf("it offers more than %d tools", maxTools)
		}
		params = &sdk.ListToolsParams{Cursor: res.NextCursor}
	}
	return out, fmt.Errorf("its list of tools has more than %d pages", maxPages)
}

// call calls a tool of the server under the server's own name for it.
func (l *link) call(ctx context.Context, name string, args any, report func(done, total float64, message string)) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout())
	defer cancel()
	v, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	params := &sdk.CallToolParams{Name: name, Arguments: args}
	token := fmt.Sprintf("t%d", l.token.Add(1))
	params.SetProgressToken(token)
	stop := l.forward(token, report)
	defer stop()
	res, err := v.session.CallTool(ctx, params)
	if err != nil && ctx.Err() == nil {
		var answer *jsonrpc.Error
		if !errors.As(err, &answer) || errors.Is(err, sdk.ErrConnectionClosed) {
			l.drop(v)
		}
		err = v.process.explain(err)
	}
	return res, err
}

// forward passes the server's reports on until stop returns; none comes after it.
func (l *link) forward(token string, report func(done, total float64, message string)) (stop func()) {
	var mu sync.Mutex
	over := false
	l.reports.Store(token, func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			report(done, total, message)
		}
	})
	return func() {
		l.reports.Delete(token)
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

func (l *link) timeout() time.Duration {
	if l.cfg.Timeout > 0 {
		return l.cfg.Timeout
	}
	return 2 * time.Minute
}

func (l *link) close() {
	l.mu.Lock()
	v := l.live
	l.live, l.closed = nil, true
	l.mu.Unlock()
	if v != nil {
		v.close()
	}
}
