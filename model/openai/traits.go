package openai

import (
	"strings"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// traits is what the adapter must know of a model to ask it rightly. Prices are those for prompts of up to 272,000 tokens, where
// longer ones cost more, and without discounts for waiting. Source: the provider's pages on models and prices, as of November 2026, as
// others report them. Models that are not listed have no window and no price here.
type traits struct {
	window, output int
	price          model.Price
	images, files  bool

	reasons bool
	off     string // the effort that is nearest to no reasoning; "" where there is none below low
}

const (
	million  = 1_050_000
	fourHalf = 400_000
)

// known is searched for the first prefix that fits.
var known = []struct {
	prefix         string
	window, output int
	price          model.Price
	off            string
}{
	{"gpt-6.1-sol", million, 128_000, model.Price{Input: 2, CacheRead: 0.1, CacheWrite: 2.5, Output: 10}, ""},
	{"gpt-6.1-terra", million, 128_000, model.Price{Input: 1, CacheRead: 0.05, CacheWrite: 1.25, Output: 5}, "none"},
	{"gpt-6-astra", million, 128_000, model.Price{Input: 10, CacheRead: 1, CacheWrite: 12.5, Output: 50}, "none"},
	{"gpt-6-sol", million, 128_000, model.Price{Input: 2, CacheRead: 0.2, CacheWrite: 2.5, Output: 10}, "none"},
	{"gpt-6-luna", million, 128_000, model.Price{Input: 0.1, CacheRead: 0.01, CacheWrite: 0.125, Output: 0.5}, "none"},
	{"gpt-6", 0, 0, model.Price{}, ""},
	{"gpt-5.6-terra", 0, 128_000, model.Price{Input: 2, CacheRead: 0.2, CacheWrite: 2.5, Output: 12}, "none"},
	{"gpt-5.6-luna", 0, 128_000, model.Price{Input: 0.2, CacheRead: 0.02, CacheWrite: 0.25, Output: 1.2}, "none"},
	{"gpt-5.6", 0, 128_000, model.Price{}, "none"},
	{"gpt-5.5-pro", million, 128_000, model.Price{}, ""},
	{"gpt-5.5", million, 128_000, model.Price{Input: 5, CacheRead: 0.5, Output: 30}, "none"},
	{"gpt-5.4-mini", fourHalf, 128_000, model.Price{Input: 0.75, CacheRead: 0.075, Output: 4.5}, "none"},
	{"gpt-5.4-nano", fourHalf, 128_000, model.Price{}, "none"},
	{"gpt-5.4", million, 128_000, model.Price{Input: 2.5, CacheRead: 0.25, Output: 15}, "none"},
	{"gpt-5.2-pro", fourHalf, 128_000, model.Price{}, ""},
	{"gpt-5.2", fourHalf, 128_000, model.Price{Input: 1.75, CacheRead: 0.175, Output: 14}, "none"},
	{"gpt-5.1", fourHalf, 128_000, model.Price{Input: 1.25, CacheRead: 0.125, Output: 10}, "none"},
	{"gpt-5-mini", fourHalf, 128_000, model.Price{Input: 0.25, CacheRead: 0.025, Output: 2}, "minimal"},
	{"gpt-5-nano", fourHalf, 128_000, model.Price{Input: 0.05, CacheRead: 0.005, Output: 0.4}, "minimal"},
	{"gpt-5-pro", fourHalf, 128_000, model.Price{}, ""},
	{"gpt-5-codex", fourHalf, 128_000, model.Price{Input: 1.25, CacheRead: 0.125, Output: 10}, ""},
	{"gpt-5", fourHalf, 128_000, model.Price{Input: 1.25, CacheRead: 0.125, Output: 10}, "minimal"},
	{"gpt-4.1-mini", 1_047_576, 32_768, model.Price{Input: 0.4, CacheRead: 0.1, Output: 1.6}, ""},
	{"gpt-4.1-nano", 1_047_576, 32_768, model.Price{Input: 0.1, CacheRead: 0.025, Output: 0.4}, ""},
	{"gpt-4.1", 1_047_576, 32_768, model.Price{Input: 2, CacheRead: 0.5, Output: 8}, ""},
	{"gpt-4o-mini", 128_000, 16_384, model.Price{Input: 0.15, CacheRead: 0.075, Output: 0.6}, ""},
	{"gpt-4o", 128_000, 16_384, model.Price{Input: 2.5, CacheRead: 1.25, Output: 10}, ""},
	{"o4-mini", 200_000, 100_000, model.Price{Input: 1.1, CacheRead: 0.275, Output: 4.4}, ""},
	{"o3-mini", 200_000, 100_000, model.Price{Input: 1.1, CacheRead: 0.55, Output: 4.4}, ""},
	{"o3", 200_000, 100_000, model.Price{Input: 2, CacheRead: 0.5, Output: 8}, ""},
}

var (
	reasons = wire.NewPattern(`^(o\d|gpt-([5-9]|\d\d))`)
	blind   = wire.NewPattern(`^(o1-mini|o3-mini|gpt-3|gpt-4($|-\d|-32k)|gpt-oss)`)
	// sees are names of open models that take pictures.
	sees = wire.NewPattern(`(?i)vision|llava|pixtral|moondream|minicpm-v|internvl|molmo|[-_./]vl\b|\bvl[-_]|vl:|-vl-|\d-?vl|gemma-?3(:|-)(4|12|27)b|gemma-?[4-9]|llama-?4|mistral-small-3\.[1-9]|mistral-medium|kimi-k2\.[5-9]|gpt-4o|gpt-4\.1|gpt-[5-9]|\bo[134]\b|claude|gemini`)
)

// traitsOf reads a name, also one that a router serves ("openai/gpt-6.1-sol") or that was tuned ("ft:gpt-4o-mini:…").
func traitsOf(name string, official bool) traits {
	bare := strings.TrimPrefix(name[strings.LastIndexByte(name, '/')+1:], "ft:")
	t := traits{images: sees.MatchString(name) && !strings.Contains(name, "gpt-oss"), reasons: reasons.MatchString(bare) && !strings.Contains(bare, "-chat")}
	if official {
		t.images = !blind.MatchString(bare)
		t.files = t.images
	}
	for _, k := range known {
		if strings.HasPrefix(bare, k.prefix) {
			t.window, t.output, t.off = k.window, k.output, k.off
			if official { // what a router asks for it is its own affair
				t.price = k.price
			}
			break
		}
	}
	return t
}

// effort is what is sent for how much to reason; "" sends nothing.
func (m *Model) effort(e model.Effort) string {
	switch {
	case e == "", m.official && !m.traits.reasons, !m.takes(effortField):
		return ""
	case e != model.Off:
		return string(e)
	case !m.official:
		return "" // endpoints that cannot switch reasoning off refuse the word
	case m.traits.off != "":
		return m.traits.off
	}
	return string(model.Low)
}

// warm returns the temperature to send.
func (m *Model) warm(t *float64, effort string) *float64 {
	if m.official && m.traits.reasons && effort != "none" || !m.takes(warmField) {
		return nil
	}
	return t
}
