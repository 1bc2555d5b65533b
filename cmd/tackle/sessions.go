package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/internal/cli/talk"
	"github.com/tackle-dev/tackle/internal/show"
)

func (a *app) sessionsCommand() *cobra.Command {
	list := a.sessionsList()
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, fork, rewind, export and remove sessions",
		Long: "List the sessions that are kept, the newest first: those of agents, and those of MCP clients and single calls.\n" +
			"A session is read as it was stored; nothing that these commands do changes it, but for title and remove.",
		Example: "  tackle sessions\n  tackle sessions show s_k3v9\n  tackle sessions rewind s_k3v9\n  tackle sessions export s_k3v9 -o day.html",
		Args:    cobra.NoArgs,
		RunE:    list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	for _, c := range []*cobra.Command{list, a.sessionsShow(), a.sessionsFork(), a.sessionsRewind(), a.sessionsExport(), a.sessionsTitle(), a.sessionsRemove()} {
		c.Args = usageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func (a *app) sessionsList() *cobra.Command {
	var q history.Query
	var all, here, asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sessions, the newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			if all {
				q.Limit = 0
			}
			if here {
				q.Dir = box.Dir()
			}
			list, err := box.Sessions(cmd.Context(), q)
			if err != nil {
				return err
			}
			if asJSON {
				if list == nil {
					list = []history.Summary{}
				}
				return a.printJSON(list)
			}
			return a.listSessions(list)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&q.Limit, "limit", "n", 20, "at most so many")
	f.BoolVar(&all, "all", false, "all of them")
	f.BoolVar(&here, "here", false, "only those that worked in this folder")
	f.BoolVar(&q.Loop, "agents", false, "only those of agents, which can be gone on with")
	f.BoolVar(&asJSON, "json", false, "print the sessions as JSON")
	return cmd
}

func (a *app) listSessions(list []history.Summary) error {
	if len(list) == 0 {
		fmt.Fprintln(a.out, "No session is kept here. Begin one with: tackle run \"…\", or see one with: tackle demo")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, s := range list {
		title, _ := show.Cut(show.Line(s.Title), 60)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", show.Line(s.ID), ago(time.Since(s.Updated)), s.Status(), counted(s.Turns, "turn"), counted(s.Calls, "call"), title)
	}
	return w.Flush()
}

// ago says how long something is past.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}

func (a *app) sessionsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a session: what was said, called and changed, turn by turn",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(_ *tackle.Box, s *history.Session) error {
				if asJSON {
					return a.printJSON(struct {
						history.Summary
						Turns []history.Turn `json:"steps"`
					}{s.Summary, s.Turns})
				}
				a.showSession(s)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the session with everything in it as JSON")
	return cmd
}

// withSession opens a box and a session in it.
func (a *app) withSession(ctx context.Context, id string, do func(*tackle.Box, *history.Session) error) error {
	box, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer box.Close()
	s, err := box.History(ctx, id)
	if err != nil {
		return err
	}
	return do(box, s)
}

func (a *app) showSession(s *history.Session) {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "%s\t%s\n", "Title", show.Line(s.Title))
	for _, f := range [][2]string{{"Session", s.ID}, {"Folder", s.Dir}, {"Mode", s.Mode}, {"Model", s.Model}} {
		if f[1] != "" {
			fmt.Fprintf(w, "%s\t%s\n", f[0], show.Line(f[1]))
		}
	}
	if o := s.Origin; o != nil {
		fmt.Fprintf(w, "From\t%s, event %d (%s)\n", show.Line(o.Session), o.Seq, o.How)
	}
	fmt.Fprintf(w, "When\t%s to %s\n", s.Started.Local().Format(time.DateTime), s.Updated.Local().Format(time.DateTime))
	facts := []string{s.Status(), counted(s.Calls, "call")}
	for n, what := range map[string]int{"failed": s.Failed, "denied": s.Denied, "with unknown outcome": s.Unsure} {
		if what > 0 {
			facts = append(facts, fmt.Sprintf("%d %s", what, n))
		}
	}
	slices.Sort(facts[2:])
	if s.Tokens > 0 {
		facts = append(facts, counted(s.Tokens, "token"))
	}
	if s.Cost > 0 {
		facts = append(facts, fmt.Sprintf("$%.4f", s.Cost))
	}
	fmt.Fprintf(w, "State\t%s\n", strings.Join(facts, ", "))
	_ = w.Flush() // whoever reads has gone
	for i := range s.Turns {
		t := &s.Turns[i]
		fmt.Fprintf(a.out, "\nTurn %d\n", t.Number)
		p := &talk.Text{Out: a.out, Err: a.out, OutTTY: isTerminal(a.out), Asked: true, Width: 110}
		one := *s
		one.Turns = s.Turns[i : i+1]
		talk.Items(&one, p)
	}
}

func (a *app) sessionsFork() *cobra.Command {
	turns := -1
	cmd := &cobra.Command{
		Use:   "fork ID",
		Short: "Begin a session with the first turns of another one",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			id, err := box.Fork(cmd.Context(), args[0], turns)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s\n", id)
			fmt.Fprintf(a.err, "Go on with: %s\n", a.resume(id))
			return nil
		},
	}
	cmd.Flags().IntVar(&turns, "turns", -1, "how many turns to keep (default: all that are over)")
	return cmd
}

func (a *app) sessionsRewind() *cobra.Command {
	turns := -1
	r := tackle.RewindRequest{}
	cmd := &cobra.Command{
		Use:   "rewind ID",
		Short: "Take back the last turns of a session, with the files that they changed",
		Long: "Begin a session with the first turns of another one, and make the files what they were then. The old session stays as it\n" +
			"is. Where others changed a file since, nothing is done; --merge keeps both, --keep-files leaves the files alone.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(box *tackle.Box, s *history.Session) error {
				r.Session, r.Turns = s.ID, turns
				if turns < 0 {
					r.Turns = max(s.Over()-1, 0)
				}
				return a.rewind(cmd.Context(), box, r)
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&turns, "turns", -1, "how many turns to keep (default: all but the last)")
	f.BoolVar(&r.Keep, "keep-files", false, "leave the files as they are")
	f.BoolVar(&r.Merge, "merge", false, "where others changed a file since, take back our change and keep theirs")
	f.StringVar(&a.approve, "approve", "", "answer what policy would ask a person: always or never (default: ask at the terminal, where there is one)")
	return cmd
}

func (a *app) rewind(ctx context.Context, box *tackle.Box, r tackle.RewindRequest) error {
	defer a.askHere(ctx, box)()
	back, err := box.Rewind(ctx, r)
	if err != nil {
		return err
	}
	if back.Session == "" {
		fmt.Fprintln(a.err, show.Text(back.Files.Err.Render()))
		next := "--merge keeps what others changed, --keep-files leaves the files alone."
		if r.Merge { // what was tried already is no next step
			next = "--keep-files leaves the files alone."
		}
		fmt.Fprintln(a.err, "Nothing was done. "+next)
		return exit(exitFailed)
	}
	if back.Files != nil {
		fmt.Fprintln(a.err, strings.TrimRight(show.Text(back.Files.Text()), "\n"))
		if !back.Files.OK() {
			fmt.Fprintln(a.err, "The session is there, and the files are as they were before.")
		}
	} else {
		fmt.Fprintln(a.err, "No file was taken back.")
	}
	if len(back.Lasting) > 0 {
		fmt.Fprintln(a.err, "What these calls did besides stays as it is:")
		for _, c := range back.Lasting {
			line, _ := show.Cut(show.Line(c.Tool+"  "+history.Subject(c)), 100)
			fmt.Fprintln(a.err, "  "+line)
		}
	}
	fmt.Fprintf(a.out, "%s\n", back.Session)
	fmt.Fprintf(a.err, "Go on with: %s\n", a.resume(back.Session))
	return nil
}

func (a *app) sessionsExport() *cobra.Command {
	var format, to string
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write a session as one page of HTML, or as lines of JSON",
		Long: "Write a session to a file: as one page of HTML that loads nothing and runs nothing, or as JSONL, with every event as it was\n" +
			"stored. Without -o the page is named after the session; -o - writes to standard output.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format == "" {
				format = "html"
				if strings.HasSuffix(to, ".jsonl") {
					format = "jsonl"
				}
			}
			if format != "html" && format != "jsonl" {
				return usage{fmt.Errorf("--format %q: want html or jsonl", format)}
			}
			return a.withSession(cmd.Context(), args[0], func(box *tackle.Box, s *history.Session) error {
				return a.export(cmd.Context(), box, s, format, to)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "", "html or jsonl (default: html, or what the name of the file says)")
	f.StringVarP(&to, "output", "o", "", "file to write; one that exists is not replaced; - is standard output")
	return cmd
}

func (a *app) export(ctx context.Context, box *tackle.Box, s *history.Session, format, to string) error {
	write := func(w io.Writer) error {
		if format == "jsonl" {
			return s.WriteJSONL(ctx, box.Store(), w, time.Now())
		}
		return s.WritePage(ctx, w, history.PageOptions{Now: time.Now(), Version: version, Media: func(ctx context.Context, id string) (string, []byte, error) {
			it, data, err := box.OpenMedia(ctx, s.ID, id)
			return it.MIMEType, data, err
		}})
	}
	if to == "-" {
		return write(a.out)
	}
	if to == "" {
		to = strings.Map(func(r rune) rune {
			if r == '/' || r == '\\' || r == ':' {
				return '_'
			}
			return r
		}, s.ID) + "." + format
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("export: %s exists; choose another name with -o", to)
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("export: %w", err), os.Remove(to))
	}
	if abs, err := filepath.Abs(to); err == nil {
		to = abs
	}
	fmt.Fprintln(a.out, to)
	return nil
}

func (a *app) sessionsTitle() *cobra.Command {
	return &cobra.Command{
		Use:   "title ID [TITLE]",
		Short: "Give a session a title, or take yours away",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			return box.SetTitle(cmd.Context(), args[0], strings.Join(args[1:], " "))
		},
	}
}

func (a *app) sessionsRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove ID...",
		Short: "Remove sessions for good: what was said and recorded, and their artifacts",
		Long: "Remove sessions for good. The ledger keeps its entries, and one that says what was removed. Changes to files can still be\n" +
			"undone as long as their before-images are kept.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			for _, id := range args {
				if _, err := box.History(cmd.Context(), id); errors.Is(err, history.ErrUnknown) {
					return fmt.Errorf("nothing was removed: %w", err)
				}
			}
			if err := box.RemoveSessions(cmd.Context(), person().Name+" (command)", args...); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Removed %s.\n", counted(len(args), "session"))
			return nil
		},
	}
}

func (a *app) replayCommand() *cobra.Command {
	var speed float64
	var output string
	cmd := &cobra.Command{
		Use:   "replay ID",
		Short: "Show a session again as it went, without a model and without running anything",
		Long: "Show a session again as it went: what was said, the calls with what came of them, and how it ended. No model is asked and\n" +
			"no call runs. With --speed the pauses are those of the session, so many times shorter.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return usage{fmt.Errorf("--output %q: want text or json", output)}
			}
			if speed < 0 {
				return usage{fmt.Errorf("--speed %v: want a number such as 10, or 0 for no pauses", speed)}
			}
			return a.withSession(cmd.Context(), args[0], func(_ *tackle.Box, s *history.Session) error {
				p := a.printer(output, false)
				if t, ok := p.(*talk.Text); ok {
					t.Asked = true
				}
				return talk.Replay(s, p, pauses(cmd.Context(), speed))
			})
		},
	}
	cmd.Flags().StringVar(&output, "output", "text", "text, or json: one object on a line, as of tackle run")
	cmd.Flags().Float64Var(&speed, "speed", 0, "how many times faster than it was; 0 is at once")
	return cmd
}

// longestPause is how long a replay waits at most: a person may have slept in between.
const longestPause = 5 * time.Second

// pauses waits as a session did between two things, faster.
func pauses(ctx context.Context, speed float64) func(history.Item) error {
	var last time.Time
	return func(it history.Item) error {
		gap := it.At.Sub(last)
		first := last.IsZero()
		last = it.At
		if speed == 0 || first || gap <= 0 {
			return ctx.Err()
		}
		timer := time.NewTimer(min(time.Duration(float64(gap)/speed), longestPause))
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
