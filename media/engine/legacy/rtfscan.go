package legacy

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/tackle-dev/tackle/media"
)

// A file of RTF is read as tokens with their places, so that a change is a splice of the source: control words, groups,
// and characters, which may stand as they are, as \'hh in the code page of the font, or as \uN with a fallback.

type rtfKind uint8

const (
	rtfOpen rtfKind = iota
	rtfClose
	rtfWord // control word or symbol
	rtfChar // bytes of text
	rtfHex  // \'hh
	rtfBin  // the bytes of \bin
)

type rtfToken struct {
	kind     rtfKind
	word     string // without the backslash
	param    int
	has      bool // a parameter
	from, to int
	start    int // of rtfChar: where it begins with what is only the fallback of a character before it
}

// rtfTokens cuts a source into tokens. Line feeds of the source are none.
func rtfTokens(src []byte) []rtfToken {
	var out []rtfToken
	for i := 0; i < len(src); {
		from := i
		switch c := src[i]; c {
		case '{':
			i++
			out = append(out, rtfToken{kind: rtfOpen, from: from, to: i})
		case '}':
			i++
			out = append(out, rtfToken{kind: rtfClose, from: from, to: i})
		case '\r', '\n', 0:
			i++
		case '\\':
			t := controlAt(src, i)
			i = t.to
			out = append(out, t)
			if t.word == "bin" && t.param > 0 {
				end := min(len(src), i+t.param)
				out = append(out, rtfToken{kind: rtfBin, from: i, to: end})
				i = end
			}
		default:
			for i < len(src) && strings.IndexByte("{}\\\r\n\x00", src[i]) < 0 {
				i++
			}
			out = append(out, rtfToken{kind: rtfChar, from: from, to: i, start: from})
		}
	}
	return out
}

func controlAt(src []byte, i int) rtfToken {
	t := rtfToken{kind: rtfWord, from: i}
	i++
	if i >= len(src) {
		t.to = i
		return t
	}
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	if !letter(src[i]) {
		t.word = string(src[i])
		i++
		if t.word == "'" {
			t.kind = rtfHex
			end := min(len(src), i+2)
			if v, err := strconv.ParseUint(string(src[i:end]), 16, 8); err == nil {
				t.param = int(v)
			}
			i = end
		}
		t.to = i
		return t
	}
	at := i
	for i < len(src) && letter(src[i]) {
		i++
	}
	t.word = string(src[at:i])
	at = i
	if i < len(src) && src[i] == '-' {
		i++
	}
	for i < len(src) && src[i] >= '0' && src[i] <= '9' && i-at < 12 {
		i++
	}
	if v, err := strconv.Atoi(string(src[at:i])); err == nil {
		t.param, t.has = v, true
	} else {
		i = at
	}
	if i < len(src) && src[i] == ' ' {
		i++
	}
	t.to = i
	return t
}

// rtfText is a text as a reader sees it, with the source of each byte; -1 is what only separates.
type rtfText struct {
	dest     string // the group that it is in: "" for the body
	text     []byte
	from, to []int32
	back     []uint8 // characters of fallback that stand after \u there
}

func (s *rtfText) add(text string, from, to, back int) {
	for i := range len(text) {
		s.text = append(s.text, text[i])
		s.from, s.to, s.back = append(s.from, int32(from)), append(s.to, int32(to)), append(s.back, uint8(back))
	}
}

// rtfState is what a group inherits.
type rtfState struct {
	text    *rtfText
	uc      int // characters of fallback after \u
	decoder encoding.Encoding
	skip    bool  // no words: numbers of colours, bytes of pictures
	looks   uint8 // of rtfHidden and the others
}

// Characters that not every reader sees.
const (
	rtfHidden = 1 << iota
	rtfDeleted
	rtfInserted
)

// rtfViews are the texts that readers see: all of it, and what is left without what one of them does not see.
var rtfViews = []uint8{0, rtfDeleted, rtfInserted, rtfHidden, rtfDeleted | rtfHidden, rtfInserted | rtfHidden}

// look follows a control word that changes who sees what comes after it.
func (s *rtfState) look(t rtfToken) {
	bit := uint8(0)
	switch t.word {
	case "v":
		bit = rtfHidden
	case "deleted":
		bit = rtfDeleted
	case "revised":
		bit = rtfInserted
	case "plain":
		s.looks = 0
	}
	if s.looks |= bit; t.has && t.param == 0 {
		s.looks &^= bit
	}
}

var rtfSigns = map[string]string{"par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "cell": "\t", "nestcell": "\t", "nestrow": "\n", "tab": "\t", "column": "\n",
	"emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005",
	"~": "\u00a0", "_": "\u2011", "zwj": "\u200d", "zwnj": "\u200c"}

// rtfApart are the groups whose text is not that of the text around them.
var rtfApart = strings.Fields(`footnote header headerl headerr headerf footer footerl footerr footerf annotation title author subject keywords comment operator
	company category manager hlinkbase doccomm fldinst fonttbl colortbl stylesheet info pict object objdata objclass objname shppict nonshppict
	listtable listoverridetable rsidtbl generator revtbl userprops propname staticval bkmkstart bkmkend atnid atnauthor atntime atndate atnref atnparent
	template private pntext listtext xe tc tcf formfield ffname ffdeftext ffentrymcr ffexitmcr ffformat ffhelptext ffstattext ffl docvar datastore themedata
	colorschememapping latentstyles shpinst shptxt sp sn sv listname liststylename filetbl file upr ud do datafield falt panose wgrffmtfilter mailmerge
	xmlnstbl xmlopen xmlclose factoidname blipuid pgdsctbl ftnsep ftnsepc aftnsep aftnsepc passwordhash password protusertbl`)

// rtfWordless are the groups in which no words stand.
var rtfWordless = []string{"colortbl", "pict", "objdata", "themedata", "colorschememapping", "datastore", "rsidtbl", "blipuid", "panose", "objclass", "passwordhash"}

var rtfPages = map[int]encoding.Encoding{437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852, 866: charmap.CodePage866, 874: charmap.Windows874,
	932: japanese.ShiftJIS, 936: simplifiedchinese.GBK, 949: korean.EUCKR, 950: traditionalchinese.Big5, 1250: charmap.Windows1250, 1251: charmap.Windows1251,
	1252: charmap.Windows1252, 1253: charmap.Windows1253, 1254: charmap.Windows1254, 1255: charmap.Windows1255, 1256: charmap.Windows1256, 1257: charmap.Windows1257,
	1258: charmap.Windows1258, 10000: charmap.Macintosh}

var rtfCharsets = map[int]int{77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250}

// rtfFile is a file cut into tokens.
type rtfFile struct {
	name   string
	src    []byte
	tokens []rtfToken
	ends   []int32 // of each group, by its first token; made when it is first asked for
	fonts  map[int]encoding.Encoding
	page   encoding.Encoding
	lim    media.Limits
}

func openRTF(r *media.Request) (*rtfFile, error) {
	f := &rtfFile{name: r.In.Name, src: r.In.Data, fonts: map[int]encoding.Encoding{}, page: charmap.Windows1252, lim: r.Limits}
	if len(f.src) > 256<<20 {
		return nil, media.Failf("%s has %d MB; of RTF up to 256 MB can be read at once.", f.name, len(f.src)>>20)
	}
	if f.tokens = rtfTokens(f.src); f.lim.Err() != nil {
		return nil, f.lim.Err()
	}
	depth, most := 0, max(1000, r.Limits.WithDefaults().Depth)
	font, inFonts := -1, 0
	for _, t := range f.tokens {
		switch t.kind {
		case rtfOpen:
			if depth++; depth > most {
				return nil, media.Failf("%s is nested deeper than %d.", f.name, most)
			}
		case rtfClose:
			if depth--; depth < inFonts {
				inFonts = 0
			}
		case rtfWord:
			switch {
			case t.word == "fonttbl":
				inFonts = depth
			case t.word == "ansicpg" && rtfPages[t.param] != nil:
				f.page = rtfPages[t.param]
			case t.word == "mac":
				f.page = charmap.Macintosh
			case t.word == "f" && inFonts > 0:
				font = t.param
			case t.word == "fcharset" && inFonts > 0 && rtfPages[rtfCharsets[t.param]] != nil:
				f.fonts[font] = rtfPages[rtfCharsets[t.param]]
			}
		}
	}
	return f, nil
}

// views returns those of rtfViews that differ in a file.
func (f *rtfFile) views() []uint8 {
	have := uint8(0)
	for _, t := range f.tokens {
		if t.kind == rtfWord {
			s := rtfState{}
			s.look(t)
			have |= s.looks
		}
	}
	return slices.DeleteFunc(slices.Clone(rtfViews), func(v uint8) bool { return v&^have != 0 })
}

// texts returns the texts of a file, the body first, each group that stands for itself apart, without the characters of some
// looks.
func (f *rtfFile) texts(without uint8) []*rtfText {
	body := &rtfText{}
	out := []*rtfText{body}
	state := rtfState{text: body, uc: 1, decoder: f.page}
	var stack []rtfState
	// seen is the state, with a text that nobody reads where this reader sees none.
	seen := func() *rtfState {
		s := state
		if state.looks&without != 0 {
			s.text = &rtfText{}
		}
		return &s
	}
	for i := 0; i < len(f.tokens); i++ {
		t := f.tokens[i]
		switch t.kind {
		case rtfOpen:
			stack = append(stack, state)
			if name := f.destination(i); name != "" {
				state.text = &rtfText{dest: name}
				state.skip = state.skip || slices.Contains(rtfWordless, name)
				out = append(out, state.text)
			}
		case rtfClose:
			if n := len(stack); n > 0 {
				state, stack = stack[n-1], stack[:n-1]
			}
		case rtfChar, rtfHex:
			if !state.skip {
				i = f.bytes(i, seen())
			}
		case rtfWord:
			state.look(t)
			switch {
			case t.word == "uc" && t.has:
				state.uc = max(0, min(t.param, 100))
			case t.word == "u" && t.has && !state.skip:
				i = f.char(i, seen())
			case t.word == "f" && t.has:
				state.decoder = f.page
				if d := f.fonts[t.param]; d != nil {
					state.decoder = d
				}
			case t.word == "plain":
				state.decoder = f.page
			case state.skip:
			case t.word == "\\" || t.word == "{" || t.word == "}":
				seen().text.add(t.word, t.from, t.to, state.uc)
			case t.word == "\n" || t.word == "\r":
				state.text.add("\n", -1, -1, 0)
			case rtfSigns[t.word] == "\n":
				state.text.add("\n", -1, -1, 0)
			case rtfSigns[t.word] != "":
				seen().text.add(rtfSigns[t.word], t.from, t.to, state.uc)
			}
		}
	}
	return slices.DeleteFunc(out, func(s *rtfText) bool { return len(s.text) == 0 })
}

// destination returns the name of the group that opens at a token where its text stands for itself, or "".
func (f *rtfFile) destination(i int) string {
	star := false
	for k := i + 1; k < len(f.tokens) && k < i+3; k++ {
		t := f.tokens[k]
		switch {
		case t.kind == rtfWord && t.word == "*":
			star = true
		case t.kind == rtfWord && (star || slices.Contains(rtfApart, t.word)):
			return t.word
		default:
			return ""
		}
	}
	return ""
}

// bytes adds a run of bytes in one code page, and returns the last token of it.
func (f *rtfFile) bytes(i int, s *rtfState) int {
	last := i
	var raw []byte
	var from, to []int
	for k := i; k < len(f.tokens); k++ {
		t := f.tokens[k]
		if t.kind == rtfHex {
			raw, from, to = append(raw, byte(t.param)), append(from, t.from), append(to, t.to)
		} else if t.kind == rtfChar && (k == i || k == last+1) {
			for p := t.from; p < t.to; p++ {
				raw, from, to = append(raw, f.src[p]), append(from, p), append(to, p+1)
			}
		} else {
			break
		}
		last = k
	}
	for k := 0; k < len(raw); {
		n := 1
		text := ""
		if raw[k] < 0x80 {
			text = string(rune(raw[k]))
		} else {
			text, n = decoded(s.decoder, raw[k:])
		}
		s.text.add(text, from[k], to[k+n-1], s.uc)
		k += n
	}
	return last
}

// decoded reads one character of a code page.
func decoded(e encoding.Encoding, b []byte) (string, int) {
	for n := 1; n <= min(2, len(b)); n++ {
		if out, err := e.NewDecoder().Bytes(b[:n]); err == nil && len(out) > 0 && !bytes.ContainsRune(out, utf8.RuneError) {
			return string(out), n
		}
	}
	return "\ufffd", 1
}

// char adds a character given as \uN, with its fallback, and returns the last token of it.
func (f *rtfFile) char(i int, s *rtfState) int {
	t := f.tokens[i]
	r := rune(uint16(t.param))
	end, last := t.to, i
	left := s.uc
	for k := i + 1; k < len(f.tokens) && left > 0; k++ {
		n := f.tokens[k]
		switch {
		case n.kind == rtfHex:
			left, end, last = left-1, n.to, k
			continue
		case n.kind == rtfChar && n.to-n.start > left:
			end = n.start + left
			f.tokens[k].from = end // the rest of it is text
			left = 0
			continue
		case n.kind == rtfChar:
			left, end, last = left-(n.to-n.start), n.to, k
			continue
		}
		break
	}
	text := string(r)
	if r >= 0xd800 && r < 0xdc00 && last+1 < len(f.tokens) && f.tokens[last+1].word == "u" && f.tokens[last+1].has {
		low := rune(uint16(f.tokens[last+1].param))
		if low >= 0xdc00 && low < 0xe000 {
			sub := &rtfText{}
			lower := *s
			lower.text = sub
			last = f.char(last+1, &lower)
			if len(sub.to) > 0 {
				end = int(sub.to[0])
			}
			text = string((r-0xd800)<<10 + (low - 0xdc00) + 0x10000)
		}
	}
	s.text.add(text, t.from, end, s.uc)
	return last
}

// rtfEscape writes a text as RTF; back is how many characters of fallback stand after \u there.
func rtfEscape(s string, back int) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case r == '\\' || r == '{' || r == '}':
			b.WriteString("\\" + string(r))
		case r == '\n':
			b.WriteString("\\line ")
		case r == '\t':
			b.WriteString("\\tab ")
		case r < ' ':
		case r < 0x80:
			b.WriteRune(r)
		default:
			units := []int{int(r)}
			if r > 0xffff {
				v := int(r) - 0x10000
				units = []int{0xd800 + v>>10, 0xdc00 + v&0x3ff}
			}
			for _, u := range units {
				fmt.Fprintf(&b, "\\u%d", int16(u))
				if back == 0 {
					b.WriteByte(' ')
				}
				b.WriteString(strings.Repeat("?", back))
			}
		}
	}
	return b.String()
}

// open reports whether a control word ends at a place without the blank that divides it from letters and digits.
func (f *rtfFile) open(at int) bool {
	i, found := slices.BinarySearchFunc(f.tokens, at, func(t rtfToken, at int) int { return t.to - at })
	if !found || f.tokens[i].kind != rtfWord {
		return false
	}
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	first, last := f.src[min(f.tokens[i].from+1, at-1)], f.src[at-1]
	return letter(first) && (letter(last) || last >= '0' && last <= '9') // a symbol such as \5 ends by itself
}

// hungry reports whether what stands at a place would be taken for the fallback of a character before it, which has none.
func (f *rtfFile) hungry(at int) bool {
	i, found := slices.BinarySearchFunc(f.tokens, at, func(t rtfToken, at int) int { return t.from - at })
	if !found || i == 0 || f.tokens[i].kind == rtfChar && f.tokens[i].start < at {
		return false
	}
	return f.tokens[i-1].word == "u" && f.tokens[i-1].has
}

// rtfBlob is what stands in a group as hexadecimal digits or as bytes.
type rtfBlob struct {
	dest  string // pict, objdata, …
	words []string
	data  []byte
	from  int // of the group
	to    int
	in    int // of what stands for the data, with the control word before bytes
	out   int
}

// blobs decodes the pictures and objects of a file.
func (f *rtfFile) blobs() []rtfBlob {
	type open struct {
		at   int
		blob *rtfBlob
	}
	var out []rtfBlob
	var stack []open
	var digits bytes.Buffer
	for i, t := range f.tokens {
		switch t.kind {
		case rtfOpen:
			o := open{at: t.from}
			if name := f.destination(i); slices.Contains([]string{"pict", "objdata", "themedata", "datastore", "colorschememapping", "datafield"}, name) {
				o.blob = &rtfBlob{dest: name, from: t.from}
				digits.Reset()
			}
			stack = append(stack, o)
		case rtfClose:
			n := len(stack)
			if n == 0 {
				continue
			}
			if b := stack[n-1].blob; b != nil {
				if b.data == nil {
					b.data = make([]byte, hex.DecodedLen(digits.Len()))
					k, _ := hex.Decode(b.data, digits.Bytes()) // what comes before a mistake is kept
					b.data = b.data[:k]
				}
				b.to = t.to
				out = append(out, *b)
			}
			stack = stack[:n-1]
		case rtfChar:
			if n := len(stack); n > 0 && stack[n-1].blob != nil {
				if b := stack[n-1].blob; digits.Len() == 0 {
					b.in, b.out = t.from, t.to
				} else {
					b.out = t.to
				}
				for _, c := range f.src[t.from:t.to] {
					if c > ' ' {
						digits.WriteByte(c)
					}
				}
			}
		case rtfBin:
			if n := len(stack); n > 0 && stack[n-1].blob != nil {
				b := stack[n-1].blob
				b.data, b.in, b.out = f.src[t.from:t.to], f.tokens[i-1].from, t.to
			}
		case rtfWord:
			if n := len(stack); n > 0 && stack[n-1].blob != nil {
				stack[n-1].blob.words = append(stack[n-1].blob.words, t.word)
			}
		}
	}
	return out
}
