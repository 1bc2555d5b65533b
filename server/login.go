package server

import (
	"errors"
	"html/template"
	"net/http"
	"strings"

	"github.com/tackle-dev/tackle/server/console"
	"github.com/tackle-dev/tackle/server/internal/access"
)

// wantsPage reports whether a person looks at the answer: a browser that opens an address outside of the API.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/mcp"
}

// doorPage is what somebody sees who is not let in. It needs no script.
var doorPage = template.Must(template.New("door").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>tackle</title><link rel="stylesheet" href="` + console.Style + `">
{{with .Next}}<meta http-equiv="refresh" content="0;url={{.}}">{{end}}</head>
<body><main class="door"><h1>tackle</h1>
{{with .Message}}<p role="alert" class="notice care">{{.}}</p>{{end}}
{{if .Next}}<p><a href="{{.Next}}">Go on to the console</a></p>{{end}}
{{if .Form}}<form method="post" action="/login" class="inline"><div class="field wide"><label for="code">Code</label><input id="code" name="code" autocomplete="off" spellcheck="false" autofocus required></div><button class="primary">Log in</button></form>
<p class="note">A code is valid once, for five minutes. Whoever runs the server makes one with <code>tackle serve code</code>; one who is logged in already makes one in the console.</p>{{end}}
</main></body></html>
`))

type door struct {
	Message, Next string
	Form          bool
}

func showDoor(w http.ResponseWriter, status int, d door) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = doorPage.Execute(w, d) // a client that went away reads nothing
}

// refusePage tells a person.
func refusePage(w http.ResponseWriter, _ *http.Request, status int, message string) {
	showDoor(w, status, door{Message: message, Form: status == http.StatusUnauthorized})
}

// mostLogin bounds the form with a code, in bytes.
const mostLogin = 4 << 10

// login turns a code into a cookie. The page that answers goes on by itself, without a redirect: a browser that came from
// another site would not send the new cookie along one.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostLogin)
	if err := r.ParseForm(); err != nil {
		showDoor(w, http.StatusBadRequest, door{Message: "the form cannot be read: " + err.Error(), Form: true})
		return
	}
	code := strings.TrimSpace(r.Form.Get("code"))
	if code == "" || r.Method == http.MethodHead { // a program that looks whether a link is good does not use up its code
		showDoor(w, http.StatusOK, door{Form: true})
		return
	}
	if r.Method == http.MethodPost && !s.door.Guard.Origin(r, false) {
		showDoor(w, http.StatusForbidden, door{Message: "another page sent this; log in here", Form: true})
		return
	}
	cookie, who, err := s.keys.Login(r.Context(), code)
	switch {
	case errors.Is(err, access.ErrNobody):
		showDoor(w, http.StatusUnauthorized, door{Message: "This code was used already, has expired, or never was.", Form: true})
		return
	case err != nil:
		s.cfg.Log.Error("log in", "err", err)
		showDoor(w, http.StatusServiceUnavailable, door{Message: "The code cannot be looked up now; try again.", Form: true})
		return
	}
	who.Via = "console"
	if err := s.cfg.Box.Note(r.Context(), who.String(), "logged in"); err != nil {
		s.cfg.Log.Error("log in", "err", err)
		showDoor(w, http.StatusServiceUnavailable, door{Message: "The login cannot be recorded now; make another code and try again.", Form: true})
		return
	}
	s.door.SetCookie(w, r, cookie)
	showDoor(w, http.StatusOK, door{Next: "/"})
}

// logout ends a login.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	s.door.SetCookie(w, r, "")
	showDoor(w, http.StatusOK, door{Message: "You are logged out.", Form: true})
}
