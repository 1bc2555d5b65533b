package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/server/console"
	"github.com/tackle-dev/tackle/server/internal/access"
)

// policyOfPages is what browsers may load and do on our pages: our own files, and no script that stands in a page.
const policyOfPages = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; media-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// mux puts everything on one handler.
func (s *Server) mux() (http.Handler, error) {
	open, behind := http.NewServeMux(), http.NewServeMux()
	paths := map[string][]string{}
	for i := range s.routes {
		rt := &s.routes[i]
		behind.Handle(rt.method+" "+rt.path, s.wrap(rt))
		paths[rt.path] = append(paths[rt.path], rt.method)
	}
	for path, methods := range paths {
		allow := strings.Join(methods, ", ")
		behind.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", allow)
			refuse(w, r, http.StatusMethodNotAllowed, fmt.Sprintf("%s knows %s, not %s", r.URL.Path, allow, r.Method))
		})
	}
	behind.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, http.StatusNotFound, "there is no such operation; /api/openapi.json lists them")
	})
	behind.Handle("/", s.console)
	behind.HandleFunc("POST /logout", s.logout)

	open.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	open.HandleFunc("GET /readyz", s.ready)
	open.HandleFunc("GET /login", s.login)
	open.HandleFunc("POST /login", s.login)

	all := http.NewServeMux()
	if s.cfg.MCP != nil {
		h, err := mcp.Handler(map[string]*mcp.Server{"/mcp": s.cfg.MCP}, mcp.HTTPConfig{Verify: s.agent, Hosts: s.cfg.Hosts, Origins: s.cfg.Origins})
		if err != nil {
			return nil, err
		}
		all.Handle("/mcp", h)
	}
	open.Handle("GET "+console.AssetPath, s.console.Assets()) // the page to log in looks like the others

	for _, path := range []string{"/healthz", "/readyz", "/login", console.AssetPath} {
		all.Handle(path, s.door.Open(open))
	}
	all.Handle("/", s.door.Wrap(behind))
	return headers(s.bodies(all)), nil
}

// headers adds what every answer carries.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // without any, browsers would post forms with the origin "null"
		h.Set("Content-Security-Policy", policyOfPages)
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// agent finds the holder of a token for /mcp. Who may not make calls is nobody there.
func (s *Server) agent(ctx context.Context, secret string) (string, error) {
	who, _, err := s.door.Holder(ctx, secret)
	switch {
	case errors.Is(err, access.ErrNobody):
		return "", nil
	case err != nil:
		return "", err
	case !who.Role.Reaches(Agent):
		return "", nil
	}
	return who.Name, nil
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if err := s.core.Ready(r.Context()); err != nil {
		s.cfg.Log.Error("ready", "err", err)
		w.Header().Set("Retry-After", "2")
		plain(w, http.StatusServiceUnavailable, "not ready")
		return
	}
	plain(w, http.StatusOK, "ready")
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a client that went away reads nothing
}
