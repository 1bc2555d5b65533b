package command

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// ReadOnlyTable is the table of the commands that only look, as it is read: documentation and data in one.
//
//go:embed readonly.txt
var ReadOnlyTable string

// An entry is what the table says about a command.
type entry struct {
	grammar
	operands operands
	most     int // operands, or -1
	globs    bool
	named    bool           // a glob must begin with a name
	value    *regexp.Regexp // every value of an option, or nil
	check    string
}

// operands says what the operands of a command are.
type operands string

const (
	files   operands = "files"
	tree    operands = "tree"
	text    operands = "text"
	pattern operands = "pattern"
	script  operands = "script"
	program operands = "program"
	dir     operands = "dir"
)

// table is the table, by command. A mistake in it is one of the program.
var table = sync.OnceValue(func() map[string]*entry {
	m, err := readTable(ReadOnlyTable)
	if err != nil {
		panic(err)
	}
	return m
})

// readTable reads the table.
func readTable(source string) (map[string]*entry, error) {
	m := map[string]*entry{}
	var e *entry
	number := 0
	for line := range strings.Lines(source) {
		number++
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#':
		case line[0] != ' ':
			e = &entry{most: -1, operands: text}
			for name := range strings.SplitSeq(trimmed, ",") {
				name = strings.TrimSpace(name)
				if m[name] != nil {
					return nil, fmt.Errorf("line %d: %s stands twice", number, name)
				}
				m[name] = e
			}
		default:
			if e == nil {
				return nil, fmt.Errorf("line %d: an attribute without a command", number)
			}
			if err := e.attribute(trimmed); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		}
	}
	return m, nil
}

// attribute reads one indented line.
func (e *entry) attribute(line string) (err error) {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "options":
		e.options(" " + rest)
	case "operands":
		for word := range strings.FieldsSeq(rest) {
			if n, err := strconv.Atoi(word); err == nil {
				e.most = n
				continue
			}
			switch o := operands(word); o {
			case files, tree, text, pattern, script, program, dir:
				e.operands = o
			default:
				return fmt.Errorf("operands %q", word)
			}
		}
	case "globs":
		e.globs, e.named = true, rest == "named"
	case "first":
		e.first = true
	case "apart":
		e.apart = true
	case "whole":
		e.whole, e.long, e.short = true, e.merged(), nil
	case "digits":
		e.digits = true
	case "value":
		e.value, err = regexp.Compile(rest)
	case "check":
		e.check = rest
		if checks(rest) == nil {
			return fmt.Errorf("check %q", rest)
		}
	default:
		return fmt.Errorf("attribute %q", name)
	}
	return err
}

// merged returns all options as whole words.
func (e *entry) merged() map[string]arity {
	all := map[string]arity{}
	for k, v := range e.long {
		all[k] = v
	}
	for k, v := range e.short {
		all[string(k)] = v
	}
	return all
}
