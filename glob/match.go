package glob

import (
	"strings"
	"unicode/utf8"
)

// alt is one alternative of a pattern after braces are multiplied out, ready to match.
type alt struct {
	owner    int32  // which pattern of a list it came from
	dirOnly  bool   // matches directories only
	nameOnly bool   // comps is one component, compared with the base name
	flat     bool   // comps is one component, compared with the whole path (wildcards cross "/")
	tail     bool   // a "**" at the end also matches nothing
	lit      string // literal components in front, with the "/" after each
	comps    []comp // the rest
}

type compKind uint8

const (
	cGlobstar compKind = iota
	cAny               // "*"
	cEqual             // "a"
	cPrefix            // "a*"
	cSuffix            // "*a"
	cBetween           // "a*b"
	cWalk              // everything else
)

// comp matches one path component, or for flat alternatives a whole path.
type comp struct {
	kind compKind
	a, b string // literals, as the kinds show them; for cWalk a is a text that every match contains
	toks []tok  // for cWalk
	fold bool
	byts bool // a character is a byte
}

func (c *comp) match(s string) bool {
	switch c.kind {
	case cEqual:
		return s == c.a
	case cAny, cGlobstar:
		return true
	case cPrefix:
		return strings.HasPrefix(s, c.a)
	case cSuffix:
		return strings.HasSuffix(s, c.b)
	case cBetween:
		return len(s) >= len(c.a)+len(c.b) && strings.HasPrefix(s, c.a) && strings.HasSuffix(s, c.b)
	}
	return strings.Contains(s, c.a) && c.walk(s)
}

// walk matches token by token. On a mismatch only the last star has to be tried further on: what an earlier star could
// gain by taking more, the last one can gain as well.
func (c *comp) walk(s string) bool {
	ti, si := 0, 0
	starT, starS := -1, 0
	for {
		if ti == len(c.toks) {
			if si == len(s) {
				return true
			}
		} else if t := &c.toks[ti]; t.kind == tStar {
			if ti == len(c.toks)-1 {
				return true
			}
			starT, starS = ti, si
			ti++
			continue
		} else if n := c.one(t, s[si:]); n >= 0 {
			ti++
			si += n
			continue
		}
		if starT < 0 || starS >= len(s) {
			return false
		}
		starS += c.width(s[starS:])
		ti, si = starT+1, starS
	}
}

// one matches a token other than a star at the start of s and returns the bytes it took, or -1.
func (c *comp) one(t *tok, s string) int {
	if t.kind == tLit {
		if strings.HasPrefix(s, t.text) {
			return len(t.text)
		}
		return -1
	}
	if s == "" {
		return -1
	}
	if t.kind == tAny {
		return c.width(s)
	}
	r, n := rune(s[0]), 1
	if !c.byts {
		r, n = utf8.DecodeRuneInString(s)
	}
	if t.class.match(r, c.fold && (!c.byts || r < utf8.RuneSelf)) {
		return n
	}
	return -1
}

func (c *comp) width(s string) int {
	if c.byts || s[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// match reports whether the alternative matches a path whose base name starts at base.
func (a *alt) match(path string, base int, dir bool) bool {
	switch {
	case a.dirOnly && !dir:
		return false
	case a.nameOnly:
		return a.comps[0].match(path[base:])
	case a.flat:
		return a.comps[0].match(path)
	case len(a.comps) == 0:
		return path == a.lit
	case !strings.HasPrefix(path, a.lit):
		// "src/**" matches "src" itself where the dialect says so.
		return a.tail && len(a.comps) == 1 && a.comps[0].kind == cGlobstar && len(path) == len(a.lit)-1 && a.lit[:len(path)] == path
	}
	return a.matchComps(path[len(a.lit):])
}

// matchComps is walk one level up: components instead of characters, "**" instead of "*".
func (a *alt) matchComps(s string) bool {
	ci, si := 0, 0 // si is the start of a component; len(s)+1 means that none is left
	starC, starS := -1, 0
	for {
		if ci == len(a.comps) {
			if si > len(s) {
				return true
			}
		} else if c := &a.comps[ci]; c.kind == cGlobstar {
			if ci == len(a.comps)-1 {
				if a.tail || si <= len(s) {
					return true
				}
			} else {
				starC, starS = ci, si
				ci++
				continue
			}
		} else if si <= len(s) {
			if end := compEnd(s, si); c.match(s[si:end]) {
				ci++
				si = end + 1
				continue
			}
		}
		if starC < 0 || starS > len(s) {
			return false
		}
		starS = compEnd(s, starS) + 1
		ci, si = starC+1, starS
	}
}

func compEnd(s string, from int) int {
	if i := strings.IndexByte(s[from:], '/'); i >= 0 {
		return from + i
	}
	return len(s)
}

// dir returns the literal directories in front, with a "/" after each.
func (a *alt) dir() string {
	if a.nameOnly || a.flat {
		return ""
	}
	return a.lit[:strings.LastIndexByte(a.lit, '/')+1]
}

// below reports whether some path below dir could match.
func (a *alt) below(dir string) bool {
	if a.nameOnly || a.flat || dir == "" {
		return true
	}
	d := dir + "/"
	if len(d) <= len(a.lit) {
		return a.lit[:len(d)] == d
	}
	if len(a.comps) == 0 || !strings.HasPrefix(d, a.lit) {
		return false
	}
	rest := d[len(a.lit) : len(d)-1]
	if len(a.comps) >= 64 {
		return true
	}
	// Bit i of alive: the components read so far can be matched by the first i of the pattern.
	alive := a.close(1)
	for si := 0; si <= len(rest) && alive != 0; {
		end := compEnd(rest, si)
		var next uint64
		for i := range a.comps {
			if alive>>i&1 == 0 {
				continue
			}
			if a.comps[i].kind == cGlobstar {
				next |= 1 << i
			} else if a.comps[i].match(rest[si:end]) {
				next |= 2 << i
			}
		}
		alive = a.close(next)
		si = end + 1
	}
	return alive&^(1<<len(a.comps)) != 0
}

// close adds the positions that are reached by letting a "**" stand for nothing.
func (a *alt) close(alive uint64) uint64 {
	for i := range a.comps {
		if alive>>i&1 == 1 && a.comps[i].kind == cGlobstar {
			alive |= 2 << i
		}
	}
	return alive
}
