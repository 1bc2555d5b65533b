package console

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template/parse"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/server/internal/core"
	"github.com/tackle-dev/tackle/tool"
)

// place is the pages over a box in a scratch project, which asks for edits below "ask/".
type place struct {
	*Console
	box *tackle.Box
	dir string
	who access.Identity
}

func open(t *testing.T) *place {
	t.Helper()
	p := &place{dir: t.TempDir(), who: access.Identity{Name: "admin", Role: access.Admin, Via: "console"}}
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: p.dir, StateDir: t.TempDir(), NoFiles: true, Session: "main",
		Rules: []permission.Rule{{Permission: "edit", Pattern: "ask/**", Action: tool.Ask, Reason: "look first"}, {Permission: "edit", Pattern: "no/**", Action: tool.Deny}}})
	if err != nil {
		t.Fatal(err)
	}
	c := core.New(box, core.Options{Version: "test"})
	pages, err := New(Config{Core: c, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Logout: "/logout", Code: func(*http.Request, access.Identity) (string, string, time.Time, error) {
		return "code_again", "/login?code=code_again", time.Now().Add(time.Minute), nil
	}, Connect: []Connection{{"Claude Code", "claude mcp add tackle"}}})
	if err != nil {
		t.Fatal(err)
	}
	p.box, p.Console = box, pages
	t.Cleanup(func() {
		pages.Close()
		c.Close()
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *place) do(t *testing.T, method, path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	r = r.WithContext(access.With(t.Context(), &access.Pass{Identity: p.who, CSRF: "secret-of-the-page"}))
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

func (p *place) get(t *testing.T, path string) string {
	t.Helper()
	w := p.do(t, http.MethodGet, path, nil)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: %d\n%s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

func (p *place) call(t *testing.T, name string, args map[string]any) tool.Result {
	t.Helper()
	res, err := p.box.Call(t.Context(), tackle.NewRequest(name, args))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

// asked makes a call that policy asks about, and returns when the ask is open. done gives what came of the call.
func (p *place) asked(t *testing.T, name string, args map[string]any) (a core.Ask, done func() tool.Result) {
	t.Helper()
	sub := p.box.Asks().Subscribe(ask.Audience{})
	t.Cleanup(sub.Close)
	result := make(chan tool.Result, 1)
	go func() {
		res, err := p.box.Call(context.WithoutCancel(t.Context()), tackle.NewRequest(name, args))
		if err != nil {
			t.Error(err)
		}
		result <- res
	}()
	for {
		e, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ask.Opened {
			a, err := p.core.Ask(t.Context(), e.Request.ID)
			if err != nil {
				t.Fatal(err)
			}
			return a, func() tool.Result { return <-result }
		}
	}
}

func (p *place) file(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// X5: every page draws, empty and filled, for every role, and carries its policy.
func TestX5_EveryPageDraws(t *testing.T) {
	p := open(t)
	paths := []string{"/", "/asks", "/sessions", "/tools", "/tools/edit", "/tools/multi_edit?example=1", "/tools/grep?as=json", "/changes", "/artifacts", "/artifacts?media=1", "/rules",
		"/rules/why?tool=edit", "/rules/why?tool=edit&args=%7B%22path%22%3A%22ask%2Fa%22%2C%22old_string%22%3A%22%22%2C%22new_string%22%3A%22x%22%7D", "/rules/dryrun", "/ledger", "/ledger/verify", "/usage", "/usage?hours=744", "/keys"}
	for _, path := range paths {
		p.get(t, path)
	}
	id := p.call(t, "write_file", map[string]any{"path": "a.txt", "content": "one\n"}).Meta.Call
	p.call(t, "read_file", map[string]any{"path": "missing.txt"})
	p.call(t, "write_file", map[string]any{"path": "no/x", "content": "x"})
	a, done := p.asked(t, "write_file", map[string]any{"path": "ask/b.txt", "content": "b\n"})
	paths = append(paths, "/asks/"+a.ID, "/sessions/main", "/sessions/main?tool=write_file&state=ok", "/sessions/main/calls/"+id, "/sessions/main/calls/"+id+"?whole=1", "/sessions/main/calls/"+a.Call,
		"/sessions/main/calls/none?new=1", "/changes?session=main", "/rules/dryrun?session=main")
	for _, role := range []access.Role{access.Viewer, access.Approver, access.Admin} {
		p.who.Role = role
		for _, path := range paths {
			w := p.do(t, http.MethodGet, path, nil)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `<main id="main"`) || !strings.Contains(w.Body.String(), "</html>") {
				t.Errorf("%s sees %s: %d\n%s", role, path, w.Code, w.Body)
			}
			if got := w.Header().Get("Content-Security-Policy"); got != Policy || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: policy %q", path, got)
			}
			if has := strings.Contains(w.Body.String(), `value="yes"`); path == "/asks" && has != (role != access.Viewer) {
				t.Errorf("%s can answer: %t", role, has)
			}
		}
	}
	if w := p.do(t, http.MethodPost, "/keys/code", url.Values{}); !strings.Contains(w.Body.String(), "/login?code=code_again") {
		t.Errorf("no code: %d %s", w.Code, w.Body)
	}
	for path, want := range map[string]int{"/none": 404, "/sessions/none": 404, "/sessions/main/calls/none": 404, "/tools/none": 404, "/asks/none": 404, "/artifacts/none": 404, "/sessions?before=x": 400, "/ledger?before=x": 400} {
		if w := p.do(t, http.MethodGet, path, nil); w.Code != want || !strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("GET %s: %d, want %d", path, w.Code, want)
		}
	}
	p.who = access.Identity{}
	if w := p.do(t, http.MethodGet, "/", nil); w.Code != http.StatusForbidden {
		t.Errorf("nobody gets %d", w.Code)
	}
	p.who = access.Identity{Name: "agent", Role: access.Agent}
	if w := p.do(t, http.MethodGet, "/asks", nil); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), a.Fingerprint) {
		t.Errorf("an agent gets %d", w.Code)
	}
	p.who = access.Identity{Name: "admin", Role: access.Admin, Via: "console"}
	p.do(t, http.MethodPost, "/asks/"+a.ID, url.Values{"answer": {"no"}, "fingerprint": {a.Fingerprint}})
	done()
}

// printers are the functions through which a template may print: what others wrote goes through internal/show.
var printers = []string{"line", "text", "cut", "cutshown", "shown", "json", "jsonOf", "plain", "value", "num", "bytes", "ms", "count", "stamp", "when", "ago", "url", "query", "asset", "csrf", "series", "own", "class", "effect"}

// UI-009: no template prints a value in a way that could show it as it is.
func TestUI009_TemplatesPrintThroughShow(t *testing.T) {
	p := open(t)
	seen := 0
	for name, page := range p.pages {
		for _, tmpl := range page.Templates() {
			if tmpl.Tree == nil {
				continue
			}
			walk(tmpl.Tree.Root, func(a *parse.ActionNode) {
				seen++
				if len(a.Pipe.Decl) > 0 {
					return // it sets a variable
				}
				last := a.Pipe.Cmds[len(a.Pipe.Cmds)-1]
				if id, ok := last.Args[0].(*parse.IdentifierNode); !ok || !slices.Contains(printers, id.Ident) && !strings.HasPrefix(id.Ident, "_html_template") {
					t.Errorf("%s: %s: %s prints a value as it is", name, tmpl.Name(), a)
				}
			})
		}
	}
	if seen < 300 {
		t.Fatalf("only %d actions were looked at", seen)
	}
}

// walk visits the actions of a template.
func walk(n parse.Node, visit func(*parse.ActionNode)) {
	branch := func(b *parse.BranchNode) {
		walk(b.List, visit)
		if b.ElseList != nil {
			walk(b.ElseList, visit)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		for _, c := range n.Nodes {
			walk(c, visit)
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.ActionNode:
		visit(n)
	}
}

// UI-001 … UI-006, UI-009: hostile text in every field is shown, and does nothing.
func TestUI_HostileTextIsHarmless(t *testing.T) {
	const evil = "<img src=x onerror=alert(1)>\u202e\u200b\"'><script>alert(2)</script>{{.}}"
	p := open(t)
	p.file(t, "ask/plain.txt", "one\n")
	p.call(t, "write_file", map[string]any{"path": "a" + strings.ReplaceAll(evil, "/", "_") + ".txt", "content": evil + "\n\x1b[2K\r" + strings.Repeat(" ", 500) + "tail\n"})
	p.call(t, "read_file", map[string]any{"path": evil})
	p.call(t, "write_file", map[string]any{"path": "no/" + evil, "content": "x"})
	p.call(t, "grep", map[string]any{"pattern": evil, "literal": true, "output_mode": "content"})
	req := tackle.NewRequest("list_dir", map[string]any{"path": "."})
	req.Session, req.Message = "s"+evil, evil
	if _, err := p.box.Call(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	a, done := p.asked(t, "write_file", map[string]any{"path": "ask/plain.txt", "content": evil + strings.Repeat("\t ", 300) + "; touch CANARY\n"})
	paths := []string{"/", "/asks", "/asks/" + a.ID, "/sessions", "/sessions/main", "/sessions/" + url.PathEscape("s"+evil), "/changes", "/ledger", "/usage", "/rules", "/rules/dryrun?session=main",
		"/rules/why?tool=edit&args=" + url.QueryEscape(evil), "/tools/edit?mode=" + url.QueryEscape(evil), "/sessions/" + url.PathEscape(evil), "/none" + url.PathEscape(evil)}
	calls, err := p.core.Calls(t.Context(), core.CallQuery{Session: "main"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls.Calls {
		paths = append(paths, "/sessions/main/calls/"+url.PathEscape(c.ID), "/sessions/main/calls/"+url.PathEscape(c.ID)+"?whole=1")
	}
	marks := 0
	for _, path := range paths {
		body := p.do(t, http.MethodGet, path, nil).Body.String()
		marks += strings.Count(body, `<b class="esc">\u{202E}</b>`)
		for _, bad := range []string{"<img src=x", "<script>alert", "\u202e", "\u200b", "\x1b", "\r"} {
			if i := strings.Index(withoutFields(body), bad); i >= 0 {
				t.Errorf("%s shows %q as it is: …%s…", path, bad, body[max(0, i-100):min(len(body), i+60)])
			}
		}
		for _, tag := range regexp.MustCompile(`<(script|style|iframe|object|embed|base)\b[^>]*>`).FindAllString(body, -1) {
			if !strings.HasPrefix(tag, `<script src="/assets/`) {
				t.Errorf("%s holds %s", path, tag)
			}
		}
		if m := regexp.MustCompile(`\s(on[a-z]+|style|hx-on[^=]*)=`).FindString(tags(body)); m != "" {
			t.Errorf("%s holds the attribute%s", path, m)
		}
		for _, m := range regexp.MustCompile(`(?:href|src|action|hx-get|hx-post)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			if to := html.UnescapeString(m[1]); to != "" && to[0] != '/' && to[0] != '?' && to[0] != '#' || strings.HasPrefix(to, "//") {
				t.Errorf("%s leads to %q", path, to)
			}
		}
	}
	if marks < 20 {
		t.Errorf("the hidden character is marked only %d times", marks)
	}
	if body := p.get(t, "/asks"); !strings.Contains(body, "; touch CANARY") {
		t.Error("the end of a padded line is not seen")
	}
	p.do(t, http.MethodPost, "/asks/"+a.ID, url.Values{"answer": {"no"}, "fingerprint": {a.Fingerprint}})
	done()
}

// withoutFields takes the values of attributes out of a page: a field of a form holds what will be sent again, as it is, and
// a browser draws it as the text of the field.
func withoutFields(body string) string {
	body = regexp.MustCompile(`(?s)<textarea[^>]*>.*?</textarea>`).ReplaceAllString(body, "")
	return regexp.MustCompile(`\s(value|data-copy|placeholder|hx-get|href|data-session)="[^"]*"`).ReplaceAllString(body, "")
}

// tags returns only the tags of a page, without the values of their attributes.
func tags(body string) string {
	return regexp.MustCompile(`="[^"]*"`).ReplaceAllString(strings.Join(regexp.MustCompile(`<[a-z][^>]*>`).FindAllString(regexp.MustCompile(`="[^"]*"`).ReplaceAllString(body, "=\"\""), -1), "\n"), "=")
}

// P8, P9: the forms of an ask answer it: once, for what is like it, some of its edits, no with words.
func TestP8_FormsAnswer(t *testing.T) {
	p := open(t)
	p.file(t, "ask/a.txt", "one\ntwo\nthree\n")
	edits := []any{}
	for _, w := range []string{"one", "two", "three"} {
		edits = append(edits, map[string]any{"old_string": w, "new_string": strings.ToUpper(w)})
	}
	a, done := p.asked(t, "multi_edit", map[string]any{"path": "ask/a.txt", "edits": edits})
	page := p.get(t, "/asks")
	for _, want := range []string{`name="fingerprint" value="` + a.Fingerprint + `"`, `name="csrf" value="secret-of-the-page"`, `type="radio" name="scope" value="like" checked`, "edit of ask/*.txt", "Edit 3", "look first"} {
		if !strings.Contains(page, want) {
			t.Errorf("the ask does not show %q:\n%s", want, page)
		}
	}
	for name, form := range map[string]url.Values{
		"nothing":             {},
		"no fingerprint":      {"answer": {"yes"}},
		"another fingerprint": {"answer": {"yes"}, "fingerprint": {"0000"}},
		"all but one":         {"answer": {"yes"}, "hunks": {"3"}, "hunk": {"1", "3"}, "fingerprint": {a.Fingerprint}},
		"no hunk":             {"answer": {"some"}, "fingerprint": {a.Fingerprint}},
		"a hunk of text":      {"answer": {"some"}, "hunk": {"x"}, "fingerprint": {a.Fingerprint}},
		"no scope":            {"answer": {"always"}, "fingerprint": {a.Fingerprint}},
		"a scope not offered": {"answer": {"always"}, "scope": {"century"}, "fingerprint": {a.Fingerprint}},
		"until never":         {"answer": {"always"}, "scope": {"until"}, "hours": {"-1"}, "fingerprint": {a.Fingerprint}},
	} {
		if w := p.do(t, http.MethodPost, "/asks/"+a.ID, form, "HX-Request", "true"); w.Code < 400 || !strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	p.who.Role = access.Viewer
	if w := p.do(t, http.MethodPost, "/asks/"+a.ID, url.Values{"answer": {"yes"}, "fingerprint": {a.Fingerprint}}, "HX-Request", "true"); w.Code != http.StatusForbidden {
		t.Errorf("a viewer answers: %d", w.Code)
	}
	p.who.Role = access.Approver
	w := p.do(t, http.MethodPost, "/asks/"+a.ID, url.Values{"answer": {"some"}, "hunk": {"3", "1"}, "why": {"two stays"}, "fingerprint": {a.Fingerprint}}, "HX-Request", "true")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Allowed 2 of 3 edits") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if res := done(); !res.OK() {
		t.Errorf("%s", res.Text())
	}
	if b, _ := os.ReadFile(filepath.Join(p.dir, "ask/a.txt")); string(b) != "ONE\ntwo\nTHREE\n" {
		t.Errorf("the file holds %q", b)
	}
	if w := p.do(t, http.MethodPost, "/asks/"+a.ID, url.Values{"answer": {"yes"}, "fingerprint": {a.Fingerprint}}, "HX-Request", "true"); w.Code != http.StatusNotFound && w.Code != http.StatusConflict {
		t.Errorf("a second answer: %d", w.Code)
	}

	b, done := p.asked(t, "write_file", map[string]any{"path": "ask/b.txt", "content": "b"})
	if w := p.do(t, http.MethodPost, "/asks/"+b.ID, url.Values{"answer": {"because"}, "words": {"write it to c.txt"}, "fingerprint": {b.Fingerprint}}); w.Code != http.StatusSeeOther {
		t.Errorf("without a script: %d", w.Code)
	}
	if res := done(); !strings.Contains(res.Text(), "write it to c.txt") {
		t.Errorf("the model reads %q", res.Text())
	}
	d, done := p.asked(t, "write_file", map[string]any{"path": "ask/d.txt", "content": "d"})
	p.do(t, http.MethodPost, "/asks/"+d.ID, url.Values{"answer": {"always"}, "scope": {"like"}, "fingerprint": {d.Fingerprint}})
	if res := done(); !res.OK() {
		t.Error(res.Text())
	}
	if res := p.call(t, "write_file", map[string]any{"path": "ask/e.txt", "content": "e"}); !res.OK() { // nobody is asked
		t.Error(res.Text())
	}
	if page := p.get(t, "/rules"); !strings.Contains(page, "ask/*.txt") || !strings.Contains(page, "by admin") {
		t.Error("the grant is not listed")
	}
}

// X5: a change is taken back from its call, after it was shown; and not by who may only look.
func TestX5_Undo(t *testing.T) {
	p := open(t)
	p.file(t, "a.txt", "old\n")
	id := p.call(t, "edit", map[string]any{"path": "a.txt", "old_string": "old", "new_string": "new"}).Meta.Call
	form := url.Values{"session": {"main"}, "call": {id}, "step": {"plan"}}
	p.who.Role = access.Viewer
	if w := p.do(t, http.MethodPost, "/changes/undo", form); w.Code != http.StatusForbidden {
		t.Errorf("a viewer: %d", w.Code)
	}
	p.who.Role = access.Approver
	if w := p.do(t, http.MethodPost, "/changes/undo", form, "HX-Request", "true"); w.Code != 200 || !strings.Contains(w.Body.String(), "This would take back") || !strings.Contains(w.Body.String(), `value="do"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if b, _ := os.ReadFile(filepath.Join(p.dir, "a.txt")); string(b) != "new\n" {
		t.Errorf("the preview changed the file: %q", b)
	}
	form.Set("step", "do")
	if w := p.do(t, http.MethodPost, "/changes/undo", form, "HX-Request", "true"); w.Code != 200 || !strings.Contains(w.Body.String(), "Taken back") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if b, _ := os.ReadFile(filepath.Join(p.dir, "a.txt")); string(b) != "old\n" {
		t.Errorf("the file holds %q", b)
	}
	if page := p.get(t, "/changes"); !strings.Contains(page, "taken back") {
		t.Error("the list does not say that the change was taken back")
	}
}

// X5: the form of every tool is made from its schema, and what it sends is what the example says.
func TestX5_FormsOfAllTools(t *testing.T) {
	p := open(t)
	all, err := p.core.Tools("")
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, tl := range all.Tools {
		want := exampleOf(&tl)
		if len(want) > 0 {
			examples++
		}
		page := p.get(t, "/tools/"+tl.Name+"?example=1")
		form := fieldsIn(t, page)
		got, problems := argsOf(tl.Schema, form)
		if len(problems) > 0 {
			t.Errorf("%s: %v", tl.Name, problems)
		}
		for name := range tl.Schema.Properties {
			if !strings.Contains(page, `name="/`+name) && !strings.Contains(page, "add:/"+name) && !strings.Contains(page, "<legend>"+name) {
				t.Errorf("%s: no field for %s", tl.Name, name)
			}
		}
		a, b := mustJSON(t, got), mustJSON(t, want)
		if a != b {
			t.Errorf("%s: the form sends %s, the example is %s", tl.Name, a, b)
		}
	}
	if examples < 5 {
		t.Errorf("only %d tools have an example", examples)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	inputTag  = regexp.MustCompile(`<input[^>]*\bname="(/[^"]*)"[^>]*\bvalue="([^"]*)"`)
	areaTag   = regexp.MustCompile(`(?s)<textarea[^>]*\bname="(/[^"]*)"[^>]*>(.*?)</textarea>`)
	selectTag = regexp.MustCompile(`(?s)<select[^>]*\bname="(/[^"]*)"[^>]*>(.*?)</select>`)
	optionTag = regexp.MustCompile(`<option value="([^"]*)" selected`)
)

// fieldsIn reads the fields of a page as a browser would send them.
func fieldsIn(t *testing.T, page string) url.Values {
	t.Helper()
	out := url.Values{}
	for _, m := range inputTag.FindAllStringSubmatch(page, -1) {
		attr := regexp.MustCompile(`type="number"[^>]*value="([^"]*)"`).FindStringSubmatch(m[0])
		if attr != nil {
			m[2] = attr[1]
		}
		out.Set(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	for _, m := range areaTag.FindAllStringSubmatch(page, -1) {
		out.Set(html.UnescapeString(m[1]), strings.ReplaceAll(html.UnescapeString(m[2]), "\n", "\r\n"))
	}
	for _, m := range selectTag.FindAllStringSubmatch(page, -1) {
		out.Set(html.UnescapeString(m[1]), "")
		if o := optionTag.FindStringSubmatch(m[2]); o != nil {
			out.Set(html.UnescapeString(m[1]), html.UnescapeString(o[1]))
		}
	}
	return out
}

// X5: a tool is tried: shown first, then run on the road like any other call.
func TestX5_TryATool(t *testing.T) {
	p := open(t)
	form := url.Values{"/path": {"new.txt"}, "/content": {"one\r\ntwo\r\n"}, "action": {"plan"}}
	if w := p.do(t, http.MethodPost, "/tools/write_file", form); w.Code != 200 || !strings.Contains(w.Body.String(), "It would run") || !strings.Contains(w.Body.String(), `+two</span>`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "new.txt")); err == nil {
		t.Error("showing it wrote the file")
	}
	form.Set("action", "run")
	w := p.do(t, http.MethodPost, "/tools/write_file", form)
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if b, _ := os.ReadFile(filepath.Join(p.dir, "new.txt")); string(b) != "one\ntwo\n" {
		t.Errorf("the file holds %q", b)
	}
	if page := p.get(t, w.Header().Get("Location")); !strings.Contains(page, "What changed") {
		t.Error("the page of the call does not show what changed")
	}
	for name, form := range map[string]url.Values{"no JSON": {"as": {"json"}, "args": {"{"}, "action": {"run"}}, "a list": {"as": {"json"}, "args": {"[]"}, "action": {"run"}}, "no number": {"/path": {"x"}, "/offset": {"many"}, "action": {"plan"}}} {
		if w := p.do(t, http.MethodPost, "/tools/read_file", form); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	row := p.do(t, http.MethodPost, "/tools/multi_edit", url.Values{"/path": {"a"}, "/edits/0/old_string": {"x"}, "/edits/0/new_string": {"y"}, "action": {"add:/edits"}}).Body.String()
	if !strings.Contains(row, `name="/edits/1/old_string"`) || !strings.Contains(row, ">x</textarea>") {
		t.Errorf("no second row: %s", row)
	}
	p.who.Role = access.Viewer
	if w := p.do(t, http.MethodPost, "/tools/write_file", form); w.Code != http.StatusForbidden {
		t.Errorf("a viewer runs a tool: %d", w.Code)
	}
}

// X5: artifacts are shown in place where nothing in them can run, and are a download of bytes otherwise.
func TestX5_Artifacts(t *testing.T) {
	p := open(t)
	put := func(name, mime, content string) string {
		a, err := p.box.ArtifactStore().Put(t.Context(), "main", name, mime, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		return a.ID
	}
	var long strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	tests := []struct{ name, mime, content, served, page string }{
		{"p.png", "image/png", "\x89PNG\r\n\x1a\n", "image/png", "<img src="},
		{"s.svg", "image/svg+xml", "<svg onload='alert(1)'/>", "application/octet-stream", "&lt;svg"},
		{"h.html", "text/html", "<script>alert(1)</script>", "application/octet-stream", "&lt;script"},
		{"x.bin", "application/x-thing", "\x00\x01", "application/octet-stream", "only for download"},
		{"d.pdf", "application/pdf", "%PDF-1.4", "application/pdf", "Open the PDF"},
		{"log.txt", "text/plain", long.String(), "application/octet-stream", "Next lines"},
	}
	for _, tt := range tests {
		id := put(tt.name, tt.mime, tt.content)
		if page := p.get(t, "/artifacts/"+id); !strings.Contains(page, tt.page) {
			t.Errorf("%s: the page does not hold %q", tt.name, tt.page)
		}
		w := p.do(t, http.MethodGet, "/artifacts/"+id+"/raw", nil)
		if got := w.Header().Get("Content-Type"); got != tt.served || w.Body.String() != tt.content {
			t.Errorf("%s is served as %s, want %s", tt.name, got, tt.served)
		}
		inlined := strings.HasPrefix(w.Header().Get("Content-Disposition"), "inline")
		if framed := w.Header().Get("X-Frame-Options") == "SAMEORIGIN"; framed != (tt.name == "d.pdf") || framed != strings.Contains(w.Header().Get("Content-Security-Policy"), "frame-ancestors 'self'") {
			t.Errorf("%s may be framed: %v", tt.name, w.Header())
		}
		if inlined == (tt.served == "application/octet-stream") || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %v", tt.name, w.Header())
		}
		if tt.name == "log.txt" {
			if page := p.get(t, "/artifacts/"+id+"?from=1001"); !strings.Contains(page, "<li>line 1001</li>") || strings.Contains(page, "<li>line 1000</li>") || !strings.Contains(page, "<li>line 2000</li>") {
				t.Error("the second piece is not lines 1001 to 2000")
			}
		}
	}
}

// X5: the first paint needs under 250 KB in all.
func TestX5_PagesAreSmall(t *testing.T) {
	p := open(t)
	for i := range 60 {
		p.call(t, "write_file", map[string]any{"path": fmt.Sprintf("f%d.txt", i), "content": "x\n"})
	}
	for _, path := range []string{"/", "/asks", "/sessions/main", "/tools", "/usage", "/ledger"} {
		body := p.get(t, path)
		total := len(body)
		for _, m := range regexp.MustCompile(`(?:src|href)="(/assets/[^"#]+)`).FindAllStringSubmatch(body, -1) {
			w := p.do(t, http.MethodGet, m[1], nil)
			if w.Code != 200 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %v", m[1], w.Code, w.Header())
			}
			total += w.Body.Len()
		}
		if total > 250_000 {
			t.Errorf("%s needs %d bytes", path, total)
		}
		t.Logf("%s: %d bytes, of them %d of the page", path, total, len(body))
	}
	names, err := fs.Glob(assets, "assets/*")
	if err != nil || len(names) < 6 {
		t.Errorf("assets: %v %v", names, err)
	}
}

func TestParseDiff(t *testing.T) {
	const in = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ f\n same\n--- old\n+++ new\n end\n\\ No newline at end of file\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
	files := parseDiff(in, 0)
	if len(files) != 2 || files[0].Name != "x" || files[1].Name != "y" || files[0].Added != 1 || files[0].Removed != 1 || files[1].Removed != 1 {
		t.Fatalf("%+v", files)
	}
	var kinds []string
	for _, l := range files[0].Lines {
		kinds = append(kinds, l.Kind)
	}
	if got := strings.Join(kinds, " "); got != "head head head hunk same del add same meta" {
		t.Errorf("kinds %s", got)
	}
	var long strings.Builder
	long.WriteString("--- a/x\n+++ b/x\n@@ -0,0 +1,5000 @@\n")
	for i := range 5000 {
		fmt.Fprintf(&long, "+line %d\n", i)
	}
	if f := parseDiff(long.String(), shortDiff); f[0].Missing != 5003-shortDiff || f[0].Added != 5000 || f[0].Lines[len(f[0].Lines)-1].Parts[0].Text != "line 4999" {
		t.Errorf("missing %d, added %d", f[0].Missing, f[0].Added)
	}
	h := parseHunk("-a big cat\n+a big dog\n")
	if len(h[0].Parts) != 2 || h[0].Parts[1] != (diffPart{"cat", true}) || h[1].Parts[1] != (diffPart{"dog", true}) {
		t.Errorf("%+v", h)
	}
}

func FuzzParseDiff(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
	f.Add("@@ -1 +1 @@\n-\\u{202E}é\n+\\u{202F}è\n")
	f.Fuzz(func(t *testing.T, s string) {
		lines := 0
		for _, file := range parseDiff(s, 0) {
			for _, l := range file.Lines {
				text := l.Sign
				for _, p := range l.Parts {
					text += p.Text
				}
				if want := strings.Split(strings.TrimSuffix(s, "\n"), "\n")[lines]; text != want {
					t.Fatalf("line %d is %q, not %q", lines, text, want)
				}
				lines++
			}
		}
		if s != "" && lines != strings.Count(strings.TrimSuffix(s, "\n"), "\n")+1 {
			t.Fatalf("%d lines of %q", lines, s)
		}
	})
}
