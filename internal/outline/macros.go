package outline

import "bytes"

// readMacros finds #define lines with a value.
func readMacros(src []byte) []Symbol {
	var out []Symbol
	lines := lineIndex{src: src}
	for at := 0; at < len(src); {
		i := bytes.Index(src[at:], []byte("define"))
		if i < 0 {
			break
		}
		at += i + len("define")
		hash := blankBefore(src, at-len("define")) - 1
		if hash < 0 || src[hash] != '#' {
			continue
		}
		begin := blankBefore(src, hash)
		if begin > 0 && src[begin-1] != '\n' {
			continue
		}
		l := lexer{src: src, pos: hash, lex: &lexis{}}
		_, rest := l.command()
		rest = bytes.TrimLeft(rest, " \t")
		n := 0
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		if n > 0 && len(bytes.TrimSpace(rest[n:])) > 0 {
			line := lines.of(begin)
			out = append(out, Symbol{Name: string(rest[:n]), Kind: Macro, Line: line, End: lines.of(l.pos), Text: "#define " + macroText(rest)})
		}
		at = max(at, l.pos)
	}
	return out
}

// blankBefore returns where the blanks before an offset begin.
func blankBefore(src []byte, at int) int {
	for at > 0 && (src[at-1] == ' ' || src[at-1] == '\t') {
		at--
	}
	return at
}

func macroText(rest []byte) string {
	line, _, more := bytes.Cut(rest, []byte("\n"))
	s := oneLine(bytes.TrimRight(line, "\\\r \t"))
	if more && len(s)+len(" …") <= MaxText-len("#define ") {
		return s + " …"
	}
	return oneLine([]byte("#define " + s))[len("#define "):]
}
