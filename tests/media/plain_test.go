package media

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
)

// plantTXT is a text with what texts have: other alphabets' digits are no match, what is not seen between digits is none
// either.
func plantTXT(_ testing.TB, g *garden) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "Employment contract\n\nThe employee with number %s starts on 2025-01-02.\n", g.at("line"))
	for i := range 30 {
		fmt.Fprintf(&b, "Paragraph %d. The quick brown fox jumps over the lazy dog.\n", i)
	}
	fmt.Fprintf(&b, "Twice: %s,%s\n\"%s\"\n", g.at("first of two"), g.at("second of two"), g.at("quoted"))
	x, y, z := split(g.at("soft hyphens and joiners"))
	fmt.Fprintf(&b, "Soft: %s\u00ad%s\u200b%s ends\n", x, y, z)
	fmt.Fprintf(&b, "no end of line: %s", g.at("last word"))
	return []byte(b.String())
}

// plantWideTXT is a text of Windows.
func plantWideTXT(t testing.TB, g *garden) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(strings.ReplaceAll(string(plantTXT(t, g)), "\n", "\r\n"))) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// plantFODT is the contract as one file of XML, with a picture in it.
func plantFODT(t testing.TB, g *garden) []byte {
	src, err := os.ReadFile("../../media/engine/odf/testdata/contract.fodt")
	if err != nil {
		t.Fatal(err)
	}
	g.own("123-45-6789", "body over three spans")
	g.own("987-65-4321", "footnote")
	g.own("111-22-3333", "header")
	g.own("222-33-4444", "comment")
	g.own("555-66-7777", "tracked deletion")
	s := string(src)
	for mark, more := range map[string]string{
		"</office:text>": `<text:p text:style-name="Standard">Picture <draw:frame draw:name="P" text:anchor-type="as-char" svg:width="1cm" svg:height="1cm"><draw:image><office:binary-data>` + base64.StdEncoding.EncodeToString(picture("of "+g.at("note in a picture"))) + `</office:binary-data></draw:image><svg:desc>` + g.at("alternative text") + `</svg:desc></draw:frame></text:p>`,
		"</office:meta>": `<meta:user-defined meta:name="Own">` + g.at("own property") + `</meta:user-defined>`,
	} {
		if !strings.Contains(s, mark) {
			t.Fatalf("contract.fodt lacks %s", mark)
		}
		s = strings.Replace(s, mark, more+mark, 1)
	}
	return []byte(s)
}

// plantHTML is a page.
func plantHTML(_ testing.TB, g *garden) []byte {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	a, c, d := split(g.at("over elements"))
	n, m := g.at("entities, decimal"), g.at("entities, hexadecimal")
	e, f, h := split(g.at("soft hyphens and joiners"))
	k, l, o := split(g.at("split by a comment"))
	add(`<!DOCTYPE html>`)
	add(`<html lang="en"><head><meta charset="utf-8"><title>Contract %s</title>`, g.at("title"))
	add(`<meta name="description" content="%s"><meta property="og:title" content="%s">`, g.at("meta"), g.at("meta of a network"))
	add(`<link rel="canonical" href="https://a.example/%s">`, g.at("link of the head"))
	css := g.at("style, escaped")
	add(`<style>.a::after{content:"%s"} .b::after{content:"%s\2d %s"} /* %s */</style>`, g.at("style"), css[:3], css[4:], g.at("comment of a style"))
	js := g.at("script, escaped")
	add(`<script>var n = "%s", m = "%s\u002d%s"; // %s</script>`, g.at("script"), js[:3], js[4:], g.at("comment of a script"))
	add(`<script type="application/ld+json">{"taxID": "%s"}</script></head><body>`, g.at("data of a script"))
	add(`<h1>Employment contract</h1><p>Number %s<b>%s</b><i>%s</i> here.</p>`, a, c, d)
	for i := range 10 {
		add(`<p>Paragraph %d. The quick <b>brown</b> fox jumps over the lazy dog.</p>`, i)
	}
	add(`<p>Entity &#%d;%s and &#x%x;%s.</p>`, n[0], n[1:], m[0], m[1:])
	add(`<p>Soft %s&shy;%s<wbr>&#8203;%s.</p>`, e, f, h)
	add(`<p>Comment %s<!-- x -->%s<!-- y -->%s.</p>`, k, l, o)
	add(`<!-- %s --><!--[if IE]><p>%s</p><![endif]-->`, g.at("comment"), g.at("conditional comment"))
	st := g.at("style of an element, escaped")
	add(`<p title="%s" data-n="%s" aria-label='%s' style="--n:'%s';--m:'%s\2d %s'">Attributes</p>`, g.at("title of an element"), g.at("data of an element"), g.at("label of an element"), g.at("style of an element"), st[:3], st[4:])
	add(`<img alt="%s" src="data:image/png;base64,%s"><p hidden>%s</p>`, g.at("alternative text"), base64.StdEncoding.EncodeToString(picture("of "+g.at("note in a picture"))), g.at("hidden text"))
	add(`<a href="data:text/plain;base64,%s">file</a><a href="data:text/plain,%s">file</a>`, base64.StdEncoding.EncodeToString([]byte("this is "+g.at("file in base64")+" for you")), strings.ReplaceAll(url.QueryEscape("for "+g.at("file in percent signs")), "-", "%2D"))
	add(`<a href="https://a.example/?q=%s">link</a><a href="mailto:a@example.org?subject=%s">mail</a>`, g.at("target of a link"), strings.ReplaceAll(g.at("target of a link, escaped"), "-", "%2D"))
	add(`<form><input type="hidden" name="n" value="%s"><textarea>%s</textarea><select><option value="%s">%s</option></select><input placeholder="%s"></form>`, g.at("field"), g.at("area"), g.at("value of a choice"), g.at("choice"), g.at("hint of a field"))
	pw := g.at("page within, over elements")
	inner := "<svg xmlns='http://www.w3.org/2000/svg'><text>" + strings.Replace(g.at("drawing in base64"), "-", "<tspan>-</tspan>", 1) + "</text></svg>"
	add(`<div style="background:url(data:image/svg+xml;base64,%s)">x</div>`, base64.StdEncoding.EncodeToString([]byte(inner)))
	add(`<template><p>%s</p></template><noscript>%s</noscript><iframe srcdoc="&lt;p&gt;%s, %s&lt;b&gt;%s&lt;/b&gt;&lt;/p&gt;"></iframe>`, g.at("template"), g.at("noscript"), g.at("page within"), pw[:5], pw[5:])
	add(`<svg width="300" height="20"><title>%s</title><text y="15">%s</text></svg><math><annotation>%s</annotation></math>`, g.at("title of a drawing"), g.at("drawing"), g.at("note of a formula"))
	add(`<table><caption>%s</caption><tr><td>%s</td></tr></table><ruby>%s<rt>%s</rt></ruby></body></html>`, g.at("caption"), g.at("cell"), g.at("ruby"), g.at("reading of ruby"))
	return []byte(b.String())
}

// plantRTF is the contract as LibreOffice writes it.
func plantRTF(t testing.TB, g *garden) []byte {
	src, err := os.ReadFile("../../media/engine/legacy/testdata/contract.rtf")
	if err != nil {
		t.Fatal(err)
	}
	g.own("123-45-6789", "body over three groups")
	g.own("987-65-4321", "footnote")
	g.own("111-22-3333", "header")
	g.own("222-33-4444", "comment")
	g.own("555-66-7777", "tracked deletion")
	s := string(src)
	end := strings.LastIndex(s, `\par }`)
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, `\pard\plain `+format+`\par `+"\n", args...) }
	hexed := func(n string) string {
		var h strings.Builder
		for _, c := range n {
			fmt.Fprintf(&h, `\'%02x`, c)
		}
		return h.String()
	}
	n := g.at("characters of Unicode")
	x, y, z := split(g.at("groups"))
	p, q, r := split(g.at("control words"))
	u, v, w := split(g.at("lines of the source"))
	d, e, f := split(g.at("soft hyphens and joiners"))
	add("Hexadecimal %s", hexed(g.at("hexadecimal")))
	add(`Unicode \uc1\u%d?%s`, n[0], n[1:])
	add(`Groups %s{\b %s}{\i %s}`, x, y, z)
	add(`Words %s\b %s\b0\i %s\i0`, p, q, r)
	add("Lines %s\r\n%s\n%s", u, v, w)
	add(`Soft %s\-%s\zwj %s`, d, e, f)
	add(`Hidden {\v %s}`, g.at("hidden text"))
	add(`Field {\field{\*\fldinst HYPERLINK "https://a.example/?q=%s"}{\fldrslt a link}} {\field{\*\fldinst QUOTE "%s"}{\fldrslt %s}}`, g.at("target of a link"), g.at("code of a field"), g.at("result of a field"))
	add(`Mark {\*\bkmkstart b%s}x{\*\bkmkend b} {\xe %s}`, g.at("bookmark"), g.at("entry of an index"))
	add(`Unknown {\*\unheardof %s}`, g.at("group that nobody knows"))
	add(`Shape {\shp{\*\shpinst\shpleft0\shptop0\shpright4000\shpbottom500{\sp{\sn shapeType}{\sv 202}}{\sp{\sn wzDescription}{\sv %s}}{\shptxt %s}}}`, g.at("alternative text"), g.at("text box"))
	add(`Picture {\pict\pngblip\picw8\pich8 %s}`, hex.EncodeToString(picture("of "+g.at("note in a picture"))))
	s = s[:end] + `\par ` + b.String() + s[end:]
	s = strings.Replace(s, `{\info`, `{\*\userprops{\propname Own}\proptype30{\staticval `+g.at("own property")+`}}{\info{\keywords `+g.at("keywords")+`}{\doccomm `+g.at("remark")+`}`, 1)
	s = strings.Replace(s, `{\stylesheet`, `{\*\docvar {n}{`+g.at("variable of the document")+`}}{\stylesheet`, 1)
	return []byte(s)
}

// plantRTFBytes has a picture as bytes, in which braces stand too.
func plantRTFBytes(t testing.TB, g *garden) []byte {
	raw := picture("of {" + g.at("note in a picture in bytes") + "}}}")
	return []byte(fmt.Sprintf(`{\rtf1\ansi One %s{\pict\pngblip\picw8\pich8\bin%d %s}\par }`, g.at("body"), len(raw), raw))
}
