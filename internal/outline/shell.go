package outline

import "bytes"

// readShell reads the functions of a shell script: "name() {" or "function name", to the bracket that closes them on a
// line of its own with the same indentation. A whole parser is not used: the one that there is dies of brackets that
// nest deep enough, and takes the process with it.
func readShell(src []byte) []Symbol {
	var out []Symbol
	var open []shellFunc
	var here []byte
	number := 0
	for at := 0; at < len(src); {
		line := src[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		at += len(line) + 1
		number++
		trimmed := bytes.TrimLeft(line, " \t")
		indent := len(line) - len(trimmed)
		trimmed = bytes.TrimRight(trimmed, " \t\r")
		if here != nil {
			if bytes.Equal(trimmed, here) {
				here = nil
			}
			continue
		}
		here = hereEnd(trimmed)
		if n := len(open); n > 0 && open[n-1].indent == indent && len(trimmed) > 0 && (trimmed[0] == '}' || trimmed[0] == ')') {
			out[open[n-1].symbol].End = number
			open = open[:n-1]
			continue
		}
		name, rest := shellName(trimmed)
		if name == "" {
			continue
		}
		out = append(out, Symbol{Name: name, Kind: Function, Line: number, End: number, Text: oneLine(bytes.TrimRight(trimmed[:len(trimmed)-len(rest)], " \t{("))})
		if last := trimmed[len(trimmed)-1]; len(rest) <= 1 || last != '}' && last != ')' {
			open = append(open, shellFunc{indent, len(out) - 1})
		}
	}
	return out
}

type shellFunc struct{ indent, symbol int }

// shellName returns the name that a line defines, and what follows the definition's head.
func shellName(line []byte) (name string, rest []byte) {
	word := bytes.HasPrefix(line, []byte("function "))
	b := line
	if word {
		b = bytes.TrimLeft(b[len("function "):], " \t")
	}
	n := 0
	for n < len(b) && (isWord(b[n]) || bytes.IndexByte([]byte("-.:+@?"), b[n]) >= 0) {
		n++
	}
	rest = bytes.TrimLeft(b[n:], " \t")
	if parens := bytes.HasPrefix(rest, []byte("()")); parens {
		rest = bytes.TrimLeft(rest[2:], " \t")
	} else if !word {
		return "", nil
	}
	if n == 0 || len(rest) > 0 && rest[0] != '{' && rest[0] != '(' && rest[0] != '#' {
		return "", nil
	}
	return string(bytes.ToValidUTF8(b[:n], []byte("\uFFFD"))), rest
}

// hereEnd returns the line that ends the here-document that begins on a line, or nil.
func hereEnd(line []byte) []byte {
	i := bytes.Index(line, []byte("<<"))
	if i < 0 || bytes.HasPrefix(line[i:], []byte("<<<")) || bytes.IndexByte(line[:i], '#') == 0 {
		return nil
	}
	name, _ := splitWord(bytes.TrimLeft(line[i+2:], "-~ \t'\"\\"))
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return nil
	}
	return []byte(name)
}
