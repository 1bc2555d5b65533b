package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission/ask"
)

// DefaultSettle is how long keys are dropped after a prompt was drawn: somebody who was typing something else has stopped
// by then.
const DefaultSettle = 400 * time.Millisecond

// Prompt is the person at a terminal. Its zero value but for Device works.
type Prompt struct {
	Device Device
	Name   string // of the person, for the record; default "unknown"
	Color  bool
	// Settle is how long keys are dropped after the prompt was drawn; default DefaultSettle, negative: not at all.
	Settle time.Duration
	Now    func() time.Time // default time.Now

	mu sync.Mutex // one prompt at a time
}

var errGone = errors.New("the person left the prompt")

// Ask implements ask.Face.
func (p *Prompt) Ask(ctx context.Context, r *ask.Request) (ask.Answer, error) {
	return p.ask(ctx, r, false)
}

// Confirm shows a view and asks for a plain yes or no. The error says that neither was given.
func (p *Prompt) Confirm(ctx context.Context, v ask.View) (bool, error) {
	a, err := p.ask(ctx, &ask.Request{View: v, Offers: []ask.Offer{{Scope: ask.Once, Says: "exactly what is shown"}}}, true)
	return a.Allow, err
}

func (p *Prompt) ask(ctx context.Context, r *ask.Request, plain bool) (ask.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	restore, err := p.Device.Raw()
	if err != nil {
		return ask.Answer{}, err
	}
	defer restore()
	d := &dialog{p: p, ctx: ctx, req: r, out: &crlf{p.Device}, style: style(p.Color), plain: plain}
	d.draw()
	p.Device.Flush()
	d.in = newReader(p.Device, p.now)
	defer d.in.stop()
	a, err := d.run()
	switch {
	case err != nil && errors.Is(context.Cause(ctx), ask.ErrElsewhere):
		d.say("answered elsewhere")
	case err != nil:
		d.say("not answered: " + err.Error())
	case a.Allow:
		d.say("allowed: " + a.word(r))
	default:
		d.say("denied")
	}
	a.Fingerprint, a.Approver = r.Fingerprint, ask.Approver{Name: p.name(), Face: "terminal"}
	return a.Answer, err
}

func (p *Prompt) name() string {
	if p.Name == "" {
		return "unknown"
	}
	return p.Name
}

func (p *Prompt) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// choice is an answer in the making.
type choice struct{ ask.Answer }

func (c choice) word(r *ask.Request) string {
	if c.Hunks != nil {
		return fmt.Sprintf("%d of %d edits", len(c.Hunks), r.Hunks)
	}
	if o, ok := r.Offered(c.Scope); ok {
		return o.Says
	}
	return "this call"
}

// dialog is one prompt.
type dialog struct {
	p     *Prompt
	ctx   context.Context
	req   *ask.Request
	out   io.Writer
	in    *reader
	style style
	plain bool      // only yes and no
	since time.Time // when the prompt was drawn
}

// draw shows the ask and the keys.
func (d *dialog) draw() {
	columns, lines := d.p.Device.Size()
	io.WriteString(d.out, d.style.ask(d.req, d.plain, columns, lines))
	d.since = d.p.now()
}

func (d *dialog) say(s string) { io.WriteString(d.out, "  "+s+"\n") }

// key waits for a key that counts.
func (d *dialog) key() (key, error) {
	settle := d.p.Settle
	if settle == 0 {
		settle = DefaultSettle
	}
	for {
		t, err := d.in.next(d.ctx)
		if err != nil {
			return keyNone, err
		}
		if settle > 0 && t.at.Before(d.since.Add(settle)) {
			continue
		}
		if k := t.key(); k != keyNone {
			return k, nil
		}
	}
}

// run reads keys until one is an answer.
func (d *dialog) run() (choice, error) {
	for {
		k, err := d.key()
		if err != nil {
			return choice{}, err
		}
		switch k {
		case keyCtrlC, keyCtrlD:
			return choice{}, errGone
		case 'n', 'N':
			return choice{}, nil
		case 'v':
			if err := d.page(d.style.whole(d.req)); err != nil {
				return choice{}, err
			}
			d.draw()
			continue
		case '?':
			io.WriteString(d.out, d.style.help(d.req, d.plain))
			continue
		}
		c, done, known, err := d.answer(k)
		if err != nil || done {
			return c, err
		}
		if known {
			d.draw() // the person went back
		} else {
			d.say("this key answers nothing here; ? shows those that do")
		}
	}
}

// answer handles the keys that lead to an answer, perhaps in several steps. done is false where the person went back,
// known where the key means nothing here.
func (d *dialog) answer(k key) (c choice, done, known bool, err error) {
	scope, isScope := scopes[k]
	_, offered := d.req.Offered(scope)
	switch {
	case isScope && offered:
		c.Allow, c.Scope, done = true, scope, true
		if scope == ask.Until {
			c.Until, done, err = d.until()
		}
	case k == 'w' && !d.plain:
		c.Words, done, err = d.line("no, because: ")
	case (k == 'e' || k == 'h') && d.req.Hunks > 1:
		c, done, err = d.hunks()
	default:
		return c, false, false, nil
	}
	return c, done, true, err
}

// scopes are the keys that say yes.
var scopes = map[key]ask.Scope{'y': ask.Once, 't': ask.Turn, 's': ask.Session, 'l': ask.Like, 'p': ask.Project, 'a': ask.Always, 'u': ask.Until}

// until asks for how long a yes holds.
func (d *dialog) until() (time.Time, bool, error) {
	for {
		text, ok, err := d.line("yes, for how long (30m, 8h): ")
		if err != nil || !ok {
			return time.Time{}, false, err
		}
		length, err := time.ParseDuration(strings.TrimSpace(text))
		if err == nil && length > 0 {
			return d.p.now().Add(length), true, nil
		}
		d.say("that is no length of time; write 30m or 8h, or press Esc to go back")
	}
}

// line reads a line of text. ok is false where the person pressed Esc.
func (d *dialog) line(question string) (text string, ok bool, err error) {
	const clear = "\r\x1b[K"
	var buf []rune
	for {
		io.WriteString(d.p.Device, clear+"  "+question+show.Line(string(buf)))
		t, err := d.in.next(d.ctx)
		if err != nil {
			return "", false, err
		}
		switch t.key() {
		case keyEnter:
			io.WriteString(d.out, "\n")
			return strings.TrimSpace(string(buf)), true, nil
		case keyEscape:
			io.WriteString(d.p.Device, clear)
			return "", false, nil
		case keyCtrlC:
			return "", false, errGone
		case keyErase:
			buf = buf[:max(len(buf)-1, 0)]
		case keyKill:
			buf = buf[:0]
		default:
			if strings.HasPrefix(t.text, "\x1b") { // an arrow or function key
				continue
			}
			for _, r := range t.text { // a paste is text here
				if unicode.IsPrint(r) && r != utf8.RuneError && len(buf) < 2000 {
					buf = append(buf, r)
				}
			}
		}
	}
}

// page shows a text, a screen at a time.
func (d *dialog) page(text string) error {
	_, height := d.p.Device.Size()
	if height < 5 {
		height = 24
	}
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); {
		end := min(i+height-2, len(lines))
		io.WriteString(d.out, strings.Join(lines[i:end], ""))
		if i = end; i == len(lines) {
			return nil
		}
		io.WriteString(d.p.Device, d.style.dim(fmt.Sprintf("  line %d of %d; space: more, q: back ", i, len(lines))))
		k, err := d.key()
		if err != nil {
			return err
		}
		io.WriteString(d.p.Device, "\r\x1b[K")
		if k == 'q' || k == keyEscape || k == keyCtrlC {
			return nil
		}
	}
	return nil
}

// crlf writes line feeds as a raw terminal needs them.
type crlf struct{ w io.Writer }

func (c *crlf) Write(p []byte) (int, error) {
	if _, err := io.WriteString(c.w, strings.ReplaceAll(string(p), "\n", "\r\n")); err != nil {
		return 0, err
	}
	return len(p), nil
}
