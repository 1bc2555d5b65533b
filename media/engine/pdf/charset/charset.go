// Package charset knows what PDF files take for granted: which characters the names of glyphs stand for, what the codes of
// the encodings mean that a file only names, and how wide the characters of the 14 standard fonts are.
//
// The tables are those of Adobe, with their notices, and are read when they are first asked for. Everything is safe for
// concurrent use.
package charset

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed names.txt
var namesTable string

// names gives the characters of each name of the list.
var names = sync.OnceValue(func() map[string]string {
	out := make(map[string]string, 4300)
	rows(namesTable, func(row string) {
		name, codes, _ := strings.Cut(row, ";")
		text := ""
		for code := range strings.FieldsSeq(codes) {
			text += char(code)
		}
		out[name] = text
	})
	// Names of TeX fonts that the list lacks.
	for name, text := range map[string]string{"ff": "ff", "fi": "fi", "fl": "fl", "ffi": "ffi", "ffl": "ffl", "dotlessj": "ȷ", "visiblespace": "␣",
		"negationslash": "\u0338", "mapsto": "↦", "floorleft": "⌊", "floorright": "⌋", "ceilingleft": "⌈", "ceilingright": "⌉", "perthousandzero": "‰",
		"angbracketleft": "⟨", "angbracketright": "⟩", "epsilon1": "ϵ", "nbspace": "\u00a0", "sfthyphen": "\u00ad", "quotesinglbase": "‚"} {
		out[name] = text
	}
	return out
})

// rows calls do for each row of a table that is no comment.
func rows(table string, do func(row string)) {
	for row := range strings.Lines(table) {
		if row = strings.TrimSpace(row); row != "" && row[0] != '#' {
			do(row)
		}
	}
}

// char returns the character of a hexadecimal code; "" where it is none.
func char(code string) string {
	v, err := strconv.ParseUint(code, 16, 32)
	if err != nil || v > utf8.MaxRune || v >= 0xd800 && v < 0xe000 {
		return ""
	}
	return string(rune(v))
}

// Text returns the characters that a name stands for: one of the list, uniXXXX, uXXXXX, several with _ between them, and each
// of these with a variant behind a point. ok is false for names that only their font knows.
func Text(name string) (text string, ok bool) {
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	if text, ok = names()[name]; ok {
		return text, true
	}
	if strings.ContainsRune(name, '_') {
		for part := range strings.SplitSeq(name, "_") {
			t, ok := Text(part)
			if !ok {
				return "", false
			}
			text += t
		}
		return text, text != ""
	}
	if code, found := strings.CutPrefix(name, "uni"); found && len(code) >= 4 && len(code)%4 == 0 {
		for i := 0; i < len(code); i += 4 {
			c := char(code[i : i+4])
			if c == "" {
				return "", false
			}
			text += c
		}
		return text, true
	}
	if code, found := strings.CutPrefix(name, "u"); found && len(code) >= 4 && len(code) <= 6 {
		text = char(code)
	}
	return text, text != ""
}
