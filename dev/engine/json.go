package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/internal/text"
)

// JSON checks JSON files: their syntax, and members that stand twice. Files whose programs allow comments and commas
// before a closing bracket (tsconfig.json, the settings of editors, *.jsonc) may have both.
type JSON struct{}

// Info is described at dev.Engine.
func (JSON) Info() dev.Info {
	return dev.Info{Name: "json", Version: "1", Can: map[dev.Capability]dev.Ability{dev.CanCheck: {Files: []string{"*.json", "*.jsonc"}}}}
}

// Run is described at dev.Engine.
func (JSON) Run(ctx context.Context, job *dev.Job) (*dev.Report, error) {
	return each(job, func(f dev.File) ([]byte, []dev.Diagnostic, error) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		content := bytes.TrimPrefix(f.Content, []byte("\ufeff"))
		if commented(f.Path) {
			content = plainJSON(content)
		}
		return nil, checkJSON(f.Path, content), nil
	})
}

// commented reports whether the program that reads a file of this name allows comments in it.
func commented(file string) bool {
	base := path.Base(file)
	switch {
	case strings.HasSuffix(base, ".jsonc"), strings.HasPrefix(base, "tsconfig"), strings.HasPrefix(base, "jsconfig"), strings.HasPrefix(base, ".eslintrc"), base == ".swcrc.json", base == "devcontainer.json", base == ".babelrc.json":
		return true
	}
	dir := path.Base(path.Dir(file))
	return dir == ".vscode" || dir == ".zed"
}

// plainJSON puts blanks in the place of comments and of commas before a closing bracket, so that offsets stay.
func plainJSON(src []byte) []byte {
	out := bytes.Clone(src)
	comma := -1 // offset of a comma that nothing but blanks has followed
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			for i++; i < len(out) && out[i] != '"' && out[i] != '\n'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma = -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := bytes.IndexByte(out[i:], '\n')
			if out[i+1] == '*' {
				if end = bytes.Index(out[i+2:], []byte("*/")); end >= 0 {
					end += 4
				}
			}
			if end < 0 {
				end = len(out) - i
			}
			for k := i; k < i+end; k++ {
				if out[k] != '\n' {
					out[k] = ' '
				}
			}
			i += end - 1
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return out
}

func checkJSON(file string, content []byte) []dev.Diagnostic {
	at := func(offset int64, s dev.Severity, code, message string) dev.Diagnostic {
		n := int(min(max(offset, 0), int64(len(content))))
		line := text.Number(content, n)
		return dev.Diagnostic{File: file, Range: dev.At(line, n-bytes.LastIndexByte(content[:n], '\n')), Severity: s, Code: code, Source: "json", Message: message}
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return one(at(0, dev.Err, "syntax", "the file is empty; JSON needs a value"))
	}
	// The decoder's tokens do not tell all mistakes; decoding a whole value does.
	dec := json.NewDecoder(bytes.NewReader(content))
	var whole json.RawMessage
	if err := dec.Decode(&whole); err != nil {
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			return one(at(syntax.Offset-1, dev.Err, "syntax", syntax.Error()))
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			return one(at(int64(len(content)), dev.Err, "syntax", "the file ends inside of a value"))
		}
		return one(at(dec.InputOffset(), dev.Err, "syntax", err.Error()))
	}
	if rest := bytes.TrimSpace(content[dec.InputOffset():]); len(rest) > 0 {
		offset := dec.InputOffset() + int64(bytes.Index(content[dec.InputOffset():], rest))
		return one(at(offset, dev.Err, "syntax", "something follows the value"))
	}
	var out []dev.Diagnostic
	for _, d := range duplicates(content) {
		out = append(out, at(d.offset, dev.Warn, "duplicate", fmt.Sprintf("the member %q stands twice in one object; the last one counts for most programs", d.name)))
	}
	return out
}

type duplicate struct {
	name   string
	offset int64
}

// duplicates finds members that stand twice in one object of valid JSON.
func duplicates(content []byte) []duplicate {
	type level struct {
		seen map[string]bool // nil in an array
		key  bool            // a name comes next
	}
	var out []duplicate
	var stack []level
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	for {
		t, err := dec.Token()
		if err != nil {
			return out
		}
		top := len(stack) - 1
		if name, ok := t.(string); ok && top >= 0 && stack[top].key {
			if stack[top].seen[name] {
				end := dec.InputOffset()
				start := bytes.LastIndexByte(content[:max(end-1, 0)], '"')
				out = append(out, duplicate{name, int64(start)})
			}
			stack[top].seen[name], stack[top].key = true, false
			continue
		}
		switch t {
		case json.Delim('{'):
			stack = append(stack, level{map[string]bool{}, true})
			continue
		case json.Delim('['):
			stack = append(stack, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
			top--
		}
		if top >= 0 {
			stack[top].key = stack[top].seen != nil
		}
	}
}
