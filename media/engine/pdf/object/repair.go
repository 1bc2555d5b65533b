package object

import (
	"bytes"
	"maps"
	"slices"
)

// repair finds objects by scanning. Later ones stand before earlier ones of the same number.
func (f *File) repair() error {
	f.Repaired = true
	xref, trailer := map[int]entry{}, Dict{}
	var streams []int
	for at := 0; at < len(f.data); {
		rel := bytes.Index(f.data[at:], []byte("obj"))
		if rel < 0 {
			break
		}
		k := at + rel
		at = k + 3
		from, ok := f.header(k)
		if !ok {
			continue
		}
		l := &Lexer{b: f.data, at: from}
		o, _ := l.Next()
		num, ok := o.(int64)
		if !ok || num <= 0 || num > 1<<31 {
			continue
		}
		if len(xref) > f.lim.Objects {
			return ErrLimit
		}
		xref[int(num)] = entry{off: from}
		streams = append(streams, int(num))
	}
	f.xref, f.objs, f.held = xref, map[int]Object{}, map[int][]Object{}
	for at := 0; ; {
		rel := bytes.Index(f.data[at:], []byte("trailer"))
		if rel < 0 {
			break
		}
		at += rel + 7
		l := &Lexer{b: f.data, at: at, depth: f.lim.Depth, refs: true}
		if o, _ := l.Next(); o != nil {
			if d, ok := o.(Dict); ok {
				maps.Copy(trailer, d)
			}
		}
	}
	f.scanStreams(streams, trailer)
	delete(trailer, "Prev")
	f.Trailer = trailer
	if c := f.catalog(); c == nil || f.Name(c["Type"]) != "Catalog" && c["Pages"] == nil {
		delete(trailer, "Root")
		for _, n := range f.All() {
			if d, ok := f.Get(Ref{Num: n}).(Dict); ok && f.Name(d["Type"]) == "Catalog" {
				trailer["Root"] = Ref{Num: n}
			}
		}
	}
	if f.catalog() == nil {
		return ErrSyntax
	}
	return nil
}

// header returns where the "1 0" before an "obj" begins.
func (f *File) header(k int) (int, bool) {
	i := k
	back := func(ok func(byte) bool) bool {
		from := i
		for i > 0 && ok(f.data[i-1]) && from-i < 12 {
			i--
		}
		return i < from
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	if !back(space) || !back(digit) || !back(space) || !back(digit) {
		return 0, false
	}
	return i, true
}

// scanStreams looks into the object streams, and the trailers that stand in cross-reference streams.
func (f *File) scanStreams(nums []int, trailer Dict) {
	slices.Sort(nums)
	for _, n := range slices.Compact(nums) {
		s, ok := f.Get(Ref{Num: n}).(*Stream)
		if !ok {
			continue
		}
		switch s.Dict["Type"] {
		case Name("XRef"):
			for _, k := range []Name{"Root", "Info", "Encrypt", "ID"} {
				if v, ok := s.Dict[k]; ok {
					trailer[k] = v
				}
			}
		case Name("ObjStm"):
			list := f.members(s)
			f.held[n] = list
			for i := 0; i+1 < len(list); i += 2 {
				num := int(list[i].(int64))
				if _, known := f.xref[num]; !known && len(f.xref) <= f.lim.Objects {
					f.xref[num] = entry{stream: n}
				}
			}
		}
	}
}
