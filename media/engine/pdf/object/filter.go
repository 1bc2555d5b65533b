package object

import (
	"bytes"
	"compress/lzw"
	"hash/adler32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	tifflzw "golang.org/x/image/tiff/lzw"
)

// inflaters are kept from stream to stream: making one costs more than what a small stream holds.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}

// maxFilters bounds the filters of one stream.
const maxFilters = 10

// Decode returns the bytes of a stream behind all its filters, or, where a filter for pictures comes (DCTDecode,
// JPXDecode, CCITTFaxDecode, JBIG2Decode), the bytes that it would be given, and its name. A stream that is cut off gives
// what could be decoded. Errors wrap ErrLimit, or name an unknown filter.
func (f *File) Decode(s *Stream) (data []byte, picture Name, err error) {
	data = s.Raw
	filters, params := f.filters(s)
	if len(filters) > maxFilters {
		return nil, "", ErrLimit
	}
	for i, name := range filters {
		p := params[i]
		switch name {
		case "DCTDecode", "DCT", "JPXDecode", "CCITTFaxDecode", "CCF", "JBIG2Decode":
			return data, name, nil
		case "Crypt":
			continue
		}
		room := min(f.lim.Stream, f.lim.Decoded-f.spent)
		if data, err = unfilter(name, data, room, f.Int(p["EarlyChange"], 1) != 0); err != nil {
			return nil, "", err
		}
		f.spent += int64(len(data))
		if f.spent > f.lim.Decoded {
			return nil, "", ErrLimit
		}
		if name == "FlateDecode" || name == "Fl" || name == "LZWDecode" || name == "LZW" {
			if data, err = f.predict(data, p); err != nil {
				return nil, "", err
			}
		}
	}
	return data, "", nil
}

// filters returns the names of the filters with their parameters.
func (f *File) filters(s *Stream) ([]Name, []Dict) {
	var names []Name
	get := func(long, short Name) Object {
		if o := f.Resolve(s.Dict[long]); o != nil {
			return o
		}
		return f.Resolve(s.Dict[short])
	}
	switch v := get("Filter", "F").(type) {
	case Name:
		names = []Name{v}
	case Array:
		for _, o := range v {
			if n, ok := f.Resolve(o).(Name); ok {
				names = append(names, n)
			}
		}
	}
	params := make([]Dict, len(names))
	switch v := get("DecodeParms", "DP").(type) {
	case Dict:
		if len(params) > 0 {
			params[0] = v
		}
	case Array:
		for i := range min(len(v), len(params)) {
			params[i], _ = f.Resolve(v[i]).(Dict)
		}
	}
	return names, params
}

func unfilter(name Name, data []byte, room int64, early bool) ([]byte, error) {
	var r io.Reader
	switch name {
	case "FlateDecode", "Fl":
		body := data
		if len(data) >= 2 && data[0]&0xf == 8 && (int(data[0])<<8|int(data[1]))%31 == 0 {
			body = data[2:]
		}
		z, _ := inflaters.Get().(io.ReadCloser)
		if reset, ok := z.(flate.Resetter); !ok || reset.Reset(bytes.NewReader(body), nil) != nil {
			z = flate.NewReader(bytes.NewReader(body))
		}
		defer inflaters.Put(z)
		r = z
	case "LZWDecode", "LZW":
		var z io.ReadCloser
		if early {
			z = tifflzw.NewReader(bytes.NewReader(data), tifflzw.MSB, 8)
		} else {
			z = lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8)
		}
		defer z.Close()
		r = z
	case "ASCIIHexDecode", "AHx":
		l := Lexer{b: data}
		return []byte(l.hex()), nil
	case "ASCII85Decode", "A85":
		return ascii85(data), nil
	case "RunLengthDecode", "RL":
		return runLength(data, room)
	default:
		return nil, &FilterError{name}
	}
	var out bytes.Buffer
	_, err := io.Copy(&out, io.LimitReader(r, room+1))
	if int64(out.Len()) > room {
		return nil, ErrLimit
	}
	_ = err // what is cut off or damaged gives what came before, as in every reader
	return out.Bytes(), nil
}

// FilterError is about a filter that is not known.
type FilterError struct{ Name Name }

func (e *FilterError) Error() string { return "unknown filter " + string(e.Name) }

func ascii85(data []byte) []byte {
	var out []byte
	var group [5]byte
	n := 0
	flush := func() {
		if n < 2 {
			return
		}
		for i := n; i < 5; i++ {
			group[i] = 84
		}
		v := uint32(0)
		for _, c := range group {
			v = v*85 + uint32(c)
		}
		out = append(out, []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}[:n-1]...)
		n = 0
	}
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
	for _, c := range data {
		switch {
		case c == '~':
			flush()
			return out
		case c == 'z' && n == 0:
			out = append(out, 0, 0, 0, 0)
		case c >= '!' && c <= 'u':
			group[n] = c - '!'
			if n++; n == 5 {
				flush()
			}
		}
	}
	flush()
	return out
}

func runLength(data []byte, room int64) ([]byte, error) {
	var out []byte
	for i := 0; i < len(data); {
		n := int(data[i])
		i++
		switch {
		case n == 128:
			return out, nil
		case n < 128:
			to := min(i+n+1, len(data))
			out = append(out, data[i:to]...)
			i = to
		case i < len(data):
			out = append(out, bytes.Repeat(data[i:i+1], 257-n)...)
			i++
		}
		if int64(len(out)) > room {
			return nil, ErrLimit
		}
	}
	return out, nil
}

// predict undoes the predictors of PNG and TIFF.
func (f *File) predict(data []byte, p Dict) ([]byte, error) {
	kind := f.Int(p["Predictor"], 1)
	if kind < 2 {
		return data, nil
	}
	colors, bits, columns := f.Int(p["Colors"], 1), f.Int(p["BitsPerComponent"], 8), f.Int(p["Columns"], 1)
	if colors < 1 || colors > 64 || bits < 1 || bits > 32 || columns < 1 || columns > 1<<24 {
		return nil, ErrSyntax
	}
	row, step := (colors*bits*columns+7)/8, max(1, colors*bits/8)
	if kind == 2 {
		if bits == 8 {
			data = bytes.Clone(data)
			for at := 0; at < len(data); at += row {
				line := data[at:min(at+row, len(data))]
				for i := step; i < len(line); i++ {
					line[i] += line[i-step]
				}
			}
		}
		return data, nil
	}
	out := make([]byte, 0, len(data))
	prior := make([]byte, row)
	for at := 0; at < len(data); at += row + 1 {
		line := make([]byte, row)
		copy(line, data[min(at+1, len(data)):min(at+1+row, len(data))])
		unPNG(data[at], line, prior, step)
		out = append(out, line[:min(row, max(0, len(data)-at-1))]...)
		prior = line
	}
	return out, nil
}

func unPNG(kind byte, line, prior []byte, step int) {
	for i := range line {
		var left, up, corner int
		up = int(prior[i])
		if i >= step {
			left, corner = int(line[i-step]), int(prior[i-step])
		}
		switch kind {
		case 1:
			line[i] += byte(left)
		case 2:
			line[i] += byte(up)
		case 3:
			line[i] += byte((left + up) / 2)
		case 4:
			p := left + up - corner
			a, b, c := abs(p-left), abs(p-up), abs(p-corner)
			switch {
			case a <= b && a <= c:
				line[i] += byte(left)
			case b <= c:
				line[i] += byte(up)
			default:
				line[i] += byte(corner)
			}
		}
	}
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// Deflate returns a stream of bytes, compressed.
func Deflate(data []byte, d Dict) *Stream {
	z, err := flate.NewWriter(nil, 6)
	if err != nil { // of levels that there are not
		return &Stream{d, data}
	}
	return deflate(z, data, d)
}

func deflate(z *flate.Writer, data []byte, d Dict) *Stream {
	var b bytes.Buffer
	b.WriteString("\x78\x9c")
	z.Reset(&b)
	_, err := z.Write(data)
	if err == nil {
		err = z.Close()
	}
	if d == nil {
		d = Dict{}
	}
	if err != nil { // a buffer takes everything
		return &Stream{d, data}
	}
	sum := adler32.Checksum(data)
	b.Write([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	d["Filter"] = Name("FlateDecode")
	delete(d, "DecodeParms")
	return &Stream{d, b.Bytes()}
}
