package glob

import "strings"

// An index answers "which is the last pattern of this list that matches" for long lists. Every alternative is filed
// under its last component when that is a literal ("Makefile", "/build/out"), or under its extension when it is "*.ext";
// a path is then looked up once by base name and once for each dot in it. Only what fits neither form is tried in turn.
type index struct {
	fold  bool
	alts  []alt // by ascending owner
	names map[string][]int32
	exts  map[string][]int32
	rest  []int32
	lens  uint64    // bit n: some key of names has n bytes (63: or more)
	first [4]uint64 // bit c: some key of names begins with the byte c
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
	if len(x.alts) > smallIndex {
		x.names, x.exts = map[string][]int32{}, map[string][]int32{}
	}
	for i := range x.alts {
		id := int32(i)
		name, ext := x.alts[i].key()
		switch {
		case x.names != nil && name != "":
			x.names[name] = append(x.names[name], id)
			x.lens |= 1 << min(len(name), 63)
			x.first[name[0]>>6] |= 1 << (name[0] & 63)
		case x.names != nil && ext != "":
			x.exts[ext] = append(x.exts[ext], id)
		default:
			x.rest = append(x.rest, id)
		}
	}
}

// key returns the base name or the extension that every match of the alternative has.
func (a *alt) key() (name, ext string) {
	if a.flat {
		return "", ""
	}
	if len(a.comps) == 0 {
		return a.lit[baseAt(a.lit):], ""
	}
	switch c := &a.comps[len(a.comps)-1]; {
	case c.kind == cEqual:
		return c.a, ""
	case c.kind == cSuffix && c.b[0] == '.':
		return "", c.b
	}
	return "", ""
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
	for k := len(x.rest) - 1; k >= 0; k-- {
		a := &x.alts[x.rest[k]]
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
	if len(x.exts) == 0 {
		return best
	}
	for i := 0; ; i++ {
		dot := strings.IndexByte(name[i:], '.')
		if dot < 0 {
			return best
		}
		i += dot
		best = x.lastOf(x.exts[name[i:]], best, path, base, dir)
	}
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
