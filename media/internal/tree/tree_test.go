package tree

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/words"
	"github.com/tackle-dev/tackle/media"
	"pgregory.net/rapid"
)

func TestReferences(t *testing.T) {
	zeros := strings.Repeat("0", 200)
	for src, want := range map[string]string{
		"a&amp;b&lt;&gt;&quot;&apos;": `a&b<>"'`, "&#65;&#x42;&#x00043;": "ABC", "&#" + zeros + "65;": "A", "&#x" + zeros + "41;": "A",
		"&#128;": "\u0080", "&#1114112;": "\ufffd", "&#xd800;": "\ufffd", "&#99999999999999999999999;": "\ufffd", "&#;": "&#;", "&#x;": "&#x;", "&#6a;": "&#6a;",
		"&": "&", "&&amp;": "&&", "&nosuch;": "&nosuch;", "&amp": "&amp", "&#65": "&#65", "&;": "&;", "&#X41;": "&#X41;",
	} {
		n, err := Parse("x", []byte("<a b='"+strings.ReplaceAll(src, "'", "")+"'>"+src+"</a>"), nil, media.Limits{})
		if err != nil {
			t.Fatal(src, err)
		}
		if got := n.Words(); got != want {
			t.Errorf("%s reads as %q, want %q", src, got, want)
		}
		g := &Grammar{Keep: true, Para: func(*Node) bool { return true }}
		if s := g.Streams([]byte("<a>"+src+"</a>"), mustParse(t, "<a>"+src+"</a>")); len(s) != 1 || s[0].String() != want {
			t.Errorf("%s streams as %v, want %q", src, s, want)
		}
	}
}

func mustParse(t *testing.T, src string) *Node {
	t.Helper()
	n, err := Parse("x", []byte(src), nil, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What another program would read as other words is not read at all.
func TestEncodings(t *testing.T) {
	for decl, ok := range map[string]bool{
		`<?xml version="1.0" encoding="UTF-8"?>`: true, `<?xml version='1.0' encoding = 'utf-8' standalone='yes'?>`: true, `<?xml version="1.0"?>`: true,
		`<?xml version="1.0" encoding="utf-16"?>`: true, `<?xml version="1.0" encoding="UTF-7"?>`: false, `<?xml version="1.0" encoding="ISO-2022-JP"?>`: false,
		`<?xml version="1.0" encoding="IBM037"?>`: false, `<?xml version="1.0" encoding="ISO-8859-1"?>`: true,
	} {
		if _, err := Parse("x", []byte(decl+"<a>+ADE-</a>"), nil, media.Limits{}); (err == nil) != ok {
			t.Errorf("%s: %v", decl, err)
		}
	}
	if _, err := Parse("x", []byte(`<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>`), nil, media.Limits{}); err == nil {
		t.Error("é in UTF-8 is not é in Latin 1")
	}
}

// Documents made to be dear are read in time by their size, or refused.
func TestDearXML(t *testing.T) {
	var scopes, redeclared strings.Builder
	for i := range 150 {
		scopes.WriteString("<a")
		for k := range 900 {
			fmt.Fprintf(&scopes, ` xmlns:p%d.%d=""`, i, k)
		}
		scopes.WriteString(">")
	}
	scopes.WriteString(strings.Repeat("<z:q/>", 300_000) + strings.Repeat("</a>", 150))
	redeclared.WriteString("<a>" + strings.Repeat(`<b xmlns="u" xmlns:c="v"><c:d/></b>`, 200_000) + "</a>")
	for name, tt := range map[string]struct{ src, want string }{
		"many namespaces":        {scopes.String(), "more namespaces"},
		"namespaces again":       {redeclared.String(), ""},
		"many attributes":        {"<a " + strings.Repeat(`b="" `, 5000) + "/>", "more attributes"},
		"deep":                   {strings.Repeat("<a>", 5000), "nested too deep"},
		"many references":        {"<a>" + strings.Repeat("&amp;&#x20;&", 500_000) + "</a>", ""},
		"a reference of zeros":   {"<a>&#" + strings.Repeat("0", 5_000_000) + "65;</a>", ""},
		"references without end": {"<a>" + strings.Repeat("&#000000", 500_000) + "</a>", ""},
		"entities":               {`<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>`, "entities of its own"},
		"tags without end":       {"<a>" + strings.Repeat("<b c='", 500_000), "does not end"},
	} {
		_, err := Parse("x", []byte(tt.src), map[string]string{"u": "u", "v": "v"}, media.Limits{})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

func TestParseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Parse("x", []byte("<a>"+strings.Repeat("<b/>", 10_000)+"</a>"), nil, media.Limits{}.During(ctx)); err != context.Canceled {
		t.Error(err)
	}
}

var xmlWords = []string{"<a>", "</a>", "<b x='1'>", "</b>", "<c/>", "<c y=\"&#65;\"/>", "t", " ", "&amp;", "&#66;", "&#x0043;", "&", "<!-- - -->", "<?p i?>", "<![CDATA[<&]]>", "]]>", "<", ">", "'", "\"", "/", "=",
	"<n:d xmlns:n='u'>", "</n:d>", "<n:e xmlns:n='v'/>", "\u00e9", "<?xml version='1.0'?>"}

// What this parser reads and the standard library reads too, both read alike; and every place is where it says.
func TestParseReadsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := words.Draw(t, xmlWords, "<a><b x='1'>t&amp;<c/></b><n:d xmlns:n='u'><n:e/>u</n:d></a>")
		root, err := Parse("x", []byte(src), map[string]string{"u": "U"}, media.Limits{})
		if err != nil {
			return
		}
		root.Walk(func(n *Node) bool {
			if n.From < 0 || n.From > n.In || n.In > n.Out || n.Out > n.To || n.To > len(src) {
				t.Fatalf("%q stands at %d %d %d %d of %q", n.Raw, n.From, n.In, n.Out, n.To, src)
			}
			if n.Name != "" && !strings.HasPrefix(src[n.From:], "<"+n.Raw) {
				t.Fatalf("%q is not at %d of %q", n.Raw, n.From, src)
			}
			for _, a := range n.Attr {
				if a.From < n.From || a.To > n.In || src[a.VTo] != src[a.VFrom-1] {
					t.Fatalf("the attribute %q of %q is not where it says", a.Name, src)
				}
			}
			at := n.In
			for _, k := range n.Kids {
				if k.From < at || k.To > n.Out || k.Parent != n {
					t.Fatalf("children of %q overlap in %q", n.Raw, src)
				}
				at = k.To
			}
			return true
		})
		d := xml.NewDecoder(strings.NewReader(src))
		var text strings.Builder
		depth := 0
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				return // this parser minds less
			}
			switch tok := tok.(type) {
			case xml.StartElement:
				depth++
			case xml.EndElement:
				depth--
			case xml.CharData:
				if depth > 0 {
					text.Write(tok)
				}
			}
		}
		if text.String() != root.Words() {
			t.Fatalf("%q reads as %q and not as %q", src, root.Words(), text.String())
		}
	})
}
