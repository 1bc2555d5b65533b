package skill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/skill"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
	"github.com/tackle-dev/tackle/toolbox"
)

type world struct {
	t    *testing.T
	dir  string
	host host.Host
	cfg  Config
	box  *toolbox.Box
}

// newWorld is a workspace with skills in its folder "skills".
func newWorld(t *testing.T, files map[string]string, layers ...permission.Layer) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(dir, "ws")}
	for name, content := range files {
		at := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if w.host, err = local.Open(local.Config{Roots: []host.Root{{Path: w.dir}}, StateDir: filepath.Join(dir, "state")}); err != nil {
		t.Fatal(err)
	}
	skills := filepath.Join(w.dir, "skills")
	w.cfg = Config{
		Load: func(ctx context.Context) (*skill.Catalogue, error) {
			return skill.Load(ctx, []skill.Place{{Name: "project", Dir: skills, FS: os.DirFS(skills)}})
		},
		Known: func(_ *tool.Call, name string) bool { return name == "edit" },
	}
	gate, err := permission.New(permission.Options{Facts: permission.FactsOf(w.host.Info()), Layers: layers})
	if err != nil {
		t.Fatal(err)
	}
	if w.box, err = toolbox.New(toolbox.Config{Host: w.host, Gate: gate, Env: tool.Environment{Mode: "code"}}); err != nil {
		t.Fatal(err)
	}
	for _, tl := range Tools(w.cfg) {
		if err := w.box.Register(tl, "code"); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) call(name, args string) string {
	w.t.Helper()
	res, err := w.box.Call(w.t.Context(), toolbox.Request{Session: "s1", Mode: "code", Tool: name, Args: []byte(args)})
	if err != nil {
		w.t.Fatal(err)
	}
	return res.Text()
}

var tree = map[string]string{
	"skills/deploy/SKILL.md":         "---\nname: deploy\ndescription: Put the program live.\nallowed-tools: [edit, Bash(git *)]\n---\nRun scripts/go.sh for $ARGUMENTS.",
	"skills/deploy/scripts/go.sh":    "echo go\n",
	"skills/deploy/references/a.md":  "Style.\n",
	"skills/deploy/data.bin":         "\x00\x01",
	"skills/notes/SKILL.md":          "---\nname: notes\ndescription: Write release notes.\n---\nWrite them.",
	"skills/person/SKILL.md":         "---\nname: person\ndescription: For people.\ndisable-model-invocation: true\n---\nx",
	"skills/broken/SKILL.md":         "---\nname: broken\n",
	"secret.txt":                     "not of a skill",
	"skills/deploy/.env":             "TOKEN=x",
	"skills/deploy/sub/s/s/s/far.md": "far",
}

func TestContract(t *testing.T) {
	w := newWorld(t, tree)
	for _, tl := range Tools(w.cfg) {
		good, bad := []string{`{"name":"deploy"}`}, map[string]tool.Code{`{}`: tool.MissingParameter, `{"name":"none"}`: tool.NotFound}
		switch tl.Definition().Name {
		case "list_skills":
			good, bad = []string{`{}`, `{"query":"x","limit":1}`}, nil
		case "read_skill":
			good = append(good, `{"name":"deploy","file":"references/a.md"}`, `{"name":"deploy","file":"none"}`)
			bad[`{"name":"deploy","file":"../notes/SKILL.md"}`] = tool.InvalidParameter
			bad[`{"name":"deploy","file":"/etc/passwd"}`] = tool.InvalidParameter
		case "skills_use":
			bad[`{"name":"person"}`] = tool.OperationNotAllowed
		}
		t.Run(tl.Definition().Name, func(t *testing.T) {
			def := tl.Definition()
			def.Example = good[0]
			tooltest.Run(t, again{tl, def}, tooltest.World{Host: w.host, Dir: w.dir, Good: good, Bad: bad})
		})
		if s := fmt.Sprint(tl.Definition().Schema) + tl.Definition().Description; strings.Contains(s, "deploy") {
			t.Errorf("%s names a skill in what models see (A6)", tl.Definition().Name)
		}
	}
}

// again is a tool with an example that exists in the world.
type again struct {
	tool.Tool
	def tool.Definition
}

func (a again) Definition() tool.Definition { return a.def }

// A6: the three tools say what there is, what is in it, and give the instructions.
func TestA6_Tools(t *testing.T) {
	w := newWorld(t, tree)
	for _, tt := range []struct {
		tool, args  string
		want, lacks []string
	}{
		{"list_skills", `{}`, []string{"deploy (project): Put the program live.", "notes (project)", "person (project) [people start it]", "Not usable: ", "add a line ---"}, nil},
		{"list_skills", `{"query":"RELEASE write"}`, []string{"notes (project)"}, []string{"deploy (project)"}},
		{"list_skills", `{"query":"zebra"}`, []string{`No skill has the words "zebra"; there are 3 skills.`}, nil},
		{"list_skills", `{"limit":1}`, []string{"deploy", "2 more; go on with offset 1."}, []string{"notes ("}},
		{"list_skills", `{"offset":9}`, []string{"There are 3 skills; offset 9 is behind the last one."}, nil},
		{"skills_use", `{"name":"deploy","arguments":"the site"}`, []string{"Skill deploy (project).", "Its files are in " + filepath.Join(w.dir, "skills/deploy"), "tools that are not here: Bash(git *).", "Run scripts/go.sh for the site."}, []string{"Arguments:"}},
		{"skills_use", `{"name":"Notes","arguments":"v2"}`, []string{"Write them.\n\nArguments: v2"}, []string{"not here"}},
		{"skills_use", `{"name":"deplyo"}`, []string{"NOT_FOUND", `there is no skill "deplyo"`, "Did you mean deploy?"}, nil},
		{"skills_use", `{"name":"zzzzzzzz"}`, []string{"There are: deploy, notes, person."}, nil},
		{"skills_use", `{"name":"broken"}`, []string{"broken/SKILL.md looks like it and cannot be used", "add a line ---"}, nil},
		{"skills_use", `{"name":"person"}`, []string{"started by people only", "Ask the person"}, nil},
		{"read_skill", `{"name":"deploy"}`, []string{"description: Put the program live.", "for $ARGUMENTS", "Files beside it: data.bin, references/a.md, scripts/go.sh"}, []string{"secret", ".env", "far.md"}},
		{"read_skill", `{"name":"deploy","file":"references/a.md"}`, []string{"Style."}, nil},
		{"read_skill", `{"name":"deploy","file":"none.md"}`, []string{`skill deploy has no file "none.md"`, "It has: data.bin, references/a.md, scripts/go.sh"}, nil},
		{"read_skill", `{"name":"deploy","file":"data.bin"}`, []string{"is no text", "read_file"}, nil},
		{"read_skill", `{"name":"deploy","file":"../../secret.txt"}`, []string{"is not in the folder of skill deploy"}, []string{"not of a skill"}},
	} {
		got := w.call(tt.tool, tt.args)
		for _, s := range tt.want {
			if !strings.Contains(got, s) {
				t.Errorf("%s %s gave\n%s\nwant %q in it", tt.tool, tt.args, got, s)
			}
		}
		for _, s := range tt.lacks {
			if strings.Contains(got, s) {
				t.Errorf("%s %s gave\n%s\nwant no %q in it", tt.tool, tt.args, got, s)
			}
		}
	}
}

// P12, F8: what may not be read is not read as part of a skill, and a link out of its folder is judged by where it leads.
func TestA6_PolicyHolds(t *testing.T) {
	w := newWorld(t, tree, permission.Layer{Name: "user", Rules: []permission.Rule{
		{Permission: "read_file", Pattern: "skills/notes/**", Action: tool.Deny}, {Permission: "skills_use", Pattern: "skills/notes/**", Action: tool.Deny},
	}})
	if err := os.Symlink("/etc/hostname", filepath.Join(w.dir, "skills/deploy/link.md")); err != nil {
		t.Skip("this machine makes no links: ", err)
	}
	for _, tt := range [][2]string{
		{"read_skill", `{"name":"notes"}`}, {"skills_use", `{"name":"notes"}`}, {"read_skill", `{"name":"deploy","file":"link.md"}`}, {"read_skill", `{"name":"deploy","file":".env"}`},
	} {
		if got := w.call(tt[0], tt[1]); !strings.Contains(got, "DENIED") && !strings.Contains(got, "denied") {
			t.Errorf("%s %s gave\n%s\nwant a denial", tt[0], tt[1], got)
		}
	}
	if got := w.call("read_skill", `{"name":"deploy"}`); strings.Contains(got, "link.md") {
		t.Errorf("a file that may not be read is named:\n%s", got)
	}
}

func TestNoSkills(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "x"})
	if got := w.call("list_skills", `{}`); got != "There are no skills here." {
		t.Errorf("got %q", got)
	}
	if got := w.call("skills_use", `{"name":"x"}`); !strings.Contains(got, "There are no skills here; go on without one.") {
		t.Errorf("got %q", got)
	}
}

// P2, A6: what no rule lets read_skill read, skills_use does not give either.
func TestA6_UseObeysRulesForReading(t *testing.T) {
	w := newWorld(t, map[string]string{"skills/a/SKILL.md": "---\nname: a\ndescription: d\n---\nThe text."},
		permission.Layer{Name: "user", Rules: []permission.Rule{{Permission: tool.ReadPermission, Pattern: "skills/**", Action: tool.Deny}}})
	for _, name := range []string{"read_skill", "skills_use"} {
		if got := w.call(name, `{"name": "a"}`); strings.Contains(got, "The text") || !strings.Contains(got, "PERMISSION_DENIED") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
