package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/internal/show"
)

func (a *app) ledgerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "The record of what was asked, who decided and what ran",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.ledgerShow(), a.ledgerVerify(), a.ledgerExport())
	for _, c := range cmd.Commands() {
		c.Args = usageArgs(c.Args)
	}
	return cmd
}

func (a *app) ledgerShow() *cobra.Command {
	var asJSON bool
	var session string
	var last int
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the newest entries",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			var list []tackle.LedgerEntry
			for after := int64(0); ; {
				page, err := box.Ledger(cmd.Context(), after, 1000)
				if err != nil {
					return err
				}
				if len(page) == 0 {
					break
				}
				after = page[len(page)-1].Seq
				for _, e := range page {
					if session == "" || e.Session == session {
						list = append(list, e)
					}
				}
				if last > 0 && len(list) > last {
					list = append(list[:0:0], list[len(list)-last:]...)
				}
			}
			if asJSON {
				if list == nil {
					list = []tackle.LedgerEntry{}
				}
				return a.printJSON(list)
			}
			for i := range list {
				fmt.Fprintln(a.out, ledgerLine(&list[i]))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print the entries as JSON")
	f.StringVar(&session, "session", "", "only entries of this session")
	f.IntVarP(&last, "last", "n", 50, "the newest N entries; 0 is all")
	return cmd
}

// ledgerLine renders an entry for people.
func ledgerLine(e *tackle.LedgerEntry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", e.Seq, e.At.Local().Format(time.DateTime), e.Kind)
	word := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, " %s%s", name, show.Line(value))
		}
	}
	word("", e.Tool)
	word("", e.Decision)
	word("by ", e.By)
	word("outcome ", e.Outcome)
	for i, t := range e.Targets {
		if i == 3 {
			fmt.Fprintf(&b, " and %d more", len(e.Targets)-3)
			break
		}
		cut, _ := show.Cut(show.Line(t), 120)
		b.WriteString(" " + cut)
	}
	word("session ", e.Session)
	word("call ", e.Call)
	return b.String()
}

func (a *app) ledgerVerify() *cobra.Command {
	var anchors []string
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Prove that no entry was changed, removed or added since it was written",
		Long: "Read the whole ledger, or an export of it, and check the chain of hashes. Keep the anchor that it prints somewhere\n" +
			"else, and give it back with --anchor: that shows that nothing was cut off or written anew.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			known, err := parseAnchors(anchors)
			if err != nil {
				return usage{err}
			}
			var report tackle.LedgerReport
			if len(args) == 1 {
				report, err = verifyFile(args[0], known)
			} else {
				box, openErr := a.open(cmd.Context())
				if openErr != nil {
					return openErr
				}
				defer box.Close()
				report, err = box.VerifyLedger(cmd.Context(), known...)
			}
			if err != nil {
				fmt.Fprintf(a.out, "%d entries are whole.\n", report.Entries)
				return err
			}
			fmt.Fprintf(a.out, "%d entries, all whole. Anchor: %d:%s\n", report.Entries, report.Head.Seq, report.Head.Hash)
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&anchors, "anchor", nil, "NUMBER:HASH of an entry, noted earlier; may be repeated")
	return cmd
}

func verifyFile(path string, anchors []ledger.Anchor) (ledger.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return ledger.Report{}, err
	}
	defer f.Close()
	return ledger.VerifyExport(f, anchors...)
}

func parseAnchors(texts []string) ([]ledger.Anchor, error) {
	var out []ledger.Anchor
	for _, t := range texts {
		number, hash, ok := strings.Cut(t, ":")
		seq, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil || len(hash) != 64 {
			return nil, fmt.Errorf("--anchor %q: want NUMBER:HASH, as 'tackle ledger verify' prints it", t)
		}
		out = append(out, ledger.Anchor{Seq: seq, Hash: hash})
	}
	return out, nil
}

func (a *app) ledgerExport() *cobra.Command {
	var after int64
	var to string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the entries as JSON lines, each exactly as it is stored",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			w := io.Writer(a.out)
			if to != "" {
				f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
				if err != nil {
					return err
				}
				defer func() {
					if closed := f.Close(); err == nil {
						err = closed
					}
				}()
				w = f
			}
			return box.ExportLedger(cmd.Context(), w, after)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&after, "after", 0, "only entries behind this number")
	f.StringVarP(&to, "output", "o", "", "a new file (default: standard output)")
	return cmd
}

// printJSON prints a value as indented JSON, with its characters as they are.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
