package console

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// Config configures a Console. Core is required.
type Config struct {
	Core *core.Core
	// Events is the path of the stream of events. Default "/api/events".
	Events string
	// Logout is the path that ends a login, by a POST. "" shows no way out.
	Logout string
	// Connect are ways to connect an agent, shown where nothing has happened yet.
	Connect []Connection
	// Code makes a code with which who asks can log in once more, at another browser. Nil: the pages make none.
	Code func(r *http.Request, who access.Identity) (code, path string, expires time.Time, err error)
	Now  func() time.Time // default time.Now
	Log  *slog.Logger     // default: discards
}

// Connection is a way to connect an agent: a name and the line to type.
type Connection struct{ Name, Line string }

// Console serves the pages. It is safe for concurrent use. Close it when done.
type Console struct {
	cfg   Config
	core  *core.Core
	mux   *http.ServeMux
	pages map[string]*template.Template
	files *files

	ctx  context.Context // of what outlives its request
	stop context.CancelFunc
	wg   sync.WaitGroup
}

//go:embed templates/*.html
var sources embed.FS

// New returns the pages over a core, which stays the caller's. They must stand behind access.Door: a request that is nobody's
// is refused.
func New(cfg Config) (*Console, error) {
	if cfg.Core == nil {
		return nil, errors.New("console: no core")
	}
	cfg.Events = cmp.Or(cfg.Events, "/api/events")
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := &Console{cfg: cfg, core: cfg.Core, mux: http.NewServeMux()}
	var err error
	if c.files, err = loadFiles(); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	if c.pages, err = c.parse(); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.routes()
	return c, nil
}

// Close ends what was begun for people who did not wait for it, and waits.
func (c *Console) Close() {
	c.stop()
	c.wg.Wait()
}

// Policy is the Content-Security-Policy of every page: nothing but our own, and no frame around it. What stands in a frame of
// ours is a PDF, the only thing of us that may be framed.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; frame-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// AssetPath is where scripts and styles lie. They hold nothing of anybody, so they may be served before a login.
const AssetPath = "/assets/"

// Assets serves scripts and styles alone.
func (c *Console) Assets() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+AssetPath+"{version}/{name}", c.files)
	return mux
}

// Style is an address of the style sheet that stays, for the page to log in.
const Style = AssetPath + "now/app.css"

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.mux.ServeHTTP(w, r)
}

// routes lists the pages.
func (c *Console) routes() {
	get := func(path string, role access.Role, serve handler) { c.mux.Handle("GET "+path, c.wrap(role, serve)) }
	post := func(path string, role access.Role, serve handler) { c.mux.Handle("POST "+path, c.wrap(role, serve)) }
	get("/{$}", access.Viewer, c.home)
	get("/asks", access.Viewer, c.asks)
	get("/asks/{ask}", access.Viewer, c.ask)
	get("/asks/{ask}/media/{file}", access.Viewer, c.askCompare)
	post("/asks/{ask}", access.Viewer, c.answer) // core says who may
	get("/sessions", access.Viewer, c.sessions)
	get("/sessions/{session}", access.Viewer, c.session)
	get("/sessions/{session}/calls/{call}", access.Viewer, c.call)
	get("/sessions/{session}/media", access.Viewer, c.mediaList)
	get("/sessions/{session}/media/{media}", access.Viewer, c.media)
	get("/sessions/{session}/media/{media}/rows", access.Viewer, c.mediaRows)
	get("/sessions/{session}/media/{media}/compare", access.Viewer, c.mediaCompare)
	get("/tools", access.Viewer, c.tools)
	get("/tools/{tool}", access.Viewer, c.tool)
	post("/tools/{tool}", access.Viewer, c.tryTool)
	get("/changes", access.Viewer, c.changes)
	post("/changes/undo", access.Viewer, c.undo)
	get("/artifacts", access.Viewer, c.artifacts)
	get("/artifacts/{artifact}", access.Viewer, c.artifact)
	get("/artifacts/{artifact}/raw", access.Viewer, c.raw)
	get("/rules", access.Viewer, c.rules)
	get("/rules/why", access.Viewer, c.why)
	get("/rules/dryrun", access.Viewer, c.dryRun)
	post("/rules/revoke", access.Viewer, c.revoke)
	post("/rules/reload", access.Viewer, c.reload)
	get("/ledger", access.Viewer, c.ledger)
	get("/ledger/verify", access.Viewer, c.verify)
	get("/usage", access.Viewer, c.usage)
	get("/keys", access.Viewer, c.keys)
	post("/keys/code", access.Viewer, c.code)
	c.mux.Handle("GET "+AssetPath+"{version}/{name}", c.files)
	c.mux.Handle("GET /favicon.ico", http.RedirectHandler(c.files.url("icon.svg"), http.StatusFound))
	c.mux.Handle("/", c.wrap(access.Viewer, func(*http.Request, *page) error {
		return &core.Error{Kind: core.NotFound, Message: "There is no such page. The menu leads to those that are."}
	}))
}

// page is what a template draws. Handlers fill in what is theirs.
type page struct {
	Name    string // of the template
	Title   string
	Section string // of the links that is current
	Who     access.Identity
	CSRF    string
	Info    core.Info
	Now     time.Time
	URL     string // of the page
	Events  string
	Logout  string
	// Live names the events after which the page is fetched again, Session the one session that matters.
	Live    string
	Session string
	Status  int
	Goto    string                      // redirect instead of drawing
	Part    string                      // draw only this template of the page
	Send    func(w http.ResponseWriter) // write this instead of a page
	Data    any
}

// May reports whether who looks may do what a role may.
func (p *page) May(role string) bool { return p.Who.Role.Reaches(access.Role(role)) }

// handler fills in a page.
type handler func(r *http.Request, p *page) error

// statuses are those of what core refuses.
var statuses = map[core.Kind]int{core.Invalid: http.StatusBadRequest, core.NotFound: http.StatusNotFound, core.Forbidden: http.StatusForbidden,
	core.Conflict: http.StatusConflict, core.Busy: http.StatusServiceUnavailable}

// wrap makes a handler of pages one of requests: who asks, errors, drawing.
func (c *Console) wrap(role access.Role, serve handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &page{URL: r.URL.RequestURI(), Who: access.From(r.Context()), CSRF: access.CSRF(r.Context()), Now: c.cfg.Now(), Events: c.cfg.Events, Logout: c.cfg.Logout, Status: http.StatusOK}
		var err error
		if p.Who.Role.Reaches(role) {
			p.Info, err = c.core.Info(r.Context())
		} else {
			err = &core.Error{Kind: core.Forbidden, Message: "Who you are does not allow to look at these pages: that needs the role viewer."}
		}
		if err == nil {
			err = serve(r, p)
		}
		if err != nil {
			c.fail(p, r, err)
		}
		if p.Send != nil {
			p.Send(w)
			return
		}
		if p.Goto != "" {
			w.Header().Set("HX-Redirect", p.Goto)
			if r.Header.Get("HX-Request") == "" {
				http.Redirect(w, r, p.Goto, http.StatusSeeOther)
			}
			return
		}
		c.draw(w, r, p)
	})
}

// problem is what the page of an error shows.
type problem struct{ Message string }

// fail makes the page one of an error.
func (c *Console) fail(p *page, r *http.Request, err error) {
	p.Name, p.Title, p.Status, p.Live = "problem", "That did not work", http.StatusInternalServerError, ""
	var refused *core.Error
	switch {
	case errors.As(err, &refused):
		p.Status = statuses[refused.Kind]
	case r.Context().Err() == nil:
		c.cfg.Log.Error("page", "path", r.URL.Path, "err", err)
	}
	p.Data, p.Part = problem{err.Error()}, ""
	if r.Header.Get("HX-Request") != "" {
		p.Part = "problem"
	}
}

// draw writes a page.
func (c *Console) draw(w http.ResponseWriter, r *http.Request, p *page) {
	t, part := c.pages[p.Name], cmp.Or(p.Part, "layout")
	var b bytes.Buffer
	err := errors.New("no such page")
	if t != nil {
		err = t.ExecuteTemplate(&b, part, p)
	}
	if err != nil {
		c.cfg.Log.Error("draw page", "page", p.Name, "err", err)
		http.Error(w, "the page could not be drawn; the log of the server says why", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "HX-Request")
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // who went away reads nothing
	}
}

// parse reads the templates: each page with the layout and the parts.
func (c *Console) parse() (map[string]*template.Template, error) {
	base, err := template.New("").Funcs(c.funcs()).ParseFS(sources, "templates/_*.html")
	if err != nil {
		return nil, err
	}
	entries, err := sources.ReadDir("templates")
	if err != nil {
		return nil, err
	}
	out := map[string]*template.Template{}
	for _, e := range entries {
		name, _ := strings.CutSuffix(e.Name(), ".html")
		if strings.HasPrefix(name, "_") {
			continue
		}
		t, err := base.Clone()
		if err != nil {
			return nil, err
		}
		if out[name], err = t.ParseFS(sources, "templates/"+e.Name()); err != nil {
			return nil, err
		}
	}
	return out, nil
}
