package permission

import (
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/tool"
)

// Text renders the explanation for people. Names and patterns are quoted, so that nothing in them hides.
func (e Explanation) Text() string {
	var b strings.Builder
	e.text(&b)
	return b.String()
}

func (e *Explanation) text(b *strings.Builder) {
	fmt.Fprintf(b, "%s asks under the permission %s", e.Tool, e.Permission)
	if e.Mode != "" {
		fmt.Fprintf(b, " in mode %s", e.Mode)
	}
	b.WriteString("\n")
	if e.Visible {
		b.WriteString("visible: no layer's last rule for it denies everything\n")
	} else if e.HiddenBy != "" {
		fmt.Fprintf(b, "not visible: denied by %s\n", e.HiddenBy)
	} else {
		b.WriteString("not visible: hidden by the parent\n")
	}
	if e.Targets == nil {
		for _, l := range e.Layers {
			l.text(b, "  ", false)
		}
		fmt.Fprintf(b, "  posture %s decides where no layer has an opinion\n", e.Posture)
	}
	for _, t := range e.Targets {
		t.text(b, e.Posture)
	}
	if e.Decision != nil {
		fmt.Fprintf(b, "call: %s by %s\n", e.Decision.Verdict, e.Decision.By)
		if e.Decision.Reason != "" {
			fmt.Fprintf(b, "  %s\n", e.Decision.Reason)
		}
	}
	if e.Parent != nil {
		b.WriteString("parent session:\n")
		for line := range strings.Lines(e.Parent.Text()) {
			b.WriteString("  " + line)
		}
	}
}

func (t *TargetView) text(b *strings.Builder, p Posture) {
	name := "no target"
	if t.Value != "" {
		name = fmt.Sprintf("%s %q", t.Kind, t.Value)
	}
	if t.Given != "" {
		name += fmt.Sprintf(" (given as %q)", t.Given)
	}
	var classes []string
	for _, c := range t.Classes {
		classes = append(classes, string(c))
	}
	fmt.Fprintf(b, "%s %s: %s\n", t.Effect, name, strings.Join(classes, ", "))
	if t.Guard != "" {
		fmt.Fprintf(b, "  guard %s\n", t.Guard)
	}
	opinions := 0
	for _, l := range t.Layers {
		l.text(b, "  ", true)
		if l.Opinion != "" {
			opinions++
		}
	}
	if opinions == 0 {
		fmt.Fprintf(b, "  posture %s: %s\n", p, t.Default)
	} else {
		fmt.Fprintf(b, "  posture %s: %s, but a layer has an opinion\n", p, t.Default)
	}
	if t.Grant != "" {
		fmt.Fprintf(b, "  grant %s answers the ask\n", t.Grant)
	}
	fmt.Fprintf(b, "  = %s by %s\n", t.Verdict, t.By)
}

func (l *LayerView) text(b *strings.Builder, indent string, judged bool) {
	fmt.Fprintf(b, "%slayer %s", indent, l.Name)
	if l.Untrusted {
		b.WriteString(" (not trusted: its allow rules are ignored)")
	}
	switch {
	case len(l.Rules) == 0:
		b.WriteString(": no rule for this permission")
	case judged && l.Opinion == "":
		b.WriteString(": no opinion")
	case judged:
		b.WriteString(": " + l.Opinion)
	}
	b.WriteString("\n")
	for _, r := range l.Rules {
		mark := " "
		if r.Decides {
			mark = ">"
		}
		fmt.Fprintf(b, "%s%s %d %s %q", indent, mark, r.Number, r.Rule.Action, r.Rule.Pattern)
		if at := r.Rule.Source.String(); at != "" {
			fmt.Fprintf(b, "  %s", at)
		}
		if r.Matches {
			b.WriteString("  matches")
		}
		if r.Note != "" {
			fmt.Fprintf(b, "  (%s)", r.Note)
		}
		if r.Decides && r.Rule.Reason != "" && r.Rule.Action != tool.Allow {
			fmt.Fprintf(b, "  %q", r.Rule.Reason)
		}
		b.WriteString("\n")
	}
}
