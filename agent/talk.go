package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// What the program says in the user's place.
const (
	emptyWords       = "[Your last answer was empty. Go on with the task, or say that you are done and what came of it.]"
	cutWords         = "[Your last answer was cut off at its limit. Go on from where it ended.]"
	interruptedWords = "[You were interrupted here.]"
	pendingWords     = "This call has no result yet."
)

// talk is the conversation as a request holds it. It follows the events of a session, and what it says is a function of them: what
// was sent once is sent again byte for byte, with something behind it, until a compaction.
//
// What is said while the model answers was not in its request, so it stands behind the answer; results stand in the order of
// their calls, whatever came first.
type talk struct {
	nonce   string
	spoken  []utterance
	calls   []Call                 // of the last answer, as long as their results wait to be sent
	wished  map[string]*model.Call // what the model wrote of them
	results map[string][]content.Part
	failed  map[string]bool
	held    []model.Block     // said since the last request
	wire    map[string]string // id of a call → what the provider knows it by
	used    map[string]bool   // those that are taken
}

// utterance is a message with the event that brought it into the conversation.
type utterance struct {
	seq int64
	model.Message
}

// Messages returns the conversation of a session, from its events, as the next request to the model would hold it. Media are
// where their parts say.
func Messages(evs []Event) []model.Message {
	t, _ := follow(evs)
	return t.messages()
}

// follow returns the conversation and the state after events.
func follow(evs []Event) (*talk, State) {
	t := &talk{}
	var s State
	var steps []Step
	for i := range evs {
		was := s.Phase
		steps = s.next(&evs[i])
		t.add(&evs[i], was, steps)
	}
	return t, s
}

// add takes an event that Next took in a phase and answered with steps. What Next did not take, the talk does not.
func (t *talk) add(ev *Event, was Phase, steps []Step) {
	switch {
	case ev.Answer != nil && was != Thinking, ev.Failure != nil && was != Thinking, ev.Result != nil && was != Working, was == Fresh && ev.Kind != Started:
		return
	case ev.Setup != nil && ev.Setup.Nonce != "":
		t.nonce = ev.Setup.Nonce
	case ev.Said != nil:
		if ev.Said.From != "" {
			t.hold(content.TextPart(fmt.Sprintf("[A message from: %s]", clip.Middle(oneLine(ev.Said.From), 80))))
		}
		t.hold(ev.Said.Parts...)
	case ev.Answer != nil:
		t.answered(ev)
	case ev.Result != nil:
		t.result(ev.Result)
	case ev.Failure != nil && ev.Failure.Partial != "":
		part := content.TextPart(ev.Failure.Partial)
		t.spoken = append(t.spoken, utterance{ev.Seq, model.Message{Role: model.Assistant, Blocks: []model.Block{{Part: &part}}}})
		t.held = append([]model.Block{textBlock(interruptedWords)}, t.held...)
	case ev.Compaction != nil:
		t.compacted(ev)
	}
	if slices.ContainsFunc(steps, func(s Step) bool { return s.Kind == CallModel }) {
		t.flush(ev.Seq)
	}
}

func textBlock(s string) model.Block {
	p := content.TextPart(s)
	return model.Block{Part: &p}
}

func (t *talk) hold(parts ...content.Part) {
	for _, p := range marked(parts) {
		t.held = append(t.held, model.Block{Part: &p})
	}
}

// flush makes a message of what waits to be sent.
func (t *talk) flush(seq int64) {
	if blocks := t.waiting(); len(blocks) > 0 {
		t.spoken = append(t.spoken, utterance{seq, model.Message{Role: model.User, Blocks: blocks}})
	}
	t.calls, t.results, t.failed, t.held = nil, nil, nil, nil
}

// waiting returns the results of the last calls and what was said since.
func (t *talk) waiting() []model.Block {
	var blocks []model.Block
	for _, c := range t.calls {
		parts, ok := t.results[c.ID]
		if !ok {
			parts = []content.Part{content.TextPart(pendingWords)}
		}
		blocks = append(blocks, model.Block{Result: &model.Result{CallID: t.wire[c.ID], Name: wireName(c.Name), Parts: parts, Error: t.failed[c.ID]}})
	}
	return append(blocks, t.held...)
}

// messages returns the conversation with what waits to be sent. Neighbours of one side are one message.
func (t *talk) messages() []model.Message {
	var out []model.Message
	add := func(m model.Message) {
		if len(m.Blocks) == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Blocks = append(slices.Clip(out[n-1].Blocks), m.Blocks...)
			return
		}
		out = append(out, m)
	}
	for _, u := range t.spoken {
		add(u.Message)
	}
	add(model.Message{Role: model.User, Blocks: t.waiting()})
	return out
}

// answered takes an answer in a form that every provider takes back: calls have ids of their own, names that are names, and
// arguments that are an object.
func (t *talk) answered(ev *Event) {
	if t.wire == nil {
		t.wire, t.used = map[string]string{}, map[string]bool{}
	}
	// Results that no request holds yet belong to an earlier answer: after it came a turn that did not ask the model.
	t.calls, t.wished, t.results, t.failed = ev.Answer.Calls, map[string]*model.Call{}, nil, nil
	var blocks []model.Block
	n := 0
	if m := ev.Answer.Message; m != nil {
		for _, b := range m.Blocks {
			switch {
			case b.Part != nil && b.Part.Kind == content.Text && strings.TrimSpace(b.Part.Text) == "":
				continue
			case b.Call != nil && n < len(t.calls):
				t.wished[t.calls[n].ID] = b.Call
				c := *b.Call
				c.ID, c.Name = t.wireID(t.calls[n].ID, c.ID), wireName(c.Name)
				if !isObject(c.Arguments) {
					c.Arguments, c.Malformed = json.RawMessage(`{}`), ""
				}
				b.Call = &c
				n++
			case b.Call != nil:
				continue
			}
			blocks = append(blocks, b)
		}
	}
	if m := ev.Answer.clear; m != nil {
		n := 0
		for _, b := range m.Blocks {
			if b.Call != nil && n < len(t.calls) {
				t.wished[t.calls[n].ID] = b.Call
				n++
			}
		}
	}
	for _, c := range t.calls[n:] { // the answer was stored without its message
		blocks = append(blocks, model.Block{Call: &model.Call{ID: t.wireID(c.ID, ""), Name: wireName(c.Name), Arguments: json.RawMessage(`{}`)}})
	}
	if ev.Answer.Empty && len(t.calls) == 0 {
		blocks = nil
	}
	t.spoken = append(t.spoken, utterance{ev.Seq, model.Message{Role: model.Assistant, Blocks: blocks}})
	switch {
	case len(t.calls) > 0:
	case ev.Answer.Empty:
		t.held = append([]model.Block{textBlock(emptyWords)}, t.held...)
	case ev.Answer.Stop == model.Length:
		t.held = append([]model.Block{textBlock(cutWords)}, t.held...)
	}
}

// wireID returns what the provider knows a call by: its own id where that is one and not taken.
func (t *talk) wireID(id, given string) string {
	if given == "" || t.used[given] {
		for n := len(t.used) + 1; given == "" || t.used[given]; n++ {
			given = fmt.Sprintf("call_%d", n)
		}
	}
	t.wire[id], t.used[given] = given, true
	return given
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// wireName makes a name of a tool, which a model may have invented, one that providers take.
func wireName(name string) string {
	name = notInName.ReplaceAllString(name, "_")
	if len(name) > 64 {
		name = name[:64]
	}
	if name == "" {
		return "unnamed"
	}
	return name
}

func isObject(b json.RawMessage) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

func (t *talk) result(r *Result) {
	if !slices.ContainsFunc(t.calls, func(c Call) bool { return c.ID == r.ID }) {
		return
	}
	if _, twice := t.results[r.ID]; twice {
		return
	}
	if t.results == nil {
		t.results, t.failed = map[string][]content.Part{}, map[string]bool{}
	}
	parts := marked(r.Parts)
	if r.Untrusted != "" {
		parts = fenced(parts, r.Untrusted, t.nonce, r.ID)
	}
	if len(parts) == 0 {
		parts = []content.Part{content.TextPart("(no output)")}
	}
	t.results[r.ID] = parts
	t.failed[r.ID] = r.Outcome != OK && r.Outcome != Lost
}

// marked puts the marker before media that have none: models name media by it.
func marked(parts []content.Part) []content.Part {
	out := make([]content.Part, 0, len(parts))
	for i, p := range parts {
		if p.Kind == content.Image || p.Kind == content.Document || p.Kind == content.Audio {
			if i == 0 || parts[i-1].Kind != content.Text || !strings.HasPrefix(lastLine(parts[i-1].Text), "[media id: ") {
				out = append(out, content.TextPart(marker(p)))
			}
		}
		out = append(out, p)
	}
	return out
}

func marker(p content.Part) string {
	id, ok := strings.CutPrefix(p.URI, artifactURI)
	if !ok {
		id = "none"
	}
	name := clip.Middle(strings.NewReplacer("[", "(", "]", ")").Replace(oneLine(p.Name)), 80)
	if name == "" {
		name = string(p.Kind)
	}
	return fmt.Sprintf("[media id: %s | %s]", id, name)
}

// artifactURI begins the URI of a part whose bytes are kept elsewhere.
const artifactURI = "artifact:"

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)), " ")
}

// fenced puts the text of a stranger between marks that the stranger cannot know, so that its end cannot be forged. What the marks
// mean stands in the system prompt.
func fenced(parts []content.Part, source, nonce, call string) []content.Part {
	sum := sha256.Sum256([]byte(nonce + "/" + call))
	tag := "untrusted-" + hex.EncodeToString(sum[:6])
	out := make([]content.Part, 0, len(parts))
	for _, p := range parts {
		if p.Kind == content.Text && !strings.HasPrefix(p.Text, "[media id: ") {
			p.Text = fmt.Sprintf("<%s from=%q>\n%s\n</%s>", tag, clip.Middle(oneLine(source), 200), strings.ReplaceAll(p.Text, tag, "untrusted"), tag)
		}
		out = append(out, p)
	}
	return out
}

// compacted replaces what was said up to an event by its summary, and cuts long results of the rest.
func (t *talk) compacted(ev *Event) {
	c := ev.Compaction
	keep := slices.IndexFunc(t.spoken, func(u utterance) bool { return u.seq > c.Upto })
	if keep < 0 {
		keep = len(t.spoken)
	}
	rest := t.spoken[keep:]
	t.spoken = nil
	if c.Summary != "" {
		t.spoken = append(t.spoken, utterance{c.Upto, model.Message{Role: model.User, Blocks: []model.Block{textBlock(c.Summary)}}})
	}
	t.spoken = append(t.spoken, rest...)
	if c.Clip <= 0 {
		return
	}
	for i := range t.spoken {
		u := &t.spoken[i]
		u.Blocks = slices.Clone(u.Blocks)
		for j, b := range u.Blocks {
			if b.Result != nil {
				r := *b.Result
				r.Parts = clipped(r.Parts, c.Clip)
				u.Blocks[j].Result = &r
			}
		}
	}
	for id, parts := range t.results {
		t.results[id] = clipped(parts, c.Clip)
	}
}

// clipped cuts each text to so many bytes, in its middle.
func clipped(parts []content.Part, limit int) []content.Part {
	out := slices.Clone(parts)
	for i, p := range out {
		if p.Kind == content.Text && len(p.Text) > limit {
			out[i].Text = fmt.Sprintf("%s\n[Cut to make room: %d bytes in all. Call again for what you need of it.]", clip.Middle(p.Text, limit), len(p.Text))
		}
	}
	return out
}

// Rough sizes, for models that count no tokens and for what they have not counted yet.
const (
	bytesPerToken = 4
	pictureTokens = 1600
)

// estimate returns about how many tokens parts take.
func estimate(parts []content.Part) int {
	n := 0
	for _, p := range parts {
		n += len(p.Text)/bytesPerToken + 1
		switch p.Kind {
		case content.Image:
			n += pictureTokens
		case content.Document, content.Audio:
			n += int(max(p.Size, int64(len(p.Data))))/(bytesPerToken*8) + pictureTokens
		}
	}
	return n
}

// estimateMessage is estimate for a message.
func estimateMessage(m *model.Message) int {
	n := 0
	for _, b := range m.Blocks {
		switch {
		case b.Part != nil:
			n += estimate([]content.Part{*b.Part})
		case b.Reasoning != nil:
			n += (len(b.Reasoning.Text) + len(b.Reasoning.Opaque)) / bytesPerToken
		case b.Call != nil:
			n += (len(b.Call.Name)+len(b.Call.Arguments)+len(b.Call.Malformed))/bytesPerToken + 8
		case b.Result != nil:
			n += estimate(b.Result.Parts) + 8
		}
	}
	return n
}
