package text

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	xhtml "golang.org/x/net/html"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
)

// dropped elements go with everything within.
var dropped = []string{"script", "iframe", "object", "embed", "applet", "frame", "frameset", "noframes", "portal", "base", "foreignobject", "handler", "listener"}

// fetching attributes load what they name without a click.
var fetching = []string{"src", "srcset", "poster", "background", "data", "lowsrc", "dynsrc", "manifest", "ping", "imagesrcset", "longdesc", "profile"}

var (
	remoteStyle = regexp.MustCompile(`(?i)@import|expression\s*\(|javascript:|behavior\s*:|-moz-binding|url\(\s*["']?\s*(?:[a-z][a-z0-9+.-]*:)?//|url\(\s*["']?\s*file:`)
	blanks      = regexp.MustCompile(`[\s\x00-\x20]+`)
)

func sanitize(ctx context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	out, n := stripHidden(f.src)
	if n > 0 {
		f.warn("Removed %d control or hidden characters.", n)
	}
	removed := map[string]int{}
	switch r.In.MIME {
	case "text/html", "image/svg+xml", "application/xml":
		out = safeMarkup(out, removed)
	case "text/csv", "text/tab-separated-values":
		if out, err = safeTable(r, out, removed); err != nil {
			return media.Result{}, err
		}
	case "text/markdown":
		if slices.ContainsFunc(tokens(out), func(t token) bool { return slices.Contains(dropped, t.name) }) {
			f.warn("It holds HTML elements such as <script>; a renderer must not let them through. They stay, because they may be quoted code.")
		}
	}
	total := n
	for _, what := range sortedKeys(removed) {
		f.warn("Removed %d × %s.", removed[what], what)
		total += removed[what]
	}
	f.counts.Removed = total
	if total == 0 {
		f.warn("There was nothing to remove.")
	}
	if err := ctx.Err(); err != nil {
		return media.Result{}, err
	}
	return f.done(out)
}

func sortedKeys(m map[string]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// safeMarkup takes away what acts or fetches; all else stays byte for byte.
func safeMarkup(src string, removed map[string]int) string {
	var b strings.Builder
	until, depth := "", 0 // of an element that is being dropped
	for _, t := range tokens(src) {
		tag := t.kind == xhtml.StartTagToken || t.kind == xhtml.EndTagToken || t.kind == xhtml.SelfClosingTagToken
		if until != "" {
			switch {
			case tag && t.name == until && t.kind == xhtml.StartTagToken:
				depth++
			case tag && t.name == until && t.kind == xhtml.EndTagToken:
				if depth--; depth == 0 {
					until = ""
				}
			}
			continue
		}
		switch {
		case tag && slices.Contains(dropped, t.name):
			if t.kind != xhtml.EndTagToken {
				removed["<"+t.name+">"]++
			}
			if t.kind == xhtml.StartTagToken && t.name != "base" && t.name != "embed" && t.name != "frame" {
				until, depth = t.name, 1
			}
		case t.kind == xhtml.StartTagToken || t.kind == xhtml.SelfClosingTagToken:
			b.WriteString(safeTag(t, removed))
		case t.kind == xhtml.TextToken && t.rawChild && remoteStyle.MatchString(t.raw):
			removed["style that fetches"]++
		case t.kind == xhtml.DoctypeToken && strings.Contains(t.raw, "["), t.kind == xhtml.CommentToken && strings.HasPrefix(strings.ToLower(t.raw), "<?xml-stylesheet"), t.kind == xhtml.CommentToken && strings.HasPrefix(strings.ToUpper(t.raw), "<!ENTITY"):
			removed["declaration that fetches or defines entities"]++
		default:
			b.WriteString(t.raw)
		}
	}
	return b.String()
}

// safeTag returns a tag without the attributes that act or fetch, or "" for one that does nothing else.
func safeTag(t token, removed map[string]int) string {
	as := attrs(t.raw)
	value := func(a attr) string {
		if a.valFrom < 0 {
			return ""
		}
		return html.UnescapeString(t.raw[a.valFrom:a.valTo])
	}
	for _, a := range as {
		v := strings.ToLower(strings.TrimSpace(value(a)))
		switch {
		case t.name == "meta" && a.name == "http-equiv" && v == "refresh",
			t.name == "link" && a.name == "rel" && !slices.Contains([]string{"canonical", "license", "author", "alternate", "next", "prev", "help"}, v),
			(t.name == "set" || strings.HasPrefix(t.name, "animate")) && a.name == "attributename" && (strings.HasSuffix(v, "href") || strings.HasPrefix(v, "on")):
			removed["<"+t.name+">"]++
			return ""
		}
	}
	out := t.raw
	for i := len(as) - 1; i >= 0; i-- {
		if why := unsafe(t.name, as[i].name, value(as[i])); why != "" {
			removed[why]++
			from := as[i].from
			for from > 0 && strings.IndexByte(" \t\r\n\f", out[from-1]) >= 0 {
				from--
			}
			out = out[:from] + out[as[i].to:]
		}
	}
	return out
}

// unsafe says why an attribute must go, or "".
func unsafe(tag, name, value string) string {
	v := strings.ToLower(blanks.ReplaceAllString(value, ""))
	link := name == "href" || strings.HasSuffix(name, ":href") || name == "action" || name == "formaction"
	remote := strings.HasPrefix(v, "//") || strings.HasPrefix(v, `\\`) || strings.Contains(v, "://") && !strings.HasPrefix(v, "data:")
	switch {
	case strings.HasPrefix(name, "on"):
		return "event handler"
	case name == "srcdoc":
		return "embedded document"
	case strings.HasPrefix(v, "javascript:") || strings.HasPrefix(v, "vbscript:") || (link || slices.Contains(fetching, name)) && (strings.HasPrefix(v, "data:text/html") || strings.HasPrefix(v, "data:image/svg") || strings.HasPrefix(v, "data:application/x") || strings.HasPrefix(v, "data:text/xml")):
		return "script in an attribute"
	case name == "style" && remoteStyle.MatchString(value):
		return "style that fetches"
	case slices.Contains(fetching, name) && remote, link && tag != "a" && tag != "area" && name != "action" && name != "formaction" && remote:
		return "remote reference"
	case name == "style" || !strings.Contains(name, ":") && name != "fill" && name != "filter" && name != "mask" && name != "clip-path":
		return ""
	case remoteStyle.MatchString(value):
		return "remote reference"
	}
	return ""
}

// safeTable marks cells as text that a spreadsheet program would take for formulas.
func safeTable(r *media.Request, src string, removed map[string]int) (string, error) {
	t, sep, err := data.ReadCSV(&media.Payload{Data: []byte(src), MIME: r.In.MIME, Name: r.In.Name}, r.Limits)
	if err != nil {
		return "", err
	}
	changed := false
	for _, row := range t {
		for i, c := range row {
			if c != "" && strings.IndexByte("=+-@\t\r", c[0]) >= 0 {
				if _, err := strconv.ParseFloat(strings.ReplaceAll(c, ",", "."), 64); err != nil {
					row[i] = "'" + c
					removed[fmt.Sprintf("formula (now text, with a %q before it)", "'")]++
					changed = true
				}
			}
		}
	}
	if !changed {
		return src, nil
	}
	return string(data.WriteCSV(t, sep)), nil
}
