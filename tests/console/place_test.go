package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/server"
	"github.com/tackle-dev/tackle/tool"
)

// place is a server over a scratch project, and the address over which a scenario plays the agent.
type place struct {
	t          *testing.T
	dir, state string
	address    string
	control    *httptest.Server

	mu     sync.Mutex
	box    *tackle.Box
	server *server.Server
	stop   context.CancelFunc
	served chan error

	calls   sync.WaitGroup
	results sync.Map // by name of the call: chan tool.Result
}

// rules are those of the scratch projects.
var rules = []permission.Rule{
	{Permission: "edit", Pattern: "ask/**", Action: tool.Ask, Reason: "look first"},
	{Permission: "edit", Pattern: "src/prices.py", Action: tool.Ask, Reason: "prices are a promise to customers"},
	{Permission: "edit", Pattern: "no/**", Action: tool.Deny, Reason: "not here"},
}

func open(t *testing.T, dir string) *place {
	t.Helper()
	p := &place{t: t, dir: dir, state: t.TempDir(), address: "127.0.0.1:0"}
	p.start()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{what}", p.serve)
	p.control = httptest.NewServer(mux)
	t.Cleanup(func() {
		p.control.Close()
		p.halt()
		p.calls.Wait()
	})
	return p
}

// start begins to serve, at the same address as before.
func (p *place) start() {
	p.t.Helper()
	box, err := tackle.Open(context.Background(), tackle.Config{Dir: p.dir, StateDir: p.state, NoFiles: true, Session: "server", Rules: rules})
	if err != nil {
		p.t.Fatal(err)
	}
	s, err := server.New(server.Config{Box: box, Version: "preview", Listen: p.address, Connect: []server.Connection{
		{Name: "Claude Code", Line: "claude mcp add tackle -- tackle mcp -C ~/shop"}, {Name: "Codex", Line: "codex mcp add tackle -- tackle mcp -C ~/shop"}}})
	if err != nil {
		p.t.Fatal(err)
	}
	l, err := s.Listen()
	if err != nil {
		p.t.Fatal(err)
	}
	p.address = l.Addr().(*net.TCPAddr).String()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	p.box, p.server, p.stop, p.served = box, s, stop, served
}

// halt ends the server as Ctrl-C does.
func (p *place) halt() {
	p.stop()
	if err := <-p.served; err != nil {
		p.t.Errorf("serve: %v", err)
	}
	p.server.Close()
	if err := p.box.Close(); err != nil {
		p.t.Errorf("close: %v", err)
	}
}

// order is what a scenario asks for.
type order struct {
	Name    string // of a call, to ask for its result; of a file
	Tool    string
	Args    json.RawMessage
	Session string
	Role    server.Role
	Content string
	MIME    string
}

func (p *place) serve(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, err := p.obey(r.Context(), r.PathValue("what"), &o)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (p *place) obey(ctx context.Context, what string, o *order) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch what {
	case "login":
		path, err := p.server.Code(ctx, server.Identity{Name: "operator", Role: o.Role})
		return "http://" + p.address + path, err
	case "call": // begins a call; "result" waits for it
		done := make(chan tool.Result, 1)
		p.results.Store(o.Name, done)
		req := tackle.NewRequest(o.Tool, o.Args)
		req.Session = o.Session
		box := p.box
		p.calls.Go(func() {
			res, err := box.Call(context.Background(), req)
			if err != nil {
				res = tool.Result{Parts: []tool.Part{{Kind: tool.TextKind, Text: "fault: " + err.Error()}}}
			}
			done <- res
		})
		return true, nil
	case "result":
		done, ok := p.results.Load(o.Name)
		if !ok {
			return nil, fmt.Errorf("no call is named %q", o.Name)
		}
		p.mu.Unlock()
		defer p.mu.Lock()
		select {
		case res := <-done.(chan tool.Result):
			return map[string]any{"ok": res.OK(), "text": res.Text(), "call": res.Meta.Call, "data": res.Data}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "restart":
		p.halt()
		p.start()
		return true, nil
	case "read":
		b, err := os.ReadFile(filepath.Join(p.dir, o.Name))
		return string(b), err
	case "write":
		path := filepath.Join(p.dir, o.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		return true, os.WriteFile(path, []byte(o.Content), 0o644)
	case "history": // the same day before, some hours earlier each time
		return true, p.history(ctx)
	case "attach": // a file of a person; without content a picture
		data, err := io.ReadAll(bytesOf(o.Content))
		if o.Content == "" {
			data, err = picture()
		}
		if err != nil {
			return nil, err
		}
		it, err := p.box.Attach(ctx, o.Session, o.Name, "", data)
		return it.ID, err
	case "artifact":
		a, err := p.box.ArtifactStore().Put(ctx, o.Session, o.Name, o.MIME, bytesOf(o.Content))
		return a.ID, err
	}
	return nil, fmt.Errorf("there is no order %q", what)
}

// picture draws a jar of olives on nothing.
func picture() ([]byte, error) {
	const w, h = 640, 480
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	disc := func(cx, cy, r int, c color.NRGBA) {
		for y := cy - r; y <= cy+r; y++ {
			for x := cx - r; x <= cx+r; x++ {
				if (x-cx)*(x-cx)+(y-cy)*(y-cy) <= r*r {
					m.SetNRGBA(x, y, c)
				}
			}
		}
	}
	draw.Draw(m, image.Rect(190, 110, 450, 430), image.NewUniform(color.NRGBA{176, 205, 200, 255}), image.Point{}, draw.Src)
	draw.Draw(m, image.Rect(220, 60, 420, 110), image.NewUniform(color.NRGBA{200, 138, 40, 255}), image.Point{}, draw.Src)
	for i := range 20 {
		x, y := 225+(i%5)*48, 200+(i/5)*58
		disc(x, y, 22, color.NRGBA{84, 110, 52, 255})
		disc(x+6, y-5, 6, color.NRGBA{182, 48, 40, 255})
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}

// history repeats what was recorded, in sessions of earlier hours, so that plots have something to show.
func (p *place) history(ctx context.Context) error {
	st := p.box.Store()
	p.box.Settle()
	sessions, err := st.Sessions(ctx, store.Filter{})
	if err != nil {
		return err
	}
	for hour := 22; hour > 0; hour-- {
		for _, s := range sessions {
			if strings.HasPrefix(s.ID, ".") {
				continue
			}
			evs, err := st.Read(ctx, s.ID, 0, 1000)
			if err != nil {
				return err
			}
			for i := range evs {
				if (i*7+hour*5)%11 > 3+hour%7 { // busier hours and calmer ones
					continue
				}
				e := evs[i]
				e.Session, e.At, e.Seq = fmt.Sprintf("%s-%d", s.ID, hour), e.At.Add(-time.Duration(hour)*time.Hour), 0
				if _, err := st.Append(ctx, e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
