package text

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/image"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// Words also stand where a reader sees them only after something is decoded: percent signs in addresses, escapes of style
// sheets and scripts, and whole files in base64.

var (
	dataHead = regexp.MustCompile(`(?i)data:([a-z0-9.+-]+/[a-z0-9.+-]+)?(?:;[a-z0-9=_."-]+)*$`)
	cssCode  = regexp.MustCompile(`^\\([0-9a-fA-F]{1,6})[ \t\r\n\f]?`)
	jsCode   = regexp.MustCompile(`^\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))`)
)

// coded is a piece of which only those matches count that something is coded in; another piece has the others.
func coded(write func(string) string) *piece { return &piece{write: write, coded: true} }

// percented decodes percent signs. text stands at the places that at gives for each of its bytes, and at its end.
func percented(text string, at func(int) (from, to int)) *piece {
	p := coded(func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._~", c) >= 0 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		return b.String()
	})
	for i := 0; i < len(text); {
		from, to := at(i)
		if text[i] == '%' && i+2 < len(text) {
			if v, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				_, to = at(i + 2)
				p.add(string([]byte{byte(v)}), from, to)
				i += 3
				continue
			}
		}
		p.add(text[i:i+1], from, to)
		i++
	}
	return p
}

// addresses are the pieces of a plain text in which percent signs stand for characters.
func addresses(src string) []*piece {
	var out []*piece
	for at := 0; ; {
		i := strings.IndexByte(src[at:], '%')
		if i < 0 {
			return out
		}
		from, to := at+i, at+i+1
		if to+2 > len(src) || !isHex(src[to]) || !isHex(src[to+1]) {
			at = to
			continue
		}
		for from > at && !ends(src[from-1]) {
			from--
		}
		for to < len(src) && !ends(src[to]) {
			to++
		}
		out = append(out, percented(src[from:to], func(i int) (int, int) { return from + i, from + i + 1 }))
		at = to
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// ends reports whether a character ends an address in a text.
func ends(c byte) bool { return c <= ' ' || strings.IndexByte(`"'<>()[]`, c) >= 0 }

// escaped decodes the escapes of a style sheet or script.
func escaped(src string, at func(int) (from, to int), re *regexp.Regexp) *piece {
	p := coded(func(s string) string {
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `'`, `\'`, "\n", `\n`, "<", `\x3c`).Replace(s)
	})
	for i := 0; i < len(src); {
		from, to := at(i)
		if src[i] == '\\' {
			if m := re.FindStringSubmatch(src[i:min(len(src), i+12)]); m != nil {
				if v, err := strconv.ParseUint(strings.Join(m[1:], ""), 16, 21); err == nil && v > 0 && utf8.ValidRune(rune(v)) {
					_, to = at(i + len(m[0]) - 1)
					p.add(string(rune(v)), from, to)
					i += len(m[0])
					continue
				}
			}
		}
		p.add(src[i:i+1], from, to)
		i++
	}
	return p
}

// deeper returns the pieces of an attribute that are seen after one more decoding: of an address, a style, or a page.
func (p *piece) deeper(name string, w *Words) []*piece {
	var out []*piece
	s := string(p.text)
	at := func(i int) (int, int) { return int(p.from[i]), int(p.to[i]) }
	if strings.Contains(s, "%") {
		out = append(out, percented(s, at))
	}
	if name == "style" && strings.Contains(s, `\`) {
		out = append(out, escaped(s, at, cssCode))
	}
	if name == "srcdoc" && strings.Contains(s, "<") && w.depth < most {
		inner := *w
		inner.depth++
		for _, q := range markupWith(s, &inner) {
			outer := &piece{write: func(s string) string { return p.write(q.write(s)) }, coded: q.coded}
			for i := range q.text {
				if from, to, ok := q.source(i); ok {
					outer.from, outer.to = append(outer.from, p.from[from]), append(outer.to, p.to[to-1])
				} else {
					outer.from, outer.to = append(outer.from, -1), append(outer.to, -1)
				}
			}
			outer.text = q.text
			out = append(out, outer)
		}
	}
	return out
}

// eachData gives every file that stands in base64 in an address to do, which may return another; nil keeps it.
func eachData(src string, do func(mime string, raw []byte) ([]byte, error)) (string, error) {
	const mark = ";base64,"
	var cuts []splice
	last := 0 // where the one before ends
	for at := 0; ; {
		i := strings.IndexByte(src[at:], ';')
		if i < 0 {
			return apply(src, cuts), nil
		}
		if i += at; i+len(mark) > len(src) || !strings.EqualFold(src[i:i+len(mark)], mark) {
			at = i + 1
			continue
		}
		head := dataHead.FindStringSubmatch(src[max(last, i-300):i])
		if at = i + len(mark); head == nil {
			continue
		}
		kind := strings.ToLower(head[1])
		if kind == "" {
			kind = "text/plain"
		}
		// A blank ends it, or is one of those that lines are folded with; both are tried.
		word, all := at, at
		for all < len(src) && (isBase64(src[all]) || strings.IndexByte(" \t\r\n", src[all]) >= 0) {
			if isBase64(src[all]) && word == all {
				word++
			}
			all++
		}
		for _, to := range []int{word, all} {
			raw, ok := unbase64(src[at:to])
			if !ok {
				continue
			}
			fresh, err := do(kind, raw)
			if err != nil {
				return "", err
			}
			if fresh != nil {
				cuts = append(cuts, splice{at, to, base64.StdEncoding.EncodeToString(fresh)})
				break
			}
			if word == all {
				break
			}
		}
		at, last = word, word
	}
}

func isBase64(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("+/-_=%", c) >= 0
}

var plainBase64 = strings.NewReplacer("-", "+", "_", "/", "%2B", "+", "%2b", "+", "%2F", "/", "%2f", "/", "%3D", "=", "%3d", "=", " ", "", "\t", "", "\r", "", "\n", "")

// unbase64 decodes what stands before the padding.
func unbase64(s string) ([]byte, bool) {
	s, _, _ = strings.Cut(plainBase64.Replace(s), "=")
	raw, err := base64.RawStdEncoding.DecodeString(s)
	return raw, err == nil && len(raw) > 0
}

// most is how deep files in files are followed.
const most = 4

// redactData redacts the files that stand in base64.
func redactData(src string, pat *media.Pattern, replacement string, depth int) (out string, n int, err error) {
	red := &tree.Redaction{Patterns: []*media.Pattern{pat}, Found: []bool{false}}
	out, err = eachData(src, func(mime string, raw []byte) ([]byte, error) {
		if !media.Textual(mime) || depth >= most {
			fresh, _, err := image.Forget(raw, red.Scan) // what is left the check finds
			if fresh != nil {
				n++
			}
			return fresh, err
		}
		inner, k, err := replaceIn(mime, string(raw), pat, replacement, depth+1)
		if k == 0 || err != nil {
			return nil, err
		}
		n += k
		return []byte(inner), nil
	})
	return out, n, err
}

// replaceIn replaces all matches in a text of a type, and in the files within it.
func replaceIn(mime, src string, pat *media.Pattern, replacement string, depth int) (out string, n int, err error) {
	var splices []splice
	for _, p := range piecesOf(mime, src) {
		s, k, err := p.find(pat, replacement)
		if err != nil {
			return "", 0, err
		}
		splices, n = append(splices, s...), n+k
	}
	out, k, err := redactData(apply(src, splices), pat, replacement, depth)
	return out, n + k, err
}

// leftInData returns a match that is left in a file that stands in base64, or "".
func leftInData(src string, pats []*media.Pattern, depth int) (hit string, err error) {
	red := &tree.Redaction{Patterns: pats, Found: make([]bool, len(pats))}
	_, err = eachData(src, func(mime string, raw []byte) ([]byte, error) {
		if hit != "" {
			return nil, nil
		}
		kind := media.Identify(media.Payload{Data: raw, MIME: mime}).MIME
		for _, k := range []string{"pdf", "zip", "7z", "rar", "ole", "officedocument", "opendocument", "ms-"} {
			if strings.HasPrefix(kind, "application/") && strings.Contains(kind, k) {
				return nil, media.Failf("the file holds %s in base64, which cannot be looked into here, so it cannot be redacted with certainty. Take that out first. Nothing was changed.", kind)
			}
		}
		found, err := red.Scan(raw)
		if dots := strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "audio/"); err != nil || len(found) >= 8 || found != "" && !dots { // short ones mean nothing in what is all but random
			hit = found
			return nil, err
		}
		if !media.Textual(mime) || depth >= most {
			return nil, nil
		}
		for _, p := range piecesOf(mime, string(raw)) {
			if found, err := red.Hit(string(p.text)); found != "" || err != nil {
				hit = found
				return nil, err
			}
		}
		hit, err = leftInData(string(raw), pats, depth+1)
		return nil, err
	})
	return hit, err
}
