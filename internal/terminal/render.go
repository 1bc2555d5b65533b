package terminal

import (
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission/ask"
)

// style lays out an ask, with colour or without. All texts of a view are escaped already.
type style bool

func (s style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string   { return s.paint("1", t) }
func (s style) dim(t string) string    { return s.paint("2", t) }
func (s style) red(t string) string    { return s.paint("31", t) }
func (s style) green(t string) string  { return s.paint("32", t) }
func (s style) yellow(t string) string { return s.paint("33", t) }
func (s style) cyan(t string) string   { return s.paint("36", t) }
func (s style) badge(t string) string  { return s.paint("7", "["+t+"]") }

// sizes says how much of each part is shown.
type sizes struct {
	value, target int // characters of one value
	lines         int // of the changes, and of each script
	targets       int
}

// ask draws the prompt for a screen of columns × lines; 0 means unknown.
func (s style) ask(r *ask.Request, plain bool, columns, lines int) string {
	if columns < 40 {
		columns = 80
	}
	if lines < 10 {
		lines = 24
	}
	var b strings.Builder
	cut := s.body(&b, &r.View, sizes{value: 2 * columns, target: 3 * columns, lines: max(lines-14, 8), targets: 10})
	if cut {
		b.WriteString(s.yellow("  Not everything is shown; v shows the whole.") + "\n")
	}
	b.WriteString(s.keys(r, plain))
	return b.String()
}

// whole draws everything.
func (s style) whole(r *ask.Request) string {
	var b strings.Builder
	s.body(&b, &r.View, sizes{})
	return b.String()
}

// body draws a view and reports whether something was cut. Sizes of 0 cut nothing.
func (s style) body(b *strings.Builder, v *ask.View, size sizes) (cut bool) {
	line := func(text string, width int) string {
		if width <= 0 {
			return text
		}
		out, did := show.Cut(text, width)
		cut = cut || did
		return out
	}
	block := func(text string, paint func(string) string) {
		if size.lines > 0 {
			var missing int
			text, missing = show.Lines(text, size.lines)
			cut = cut || missing > 0
		}
		for l := range strings.Lines(text) {
			b.WriteString("  " + paint(line(strings.TrimSuffix(l, "\n"), size.target)) + "\n")
		}
	}
	b.WriteString("\n" + s.bold("? "+line(v.Title, size.target)))
	for _, badge := range v.Badges {
		b.WriteString(" " + s.badge(badge))
	}
	b.WriteString("\n")
	if v.Reason != "" {
		fmt.Fprintf(b, "  %s %s\n", s.dim("why"), line(v.Reason, size.target))
	}
	if v.Dir != "" {
		fmt.Fprintf(b, "  %s %s\n", s.dim("in"), line(v.Dir, size.target))
	}
	for _, f := range v.Args {
		fmt.Fprintf(b, "  %s %s\n", s.cyan(line(f.Name, size.value)+":"), line(f.Value, size.value))
	}
	targets := v.Targets
	if size.targets > 0 && len(targets) > size.targets {
		cut = true
		targets = append(targets[:size.targets-1:size.targets-1], targets[len(targets)-1])
	}
	for i, t := range targets {
		if i == len(targets)-1 && len(targets) < len(v.Targets) {
			fmt.Fprintf(b, "  … and %d more\n", len(v.Targets)-len(targets))
		}
		s.target(b, &t, line, size.target)
	}
	for _, script := range v.Scripts {
		b.WriteString("  " + s.dim("which runs") + "\n")
		block(script, s.yellow)
	}
	for _, w := range v.Warnings {
		b.WriteString("  " + s.red("! "+line(w, size.target)) + "\n")
	}
	if v.Summary != "" {
		block(v.Summary, s.dim)
	}
	if v.Diff != "" {
		block(v.Diff, s.diffLine)
	}
	return cut
}

func (s style) target(b *strings.Builder, t *ask.Target, line func(string, int) string, width int) {
	mark := " "
	if t.Asks {
		mark = s.yellow("→")
	}
	first := true
	for l := range strings.SplitSeq(t.Value, "\n") {
		if first {
			fmt.Fprintf(b, "%s %s %s %s", mark, t.Effect, s.dim(t.Kind), s.bold(line(l, width)))
		} else {
			fmt.Fprintf(b, "\n    %s", s.bold(line(l, width)))
		}
		first = false
	}
	if t.Given != "" {
		b.WriteString(s.dim(" given as " + line(t.Given, width)))
	}
	b.WriteString("\n")
}

// diffLine paints a line of a diff by its first sign.
func (s style) diffLine(l string) string {
	switch {
	case strings.HasPrefix(l, "+++ "), strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "diff "):
		return s.bold(l)
	case strings.HasPrefix(l, "+"):
		return s.green(l)
	case strings.HasPrefix(l, "-"):
		return s.red(l)
	case strings.HasPrefix(l, "@@"):
		return s.cyan(l)
	}
	return l
}

// keys lists what can be pressed, on one or two lines.
func (s style) keys(r *ask.Request, plain bool) string {
	if plain {
		return "  " + strings.Join([]string{s.bold("y") + " yes", s.bold("n") + " no", s.bold("v") + " view all", s.bold("?") + " help"}, s.dim(" · ")) + "\n"
	}
	parts := []string{s.bold("y") + " yes, once"}
	for _, k := range []struct {
		key   string
		scope ask.Scope
		text  string
	}{{"t", ask.Turn, "turn"}, {"s", ask.Session, "session"}, {"p", ask.Project, "project"}, {"u", ask.Until, "for a time"}} {
		if _, ok := r.Offered(k.scope); ok {
			parts = append(parts, s.bold(k.key)+" "+k.text)
		}
	}
	if o, ok := r.Offered(ask.Like); ok {
		says, _ := show.Cut(show.Line(strings.Join(o.Patterns, ", ")), 60)
		parts = append(parts, s.bold("l")+" session, like "+says)
	}
	if o, ok := r.Offered(ask.Always); ok {
		says, _ := show.Cut(o.Says, 100)
		parts = append(parts, s.bold("a")+" always: "+says)
	}
	if r.Hunks > 1 {
		parts = append(parts, fmt.Sprintf("%s choose of %d edits", s.bold("e"), r.Hunks))
	}
	parts = append(parts, s.bold("n")+" no", s.bold("w")+" no, with words", s.bold("v")+" view all", s.bold("?")+" help")
	return "  " + strings.Join(parts, s.dim(" · ")) + "\n"
}

// help explains the keys that are offered.
func (s style) help(r *ask.Request, plain bool) string {
	var b strings.Builder
	row := func(key, text string) { fmt.Fprintf(&b, "  %s  %s\n", s.bold(key), text) }
	for _, k := range []struct {
		key   string
		scope ask.Scope
	}{{"y", ask.Once}, {"t", ask.Turn}, {"s", ask.Session}, {"l", ask.Like}, {"p", ask.Project}, {"a", ask.Always}, {"u", ask.Until}} {
		if o, ok := r.Offered(k.scope); ok {
			row(k.key, "yes: "+o.Says)
		}
	}
	if r.Hunks > 1 {
		row("e", "choose which edits may be made (h too)")
	}
	row("n", "no")
	if plain {
		row("v", "show all of it")
		row("^C", "leave the question; nothing is done then")
		return b.String()
	}
	row("w", "no, with words that the model reads")
	row("v", "show the whole call")
	row("^C", "leave the question; without another face that answers, the call is denied")
	if r.PersonOnly {
		b.WriteString("  " + s.dim("A guard asks: a yes holds for exactly these targets, never for a pattern.") + "\n")
	}
	return b.String()
}

// hunk draws one piece of a call; lines of 0 cut nothing.
func (s style) hunk(h ask.Hunk, of, columns, lines int) string {
	var b strings.Builder
	title, text, cut := h.Title, h.Text, false
	if lines > 0 {
		var missing int
		title, _ = show.Cut(title, max(columns, 40))
		text, missing = show.Lines(text, max(lines-4, 8))
		cut = missing > 0
	}
	fmt.Fprintf(&b, "\n  %s %s\n", s.bold(fmt.Sprintf("edit %d of %d", h.Number, of)), title)
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if lines > 0 {
			short, did := show.Cut(l, 3*max(columns, 40))
			l, cut = short, cut || did
		}
		b.WriteString("  " + s.diffLine(l) + "\n")
	}
	if lines <= 0 {
		return b.String()
	}
	if cut {
		b.WriteString(s.yellow("  Not everything is shown; v shows the whole.") + "\n")
	}
	parts := []string{s.bold("y") + " yes", s.bold("n") + " no", s.bold("w") + " no, with words", s.bold("a") + " this and all after", s.bold("d") + " none of the rest", s.bold("b") + " back", s.bold("v") + " view all", s.bold("Esc") + " leave"}
	b.WriteString("  " + strings.Join(parts, s.dim(" · ")) + "\n")
	return b.String()
}
