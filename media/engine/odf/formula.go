package odf

import "strings"

// excelFormula turns a formula of OpenDocument (of:=SUM([.A1:.B2];[$Data.C3])) into one of Excel, without the equals sign.
// Functions keep their names, which are mostly the same. A formula of another language gives "": its value stays.
func excelFormula(f string) string {
	if f == "" {
		return ""
	}
	lang, body, ok := strings.Cut(f, ":=")
	if ok && lang != "of" && lang != "oooc" && !strings.ContainsAny(lang, "=\"[(") {
		return ""
	}
	if !ok || strings.ContainsAny(lang, "=\"[(") {
		body = strings.TrimPrefix(f, "=")
	}
	var b strings.Builder
	depth := 0 // of { }
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '"':
			n := quoted(body[i:], '"')
			b.WriteString(body[i : i+n])
			i += n - 1
		case '[':
			n := bracketEnd(body[i:])
			b.WriteString(excelRef(body[i+1 : i+n-1]))
			i += n - 1
		case '{':
			depth++
			b.WriteByte(c)
		case '}':
			depth--
			b.WriteByte(c)
		case ';':
			b.WriteByte(',')
		case '|':
			if depth > 0 {
				b.WriteByte(';')
			} else {
				b.WriteByte(c)
			}
		case '~':
			b.WriteByte(',')
		case '!':
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// quoted returns the length of a quoted text, in which a doubled quote stands for one.
func quoted(s string, q byte) int {
	for i := 1; i < len(s); i++ {
		if s[i] == q {
			if i+1 < len(s) && s[i+1] == q {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(s)
}

// bracketEnd returns the length of a reference in brackets.
func bracketEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\'':
			i += quoted(s[i:], '\'') - 1
		case ']':
			return i + 1
		}
	}
	return len(s) + 1
}

// excelRef turns .A1:.B2 or $Data.A1:.B2 or 'My sheet'.A1 into what Excel writes.
func excelRef(s string) string {
	if s == "#REF!" {
		return s
	}
	sheet, first, rest := cutRef(s)
	out := ""
	if sheet != "" {
		out = quoteSheet(sheet) + "!"
	}
	out += first
	if rest != "" {
		other, second, _ := cutRef(rest)
		if other != "" && other != sheet {
			return "#REF!" // an area over several sheets has another form, which means another thing
		}
		out += ":" + second
	}
	return out
}

// cutRef takes the first address off a reference.
func cutRef(s string) (sheet, addr, rest string) {
	s = strings.TrimPrefix(s, "$")
	if strings.HasPrefix(s, "'") {
		n := quoted(s, '\'')
		sheet, s = strings.ReplaceAll(strings.Trim(s[:n], "'"), "''", "'"), s[n:]
	} else if i := strings.IndexByte(s, '.'); i >= 0 {
		sheet, s = s[:i], s[i:]
	}
	addr, rest, _ = strings.Cut(strings.TrimPrefix(s, "."), ":")
	return sheet, addr, rest
}

func quoteSheet(s string) string {
	plain := s != "" && (s[0] < '0' || s[0] > '9')
	for _, c := range s {
		plain = plain && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c > 0x7f)
	}
	if plain {
		if _, _, cell := parseCell(s); !cell {
			return s
		}
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// openFormula turns a formula of Excel into one of OpenDocument.
func openFormula(f string) string {
	var b strings.Builder
	b.WriteString("of:=")
	depth := 0
	for i := 0; i < len(f); {
		c := f[i]
		switch {
		case c == '"':
			n := quoted(f[i:], '"')
			b.WriteString(f[i : i+n])
			i += n
			continue
		case c == '\'' || c == '$' || c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c > 0x7f:
			n := word(f[i:])
			if ref, ok := openRef(f[i : i+n]); ok && (i+n >= len(f) || f[i+n] != '(') {
				b.WriteString(ref)
			} else {
				b.WriteString(f[i : i+n])
			}
			i += n
			continue
		case c >= '0' && c <= '9':
			n := 1
			for i+n < len(f) && strings.IndexByte("0123456789.eE", f[i+n]) >= 0 {
				n++
			}
			b.WriteString(f[i : i+n])
			i += n
			continue
		case c == '{':
			depth++
			b.WriteByte(c)
		case c == '}':
			depth--
			b.WriteByte(c)
		case c == ',':
			b.WriteByte(';')
		case c == ';' && depth > 0:
			b.WriteByte('|')
		default:
			b.WriteByte(c)
		}
		i++
	}
	return b.String()
}

// word returns the length of a name or reference: letters, digits, $ . _ : and !, with quoted names of sheets.
func word(s string) int {
	i := 0
	for i < len(s) {
		c := s[i]
		switch {
		case c == '\'':
			i += quoted(s[i:], '\'')
		case c == '$' || c == '.' || c == '_' || c == ':' || c == '!' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c > 0x7f:
			i++
		default:
			return i
		}
	}
	return i
}

// openRef turns Data!A1:B2 into [$Data.A1:.B2]; ok is false for what is no reference.
func openRef(s string) (string, bool) {
	sheet, addr := "", s
	if i := strings.LastIndexByte(s, '!'); i >= 0 {
		sheet, addr = s[:i], s[i+1:]
	}
	a, b, two := strings.Cut(addr, ":")
	if _, _, ok := parseCell(a); !ok {
		return "", false
	}
	if two {
		if _, _, ok := parseCell(b); !ok {
			return "", false
		}
	}
	if sheet != "" {
		sheet = "$" + strings.TrimPrefix(sheet, "$")
	}
	out := "[" + sheet + "." + a
	if two {
		out += ":." + b
	}
	return out + "]", true
}
