package text

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	xhtml "golang.org/x/net/html"

	"github.com/tackle-dev/tackle/media"
)

func payload(s string) (media.Result, error) {
	return media.Result{Media: &media.Payload{Data: []byte(s)}}, nil
}

// toHTML renders Markdown. HTML within it is left out, because it may act.
func toHTML(_ context.Context, r *media.Request) (media.Result, error) {
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Convert([]byte(media.DecodeText(r.In.Data)), &b); err != nil {
		return media.Result{}, media.Failf("%s cannot be rendered: %v.", r.In.Name, err)
	}
	res, err := payload(fmt.Sprintf(shell, html.EscapeString(media.Base(r.In.Name)), b.String()))
	if strings.Contains(b.String(), "<!-- raw HTML omitted -->") {
		res.Warnings = append(res.Warnings, "HTML elements within the Markdown were left out.")
	}
	return res, err
}

// deepest is how deep elements may be nested for the Markdown converter, which walks them one call in the other.
const deepest = 500

func toMarkdown(_ context.Context, r *media.Request) (media.Result, error) {
	src := media.DecodeText(r.In.Data)
	depth := 0
	for _, t := range tokens(src) {
		switch t.kind {
		case xhtml.StartTagToken:
			depth++
		case xhtml.EndTagToken:
			depth--
		}
		if depth > 10*deepest {
			return media.Result{}, media.Failf("%s has elements nested deeper than can be converted.", r.In.Name)
		}
	}
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	out, err := c.ConvertString(src)
	if err != nil {
		return media.Result{}, media.Failf("%s cannot be converted: %v.", r.In.Name, err)
	}
	return payload(strings.TrimSpace(out) + "\n")
}

func fromPlain(_ context.Context, r *media.Request) (media.Result, error) {
	src := media.DecodeText(r.In.Data)
	if r.To == "html" {
		return payload(fmt.Sprintf(shell, html.EscapeString(media.Base(r.In.Name)), "<pre>"+html.EscapeString(src)+"</pre>\n"))
	}
	return payload(markdownEscape.ReplaceAllString(src, `\$0`))
}

var markdownEscape = regexp.MustCompile("(?m)[\\\\`*_<\\[\\]]|^[ \t]*[#>+~-]|^[ \t]*\\d+[.)]")

func toText(_ context.Context, r *media.Request) (media.Result, error) {
	src := media.DecodeText(r.In.Data)
	if r.In.MIME == "text/html" {
		return payload(htmlText(src))
	}
	return payload(src)
}

// htmlText gives the words of a page: blocks on lines of their own, cells apart by tabs, scripts and styles left out.
func htmlText(src string) string {
	var b strings.Builder
	skip := 0
	pre := 0
	space := false
	newline := func(n int) {
		s := strings.TrimRight(b.String(), " \t")
		if have := len(s) - len(strings.TrimRight(s, "\n")); s != "" && have < n {
			b.Reset()
			b.WriteString(s + strings.Repeat("\n", n-have))
		}
		space = false
	}
	out := &b
	for _, t := range tokens(src) {
		start, end := t.kind == xhtml.StartTagToken || t.kind == xhtml.SelfClosingTagToken, t.kind == xhtml.EndTagToken
		switch {
		case t.name == "script" || t.name == "style" || t.name == "template" || t.name == "noscript":
			if start && t.kind == xhtml.StartTagToken {
				skip++
			} else if end && skip > 0 {
				skip--
			}
		case skip > 0:
		case t.kind == xhtml.TextToken:
			text := html.UnescapeString(t.raw)
			if pre > 0 {
				out.WriteString(text)
				continue
			}
			fields := strings.Fields(text)
			if len(fields) == 0 {
				space = space || text != ""
				continue
			}
			if tail := lastByte(out); (space || text[0] <= ' ') && tail != 0 && tail != '\n' && tail != '\t' {
				out.WriteByte(' ')
			}
			out.WriteString(strings.Join(fields, " "))
			space = text[len(text)-1] <= ' '
		case t.name == "pre":
			newline(1)
			if start {
				pre++
			} else {
				pre = max(0, pre-1)
			}
		case t.name == "br":
			out.WriteByte('\n')
			space = false
		case (t.name == "td" || t.name == "th") && end:
			out.WriteByte('\t')
			space = false
		case t.name == "p" || strings.HasPrefix(t.name, "h") && len(t.name) == 2 && t.name != "hr" || t.name == "table" || t.name == "ul" || t.name == "ol":
			newline(2)
		case (start || end) && !contains(inline, t.name) && t.name != "td" && t.name != "th":
			newline(1)
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Join(lines, "\n") + "\n"
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func lastByte(b *strings.Builder) byte {
	if b.Len() == 0 {
		return 0
	}
	return b.String()[b.Len()-1]
}

// heading is a heading of Markdown.
type heading struct {
	level, at int // offset of its line
	text      string
}

var (
	atx   = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	fence = regexp.MustCompile("^ {0,3}(```+|~~~+)")
)

// headings finds the headings of a Markdown text outside of code.
func headings(src string) []heading {
	var out []heading
	at, closing, prev := 0, "", ""
	prevAt := 0
	for line := range strings.Lines(src) {
		body := strings.TrimRight(line, "\r\n")
		switch f := fence.FindStringSubmatch(body); {
		case closing != "":
			if f != nil && strings.HasPrefix(f[1], closing) && strings.TrimSpace(body) == f[1] {
				closing = ""
			}
		case f != nil:
			closing = f[1]
		default:
			trimmed := strings.TrimSpace(body)
			if m := atx.FindStringSubmatch(body); m != nil {
				out = append(out, heading{len(m[1]), at, m[2]})
			} else if prev != "" && len(trimmed) > 0 && (strings.Trim(trimmed, "=") == "" || strings.Trim(trimmed, "-") == "" && len(trimmed) > 1) && !strings.HasPrefix(body, "    ") {
				level := 1
				if trimmed[0] == '-' {
					level = 2
				}
				out = append(out, heading{level, prevAt, prev})
			}
		}
		prev, prevAt = strings.TrimSpace(body), at
		if closing != "" || atx.MatchString(body) {
			prev = ""
		}
		at += len(line)
	}
	return out
}

// split cuts a Markdown or HTML file before each heading of the first level.
func split(_ context.Context, r *media.Request) (media.Result, error) {
	if by, _ := r.Args["by"].(string); by != "section" {
		return media.Result{}, &media.Error{Code: media.UnsupportedOp, Verb: "split", Message: fmt.Sprintf("%s has no pages.", r.In.Name), Use: "split by=section"}
	}
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	var cuts []int
	wrap := func(s string) string { return s }
	src := f.src
	if r.In.MIME == "text/html" {
		head, tail := "", ""
		for _, t := range tokens(src) {
			switch {
			case t.kind == xhtml.StartTagToken && t.name == "body":
				head = src[:t.from+len(t.raw)]
			case t.kind == xhtml.EndTagToken && t.name == "body":
				tail = src[t.from:]
			case t.kind == xhtml.StartTagToken && t.name == "h1":
				cuts = append(cuts, t.from-len(head))
			}
		}
		src = src[len(head) : len(src)-len(tail)]
		wrap = func(s string) string { return head + s + tail }
	} else {
		for _, h := range headings(src) {
			if h.level == 1 {
				cuts = append(cuts, h.at)
			}
		}
	}
	if len(cuts) == 0 {
		return media.Result{}, media.Failf("%s has no heading of the first level to split at.", r.In.Name)
	}
	parts := []string{}
	if pre := src[:cuts[0]]; strings.TrimSpace(pre) != "" {
		parts = append(parts, pre)
	}
	for i, at := range cuts {
		to := len(src)
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		parts = append(parts, src[at:to])
	}
	if raw, ok := r.Args["ranges"].(json.RawMessage); ok {
		if parts, err = Ranges(raw, parts, func(p []string) string { return strings.Join(p, "") }); err != nil {
			return media.Result{}, err
		}
	}
	res := media.Result{Warnings: f.warnings}
	own, _ := media.FormatOf(r.In.MIME)
	for i, s := range parts {
		data, err := f.enc.Encode([]byte(wrap(s)))
		if err != nil {
			return media.Result{}, media.Failf("a part cannot be written: %v.", err)
		}
		res.List = append(res.List, media.Payload{Data: data, MIME: r.In.MIME, Name: fmt.Sprintf("%s.part%d.%s", media.Base(r.In.Name), i+1, own.Token)})
	}
	return res, nil
}

// Ranges joins parts by ranges, [[first, last], …] from 1, both within.
func Ranges[T any](raw json.RawMessage, parts []T, join func([]T) T) ([]T, error) {
	var rs [][]int
	if err := json.Unmarshal(raw, &rs); err != nil || len(rs) == 0 {
		return nil, media.Failf("ranges is no list of pairs such as [[1,3],[4,6]].")
	}
	var out []T
	for _, r := range rs {
		if len(r) != 2 || r[0] < 1 || r[1] < r[0] || r[1] > len(parts) {
			return nil, media.Failf("the range %v does not lie within 1 to %d, or runs backwards.", r, len(parts))
		}
		out = append(out, join(parts[r[0]-1:r[1]]))
	}
	return out, nil
}

var (
	dataURI = regexp.MustCompile(`(?i)data:([a-z0-9.+/-]+)((?:;[a-z0-9=.+-]+)*),([^"')\s>]+)`)
	kinds   = map[string]string{"image": "image", "font": "font"}
)

// assets gives the files that stand within a page as data URIs.
func assets(_ context.Context, r *media.Request) (media.Result, error) {
	src := media.DecodeText(r.In.Data)
	want, _ := r.Args["types"].([]string)
	var res media.Result
	for _, m := range dataURI.FindAllStringSubmatch(src, r.Limits.Members) {
		kind := kinds[strings.Split(strings.ToLower(m[1]), "/")[0]]
		if kind == "" {
			kind = "attachment"
		}
		if strings.Contains(m[1], "font") {
			kind = "font"
		}
		if len(want) > 0 && !contains(want, "all") && !contains(want, kind) {
			continue
		}
		raw := html.UnescapeString(m[3])
		plain, err := url.PathUnescape(raw)
		if err != nil {
			plain = raw
		}
		data := []byte(plain)
		if strings.Contains(strings.ToLower(m[2]), ";base64") {
			if data, err = base64.StdEncoding.DecodeString(plain); err != nil {
				res.Warnings = append(res.Warnings, fmt.Sprintf("An embedded %s file is damaged and was left out.", m[1]))
				continue
			}
		}
		ext := "bin"
		if f, ok := media.FormatOf(m[1]); ok {
			ext = f.Token
		}
		res.List = append(res.List, media.Payload{Data: data, MIME: strings.ToLower(m[1]), Name: fmt.Sprintf("%s.asset%d.%s", media.Base(r.In.Name), len(res.List)+1, ext)})
	}
	if len(res.List) == 0 {
		return media.Result{}, media.Failf("%s holds no embedded files of the kind asked for; files that it only links to are not in it.", r.In.Name)
	}
	return res, nil
}
