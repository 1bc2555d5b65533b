package media

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/richardlehane/mscfb"
)

// layer is a piece of a file with everything that packs it taken off: a member, a stream, a picture in base64.
type layer struct {
	where string
	data  []byte
}

// peel returns a file and, again and again, all that is packed in it. It takes nothing from the engines: containers are
// also read without their directories, so that what no directory names is seen too.
func peel(where string, data []byte) []layer { return peelTo(where, data, 6) }

func peelTo(where string, data []byte, depth int) []layer {
	out := []layer{{where, data}}
	if depth == 0 || len(data) < 16 {
		return out
	}
	in := func(name string, b []byte) {
		if len(b) > 0 {
			out = append(out, peelTo(where+" › "+name, b, depth-1)...)
		}
	}
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		zipLayers(data, in)
	case bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		if f, err := mscfb.New(bytes.NewReader(data)); err == nil {
			for e, err := f.Next(); err == nil; e, err = f.Next() {
				b, _ := io.ReadAll(e) // what can be read of it is looked at
				in(strings.Join(append(e.Path, e.Name), "/"), b)
			}
		}
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			b, _ := io.ReadAll(z)
			in("gzip", b)
		}
	case bytes.HasPrefix(data, []byte("\x89PNG")):
		for at := 8; at+12 <= len(data); {
			n := int(data[at])<<24 | int(data[at+1])<<16 | int(data[at+2])<<8 | int(data[at+3])
			kind := string(data[at+4 : at+8])
			if n < 0 || at+12+n > len(data) {
				break
			}
			if kind == "zTXt" || kind == "iTXt" {
				for i := range n {
					if z, err := zlib.NewReader(bytes.NewReader(data[at+8+i : at+8+n])); err == nil {
						if b, _ := io.ReadAll(z); len(b) > 0 {
							in(kind, b)
							break
						}
					}
				}
			}
			at += 12 + n
		}
		return out
	case bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")):
		for at := 0; ; {
			i := bytes.Index(data[at:], []byte("stream"))
			if i < 0 {
				break
			}
			at += i + len("stream")
			for at < len(data) && (data[at] == '\r' || data[at] == '\n') {
				at++
			}
			if z, err := zlib.NewReader(bytes.NewReader(data[at:])); err == nil {
				b, _ := io.ReadAll(z)
				in("stream at "+strconv.Itoa(at), b)
			}
		}
		return out
	}
	for i, m := range packed.FindAll(data, -1) {
		s := strings.Join(strings.Fields(string(m)), "")
		if b, err := hex.DecodeString(s[:len(s)&^1]); err == nil {
			in(fmt.Sprintf("hex %d", i), b)
		} else if b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "=")); err == nil {
			in(fmt.Sprintf("base64 %d", i), b)
		}
	}
	return out
}

var packed = regexp.MustCompile(`[A-Za-z0-9+/][A-Za-z0-9+/\s]{10,}[A-Za-z0-9+/]={0,2}`)

func zipLayers(data []byte, in func(string, []byte)) {
	if z, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
		in("comment of the archive", []byte(z.Comment+strings.Repeat(" ", 16)))
		for _, f := range z.File {
			in("about "+f.Name, []byte(f.Name+"\x00"+f.Comment+"\x00"+string(f.Extra)))
		}
	}
	// Every local header, whether a directory names it or not.
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("PK\x03\x04"))
		if i < 0 || at+i+30 > len(data) {
			return
		}
		at += i
		h := data[at:]
		n := 30 + int(h[26]) + int(h[27])<<8 + int(h[28]) + int(h[29])<<8
		if n > len(h) {
			return
		}
		name := string(h[30 : 30+int(h[26])+int(h[27])<<8])
		if h[8] == 8 {
			b, _ := io.ReadAll(flate.NewReader(bytes.NewReader(h[n:])))
			in(name, b)
		} else if size := int(h[18]) | int(h[19])<<8 | int(h[20])<<16 | int(h[21])<<24; size > 0 && n+size <= len(h) {
			in(name, h[n:n+size])
		}
		at += 4
	}
}

var (
	tags      = regexp.MustCompile(`(?s)<[^>]*>`)
	cssEscape = regexp.MustCompile(`\\([0-9a-fA-F]{1,6})\s?`)
	jsEscape  = regexp.MustCompile(`\\(?:u|x)\{?([0-9a-fA-F]{2,4})\}?`)
	rtfHex    = regexp.MustCompile(`\\'([0-9a-fA-F]{2})`)
	rtfWide   = regexp.MustCompile(`\\u(-?\d+) ?(?:\\'[0-9a-fA-F]{2}|[^\\{}])?`)
	rtfWord   = regexp.MustCompile(`\\[a-z]+-?\d* ?|[{}]`)
	octal     = regexp.MustCompile(`\\([0-7]{3})`)
	kerning   = regexp.MustCompile(`[)>]\s*-?[\d.]+\s*[(<]`)
	pdfHex    = regexp.MustCompile(`<([0-9a-fA-F\s]{2,})>`)
	quoted    = regexp.MustCompile(`=([0-9A-F]{2})`)
	deleted   = regexp.MustCompile(`(?s)<(w:del|w:ins|w:moveFrom) .*?</(w:del|w:ins|w:moveFrom)>|<w:instrText.*?</w:instrText>|<w:r><w:rPr><w:vanish/></w:rPr>.*?</w:r>`)
)

func code(re *regexp.Regexp, base int, s string) string {
	return re.ReplaceAllStringFunc(s, func(m string) string {
		n, err := strconv.ParseInt(re.FindStringSubmatch(m)[1], base, 32)
		if err != nil || n <= 0 {
			return m
		}
		return string(rune(n))
	})
}

// views are the ways in which programs of all kinds would read a piece.
func views(data []byte) []string {
	s := string(data)
	plain := html.UnescapeString(html.UnescapeString(s))
	bare := html.UnescapeString(tags.ReplaceAllString(s, ""))
	out := []string{s, strings.ReplaceAll(s, "\x00", ""), plain, bare, tags.ReplaceAllString(plain, ""),
		html.UnescapeString(tags.ReplaceAllString(deleted.ReplaceAllString(s, ""), "")),
		code(cssEscape, 16, s), code(jsEscape, 16, s), code(quoted, 16, s),
		rtfWord.ReplaceAllString(code(rtfWide, 10, code(rtfHex, 16, s)), ""),
		kerning.ReplaceAllString(code(octal, 8, s), ""),
		pdfHex.ReplaceAllStringFunc(s, func(m string) string {
			b, _ := hex.DecodeString(strings.Join(strings.Fields(strings.Trim(m, "<>")), ""))
			return strings.ReplaceAll(string(b), "\x00", "")
		}),
	}
	if u, err := url.PathUnescape(strings.ReplaceAll(s, "+", " ")); err == nil {
		out = append(out, u)
	} else {
		out = append(out, code(regexp.MustCompile(`%([0-9a-fA-F]{2})`), 16, s))
	}
	if len(data)%2 == 0 && bytes.IndexByte(data, 0) >= 0 {
		for _, order := range [2]int{0, 1} {
			u := make([]uint16, len(data)/2)
			for i := range u {
				u[i] = uint16(data[2*i+order]) | uint16(data[2*i+1-order])<<8
			}
			out = append(out, string(utf16.Decode(u)))
		}
	}
	return out
}

// squeezed keeps letters and digits, so that what stands between the digits of a number does not hide it.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			return r
		case r >= 0xff10 && r <= 0xff19: // digits as wide as ideographs
			return r - 0xff10 + '0'
		case unicode.IsLetter(r):
			return 'x'
		}
		return -1
	}, s)
}

// seen returns where each of the numbers can be read in a file.
func seen(layers []layer, numbers []string) map[string][]string {
	out := map[string][]string{}
	for _, l := range layers {
		for i, v := range views(l.data) {
			v = squeezed(v)
			for _, n := range numbers {
				if strings.Contains(v, strings.ReplaceAll(n, "-", "")) && !slices.Contains(out[n], l.where) {
					out[n] = append(out[n], l.where)
					_ = i
				}
			}
		}
	}
	return out
}

// tails returns the numbers of which the last four digits stand in a text that a program gave.
func tails(text string, numbers []string) []string {
	var out []string
	for _, n := range numbers {
		if i := strings.Index(text, n[len(n)-4:]); i >= 0 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
