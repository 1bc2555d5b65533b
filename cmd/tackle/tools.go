package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/tiktoken-go/tokenizer"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// formats maps the names on the command line to the wire forms of definitions (T14).
var formats = map[string]schema.Format{
	"openai": schema.FormatOpenAIChat, "openai-responses": schema.FormatOpenAIResponses, "anthropic": schema.FormatAnthropic,
	"gemini": schema.FormatGemini, "ollama": schema.FormatOllama, "mcp": schema.FormatMCP,
}

func (a *app) toolsCommand() *cobra.Command {
	var asJSON, tokens, usages bool
	var model, format, session string
	cmd := &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List the tools of a mode, or show one",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			if usages {
				return a.showUsage(cmd.Context(), box, session, asJSON)
			}
			view := box.View()
			view.Model = model
			defs := box.Tools(view)
			if len(args) == 1 {
				defs = slices.DeleteFunc(defs, func(d tool.Definition) bool { return d.Name != args[0] })
				if len(defs) == 0 {
					return usage{fmt.Errorf("no tool %q in mode %q: %s", args[0], view.Mode, box.Absence(args[0], view))}
				}
			}
			switch {
			case format != "" || asJSON:
				return a.renderTools(defs, format)
			case tokens:
				return a.countTokens(defs)
			case len(args) == 1:
				return a.showTool(defs[0])
			}
			return a.listTools(box, view, defs)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print definitions as JSON (the form of --format mcp)")
	f.StringVar(&model, "model", "", "the list that this model sees")
	f.StringVar(&format, "format", "", "print definitions for openai, openai-responses, anthropic, gemini, ollama or mcp")
	f.BoolVar(&usages, "usage", false, "print calls, failures, durations and bytes of each tool, as they were recorded")
	f.StringVar(&session, "session", "", "with --usage: of this session only")
	f.BoolVar(&tokens, "tokens", false, "print how many tokens (o200k) the definitions cost")
	return cmd
}

// showUsage prints the usage figures of the recorded calls.
func (a *app) showUsage(ctx context.Context, box *tackle.Box, session string, asJSON bool) error {
	list, err := box.Usage(ctx, session)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.out, "No call is recorded here.")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "calls\tfailed\tdenied\tp50\tp90\tp99\tbytes in\tbytes out\t  tool")
	for _, f := range list {
		fmt.Fprintf(w, "%d\t%d\t%d\t%v\t%v\t%v\t%d\t%d\t  %s\n", f.Calls, f.Failures, f.Denied, rounded(f.P50), rounded(f.P90), rounded(f.P99), f.BytesIn, f.BytesOut, show.Line(f.Tool))
	}
	return w.Flush()
}

// rounded keeps two digits of a duration or so, which is what quantiles are good for.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit)
}

func (a *app) renderTools(defs []tool.Definition, format string) error {
	if format == "" {
		format = "mcp"
	}
	f, ok := formats[format]
	if !ok {
		names := make([]string, 0, len(formats))
		for n := range formats {
			names = append(names, n)
		}
		slices.Sort(names)
		return usage{fmt.Errorf("--format %q: want one of %s", format, strings.Join(names, ", "))}
	}
	out := make([]json.RawMessage, 0, len(defs))
	for _, d := range defs {
		b, err := schema.Render(f, d.Def())
		if err != nil {
			return fmt.Errorf("render %s for %s: %w", d.Name, format, err)
		}
		out = append(out, b)
	}
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// countTokens prints the cost of each definition in the form that models read.
func (a *app) countTokens(defs []tool.Definition) error {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	total := 0
	for _, d := range defs {
		b, err := schema.Render(schema.FormatOpenAIResponses, d.Def())
		if err != nil {
			return err
		}
		n, err := codec.Count(string(b))
		if err != nil {
			return err
		}
		total += n
		fmt.Fprintf(w, "%d\t  %s\t\n", n, d.Name)
	}
	fmt.Fprintf(w, "%d\t  all %d tools\t\n", total, len(defs))
	return w.Flush()
}

func (a *app) listTools(box *tackle.Box, view tackle.View, defs []tool.Definition) error {
	if len(defs) == 0 {
		fmt.Fprintf(a.out, "Mode %q has no tools. Modes: %s\n", view.Mode, strings.Join(box.Modes(), ", "))
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, d := range defs {
		first, _, _ := strings.Cut(d.Description, ". ")
		fmt.Fprintf(w, "%s\t%s\t%s\n", d.Name, hints(d), strings.TrimSuffix(first, "."))
	}
	return w.Flush()
}

func hints(d tool.Definition) string {
	switch {
	case d.Annotations.ReadOnly:
		return "reads"
	case d.Annotations.Destructive:
		return "changes, may remove"
	}
	return "changes"
}

func (a *app) showTool(d tool.Definition) error {
	fmt.Fprintf(a.out, "%s — %s\n\n%s\n\n", d.Name, d.Title, d.Description)
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, name := range d.Schema.PropertyOrder {
		p := d.Schema.Properties[name]
		must := ""
		if slices.Contains(d.Schema.Required, name) {
			must = "required"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", name, p.Type, must, p.Description)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(a.out, "\nExample: tackle call "+d.Name+" '"+d.Example+"'\nPermission: "+d.Permission+"\n")
	return err
}
