package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/tool"
)

// reference begins a text argument that stands for the whole text of an artifact, so that large data never passes through
// the model (O8): {"content": "@artifact:a7k2m9x"}.
const reference = "@artifact:"

// MaxReference is how many bytes the references of one call may stand for.
const MaxReference = 8 << 20

// Arguments that are no texts: in pathNames the reference is the path of the artifact, in plainNames it is what it is.
var (
	pathNames  = []string{"path", "to", "workdir"}
	plainNames = []string{"id", "url", "media_id", "glob", "pattern", "type", "op", "session", "call"}
)

// expand puts texts in the place of references, before hooks and validation see the arguments: a hook, a rule and a person
// judge what is done, not what it is called. Arguments that do not fit the schema are left to the check that says so.
func (b *Box) expand(ctx context.Context, p *Planned) error {
	if !bytes.Contains(p.Request.Args, []byte(reference)) {
		return nil
	}
	prepared, err := b.prepare(p)
	if err != nil || len(prepared.Problems) > 0 {
		return nil
	}
	e := expander{ctx: ctx, artifacts: b.cfg.Artifacts, left: MaxReference, raw: prepared.Args, may: func(tool.Target) tool.Verdict { return tool.Allow }}
	if s, ok := b.cfg.Gate.(Screener); ok {
		e.may = s.Screen(b.gateRequest(p, &tool.Intent{Tool: p.entry.def.Name, Permission: tool.ReadPermission, Effects: []tool.Effect{tool.Read}}))
	}
	out, err := e.run()
	if err != nil {
		return p.stop(err)
	}
	if len(e.notes) == 0 {
		return nil
	}
	for _, r := range prepared.Repairs {
		p.Repairs = append(p.Repairs, r.String())
	}
	p.Repairs = append(p.Repairs, e.notes...)
	p.Request.Args = out
	return nil
}

// expander replaces the references of one argument object and leaves every other byte as it is.
type expander struct {
	ctx       context.Context
	artifacts tool.Artifacts
	may       func(tool.Target) tool.Verdict // what policy says to reading one
	left      int64
	raw       []byte
	out       []byte
	copied    int // of raw
	notes     []string
}

// level is an object or array that the expander is in.
type level struct {
	object bool
	name   string // of the member whose value comes
	value  bool   // a value comes, not a name
}

func (e *expander) run() (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(e.raw))
	dec.UseNumber()
	var at []level
	for {
		before := dec.InputOffset()
		tok, err := dec.Token()
		if err == io.EOF {
			return append(e.out, e.raw[e.copied:]...), nil
		}
		if err != nil {
			return nil, err
		}
		top := len(at) - 1
		if d, ok := tok.(json.Delim); ok {
			switch d {
			case '{', '[':
				l := level{object: d == '{', value: d == '['}
				if top >= 0 {
					l.name = at[top].name
				}
				at = append(at, l)
				continue
			}
			at = at[:top]
			top--
		} else if s, ok := tok.(string); ok && top >= 0 {
			if at[top].object && !at[top].value {
				at[top].name, at[top].value = s, true
				continue
			}
			if err := e.text(at[top].name, s, before, dec.InputOffset()); err != nil {
				return nil, err
			}
		}
		if top >= 0 && at[top].object {
			at[top].value = false
		}
	}
}

// text looks at one string, which stands in raw behind from, with separators in front, and ends at to.
func (e *expander) text(name, s string, from, to int64) error {
	id, ok := strings.CutPrefix(s, reference)
	if !ok || id == "" || len(id) > 64 || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) || slices.Contains(plainNames, name) {
		return nil
	}
	for strings.IndexByte(" \t\r\n:,", e.raw[from]) >= 0 {
		from++
	}
	text, note := "artifact:"+id, name+": the path of artifact:"+id
	if !slices.Contains(pathNames, name) {
		data, err := e.read(name, id)
		if err != nil {
			return err
		}
		text, note = data, fmt.Sprintf("%s: the text of artifact:%s (%d bytes)", name, id, len(data))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return err
	}
	e.out = append(append(e.out, e.raw[e.copied:from]...), bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	e.copied, e.notes = int(to), append(e.notes, note)
	return nil
}

func (e *expander) read(name, id string) (string, error) {
	fail := func(code tool.Code, hint, format string, args ...any) error {
		return tool.Errorf(code, format, args...).For(name, "text, or @artifact:ID for the text of an artifact").With(hint)
	}
	if e.artifacts == nil {
		return "", fail(tool.NotFound, "Send the text itself.", "%s names artifact %q, but this session keeps no artifacts.", name, id)
	}
	if e.may(tool.ArtifactTo(id)) != tool.Allow {
		return "", fail(tool.PermissionDenied, "Read it with read_file, where a person may be asked, or take another way.", "%s names artifact %q, which may not simply be read here.", name, id)
	}
	a, err := e.artifacts.Open(e.ctx, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fail(tool.NotFound, "Call artifact without id to list what exists.", "%s names artifact %q, which does not exist; it may have expired.", name, id)
	case err != nil:
		return "", fmt.Errorf("open artifact %s: %w", id, err)
	}
	defer a.Close()
	if a.Size() > e.left {
		return "", fail(tool.LimitExceeded, fmt.Sprintf("Copy it into a file with copy_file path=artifact:%s, or take a part of it with the artifact tool.", id),
			"artifact %s has %d bytes; the artifacts in one call may stand for %d bytes together.", id, a.Size(), MaxReference)
	}
	e.left -= a.Size()
	data := make([]byte, a.Size())
	if n, err := a.ReadAt(data, 0); n < len(data) {
		return "", fmt.Errorf("read artifact %s: %w", id, err)
	}
	if !utf8.Valid(data) {
		return "", fail(tool.InvalidParameter, fmt.Sprintf("Copy it into a file with copy_file path=artifact:%s.", id), "artifact %s is not UTF-8 text.", id)
	}
	return string(data), nil
}
