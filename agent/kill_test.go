package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/agenttest"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/tool"
)

// childVariable holds the folder of the process that is killed.
const childVariable = "TACKLE_AGENT_KILL_TEST"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	killRounds = 6  // of the session that is killed
	kills      = 50 // processes that are killed
)

// killPlan is the model's: each round it counts twice, which can never be done again, writes a file, edits one, and reads it.
func killPlan(_ context.Context, n int, _ model.Request) (model.Answer, error) {
	if n >= killRounds {
		return agenttest.Says("done")
	}
	m := model.Message{Role: model.Assistant}
	for i, c := range []string{
		fmt.Sprintf(`count {"text": "%d.1"}`, n),
		fmt.Sprintf(`write_file {"path": "f%d.txt", "content": "round %d\n"}`, n, n),
		fmt.Sprintf(`edit {"path": "log.txt", "old_string": "END", "new_string": "round %d\nEND"}`, n),
		`read_file {"path": "log.txt"}`,
		fmt.Sprintf(`count {"text": "%d.2"}`, n),
	} {
		name, args, _ := strings.Cut(c, " ")
		m.Blocks = append(m.Blocks, model.Block{Call: &model.Call{ID: fmt.Sprint(n, "_", i), Name: name, Arguments: json.RawMessage(args)}})
	}
	return model.Answer{Message: m, Stop: model.Calls}, nil
}

type countInput struct {
	Text string `json:"text" jsonschema:"What to count"`
}

// count appends a line to a file that no journal knows: doing it twice shows.
func count(dir string) tool.Tool {
	return tool.Define(tool.Spec{Name: "count", Category: "test", Description: "Count something."}, func(_ context.Context, _ *tool.Call, in countInput) (tool.Action, error) {
		return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Execute}}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
			f, err := os.OpenFile(filepath.Join(dir, "counted"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return tool.Result{}, err
			}
			_, err = fmt.Fprintln(f, in.Text)
			return tool.TextResult("counted "+in.Text, nil), errors.Join(err, f.Close())
		}}, nil
	})
}

// child begins the session or goes on with it, and says on its standard output which events it was told are stored.
func child(dir string) error {
	ctx := context.Background()
	box, err := tackle.Open(ctx, tackle.Config{Dir: filepath.Join(dir, "ws"), StateDir: filepath.Join(dir, "state"), NoFiles: true,
		Approve: tackle.ApproveAlways, Tools: []tackle.Tool{{Tool: count(dir)}}})
	if err != nil {
		return err
	}
	a, err := box.Agent(tackle.AgentConfig{Model: agenttest.Model(killPlan), Instructions: []agent.Instruction{}, Watch: func(_ string, u agent.Update) {
		if u.Event != nil {
			fmt.Println(u.Event.Seq, u.Event.Kind)
		}
	}})
	if err != nil {
		return err
	}
	s, err := a.Open(ctx, "killed")
	if err == nil && s.State().Turns > 0 {
		_, err = s.Resume(ctx)
	} else if err == nil || errors.Is(err, agent.ErrNotFound) {
		_, err = a.Run(ctx, "killed", "Count.")
	}
	if err != nil {
		return err
	}
	fmt.Println("over")
	return box.Close()
}

// A3: processes are killed with SIGKILL at random moments, and others go on. No event that was shown is lost, no call that cannot be
// repeated is repeated, changes are made once, and of what may have run it is said that nobody knows.
func TestA3_Killed(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	killed, sessions := 0, 0
	var all outcome
	for killed < kills {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "ws"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "ws", "log.txt"), []byte("END\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		shown := map[string]bool{}
		for over := false; !over; {
			limit := -1
			if killed < kills {
				limit = rng.IntN(40)
			}
			var wasKilled bool
			if over, wasKilled = runChild(t, exe, dir, limit, time.Duration(rng.IntN(3000))*time.Microsecond, shown); wasKilled {
				killed++
			}
		}
		sessions++
		all.add(inspect(t, dir, shown))
		if t.Failed() {
			return
		}
	}
	t.Logf("%d processes killed in %d sessions: %d calls done, of %d nobody knows (%d of them were done), %d were done and lost their words, %d looked into and run", killed, sessions, all.told, all.unknown, all.unknownDone, all.lost, all.again)
}

// runChild runs a process and kills it a while after so many lines; negative: it may live.
func runChild(t *testing.T, exe, dir string, lines int, after time.Duration, shown map[string]bool) (over, killed bool) {
	t.Helper()
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	kill := func() {
		killed = true
		time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have ended
	}
	if lines == 0 {
		kill()
	}
	scan := bufio.NewScanner(out)
	for scan.Scan() {
		if scan.Text() == "over" {
			over = true
			continue
		}
		shown[scan.Text()] = true
		if seen++; seen == lines {
			kill()
		}
	}
	if err := cmd.Wait(); err != nil && !killed {
		t.Fatalf("the process failed: %v\n%s", err, stderr.String())
	}
	return over, killed && !over
}

// outcome counts what the session says of its calls.
type outcome struct{ told, unknown, unknownDone, lost, again int }

func (o *outcome) add(p outcome) {
	o.told, o.unknown, o.unknownDone, o.lost, o.again = o.told+p.told, o.unknown+p.unknown, o.unknownDone+p.unknownDone, o.lost+p.lost, o.again+p.again
}

// inspect holds what is stored, and the folder, against what must be.
func inspect(t *testing.T, dir string, shown map[string]bool) (o outcome) {
	t.Helper()
	db := store.Open(filepath.Join(dir, "state"), store.Options{})
	defer db.Close()
	stored, err := db.Read(t.Context(), "killed", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, ev := range stored {
		there[fmt.Sprint(ev.Seq, " ", ev.Kind)] = true
	}
	for line := range shown {
		if !there[line] {
			t.Errorf("event %q was shown and is not stored", line)
		}
	}
	evs, err := agent.Read(stored)
	if err != nil {
		t.Fatal(err)
	}
	if s := agenttest.Check(t, evs); s.Phase != agent.Resting || s.Last == nil || s.Last.Why != agent.Done {
		t.Errorf("%+v", s)
	}
	counted, err := os.ReadFile(filepath.Join(dir, "counted"))
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, l := range strings.Fields(string(counted)) {
		if times[l]++; times[l] > 1 {
			t.Errorf("%s was counted %d times", l, times[l])
		}
	}
	what := map[string]model.Call{}
	for _, ev := range evs {
		if ev.Answer != nil {
			n := 0
			for _, b := range ev.Answer.Message.Blocks {
				if b.Call != nil {
					what[ev.Answer.Calls[n].ID] = *b.Call
					n++
				}
			}
		}
		if r := ev.Result; r != nil {
			call := what[r.ID]
			text := content.JoinText(r.Parts)
			var args struct{ Text string }
			if err := json.Unmarshal(call.Arguments, &args); err != nil {
				t.Fatal(err)
			}
			switch {
			case ev.Kind == agent.Unknown:
				if o.unknown++; call.Name != "count" {
					t.Errorf("nobody knows whether %s ran, but the journal does: %s", call.Name, text)
				}
				o.unknownDone += times[args.Text]
			case r.Outcome == agent.Lost:
				o.lost++
			case r.Outcome != agent.OK:
				t.Errorf("%s %s: %s", call.Name, call.Arguments, text)
			case call.Name == "count" && times[args.Text] != 1:
				t.Errorf("%s is said to be counted, and was %d times", args.Text, times[args.Text])
			default:
				o.told++
			}
		}
		if ev.Kind == agent.Planned && ev.Call.Class == agent.Journalled && len(ev.Call.Effects) == 0 {
			o.again++
		}
	}
	log, err := os.ReadFile(filepath.Join(dir, "ws", "log.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for n := range killRounds {
		fmt.Fprintf(&want, "round %d\n", n)
		if b, err := os.ReadFile(filepath.Join(dir, "ws", fmt.Sprintf("f%d.txt", n))); err != nil || string(b) != fmt.Sprintf("round %d\n", n) {
			t.Errorf("file %d: %q %v", n, b, err)
		}
	}
	if want.WriteString("END\n"); string(log) != want.String() {
		t.Errorf("the log is\n%s", log)
	}
	return o
}
