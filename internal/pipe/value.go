package pipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// item is one scalar of either front: a token of a statement or a value of structured operations.
type item struct {
	kind   Kind // Ident (bare text), Int, Float, Range, String, Regex, Ref; Equals for a structured value
	text   string
	flags  string
	json   json.RawMessage // of a structured value
	ops    bool            // it comes from structured operations
	bool   bool            // it is true or false
	quoted bool
	raw    string // of a String of a statement, before escapes
}

func tokenItem(t Token) item {
	return item{raw: t.Raw, kind: t.Kind, text: t.Text, flags: t.Flags, quoted: t.Kind == String, bool: t.Kind == Ident && (t.Text == "true" || t.Text == "false")}
}

// jsonArg makes an argument of a JSON value; an array is a list of its elements.
func jsonArg(name string, raw json.RawMessage) Arg {
	a := Arg{Name: name}
	var list []json.RawMessage
	if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
		a.list = true
		for _, e := range list {
			a.given = append(a.given, jsonItem(e))
		}
		// A JSON argument wants the array itself.
		a.given = append(a.given, item{kind: EOF, json: raw})
		return a
	}
	a.given = []item{jsonItem(raw)}
	return a
}

func jsonItem(raw json.RawMessage) item {
	it := item{ops: true, json: raw}
	switch c := raw[0]; {
	case c == '"':
		it.kind, it.quoted = String, true
		if err := json.Unmarshal(raw, &it.text); err != nil {
			it.text = string(raw)
		}
	case c == 't' || c == 'f':
		it.kind, it.text, it.bool = Ident, string(raw), true
	case c == '-' || c >= '0' && c <= '9':
		it.kind, it.text = Float, string(raw)
		if intRule.Match(raw) {
			it.kind = Int
		}
	default:
		it.kind, it.text = Equals, string(raw)
		var m struct {
			Regex string  `json:"regex"`
			Flags string  `json:"flags"`
			Text  *string `json:"text"`
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if c == '{' && dec.Decode(&m) == nil && (m.Regex != "" || m.Text != nil) {
			if m.Text != nil {
				it.kind, it.text, it.ops = String, *m.Text, false
			} else {
				it.kind, it.text, it.flags = Regex, m.Regex, m.Flags
			}
		}
	}
	return it
}

// problem is what is wrong with a value, with a value that would be right.
type problem struct{ text, use string }

func wrong(format string, args ...any) *problem { return &problem{text: fmt.Sprintf(format, args...)} }

func (it *item) shown() string {
	switch it.kind {
	case Regex:
		return "a regular expression"
	case Ref:
		return "@" + it.text
	case Equals:
		return quoted(it.text)
	}
	if it.quoted {
		return quoted(it.text)
	}
	return it.text
}

// value turns the items of an argument into the value of a plan.
func (p *Param) value(items []item, list bool) (any, *problem) {
	whole := items
	if list {
		whole, items = items[len(items)-1:], items[:len(items)-1]
		if len(items) == 0 && p.Type != JSON && p.Type != Any {
			return nil, wrong("an empty list says nothing.")
		}
	}
	switch p.Type {
	case Numbers:
		return p.numbers(items)
	case Texts:
		return p.texts(items)
	case Matches:
		return p.matches(items)
	case MediaList:
		var out []MediaID
		for i := range items {
			id, bad := items[i].media()
			if bad != nil {
				return nil, bad
			}
			out = append(out, id)
		}
		return out, nil
	case JSON, Any:
		items = whole
	}
	if len(items) > 1 {
		return nil, wrong("it takes one value, not a list of %d.", len(items))
	}
	it := &items[0]
	switch p.Type {
	case Text:
		return p.oneText(it)
	case Number:
		return p.number(it)
	case Bool:
		if !it.bool {
			return nil, wrong("want true or false, got %s.", it.shown())
		}
		return it.text == "true", nil
	case Enum:
		s, bad := p.oneText(it)
		if bad != nil {
			return nil, bad
		}
		return s, p.inEnum(s)
	case Name:
		return p.name(it)
	case Media:
		return it.mediaValue()
	case JSON:
		return it.structured()
	}
	return it.anyValue()
}

func (p *Param) oneText(it *item) (string, *problem) {
	switch {
	case it.bool && p.Type != Enum:
		return "", &problem{fmt.Sprintf("%s without quotes is true or false, and this is a text. Quote it.", it.text), quote(it.text)}
	case it.kind == Ident || it.kind == Int || it.kind == Float || it.kind == String:
		return it.text, nil
	case it.kind == Range:
		return "", &problem{fmt.Sprintf("%s is a range, and this is a text. Quote it.", it.text), quote(it.text)}
	case it.kind == Regex:
		s := "/" + it.text + "/" + it.flags
		return "", &problem{"a regular expression is not possible here, only text. Quote it.", quote(s)}
	case it.kind == Ref:
		return "", &problem{fmt.Sprintf("@%s is a media id, and this is a text. Quote it.", it.text), quote("@" + it.text)}
	}
	return "", wrong("want a text, got %s.", it.shown())
}

func (p *Param) inEnum(s string) *problem {
	if slices.Contains(p.Enum, s) {
		return nil
	}
	if l := strings.ToLower(s); slices.Contains(p.Enum, l) {
		return &problem{fmt.Sprintf("%s is written %s.", quoted(s), l), l}
	}
	pr := &problem{text: fmt.Sprintf("%s is none of %s.", quoted(s), strings.Join(p.Enum, ", "))}
	if best := near(s, p.Enum, false); len(best) > 0 {
		pr.use = best[0]
	}
	return pr
}

func (p *Param) number(it *item) (float64, *problem) {
	if it.kind != Int && it.kind != Float {
		pr := wrong("want a number, got %s.", it.shown())
		if it.quoted && (intRule.MatchString(it.text) || floatRule.MatchString(it.text)) {
			pr.use = it.text
		}
		return 0, pr
	}
	f, err := strconv.ParseFloat(it.text, 64)
	switch {
	case err != nil:
		return 0, wrong("%s is no number that can be used.", it.text)
	case p.Whole && f != float64(int64(f)):
		return 0, wrong("want a whole number, got %s.", it.text)
	case (p.Min != 0 || p.Max != 0) && (f < p.Min || f > p.Max):
		return 0, wrong("want a number from %s to %s, got %s.", format(p.Min), format(p.Max), it.text)
	}
	return f, nil
}

func (p *Param) numbers(items []item) (any, *problem) {
	var n Ints
	count := 0
	for i := range items {
		it := &items[i]
		var lo, hi int
		switch {
		case it.kind == Int && len(it.text) <= 15:
			lo, _ = strconv.Atoi(it.text)
			hi = lo
		case it.kind == Range:
			lo, hi = bounds(it.text)
		case it.ops && it.kind == String && rangeRule.MatchString(it.text):
			if lo, hi = bounds(it.text); lo > hi || lo < 0 {
				return nil, wrong("the range %s runs backwards or is too large.", it.text)
			}
		case it.kind == Float:
			return nil, wrong("want whole numbers, got %s.", it.text)
		default:
			return nil, wrong("want numbers such as 1-3,5, got %s.", it.shown())
		}
		if float64(lo) < p.Min {
			return nil, wrong("numbers start at %s, got %d.", format(p.Min), lo)
		}
		if count += hi - lo + 1; count > MaxItems {
			return nil, wrong("more than %d numbers.", MaxItems)
		}
		n = n.add(lo, hi)
	}
	return n, nil
}

func (p *Param) texts(items []item) (any, *problem) {
	var out []string
	for i := range items {
		s, bad := p.oneText(&items[i])
		if bad == nil && len(p.Enum) > 0 {
			bad = p.inEnum(s)
		}
		if bad != nil {
			if len(items) > 1 {
				bad.use = ""
			}
			return nil, bad
		}
		out = append(out, s)
	}
	return out, nil
}

func (p *Param) matches(items []item) (any, *problem) {
	var out []Match
	for i := range items {
		it := &items[i]
		m := Match{Text: it.text}
		switch {
		case it.kind == Regex:
			s, bad := expression(it.text, it.flags)
			if bad != nil {
				return nil, bad
			}
			m = s
		case it.ops && it.kind == String && strings.HasPrefix(it.text, "/"):
			// Only a whole expression counts as one: "/usr/bin" is a text.
			if toks, err := Tokens(it.text); err == nil && len(toks) == 2 && toks[0].Kind == Regex {
				m = Match{Source: toks[0].Text, Flags: toks[0].Flags}
			}
		default:
			s, bad := p.oneText(it)
			if bad != nil {
				return nil, bad
			}
			if s == "" {
				return nil, wrong("an empty text matches everywhere.")
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// expression checks that an expression can be written in a statement.
func expression(source, flags string) (Match, *problem) {
	source = plainSlashes(strings.ReplaceAll(strings.ReplaceAll(source, "\\\n", "\n"), "\n", `\n`))
	sorted, bad := sortFlags(flags)
	if bad != "" {
		return Match{}, wrong("%s", bad)
	}
	toks, err := Tokens(regexText(source, sorted))
	if err != nil || len(toks) != 2 || toks[0].Kind != Regex || toks[0].Text != source || toks[0].Flags != sorted {
		return Match{}, wrong("%s is no whole regular expression; is a [ or \\ left open?", quoted(source))
	}
	return Match{Source: source, Flags: sorted}, nil
}

func (p *Param) name(it *item) (any, *problem) {
	switch {
	case it.kind == Int && len(it.text) <= 9:
		n, _ := strconv.Atoi(it.text)
		if n < 1 {
			return nil, wrong("numbers start at 1, got %s.", it.text)
		}
		return NameOrIndex{Index: n}, nil
	case it.kind == Ident && !it.bool || it.kind == String:
		if it.text == "" {
			return nil, wrong("the name is empty.")
		}
		return NameOrIndex{Name: it.text}, nil
	}
	pr := wrong("want a number from 1, or a name in quotes, got %s.", it.shown())
	if !it.ops && it.kind != Regex && it.kind != Ref {
		pr.use = quote(it.text)
	}
	return nil, pr
}

func (it *item) media() (MediaID, *problem) {
	id := it.text
	switch {
	case it.kind == Ref:
	case it.ops && it.kind == String:
		id = strings.TrimPrefix(id, "@")
	case it.kind == Ident || it.kind == String || it.kind == Int:
		return "", &problem{fmt.Sprintf("want a media id, which begins with @, got %s.", it.shown()), refText(id)}
	default:
		return "", wrong("want a media id such as @a1b2, got %s.", it.shown())
	}
	if id == "" || !utf8.ValidString(id) {
		return "", wrong("the media id is empty.")
	}
	return MediaID(id), nil
}

func (it *item) mediaValue() (any, *problem) {
	id, bad := it.media()
	if bad != nil {
		return nil, bad
	}
	return id, nil
}

// wrapped returns what stands in {"$json": …}, the form that a plan prints so that nothing is taken for text.
func wrapped(raw json.RawMessage) (json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &m) != nil || len(m) != 1 {
		return nil, false
	}
	v, ok := m["$json"]
	return v, ok
}

func (it *item) structured() (any, *problem) {
	raw := it.json
	switch {
	case raw != nil && it.kind != String:
		if w, ok := wrapped(raw); ok {
			raw = w
		}
	case it.kind == String:
		raw = json.RawMessage(it.text)
	default:
		return nil, &problem{text: fmt.Sprintf("want JSON in single quotes, got %s.", it.shown())}
	}
	out, err := compact(raw)
	if err != nil {
		if own, ok := it.unescaped(); ok {
			return own, nil
		}
		return nil, wrong("not valid JSON (%s).", err)
	}
	return out, nil
}

// unescaped reads JSON whose own backslashes were written once: '{"a":"x \"y\""}'. It counts only where the text after
// escapes is no JSON, so nothing that is right is read in another way.
func (it *item) unescaped() (json.RawMessage, bool) {
	if it.raw == "" {
		return nil, false
	}
	out, err := compact(json.RawMessage(it.raw))
	return out, err == nil
}

func (it *item) anyValue() (any, *problem) {
	text := it.text
	switch {
	case it.ops && it.kind == String:
		// A text of structured operations is a text, unless it is a whole object or array.
		if t := strings.TrimSpace(text); t == "" || t[0] != '{' && t[0] != '[' {
			return stringJSON(text), nil
		}
	case it.json != nil && it.kind != String:
		raw := it.json
		if w, ok := wrapped(raw); ok {
			raw = w
		}
		out, err := compact(raw)
		if err != nil {
			return nil, wrong("not valid JSON (%s).", err)
		}
		return out, nil
	case it.kind == Regex:
		return stringJSON("/" + text + "/" + it.flags), nil
	case it.kind == Ref:
		return stringJSON("@" + text), nil
	}
	if out, err := compact(json.RawMessage(text)); err == nil {
		return out, nil
	}
	if t := strings.TrimSpace(it.raw); t != "" && (t[0] == '{' || t[0] == '[' || t[0] == '"') {
		if own, ok := it.unescaped(); ok {
			return own, nil
		}
	}
	return stringJSON(text), nil
}

func stringJSON(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// maxDepth bounds nesting of JSON values.
const maxDepth = 200

// compact returns JSON without blanks, its numbers and order as written.
func compact(raw json.RawMessage) (json.RawMessage, error) {
	depth, in := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case in && c == '\\':
			i++
		case c == '"':
			in = !in
		case !in && (c == '[' || c == '{'):
			if depth++; depth > maxDepth {
				return nil, fmt.Errorf("nested deeper than %d", maxDepth)
			}
		case !in && (c == ']' || c == '}'):
			depth--
		}
	}
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("not UTF-8")
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		var se *json.SyntaxError
		if errors.As(err, &se) && se.Offset == 0 {
			return nil, fmt.Errorf("it ends at byte %d, unfinished", len(raw))
		} else if se != nil {
			return nil, fmt.Errorf("%s at byte %d", se.Error(), max(se.Offset, 1))
		}
		return nil, err
	}
	return b.Bytes(), nil
}

func format(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
