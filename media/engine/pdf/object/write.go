package object

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/klauspost/compress/flate"
)

// perStream is how many objects one object stream holds.
const perStream = 100

// quick are compressors for the objects of a file, which are small beside its streams; those stay as they are. They are large and
// made anew for every file otherwise.
var quick = sync.Pool{New: func() any {
	z, err := flate.NewWriter(nil, 2)
	if err != nil {
		return nil
	}
	return z
}}

// writer numbers what it meets.
type writer struct {
	f    *File
	nums map[int]int // numbers in the file, to those in the result
	list []int       // numbers in the file, in the order of the result
	keep int         // bound
	z    *flate.Writer
}

// Write returns a file that holds what is reachable from Root and Info of the trailer, and nothing else, in one revision.
func (f *File) Write() ([]byte, error) {
	w := &writer{f: f, nums: map[int]int{}, keep: f.lim.Objects}
	z, ok := quick.Get().(*flate.Writer)
	if !ok {
		return nil, ErrSyntax // of levels that there are not
	}
	defer quick.Put(z)
	w.z = z
	trailer := Dict{}
	for _, k := range []Name{"Root", "Info"} {
		if r, ok := f.Trailer[k].(Ref); ok {
			trailer[k] = w.ref(r)
		} else if d, ok := f.Trailer[k].(Dict); ok {
			trailer[k] = w.ref(f.Add(d))
		}
	}
	if id := f.Array(f.Trailer["ID"]); len(id) == 2 {
		trailer["ID"] = Array{f.Resolve(id[0]), f.Resolve(id[1])}
	}
	var out bytes.Buffer
	version := f.Version
	if version < "1.5" || len(version) != 3 {
		version = "1.5"
	}
	fmt.Fprintf(&out, "%%PDF-%s\n%%\xe2\xe3\xcf\xd3\n", version)
	type place struct{ kind, a, b int }
	places := map[int]place{}
	var pack, head bytes.Buffer
	var packed []int
	flush := func() {
		if len(packed) == 0 {
			return
		}
		n := len(w.list) + 1
		w.list = append(w.list, 0)
		for i, num := range packed {
			places[num] = place{2, n, i}
		}
		first := head.Len()
		s := deflate(w.z, append(head.Bytes(), pack.Bytes()...), Dict{"Type": Name("ObjStm"), "N": int64(len(packed)), "First": int64(first)})
		places[n] = place{1, out.Len(), 0}
		w.stream(&out, n, s)
		pack.Reset()
		head.Reset()
		packed = nil
	}
	// The list grows while it is walked: writing an object numbers what it refers to. Object streams take numbers in it too.
	for i := 0; i < len(w.list); i++ {
		if len(w.list) > w.keep {
			return nil, ErrLimit
		}
		if w.list[i] != 0 {
			num := i + 1
			o := f.Get(Ref{Num: w.list[i]})
			if s, ok := o.(*Stream); ok {
				places[num] = place{1, out.Len(), 0}
				w.stream(&out, num, s)
			} else {
				fmt.Fprintf(&head, "%d %d ", num, pack.Len())
				w.object(&pack, o, 0)
				pack.WriteByte('\n')
				packed = append(packed, num)
			}
		}
		if len(packed) == perStream || i == len(w.list)-1 {
			flush()
		}
	}
	n := len(w.list) + 1
	at := out.Len()
	places[n] = place{1, at, 0}
	table := make([]byte, 8*(n+1))
	table[6], table[7] = 0xff, 0xff
	for num, p := range places {
		row := table[8*num:]
		row[0] = byte(p.kind)
		for i := range 5 {
			row[1+i] = byte(p.a >> (8 * (4 - i)))
		}
		row[6], row[7] = byte(p.b>>8), byte(p.b)
	}
	maps.Copy(trailer, Dict{"Type": Name("XRef"), "Size": int64(n + 1), "W": Array{int64(1), int64(5), int64(2)}})
	s := deflate(w.z, table, trailer)
	w.plain(&out, n, s)
	fmt.Fprintf(&out, "startxref\n%d\n%%%%EOF\n", at)
	return out.Bytes(), nil
}

// ref numbers an object.
func (w *writer) ref(r Ref) written {
	n, ok := w.nums[r.Num]
	if !ok {
		w.list = append(w.list, r.Num)
		n = len(w.list)
		w.nums[r.Num] = n
	}
	return written(n)
}

// written is a number in the result.
type written int

func (w *writer) stream(out *bytes.Buffer, num int, s *Stream) {
	d := maps.Clone(s.Dict)
	d["Length"] = int64(len(s.Raw))
	w.plain(out, num, &Stream{d, s.Raw})
}

func (w *writer) plain(out *bytes.Buffer, num int, s *Stream) {
	s.Dict["Length"] = int64(len(s.Raw))
	fmt.Fprintf(out, "%d 0 obj\n", num)
	w.object(out, s.Dict, 0)
	out.WriteString("\nstream\n")
	out.Write(s.Raw)
	out.WriteString("\nendstream\nendobj\n")
}

func (w *writer) object(out *bytes.Buffer, o Object, depth int) {
	if depth > 2*w.f.lim.Depth {
		out.WriteString("null")
		return
	}
	switch v := o.(type) {
	case Ref:
		if w.f.Get(v) == nil {
			out.WriteString("null")
			return
		}
		fmt.Fprintf(out, "%d 0 R", w.ref(v))
	case written:
		fmt.Fprintf(out, "%d 0 R", v)
	case Array:
		out.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				out.WriteByte(' ')
			}
			w.object(out, e, depth+1)
		}
		out.WriteByte(']')
	case Dict:
		out.WriteString("<<")
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if v[k] == nil {
				continue
			}
			Print(out, k)
			out.WriteByte(' ')
			w.object(out, v[k], depth+1)
		}
		out.WriteString(">>")
	case *Stream: // stands for itself only as an object of its own
		fmt.Fprintf(out, "%d 0 R", w.ref(w.f.Add(v)))
	default:
		Print(out, o)
	}
}

// Print writes an object without references, as in a content stream.
func Print(out *bytes.Buffer, o Object) {
	switch v := o.(type) {
	case bool:
		fmt.Fprint(out, v)
	case int64:
		out.WriteString(strconv.FormatInt(v, 10))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = 0
		}
		out.WriteString(strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64))
	case Keyword:
		out.WriteString(string(v))
	case Name:
		out.WriteByte('/')
		for _, c := range []byte(v) {
			if c <= 0x20 || c >= 0x7f || delim(c) || c == '#' {
				fmt.Fprintf(out, "#%02X", c)
			} else {
				out.WriteByte(c)
			}
		}
	case String:
		printString(out, v)
	case Array:
		out.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				out.WriteByte(' ')
			}
			Print(out, e)
		}
		out.WriteByte(']')
	case Dict:
		out.WriteString("<<")
		for _, k := range slices.Sorted(maps.Keys(v)) {
			Print(out, k)
			out.WriteByte(' ')
			Print(out, v[k])
		}
		out.WriteString(">>")
	default:
		out.WriteString("null")
	}
}

func printString(out *bytes.Buffer, s String) {
	for _, c := range []byte(s) {
		if c < 0x20 || c >= 0x7f {
			fmt.Fprintf(out, "<%x>", string(s))
			return
		}
	}
	out.WriteByte('(')
	for _, c := range []byte(s) {
		if c == '(' || c == ')' || c == '\\' {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
	out.WriteByte(')')
}
