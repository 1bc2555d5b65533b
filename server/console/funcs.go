package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server/internal/access"
)

// funcs are the functions of the templates. Those of the first group are the only ways to print a value (a test holds the
// templates to them).
func (c *Console) funcs() template.FuncMap {
	return template.FuncMap{
		// What others wrote.
		"line":  func(s any) template.HTML { return marked(show.Line(fmt.Sprint(s))) },
		"text":  func(s any) template.HTML { return marked(show.Text(fmt.Sprint(s))) },
		"cut":   cutLine,
		"shown": func(s string) template.HTML { return marked(s) }, // escaped by show already
		"cutshown": func(width int, s string) template.HTML {
			out, _ := show.Cut(s, width)
			return marked(out)
		},
		"jsonOf": func(v any) template.HTML {
			b, err := json.Marshal(v)
			if err != nil {
				return ""
			}
			return marked(show.Text(pretty(b)))
		},
		"json":  func(v json.RawMessage) template.HTML { return marked(show.Text(pretty(v))) },
		"plain": func(s any) string { return show.Line(fmt.Sprint(s)) }, // for attributes
		// What stands in the fields of forms goes back as it came: a browser shows a field as text, and it is sent again.
		"value": func(s any) string { return fmt.Sprint(s) },
		// What this program made.
		"num":    number,
		"bytes":  byteSize,
		"ms":     duration,
		"count":  count,
		"stamp":  func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"when":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"ago":    func(t time.Time) string { return ago(c.cfg.Now(), t) },
		"url":    link,
		"query":  withQuery,
		"asset":  c.files.url,
		"csrf":   func() string { return access.CSRFField },
		"series": series,
		"own":    func(s any) string { return fmt.Sprint(s) }, // words of this program

		// These print nothing.
		"class":     className,
		"effect":    effectClass,
		"diff":      func(s string) []diffFile { return parseDiff(show.Text(s), shortDiff) },
		"viewed":    func(s string) []diffFile { return parseDiff(s, shortDiff) }, // escaped by show already
		"whole":     func(s string) []diffFile { return parseDiff(s, 0) },
		"wholeRaw":  func(s string) []diffFile { return parseDiff(show.Text(s), 0) },
		"viewKind":  viewKind,
		"preferred": preferred,
		"hunk":      func(s string) []diffLine { return parseHunk(s) },
		"dict":      dict,
		"first":     firstOf,
		"inside":    inside,
		"odd":       func(s string) string { return show.Inspect(s).String() },
		"hasText":   func(s string) bool { return strings.TrimSpace(s) != "" },
		"add":       func(a, b int) int { return a + b },
		"list":      func(s ...string) []string { return s },
		"head":      head,
	}
}

// escape is how internal/show writes what could not be seen.
var escape = regexp.MustCompile(`\\[ux]\{[0-9A-F]+(\*[0-9]+)?\}`)

// marked turns text that internal/show has escaped into HTML in which the escapes stand out.
func marked(escaped string) template.HTML {
	s := template.HTMLEscapeString(escaped)
	if strings.Contains(s, `\u{`) || strings.Contains(s, `\x{`) {
		s = escape.ReplaceAllString(s, `<b class="esc">$0</b>`)
	}
	return template.HTML(s)
}

func cutLine(width int, s any) template.HTML {
	out, _ := show.Cut(show.Line(fmt.Sprint(s)), width)
	return marked(out)
}

// shortText is how many lines of a text stand on a page before it must be opened.
const shortText = 120

// headed is the beginning and the end of a text, with what is missing between.
type headed struct {
	Text    string
	Missing int
}

// head shortens a text.
func head(s string) headed {
	text, missing := show.Lines(s, shortText)
	return headed{text, missing}
}

// pretty indents JSON without changing what it says; what is no JSON stays.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// number writes a number with thin groups of three.
func number(v any) string {
	var s string
	switch v := v.(type) {
	case int:
		s = strconv.Itoa(v)
	case int64:
		s = strconv.FormatInt(v, 10)
	case float64:
		s = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return "?"
	}
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "\u202f" + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}

func toFloat(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

func byteSize(v any) string {
	n := toFloat(v)
	for _, unit := range []string{"B", "KB", "MB", "GB"} {
		if n < 1024 || unit == "GB" {
			if unit == "B" || n >= 100 {
				return fmt.Sprintf("%.0f %s", n, unit)
			}
			return fmt.Sprintf("%.1f %s", n, unit)
		}
		n /= 1024
	}
	return ""
}

// duration writes milliseconds.
func duration(ms float64) string {
	switch {
	case ms < 1:
		return fmt.Sprintf("%.0f µs", ms*1000)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 60_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return (time.Duration(ms) * time.Millisecond).Round(time.Second).String()
}

// count writes "1 call", "2 calls".
func count(n any, one, many string) string {
	if toFloat(n) == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// ago says how long something is past, or how far ahead.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	form := "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	switch {
	case d < 5*time.Second:
		return "now"
	case d < 2*time.Minute:
		return fmt.Sprintf(form, fmt.Sprintf("%d s", int(d.Seconds())))
	case d < 2*time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d min", int(d.Minutes())))
	case d < 48*time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d h", int(d.Hours())))
	}
	return fmt.Sprintf(form, fmt.Sprintf("%d d", int(d.Hours()/24)))
}

// link joins a path of ours and segments that others named.
func link(base string, segments ...any) string {
	for _, s := range segments {
		base += "/" + url.PathEscape(fmt.Sprint(s))
	}
	return base
}

// withQuery puts parameters behind a path; those without a value are left out.
func withQuery(path string, pairs ...any) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v := fmt.Sprint(pairs[i+1])
		if t, ok := pairs[i+1].(time.Time); ok {
			v = t.UTC().Format(time.RFC3339Nano)
		}
		if v != "" && v != "0" {
			q.Set(fmt.Sprint(pairs[i]), v)
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// className returns a word as a name of a style: small letters and "-" only.
func className(s any) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '-' {
			return r
		}
		return -1
	}, strings.ToLower(fmt.Sprint(s)))
}

// effectClass says how much care an effect, or a class of one, wants: calm, care or alarm.
func effectClass(s any) string {
	switch e := fmt.Sprint(s); {
	case e == "write-protected", e == "read-secret", e == "config", e == "external", e == "exec-host", e == "write-out":
		return "alarm"
	case strings.HasPrefix(e, "write"), strings.HasPrefix(e, "exec"), strings.HasPrefix(e, "delete"), e == "net-new", e == "network":
		return "care"
	}
	return "calm"
}

// dict makes a map for a part of a page from names and values.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}

// firstOf returns the first text that is not empty.
func firstOf(s ...any) string {
	for _, v := range s {
		if t := fmt.Sprint(v); t != "" {
			return t
		}
	}
	return ""
}

// preferred returns the scope that is chosen where a person says "always": what is like it until the session ends, else the
// narrowest that holds longer than a turn.
func preferred(offers []ask.Offer) ask.Scope {
	for _, want := range []ask.Scope{ask.Like, ask.Session, ask.Project} {
		for _, o := range offers {
			if o.Scope == want {
				return want
			}
		}
	}
	return ""
}

// inside shortens a path below a folder to what comes behind the folder.
func inside(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/"); ok && rest != "" {
		return rest
	}
	return path
}
