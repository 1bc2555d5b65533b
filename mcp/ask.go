package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission/ask"
)

// ErrCannotAsk is returned where nobody can be asked: the call came through no server, or its client shows no forms.
var ErrCannotAsk = errors.New("the client cannot ask its person")

// errDismissed says that a client closed the question without a person, as some do when they run without a terminal.
var errDismissed = errors.New("the client dismissed the question")

// Face asks the person behind the MCP client of a call. It is an ask.Face for the questions of calls (ask.Question.Faces):
// the call is found in the context. In the older era the question is an elicitation request; in the newer one the call
// answers with what it needs and goes on when the client comes back. Where the client cannot ask, or dismissed the
// question, Face leaves it to the other faces; with nobody else there the queue denies, and leaves a ticket.
type Face struct{}

// Ask is described at ask.Face.
func (Face) Ask(ctx context.Context, r *ask.Request) (ask.Answer, error) {
	call := runningFrom(ctx)
	if call == nil || !call.peer.elicits() {
		return ask.Answer{}, ErrCannotAsk
	}
	reply, err := elicit(ctx, call, question(&r.View), form(r))
	switch {
	case err != nil:
		return ask.Answer{}, err
	case reply.Action != "accept" && reply.Action != "decline":
		return ask.Answer{}, errDismissed
	}
	return answerOf(r, reply, call.peer.client().Name), nil
}

// Reply is what came of a question. Action is "accept", "decline" or "cancel"; Content is there where it is "accept".
type Reply struct {
	Action  string
	Content map[string]any
}

// Ask asks the person behind the client of a call for structured input. schema is a JSON Schema of an object with
// primitive properties, as elicitation allows. The question ends with the call, or after Config.AskTime.
// Errors: ErrCannotAsk, or why the answer did not come.
func Ask(ctx context.Context, message string, schema any) (Reply, error) {
	call := runningFrom(ctx)
	if call == nil || !call.peer.elicits() {
		return Reply{}, ErrCannotAsk
	}
	return elicit(ctx, call, show.Text(message), schema)
}

func elicit(ctx context.Context, call *running, message string, schema any) (Reply, error) {
	timed, cancel := context.WithTimeoutCause(ctx, call.srv.cfg.AskTime, errUnasked)
	defer cancel()
	res, err := call.elicit(timed, &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: schema})
	if err != nil {
		if timed.Err() != nil {
			err = context.Cause(timed)
		}
		return Reply{}, fmt.Errorf("ask the client's person: %w", err)
	}
	return Reply{res.Action, res.Content}, nil
}

// The fields of the form.
const (
	answerField = "answer"
	wordsField  = "words"
	hunksField  = "hunks"
	deny        = "deny"
)

// Lengths of what a form shows, in characters. Clients show a form in a small window.
const (
	maxShownDiff   = 6000
	maxShownScript = 2000
	maxShownTarget = 400
	maxTargets     = 20
	maxArgs        = 20
)

// question is the text above the form. What does not fit is cut in the middle, and said to be.
func question(v *ask.View) string {
	var b strings.Builder
	b.WriteString(v.Title)
	if len(v.Badges) > 0 {
		fmt.Fprintf(&b, " [%s]", strings.Join(v.Badges, ", "))
	}
	line := func(format string, args ...any) { fmt.Fprintf(&b, "\n"+format, args...) }
	if v.Reason != "" {
		line("Why: %s", v.Reason)
	}
	for _, w := range v.Warnings {
		line("Warning: %s", w)
	}
	if v.Dir != "" {
		line("In: %s", cut(v.Dir, maxShownTarget))
	}
	if v.Diff == "" { // otherwise the changes say more
		for i, f := range v.Args {
			if i == maxArgs {
				line("and %d more arguments", len(v.Args)-maxArgs)
				break
			}
			line("%s: %s", cut(f.Name, maxShownTarget), cut(f.Value, maxShownTarget))
		}
	}
	for i, t := range v.Targets {
		if more := len(v.Targets) - maxTargets; more > 0 && i >= maxTargets-1 && i < len(v.Targets)-1 { // the last is shown
			if i == maxTargets-1 {
				line("and %d more", more)
			}
			continue
		}
		line("%s %s: %s", t.Effect, t.Kind, cut(t.Value, maxShownTarget))
	}
	part := func(title, text string, most int) {
		if text == "" {
			return
		}
		shown, cut := show.Cut(text, most)
		line("\n%s%s", title, shown)
		if cut {
			line("The middle is not shown here; other faces show the whole.")
		}
	}
	for _, s := range v.Scripts {
		part("A shell would run:\n", s, maxShownScript)
	}
	part("", v.Summary, maxShownScript)
	part("", v.Diff, maxShownDiff)
	return b.String()
}

func cut(escaped string, width int) string {
	s, _ := show.Cut(escaped, width)
	return s
}

// form offers what the request offers, a denial, words, and single hunks where they can be chosen.
func form(r *ask.Request) map[string]any {
	var choices []string
	for _, o := range r.Offers {
		if o.Scope != ask.Until { // a time cannot be chosen here
			choices = append(choices, choice(o))
		}
	}
	properties := map[string]any{
		answerField: map[string]any{"type": "string", "title": "Allow this?", "enum": append(choices, deny)},
		wordsField:  map[string]any{"type": "string", "title": "Words for the model", "description": "Optional: why not, or what to do instead."},
	}
	if r.Hunks > 1 {
		properties[hunksField] = map[string]any{"type": "string", "title": "Only these edits",
			"description": fmt.Sprintf("Optional: numbers of the edits to allow, of 1 to %d, with commas. Empty allows all.", r.Hunks)}
	}
	return map[string]any{"type": "object", "properties": properties, "required": []string{answerField}}
}

func choice(o ask.Offer) string {
	if o.Says == "" {
		return "allow " + string(o.Scope)
	}
	return "allow " + o.Says
}

// answerOf reads the filled-in form. What is not clearly an allow is a denial.
func answerOf(r *ask.Request, reply Reply, client string) ask.Answer {
	a := ask.Answer{Fingerprint: r.Fingerprint, Approver: ask.Approver{Name: "user of " + client, Face: "mcp"}}
	field := func(name string) string { s, _ := reply.Content[name].(string); return strings.TrimSpace(s) }
	a.Words = field(wordsField)
	if reply.Action != "accept" {
		return a
	}
	for _, o := range r.Offers {
		if field(answerField) == choice(o) && !a.Allow { // the first is the narrowest
			a.Allow, a.Scope = true, o.Scope
		}
	}
	list := field(hunksField)
	if !a.Allow || list == "" || r.Hunks < 2 {
		return a
	}
	hunks, err := parseHunks(list, r.Hunks)
	if err != nil {
		a.Allow, a.Words = false, fmt.Sprintf("the answer named edits that cannot be read: %v", err)
		return a
	}
	a.Scope, a.Hunks, a.Denied = ask.Once, hunks, map[int]string{}
	for n := 1; n <= r.Hunks; n++ {
		if !slices.Contains(hunks, n) {
			a.Denied[n] = a.Words
		}
	}
	return a
}

func parseHunks(list string, most int) ([]int, error) {
	var out []int
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		n, err := strconv.Atoi(strings.TrimPrefix(w, "#"))
		if err != nil || n < 1 || n > most {
			return nil, fmt.Errorf("%q is not a number from 1 to %d", w, most)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
