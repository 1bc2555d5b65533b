package object

// Graft copies objects of one file into another, each once, with all that they refer to.
type Graft struct {
	to, from *File
	nums     map[int]Ref
	todo     []int
	// Made are the objects that were added, in the order in which they were met.
	Made []Ref
}

// Graft returns a copier from another file into f.
func (f *File) Graft(from *File) *Graft {
	return &Graft{to: f, from: from, nums: map[int]Ref{}}
}

// Put says what stands in f for an object of the other file.
func (g *Graft) Put(num int, r Ref) { g.nums[num] = r }

// Copy returns an object as it stands in f.
func (g *Graft) Copy(o Object) (Object, error) {
	out := g.copy(o)
	for len(g.todo) > 0 {
		n := g.todo[len(g.todo)-1]
		g.todo = g.todo[:len(g.todo)-1]
		if len(g.Made) > g.to.lim.Objects {
			return nil, ErrLimit
		}
		g.to.Set(g.nums[n], g.copy(g.from.Get(Ref{Num: n})))
	}
	return out, nil
}

func (g *Graft) copy(o Object) Object {
	switch v := o.(type) {
	case Ref:
		if r, ok := g.nums[v.Num]; ok {
			return r
		}
		if g.from.Get(v) == nil {
			return nil
		}
		r := g.to.Add(nil)
		g.nums[v.Num] = r
		g.Made = append(g.Made, r)
		g.todo = append(g.todo, v.Num)
		return r
	case Array:
		out := make(Array, len(v))
		for i, e := range v {
			out[i] = g.copy(e)
		}
		return out
	case Dict:
		out := make(Dict, len(v))
		for k, e := range v {
			out[k] = g.copy(e)
		}
		return out
	case *Stream:
		d, _ := g.copy(v.Dict).(Dict)
		return &Stream{d, v.Raw}
	}
	return o
}
