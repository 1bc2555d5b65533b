package ask

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// View is everything that a person is shown about an ask, escaped and whole: faces only choose how much of it fits, and
// say so. Every text is safe on every surface.
type View struct {
	Title    string   `json:"title"`            // "edit asks to change 2 files"
	Badges   []string `json:"badges,omitempty"` // classes of effect, such as "write-protected"
	Reason   string   `json:"reason,omitempty"`
	Dir      string   `json:"dir,omitempty"`     // that a command runs in
	Args     []Field  `json:"args,omitempty"`    // as authored, in their order; values are JSON
	Targets  []Target `json:"targets,omitempty"` // what they resolved to
	Scripts  []string `json:"scripts,omitempty"` // the commands of a line that has several, one a line, decoded and quoted
	Warnings []string `json:"warnings,omitempty"`
	Summary  string   `json:"summary,omitempty"` // of the changes, one line a file
	Diff     string   `json:"diff,omitempty"`
	Hunks    []Hunk   `json:"hunks,omitempty"` // where they can be allowed one by one
}

// Field is a named value on one line.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Target is one thing that the call would touch.
type Target struct {
	Effect string   `json:"effect"`
	Kind   string   `json:"kind,omitempty"`
	Value  string   `json:"value"`           // several lines only where it is a command of several lines
	Given  string   `json:"given,omitempty"` // as the model wrote it, where that differs
	Class  []string `json:"class,omitempty"`
	Asks   bool     `json:"asks,omitempty"` // it is among those that policy asks about
	By     string   `json:"by,omitempty"`   // what decides about it
}

// Hunk is one edit or patch hunk.
type Hunk struct {
	Number int    `json:"number"` // as the model counts, from 1
	Title  string `json:"title,omitempty"`
	Text   string `json:"text"` // lines with "-", "+" and " " in front
}

// mask hides the secrets of the environment in a text.
type mask func(string) string

func (q *Queue) masker() mask {
	if q.opt.Secrets == nil {
		return func(s string) string { return s }
	}
	var pairs []string
	for _, s := range q.opt.Secrets() {
		if len(s) < 4 { // masking very short strings would mask ordinary text
			continue
		}
		pairs = append(pairs, s, "[secret]")
		if quoted, _ := json.Marshal(s); string(quoted[1:len(quoted)-1]) != s {
			pairs = append(pairs, string(quoted[1:len(quoted)-1]), "[secret]")
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

// masked returns a copy of the intent and of its explanation without secrets. The changes are not copied.
func (m mask) masked(in *tool.Intent, e *permission.Explanation) (*tool.Intent, *permission.Explanation) {
	out := *in
	out.Args, out.Targets, out.MayCreate = json.RawMessage(m(string(in.Args))), slices.Clone(in.Targets), slices.Clone(in.MayCreate)
	for i := range out.Targets {
		t := &out.Targets[i]
		t.Value = m(t.Value)
		if t.Path != nil {
			p := *t.Path
			p.Given, p.Real = m(p.Given), m(p.Real)
			t.Path = &p
		}
	}
	for i := range out.MayCreate {
		out.MayCreate[i] = m(out.MayCreate[i])
	}
	if e == nil {
		return &out, nil
	}
	why := permission.Explanation{Targets: slices.Clone(e.Targets)}
	for i := range why.Targets {
		t := &why.Targets[i]
		t.Value, t.Given = m(t.Value), m(t.Given)
	}
	return &out, &why
}

// makeView builds the view of a question.
func (q *Queue) makeView(qu *Question, e *permission.Explanation, mask mask) View {
	in, e := mask.masked(qu.Intent, e)
	v := View{Reason: show.Line(mask(qu.Policy.Reason)), Dir: show.Line(mask(in.Dir)), Args: fields(in.Args)}
	set := in.Changes
	if !set.Empty() {
		p := set.Preview(q.opt.Root, change.PreviewOptions{})
		v.Diff, v.Summary = show.Text(evenEndings(mask(p.Diff))), show.Text(mask(p.Summary()))
		v.Title = fmt.Sprintf("%s asks to change %s", show.Line(in.Tool), changed(p.Files))
	} else {
		v.Title = fmt.Sprintf("%s asks to %s", show.Line(in.Tool), effects(in.Effects))
	}
	v.Targets = targets(in, e)
	for _, t := range v.Targets {
		for _, c := range t.Class {
			if !slices.Contains(v.Badges, c) {
				v.Badges = append(v.Badges, c)
			}
		}
	}
	for _, s := range in.Scripts {
		v.Targets = append(v.Targets, Target{Effect: string(tool.Execute), Kind: "script", Value: show.Line(mask(s.Path))})
	}
	v.Warnings = warnings(in, v.Diff)
	for _, t := range in.Targets {
		if t.Kind != tool.CommandTarget {
			continue
		}
		runs, problem := decoded(t.Value)
		if runs != "" {
			v.Scripts = append(v.Scripts, runs)
		}
		if problem != "" {
			v.Warnings = append(v.Warnings, problem)
		}
	}
	if qu.Hunks > 1 {
		v.Hunks = hunks(in, qu.Hunks)
	}
	return v
}

// digest names what was shown.
func (v *View) digest() string {
	b, err := json.Marshal(v)
	if err != nil { // texts and numbers only
		panic(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// fields returns the arguments in the order in which they were written. What is no object is one field.
func fields(args json.RawMessage) []Field {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return []Field{{Value: show.Line(string(args))}}
	}
	var out []Field
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			return []Field{{Value: show.Line(string(args))}}
		}
		out = append(out, Field{Name: show.Line(fmt.Sprint(key)), Value: show.Line(literal(value))})
	}
	return out
}

// literal writes a JSON value with its characters as they are, not as escapes of JSON where that is possible, so that
// what escapes remain are those of package show.
func literal(raw json.RawMessage) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return string(raw)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// targets lists the targets of the intent with what policy says about each. Without a gate they are listed as they are.
func targets(in *tool.Intent, e *permission.Explanation) []Target {
	var out []Target
	if e == nil {
		for _, t := range in.Targets {
			v := Target{Effect: string(t.Effect), Kind: string(t.Kind), Value: value(t.Kind, t.Value)}
			if t.Path != nil && t.Path.Given != t.Value {
				v.Given = show.Line(t.Path.Given)
			}
			out = append(out, v)
		}
		for _, p := range in.MayCreate {
			out = append(out, Target{Effect: string(tool.Write), Kind: string(tool.PathTarget), Value: show.Line(p)})
		}
		return out
	}
	lines := map[string]int{} // of commands: index in out, which shows a line once and its parts as scripts
	for _, t := range e.Targets {
		v := Target{Effect: string(t.Effect), Kind: string(t.Kind), Value: value(t.Kind, t.Value), Given: show.Line(t.Given), Asks: t.Verdict != tool.Allow, By: show.Line(t.By)}
		for _, c := range t.Classes {
			v.Class = append(v.Class, string(c))
		}
		if t.Kind != tool.CommandTarget {
			out = append(out, v)
			continue
		}
		whole := exact(&t)
		i, known := lines[whole]
		if !known {
			lines[whole] = len(out)
			v.Value, v.Given = value(t.Kind, whole), ""
			out = append(out, v)
			continue
		}
		line := &out[i]
		for _, c := range v.Class {
			if !slices.Contains(line.Class, c) {
				line.Class = append(line.Class, c)
			}
		}
		if v.Asks && !line.Asks {
			line.Asks, line.By = true, v.By
		}
	}
	return out
}

// exact returns the target as a grant names it. A part of a command line is granted with the whole line: what "rm x"
// means depends on the "cd" before it.
func exact(t *permission.TargetView) string {
	if t.Kind == tool.CommandTarget && t.Given != "" {
		return t.Given
	}
	return t.Value
}

func value(kind tool.TargetKind, s string) string {
	if kind == tool.CommandTarget {
		return show.Text(s)
	}
	return show.Line(s)
}

func effects(list []tool.Effect) string {
	if len(list) == 0 {
		return "do something"
	}
	words := make([]string, len(list))
	for i, e := range list {
		words[i] = show.Line(string(e))
	}
	return strings.Join(words, ", ")
}

// changed counts the files of a preview; folders are counted where there is nothing else.
func changed(files []change.FileChange) string {
	folders := 0
	for _, f := range files {
		if strings.HasSuffix(f.Path, "/") {
			folders++
		}
	}
	if n := len(files) - folders; n > 0 {
		return count(n, "file", "files")
	}
	return count(folders, "folder", "folders")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// warnings says in words what a reader may overlook.
func warnings(in *tool.Intent, diff string) []string {
	var out []string
	if odd := show.Inspect(literal(in.Args)); !odd.IsZero() {
		out = append(out, "The arguments hold "+odd.String()+". They are written as \\u{…}.")
	}
	for _, t := range in.Targets {
		if odd := show.Inspect(t.Value); !odd.IsZero() && t.Kind != tool.CommandTarget {
			out = append(out, fmt.Sprintf("The target %s holds %s.", show.Line(path.Base(t.Value)), odd))
		}
		if t.Path != nil && t.Path.Link {
			out = append(out, fmt.Sprintf("A link leads from %s to %s.", show.Line(t.Path.Given), show.Line(t.Path.Real)))
		}
	}
	if in.Changes != nil {
		for i := range in.Changes.Ops {
			op := &in.Changes.Ops[i]
			name := show.Line(path.Base(filepath.ToSlash(op.Path)))
			switch {
			case op.Kind != change.Write:
			case op.After.Type == change.Symlink:
				out = append(out, fmt.Sprintf("%s becomes a symbolic link to %s.", name, show.Line(op.After.Target)))
			case op.After.Mode&0o111 != 0 && op.Before.Mode&0o111 == 0:
				out = append(out, fmt.Sprintf("%s becomes a program that can be run.", name))
			}
		}
	}
	switch later := in.Changes.Empty() && in.Has(tool.Write); {
	case later && in.Has(tool.Execute):
		out = append(out, "A command changes files by itself: undo cannot take that back.")
	case later:
		out = append(out, "What would be written is known only when it runs; it will be shown then.")
	}
	if strings.Contains(diff, "Binary files ") {
		out = append(out, "A file is not text; its bytes are not shown.")
	}
	return out
}

// evenEndings removes the carriage returns of a diff whose lines all have one, so that they do not stand at every line;
// a line that differs from the others keeps it.
func evenEndings(diff string) string {
	lines := strings.SplitAfter(diff, "\n")
	for _, l := range lines {
		if l != "" && strings.ContainsRune("+- ", rune(l[0])) && !strings.HasPrefix(l, "+++ ") && !strings.HasPrefix(l, "--- ") && !strings.HasSuffix(l, "\r\n") {
			return diff
		}
	}
	return strings.ReplaceAll(diff, "\r\n", "\n")
}
