package flow

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Formulas are written on one line, as people type them, because their pieces side by side say something else: a half is
// 1/2 and not 12.

// group puts brackets around more than one sign.
func group(s string) string {
	if utf8.RuneCountInString(s) < 2 || strings.Trim(s, "0123456789.,") == "" || s[0] == '(' && strings.IndexByte(s, ')') == len(s)-1 {
		return s
	}
	return "(" + s + ")"
}

// Fraction writes a over b.
func Fraction(a, b string) string { return group(a) + "/" + group(b) }

// Scripts writes what stands below and above a base; "" is nothing.
func Scripts(base, below, above string) string {
	if below != "" {
		base += "_" + group(below)
	}
	if above != "" {
		base += "^" + group(above)
	}
	return base
}

// Root writes a root; degree "" is the square root.
func Root(degree, of string) string {
	if degree == "" || degree == "2" {
		return "√" + group(of)
	}
	return group(degree) + "√" + group(of)
}

// mathML writes an element of MathML.
func mathML(n *html.Node, depth int) string {
	if n.Type == html.TextNode {
		return strings.TrimSpace(n.Data)
	}
	if depth > deepest {
		return ""
	}
	var parts []string
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.ElementNode && (c.Data == "annotation" || c.Data == "annotation-xml"):
		case c.Type == html.ElementNode || strings.TrimSpace(c.Data) != "" && c.Type == html.TextNode:
			parts = append(parts, mathML(c, depth+1))
		}
	}
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	all := strings.Join(parts, "")
	switch {
	case n.Data == "mfrac" && len(parts) == 2:
		return Fraction(at(0), at(1))
	case n.Data == "msup" || n.Data == "mover":
		return Scripts(at(0), "", at(1))
	case n.Data == "msub" || n.Data == "munder":
		return Scripts(at(0), at(1), "")
	case n.Data == "msubsup" || n.Data == "munderover":
		return Scripts(at(0), at(1), at(2))
	case n.Data == "msqrt":
		return Root("", all)
	case n.Data == "mroot" && len(parts) == 2:
		return Root(at(1), at(0))
	case n.Data == "mtr" || n.Data == "mlabeledtr":
		return strings.Join(parts, ", ") + "; "
	case n.Data == "mtable":
		return "[" + strings.TrimSuffix(all, "; ") + "]"
	}
	return all
}
