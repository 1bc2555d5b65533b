package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/internal/cli/talk"
	"github.com/tackle-dev/tackle/internal/show"
	recorded "github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// exitCancelled is the status of a turn that Ctrl-C ended, as shells have it.
const exitCancelled = 130

// runFlags are the flags of tackle run.
type runFlags struct {
	output, model, resume string
	goOn, quiet           bool
	attach                []string
	rounds, tokens        int
	cost                  float64
	time                  string
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PROMPT | -]",
		Short: "Give an agent a task in this folder, and see what it does",
		Long: "Give an agent a task in this folder. The words of the model go to standard output, its calls with what came of them to\n" +
			"standard error. The prompt is the arguments, or standard input where there are none or one is -.\n\n" +
			"What policy asks is answered at the terminal; where there is none, it is denied and 'tackle approve' lists it.\n" +
			"Ctrl-C ends the turn and leaves the session whole: --resume or --continue goes on with it, also after a crash.\n\n" +
			"The model is PROVIDER/NAME: openai, anthropic and gemini take their keys from OPENAI_API_KEY, ANTHROPIC_API_KEY and\n" +
			"GEMINI_API_KEY; ollama needs none. 'tackle demo' shows a whole session without a model.\n\n" +
			"Exit status: 0 the model was done, 1 the turn ended otherwise, 2 wrong command line, 3 the same call was refused again and\n" +
			"again, 130 cancelled.",
		Example: "  tackle run --model anthropic/MODEL \"make the tests pass\"\n  tackle run --mode plan \"how would you add a cache here?\"\n" +
			"  git diff | tackle run \"review this change\" -\n  tackle run --continue \"now the same for the other package\"",
		RunE: func(cmd *cobra.Command, args []string) error { return a.runAgent(cmd.Context(), &f, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.output, "output", "text", "text, or json: one object on a line for each thing that happens, the end as the last")
	fl.StringVar(&f.model, "model", "", "PROVIDER/NAME, or script/FILE (default: TACKLE_MODEL, that of the mode, or that of your configuration)")
	fl.StringVar(&f.resume, "resume", "", "go on with this session; without a prompt its unfinished turn is taken up")
	fl.BoolVar(&f.goOn, "continue", false, "go on with the newest session of this folder")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print the words of the model only")
	fl.StringArrayVar(&f.attach, "attach", nil, "give the agent this file (picture, PDF, workbook, …); may be repeated")
	fl.IntVar(&f.rounds, "rounds", 0, "answers of the model at most (default 200)")
	fl.IntVar(&f.tokens, "tokens", 0, "tokens at most, read and written (default: no limit)")
	fl.Float64Var(&f.cost, "cost", 0, "US dollars at most, where the model's prices are known (default: no limit)")
	fl.StringVar(&f.time, "time", "", "time at most, such as 20m (default: no limit)")
	fl.StringVar(&a.approve, "approve", "", "answer what policy would ask a person: always or never (default: ask at the terminal, where there is one)")
	return cmd
}

func (f *runFlags) limits() (agent.Limits, error) {
	l := agent.Limits{Rounds: f.rounds, Tokens: f.tokens, Cost: f.cost}
	if f.rounds < 0 || f.tokens < 0 || f.cost < 0 {
		return l, usage{errors.New("run: a limit must not be negative")}
	}
	if f.time != "" {
		d, err := config.ParseDuration(f.time)
		if err != nil || d <= 0 {
			return l, usage{fmt.Errorf("--time %q: want a length of time such as 20m", f.time)}
		}
		l.Time = d
	}
	return l, nil
}

// errand is what tackle run works with.
type errand struct {
	app     *app
	flags   *runFlags
	box     *tackle.Box
	session string
	old     *history.Session // that is gone on with; nil for a new one
	mode    string
	model   string
	printer talk.Printer
}

func (a *app) runAgent(ctx context.Context, f *runFlags, args []string) error {
	if f.output != "text" && f.output != "json" {
		return usage{fmt.Errorf("--output %q: want text or json", f.output)}
	}
	if f.resume != "" && f.goOn {
		return usage{errors.New("run: --resume names a session and --continue means the newest; use one of them")}
	}
	limits, err := f.limits()
	if err != nil {
		return err
	}
	t := &errand{app: a, flags: f}
	if err := t.open(ctx); err != nil {
		return err
	}
	defer t.box.Close()
	prompt, err := t.prompt(ctx, args)
	if err != nil {
		return err
	}
	return t.run(ctx, prompt, limits)
}

// open finds the session and opens the box for it.
func (t *errand) open(ctx context.Context) error {
	a, f := t.app, t.flags
	if t.session = f.resume; f.goOn || t.session != "" {
		box, err := a.open(ctx)
		if err != nil {
			return err
		}
		t.old, err = find(ctx, box, t.session)
		err = errors.Join(err, box.Close())
		if err != nil {
			return usage{fmt.Errorf("run: %w", err)}
		}
		t.session = t.old.ID
	} else {
		t.session = agent.NewID()
	}
	a.session = t.session
	var err error
	if t.box, err = a.open(ctx); err != nil {
		return err
	}
	if t.mode = t.box.View().Mode; t.old != nil && a.mode == "" {
		if _, err := t.box.Mode(t.old.Mode); err == nil {
			t.mode = t.old.Mode
		}
	}
	named := f.model
	if named == "" && t.old != nil && !strings.HasPrefix(t.old.Model, "script/") {
		named = t.old.Model
	}
	t.model, err = t.box.ModelName(named, t.mode)
	if err != nil {
		return errors.Join(usage{withDemo(err)}, t.box.Close())
	}
	return nil
}

// find returns the session of a name, or the newest of this folder where the name is empty.
func find(ctx context.Context, box *tackle.Box, id string) (*history.Session, error) {
	if id == "" {
		list, err := box.Sessions(ctx, history.Query{Dir: box.Dir(), Loop: true, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, errors.New("no agent has worked in this folder yet; begin with: tackle run \"…\"")
		}
		id = list[0].ID
	}
	s, err := box.History(ctx, id)
	if err == nil && !s.Looped() {
		err = fmt.Errorf("session %s: %w", id, history.ErrNoLoop)
	}
	return s, err
}

// withDemo adds to an error about a missing model what needs none.
func withDemo(err error) error {
	if errors.Is(err, tackle.ErrNoModel) || errors.Is(err, tackle.ErrNoKey) {
		return fmt.Errorf("%w. 'tackle demo' shows a whole session and needs neither model nor key", err)
	}
	return err
}

// prompt returns what the person says; "" where an unfinished turn is only taken up.
func (t *errand) prompt(ctx context.Context, args []string) (string, error) {
	var words []string
	stdin := len(args) == 0 && len(t.flags.attach) == 0 && (t.old == nil || !t.old.Open())
	for _, arg := range args {
		if arg == "-" {
			stdin = true
			continue
		}
		words = append(words, arg)
	}
	prompt := strings.Join(words, " ")
	if stdin {
		if isTerminal(t.app.in) {
			return "", usage{errors.New("run: nothing is said; write the task behind the command, such as: tackle run \"make the tests pass\"")}
		}
		b, err := readAll(ctx, t.app.in)
		if ctx.Err() != nil {
			return "", exit(exitCancelled)
		}
		if err != nil {
			return "", fmt.Errorf("read the prompt from standard input: %w", err)
		}
		if rest := strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD")); rest != "" {
			prompt = strings.TrimSpace(prompt + "\n\n" + rest)
		}
		if prompt == "" {
			return "", usage{errors.New("run: standard input is empty; write the task behind the command, such as: tackle run \"make the tests pass\"")}
		}
	}
	if strings.TrimSpace(prompt) == "" && len(t.flags.attach) == 0 && (t.old == nil || !t.old.Open()) {
		return "", usage{errors.New("run: the prompt is empty; write the task behind the command, such as: tackle run \"make the tests pass\"")}
	}
	return prompt, nil
}

// readAll reads to the end, or until ctx ends: a pipe that nobody writes to holds no Ctrl-C up. The read itself ends with the pipe
// or the process.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type read struct {
		b   []byte
		err error
	}
	got := make(chan read, 1)
	go func() {
		b, err := io.ReadAll(r)
		got <- read{b, err}
	}()
	select {
	case r := <-got:
		return r.b, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// parts returns what is said: words and files.
func (t *errand) parts(ctx context.Context, prompt string) ([]tool.Part, error) {
	var parts []tool.Part
	for _, file := range t.flags.attach {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, usage{fmt.Errorf("--attach: %w", err)}
		}
		more, err := t.box.AttachParts(ctx, t.session, filepath.Base(file), "", data)
		if err != nil {
			return nil, fmt.Errorf("--attach %s: %w", file, err)
		}
		parts = append(parts, more...)
	}
	if prompt != "" {
		parts = append(parts, tool.Text(prompt))
	}
	return parts, nil
}

func (t *errand) run(ctx context.Context, prompt string, limits agent.Limits) error {
	a := t.app
	m, err := t.box.Model(t.model)
	if err != nil {
		return usage{withDemo(err)}
	}
	servers, err := t.box.OpenServers(ctx, 2*time.Second, nil)
	if err != nil {
		return err
	}
	defer servers.Close()
	t.printer = a.printer(t.flags.output, t.flags.quiet)
	live := &talk.Live{Printer: t.printer, Whole: t.flags.output == "json", Record: (&records{box: t.box, session: t.session}).of}
	ag, err := t.box.Agent(tackle.AgentConfig{Model: m, Mode: t.mode, Limits: limits, Watch: live.Watch})
	if err != nil {
		return usage{err}
	}
	defer a.askHere(ctx, t.box)()
	parts, err := t.parts(ctx, prompt)
	if err != nil {
		return err
	}
	more, err := t.box.Begin(ctx, t.session, t.old != nil)
	if err != nil {
		return err
	}
	if len(parts) > 0 { // an unfinished turn that is only taken up has nothing to add it to
		parts = append(more, parts...)
	}
	info := m.Info()
	t.printer.Begin(talk.Begun{Session: t.session, Mode: t.mode, Model: info.Provider + "/" + info.Name, Dir: t.box.Dir(), Resumed: t.old != nil})
	turn, err := t.drive(ctx, ag, live, parts)
	if err != nil {
		if t.flags.output == "json" { // the end is the last line, whatever happens
			t.printer.End(talk.Ended{Session: t.session, End: agent.End{Why: agent.Broken, Detail: err.Error()}, Changed: live.Changed(), Resume: a.resume(t.session)})
		}
		if errors.Is(err, agent.ErrGone) {
			return fmt.Errorf("run: %w", err)
		}
		return fmt.Errorf("run: %w. The session is kept; go on with: %s", err, a.resume(t.session))
	}
	t.title(ctx, turn)
	a.sayWhatEnds(t.box)
	t.printer.End(talk.Ended{Session: t.session, End: turn.End, Text: turn.Text, Tally: turn.Tally, Changed: live.Changed(), Resume: a.resume(t.session)})
	return t.status(ctx, &turn)
}

func (t *errand) drive(ctx context.Context, ag *agent.Agent, live *talk.Live, parts []tool.Part) (agent.Turn, error) {
	if t.old == nil {
		s, err := ag.Start(ctx, t.session)
		if err != nil {
			return agent.Turn{}, err
		}
		return t.box.Turn(ctx, s, parts...)
	}
	live.Resume(t.old)
	s, err := ag.Open(ctx, t.session)
	if err != nil {
		return agent.Turn{}, err
	}
	return t.box.Turn(ctx, s, parts...)
}

// title has a cheap model name the session, where the configuration names one. It must not hold anybody up or fail anything.
func (t *errand) title(ctx context.Context, turn agent.Turn) {
	name := t.box.Settings().Config.Agent.TitleModel
	if name == "" || turn.End.Why != agent.Done || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	m, err := t.box.Model(name)
	if err == nil {
		err = t.box.NameSession(ctx, t.session, m)
	}
	if err != nil {
		t.printer.Note("no title from " + name + ": " + err.Error())
	}
}

func (t *errand) status(ctx context.Context, turn *agent.Turn) error {
	switch {
	case turn.End.Why == agent.Done:
		return nil
	case turn.End.Why == agent.WasCanceled && ctx.Err() != nil:
		return exit(exitCancelled)
	case turn.End.Why == agent.RefusedOver:
		return exit(exitDenied)
	}
	return exit(exitFailed)
}

// resume is the line that goes on with a session.
func (a *app) resume(session string) string {
	s := self() + " run --resume " + show.Arg(session)
	if a.dir != "" {
		s += " -C " + show.Arg(a.dir)
	}
	if a.state != "" {
		s += " --state " + show.Arg(a.state)
	}
	return s
}

// printer returns what prints a session.
func (a *app) printer(output string, quiet bool) talk.Printer {
	if output == "json" {
		return &talk.JSON{Out: a.out}
	}
	t := &talk.Text{Out: a.out, Err: a.err, OutTTY: isTerminal(a.out), ErrTTY: isTerminal(a.err), Quiet: quiet}
	t.Color = t.ErrTTY && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if f, ok := a.err.(*os.File); ok && t.ErrTTY {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			t.Width = w
		}
	}
	return t
}

// records reads what the road recorded of the calls of a session, each event once.
type records struct {
	box     *tackle.Box
	session string
	read    int64
	calls   map[string]*recorded.Record
}

// of returns the record of a call; nil where there is none, or none can be read.
func (r *records) of(ctx context.Context, call string) *recorded.Record {
	if r.calls[call] == nil {
		r.box.Settle()
	}
	recs, last, err := r.box.CallsSince(ctx, r.session, r.read)
	if err != nil {
		return nil
	}
	if r.read = last; r.calls == nil {
		r.calls = map[string]*recorded.Record{}
	}
	for i := range recs {
		r.calls[recs[i].Call] = &recs[i]
	}
	return r.calls[call]
}
