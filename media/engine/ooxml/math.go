package ooxml

import (
	"strings"

	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// mathWords writes a formula on one line.
func mathWords(n *tree.Node) string {
	of := func(name string) string {
		if k := n.Child(name); k != nil {
			return mathWords(k)
		}
		return ""
	}
	each := func(name, between string) string {
		var parts []string
		for _, k := range n.Kids {
			if k.Name == name {
				parts = append(parts, mathWords(k))
			}
		}
		return strings.Join(parts, between)
	}
	// sign returns a character that the properties of an element name.
	sign := func(properties, name, usual string) string {
		if pr := n.Child(properties); pr != nil {
			if k := pr.Child(name); k != nil {
				return k.Get("m:val")
			}
		}
		return usual
	}
	switch n.Name {
	case "m:t":
		return n.Words()
	case "m:f":
		return flow.Fraction(of("m:num"), of("m:den"))
	case "m:sSup", "m:sSub", "m:sSubSup":
		return flow.Scripts(of("m:e"), of("m:sub"), of("m:sup"))
	case "m:sPre":
		return flow.Scripts("", of("m:sub"), of("m:sup")) + of("m:e")
	case "m:limLow":
		return flow.Scripts(of("m:e"), of("m:lim"), "")
	case "m:limUpp":
		return flow.Scripts(of("m:e"), "", of("m:lim"))
	case "m:rad":
		return flow.Root(of("m:deg"), of("m:e"))
	case "m:d":
		return sign("m:dPr", "m:begChr", "(") + each("m:e", sign("m:dPr", "m:sepChr", "|")) + sign("m:dPr", "m:endChr", ")")
	case "m:nary":
		return flow.Scripts(sign("m:naryPr", "m:chr", "∫"), of("m:sub"), of("m:sup")) + of("m:e")
	case "m:func":
		return of("m:fName") + " " + of("m:e")
	case "m:m":
		return "[" + each("m:mr", "; ") + "]"
	case "m:mr":
		return each("m:e", ", ")
	case "m:eqArr":
		return each("m:e", "; ")
	case "mc:AlternateContent":
		if c := choice(n); c != nil {
			return mathWords(c)
		}
		return ""
	}
	var b strings.Builder
	for _, k := range n.Kids {
		if k.Name != "" && !strings.HasSuffix(k.Name, "Pr") {
			b.WriteString(mathWords(k))
		}
	}
	return b.String()
}
