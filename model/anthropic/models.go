package anthropic

import (
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/model"
)

// traits is what the adapter must know of a model to ask it rightly. Source: the provider's pages on models, thinking and
// migration, as of November 2026. A model that is not known is taken for one of the newest if its name says claude, and for a
// plain speaker of the format if not.
type traits struct {
	window, output int
	price          model.Price
	files          bool

	thinks thinking
	byself bool   // thinks unless it is told otherwise
	off    string // the type that keeps it from thinking; "": nothing does
	warm   bool   // takes a temperature while it does not think
	forced bool   // can be forced to call a tool
}

type thinking int

const (
	never    thinking = iota
	budgeted          // thinking.type enabled, with a budget of tokens
	adaptive          // thinking.type adaptive, with an effort
)

// prices are those of a million tokens; writing to the cache for five minutes costs a quarter more than input.
var prices = []struct {
	prefix              string
	input, output, read float64
}{
	{"claude-fable-5", 10, 50, 1},
	{"claude-opus-5-5", 4, 20, 0.2},
	{"claude-opus-5", 5, 25, 0.5},
	{"claude-opus-4-0", 15, 75, 1.5},
	{"claude-opus-4-1", 15, 75, 1.5},
	{"claude-opus-4-2025", 15, 75, 1.5},
	{"claude-opus-4", 5, 25, 0.5},
	{"claude-sonnet-5", 2, 10, 0.2},
	{"claude-sonnet-4", 3, 15, 0.3},
	{"claude-3-7-sonnet", 3, 15, 0.3},
	{"claude-haiku-4-5", 1, 5, 0.1},
}

func traitsOf(name string) traits {
	at := strings.Index(name, "claude-") // platforms put a region or a vendor before it
	if at < 0 {
		return traits{files: true, thinks: budgeted, warm: true, forced: true}
	}
	name = name[at:]
	family, v := version(name)
	t := traits{window: 1_000_000, output: 128_000, files: true, thinks: adaptive, byself: true, off: "disabled"}
	switch {
	case v < 37:
		t = traits{window: 200_000, output: 8192, files: v >= 35, thinks: never, warm: true, forced: true}
	case v < 46:
		t = traits{window: 200_000, output: 64_000, files: true, thinks: budgeted, warm: true, forced: true}
		if family == "opus" && v < 45 {
			t.output = 32_000
		}
	case v == 46:
		t.byself, t.warm, t.forced = false, true, true
		if family == "sonnet" {
			t.output = 64_000
		}
	case v < 50:
		t.byself, t.forced = false, true
	case family == "fable" || family == "mythos" || family == "opus" && v >= 55:
		t.off = ""
	case family == "sonnet" && v >= 55:
		t.off = "between_tools"
	default:
		t.forced = v < 55
	}
	for _, p := range prices {
		if strings.HasPrefix(name, p.prefix) {
			t.price = model.Price{Input: p.input, Output: p.output, CacheRead: p.read, CacheWrite: p.input * 1.25}
			break
		}
	}
	return t
}

// version reads the family and ten times the version from names such as claude-sonnet-4-5-20250929 and claude-3-7-sonnet-latest.
// A name without a version is one of the newest.
func version(name string) (family string, v int) {
	for _, w := range strings.Split(name, "-")[1:] {
		n, err := strconv.Atoi(w)
		switch {
		case err != nil && family == "":
			family = w
		case err != nil || n > 99: // a date
		case v == 0:
			v = n * 10
		case v%10 == 0:
			v += n
		}
	}
	if v == 0 {
		v = 990
	}
	return family, v
}
