package text

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
)

// piece is a part of a file in which words can stand, as a reader sees it. Byte i of text comes from the bytes
// [from[i], to[i]) of the source; both are -1 for what only separates. Without from and to the text stands in the source as
// it is, at the offset at.
type piece struct {
	text     []byte
	from, to []int32
	at       int
	// write turns a replacement into what has to stand in the source.
	write func(string) string
	// whole: a match replaces all of the piece (a number of JSON becomes a text).
	whole bool
	// coded: only a match counts in which one byte stands for several of the source.
	coded bool
}

func (p *piece) add(s string, from, to int) {
	for i := range len(s) {
		p.text = append(p.text, s[i])
		p.from = append(p.from, int32(from))
		p.to = append(p.to, int32(to))
	}
}

// source returns the bytes of the source that byte i comes from; ok is false for what only separates.
func (p *piece) source(i int) (from, to int, ok bool) {
	if p.from == nil {
		return p.at + i, p.at + i + 1, true
	}
	return int(p.from[i]), int(p.to[i]), p.from[i] >= 0
}

func plainPiece(src string, at int) *piece {
	return &piece{text: []byte(src), at: at, write: func(s string) string { return s }}
}

// pieces takes a file apart.
func (f *file) pieces(src string) []*piece { return piecesOf(f.r.In.MIME, src) }

func piecesOf(mime, src string) []*piece {
	switch mime {
	case "text/html", "application/xml", "image/svg+xml", "application/xhtml+xml", "text/xml":
		return markup(src)
	case "application/json":
		return append(jsonPieces(src), addresses(src)...)
	}
	return append([]*piece{plainPiece(src, 0)}, addresses(src)...)
}

// splice is a replacement of source bytes.
type splice struct {
	from, to int
	with     string
}

// find returns the splices that replace all matches of a pattern in a piece.
func (p *piece) find(pat *media.Pattern, replacement string) ([]splice, int, error) {
	spans, err := pat.Find(string(p.text))
	if err != nil || len(spans) == 0 {
		return nil, 0, err
	}
	var out []splice
	if p.whole {
		s, _, err := media.Replace(string(p.text), []*media.Pattern{pat}, replacement)
		from, _, _ := p.source(0)
		_, to, _ := p.source(len(p.text) - 1)
		return []splice{{from, to, p.write(s)}}, len(spans), err
	}
	n := 0
	for _, s := range spans {
		with := p.write(replacement)
		if p.coded && !slices.ContainsFunc(seq(s.From, s.To), func(i int) bool { return p.to[i]-p.from[i] > 1 }) {
			continue
		}
		n++
		if p.from == nil {
			out = append(out, splice{p.at + s.From, p.at + s.To, with})
			continue
		}
		out = append(out, p.splices(s, with)...)
	}
	return out, n, nil
}

// splices are those that put a text in the place of one span.
func (p *piece) splices(s media.Span, with string) []splice {
	var out []splice
	for i := s.From; i < s.To; i++ {
		from, to, ok := p.source(i)
		if !ok {
			continue
		}
		k := len(out) - 1
		switch {
		case k >= 0 && with == "" && out[k].to == from, k >= 0 && out[k].from <= from && out[k].to >= to:
			out[k].to = max(out[k].to, to)
		default:
			out = append(out, splice{from, to, with})
			with = ""
		}
	}
	return out
}

func seq(from, to int) []int {
	out := make([]int, to-from)
	for i := range out {
		out[i] = from + i
	}
	return out
}

func apply(src string, splices []splice) string {
	slices.SortStableFunc(splices, func(a, b splice) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, s := range splices {
		if s.from < at {
			continue // two pieces share bytes only where one is within the other
		}
		b.WriteString(src[at:s.from])
		b.WriteString(s.with)
		at = s.to
	}
	b.WriteString(src[at:])
	return b.String()
}

func redact(ctx context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	if !plainText(r.In.MIME) && len(f.src) > maxRedacted {
		return media.Result{}, media.Failf("%s has %d MB; of its format up to %d MB can be redacted at once. Split it first.", r.In.Name, len(f.src)>>20, maxRedacted>>20)
	}
	matches := r.Args["match"].([]media.Match)
	pats, err := media.Patterns(matches, r.Limits.Match)
	if err != nil {
		return media.Result{}, err
	}
	replacement, given := r.Args["replace"].(string)
	if !given {
		replacement = "█"
	}
	out := f.src
	var missed []string
	for i, pat := range pats {
		var splices []splice
		n := 0
		for _, p := range f.pieces(out) {
			if err := ctx.Err(); err != nil {
				return media.Result{}, err
			}
			s, k, err := p.find(pat, replacement)
			if err != nil {
				return media.Result{}, err
			}
			splices, n = append(splices, s...), n+k
		}
		var k int
		if out, k, err = redactData(apply(out, splices), pat, replacement, 0); err != nil {
			return media.Result{}, err
		}
		if n += k; n == 0 {
			missed = append(missed, said(matches[i]))
		}
		f.counts.Modified += n
	}
	if f.counts.Modified == 0 {
		return media.Result{}, media.Failf("nothing in %s matches %s. Nothing was changed.", r.In.Name, strings.Join(missed, ", "))
	}
	for _, m := range missed {
		f.warn("Nothing matches %s.", m)
	}
	if err := f.verify(out, pats, matches, replacement); err != nil {
		return media.Result{}, err
	}
	return f.done(out)
}

// maxRedacted bounds texts whose every byte is followed to where it stands.
const maxRedacted = 64 << 20

func plainText(mime string) bool {
	return mime == "text/plain" || mime == "text/markdown" || mime == "text/csv"
}

func said(m media.Match) string {
	if m.Source != "" {
		return "/" + m.Source + "/" + m.Flags
	}
	return `"` + clip(m.Text) + `"`
}

// verify looks through the result as a reader of its format would, and refuses one that still holds a match or is no
// longer what it was.
func (f *file) verify(out string, pats []*media.Pattern, matches []media.Match, replacement string) error {
	if hit, err := leftInData(out, pats, 0); err != nil || hit != "" {
		if err == nil {
			err = media.Failf("%q stands in a file that is embedded in base64, which cannot be changed here. Take it out first. Nothing was changed.", clip(hit))
		}
		return err
	}
	texts := []string{}
	for _, p := range f.pieces(out) {
		texts = append(texts, string(p.text))
	}
	switch f.r.In.MIME {
	case "application/yaml":
		before, after, err := yamlShapes(f.src, out)
		if err != nil {
			return err
		}
		if before.shape != after.shape {
			return media.Failf("the replacement %q would change the structure of the YAML. Choose a plain word such as REDACTED.", replacement)
		}
		texts = append(texts, after.scalars...)
	case "text/csv", "text/tab-separated-values":
		before, _, err := data.ReadCSV(&f.r.In, f.r.Limits)
		if err != nil {
			break // not even before was it a table; it is text
		}
		after, _, err := data.ReadCSV(&media.Payload{Data: []byte(out), MIME: f.r.In.MIME, Name: f.r.In.Name}, f.r.Limits)
		if err != nil || !sameShape(before, after) {
			return media.Failf("the replacement %q would change the columns of the table. Choose a plain word such as REDACTED.", replacement)
		}
		for _, row := range after {
			texts = append(texts, row...)
		}
	case "application/json":
		if json.Valid([]byte(f.src)) && !json.Valid([]byte(out)) {
			return media.Failf("the result would be no valid JSON. Choose a plain word such as REDACTED.")
		}
	}
	for i, pat := range pats {
		for _, t := range texts {
			spans, err := pat.Find(t)
			if err != nil {
				return err
			}
			if len(spans) > 0 {
				return media.Failf("%s still matches in the result, at %q: either the replacement matches itself, or the words stand there in an escaped form. Choose another replacement, or convert the file first. Nothing was changed.", said(matches[i]), clip(t[spans[0].From:spans[0].To]))
			}
		}
	}
	return nil
}

func sameShape(a, b data.Table) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
	}
	return true
}

type yamlShape struct {
	shape   string
	scalars []string
}

func yamlShapes(a, b string) (before, after yamlShape, err error) {
	read := func(src string) (s yamlShape, err error) {
		dec := yaml.NewDecoder(strings.NewReader(src))
		var b strings.Builder
		var walk func(n *yaml.Node)
		walk = func(n *yaml.Node) {
			b.WriteByte("?dsmna"[min(int(n.Kind), 5)])
			if n.Kind == yaml.ScalarNode {
				s.scalars = append(s.scalars, n.Value)
			}
			s.scalars = append(s.scalars, n.HeadComment, n.LineComment, n.FootComment)
			for _, c := range n.Content {
				walk(c)
			}
			b.WriteByte('.')
		}
		for {
			var n yaml.Node
			if err := dec.Decode(&n); err != nil {
				s.shape = b.String()
				if err.Error() == "EOF" {
					return s, nil
				}
				return s, err
			}
			walk(&n)
		}
	}
	if before, err = read(a); err != nil {
		return before, before, nil // it was no YAML before; it is text
	}
	if after, err = read(b); err != nil {
		return before, after, media.Failf("the result would be no valid YAML. Choose a plain word such as REDACTED.")
	}
	return before, after, nil
}

// jsonPieces are the texts and numbers of a JSON file. What is not JSON is one text.
func jsonPieces(src string) []*piece {
	if !json.Valid([]byte(src)) {
		return []*piece{plainPiece(src, 0)}
	}
	var out []*piece
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '"':
			p := &piece{write: func(s string) string {
				var b bytes.Buffer
				e := json.NewEncoder(&b)
				e.SetEscapeHTML(false)
				_ = e.Encode(s) // a string always encodes
				return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
			}}
			i++
			for src[i] != '"' {
				n := 1
				s := src[i : i+1]
				if src[i] == '\\' {
					n = 2
					if src[i+1] == 'u' {
						n = 6
						if strings.HasPrefix(src[i+n:], `\u`) && surrogate(src[i+2:i+6]) {
							n = 12
						}
					}
					_ = json.Unmarshal([]byte(`"`+src[i:i+n]+`"`), &s) // it is valid
				}
				p.add(s, i, i+n)
				i += n
			}
			i++
			out = append(out, p)
		case c == '-' || c >= '0' && c <= '9':
			n := i
			for n < len(src) && strings.IndexByte("+-.eE0123456789", src[n]) >= 0 {
				n++
			}
			p := plainPiece(src[i:n], i)
			p.whole = true
			p.write = func(s string) string { q, _ := json.Marshal(s); return string(q) }
			out, i = append(out, p), n
		default:
			i++
		}
	}
	return out
}

func surrogate(hex string) bool {
	h := strings.ToLower(hex)
	return len(h) == 4 && h[0] == 'd' && strings.IndexByte("89ab", h[1]) >= 0
}

// entity returns what the source at i stands for, and how many bytes of it.
func entity(src string, i int) (string, int) {
	if src[i] != '&' {
		return src[i : i+1], 1
	}
	end := strings.IndexByte(src[i:min(len(src), i+40)], ';')
	if end > 1 {
		if s := html.UnescapeString(src[i : i+end+1]); s != src[i:i+end+1] {
			return s, end + 1
		}
	}
	return "&", 1
}
