package gemini

import (
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/model"
)

// traits is what the adapter must know of a model to ask it rightly. Source: the provider's pages on models, thinking and prices,
// as of November 2026; prices are those of short prompts, and those announced for December where a date was set.
type traits struct {
	window, output int
	price          model.Price
	thinks         thinking
	off            int  // with a budget: the least it can be set to
	level          bool // with a level: it has a middle one
	beside         bool // takes media of results within the result; older models take them beside it
	signed         bool // refuses calls whose signature is missing
}

type thinking int

const (
	never    thinking = iota
	budgeted          // thinkingBudget, in tokens
	levelled          // thinkingLevel
)

var prices = []struct {
	prefix              string
	input, output, read float64
}{
	{"gemini-4-argon", 4, 20, 0.2},
	{"gemini-4-carbon", 4, 20, 0.2},
	{"gemini-4-neon", 3, 15, 0.15},
	{"gemini-4-hydrogen", 1.5, 7.5, 0.075},
	{"gemini-2.5-pro", 1.25, 10, 0.125},
	{"gemini-2.5-flash-lite", 0.1, 0.4, 0.01},
	{"gemini-2.5-flash", 0.3, 2.5, 0.03},
}

func traitsOf(name string) traits {
	name = name[strings.LastIndexByte(name, '/')+1:]
	v, ok := version(name)
	if !ok {
		return traits{} // an open model behind the same format
	}
	t := traits{window: 1_048_576, output: 65_536, thinks: levelled, level: true, beside: true, signed: true}
	switch {
	case v < 25:
		t = traits{window: 1_048_576, output: 8192}
	case v < 30:
		t = traits{window: 1_048_576, output: 65_536, thinks: budgeted}
		if strings.Contains(name, "pro") {
			t.off = 128
		}
	case v == 30 && strings.Contains(name, "pro"):
		t.level = false
	}
	for _, p := range prices {
		if strings.HasPrefix(name, p.prefix) {
			t.price = model.Price{Input: p.input, Output: p.output, CacheRead: p.read}
			break
		}
	}
	return t
}

// version reads ten times the version from names such as gemini-2.5-pro and gemini-4-argon. Names without one, such as
// gemini-flash-latest, are those of the newest models.
func version(name string) (v int, ok bool) {
	rest, ok := strings.CutPrefix(name, "gemini-")
	if !ok {
		return 0, false
	}
	number, _, _ := strings.Cut(rest, "-")
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 990, true
	}
	return int(f*10 + 0.5), true
}
