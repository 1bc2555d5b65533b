package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// keptArtifacts hands out what it was given, by id.
type keptArtifacts map[string]string

func (k keptArtifacts) Put(_ context.Context, _, _, _ string, r io.Reader) (string, error) {
	b, err := io.ReadAll(r)
	id := fmt.Sprintf("a%06d", len(k))
	k[id] = string(b)
	return id, err
}

func (k keptArtifacts) Open(_ context.Context, id string) (tool.ArtifactReader, error) {
	s, ok := k[id]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return keptReader{strings.NewReader(s)}, nil
}

type keptReader struct{ *strings.Reader }

func (keptReader) Close() error  { return nil }
func (r keptReader) Size() int64 { return r.Reader.Size() }
func (keptReader) Name() string  { return "output" }
func (keptReader) MIME() string  { return "text/plain" }

type referInput struct {
	Path    string     `json:"path,omitempty" jsonschema:"Where"`
	Content string     `json:"content,omitempty" jsonschema:"What"`
	Pattern string     `json:"pattern,omitempty" jsonschema:"What to find"`
	Edits   []oneRefer `json:"edits,omitempty" jsonschema:"Several"`
	N       float64    `json:"n,omitempty" jsonschema:"A number"`
}

type oneRefer struct {
	New string `json:"new_string"`
}

// O8: a text argument that names an artifact stands for its text, for hooks, rules and people as for the tool; paths and
// patterns are what they are; what was sent is recorded as it was sent.
func TestO8_References(t *testing.T) {
	kept := keptArtifacts{"a00one": "one \"1\"\n<&>\u00e9\n", "a00two": "two", "a00bin": "\xff\xfe", "a00big": strings.Repeat("x", MaxReference), "a00last": "y"}
	var hooked string
	var recs []*session.Record
	b := newBox(t, Config{Artifacts: kept, Recorder: recorderFunc(func(r *session.Record) { recs = append(recs, r) }),
		Hooks: []Hook{hookFuncs{before: func(r *Request) error { hooked = string(r.Args); return nil }}}},
		tool.Define(tool.Spec{Name: "refer", Category: "test", Description: "Say what came."}, func(_ context.Context, _ *tool.Call, in referInput) (tool.Action, error) {
			return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
				var out bytes.Buffer
				enc := json.NewEncoder(&out)
				enc.SetEscapeHTML(false)
				err := enc.Encode(in)
				return tool.TextResult(strings.TrimSpace(out.String()), nil), err
			}}, nil
		}))
	for _, tt := range []struct{ name, args, want string }{
		{"text", `{"content":"@artifact:a00one"}`, `{"content":"one \"1\"\n<&>é\n"}`},
		{"escaped", `{"content":"@\u0061rtifact:a00two","n":1.50}`, `{"content":"@artifact:a00two","n":1.5}`}, // only as it is meant to be written
		{"nested", ` { "edits" : [ {"new_string" : "@artifact:a00two"} , {"new_string":"x"} ] , "content":"@artifact:a00two" } `, `{"content":"two","edits":[{"new_string":"two"},{"new_string":"x"}]}`},
		{"after a repair", `"{\"content\":\"@artifact:a00two\"}"`, `{"content":"two"}`},
		{"path", `{"path":"@artifact:a00two"}`, `{"path":"artifact:a00two"}`},
		{"pattern", `{"pattern":"@artifact:a00two"}`, `{"pattern":"@artifact:a00two"}`},
		{"not the whole text", `{"content":"see @artifact:a00two"}`, `{"content":"see @artifact:a00two"}`},
		{"a name", `{"content":"@artifact: a00two"}`, `{"content":"@artifact: a00two"}`},
	} {
		recs, hooked = nil, ""
		res := call(t, b, "refer", tt.args)
		if !res.OK() || res.Text() != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, res.Text(), tt.want)
			continue
		}
		if string(recs[0].Raw) != tt.args {
			t.Errorf("%s: recorded %s", tt.name, recs[0].Raw)
		}
		if replaced := !strings.Contains(tt.want, "@artifact"); replaced && (strings.Contains(hooked, "@artifact") || len(res.Meta.Repairs) == 0) {
			t.Errorf("%s: the hook saw %s, repairs %q", tt.name, hooked, res.Meta.Repairs)
		}
	}
	for args, code := range map[string]tool.Code{
		`{"content":"@artifact:a00gone"}`: tool.NotFound, `{"content":"@artifact:a00bin"}`: tool.InvalidParameter,
		`{"content":"@artifact:a00big","edits":[{"new_string":"@artifact:a00last"}]}`: tool.LimitExceeded,
		`{"content":"@artifact:a00two","other":1}`:                                    tool.InvalidParameter,
	} {
		if res := call(t, b, "refer", args); res.Err == nil || res.Err.Code != code || res.Err.Hint == "" {
			t.Errorf("%s: %s", args, res.Text())
		}
	}
	if res := call(t, newBox(t, Config{}, echo(tool.Spec{}, nil)), "echo", `{"text":"@artifact:a00two"}`); res.Err == nil || res.Err.Code != tool.NotFound {
		t.Errorf("no artifacts: %s", res.Text())
	}
}
