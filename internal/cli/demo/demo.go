// Package demo shows a whole session on a scratch project, with a scripted model: no key, no network.
//
// Everything but the model is real: the modes, the calls, the policy, the person's answers (which the demo gives, and says so), the
// journal and the undo.
package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/cli/talk"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/script"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed project script.yaml
var files embed.FS

// Options say how the demo is shown.
type Options struct {
	Printer talk.Printer
	// Say prints a line about the demo itself.
	Say func(line string)
	// Plain has the model speak at once instead of at the pace of a model.
	Plain bool
	// Self is how this program is called, for the commands that are shown.
	Self string
	// Keeper is that of tackle.Config.
	Keeper []string
}

// Session is the name of the demo's session.
const Session = "demo"

// Run makes a scratch project below dir, which must be empty, and has the scripted agent work on it.
func Run(ctx context.Context, dir string, o Options) error {
	ws, state := filepath.Join(dir, "bill"), filepath.Join(dir, "state")
	if err := project(ws); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	m, err := theModel(o.Plain)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	live := &talk.Live{Printer: o.Printer}
	box, err := tackle.Open(ctx, tackle.Config{Dir: ws, StateDir: state, NoFiles: true, Session: Session, Keeper: o.Keeper,
		Rules: []permission.Rule{{Permission: tool.ReadPermission, Pattern: "~/.ssh/", Action: tool.Deny, Reason: "keys are not for agents"}},
		Faces: []ask.Face{person{live: live, say: o.Say}}})
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer box.Close()
	live.Record = recordsOf(box)
	d := &demo{Options: o, box: box, model: m, live: live}
	return errors.Join(d.play(ctx, state), ctx.Err())
}

// project writes the scratch project.
func project(ws string) error {
	if err := os.Mkdir(ws, 0o755); err != nil {
		return err
	}
	return fs.WalkDir(files, "project", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(ws, filepath.Base(path)), data, 0o644)
	})
}

func theModel(plain bool) (model.Model, error) {
	data, err := files.ReadFile("script.yaml")
	if err != nil {
		return nil, err
	}
	text := string(data)
	if plain {
		text = strings.Replace(text, "\npace: 25ms\n", "\n", 1)
	}
	return script.Parse("demo", []byte(text))
}

func recordsOf(box *tackle.Box) func(context.Context, string) *session.Record {
	return func(ctx context.Context, call string) *session.Record {
		recs, err := box.Calls(ctx, Session)
		if err != nil {
			return nil // the call is printed without what the road knows
		}
		var found *session.Record
		for i := range recs {
			if recs[i].Call == call {
				found = &recs[i]
			}
		}
		return found
	}
}

type demo struct {
	Options
	box   *tackle.Box
	model model.Model
	live  *talk.Live
}

// step says what comes next.
func (d *demo) step(format string, args ...any) {
	d.Say("")
	d.Say("── " + fmt.Sprintf(format, args...))
}

func (d *demo) play(ctx context.Context, state string) error {
	d.Say("A scripted model works on a scratch project, " + show.Line(d.box.Dir()) + ". Everything else is real.")
	d.step("In mode plan an agent only looks. It has no tool that changes anything.")
	if err := d.turn(ctx, "plan", "A test of this project fails. What is to be done?"); err != nil {
		return err
	}
	d.step("In mode code it may change files of the workspace. What leaves it, and commands, are asked about.")
	turn, err := d.said(ctx, "code", "Good, go ahead.")
	if err != nil {
		return err
	}
	d.Printer.End(talk.Ended{Session: Session, End: turn.End, Text: turn.Text, Tally: turn.Tally, Changed: d.live.Changed()})
	if turn.End.Why != agent.Done {
		return fmt.Errorf("demo: the session ended early: %s", turn.End.Detail)
	}
	d.step("Every change can be taken back: %s undo --session %s", d.Self, Session)
	if err := d.undo(ctx); err != nil {
		return err
	}
	where := " --state " + show.Arg(state)
	d.step("The session is kept. Look at it again, as long as you keep the folder:")
	for _, line := range []string{"replay " + Session, "sessions show " + Session, "sessions export " + Session, "ledger show --session " + Session} {
		d.Say("     " + d.Self + " " + line + where)
	}
	d.Say("   And with a model of your own, in a folder of your own:")
	d.Say("     " + d.Self + " run --model anthropic/MODEL \"make the tests pass\"")
	return nil
}

func (d *demo) turn(ctx context.Context, mode, prompt string) error {
	turn, err := d.said(ctx, mode, prompt)
	if err != nil {
		return err
	}
	if turn.End.Why != agent.Done {
		return fmt.Errorf("demo: the session ended early: %s", turn.End.Detail)
	}
	return nil
}

func (d *demo) said(ctx context.Context, mode, prompt string) (agent.Turn, error) {
	a, err := d.box.Agent(tackle.AgentConfig{Model: d.model, Mode: mode, Watch: d.live.Watch})
	if err != nil {
		return agent.Turn{}, err
	}
	s, err := a.Open(ctx, Session)
	if errors.Is(err, agent.ErrNotFound) {
		s, err = a.Start(ctx, Session)
	}
	if err != nil {
		return agent.Turn{}, err
	}
	defer s.Close()
	return s.Run(ctx, content.TextPart(prompt))
}

func (d *demo) undo(ctx context.Context) error {
	u := tackle.UndoRequest{Session: Session}
	in, failed, err := d.box.PreviewUndo(ctx, u)
	if err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	diff := in.Changes.Preview(d.box.Dir(), change.PreviewOptions{}).Diff
	res, err := d.box.Undo(ctx, u)
	if err != nil {
		return err
	}
	if res.Err != nil {
		return res.Err
	}
	for l := range strings.Lines(diff) {
		if !strings.HasPrefix(l, "diff ") && !strings.HasPrefix(l, "index ") && !strings.HasPrefix(l, "--- ") && !strings.HasPrefix(l, "+++ ") {
			d.Say("   " + show.Line(strings.TrimRight(l, "\n")))
		}
	}
	for l := range strings.Lines(res.Text()) {
		d.Say("   " + show.Line(strings.TrimRight(l, "\n")))
	}
	return nil
}

// person answers asks in the place of one: yes to the tests of the scratch project, no to all else.
type person struct {
	live *talk.Live
	say  func(string)
}

// Ask is described at ask.Face.
func (p person) Ask(_ context.Context, r *ask.Request) (ask.Answer, error) {
	a := ask.Answer{Fingerprint: r.Fingerprint, Approver: ask.Approver{Name: "demo", Face: "demo"}}
	words := "no"
	for _, t := range r.View.Targets {
		if t.Value == "sh test.sh" {
			a.Allow, words = true, "yes, once"
		}
	}
	p.live.Print(func(talk.Printer) {
		p.say("  ? " + r.View.Title + ": " + r.View.Reason)
		p.say("    You would answer with one key. The demo answers: " + words)
	})
	return a, nil
}
