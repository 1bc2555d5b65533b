package anthropic

import (
	"net/http"
	"strconv"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// Models come faster than this table of what they take, and endpoints that speak the format take less of it. So what a request can do
// without is left out where a refusal names it, at once and from then on. Nothing was done for the refused request, so this is
// no retry of the kind that the loop's driver decides about.

// knob is a part of a request that it can do without.
type knob uint32

const (
	markKnob knob = 1 << iota
	choiceKnob
	effortKnob
	warmKnob
	thinkKnob
)

// named are the words by which refusals name them, in the order in which they are looked for.
var named = []struct {
	word string
	knob
}{
	{"cache_control", markKnob},
	{"tool_choice", choiceKnob},
	{"tool use", choiceKnob}, // "forced tool use is not supported"
	{"output_config", effortKnob},
	{"effort", effortKnob},
	{"temperature", warmKnob},
	{"thinking", thinkKnob},
}

// knobs are those that a request holds.
func knobs(p *sdk.MessageNewParams, marked bool) (k knob) {
	for _, x := range []struct {
		on bool
		knob
	}{{marked, markKnob}, {p.ToolChoice.OfAny != nil, choiceKnob}, {p.OutputConfig.Effort != "", effortKnob}, {p.Temperature.Valid(), warmKnob},
		{p.Thinking.OfAdaptive != nil || p.Thinking.OfEnabled != nil || p.Thinking.OfDisabled != nil || p.Thinking.OfBetweenTools != nil, thinkKnob}} {
		if x.on {
			k |= x.knob
		}
	}
	return k
}

func (m *Model) takes(k knob) bool { return m.without.Load()&uint32(k) == 0 }

var tooMany = wire.NewPattern(`max_tokens: (\d+) > (\d+)`)

// learn remembers what a refusal is about, and reports whether the request can be written in another way now.
func (m *Model) learn(e *model.Error, p *past) bool {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity || e.Class != model.Invalid {
		return false
	}
	if len(p.sent) > 0 && notTaken(e.Message) {
		m.refused.Add(p.sent)
		return true
	}
	if x := tooMany().FindStringSubmatch(e.Message); x != nil {
		asked, _ := strconv.ParseInt(x[1], 10, 64) // digits; what overflows is not news
		most, _ := strconv.ParseInt(x[2], 10, 64)
		return most > 0 && most < asked && m.most.Swap(most) != most
	}
	if strings.Contains(e.Message, ": messages.") && !strings.Contains(e.Message, "cache_control") {
		return false // it is about this conversation, not about the model
	}
	for _, n := range named {
		if p.knobs&n.knob != 0 && strings.Contains(e.Message, n.word) && m.takes(n.knob) {
			for old := m.without.Load(); !m.without.CompareAndSwap(old, old|uint32(n.knob)); old = m.without.Load() {
			}
			return true
		}
	}
	return false
}

// notTaken reports whether a request was refused because of the reasoning in it.
func notTaken(said string) bool {
	return strings.Contains(said, "thinking") && (strings.Contains(said, "signature") || strings.Contains(said, "cannot be modified") || strings.Contains(said, "must contain thinking"))
}
