package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// secretive returns an environment with a credential.
func secretive(secret string) tool.Environment {
	env := tool.Environment{Mode: "code"}
	env.Services.Google.CSE = tool.CSE{APIKey: tool.NewSecret(secret), EngineID: "cx"}
	return env
}

// T9: a credential that JSON writes otherwise, and one in any field of a result, of a record or of what a tool spools.
func TestT9_EveryField(t *testing.T) {
	for _, canary := range []string{"canary-4f1d9a", `ca"na<ry\é&4f`} {
		kept := keptArtifacts{}
		var recs []*session.Record
		env := secretive(canary)
		b, err := New(Config{Env: env, Artifacts: kept, Gate: gateFunc(func(GateRequest) tool.Decision {
			return tool.Decision{Verdict: tool.Allow, By: "rule " + canary, Reason: canary, Denied: map[int]string{1: canary}}
		}), Recorder: recorderFunc(func(r *session.Record) { recs = append(recs, r) })})
		if err != nil {
			t.Fatal(err)
		}
		leak := tool.Define(tool.Spec{Name: "leak", Category: "test", Description: "Say too much."}, func(_ context.Context, call *tool.Call, in echoInput) (tool.Action, error) {
			intent := tool.Intent{Effects: []tool.Effect{tool.Write}, MayCreate: []string{"/w/" + canary}, Note: map[string]string{"k": canary},
				Targets: []tool.Target{tool.PathTo(host.Path{Given: canary, Abs: "/w/" + canary, Real: "/w/" + canary, Self: "/w/" + canary, Rel: canary}, tool.Write)}}
			return tool.Action{Intent: intent, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
				if _, err := call.Artifacts.Put(ctx, "s", canary, "text/plain", iotest.OneByteReader(strings.NewReader("x"+canary+"y"))); err != nil {
					return tool.Result{}, err
				}
				r.Meta("k", []string{canary})
				res := tool.Result{Data: map[string]string{"k": canary}, Parts: []tool.Part{tool.Text(canary), {Kind: tool.LinkKind, Name: canary, URI: "https://x/" + canary},
					{Kind: tool.DocumentKind, MIME: "text/plain", Data: []byte(canary)}}}
				if in.Times > 0 {
					return tool.Result{}, &tool.Denial{Message: canary, Decision: tool.Decision{Verdict: tool.Deny, Reason: canary}}
				}
				return res, nil
			}}, nil
		})
		if err := b.Register(leak, "code"); err != nil {
			t.Fatal(err)
		}
		for _, times := range []int{0, 1} {
			args, err := json.Marshal(echoInput{Text: canary, Times: times})
			if err != nil {
				t.Fatal(err)
			}
			res, err := b.Call(t.Context(), Request{Tool: "leak", Args: args})
			if err != nil {
				t.Fatal(err)
			}
			all := fmt.Sprintf("%+v %+v %+v", res.Parts, res.Meta, res.Data)
			for i := range res.Parts {
				all += string(res.Parts[i].Data)
			}
			if raw, ok := res.Data.(json.RawMessage); ok {
				all += string(raw)
			}
			if res.Denied != nil {
				all += fmt.Sprintf("%+v", *res.Denied)
			}
			j, err := json.Marshal(res.Meta)
			if err != nil {
				t.Fatal(err)
			}
			all += string(j)
			for _, r := range recs {
				j, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				all += fmt.Sprintf("%s %+v", j, r.Intent.Targets[0].Path)
			}
			for _, text := range kept {
				all += text
			}
			for _, f := range newRedactor([]string{canary}).forms {
				if strings.Contains(all, f) {
					i := strings.Index(all, f)
					t.Errorf("%q times %d: …%s", f, times, all[max(0, i-100):i+len(f)])
				}
			}
			if !strings.Contains(all, "x[secret]y") {
				t.Errorf("what the tool spooled: %q", kept)
			}
		}
	}
}

// A diff holds what was in the file; it is masked like the rest.
func TestT9_Diff(t *testing.T) {
	r := newRedactor([]string{"canary-1", "canary-1-and-more"})
	res := tool.Result{Meta: tool.Meta{Diff: "-canary-1-and-more\n", Changes: []change.FileChange{{Path: "canary-1"}}, Repairs: []string{"from canary-1"}}}
	shared := res.Meta.Changes
	r.result(&res)
	if got := res.Meta.Diff + res.Meta.Changes[0].Path + res.Meta.Repairs[0]; got != "-[secret]\n[secret]from [secret]" {
		t.Errorf("%q", got)
	}
	if shared[0].Path != "canary-1" {
		t.Error("what others hold was changed")
	}
}

// A stream is masked as a whole would be, wherever its reads end.
func TestT9_Stream(t *testing.T) {
	r := newRedactor([]string{"abcabd", "abcabdabc", "zzzz"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"abcabd", "abc", "ab", "a", "zzzz", "zzzz", "z", "é", "\xff", "\n"})).Draw(t, "text"), "")
		var in io.Reader = strings.NewReader(text)
		switch rapid.IntRange(0, 3).Draw(t, "reads") {
		case 1:
			in = iotest.OneByteReader(in)
		case 2:
			in = iotest.HalfReader(in)
		case 3:
			in = iotest.DataErrReader(in)
		}
		got, err := io.ReadAll(&maskReader{r: in, redactor: r})
		if err != nil || string(got) != r.text(text) {
			t.Fatalf("%v\n got %q\nwant %q", err, got, r.text(text))
		}
	})
	const run = "zzzzzzzzzzzz" // secrets side by side, which overlap with themselves
	if got, err := io.ReadAll(&maskReader{r: iotest.OneByteReader(strings.NewReader(run)), redactor: r}); err != nil || string(got) != r.text(run) {
		t.Errorf("%v\n got %q\nwant %q", err, got, r.text(run))
	}
	if _, err := io.ReadAll(&maskReader{r: iotest.ErrReader(io.ErrUnexpectedEOF), redactor: r}); err != io.ErrUnexpectedEOF {
		t.Errorf("the error of the source: %v", err)
	}
}
