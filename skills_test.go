package tackle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// A6, P6: skills of the person are read without an ask although they lie outside of the workspace, also where a link leads to
// them; a skill of the project that is a link out of it is not read.
func TestA6_SkillsOfThePerson(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, ws, far := filepath.Join(root, "home"), filepath.Join(root, "ws"), filepath.Join(root, "far")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	for name, dir := range map[string]string{"mine": filepath.Join(home, ".claude/skills/mine"), "linked": filepath.Join(far, "linked"), "theirs": filepath.Join(far, "theirs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: d\n---\nText of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(ws, ".agents/skills"), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{filepath.Join(home, ".claude/skills/linked"): filepath.Join(far, "linked"), filepath.Join(ws, ".agents/skills/theirs"): filepath.Join(far, "theirs")} {
		if err := os.Symlink(to, from); err != nil {
			t.Skip("this machine makes no links: ", err)
		}
	}
	box, err := Open(t.Context(), Config{Dir: ws, StateDir: filepath.Join(root, "state"), Approve: ApproveNever})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, tt := range []struct {
		tool, name string
		ok         bool
	}{{"skills_use", "mine", true}, {"read_skill", "mine", true}, {"skills_use", "linked", true}, {"read_skill", "linked", true}, {"skills_use", "theirs", false}, {"read_skill", "theirs", false}} {
		res, err := box.Call(t.Context(), NewRequest(tt.tool, map[string]any{"name": tt.name}))
		if err != nil {
			t.Fatal(err)
		}
		if got := res.OK() && strings.Contains(res.Text(), "Text of "+tt.name); got != tt.ok {
			t.Errorf("%s %s: %v, want %v\n%s", tt.tool, tt.name, got, tt.ok, res.Text())
		}
	}
	// Nothing else outside becomes readable by it.
	res, err := box.Call(t.Context(), NewRequest("read_file", map[string]any{"path": filepath.Join(far, "theirs", "SKILL.md")}))
	if err != nil || res.OK() {
		t.Errorf("%v\n%s", err, res.Text())
	}
}

// A6, P6: a project shows no file of the person as the description of a skill, neither by a link of the file nor by one of a
// folder; links within the workspace and to the person's skills are followed.
func TestA6_NoSkillLeadsOut(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, ws := filepath.Join(root, "home"), filepath.Join(root, "ws")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	for path, text := range map[string]string{
		"home/key": "The key is hidden.\n", "home/far/SKILL.md": "The folder is hidden.\n", "home/.claude/skills/mine/SKILL.md": "Mine is shown.\n",
		"ws/lib/near/SKILL.md": "Near is shown.\n", "ws/.agents/skills/key/x": "",
	} {
		at := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"key/SKILL.md": "home/key", "far": "home/far", "near": "ws/lib/near", "ours": "home/.claude/skills/mine"} {
		if err := os.Symlink(filepath.Join(root, filepath.FromSlash(to)), filepath.Join(ws, ".agents/skills", filepath.FromSlash(from))); err != nil {
			t.Skip("this machine makes no links: ", err)
		}
	}
	box, err := Open(t.Context(), Config{Dir: ws, StateDir: filepath.Join(root, "state")})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	all, err := box.Skills(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, s := range all.Skills {
		said += s.Description + s.Body
	}
	for _, f := range all.Findings {
		said += f.Reason
	}
	if strings.Contains(said, "is hidden") || strings.Count(said, "leads out of the workspace") != 2 || !strings.Contains(said, "Near is shown") || !strings.Contains(said, "Mine is shown") {
		t.Errorf("got %q", said)
	}
}

// asked is a model that keeps what it was asked.
type asked struct{ system []string }

func (m *asked) Info() model.Info { return model.Info{Provider: "test", Name: "asked"} }

func (m *asked) Stream(_ context.Context, req model.Request, _ func(model.Piece) error) (model.Answer, error) {
	m.system = append(m.system, req.System)
	part := content.TextPart("Done.")
	return model.Answer{Message: model.Message{Role: model.Assistant, Blocks: []model.Block{{Part: &part}}}, Stop: model.End}, nil
}

// A6: an agent is told which skills there are, but for those that people start, in modes that can use them; the text stays the
// same from turn to turn.
func TestA6_PromptNamesSkills(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(os.Getenv("HOME"), ".config"))
	for name, more := range map[string]string{"notes": "", "person": "disable-model-invocation: true\n"} {
		at := filepath.Join(dir, ".agents/skills", name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Text about "+name+".\n"+more+"---\nx"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	box, err := Open(t.Context(), Config{Dir: dir, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, tt := range []struct {
		mode string
		want bool
	}{{"code", true}, {"explore", false}} {
		m := &asked{}
		a, err := box.Agent(AgentConfig{Model: m, Mode: tt.mode})
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Run(t.Context(), "skills-"+tt.mode, "Hello.")
		if err == nil {
			_, err = a.Run(t.Context(), "skills-"+tt.mode, "Again.")
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(m.system) < 2 || m.system[0] != m.system[len(m.system)-1] {
			t.Errorf("%s: the prompt changes: %q", tt.mode, m.system)
		}
		if got := strings.Contains(m.system[0], "notes: Text about notes."); got != tt.want || strings.Contains(m.system[0], "person") && tt.want && strings.Contains(m.system[0], "Text about person") {
			t.Errorf("%s: %v, want %v\n%s", tt.mode, got, tt.want, m.system[0])
		}
	}
}
