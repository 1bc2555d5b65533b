package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// Answerer asks the person behind the MCP client of a call. It is the toolbox.Answerer of a box that is served; calls
// that did not come through a Server, and clients that cannot ask, go to Else. The zero value works.
//
// In the older era the question is an elicitation request; in the newer one the call answers with what it needs and goes
// on when the client comes back. A person who declines has denied. A client that dismisses the question without a person
// (as some do when they run without a terminal) has not answered.
type Answerer struct {
	// Else answers where the client cannot ask, or dismissed the question; nil means a denial that names a ticket.
	Else toolbox.Answerer
	// Ticket stores an ask that nobody could answer, so that a person can allow it before the call is repeated, and
	// returns its name; nil means no tickets.
	Ticket func(ctx context.Context, ask toolbox.Asked) (string, error)
	// Approve says how a person answers a ticket, with %s for its name. Default: "tackle approve %s".
	Approve string
}

// Answer is described at toolbox.Answerer.
func (a *Answerer) Answer(ctx context.Context, ask toolbox.Asked) (tool.Decision, error) {
	r := runningFrom(ctx)
	if r == nil {
		return a.elsewhere(ctx, ask, "nobody is here to give it")
	}
	who := r.peer.client().Name
	if !r.peer.elicits() {
		return a.elsewhere(ctx, ask, fmt.Sprintf("the client %q cannot ask for it", who))
	}
	timed, cancel := context.WithTimeoutCause(ctx, r.srv.cfg.AskTime, errUnasked)
	defer cancel()
	answer, err := r.elicit(timed, question(ask))
	switch {
	case ctx.Err() != nil:
		return tool.Decision{}, ctx.Err()
	case errors.Is(context.Cause(timed), errUnasked):
		return a.elsewhere(ctx, ask, fmt.Sprintf("no answer came within %v", r.srv.cfg.AskTime))
	case err != nil:
		return a.elsewhere(ctx, ask, fmt.Sprintf("the client %q could not ask for it (%v)", who, err))
	case answer.Action == "accept" || answer.Action == "decline":
		return decide(ask, answer, who), nil
	}
	return a.elsewhere(ctx, ask, fmt.Sprintf("the client %q dismissed the question", who))
}

// ErrCannotAsk is returned by Ask where nobody can be asked: the call came through no server, or its client shows no forms.
var ErrCannotAsk = errors.New("the client cannot ask its person")

// Reply is what came of a question. Action is "accept", "decline" or "cancel"; Content is there where it is "accept".
type Reply struct {
	Action  string
	Content map[string]any
}

// Ask asks the person behind the client of a call for structured input. schema is a JSON Schema of an object with
// primitive properties, as elicitation allows. The question ends with the call, or after Config.AskTime.
// Errors: ErrCannotAsk, or why the answer did not come.
func Ask(ctx context.Context, message string, schema any) (Reply, error) {
	r := runningFrom(ctx)
	if r == nil || !r.peer.elicits() {
		return Reply{}, ErrCannotAsk
	}
	timed, cancel := context.WithTimeoutCause(ctx, r.srv.cfg.AskTime, errUnasked)
	defer cancel()
	res, err := r.elicit(timed, &sdk.ElicitParams{Mode: "form", Message: visible(message), RequestedSchema: schema})
	if err != nil {
		if timed.Err() != nil {
			err = context.Cause(timed)
		}
		return Reply{}, fmt.Errorf("ask: %w", err)
	}
	return Reply{res.Action, res.Content}, nil
}

func (a *Answerer) elsewhere(ctx context.Context, ask toolbox.Asked, why string) (tool.Decision, error) {
	if a.Else != nil {
		return a.Else.Answer(ctx, ask)
	}
	d := ask.Policy
	d.Verdict = tool.Deny
	d.Reason = join(ask.Policy.Reason, "It needs a person's approval and "+why+".")
	if a.Ticket == nil {
		return d, nil
	}
	ticket, err := a.Ticket(ctx, ask)
	if err != nil {
		return d, fmt.Errorf("store a ticket: %w", err)
	}
	how := a.Approve
	if how == "" {
		how = "tackle approve %s"
	}
	d.Ticket = ticket
	d.Reason += fmt.Sprintf(" Ticket %s: a person can allow it with `%s`; then repeat the call unchanged", ticket, fmt.Sprintf(how, ticket))
	return d, nil
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return strings.TrimRight(a, ". ") + ". " + b
}

// The form that a person fills in.
const (
	answerField = "answer"
	wordsField  = "words"
	hunksField  = "hunks"
	allowOnce   = "allow once"
	deny        = "deny"
)

// Lengths of what a form shows, in characters. Clients show a form in a small window.
const (
	maxShownDiff   = 6000
	maxShownTarget = 400
	maxTargets     = 20
)

// question builds the elicitation for an ask.
func question(ask toolbox.Asked) *sdk.ElicitParams {
	in := ask.Intent
	var b strings.Builder
	fmt.Fprintf(&b, "%s asks to %s.", visibleLine(in.Tool), effects(in.Effects))
	if ask.Policy.Reason != "" {
		fmt.Fprintf(&b, " %s", visibleLine(ask.Policy.Reason))
	}
	for i, t := range in.Targets {
		if i == maxTargets {
			fmt.Fprintf(&b, "\nand %d more", len(in.Targets)-maxTargets)
			break
		}
		fmt.Fprintf(&b, "\n%s %s: %s", t.Effect, t.Kind, clip.Middle(visibleLine(t.Value), maxShownTarget))
	}
	if !in.Changes.Empty() {
		diff := visible(in.Changes.Preview("", change.PreviewOptions{}).Diff)
		b.WriteString("\n\n" + clip.Middle(diff, maxShownDiff))
		if len(diff) > maxShownDiff {
			b.WriteString("\n\nThe middle is not shown here.")
		}
	}
	return &sdk.ElicitParams{Mode: "form", Message: b.String(), RequestedSchema: form(ask.Hunks)}
}

func effects(list []tool.Effect) string {
	words := make([]string, len(list))
	for i, e := range list {
		words[i] = string(e)
	}
	return strings.Join(words, ", ")
}

func form(hunks int) map[string]any {
	properties := map[string]any{
		answerField: map[string]any{"type": "string", "title": "Allow this?", "enum": []string{allowOnce, deny}},
		wordsField:  map[string]any{"type": "string", "title": "Words for the model", "description": "Optional: why not, or what to do instead."},
	}
	if hunks > 1 {
		properties[hunksField] = map[string]any{"type": "string", "title": "Only these edits",
			"description": fmt.Sprintf("Optional: numbers of the edits to allow, of 1 to %d, with commas. Empty allows all.", hunks)}
	}
	return map[string]any{"type": "object", "properties": properties, "required": []string{answerField}}
}

// decide turns the filled-in form into a decision. What is not clearly an allow is a denial.
func decide(ask toolbox.Asked, answer *sdk.ElicitResult, client string) tool.Decision {
	d := tool.Decision{Verdict: tool.Deny, By: fmt.Sprintf("the person at %q", client), Person: true,
		Fingerprint: ask.Policy.Fingerprint, At: time.Now()}
	field := func(name string) string { s, _ := answer.Content[name].(string); return strings.TrimSpace(s) }
	d.Reason = field(wordsField)
	if answer.Action != "accept" || field(answerField) != allowOnce {
		return d
	}
	d.Verdict = tool.Allow
	if list := field(hunksField); list != "" && ask.Hunks > 1 {
		hunks, err := parseHunks(list, ask.Hunks)
		if err != nil {
			d.Verdict, d.Reason = tool.Deny, fmt.Sprintf("the answer named edits that cannot be read: %v", err)
			return d
		}
		d.Hunks, d.Denied = hunks, map[int]string{}
		for n := 1; n <= ask.Hunks; n++ {
			if !slices.Contains(hunks, n) {
				d.Denied[n] = d.Reason
			}
		}
	}
	return d
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
