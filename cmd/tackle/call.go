package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/tool"
)

func (a *app) callCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON | -]",
		Short: "Call one tool and print its result",
		Long: "Call one tool with a JSON object of arguments, or with the object on standard input (-).\n" +
			"Exit status: 0 success, 1 the tool failed, 2 wrong command line, 3 denied.",
		Example: `  tackle call read_file '{"path": "go.mod"}'
  tackle call edit '{"path": "a.txt", "old_string": "one", "new_string": "two"}'
  echo '{"pattern": "**/*.go"}' | tackle call glob -`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw := json.RawMessage("{}")
			if len(args) == 2 {
				raw = json.RawMessage(args[1])
				if args[1] == "-" {
					b, err := io.ReadAll(a.in)
					if err != nil {
						return fmt.Errorf("read arguments from standard input: %w", err)
					}
					raw = b
				}
			}
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			defer a.askHere(cmd.Context(), box)()
			req := tackle.NewRequest(args[0], raw)
			var seen strings.Builder
			if isTerminal(a.err) { // whoever waits; a script gets the result
				req.Partial = func(s string) {
					seen.WriteString(s)
					fmt.Fprint(a.err, forPeople(a.err, s))
				}
			}
			res, err := box.Call(cmd.Context(), req)
			if err != nil {
				return err
			}
			a.sayWhatEnds(box)
			if isTerminal(a.out) && !asJSON {
				dropSeen(&res, seen.String())
			}
			return a.finish(&res, asJSON)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object: ok, error, content, data, meta")
	f.StringVar(&a.approve, "approve", "", "answer what policy would ask a person: always or never (default: ask at the terminal, where there is one)")
	f.StringVar(&a.session, "session", "", "session that the call belongs to (default: a new one)")
	return cmd
}

// dropSeen takes from the text of a result what whoever waited has seen already.
func dropSeen(res *tool.Result, seen string) {
	if len(res.Parts) == 0 || res.Parts[0].Kind != tool.TextKind || seen == "" {
		return
	}
	rest, ok := strings.CutPrefix(res.Parts[0].Text+"\n", seen)
	switch {
	case ok && rest == "":
		res.Parts = res.Parts[1:]
	case ok:
		res.Parts[0].Text = strings.TrimSuffix(rest, "\n")
	}
}

// finish prints a result and returns the exit status that belongs to it.
func (a *app) finish(res *tool.Result, asJSON bool) error {
	if err := a.print(res, asJSON); err != nil {
		return err
	}
	switch {
	case res.Denied != nil:
		return exit(exitDenied)
	case res.Err != nil:
		return exit(exitFailed)
	}
	return nil
}

// callOutput is the JSON form of a result.
type callOutput struct {
	OK      bool        `json:"ok"`
	Error   *tool.Error `json:"error,omitempty"`
	Denied  bool        `json:"denied,omitempty"`
	Content []part      `json:"content"`
	Data    any         `json:"data,omitempty"`
	Meta    tool.Meta   `json:"meta"`
}

// part is a content part in the field names of MCP.
type part struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	Data string `json:"data,omitempty"` // base64
	MIME string `json:"mimeType,omitempty"`
	Name string `json:"name,omitempty"`
	URI  string `json:"uri,omitempty"`
}

func (a *app) print(res *tool.Result, asJSON bool) error {
	if !asJSON {
		return a.printText(res)
	}
	o := callOutput{OK: res.OK(), Error: res.Err, Denied: res.Denied != nil, Content: []part{}, Data: res.Data, Meta: res.Meta}
	for _, p := range res.Parts {
		o.Content = append(o.Content, part{Type: string(p.Kind), Text: p.Text, Data: base64.StdEncoding.EncodeToString(p.Data), MIME: p.MIME, Name: p.Name, URI: p.URI})
	}
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(o)
}

// printText prints what the model would read; failures go to standard error. A single picture or document is written
// as bytes where standard output is a pipe, and described on a terminal.
func (a *app) printText(res *tool.Result) error {
	w := a.out
	if !res.OK() {
		w = a.err
	}
	for _, p := range res.Parts {
		switch {
		case p.Kind == tool.TextKind:
			text := []byte(forPeople(w, p.Text))
			if !bytes.HasSuffix(text, []byte("\n")) {
				text = append(text, '\n')
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
		default:
			fmt.Fprintf(w, "[%s %s %s, %d bytes; --json shows it]\n", p.Kind, p.MIME, p.Name, len(p.Data))
		}
	}
	if len(res.Meta.Repairs) > 0 {
		for _, r := range res.Meta.Repairs {
			fmt.Fprintf(a.err, "repaired %s\n", r)
		}
	}
	return nil
}

// forPeople escapes text that goes to a terminal, so that what a file or a program holds cannot act on it. A pipe gets the
// text as it is.
func forPeople(w io.Writer, text string) string {
	if !isTerminal(w) {
		return text
	}
	return show.Text(text)
}
