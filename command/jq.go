package command

import "strings"

// checkJq reads the program of jq.
func checkJq(args []string, d *decoding) string {
	if len(d.operands) == 0 {
		return "" // it prints how it is used, or passes its input through
	}
	p := &jqParser{s: args[d.operands[0]]}
	if p.read(0, 0); p.refused != "" {
		return "program: " + p.refused
	}
	return ""
}

// jqNames are the functions and keywords of jq that depend on their input alone. Left out are env, input_filename,
// get_search_list, modulemeta, import and include, which look at the environment and the disk; def, which gives names a
// new meaning; repeat, while, until, infinite and recurse with an argument, which may never end; and whatever a newer jq
// may bring.
var jqNames = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
		and or not if then elif else end try catch as reduce foreach label break true false null empty error
		length utf8bytelength keys keys_unsorted values has in map map_values path del delpaths paths leaf_paths pick
		to_entries from_entries with_entries select recurse walk getpath setpath to_array
		nulls booleans numbers strings arrays objects iterables scalars
		add any all flatten range floor sqrt pow log exp log10 log2 exp2 exp10 ceil round trunc fabs abs significand drem
		ldexp scalb scalbln nearbyint logb gamma lgamma tgamma lgamma_r frexp modf
		tostring tonumber toarray type nan isinfinite isnan isnormal isvalid isempty
		sort sort_by group_by min max min_by max_by unique unique_by reverse contains inside startswith endswith combinations
		ltrimstr rtrimstr trimstr trim ltrim rtrim explode implode split splits join ascii ascii_downcase ascii_upcase
		input inputs limit skip first last nth transpose bsearch indices index rindex
		test match capture scan sub gsub tojson fromjson
		todate fromdate now dateadd datesub date localtime gmtime mktime strftime strptime strflocaltime
		fromdateiso8601 todateiso8601 input_line_number tostream fromstream truncate_stream
		have_literal_numbers have_decnum halt halt_error debug stderr builtins IN INDEX`) {
		m[w] = true
	}
	return m
}()

// A jqParser reads the words of a program. Fields (.env), keys of objects ({name: 1}), formats and strings are data; every
// other name must be on the list.
type jqParser struct {
	s       string
	i       int
	refused string
}

const maxJqDepth = 64

// read reads up to the bracket that closes, or to the end for 0.
func (p *jqParser) read(closing byte, depth int) {
	if depth > maxJqDepth {
		p.refused = "too deeply nested"
	}
	last := byte(0) // the last byte that is no white space
	for p.i < len(p.s) && p.refused == "" {
		c := p.s[p.i]
		switch {
		case c == closing:
			p.i++
			return
		case c == '#':
			p.refused = "a comment, which versions of jq end differently"
		case c == '"':
			p.text(depth)
		case c == '(' || c == '[' || c == '{':
			p.i++
			p.read(closer(c), depth+1)
		case c >= '0' && c <= '9':
			p.number()
		case c == '.' || c == '@':
			p.i++
			p.name()
		case c == '$':
			p.i++
			p.space()
			if name := p.name(); strings.HasPrefix(name, "ENV") || strings.HasPrefix(name, "__") && name != "__loc__" {
				p.refused = "$" + name
			}
		case nameStart(c):
			name := p.name()
			key := closing == '}' && (last == 0 || last == ',') && p.endsKey()
			switch {
			case strings.HasPrefix(p.s[p.i:], "::") || !key && !jqNames[name]:
				p.refused = name
			case name == "recurse" && !key && p.calls():
				p.refused = "recurse with an argument, which may never end"
			}
		default:
			p.i++
		}
		if c != ' ' && c != '\t' && c != '\n' {
			last = c
		}
	}
	if closing != 0 && p.refused == "" {
		p.refused = "a bracket that is not closed"
	}
}

func closer(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func (p *jqParser) name() string {
	from := p.i
	for p.i < len(p.s) && (nameStart(p.s[p.i]) || p.i > from && p.s[p.i] >= '0' && p.s[p.i] <= '9') {
		p.i++
	}
	return p.s[from:p.i]
}

func (p *jqParser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

// endsKey reports whether what follows ends the key of an object: {a: …}, {a, …} and {a} all look at fields alone.
func (p *jqParser) endsKey() bool {
	rest := strings.TrimLeft(p.s[p.i:], " \t\r\n")
	return rest != "" && strings.IndexByte(":,}", rest[0]) >= 0
}

// calls reports whether arguments follow.
func (p *jqParser) calls() bool {
	return strings.HasPrefix(strings.TrimLeft(p.s[p.i:], " \t\r\n"), "(")
}

func (p *jqParser) number() {
	digits := func() {
		for p.i < len(p.s) && (p.s[p.i] >= '0' && p.s[p.i] <= '9' || p.s[p.i] == '.') {
			p.i++
		}
	}
	digits()
	if p.i+1 < len(p.s) && p.s[p.i]|0x20 == 'e' && strings.IndexByte("0123456789+-", p.s[p.i+1]) >= 0 {
		p.i += 2
		digits()
	}
}

// text reads a string, and the expressions in it.
func (p *jqParser) text(depth int) {
	for p.i++; p.i < len(p.s) && p.refused == ""; p.i++ {
		switch p.s[p.i] {
		case '"':
			p.i++
			return
		case '\\':
			p.i++
			if p.i < len(p.s) && p.s[p.i] == '(' {
				p.i++
				p.read(')', depth+1)
				p.i--
			}
		}
	}
	if p.refused == "" {
		p.refused = "a string that does not end"
	}
}
