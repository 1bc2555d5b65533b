package attacks

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tests/internal/tree"
	"github.com/tackle-dev/tackle/tool"
)

// entry is one attack of a table. Exactly one of its fields is set.
type entry struct {
	Tests []string `json:"tests,omitempty"`
	Later string   `json:"later,omitempty"` // what it concerns is not there yet
}

// groups are the groups of attacks of each table.
var groups = map[string][]string{
	"policy.json":   {"policy", "approval-ui", "hooks", "self-modification", "secrets", "context", "http-server"},
	"files.json":    {"fs-path", "fs-race"},
	"resource.json": {"resource"},
	"media.json":    {"media"},
}

// Every attack has its tests, and the tests are there.
func TestAttacksHaveTests(t *testing.T) {
	tests, err := tree.Load(tree.Root)
	if err != nil {
		t.Fatal(err)
	}
	for file := range groups {
		t.Run(file, func(t *testing.T) { checkTable(t, file, tests) })
	}
}

func checkTable(t *testing.T, file string, tests *tree.Tests) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]entry
	if err := json.Unmarshal(b, &table); err != nil {
		t.Fatal(err)
	}
	if len(table) < 40 && file != "resource.json" && file != "media.json" || len(table) < 9 {
		t.Errorf("only %d attacks", len(table))
	}
	for id, e := range table {
		if (len(e.Tests) == 0) == (e.Later == "") {
			t.Errorf("%s: want either tests or why there are none yet", id)
		}
		for _, name := range e.Tests {
			if err := tests.Check(name); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	shared := tree.Shared()
	if shared == "" {
		t.Log("the list of attacks is not here (TACKLE_SHARED), so the table is not compared with it")
		return
	}
	if b, err = os.ReadFile(filepath.Join(shared, "attacks", "attacks.json")); err != nil {
		t.Fatal(err)
	}
	var attacks []struct{ ID, Group string }
	if err := json.Unmarshal(b, &attacks); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, a := range attacks {
		if !slices.Contains(groups[file], a.Group) {
			continue
		}
		seen++
		if _, ok := table[a.ID]; !ok {
			t.Errorf("%s (%s) is not in the table", a.ID, a.Group)
		}
	}
	if seen != len(table) {
		t.Errorf("the list has %d attacks of these groups, the table %d", seen, len(table))
	}
}

// place is a workspace and a state folder below dir, and a person's configuration.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T, files map[string]string) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t, dir}
	p.put("ws/a.txt", "one\n")
	for name, content := range files {
		p.put(name, content)
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	return p
}

func (p *place) put(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) open(cfg tackle.Config) *tackle.Box {
	p.t.Helper()
	cfg.Dir, cfg.StateDir = filepath.Join(p.dir, "ws"), filepath.Join(p.dir, "state")
	box, err := tackle.Open(p.t.Context(), cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { box.Close() })
	return box
}

func call(t *testing.T, box *tackle.Box, name string, args any) tool.Result {
	t.Helper()
	res, err := box.Call(t.Context(), tackle.NewRequest(name, args))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// always says yes to everything, as a person who reads nothing.
func always(t *testing.T, seen func(*ask.Request)) []ask.Face {
	return []ask.Face{ask.FaceFunc(func(_ context.Context, r *ask.Request) (ask.Answer, error) {
		if seen != nil {
			seen(r)
		}
		return ask.Answer{Allow: true, Fingerprint: r.Fingerprint, Approver: ask.Approver{Name: "reviewer", Face: "test"}}, nil
	})}
}

// SELF-008: trust belongs to a file's content in its folder; a worktree that points at a trusted one inherits nothing.
func TestSELF008_ForgedWorktree(t *testing.T) {
	rules := "posture: auto\nrules:\n  - read_file: {\"/srv/**\": allow}\n"
	p := newPlace(t, map[string]string{"trusted/.git/HEAD": "ref: x\n", "trusted/.tackle/config.yaml": rules,
		"ws/.git": "gitdir: ../trusted/.git\n", "ws/.tackle/config.yaml": rules})
	trusted, err := tackle.Open(t.Context(), tackle.Config{Dir: filepath.Join(p.dir, "trusted"), StateDir: filepath.Join(p.dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	defer trusted.Close()
	if _, err := trusted.TrustProject(); err != nil {
		t.Fatal(err)
	}
	for _, pointer := range []string{"", "ws/.git/commondir"} {
		if pointer != "" { // a folder that points there
			if err := os.Remove(filepath.Join(p.dir, "ws/.git")); err != nil {
				t.Fatal(err)
			}
			p.put(pointer, filepath.Join(p.dir, "trusted", ".git")+"\n")
		}
		for _, f := range p.open(tackle.Config{}).Settings().Files {
			if f.Layer == permission.Project && f.Trusted {
				t.Errorf("%s is trusted", f.Path)
			}
		}
	}
}

// SELF-011: a project's .env says nothing to us: it is not read for our variables, and it cannot move our folders.
func TestSELF011_DotEnv(t *testing.T) {
	p := newPlace(t, map[string]string{
		"ws/.env":                   "TACKLE_POSTURE=auto\nXDG_CONFIG_HOME=./.x\nTACKLE_STATE_DIR=./.x/state\n",
		"ws/.x/tackle/config.yaml":  "posture: auto\nrules:\n  - \"*\": {\"/**\": allow}\n",
		"config/tackle/config.yaml": "posture: plan\n",
	})
	box := p.open(tackle.Config{})
	if got := box.Settings().Config.Posture; got != permission.Plan {
		t.Errorf("posture %s", got)
	}
	if res := call(t, box, "write_file", map[string]any{"path": "b", "content": "x"}); res.Denied == nil {
		t.Errorf("got %s", res.Text())
	}
}

// SELF-018: no tool writes our own state, whatever rules and people say, and the record still verifies.
func TestSELF018_OwnState(t *testing.T) {
	p := newPlace(t, nil)
	box := p.open(tackle.Config{Faces: always(t, nil), Rules: []permission.Rule{{Permission: "*", Pattern: "/**"}, {Permission: "*", Pattern: "**"}}})
	if res := call(t, box, "edit", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"}); !res.OK() {
		t.Fatal(res.Text())
	}
	var files []string
	err := filepath.WalkDir(filepath.Join(p.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		files = append(files, path)
		return err
	})
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	before := digestOf(t, files)
	for _, path := range append(files, filepath.Join(p.dir, "state", "new"), filepath.Join(p.dir, "state", "sub", "new")) {
		for name, args := range map[string]map[string]any{
			"write_file":  {"path": path, "content": "x"},
			"edit":        {"path": path, "old_string": "a", "new_string": "b"},
			"multi_edit":  {"path": path, "edits": []map[string]string{{"old_string": "a", "new_string": "b"}}},
			"delete_file": {"path": path},
			"move_file":   {"path": path, "to": filepath.Join(p.dir, "ws", "stolen")},
			"copy_file":   {"path": "a.txt", "to": path},
			"apply_patch": {"patch": "*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch\n"},
		} {
			if _, known := box.Definition(name, "code"); !known {
				continue
			}
			if res := call(t, box, name, args); res.OK() {
				t.Errorf("%s %s: %s", name, path, res.Text())
			}
		}
	}
	if after := digestOf(t, files); after != before {
		t.Error("the state changed beyond our own record")
	}
	if _, err := box.VerifyLedger(t.Context()); err != nil {
		t.Error(err)
	}
}

// digestOf joins what must not change: the images and keys of our state, not the database that records the attempts.
func digestOf(t *testing.T, files []string) string {
	t.Helper()
	var out strings.Builder
	for _, f := range files {
		if info, err := os.Lstat(f); err != nil || !info.Mode().IsRegular() || strings.Contains(filepath.Base(f), ".db") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, ".log") || strings.Contains(f, "lock") {
			continue
		}
		out.WriteString(f + "\x00" + string(b) + "\x00")
	}
	return out.String()
}

// POL-004: a tool that is denied is denied under every name.
func TestPOL004_OtherNames(t *testing.T) {
	p := newPlace(t, map[string]string{"config/tackle/config.yaml": "tools:\n  write_file: {name: put}\n"})
	for _, denied := range []string{"edit", "write_file"} {
		box := p.open(tackle.Config{Rules: []permission.Rule{{Permission: denied, Pattern: "*", Action: tool.Deny}}})
		for _, name := range []string{"put", "write_file", "edit"} {
			if slices.Contains(box.Names(box.View()), name) {
				t.Errorf("a rule against %s leaves %s in the list", denied, name)
			}
			if res := call(t, box, name, map[string]any{"path": "x", "content": "x", "old_string": "a", "new_string": "b"}); res.OK() {
				t.Errorf("a rule against %s: %s ran", denied, name)
			}
		}
	}
}

// POL-015: the calls of a batch are asked and recorded one by one, like single ones.
func TestPOL015_Batch(t *testing.T) {
	p := newPlace(t, nil)
	var mu sync.Mutex
	asked := map[string]int{}
	box := p.open(tackle.Config{Rules: []permission.Rule{{Permission: "edit", Pattern: "*", Action: tool.Ask}}, Faces: always(t, func(r *ask.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Call]++
	})})
	var reqs []tackle.Request
	for _, name := range []string{"b", "c", "d"} {
		req := tackle.NewRequest("write_file", map[string]any{"path": name, "content": name})
		req.ID = "call-" + name
		reqs = append(reqs, req)
	}
	if _, err := box.CallAll(t.Context(), reqs...); err != nil {
		t.Fatal(err)
	}
	entries, err := box.Ledger(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, req := range reqs {
		kinds := ""
		for _, e := range entries {
			if e.Call == req.ID {
				kinds += string(e.Kind) + " " + e.By + "; "
			}
		}
		if asked[req.ID] != 1 || kinds != "request rule program:1; decision person reviewer (test); ran person reviewer (test); " {
			t.Errorf("%s: asked %d times, recorded as %s", req.ID, asked[req.ID], kinds)
		}
	}
}

// SEC-002: what we keep of files is for the person alone.
func TestSEC002_StateIsPrivate(t *testing.T) {
	p := newPlace(t, map[string]string{"ws/.env": "KEY=canary\n"})
	box := p.open(tackle.Config{Faces: always(t, nil)})
	if res := call(t, box, "edit", map[string]any{"path": ".env", "old_string": "canary", "new_string": "other"}); !res.OK() {
		t.Fatal(res.Text())
	}
	seen := 0
	err := filepath.WalkDir(filepath.Join(p.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		seen++
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), "canary") && !private(p.dir, path) {
			t.Errorf("%s holds what was in .env and has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || seen < 3 {
		t.Error(seen, err)
	}
}

// private reports whether a file, or a folder between it and top, is closed to others.
func private(top, path string) bool {
	for ; path != top; path = filepath.Dir(path) {
		if info, err := os.Lstat(path); err == nil && info.Mode().Perm()&0o077 == 0 {
			return true
		}
	}
	return false
}

// SEC-003: a refusal does not tell whether the file is there, what it is, and whether a guess at its content is right: not
// where a rule denies, not where a posture does, and not where a person would be asked and nobody is there.
func TestSEC003_NoOracle(t *testing.T) {
	deny := []permission.Rule{{Permission: "*", Pattern: "private/**", Action: tool.Deny, Reason: "ask the vault"}}
	for _, policy := range []struct {
		name  string
		cfg   tackle.Config
		there string // right, a folder, and nothing
	}{
		{"a rule denies", tackle.Config{Rules: deny}, "private/there private/folder private/gone1"},
		{"a rule denies changes", tackle.Config{Rules: []permission.Rule{{Permission: "edit", Pattern: ".env*", Action: tool.Deny}}}, ".env .env.folder .env.gone"},
		{"guarded, nobody there", tackle.Config{}, ".env .env.folder .env.gone"},
		{"guarded, never", tackle.Config{Approve: tackle.ApproveNever}, ".env .env.folder .env.gone"},
		{"auto, nobody there", tackle.Config{Posture: "auto"}, ".env .env.folder .env.gone"},
		{"ci", tackle.Config{Posture: "ci"}, ".env .env.folder .env.gone"},
		{"plan", tackle.Config{Posture: "plan"}, ".env .env.folder .env.gone"},
		{"outside, nobody there", tackle.Config{}, "../out/there ../out/folder ../out/gone1"},
	} {
		t.Run(policy.name, func(t *testing.T) {
			paths := strings.Fields(policy.there)
			secret := "KEY=secret\n"
			p := newPlace(t, map[string]string{"ws/" + paths[0]: secret, "ws/" + paths[1] + "/x": secret})
			box := p.open(policy.cfg)
			pair := func(old string) map[string]string { return map[string]string{"old_string": old, "new_string": "b"} }
			for name, calls := range map[string][]map[string]any{
				"read_file":   {{}},
				"list_dir":    {{}},
				"grep":        {{"pattern": "secret"}, {"pattern": "nothing"}},
				"glob":        {{"pattern": "**"}},
				"edit":        {{"old_string": "KEY=s", "new_string": "b"}, {"old_string": "KEY=t", "new_string": "b"}},
				"write_file":  {{"content": "x"}, {"content": secret}},
				"multi_edit":  {{"edits": []any{pair("KEY=s")}}, {"edits": []any{pair("KEY=t")}}, {"edits": []any{pair("KEY=s"), pair("KEY=t")}}},
				"delete_file": {{}},
				"copy_file":   {{"to": "copy"}},
				"move_file":   {{"to": "moved"}},
			} {
				texts := map[string]string{}
				for _, path := range paths {
					for i, args := range calls {
						args["path"] = path
						res := call(t, box, name, args)
						if res.OK() {
							t.Errorf("%s %v: %s", name, args, res.Text())
						}
						texts[plain(res, path)] = fmt.Sprintf("%s, call %d", path, i)
					}
				}
				if len(texts) != 1 {
					t.Errorf("%s tells one from the other:", name)
					for text, of := range texts {
						t.Errorf("%s: %s", of, text)
					}
				}
			}
			if b, err := os.ReadFile(filepath.Join(p.dir, "ws", paths[0])); err != nil || string(b) != secret {
				t.Errorf("the file holds %q %v", b, err)
			}
		})
	}
}

var ticket = regexp.MustCompile(`ask_[a-z0-9]+`)

// plain is the text of a refusal without what differs by chance or by the path that was asked about.
func plain(res tool.Result, path string) string {
	return ticket.ReplaceAllString(strings.NewReplacer(path, "PATH", filepath.Base(path), "PATH").Replace(res.Text()), "TICKET")
}

// P6, P8: a folder outside of the workspace that a person lets be read is shown, and nothing else of it than that: secrets and
// what a rule denies stay back.
func TestP8_ApprovedFolderIsShown(t *testing.T) {
	p := newPlace(t, map[string]string{"other/a.txt": "word\n", "other/.env": "word\n", "other/denied/x.txt": "word\n", "beside/b.txt": "word\n"})
	box := p.open(tackle.Config{Faces: always(t, nil), Rules: []permission.Rule{{Permission: "*", Pattern: filepath.Join(p.dir, "other/denied") + "/**", Action: tool.Deny}}})
	for name, args := range map[string]map[string]any{
		"list_dir": {"depth": 3}, "glob": {"pattern": "**", "no_ignore": true}, "grep": {"pattern": "word", "no_ignore": true},
	} {
		args["path"] = filepath.Join(p.dir, "other")
		res := call(t, box, name, args)
		if !res.OK() || !strings.Contains(res.Text(), "a.txt") || strings.Contains(res.Text(), ".env") || strings.Contains(res.Text(), "x.txt") {
			t.Errorf("%s: %s", name, res.Text())
		}
	}
}
