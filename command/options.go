package command

import (
	"fmt"
	"strings"
)

// A grammar says which options a command may have, and how many values each takes. It is written as words: a letter is a
// short option, anything longer a long one; "=" behind it means one value, "==" two, "?" a value that only counts when it
// is attached ("-Iseconds", "--color=never").
type grammar struct {
	short map[byte]arity
	long  map[string]arity

	// first ends the options at the first operand, as POSIX says and wrappers do.
	first bool
	// apart: the value of a short option is the next word, and letters go on behind the option (tree -La 2).
	apart bool
	// whole: options are whole words with one dash, so that letters cannot be joined (xxd). A value may be attached.
	whole bool
	// digits: "-50" is an option.
	digits bool
}

type arity int8

const optional arity = -1

// An option is a decoded option.
type option struct {
	name  string // without dashes
	value string // the last, where there are several
}

// options adds words to the grammar.
func (g *grammar) options(text string) {
	for word := range strings.FieldsSeq(text) {
		name := strings.TrimRight(word, "=?")
		n := arity(len(word) - len(name))
		if strings.HasSuffix(word, "?") {
			n = optional
		}
		if len(name) == 1 && !g.whole {
			if g.short == nil {
				g.short = map[byte]arity{}
			}
			g.short[name[0]] = n
			continue
		}
		if g.long == nil {
			g.long = map[string]arity{}
		}
		g.long[name] = n
	}
}

// A decoding is what a grammar makes of the arguments of a command.
type decoding struct {
	options  []option
	operands []int // indexes into the arguments
	refused  string
}

// decode reads arguments, without the command's name. Whatever is not in the grammar is refused: long options count only
// in full, because GNU programs take any clear abbreviation for the option.
func (g *grammar) decode(args []string) (d decoding) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			for i++; i < len(args); i++ {
				d.operands = append(d.operands, i)
			}
		case len(a) < 2 || a[0] != '-':
			if g.first {
				for ; i < len(args); i++ {
					d.operands = append(d.operands, i)
				}
				break
			}
			d.operands = append(d.operands, i)
		case g.digits && strings.Trim(a[1:], "0123456789") == "":
			d.options = append(d.options, option{name: a[1:]})
		case strings.HasPrefix(a, "--"), g.whole:
			i = g.readLong(&d, args, i)
		default:
			i = g.readShort(&d, args, i)
		}
		if d.refused != "" {
			break
		}
	}
	return d
}

// readLong reads the option at args[i] and returns the index of its last word.
func (g *grammar) readLong(d *decoding, args []string, i int) int {
	name, value, attached := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
	if g.whole {
		name, attached = args[i][1:], false
		if n, ok := g.long[name[:1]]; ok && n == 1 && len(name) > 1 && !known(g.long, name) {
			name, value, attached = name[:1], name[1:], true
		}
	}
	n, ok := g.long[name]
	switch {
	case !ok:
		d.refused = fmt.Sprintf("option %s", args[i])
	case attached && (n == 0 || n > 1):
		d.refused = fmt.Sprintf("option --%s takes no value with =", name)
	case attached || n <= 0:
	default:
		for ; n > 0; n-- {
			if i++; i >= len(args) {
				d.refused = fmt.Sprintf("option --%s has no value", name)
				return i
			}
			value = args[i]
		}
	}
	d.options = append(d.options, option{name, value})
	return i
}

func known(m map[string]arity, name string) bool {
	_, ok := m[name]
	return ok
}

// readShort reads the cluster at args[i] and returns the index of its last word.
func (g *grammar) readShort(d *decoding, args []string, i int) int {
	cluster := args[i]
	for j := 1; j < len(cluster); j++ {
		n, ok := g.short[cluster[j]]
		o := option{name: cluster[j : j+1]}
		rest := cluster[j+1:]
		switch {
		case !ok:
			d.refused = fmt.Sprintf("option -%c in %s", cluster[j], cluster)
			return i
		case n == optional:
			o.value, j = rest, len(cluster)
		case n == 1 && rest != "" && !g.apart:
			o.value, j = rest, len(cluster)
		case n > 0 && rest != "" && g.apart:
			d.refused = fmt.Sprintf("option -%c is not the last in %s", o.name[0], cluster)
			return i
		case n > 0:
			for ; n > 0; n-- {
				if i++; i >= len(args) {
					d.refused = fmt.Sprintf("option -%s has no value", o.name)
					return i
				}
				o.value = args[i]
			}
		}
		d.options = append(d.options, o)
	}
	return i
}
