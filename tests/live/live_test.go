package live

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/provider"
	"github.com/tackle-dev/tackle/model/script"
)

func TestMain(m *testing.M) {
	proc.KeeperMain()
	os.Exit(m.Run())
}

// prefix begins the variables that name real models.
const prefix = "TEST_"

// project is what the model finds.
var project = map[string]string{
	"README.md": "# Fruit\n\n`sh total.sh` prints the sum of the column count of `fruit.csv`. `sh test.sh` tests it.\n",
	"total.sh":  "# Prints the sum of the column count of fruit.csv.\nawk -F, 'NR > 2 { sum += $2 } END { print sum }' fruit.csv\n",
	"fruit.csv": "fruit,count\napple,30\npear,7\nplum,5\n",
	"test.sh":   "got=$(sh total.sh)\nif [ \"$got\" != 42 ]; then echo \"FAIL: want 42, got $got\"; exit 1; fi\necho ok\n",
}

const prompt = `Two things, please:
1. A test of this project fails. Find out why, mend the script (not the test), and run the test.
2. Attached is a table. Make an xlsx workbook of it with media_query, and write the sum of its column "cents" as a plain number into the
   file sum.txt.
Say briefly what you did.`

const table = "item,cents\ntea,410\nbread,220\nolives,380\n"

// do gives the task to a model and judges what came of it.
func do(ctx context.Context, t *testing.T, m model.Model) agent.Turn {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "fruit")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range project {
		if err := os.WriteFile(filepath.Join(ws, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	box, err := tackle.Open(ctx, tackle.Config{Dir: ws, StateDir: filepath.Join(dir, "state"), NoFiles: true, Session: "live", Keeper: proc.Self(), Approve: tackle.ApproveAlways})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	a, err := box.Agent(tackle.AgentConfig{Model: m, Limits: agent.Limits{Rounds: 40, Time: 10 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Start(ctx, "live")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := box.AttachParts(ctx, "live", "shop.csv", "", []byte(table))
	if err != nil {
		t.Fatal(err)
	}
	turn, err := s.Run(ctx, append(parts, content.TextPart(prompt))...)
	if err != nil {
		t.Fatal(err)
	}
	h, err := box.History(ctx, "live")
	if err != nil {
		t.Fatal(err)
	}
	var used []string
	for _, c := range h.Since(0) {
		t.Logf("%s %s %s", c.Tool, c.Outcome, string(c.Args))
		used = append(used, c.Tool)
	}
	t.Logf("%+v\n%s", turn.Tally, turn.Text)
	if turn.End.Why != agent.Done {
		t.Errorf("the turn ended %q: %s", turn.End.Why, turn.End.Detail)
	}
	cmd := exec.CommandContext(ctx, "sh", "test.sh")
	cmd.Dir = ws
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the test of the project: %v: %s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(ws, "test.sh")); err != nil || string(got) != project["test.sh"] {
		t.Errorf("the test itself was changed: %v\n%s", err, got)
	}
	if got, err := os.ReadFile(filepath.Join(ws, "sum.txt")); err != nil || strings.TrimSpace(string(got)) != "1010" {
		t.Errorf("sum.txt: %q %v", got, err)
	}
	media, err := box.Media(ctx, "live")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(media, func(it tackle.MediaItem) bool {
		return strings.Contains(it.MIMEType, "spreadsheetml") && len(it.Derived) > 0
	}) {
		t.Errorf("no workbook was made of the table: %+v", media)
	}
	if !slices.Contains(used, "media_query") {
		t.Errorf("media_query was not used: %q", used)
	}
	return turn
}

// TestLive gives the task to the real models that the environment names.
func TestLive(t *testing.T) {
	env := func(name string) (string, bool) { return os.LookupEnv(prefix + name) }
	ran := 0
	for _, who := range []string{"openai", "anthropic", "gemini", "ollama"} {
		upper := strings.ToUpper(who)
		name, _ := env(upper + "_MODEL")
		if name == "" {
			for _, v := range []string{"_API_KEY", "_BASE_URL", "_HOST"} {
				if set, _ := env(upper + v); set != "" {
					t.Errorf("%s%s%s is set and no model is named; set %s%s_MODEL", prefix, upper, v, prefix, upper)
				}
			}
			continue
		}
		ran++
		t.Run(who, func(t *testing.T) {
			m, err := provider.Open(who+"/"+name, provider.Options{Env: env})
			if err != nil {
				t.Fatalf("%v (each variable with %s before its name)", err, prefix)
			}
			do(t.Context(), t, m)
		})
	}
	if ran == 0 {
		t.Skip("no real model is named, so none is asked: set TEST_OPENAI_MODEL with TEST_OPENAI_API_KEY (and TEST_OPENAI_BASE_URL for a compatible endpoint), TEST_ANTHROPIC_MODEL with TEST_ANTHROPIC_API_KEY, TEST_GEMINI_MODEL with TEST_GEMINI_API_KEY, or TEST_OLLAMA_MODEL (with TEST_OLLAMA_HOST), and run make live")
	}
}

const good = `
turns:
  - expect: {user: 'media id: (?P<id>\w+)', offers: [media_query, shell, edit]}
    calls:
      - {tool: shell, args: {command: sh test.sh}}
      - {tool: read_file, args: {path: total.sh}}
      - {tool: media_query, args: {media_id: '${id}', q: convert to=xlsx}}
  - expect: {tool: media_query, error: false}
    calls:
      - {tool: edit, args: {path: total.sh, old_string: NR > 2, new_string: NR > 1}}
      - {tool: write_file, args: {path: sum.txt, content: "1010\n"}}
  - calls: [{tool: shell, args: {command: sh test.sh}}]
  - expect: {tool: shell, result: ok}
    say: The header is one line, not two. The sum of the table is 1010.
`

// The task can be done, and the judge sees it.
func TestTheTaskCanBeDone(t *testing.T) {
	m, err := script.Parse("good", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if turn := do(t.Context(), t, m); !strings.Contains(turn.Text, "1010") || turn.Tally.Calls != 6 {
		t.Errorf("%+v", turn)
	}
}
