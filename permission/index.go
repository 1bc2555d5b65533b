package permission

import (
	"strings"

	"github.com/tackle-dev/tackle/glob"
)

// A pathIndex answers "which is the last of these rules that matches this path" without trying every rule. A pattern is
// filed under the directory that all of its matches lie in, there under its last component where that is a literal, under
// its extension where it is "*.ext", and in the rest otherwise. All keys are folded; what is found is then matched in
// earnest, so the index may find too much and never too little: a path that a pattern matches, exactly or folded or
// because it lies below a match, has the pattern's directory among its own and the pattern's name or extension among its
// components.
type pathIndex struct {
	literal map[string][]int32 // patterns without wildcards, by the whole text
	dirs    map[string]*bucket
}

type bucket struct {
	names, exts map[string][]int32
	rest        []int32
}

// add files rule i; rules are added in ascending order.
func (x *pathIndex) add(p *pathPattern, i int32) {
	if !glob.HasMeta(p.text) && !strings.ContainsAny(p.text, "],") {
		if x.literal == nil {
			x.literal = map[string][]int32{}
		}
		x.literal[p.text] = append(x.literal[p.text], i)
		return
	}
	dir := ""
	if g, err := glob.Compile(p.text, glob.Options{}); err == nil {
		dir = g.Dir()
	}
	if x.dirs == nil {
		x.dirs = map[string]*bucket{}
	}
	b := x.dirs[dir]
	if b == nil {
		b = &bucket{}
		x.dirs[dir] = b
	}
	tail := p.text[strings.LastIndexByte(p.text, '/')+1:]
	const meta = `*?[]{},\`
	switch rest, star := strings.CutPrefix(tail, "*"); {
	case !strings.ContainsAny(tail, meta):
		put(&b.names, tail, i)
	case star && strings.HasPrefix(rest, ".") && !strings.ContainsAny(rest, meta):
		put(&b.exts, rest[strings.LastIndexByte(rest, '.'):], i)
	default:
		b.rest = append(b.rest, i)
	}
}

func put(m *map[string][]int32, key string, i int32) {
	if *m == nil {
		*m = map[string][]int32{}
	}
	(*m)[key] = append((*m)[key], i)
}

// last returns the last rule after best that matches, or best. path is folded; match decides about one rule.
func (x *pathIndex) last(path string, best int32, match func(int32) bool) int32 {
	if x.literal == nil && x.dirs == nil {
		return best
	}
	for end := 0; end <= len(path); {
		best = x.at(path, path[:end], best, match)
		if end == len(path) {
			break
		}
		next := strings.IndexByte(path[end+1:], '/')
		if next < 0 {
			end = len(path)
		} else {
			end += 1 + next
		}
	}
	return best
}

// at tries the rules that are filed under one directory of the path.
func (x *pathIndex) at(path, dir string, best int32, match func(int32) bool) int32 {
	best = try(x.literal[dir], best, match)
	b := x.dirs[dir]
	if b == nil {
		return best
	}
	best = try(b.rest, best, match)
	if b.names == nil && b.exts == nil {
		return best
	}
	for rest := strings.TrimPrefix(path[len(dir):], "/"); rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		best = try(b.names[name], best, match)
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			best = try(b.exts[name[dot:]], best, match)
		}
	}
	return best
}

func try(ids []int32, best int32, match func(int32) bool) int32 {
	for k := len(ids) - 1; k >= 0 && ids[k] > best; k-- {
		if match(ids[k]) {
			return ids[k]
		}
	}
	return best
}
