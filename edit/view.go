package edit

import (
	"bytes"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/text"
)

// normal says what a normal form leaves out. All of them write line endings as LF.
type normal struct {
	trailing bool // no white space at the ends of lines
	fold     bool // confusable characters in their plain form
	cr       bool // lone CRs are line endings
}

// view is a normal form of a text with the way back.
type view struct {
	text []byte
	cuts []cut // none where text is the source itself
}

// cut is a place of the normal form where the offsets of the source jump.
type cut struct {
	at    int // in the normal form
	end   int // in the source: where what precedes the cut ends
	start int // in the source: where what follows begins
	width int // in the normal form: how much before the cut stands for one character of the source
}

// start translates the offset of something that begins at off.
func (v *view) start(off int) int {
	i := sort.Search(len(v.cuts), func(i int) bool { return v.cuts[i].at > off })
	if i == 0 {
		return off
	}
	return v.cuts[i-1].start + off - v.cuts[i-1].at
}

// end translates the offset of something that ends at off. White space that the normal form dropped there is outside.
func (v *view) end(off int) int {
	i := sort.Search(len(v.cuts), func(i int) bool { return v.cuts[i].at >= off })
	if i < len(v.cuts) && v.cuts[i].at == off {
		return v.cuts[i].end
	}
	return v.start(off)
}

// whole reports whether off is no place inside the plain form of one character, as "..." is of the ellipsis.
func (v *view) whole(off int) bool {
	i := sort.Search(len(v.cuts), func(i int) bool { return v.cuts[i].at > off })
	return i == len(v.cuts) || v.cuts[i].at-v.cuts[i].width >= off
}

// builder writes a normal form. It copies nothing before the first difference.
type builder struct {
	src  []byte
	out  []byte
	cuts []cut
	at   int // how far src has been written
}

// replace writes with in place of src[from:to].
func (b *builder) replace(from, to int, with string) {
	if b.out == nil {
		b.out = make([]byte, 0, len(b.src))
	}
	b.out = append(b.out, b.src[b.at:from]...)
	b.out = append(b.out, with...)
	b.at = to
	c := cut{at: len(b.out), end: to, start: to, width: len(with)}
	if with == "" {
		c.end = from
	}
	b.cuts = append(b.cuts, c)
}

func (b *builder) view() *view {
	if len(b.cuts) == 0 {
		return &view{text: b.src}
	}
	return &view{text: append(b.out, b.src[b.at:]...), cuts: b.cuts}
}

// normalise makes a normal form of src.
func normalise(src []byte, n normal) *view {
	b := builder{src: src}
	n.fold = n.fold && nonASCII(src) < len(src)
	if !n.trailing && !n.fold {
		b.endings(n.cr)
		return b.view()
	}
	sep := byte('\n')
	if n.cr {
		sep = '\r'
	}
	for at := 0; at < len(src); {
		next, body := len(src), len(src)
		if i := bytes.IndexByte(src[at:], sep); i >= 0 {
			body, next = at+i, at+i+1
			if body > at && src[body-1] == '\r' {
				body--
			}
		}
		text := body
		if n.trailing {
			text = at + trimmedLen(src[at:body], n.fold)
		}
		if n.fold {
			b.fold(at, text)
		}
		if text < body {
			b.replace(text, body, "")
		}
		if next-body == 2 || n.cr && next > body {
			b.replace(body, next, "\n")
		}
		at = next
	}
	return b.view()
}

// endings writes line endings as LF.
func (b *builder) endings(cr bool) {
	if n := bytes.Count(b.src, []byte("\r")); n > 0 {
		b.cuts = make([]cut, 0, n)
	}
	for at := 0; ; at++ {
		i := bytes.IndexByte(b.src[at:], '\r')
		if i < 0 {
			return
		}
		at += i
		switch {
		case cr:
			b.replace(at, at+1, "\n")
		case at+1 < len(b.src) && b.src[at+1] == '\n':
			b.replace(at, at+2, "\n")
		}
	}
}

// fold writes src[from:to] with confusable characters in their plain form.
func (b *builder) fold(from, to int) {
	for at := from + nonASCII(b.src[from:to]); at < to; {
		r, n := utf8.DecodeRune(b.src[at:])
		if plain, ok := foldRune(r); ok {
			b.replace(at, at+n, plain)
		}
		at += n
		at += nonASCII(b.src[at:to])
	}
}

// nonASCII returns the offset of the first byte that is not ASCII, or len(b).
func nonASCII(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if (b[i]|b[i+1]|b[i+2]|b[i+3]|b[i+4]|b[i+5]|b[i+6]|b[i+7])&0x80 != 0 {
			break
		}
	}
	for i < len(b) && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// trimmedLen returns the length of a line without the white space at its end: blanks and tabs, with fold also what
// folds to a blank or to nothing.
func trimmedLen(line []byte, fold bool) int {
	n := len(line)
	for n > 0 {
		if c := line[n-1]; c == ' ' || c == '\t' {
			n--
			continue
		}
		r, size := utf8.DecodeLastRune(line[:n])
		if plain, ok := foldRune(r); !fold || !ok || strings.TrimSpace(plain) != "" {
			break
		}
		n -= size
	}
	return n
}

// foldRune returns the plain form of a character that is easily taken for another one, or that cannot be seen.
func foldRune(r rune) (string, bool) {
	switch {
	case r < 0x80:
		return "", false
	case r >= 0xFF01 && r <= 0xFF5E: // full-width forms: their punctuation only, not letters and digits
		if c := r - 0xFEE0; !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return string(c), true
		}
		return "", false
	case r >= 0x2010 && r <= 0x2015, r == 0x2212, r == 0xFE58, r == 0xFE63:
		return "-", true
	case r >= 0x2018 && r <= 0x201B, r == 0x2032, r == 0x02BC:
		return "'", true
	case r >= 0x201C && r <= 0x201F, r == 0x2033:
		return `"`, true
	case r == 0x2026:
		return "...", true
	case r == 0xA0, r == 0x1680, r >= 0x2000 && r <= 0x200A, r == 0x202F, r == 0x205F, r == 0x3000:
		return " ", true
	case r == 0xAD, r == 0x200B, r == 0x2060, r == 0xFEFF:
		return "", true
	}
	return "", false
}

// foldString is the normal form of one line for comparisons outside of a view.
func foldString(s string) string {
	return string(normalise([]byte(s), normal{fold: true}).text)
}

// level is how much of a rung is about the text of the file; readings (see reading.go) are about the request.
type level uint8

const (
	byEnding level = iota
	byTrailing
	byIndent
	byFold
)

// Finder locates text in one content. It keeps the normal forms that it needed, so several searches share them.
// It is not safe for concurrent use, and the content must not change while it is in use.
type Finder struct {
	raw     []byte
	bom     int    // length of the byte order mark
	content []byte // raw without it
	hasCR   bool   // asked and answered lazily: see carriage
	asked   bool
	cr      bool // lone CRs end lines
	oneLine bool // there is no LF
	views   [byFold + 1]*view
	lines   *text.Lines
}

// NewFinder returns a Finder for content, which it does not copy.
func NewFinder(content []byte) *Finder {
	f := &Finder{raw: content, content: content}
	if bytes.HasPrefix(content, []byte(bomUTF8)) {
		f.bom = len(bomUTF8)
		f.content = content[f.bom:]
	}
	f.oneLine = bytes.IndexByte(f.content, '\n') < 0
	f.cr = f.oneLine && f.carriage()
	return f
}

// carriage reports whether the content has any CR.
func (f *Finder) carriage() bool {
	if !f.asked {
		f.hasCR, f.asked = bytes.IndexByte(f.content, '\r') >= 0, true
	}
	return f.hasCR
}

func (l level) normal(cr bool) normal {
	return normal{trailing: l >= byTrailing, fold: l == byFold, cr: cr}
}

// view returns the normal form of the content for a level.
func (f *Finder) view(l level) *view {
	if l == byIndent {
		l = byTrailing
	}
	if f.views[l] == nil {
		f.views[l] = normalise(f.content, l.normal(f.cr))
	}
	return f.views[l]
}
