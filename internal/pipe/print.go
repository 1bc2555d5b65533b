package pipe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Print writes a plan as a statement in its canonical form: words of verbs apart, arguments in the order of the table,
// runs of numbers as ranges, text bare where that reads back as the same text. Parse reads an equal plan back.
// Errors: *Error with code UnknownVerb, UnknownArg or NotExpressible.
func (l *Language) Print(p Plan) (string, error) {
	parts := make([]string, 0, len(p.Steps))
	for i := range p.Steps {
		s, err := l.printStep(&p.Steps[i])
		if err != nil {
			err.Step = i + 1
			return "", err
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " | "), nil
}

func (l *Language) printStep(s *Step) (string, *Error) {
	v, ok := l.Verb(s.Verb)
	if !ok {
		return "", &Error{Code: UnknownVerb, Verb: s.Verb, Message: fmt.Sprintf("there is no verb %s.", quoted(s.Verb))}
	}
	var b strings.Builder
	b.WriteString(spoken(v.ID))
	n := 0
	for i := range v.Params {
		val, ok := s.Args[v.Params[i].Name]
		if !ok {
			continue
		}
		n++
		text, ok := printValue(val)
		if !ok {
			return "", &Error{Code: NotExpressible, Verb: v.ID, Arg: v.Params[i].Name,
				Message: fmt.Sprintf("%s %s: a value of type %T has no form in a statement.", spoken(v.ID), v.Params[i].Name, val)}
		}
		b.WriteString(" " + v.Params[i].Name + "=" + text)
	}
	if n != len(s.Args) {
		for name := range s.Args {
			if _, ok := v.Param(name); !ok {
				return "", &Error{Code: UnknownArg, Verb: v.ID, Arg: name, Message: fmt.Sprintf("%s takes no %s.", spoken(v.ID), quoted(name))}
			}
		}
	}
	return b.String(), nil
}

func printValue(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return textOf(v), true
	case float64:
		return format(v), v >= 0
	case bool:
		return fmt.Sprint(v), true
	case Ints:
		var parts []string
		for _, r := range v {
			if r.Lo == r.Hi {
				parts = append(parts, fmt.Sprint(r.Lo))
			} else {
				parts = append(parts, fmt.Sprintf("%d-%d", r.Lo, r.Hi))
			}
		}
		return strings.Join(parts, ","), len(parts) > 0
	case []string:
		return list(v, textOf)
	case []Match:
		return list(v, func(m Match) string {
			if m.Source != "" {
				return regexText(m.Source, m.Flags)
			}
			return textOf(m.Text)
		})
	case NameOrIndex:
		if v.Index > 0 {
			return fmt.Sprint(v.Index), true
		}
		return textOf(v.Name), v.Name != ""
	case MediaID:
		return refText(string(v)), v != "" && utf8.ValidString(string(v))
	case []MediaID:
		return list(v, func(id MediaID) string { return refText(string(id)) })
	case json.RawMessage:
		return jsonText(v), json.Valid(v)
	}
	return "", false
}

func list[T any](v []T, one func(T) string) (string, bool) {
	parts := make([]string, len(v))
	for i := range v {
		parts[i] = one(v[i])
	}
	return strings.Join(parts, ","), len(parts) > 0
}

var bareRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// textOf writes a text bare where it reads back as the same text.
func textOf(s string) string {
	if bareRule.MatchString(s) && s != "true" && s != "false" {
		return s
	}
	return quote(s)
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

func quote(s string) string { return `"` + quoter.Replace(s) + `"` }

var singleQuoter = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// jsonText writes a JSON value: numbers and words bare, all else in single quotes.
func jsonText(raw json.RawMessage) string {
	return `'` + singleQuoter.Replace(string(raw)) + `'`
}

func refText(id string) string {
	if refRule.MatchString("@" + id) {
		return "@" + id
	}
	return "@" + quote(id)
}

// regexText writes an expression; slashes get the backslash that a statement needs.
func regexText(source, flags string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\' && i+1 < len(source):
			b.WriteByte(c)
			i++
			b.WriteByte(source[i])
		case c == '/':
			b.WriteString(`\/`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString("/" + flags)
	return b.String()
}
