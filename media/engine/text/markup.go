package text

import (
	"html"
	"io"
	"regexp"
	"slices"
	"strings"

	xhtml "golang.org/x/net/html"

	"github.com/tackle-dev/tackle/media"
)

// token is a token of markup with its place.
type token struct {
	kind     xhtml.TokenType
	name     string // of a tag, lower case
	raw      string
	from     int
	rawChild bool // text within script or style, where entities mean nothing
}

// tokens cuts markup into tokens that together are the source.
func tokens(src string) []token {
	z := xhtml.NewTokenizer(strings.NewReader(src))
	z.SetMaxBuf(0)
	var out []token
	at := 0
	raw := ""
	for {
		k := z.Next()
		if k == xhtml.ErrorToken {
			if z.Err() == io.EOF && at < len(src) {
				out = append(out, token{kind: xhtml.TextToken, raw: src[at:], from: at})
			}
			return out
		}
		t := token{kind: k, raw: string(z.Raw()), from: at}
		at += len(t.raw)
		if k == xhtml.StartTagToken || k == xhtml.EndTagToken || k == xhtml.SelfClosingTagToken {
			n, _ := z.TagName()
			t.name = string(n)
		}
		t.rawChild = k == xhtml.TextToken && raw != ""
		switch {
		case k == xhtml.StartTagToken && (t.name == "script" || t.name == "style"):
			raw = t.name
		case k == xhtml.EndTagToken && t.name == raw:
			raw = ""
		}
		out = append(out, t)
	}
}

// attr is an attribute of a tag with the place of its value in the tag.
type attr struct {
	name     string // lower case
	from, to int    // of the whole attribute
	valFrom  int    // of the value without quotes; -1 if there is none
	valTo    int
}

func attrs(tag string) []attr {
	i := 1
	for i < len(tag) && strings.IndexByte(" \t\r\n\f/>", tag[i]) < 0 {
		i++
	}
	var out []attr
	for i < len(tag) {
		for i < len(tag) && strings.IndexByte(" \t\r\n\f/", tag[i]) >= 0 {
			i++
		}
		if i >= len(tag) || tag[i] == '>' {
			return out
		}
		a := attr{from: i, valFrom: -1}
		for i++; i < len(tag) && strings.IndexByte(" \t\r\n\f/=>", tag[i]) < 0; i++ {
		}
		a.name, a.to = strings.ToLower(tag[a.from:i]), i
		j := i
		for j < len(tag) && strings.IndexByte(" \t\r\n\f", tag[j]) >= 0 {
			j++
		}
		if j < len(tag) && tag[j] == '=' {
			for j++; j < len(tag) && strings.IndexByte(" \t\r\n\f", tag[j]) >= 0; j++ {
			}
			if j < len(tag) && (tag[j] == '"' || tag[j] == '\'') {
				end := strings.IndexByte(tag[j+1:], tag[j])
				if end < 0 {
					end = len(tag) - j - 1
				}
				a.valFrom, a.valTo = j+1, j+1+end
				i = min(len(tag), j+2+end)
			} else {
				a.valFrom = j
				for j < len(tag) && strings.IndexByte(" \t\r\n\f>", tag[j]) < 0 {
					j++
				}
				a.valTo, i = j, j
			}
			a.to = i
		}
		out = append(out, a)
	}
	return out
}

// inline elements do not end a word.
var inline = []string{"a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "tspan", "u", "var", "wbr"}

// markup takes HTML or XML apart: its running text as one piece, in which tags are nothing or a line break, and each
// attribute, comment, script and style as one of its own.
func markup(src string) []*piece { return markupWith(src, &Words{Inline: inline}) }

func markupWith(src string, w *Words) []*piece {
	skip := 0
	body := &piece{write: html.EscapeString}
	out := []*piece{body}
	decoded := func(p *piece, s string, at int) {
		for i := 0; i < len(s); {
			d, n := entity(s, i)
			p.add(d, at+i, at+i+n)
			i += n
		}
	}
	for _, t := range tokens(src) {
		switch {
		case t.kind == xhtml.TextToken && !t.rawChild:
			if skip == 0 {
				decoded(body, t.raw, t.from)
			}
		case t.kind == xhtml.StartTagToken || t.kind == xhtml.EndTagToken || t.kind == xhtml.SelfClosingTagToken:
			if !slices.Contains(w.Inline, t.name) {
				body.add("\n", -1, -1)
			}
			if slices.Contains(w.Skip, t.name) {
				switch t.kind {
				case xhtml.StartTagToken:
					skip++
				case xhtml.EndTagToken:
					skip = max(0, skip-1)
				}
			}
			for _, a := range attrs(t.raw) {
				if w.Attrs != nil && !slices.Contains(w.Attrs, a.name) {
					continue
				}
				if a.valFrom >= 0 && a.valTo > a.valFrom {
					p := &piece{write: html.EscapeString}
					decoded(p, t.raw[a.valFrom:a.valTo], t.from+a.valFrom)
					if w.Leave != nil && w.Leave(t.name, a.name, string(p.text)) {
						continue
					}
					out = append(append(out, p), p.deeper(a.name, w)...)
				}
			}
		default:
			out = append(out, plainPiece(t.raw, t.from))
			if t.rawChild && strings.Contains(t.raw, `\`) {
				at := func(i int) (int, int) { return t.from + i, t.from + i + 1 }
				out = append(out, escaped(t.raw, at, cssCode), escaped(t.raw, at, jsCode))
			}
			if t.rawChild && strings.Contains(t.raw, "%") {
				for _, p := range addresses(t.raw) {
					for i := range p.from {
						p.from[i], p.to[i] = p.from[i]+int32(t.from), p.to[i]+int32(t.from)
					}
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// Words finds and replaces words in XML as they read: entities decoded, and put together over the tags that are named as
// inline. It serves formats that are made of XML parts.
type Words struct {
	Patterns    []*media.Pattern
	Replacement string
	Inline      []string // names of elements, lower case, with their prefix, that do not end a word
	Skip        []string // names of elements whose text is not words
	Attrs       []string // names of attributes that hold words; nil: all
	// Leave says which attributes stay as they are, by tag, name and decoded value: those that lead to other parts.
	Leave func(tag, attr, value string) bool
	depth int // of pages within pages
}

// Replace replaces all matches in running text and attributes. which reports for each pattern whether it was there.
func (w *Words) Replace(src string) (out string, n int, which []bool, err error) {
	out, which = src, make([]bool, len(w.Patterns))
	for i, pat := range w.Patterns {
		var splices []splice
		for _, p := range markupWith(out, w) {
			s, k, err := p.find(pat, w.Replacement)
			if err != nil {
				return "", 0, nil, err
			}
			splices, n = append(splices, s...), n+k
			which[i] = which[i] || k > 0
		}
		var k int
		if out, k, err = redactData(apply(out, splices), pat, w.Replacement, 0); err != nil {
			return "", 0, nil, err
		}
		n += k
		which[i] = which[i] || k > 0
	}
	return out, n, which, nil
}

// Find returns the first match that is left, or "".
func (w *Words) Find(src string) (string, error) {
	for _, p := range markupWith(src, w) {
		for _, pat := range w.Patterns {
			spans, err := pat.Find(string(p.text))
			if err != nil {
				return "", err
			}
			if len(spans) > 0 {
				return string(p.text[spans[0].From:spans[0].To]), nil
			}
		}
	}
	return leftInData(src, w.Patterns, 0)
}

// First replaces the first place where an anchor stands in running text, and counts the places. Blanks of any kind and
// number are one, as a reader sees them. crossing reports a place that goes over the end of a paragraph, which does not count.
func (w *Words) First(src, anchor string, lim media.Limits) (out string, found int, crossing bool, err error) {
	words := strings.Fields(anchor)
	for i, word := range words {
		words[i] = regexp.QuoteMeta(word)
	}
	pat, err := media.NewPattern(media.Match{Source: strings.Join(words, `\s+`)}, lim.WithDefaults().Match)
	if err != nil {
		return "", 0, false, err
	}
	body := markupWith(src, w)[0]
	spans, err := pat.Find(string(body.text))
	if err != nil {
		return "", 0, false, err
	}
	out = src
	for _, s := range spans {
		if slices.Contains(body.from[s.From:s.To], -1) {
			crossing = true
		} else if found++; found == 1 {
			out = apply(src, body.splices(s, body.write(w.Replacement)))
		}
	}
	return out, found, crossing, nil
}
