package object

import (
	"bytes"
	"slices"
)

// File is an open PDF. Objects are parsed when they are asked for. It is not safe for concurrent use.
type File struct {
	data    []byte
	base    int // offset of the header, from which others count
	lim     Limits
	spent   int64
	xref    map[int]entry
	objs    map[int]Object
	held    map[int][]Object // members of object streams, by the number of the stream
	loading map[int]bool
	next    int
	// Trailer is that of the newest revision, with what earlier ones add.
	Trailer Dict
	// Version is that of the header, or of the catalog where that is later.
	Version string
	// Encrypted says that strings and streams are ciphered.
	Encrypted bool
	// Repaired says that the cross references were broken and objects were found by scanning.
	Repaired bool
	// Revisions counts the updates that were appended, the first writing included.
	Revisions int
}

type entry struct {
	off    int // of the object; of a member of an object stream its place in it
	gen    int
	stream int // the object stream that holds it, 0 for none
}

// Open reads the cross references of a file. Errors wrap ErrLimit or ErrSyntax.
func Open(data []byte, lim Limits) (*File, error) {
	f := &File{data: data, lim: lim.withDefaults(), xref: map[int]entry{}, objs: map[int]Object{}, held: map[int][]Object{}, loading: map[int]bool{}, Trailer: Dict{}}
	head := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-"))
	if head < 0 {
		return nil, ErrSyntax
	}
	f.base = head
	f.Version = word(data[head+5:])
	err := f.chain()
	if err == ErrLimit {
		return nil, err
	}
	if err == nil && f.Trailer["Encrypt"] != nil {
		f.Encrypted = true // the catalog may stand in a ciphered stream
		return f, nil
	}
	if err != nil || !f.placed() || f.Dict(f.catalog()["Pages"]) == nil {
		if err := f.repair(); err != nil {
			return nil, err
		}
		if f.Trailer["Encrypt"] == nil && f.Dict(f.catalog()["Pages"]) == nil {
			return nil, ErrSyntax
		}
	}
	f.Encrypted = f.Trailer["Encrypt"] != nil
	if v, ok := f.Resolve(f.catalog()["Version"]).(Name); ok && len(v) == 3 && string(v) > f.Version {
		f.Version = string(v)
	}
	for n := range f.xref {
		f.next = max(f.next, n)
	}
	return f, nil
}

// placed reports whether every object stands where the cross references say. Repair later would undo changes.
func (f *File) placed() bool {
	for n, e := range f.xref {
		if e.off < 0 || e.stream != 0 {
			continue
		}
		if e.off >= len(f.data) {
			return false
		}
		l := &Lexer{b: f.data, at: e.off}
		num, _ := l.Next()
		_, _ = l.Next()
		k, _ := l.Next()
		if num != int64(n) || k != Keyword("obj") {
			return false
		}
	}
	return true
}

func word(b []byte) string {
	n := 0
	for n < len(b) && n < 8 && !space(b[n]) && b[n] > 0x20 && b[n] < 0x7f {
		n++
	}
	return string(b[:n])
}

func (f *File) catalog() Dict {
	d, _ := f.Resolve(f.Trailer["Root"]).(Dict)
	return d
}

// Catalog returns the document catalog.
func (f *File) Catalog() Dict {
	if d := f.catalog(); d != nil {
		return d
	}
	return Dict{}
}

// chain follows the cross references from the newest to the first.
func (f *File) chain() error {
	tail := f.data[max(0, len(f.data)-2048):]
	at := bytes.LastIndex(tail, []byte("startxref"))
	if at < 0 {
		return ErrSyntax
	}
	l := &Lexer{b: f.data, at: len(f.data) - len(tail) + at + 9, depth: f.lim.Depth}
	o, _ := l.Next()
	off, ok := o.(int64)
	if !ok {
		return ErrSyntax
	}
	seen := map[int]bool{}
	queue := []int{int(off)}
	for len(queue) > 0 {
		off := queue[0] + f.base
		queue = queue[1:]
		if seen[off] {
			continue // a loop
		}
		seen[off] = true
		if len(seen) > 10_000 || off < 0 || off >= len(f.data) {
			return ErrSyntax
		}
		d, table, err := f.section(off)
		if err != nil {
			return err
		}
		f.Revisions++
		for k, v := range d {
			if _, ok := f.Trailer[k]; !ok {
				f.Trailer[k] = v
			}
		}
		if v, ok := d["XRefStm"].(int64); ok && table {
			queue = append(queue, int(v))
		}
		if v, ok := Number(d["Prev"]); ok {
			queue = append(queue, int(v))
		}
	}
	return nil
}

// section reads one table or stream of cross references and returns its trailer.
func (f *File) section(off int) (d Dict, table bool, err error) {
	l := &Lexer{b: f.data, at: off, depth: f.lim.Depth, refs: true}
	l.skip()
	if bytes.HasPrefix(f.data[l.at:], []byte("xref")) {
		l.at += 4
		d, err := f.table(l)
		return d, true, err
	}
	_, o, _, ok := f.indirect(l.at)
	s, isStream := o.(*Stream)
	if !ok || !isStream {
		return nil, false, ErrSyntax
	}
	return s.Dict, false, f.crossStream(s)
}

func (f *File) table(l *Lexer) (Dict, error) {
	for {
		o, ok := l.Next()
		if k, is := o.(Keyword); is && k == "trailer" {
			break
		}
		start, isNum := o.(int64)
		o2, _ := l.Next()
		count, isCount := o2.(int64)
		if !ok || !isNum || !isCount || count < 0 || start < 0 {
			return nil, ErrSyntax
		}
		for i := range count {
			off, _ := l.Next()
			gen, _ := l.Next()
			kind, more := l.Next()
			if !more {
				return nil, ErrSyntax
			}
			at, isAt := off.(int64)
			g, _ := gen.(int64)
			if !isAt {
				return nil, ErrSyntax
			}
			if len(f.xref) > f.lim.Objects {
				return nil, ErrLimit
			}
			n := int(start + i)
			if _, known := f.xref[n]; !known {
				switch kind {
				case Keyword("n"):
					f.xref[n] = entry{off: int(at) + f.base, gen: int(g)}
				case Keyword("f"):
					f.xref[n] = entry{off: -1}
				default:
					return nil, ErrSyntax
				}
			}
		}
	}
	o, _ := l.Next()
	d, ok := o.(Dict)
	if !ok {
		return nil, ErrSyntax
	}
	return d, nil
}

func (f *File) crossStream(s *Stream) error {
	data, _, err := f.Decode(s)
	if err != nil {
		return err
	}
	widths, _ := s.Dict["W"].(Array)
	if len(widths) < 3 {
		return ErrSyntax
	}
	var w [3]int
	for i := range w {
		v, _ := widths[i].(int64)
		if v < 0 || v > 8 {
			return ErrSyntax
		}
		w[i] = int(v)
	}
	index, _ := s.Dict["Index"].(Array)
	if index == nil {
		index = Array{int64(0), s.Dict["Size"]}
	}
	row := w[0] + w[1] + w[2]
	if row == 0 {
		return ErrSyntax
	}
	field := func(at, width, none int) int {
		if width == 0 {
			return none
		}
		v := 0
		for _, c := range data[at : at+width] {
			v = v<<8 | int(c)
		}
		return v
	}
	at := 0
	for i := 0; i+1 < len(index); i += 2 {
		start, _ := index[i].(int64)
		count, _ := index[i+1].(int64)
		for n := start; n < start+count && at+row <= len(data); n++ {
			kind, a, b := field(at, w[0], 1), field(at+w[0], w[1], 0), field(at+w[0]+w[1], w[2], 0)
			at += row
			if len(f.xref) > f.lim.Objects {
				return ErrLimit
			}
			if _, known := f.xref[int(n)]; known {
				continue
			}
			switch kind {
			case 0:
				f.xref[int(n)] = entry{off: -1}
			case 1:
				f.xref[int(n)] = entry{off: a + f.base, gen: b}
			case 2:
				f.xref[int(n)] = entry{off: b, stream: a}
			}
		}
	}
	return nil
}

// indirect reads "1 0 obj …" and returns its number, the object, and where it ends.
func (f *File) indirect(at int) (num int, o Object, to int, ok bool) {
	if at < 0 || at >= len(f.data) {
		return 0, nil, 0, false
	}
	l := &Lexer{b: f.data, at: at, depth: f.lim.Depth, refs: true}
	a, _ := l.Next()
	b, _ := l.Next()
	k, _ := l.Next()
	n, isNum := a.(int64)
	if _, isGen := b.(int64); !isNum || !isGen || k != Keyword("obj") {
		return 0, nil, 0, false
	}
	o, ok = l.Next()
	if !ok {
		return 0, nil, 0, false
	}
	if w, is := o.(Keyword); is { // "1 0 obj endobj" is null
		return int(n), nil, l.at, w == "endobj"
	}
	d, isDict := o.(Dict)
	l.skip()
	if !isDict || !bytes.HasPrefix(f.data[l.at:], []byte("stream")) {
		return int(n), o, l.at, true
	}
	l.at += 6
	if l.at < len(f.data) && f.data[l.at] == '\r' {
		l.at++
	}
	if l.at < len(f.data) && f.data[l.at] == '\n' {
		l.at++
	}
	from := l.at
	to = f.streamEnd(from, d)
	return int(n), &Stream{d, f.data[from:to]}, to, true
}

// streamEnd believes /Length where "endstream" follows it, and looks for that otherwise.
func (f *File) streamEnd(from int, d Dict) int {
	if n, ok := f.Resolve(d["Length"]).(int64); ok && n >= 0 && n <= int64(len(f.data)-from) {
		l := &Lexer{b: f.data, at: from + int(n)}
		for l.at < len(l.b) && space(l.b[l.at]) {
			l.at++
		}
		if bytes.HasPrefix(f.data[l.at:], []byte("endstream")) || bytes.HasPrefix(f.data[l.at:], []byte("endobj")) {
			return from + int(n)
		}
	}
	to := bytes.Index(f.data[from:], []byte("endstream"))
	if to < 0 {
		if to = bytes.Index(f.data[from:], []byte("endobj")); to < 0 {
			return len(f.data)
		}
	}
	to += from
	if to > from && f.data[to-1] == '\n' {
		to--
	}
	if to > from && f.data[to-1] == '\r' {
		to--
	}
	return to
}

// Get returns an object by number; nil where there is none.
func (f *File) Get(r Ref) Object {
	if o, ok := f.objs[r.Num]; ok {
		return o
	}
	e, ok := f.xref[r.Num]
	if !ok || e.off < 0 || f.loading[r.Num] {
		return nil
	}
	f.loading[r.Num] = true
	defer delete(f.loading, r.Num)
	var o Object
	if e.stream != 0 {
		o = f.member(e.stream, r.Num)
	} else {
		n, found, _, ok := f.indirect(e.off)
		if ok && n == r.Num {
			o = found
		}
	}
	f.objs[r.Num] = o
	return o
}

// member returns an object that stands in an object stream.
func (f *File) member(stream, num int) Object {
	if _, ok := f.held[stream]; !ok {
		f.held[stream] = nil
		if s, ok := f.Get(Ref{Num: stream}).(*Stream); ok {
			f.held[stream] = f.members(s)
		}
	}
	list := f.held[stream]
	for i := 0; i+1 < len(list); i += 2 {
		if list[i] == int64(num) {
			return list[i+1]
		}
	}
	return nil
}

// members returns the objects of an object stream, each behind its number.
func (f *File) members(s *Stream) []Object {
	data, _, err := f.Decode(s)
	if err != nil {
		return nil
	}
	first, n := f.Int(s.Dict["First"], 0), f.Int(s.Dict["N"], 0)
	head := &Lexer{b: data, depth: f.lim.Depth}
	var out []Object
	for range min(n, f.lim.Objects, len(data)) {
		num, _ := head.Next()
		off, ok := head.Next()
		at, isOff := off.(int64)
		if _, isNum := num.(int64); !ok || !isNum || !isOff || at < 0 || first+int(at) > len(data) {
			break
		}
		l := &Lexer{b: data, at: first + int(at), depth: f.lim.Depth, refs: true}
		o, _ := l.Next()
		if _, odd := o.(Keyword); odd {
			o = nil
		}
		out = append(out, num, o)
	}
	return out
}

// Resolve follows references to an object.
func (f *File) Resolve(o Object) Object {
	for range 32 {
		r, ok := o.(Ref)
		if !ok {
			return o
		}
		o = f.Get(r)
	}
	return nil
}

// Dict returns an object that is a dictionary, or that of a stream; nil otherwise.
func (f *File) Dict(o Object) Dict {
	switch v := f.Resolve(o).(type) {
	case Dict:
		return v
	case *Stream:
		return v.Dict
	}
	return nil
}

// Array returns an object that is an array; nil otherwise.
func (f *File) Array(o Object) Array {
	a, _ := f.Resolve(o).(Array)
	return a
}

// Name returns an object that is a name; "" otherwise.
func (f *File) Name(o Object) Name {
	n, _ := f.Resolve(o).(Name)
	return n
}

// Int returns a number as an int, or none.
func (f *File) Int(o Object, none int) int {
	v, ok := Number(f.Resolve(o))
	if !ok || v > 1<<40 || v < -1<<40 {
		return none
	}
	return int(v)
}

// Numbers returns the numbers of an array; nil where one of them is none.
func (f *File) Numbers(o Object) []float64 {
	var out []float64
	for _, e := range f.Array(o) {
		v, ok := Number(f.Resolve(e))
		if !ok {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// Set replaces an object.
func (f *File) Set(r Ref, o Object) {
	f.objs[r.Num] = o
	f.next = max(f.next, r.Num)
}

// Add adds an object.
func (f *File) Add(o Object) Ref {
	f.next++
	r := Ref{Num: f.next}
	f.objs[r.Num] = o
	if _, ok := f.xref[r.Num]; !ok {
		f.xref[r.Num] = entry{}
	}
	return r
}

// All returns the numbers of all objects that the cross references of the file name, reachable or not, in order.
func (f *File) All() []int {
	var out []int
	for n, e := range f.xref {
		if e.off >= 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// New returns a file without objects, to add some and write it.
func New() *File {
	return &File{lim: Limits{}.withDefaults(), xref: map[int]entry{}, objs: map[int]Object{}, held: map[int][]Object{}, loading: map[int]bool{}, Trailer: Dict{}, Version: "1.7", Revisions: 1}
}
