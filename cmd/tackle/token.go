package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server"
)

const roles = "viewer (sees), approver (answers asks, takes changes back), admin (everything), or agent (makes calls, and sees nothing)"

func (a *app) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "Make, list and revoke the tokens of the server", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.tokenCreate(), a.tokenList(), a.tokenRevoke())
	return cmd
}

func (a *app) tokenCreate() *cobra.Command {
	var role, expires string
	var program bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token and print it: this once, only its digest is kept",
		Long: "Make a token and print it on standard output: this once, only its digest is kept. The ledger names by NAME who answered.\n\n" +
			"Roles: " + roles + ".\nA token that a program holds never says yes where a person must (--program; always so for agents).\n" +
			"For approvers and admins you are asked at the terminal, so that no agent makes itself its own approver.",
		Example: "  export TACKLE_TOKEN=$(tackle serve token create my-agent --role agent)\n  tackle serve token create operator --role approver --expires 30d",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var lifetime time.Duration
			if expires != "never" {
				var err error
				if lifetime, err = config.ParseDuration(expires); err != nil || lifetime <= 0 {
					return usage{fmt.Errorf("--expires %q: want a length of time such as 30d, or never", expires)}
				}
			}
			if role == string(server.Approver) || role == string(server.Admin) {
				title := fmt.Sprintf("Make a token for %s with the role %s? Whoever holds it answers in this name.", show.Line(args[0]), role)
				if err := a.confirm(cmd.Context(), "serve token create", ask.View{Title: title}); err != nil {
					return err
				}
			}
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			t := server.Token{Name: args[0], Role: server.Role(role), Program: program || role == string(server.Agent), By: person().String()}
			secret, t, err := server.NewKeys(box).Create(cmd.Context(), t, lifetime)
			if err != nil {
				return usage{err}
			}
			if err := box.Note(cmd.Context(), person().String(), fmt.Sprintf("made token %s for %s (%s)", t.ID, t.Name, t.Role)); err != nil {
				return err
			}
			fmt.Fprintf(a.err, "Token %s of %s, role %s, expires %s. Keep it: it is shown this once.\n", t.ID, t.Name, t.Role, ends(t.Expires))
			fmt.Fprintln(a.out, secret)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&role, "role", string(server.Viewer), "viewer, approver, admin or agent")
	f.StringVar(&expires, "expires", "90d", "how long it is valid, such as 12h or 30d, or never")
	f.BoolVar(&program, "program", false, "no person stands behind it")
	return cmd
}

func ends(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Local().Format(time.DateTime)
}

func (a *app) tokenList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their secrets",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			list, err := server.NewKeys(box).Tokens(cmd.Context())
			if err != nil {
				return err
			}
			if len(list) == 0 {
				fmt.Fprintln(a.err, "There are no tokens. 'tackle serve token create NAME --role ROLE' makes one.")
				return nil
			}
			w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			for _, t := range list {
				kind := "person"
				if t.Program {
					kind = "program"
				}
				state := "expires " + ends(t.Expires)
				if !t.Expires.IsZero() && time.Now().After(t.Expires) {
					state = "expired " + ends(t.Expires)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\tmade %s\t%s\n", t.ID, t.Name, t.Role, kind, t.Created.Local().Format(time.DateOnly), state)
			}
			return w.Flush()
		},
	}
}

func (a *app) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Void a token, given by its id, and the logins that came from it",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			was, err := server.NewKeys(box).Revoke(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if !was {
				return usage{fmt.Errorf("there is no token %q; 'tackle serve token list' shows them", args[0])}
			}
			if err := box.Note(cmd.Context(), person().String(), "revoked token "+args[0]); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Token %s is void.\n", args[0])
			return nil
		},
	}
}

func (a *app) codeCommand() *cobra.Command {
	var name, role string
	cmd := &cobra.Command{
		Use:   "code",
		Short: "Make a code that logs a person in at the console, once, within five minutes",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			who := person()
			if name != "" {
				who.Name = name
			}
			who.Role = server.Role(role)
			title := fmt.Sprintf("Make a code that logs %s in with the role %s? Whoever has it answers in this name.", show.Line(who.Name), show.Line(role))
			if err := a.confirm(cmd.Context(), "serve code", ask.View{Title: title}); err != nil {
				return err
			}
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			code, expires, err := server.NewKeys(box).Code(cmd.Context(), who, "")
			if err != nil {
				return usage{err}
			}
			base, err := server.Address(cmd.Context(), box)
			if err != nil {
				return err
			}
			if err := box.Note(cmd.Context(), person().String(), fmt.Sprintf("made a code for %s (%s)", who.Name, who.Role)); err != nil {
				return err
			}
			if base == "" {
				fmt.Fprintln(a.err, "No server runs here now; start one with 'tackle serve'. The code is valid until "+expires.Local().Format(time.TimeOnly)+".")
				base = "http://" + server.DefaultListen
			}
			fmt.Fprintln(a.out, base+"/login?code="+code)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "who logs in (default: you)")
	cmd.Flags().StringVar(&role, "role", string(server.Admin), "viewer, approver or admin")
	return cmd
}
