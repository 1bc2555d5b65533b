// Package fit makes what a request holds acceptable to a provider that is stricter than package model: names of tools, ids of
// calls, schemas. What already fits stays as it is, byte by byte, and equal requests fit in equal ways, so that prompt caches
// hold. Names and ids of a foreign origin (an MCP server, a session begun with another provider, a model that erred) would
// otherwise make a provider refuse the whole request.
package fit

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/model"
)

// A Rule says which names and ids a provider takes.
type Rule struct {
	Max   int // bytes; at least 16
	First func(c byte) bool
	Rest  func(c byte) bool
}

// Word reports whether c is a letter of ASCII, a digit, an underscore or a hyphen.
func Word(c byte) bool {
	return Letter(c) || c >= '0' && c <= '9' || c == '-'
}

// Letter reports whether c is a letter of ASCII or an underscore.
func Letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func (r Rule) fits(s string) bool {
	if s == "" || len(s) > r.Max || !r.First(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !r.Rest(s[i]) {
			return false
		}
	}
	return true
}

// apply returns s where it fits, and otherwise the nearest that does, with a mark that keeps different words different.
func (r Rule) apply(s string) string {
	if r.fits(s) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	mark := "_" + hex.EncodeToString(sum[:4])
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < r.Max-len(mark)-1; i++ {
		switch c := s[i]; {
		case i == 0 && r.First(c), i > 0 && r.Rest(c):
			b.WriteByte(c)
		case i == 0 && r.Rest(c):
			b.WriteByte('_')
			b.WriteByte(c)
		default:
			b.WriteByte('_')
		}
	}
	return b.String() + mark
}

// Names turns the names of tools into those that a provider takes, and back.
type Names struct {
	rule Rule
	own  map[string]string // from wire names; only those that differ
}

// NewNames returns the names of the tools of a request.
func NewNames(r Rule, tools []model.Tool) *Names {
	n := &Names{rule: r}
	for _, t := range tools {
		if r.fits(t.Name) {
			continue
		}
		if n.own == nil {
			n.own = map[string]string{}
		}
		n.own[r.apply(t.Name)] = t.Name
	}
	return n
}

// Wire returns the name of a tool as the provider takes it.
func (n *Names) Wire(name string) string { return n.rule.apply(name) }

// Own returns the name of a tool as package model has it, from the name that a model wrote.
func (n *Names) Own(wire string) string {
	if own, ok := n.own[wire]; ok {
		return own
	}
	return wire
}

// IDs gives every call of a conversation an id of its own that the provider takes, and its result the same. Calls and results
// are to be given in the order of the conversation. The zero value takes any id; set Rule before the first use to be stricter.
type IDs struct {
	Rule Rule
	used map[string]bool
	open map[string][]string // wire ids of the calls of one id that have no result yet
	last map[string]string   // the newest wire id of an id
}

// Call returns the id of the next call.
func (x *IDs) Call(id string) string {
	if x.used == nil {
		x.used, x.open, x.last = map[string]bool{}, map[string][]string{}, map[string]string{}
	}
	wire := id
	if x.Rule.Max > 0 {
		wire = x.Rule.apply(id)
	}
	for n, base := 2, wire; x.used[wire]; n++ {
		wire = base + "_" + strconv.Itoa(n)
		if x.Rule.Max > 0 {
			wire = x.Rule.apply(wire)
		}
	}
	x.used[wire] = true
	x.open[id] = append(x.open[id], wire)
	x.last[id] = wire
	return wire
}

// Result returns the id of the call that a result answers. Results of calls that share an id answer them in order.
func (x *IDs) Result(id string) string {
	if w := x.open[id]; len(w) > 0 {
		x.open[id] = w[1:]
		return w[0]
	}
	if w, ok := x.last[id]; ok {
		return w
	}
	if x.Rule.Max > 0 {
		return x.Rule.apply(id)
	}
	return id
}
