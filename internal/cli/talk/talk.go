// Package talk prints what an agent does, as it does it: for people, or as lines of JSON for programs.
//
// For people the words of the model go to one stream and everything about the work (calls with what came of them, notes, the end)
// to another, so that a pipe gets the answer alone. A live session ([Live]) and a stored one ([Replay]) print the same.
package talk

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/internal/show"
)

// Printer is told what happens.
type Printer interface {
	// Begin says which session this is.
	Begin(s Begun)
	// Said prints what somebody said to the agent.
	Said(m *agent.Message)
	// Words prints a piece of what the model says, EndWords that its answer is whole.
	Words(piece string)
	EndWords()
	// Doing says that a call begins; it is gone when anything else is printed.
	Doing(c *history.Call)
	// Call prints a call that is over.
	Call(c *history.Call)
	Note(text string)
	// Rest ends what is half printed, so that somebody else can print.
	Rest()
	// End prints how it ended.
	End(e Ended)
}

// Begun describes a session that begins or goes on.
type Begun struct {
	Session, Mode, Model, Dir string
	Resumed                   bool
}

// Ended describes how a turn ended.
type Ended struct {
	Session string
	End     agent.End
	Text    string // of the last answer
	Tally   agent.Tally
	Changed int // files, each once
	Resume  string
}

// diffLines is how much of the changes of one call is shown.
const diffLines = 24

// Text prints for people. Words go to Out, the rest to Err. It is used from one goroutine at a time.
type Text struct {
	Out, Err io.Writer
	OutTTY   bool // somebody reads Out on a terminal: what could act on it is escaped
	ErrTTY   bool
	Color    bool
	Width    int  // of the terminal; 0: not known
	Quiet    bool // only words, and how it ended where that is not well
	// Asked shows what was said to the agent, which whoever typed it does not need.
	Asked bool

	open    bool // Out is in the middle of a line
	doing   bool // a passing line stands on Err
	began   bool // something was printed
	spoke   bool // words of this answer
	lastErr bool // the last line went to Err
}

func (t *Text) paint(code, s string) string {
	if !t.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *Text) dim(s string) string { return t.paint("2", s) }

// line prints a line on Err.
func (t *Text) line(s string) {
	t.clear()
	if t.open {
		fmt.Fprintln(t.Out)
		t.open = false
	}
	fmt.Fprintln(t.Err, s)
	t.began, t.lastErr = true, true
}

// clear takes the passing line away.
func (t *Text) clear() {
	if t.doing {
		fmt.Fprint(t.Err, "\r\x1b[K")
		t.doing = false
	}
}

// Rest is described at Printer.
func (t *Text) Rest() {
	t.clear()
	if t.open {
		fmt.Fprintln(t.Out)
		t.open = false
	}
	t.began, t.lastErr = true, true
}

// Begin is described at Printer.
func (t *Text) Begin(b Begun) {
	if t.Quiet {
		return
	}
	how := "session"
	if b.Resumed {
		how = "goes on with session"
	}
	t.line(t.dim(fmt.Sprintf("%s %s · %s · mode %s · %s", how, show.Line(b.Session), show.Line(b.Model), show.Line(b.Mode), show.Line(b.Dir))))
}

// Said is described at Printer.
func (t *Text) Said(m *agent.Message) {
	if !t.Asked && m.From == "" || t.Quiet {
		return
	}
	who := "you"
	if m.From != "" {
		who = show.Line(m.From)
	}
	var words []string
	for _, p := range m.Parts {
		if p.Text != "" {
			words = append(words, p.Text)
		} else {
			words = append(words, fmt.Sprintf("[%s %s]", p.Kind, p.Name))
		}
	}
	t.line("")
	for i, l := range strings.Split(strings.TrimRight(show.Text(strings.Join(words, "\n")), "\n"), "\n") {
		head := t.paint("1;36", who+">") + " "
		if i > 0 {
			head = strings.Repeat(" ", len(who)+2)
		}
		t.line(head + l)
	}
}

// Words is described at Printer.
func (t *Text) Words(piece string) {
	if piece == "" {
		return
	}
	t.clear()
	if !t.spoke {
		if piece = strings.TrimLeft(piece, "\n"); piece == "" {
			return
		}
		if t.began && t.lastErr && t.OutTTY && t.ErrTTY {
			fmt.Fprintln(t.Err)
		}
	}
	if t.OutTTY {
		piece = show.Text(piece)
	}
	fmt.Fprint(t.Out, piece)
	t.open, t.spoke, t.began, t.lastErr = !strings.HasSuffix(piece, "\n"), true, true, false
}

// EndWords is described at Printer.
func (t *Text) EndWords() {
	if t.open {
		fmt.Fprintln(t.Out)
	}
	if t.spoke && t.OutTTY && t.ErrTTY {
		fmt.Fprintln(t.Err)
	}
	t.open, t.spoke = false, false
}

// Doing is described at Printer.
func (t *Text) Doing(c *history.Call) {
	if !t.ErrTTY || t.Quiet || t.open {
		return
	}
	t.clear()
	fmt.Fprint(t.Err, t.dim(t.fit("  … "+show.Line(c.Tool)+"  "+show.Line(history.Subject(c)))))
	t.doing = true
}

func (t *Text) width() int {
	if t.Width < 40 {
		return 100
	}
	return t.Width
}

// fit cuts a line that would wrap.
func (t *Text) fit(s string) string {
	out, _ := show.Cut(s, t.width()-1)
	return out
}

// Call is described at Printer.
func (t *Text) Call(c *history.Call) {
	if t.Quiet {
		return
	}
	mark, color := "✓", "32"
	tail := tailOf(c)
	switch c.Outcome {
	case agent.OK:
	case agent.Error, agent.Denied:
		mark, color = "✗", "31"
	default:
		mark, color = "?", "33"
	}
	subject := show.Line(history.Subject(c))
	room := max(t.width()-len(c.Tool)-len(tail)-10, 12)
	if s, cut := show.Cut(subject, room); cut {
		subject = s
	}
	line := "  " + t.paint(color, mark) + " " + t.paint("1", show.Line(c.Tool))
	if subject != "" {
		line += "  " + subject
	}
	if tail != "" {
		line += "  " + t.dim(tail)
	}
	t.line(line)
	t.why(c)
	t.diff(c.Meta().Diff)
}

// tailOf says briefly what came of a call.
func tailOf(c *history.Call) string {
	var out []string
	meta := c.Meta()
	if changed := history.Changed(meta); len(changed) > 0 {
		added, removed := 0, 0
		for _, f := range changed {
			added, removed = added+f.Added, removed+f.Removed
		}
		n := len(changed)
		s := fmt.Sprintf("+%d −%d", added, removed)
		if n > 1 {
			s += fmt.Sprintf(" in %d files", n)
		}
		out = append(out, s)
	}
	if meta.Truncated {
		out = append(out, "long output kept")
	}
	if c.Took >= 100*time.Millisecond {
		out = append(out, rounded(c.Took).String())
	}
	return strings.Join(out, ", ")
}

func rounded(d time.Duration) time.Duration {
	if d > time.Minute {
		return d.Round(time.Second)
	}
	return d.Round(100 * time.Millisecond)
}

// why says why a call did not do what it was asked.
func (t *Text) why(c *history.Call) {
	reason := ""
	switch c.Outcome {
	case agent.OK, "":
		return
	case agent.Denied:
		reason = "denied"
		if d := c.Decision(); d != nil {
			reason += " by " + d.By
			if _, why, ok := strings.Cut(d.Reason, " is denied: "); ok { // the line above says what
				reason = "denied by " + why
			} else if d.Reason != "" {
				reason += ": " + d.Reason
			}
		}
	case agent.NotSure:
		reason = "nobody knows whether it ran; it is not run again"
	default:
		reason = firstLine(c)
	}
	if reason != "" {
		t.line("    " + t.dim(t.fit(show.Line(reason))))
	}
}

// firstLine is the message of a failure, without the code in front.
func firstLine(c *history.Call) string {
	if c.Record != nil && c.Record.Result != nil && c.Record.Result.Err != nil {
		return strings.SplitN(c.Record.Result.Err.Message, "\n", 2)[0]
	}
	lines := strings.Split(strings.TrimSpace(c.Text()), "\n")
	if len(lines) > 1 && strings.HasPrefix(lines[0], "TOOL ERROR") {
		return lines[1]
	}
	return lines[0]
}

// diff prints the changes of a call, their beginning.
func (t *Text) diff(diff string) {
	if diff == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(diff, "\n"), "\n")
	shown := 0
	for i, l := range lines {
		if strings.HasPrefix(l, "diff ") || strings.HasPrefix(l, "index ") || strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "+++ ") || strings.HasPrefix(l, "new file mode ") || strings.HasPrefix(l, `\ No newline`) {
			continue
		}
		if shown == diffLines && len(lines)-i > 1 {
			t.line("      " + t.dim(fmt.Sprintf("… %d more lines", len(lines)-i)))
			return
		}
		shown++
		text := t.fit("      " + show.Line(strings.ReplaceAll(l, "\t", "    ")))
		switch {
		case strings.HasPrefix(l, "+"):
			text = t.paint("32", text)
		case strings.HasPrefix(l, "-"):
			text = t.paint("31", text)
		default:
			text = t.dim(text)
		}
		t.line(text)
	}
}

// Note is described at Printer.
func (t *Text) Note(text string) {
	if t.Quiet {
		return
	}
	text, _ = show.Cut(show.Line(text), 3*t.width())
	t.line("  " + t.paint("33", "· "+text))
}

// End is described at Printer.
func (t *Text) End(e Ended) {
	t.EndWords()
	good := e.End.Why == agent.Done
	if t.Quiet && good {
		return
	}
	if !good {
		detail := e.End.Detail
		if detail == "" {
			detail = "The turn ended: " + string(e.End.Why) + "."
		}
		t.line(t.paint("33", show.Line(detail)))
	}
	facts := []string{string(e.End.Why), counted(e.Tally.Calls, "call")}
	if e.Changed > 0 {
		facts = append(facts, counted(e.Changed, "file")+" changed")
	}
	if n := e.Tally.Tokens(); n > 0 {
		facts = append(facts, counted(n, "token"))
	}
	if e.Tally.Cost > 0 {
		facts = append(facts, fmt.Sprintf("$%.4f", e.Tally.Cost))
	}
	t.line(t.dim(strings.Join(facts, " · ")))
	if e.Resume != "" {
		t.line(t.dim("go on with: " + e.Resume))
	}
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
