package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// T7: the block form of the agent toolbox document, with lines left out where there is nothing to say.
func TestT7_Render(t *testing.T) {
	whole := &Error{Code: MissingParameter, Message: "The 'query' parameter is required.", Parameter: "query",
		Expected: "A non-empty string containing the search query.", Example: `search_google(query: "latest AI news")`,
		Hint: "Provide a 'query' parameter with your search terms and try again."}
	for _, tt := range []struct {
		err  *Error
		want string
	}{
		{whole, "TOOL ERROR: MISSING_PARAMETER\nThe 'query' parameter is required.\nPARAMETER: query\nEXPECTED: A non-empty string containing the search query.\n" +
			"EXAMPLE: search_google(query: \"latest AI news\")\nRECOVERY HINT: Provide a 'query' parameter with your search terms and try again."},
		{Errorf(NotFound, "no %s", "x"), "TOOL ERROR: NOT_FOUND\nno x"},
		{Errorf(NotFound, "no x").With("Look elsewhere."), "TOOL ERROR: NOT_FOUND\nno x\nRECOVERY HINT: Look elsewhere."},
	} {
		if got := tt.err.Render(); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
	if got, want := Errorf(UnknownVerb, "no verb \"cropp\".").With("Did you mean crop?").RenderLine(), `Error (UNKNOWN_VERB): no verb "cropp". Did you mean crop?`; got != want {
		t.Errorf("line form %q", got)
	}
}

// T7: the twenty codes of the document, and no code twice.
func TestT7_Codes(t *testing.T) {
	document := strings.Fields(`MISSING_PARAMETER INVALID_PARAMETER NOT_FOUND PERMISSION_DENIED OPERATION_FAILED OPERATION_NOT_ALLOWED
		VALIDATION_ERROR RATE_LIMITED LIMIT_EXCEEDED INVALID_CRON_SPEC INVALID_OPERATION TIMEOUT INVALID_TOOL_ARGUMENTS SUBAGENT_FAILED
		TOOL_EXECUTION_FAILED UNAUTHORIZED FORBIDDEN RATE_LIMIT_EXCEEDED NETWORK_ERROR SECURITY_VIOLATION`)
	codes := Codes()
	if len(document) != 20 {
		t.Fatalf("%d codes in the document", len(document))
	}
	for i, c := range document {
		if string(codes[i]) != c {
			t.Errorf("code %d is %s, want %s", i, codes[i], c)
		}
	}
	sorted := slices.Sorted(slices.Values(codes))
	if len(slices.Compact(sorted)) != len(codes) {
		t.Error("a code stands twice")
	}
}

// T9: a secret prints as a placeholder in every form.
func TestT9_Secret(t *testing.T) {
	env := Environment{Services: Services{Google: Google{CSE: CSE{APIKey: NewSecret("canary-1"), EngineID: "e"}}}}
	j, err := json.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{string(j), fmt.Sprint(env), fmt.Sprintf("%+v %#v %s %q", env, env, env.Services.Google.CSE.APIKey, env.Services.Google.CSE.APIKey)} {
		if strings.Contains(s, "canary") {
			t.Errorf("shown: %s", s)
		}
	}
	if !env.Has("google.cse") || (Environment{}).Has("google.cse") || !(Environment{}).Has("") || env.Has("other") {
		t.Error("Has")
	}
	if got := env.Secrets(); len(got) != 1 || got[0] != "canary-1" || env.Services.Google.CSE.APIKey.Reveal() != "canary-1" {
		t.Errorf("Secrets() = %v", got)
	}
}

// F9: keys are absolute and clean; links are not followed.
func TestF9_Key(t *testing.T) {
	for path, want := range map[string]string{"src/a": "/w/src/a", "./src/a": "/w/src/a", "/w/src/../src/a": "/w/src/a", "../x": "/x", "/abs": "/abs"} {
		if got := Key("/w", path); got != want {
			t.Errorf("Key(%q) = %q, want %q", path, got, want)
		}
	}
}

// T4: the fingerprint binds arguments, targets and bytes; a preview's order or the note does not matter.
func TestT4_Fingerprint(t *testing.T) {
	base := func() Intent {
		return Intent{Tool: "edit", Permission: "edit", Effects: []Effect{Write}, Args: json.RawMessage(`{"path":"a"}`), Targets: []Target{{Kind: PathTarget, Effect: Write, Value: "/w/a"}},
			Changes: &change.Set{Ops: []change.Op{change.Create("/w/a", []byte("x"), 0o644)}}}
	}
	seal := func(in Intent) string { in.Seal(); return in.Fingerprint }
	want := seal(base())
	same := base()
	same.Note, same.Hunks = map[string]string{"k": "v"}, 3
	if seal(same) != want {
		t.Error("notes change the fingerprint")
	}
	for name, change := range map[string]func(*Intent){
		"tool":    func(in *Intent) { in.Tool = "write_file" },
		"args":    func(in *Intent) { in.Args = json.RawMessage(`{"path":"b"}`) },
		"target":  func(in *Intent) { in.Targets[0].Value = "/w/b" },
		"effect":  func(in *Intent) { in.Effects = []Effect{Write, Read} },
		"create":  func(in *Intent) { in.MayCreate = []string{"/w/a"} },
		"persist": func(in *Intent) { in.Persists = true },
		"bytes":   func(in *Intent) { in.Changes.Ops[0] = change.Create("/w/a", []byte("y"), 0o644) },
		"folder":  func(in *Intent) { in.Dir = "/w/sub" },
		"script":  func(in *Intent) { in.Scripts = []Script{{Path: "/w/x.sh", Digest: change.Sum([]byte("x"))}} },
		"mode":    func(in *Intent) { in.Changes.Ops[0] = change.Create("/w/a", []byte("x"), 0o755) },
	} {
		in := base()
		change(&in)
		if seal(in) == want {
			t.Errorf("%s is not bound", name)
		}
	}
}

// Every error of a host becomes one that says what to do, and a fault stays a fault.
func TestPathErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code Code
	}{
		{fs.ErrNotExist, NotFound}, {fs.ErrPermission, Forbidden}, {host.ErrIsDir, InvalidParameter}, {host.ErrNotDir, InvalidParameter},
		{host.ErrSpecial, InvalidParameter}, {host.ErrInvalidPath, InvalidParameter}, {host.ErrNoSpace, OperationFailed}, {host.ErrChanged, Stale},
		{host.ErrUnsupported, OperationNotAllowed}, {host.ErrNotEmpty, Stale}, {errors.New("odd"), OperationFailed},
	} {
		var e *Error
		if err := PathError("path", "x/y", &host.PathError{Op: "open", Path: "/w/x/y", Err: tt.err}); !errors.As(err, &e) || e.Code != tt.code || !strings.Contains(e.Message, `"x/y"`) {
			t.Errorf("%v: %v", tt.err, err)
		} else if e.Hint == "" && e.Expected == "" {
			t.Errorf("%v does not say what to do next", tt.err)
		}
		if err := PathError("path", strings.Repeat("x", 1<<20), tt.err); len(err.Error()) > 2000 {
			t.Errorf("%v: %d bytes", tt.err, len(err.Error()))
		}
	}
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, &Denial{Message: "no"}} {
		if got := PathError("path", "x", &host.PathError{Op: "open", Path: "/x", Err: err}); !errors.Is(got, err) || errors.As(got, new(*Error)) {
			t.Errorf("%v became %v", err, got)
		}
	}
	if err := PathError("path", "x", Fault(errors.New("broken"))); !IsFault(err) {
		t.Error("a fault was softened")
	}
	if PathError("path", "x", nil) != nil || Fault(nil) != nil {
		t.Error("nil")
	}
}

func TestDescribe(t *testing.T) {
	if got, want := Describe("One {{.N}}\nline.\n\n- a\n- b\n", map[string]int{"N": 1}), "One 1 line.\n\n- a\n- b"; got != want {
		t.Errorf("%q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a template without its value did not panic")
		}
	}()
	Describe("{{.Missing}}", map[string]int{})
}

func TestApproved(t *testing.T) {
	c := &Call{}
	if ok, _ := c.Approved(7); !ok {
		t.Error("without a choice everything is approved")
	}
	c.Hunks, c.Denied = []int{1, 3}, map[int]string{2: "not this one"}
	for n, want := range map[int]bool{1: true, 2: false, 3: true, 4: false} {
		if ok, words := c.Approved(n); ok != want || n == 2 && words != "not this one" {
			t.Errorf("hunk %d: %v %q", n, ok, words)
		}
	}
}

func TestDefineRefusesContradictions(t *testing.T) {
	plan := func(context.Context, *Call, struct{}) (Action, error) { return Action{}, nil }
	ok := Spec{Name: "x", Category: "c", Description: "d"}
	for name, change := range map[string]func(*Spec){
		"name": func(s *Spec) { s.Name = "X y" }, "category": func(s *Spec) { s.Category = "" }, "description": func(s *Spec) { s.Description = "" },
		"annotations": func(s *Spec) { s.Annotations = Annotations{ReadOnly: true, Destructive: true} }, "example": func(s *Spec) { s.Example = "{" },
	} {
		s := ok
		change(&s)
		if Define(s, plan).Definition().Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	d := Define(ok, plan).Definition()
	if d.Err() != nil || d.Permission != "x" || d.Version != "1" || d.Author != "tackle" {
		t.Errorf("%+v", d)
	}
}

func TestVerdictText(t *testing.T) {
	for _, v := range []Verdict{Allow, Ask, Deny} {
		b, err := json.Marshal(v)
		var back Verdict
		if err != nil || json.Unmarshal(b, &back) != nil || back != v {
			t.Errorf("%v: %s %v", v, b, err)
		}
	}
	if err := new(Verdict).UnmarshalText([]byte("maybe")); err == nil {
		t.Error("maybe is a verdict")
	}
}
