package openai

import (
	"errors"
	"strings"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// Endpoints disagree about fields that a request can do without: some refuse what others need. The adapter asks with them, and where an
// endpoint refuses one by its name, asks again without it, at once and from then on. Nothing was done for the refused request, so this is
// no retry of the kind that the loop's driver decides about.

// field is a field that an endpoint may refuse.
type field uint32

const (
	usageField field = 1 << iota
	effortField
	summaryField
	warmField
	cacheField
	maxField // of chat: its other name is used instead
	includeField
)

// refusable are the names under which fields are refused, the longer ones first.
var refusable = []struct {
	name string
	field
}{
	{"stream_options", usageField},
	{"include_usage", usageField},
	{"reasoning.summary", summaryField},
	{"reasoning summaries", summaryField},
	{"reasoning_effort", effortField},
	{"reasoning.effort", effortField},
	{"encrypted content", includeField},
	{"encrypted_content", includeField},
	{"temperature", warmField},
	{"prompt_cache_key", cacheField},
	{"max_completion_tokens", maxField},
	{"max_tokens", maxField},
}

var refuses = wire.NewPattern(`(?i)unsupported|not (be )?supported|does not support|unknown|unrecognized|unrecognised|unexpected|not (be )?permitted|not allowed|extra (inputs?|fields?|forbidden)|extra_forbidden|must be verified|invalid (field|parameter)`)

// learn remembers the field that a refusal names, and reports whether that is news.
func (m *Model) learn(err error) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.Invalid && e.Class != model.Unauthorized || e.Status != 400 && e.Status != 422 && e.Status != 403 || !refuses.MatchString(e.Message) {
		return false
	}
	for _, r := range refusable {
		if strings.Contains(e.Message, r.name) {
			return m.set(r.field)
		}
	}
	return false
}

func (m *Model) set(f field) bool {
	for {
		old := m.refused.Load()
		if old&uint32(f) != 0 {
			return false
		}
		if m.refused.CompareAndSwap(old, old|uint32(f)) {
			return true
		}
	}
}

// takes reports whether the endpoint has not refused a field so far.
func (m *Model) takes(f field) bool { return m.refused.Load()&uint32(f) == 0 }
