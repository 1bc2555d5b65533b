package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/internal/terminal"
	"github.com/tackle-dev/tackle/permission/ask"
)

// prompt returns the person at the controlling terminal. The error says that there is none.
func prompt() (*terminal.Prompt, *terminal.TTY, error) {
	tty, err := terminal.Open()
	if err != nil {
		return nil, nil, err
	}
	p := &terminal.Prompt{Device: tty, Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if u, err := user.Current(); err == nil {
		p.Name = u.Username
	}
	return p, tty, nil
}

// errRefused is the end of a command whose question was answered with no.
var errRefused = errors.New("not confirmed; nothing was done")

// confirm asks the person at the terminal for a yes to what is shown. Without a terminal, and with any other answer, it is an
// error: whatever runs this command, its word is not that of a person.
func (a *app) confirm(ctx context.Context, what string, v ask.View) error {
	p, tty, err := prompt()
	if err != nil {
		return fmt.Errorf("%s: %w; the answer is given at a terminal, so that no program gives it in a person's name", what, err)
	}
	defer tty.Close()
	yes, err := p.Confirm(ctx, v)
	switch {
	case err != nil:
		return fmt.Errorf("%s: not answered: %w", what, err)
	case !yes:
		return fmt.Errorf("%s: %w", what, errRefused)
	}
	return nil
}

// askHere lets the person at the terminal answer asks until stop is called. Nobody is asked where standard error is no
// terminal, where --approve answers, and where the process has no terminal.
func (a *app) askHere(ctx context.Context, box *tackle.Box) (stop func()) {
	if a.approve != "" || !isTerminal(a.err) {
		return func() {}
	}
	p, tty, err := prompt()
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	sub, done := box.Asks().Subscribe(ask.Audience{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = sub.Serve(ctx, p) // it ends with ctx only
	}()
	return func() {
		cancel()
		<-done
		tty.Close()
	}
}

func (a *app) approveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve [ID]",
		Short: "Answer an ask that nobody was there to answer, or list those that are open",
		Long: "Show an ask that was left open and answer it with one key. A yes lets the same call through once, within 10 minutes,\n" +
			"or for as long as you choose. The answer is read from the terminal only, so that no agent can give it.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			open, err := box.Asks().Tickets(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.listTickets(open)
			}
			for _, t := range open {
				if t.Request.ID == args[0] {
					return a.answerTicket(cmd.Context(), box, t.Request)
				}
			}
			return usage{fmt.Errorf("approve: no open ask is named %q; 'tackle approve' lists them", args[0])}
		},
	}
	return cmd
}

func (a *app) listTickets(open []ask.Ticket) error {
	if len(open) == 0 {
		fmt.Fprintln(a.out, "No ask is open.")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, t := range open {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Request.ID, t.Request.Asked.Local().Format(time.DateTime), t.Request.View.Title, t.Request.View.Reason)
	}
	return w.Flush()
}

func (a *app) answerTicket(ctx context.Context, box *tackle.Box, r *ask.Request) error {
	p, tty, err := prompt()
	if err != nil {
		return fmt.Errorf("approve: %w; an answer is given at a terminal, so that no program gives it in a person's name", err)
	}
	defer tty.Close()
	shown := *r
	shown.Hunks = 0 // the call is not waiting, so it cannot be planned anew from some of them
	answer, err := p.Ask(ctx, &shown)
	if err != nil {
		return fmt.Errorf("approve: not answered: %w", err)
	}
	t, err := box.Asks().AnswerTicket(ctx, r.ID, answer)
	if err != nil {
		return err
	}
	if !t.Answer.Allow {
		fmt.Fprintf(a.out, "Denied. The same call is denied for %v.\n", ask.LateTime)
		return nil
	}
	if t.Answer.Scope == ask.Once {
		fmt.Fprintf(a.out, "Allowed once, within %v, in session %s.\n", ask.LateTime, show.Line(r.Session))
	} else {
		fmt.Fprintln(a.out, "Allowed. 'tackle grants' lists what holds.")
	}
	return nil
}

func (a *app) grantsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List the answers that hold beyond their call, and take them back",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			list, err := box.Grants(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.out, "No grant holds in this project.")
				return nil
			}
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			for _, g := range list {
				what := g.Permission + " of " + show.Line(g.Target)
				switch {
				case g.Pattern != "":
					what = g.Permission + " of " + show.Line(g.Pattern)
				case g.Fingerprint != "":
					what = "one call " + g.Fingerprint[:min(12, len(g.Fingerprint))]
				}
				if g.Dir != "" {
					what += " in " + show.Line(g.Dir)
				}
				if g.Scripts != "" {
					what += ", while its script stays as it is"
				}
				how := string(g.Scope)
				if g.Session != "" {
					how += " " + show.Line(g.Session)
				}
				if !g.Expires.IsZero() {
					how += " until " + g.Expires.Local().Format(time.DateTime)
				}
				by := "a program"
				if g.Person != "" {
					by = show.Line(g.Person)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", g.ID, what, how, by, g.Given.Local().Format(time.DateTime))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the grants as JSON")
	revoke := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Take grants back; they count no more at the next call, also of running sessions",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			var missing []error
			for _, id := range args {
				was, err := box.Revoke(cmd.Context(), id)
				if err != nil {
					return err
				}
				if !was {
					missing = append(missing, fmt.Errorf("no grant %q holds here; 'tackle grants' lists them", id))
				}
			}
			return errors.Join(missing...)
		},
	}
	revoke.Args = usageArgs(revoke.Args)
	cmd.AddCommand(revoke)
	return cmd
}
