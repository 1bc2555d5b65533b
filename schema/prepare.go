package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Prepare mends raw where that loses nothing, checks it, and says what stays wrong. The error is a *[SyntaxError]: raw is
// not one whole JSON object, and nothing may run. Valid arguments come back as the same bytes, with one exception: a whole
// number with a fraction or exponent (5.0) is spelled as an integer, because Go reads no other form.
//
// These repairs exist, each only where the value does not validate as it stands:
// an empty text or null for {}; code fences around the object; an object encoded as a string; an array or object sent as
// a string; a number or boolean sent as a string; null for an absent optional; a single value for an array of it; the
// names of [Aliases] and other spellings of our own. A repeated name, a truncated object, a number with extra characters
// and a misspelled name are never repaired.
func (c *Checker) Prepare(raw []byte) (Prepared, error) {
	w := walker{path: make([]segment, 0, 8)}
	text, err := w.unwrap(raw)
	if err != nil {
		return Prepared{Args: raw}, err
	}
	doc, err := scan(text)
	if err != nil {
		return Prepared{Args: raw}, err
	}
	w.doc = doc
	switch {
	case doc.tokens[0].kind != kindObject:
		w.add(Problem{Kind: Wrong, Expected: "an object", Example: "{}",
			Message: fmt.Sprintf("The arguments must be one JSON object, but are %s: %s.", kindPhrase(doc.tokens[0].kind), quote(doc.text(0)))})
	case len(doc.twice) > 0:
		w.repeated(doc)
	default:
		w.value(c.root, 0)
	}
	out := Prepared{Args: doc.apply(), Repairs: w.repairs, Problems: w.problems}
	if c.resolved != nil && len(out.Problems) == 0 {
		out.Problems = c.other(out.Args)
	}
	if w.more > 0 {
		out.Problems = append(out.Problems, Problem{Kind: Wrong, Message: fmt.Sprintf("There are %d more problems like these.", w.more)})
	}
	return out, nil
}

// maxUnwrap bounds how many fences and encodings around one object are removed.
const maxUnwrap = 4

// unwrap removes code fences and string encoding around the whole argument object.
func (w *walker) unwrap(raw []byte) ([]byte, error) {
	text := raw
	for range maxUnwrap {
		t := bytes.TrimSpace(text)
		switch {
		case len(t) == 0, string(t) == "null":
			w.repairs = append(w.repairs, Repair{What: "no arguments", From: quote(t), To: "{}"})
			return []byte("{}"), nil
		case bytes.HasPrefix(t, []byte("```")):
			inner, ok := unfence(t)
			if !ok {
				return nil, &SyntaxError{Truncated: true, Offset: int64(len(text)), Reason: "the closing code fence is missing"}
			}
			w.repairs = append(w.repairs, Repair{What: "code fences removed", From: quote(t), To: quote(inner)})
			text = inner
		case t[0] == '"':
			doc, err := scan(t)
			if err != nil {
				return nil, err
			}
			inner := bytes.TrimSpace(doc.decoded(0))
			if len(inner) > 0 && !bytes.ContainsAny(inner[:1], "{\"`") && string(inner) != "null" {
				return text, nil // a plain string: reported as not an object
			}
			w.repairs = append(w.repairs, Repair{What: "arguments were encoded twice", From: quote(t), To: quote(inner)})
			text = inner
		default:
			return text, nil
		}
	}
	return text, nil
}

// unfence returns what stands between ``` lines; the info word after the opening fence is dropped.
func unfence(t []byte) ([]byte, bool) {
	inner, ok := bytes.CutSuffix(t[3:], []byte("```"))
	if !ok {
		return nil, false
	}
	inner = bytes.TrimLeftFunc(inner, func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	})
	return bytes.TrimSpace(inner), true
}

// repeated reports names that stand twice in one object. Which value was meant is unclear, so nothing is repaired.
func (w *walker) repeated(d *document) {
	for _, t := range d.twice {
		path := w.pathTo(d, t)
		w.add(Problem{Path: path, Kind: Wrong, Expected: "each name once",
			Message: fmt.Sprintf("%s is given twice in one object, so it is unclear which value counts. Give it once.", path)})
	}
}

// pathTo finds the path of a token from the walker's place.
func (w *walker) pathTo(d *document, t int32) string {
	path := append([]segment(nil), w.path...)
	for u := int32(0); u != t; {
		c := u + 1
		for i := 0; d.tokens[c].next <= t; i++ {
			c = d.tokens[c].next
		}
		if d.tokens[u].kind == kindObject {
			path = append(path, segment{d.name(c), -1})
		} else {
			i := 0
			for k := u + 1; k != c; k = d.tokens[k].next {
				i++
			}
			path = append(path, segment{index: i})
		}
		u = c
	}
	return pathString(path)
}

// other asks jsonschema-go about the keywords that the walker does not check. Its error becomes one problem.
func (c *Checker) other(args []byte) []Problem {
	var v any
	err := json.Unmarshal(args, &v)
	if err == nil {
		err = c.resolved.Validate(v)
	}
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "validating root: "), "validating ", "")
	return []Problem{{Kind: Wrong, Message: "The arguments do not fit the schema: " + clipText(text, 4*clipRunes) + "."}}
}

func clipText(s string, runes int) string {
	n := 0
	for i := range s {
		if n == runes {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
