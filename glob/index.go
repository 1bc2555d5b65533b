package glob

import "strings"

// An index answers "which is the last pattern of this list that matches" for long lists. Every alternative is filed
// under its last component when that is a literal ("Makefile", "/build/out"), under its extension when it is "*.ext", or
// under a piece between dots that it needs ("*.tab.[ch]"); a path is then looked up once by base name and once for each
// dot in it. Only what fits no form is tried in turn, if its first and last byte fit.
type index struct {
	fold   bool
	alts   []alt // by ascending owner
	names  map[string][]int32
	exts   map[string][]int32
	pieces map[string][]int32
	rest   []trial
	lens   uint64    // bit n: some key of names has n bytes (63: or more)
	first  [4]uint64 // bit c: some key of names begins with the byte c
}

// trial is an alternative without a key. first and last are the bytes that the base name must begin and end with; 0: any.
type trial struct {
	id          int32
	first, last byte
}

// smallIndex is the number of alternatives up to which trying each is faster than hashing.
const smallIndex = 6

func (x *index) add(alts []alt, owner int32) {
	for _, a := range alts {
		a.owner = owner
		x.alts = append(x.alts, a)
	}
}

func (x *index) build() {
	hash := len(x.alts) > smallIndex
	if hash {
		x.names, x.exts, x.pieces = map[string][]int32{}, map[string][]int32{}, map[string][]int32{}
	}
	for i := range x.alts {
		id := int32(i)
		name, ext, piece := x.alts[i].keys()
		switch {
		case hash && name != "":
			x.names[name] = append(x.names[name], id)
			x.lens |= 1 << min(len(name), 63)
			x.first[name[0]>>6] |= 1 << (name[0] & 63)
		case hash && ext != "":
			x.exts[ext] = append(x.exts[ext], id)
		case hash && piece != "":
			x.pieces[piece] = append(x.pieces[piece], id)
		default:
			first, last := x.alts[i].ends()
			x.rest = append(x.rest, trial{id, first, last})
		}
	}
}

// keys returns the base name, the extension or the piece between dots that every match of the alternative has.
func (a *alt) keys() (name, ext, piece string) {
	if a.flat {
		return "", "", ""
	}
	if len(a.comps) == 0 {
		return a.lit[baseAt(a.lit):], "", ""
	}
	switch c := &a.comps[len(a.comps)-1]; c.kind {
	case cEqual:
		return c.a, "", ""
	case cSuffix:
		if c.b[0] == '.' {
			return "", c.b, ""
		}
	case cWalk:
		if n := len(c.a); n > 2 && strings.IndexByte(c.a[1:], '.') == n-2 && c.a[0] == '.' {
			return "", "", c.a
		}
	}
	return "", "", ""
}

// ends returns the bytes with which every matching base name begins and ends, or 0.
func (a *alt) ends() (first, last byte) {
	if a.flat || len(a.comps) == 0 {
		return 0, 0
	}
	switch c := &a.comps[len(a.comps)-1]; c.kind {
	case cPrefix:
		return c.a[0], 0
	case cSuffix:
		return 0, c.b[len(c.b)-1]
	case cBetween:
		return c.a[0], c.b[len(c.b)-1]
	case cWalk:
		if t := c.toks[0]; t.kind == tLit {
			first = t.text[0]
		}
		if t := c.toks[len(c.toks)-1]; t.kind == tLit {
			last = t.text[len(t.text)-1]
		}
	}
	return first, last
}

// last returns the owner of the last alternative that matches, or -1. base is the offset of the base name in path.
func (x *index) last(path string, base int, dir bool) int32 {
	if x.fold {
		path = foldString(path)
		base = baseAt(path)
	}
	best := int32(-1)
	if x.names != nil {
		best = x.lookUp(path, base, dir)
	}
	var first, final byte
	if base < len(path) {
		first, final = path[base], path[len(path)-1]
	}
	for k := len(x.rest) - 1; k >= 0; k-- {
		t := x.rest[k]
		if t.first != 0 && t.first != first || t.last != 0 && t.last != final {
			continue
		}
		a := &x.alts[t.id]
		if a.owner <= best {
			break
		}
		if a.match(path, base, dir) {
			return a.owner
		}
	}
	return best
}

func (x *index) lookUp(path string, base int, dir bool) int32 {
	best := int32(-1)
	name := path[base:]
	if name != "" && x.lens>>min(len(name), 63)&1 == 1 && x.first[name[0]>>6]>>(name[0]&63)&1 == 1 {
		best = x.lastOf(x.names[name], best, path, base, dir)
	}
	if len(x.exts)+len(x.pieces) == 0 {
		return best
	}
	for i := strings.IndexByte(name, '.'); i >= 0; {
		best = x.lastOf(x.exts[name[i:]], best, path, base, dir)
		next := strings.IndexByte(name[i+1:], '.')
		if next < 0 {
			return best
		}
		next += i + 1
		if len(x.pieces) > 0 {
			best = x.lastOf(x.pieces[name[i:next+1]], best, path, base, dir)
		}
		i = next
	}
	return best
}

// lastOf returns the owner of the last of the listed alternatives that matches and beats best.
func (x *index) lastOf(ids []int32, best int32, path string, base int, dir bool) int32 {
	for k := len(ids) - 1; k >= 0; k-- {
		a := &x.alts[ids[k]]
		if a.owner <= best {
			break
		}
		if a.match(path, base, dir) {
			return a.owner
		}
	}
	return best
}
