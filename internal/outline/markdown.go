package outline

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// readMarkdown reads headings. A heading spans its section: all up to the next heading that is not below it.
func readMarkdown(src []byte) []Symbol {
	p := headingParser()
	skip := frontMatter(src)
	doc := p.Parse(text.NewReader(src[skip:]))
	lines := lineIndex{src: src}
	last := lines.of(len(bytes.TrimRight(src, "\n")))
	var out []Symbol
	var levels []int
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Lines().Len() == 0 {
			continue
		}
		seg := h.Lines().At(0)
		var parts []string
		for i := range h.Lines().Len() {
			line := h.Lines().At(i)
			parts = append(parts, strings.TrimSpace(string(line.Value(src[skip:]))))
		}
		name := strings.Join(parts, " ")
		if name == "" || listed(name) {
			continue
		}
		at := lines.of(skip + seg.Start)
		for len(levels) > 0 && levels[len(levels)-1] >= h.Level {
			levels = levels[:len(levels)-1]
		}
		out = append(out, Symbol{Name: oneLine([]byte(name)), Kind: Heading, Line: at, End: last, Depth: len(levels), Text: oneLine([]byte(strings.Repeat("#", h.Level) + " " + name))})
		levels = append(levels, h.Level)
	}
	nest(out)
	return out
}

// headingParser knows what headings stand between, and no more: no inline text, and neither lists nor quotations, which
// take the square of their depth and whose headings are no sections.
func headingParser() parser.Parser {
	p := util.Prioritized
	return parser.NewParser(parser.WithBlockParsers(p(parser.NewSetextHeadingParser(), 100), p(parser.NewThematicBreakParser(), 200), p(parser.NewCodeBlockParser(), 500),
		p(parser.NewATXHeadingParser(), 600), p(parser.NewFencedCodeBlockParser(), 700), p(parser.NewHTMLBlockParser(), 900), p(parser.NewParagraphParser(), 1000)))
}

// listed reports whether what looks like an underlined heading is an item of a list or a quotation above a line.
func listed(name string) bool {
	first, _, _ := strings.Cut(name, " ")
	return has(" - * + > ", first) || name[0] == '>' || name[0] == '|' || strings.TrimRight(first, "0123456789") == "." || strings.TrimRight(first, "0123456789") == ")"
}

// nest sets ends and containers of headings from their depths.
func nest(out []Symbol) {
	var open []int
	for i := range out {
		for len(open) > out[i].Depth {
			out[open[len(open)-1]].End = out[i].Line - 1
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			up := out[open[len(open)-1]]
			out[i].Container = join(up.Container, up.Name)
		}
		open = append(open, i)
	}
}

// frontMatter returns the length of the YAML or TOML block before the text, which is no Markdown.
func frontMatter(src []byte) int {
	for _, fence := range []string{"---\n", "+++\n", "---\r\n"} {
		if !bytes.HasPrefix(src, []byte(fence)) {
			continue
		}
		if end := bytes.Index(src[len(fence)-1:], []byte("\n"+fence[:3])); end >= 0 {
			at := len(fence) - 1 + end + 1
			if nl := bytes.IndexByte(src[at:], '\n'); nl >= 0 {
				return at + nl + 1
			}
			return len(src)
		}
	}
	return 0
}
