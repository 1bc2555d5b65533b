package tackle_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
)

// P11: the ledger holds what was asked, what the person was shown, who it was, and what ran.
func TestP11_LedgerNamesThePerson(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n"})
	box := p.open(tackle.Config{Rules: askEdits, Session: "s1"}, false)
	var shown string
	serve(t, box, func(r *ask.Request) ask.Answer { shown = r.Shown; return ask.Answer{Allow: true} })
	if res := call(t, box, "edit", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"}); !res.OK() {
		t.Fatal(res.Text())
	}
	entries, err := box.Ledger(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.Join([]string{string(e.Kind), e.Decision, e.By, e.Outcome}, "|"))
		if len(e.Targets) != 1 || !strings.HasSuffix(e.Targets[0], "/ws/a.txt") {
			t.Errorf("targets %q", e.Targets)
		}
		if e.Shown != "" && e.Shown != shown {
			t.Errorf("shown %q, want %q", e.Shown, shown)
		}
	}
	want := []string{"request|ask|rule program:1|", "decision|allow|person reviewer (terminal)|", "ran|allow|person reviewer (terminal)|ok"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if shown == "" || entries[1].Shown != shown {
		t.Errorf("the answer does not name what was shown: %+v", entries[1])
	}
	last := entries[len(entries)-1]
	report, err := box.VerifyLedger(t.Context(), tackle.LedgerAnchor{Seq: last.Seq, Hash: last.Hash})
	if err != nil || report.Entries != int64(len(entries)) {
		t.Errorf("%+v %v", report, err)
	}
}

// P4: a policy is tried on a recorded session: what it would ask, and what it would treat otherwise than then.
func TestP4_DryRun(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n", ".env": "K=1\n"})
	box := p.open(tackle.Config{Session: "s1"}, false)
	serve(t, box, func(r *ask.Request) ask.Answer { return ask.Answer{Allow: true} })
	for _, c := range []struct {
		name string
		args map[string]any
	}{
		{"read_file", map[string]any{"path": "a.txt"}},
		{"read_file", map[string]any{"path": ".env"}},
		{"edit", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"}},
		{"write_file", map[string]any{"path": "b.txt", "content": "x"}},
		{"read_file", map[string]any{"path": "missing"}},
	} {
		call(t, box, c.name, c.args)
	}
	tests := []struct {
		name string
		cfg  tackle.Config
		want string
	}{
		{"the same policy", tackle.Config{}, "allow read_file\nask read_file\nallow edit\nallow write_file\n"},
		{"edits are asked", tackle.Config{Rules: askEdits}, "allow read_file\nask read_file\nask* edit\nask* write_file\n"},
		{"nobody is there", tackle.Config{Posture: "ci"}, "allow read_file\ndeny* read_file\nallow edit\nallow write_file\n"},
		{"only looking", tackle.Config{Posture: "plan"}, "allow read_file\ndeny* read_file\ndeny* edit\ndeny* write_file\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run, err := p.open(tt.cfg, false).DryRun(t.Context(), "s1")
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for i := range run.Calls {
				c := &run.Calls[i]
				b.WriteString(c.Now.Verdict.String())
				if c.Differs() {
					b.WriteString("*")
				}
				b.WriteString(" " + c.Tool + "\n")
			}
			if b.String() != tt.want || run.Skipped != 1 {
				t.Errorf("%d skipped\n got %s\nwant %s", run.Skipped, b.String(), tt.want)
			}
			if now, then := run.Count(tool.Ask); then != 1 || now != strings.Count(tt.want, "ask") {
				t.Errorf("asks: %d, then %d", now, then)
			}
		})
	}
	if _, err := box.DryRun(t.Context(), "nobody"); err == nil {
		t.Error("a session that is not there was tried")
	}
	if got := p.get("ws/a.txt"); got != "two\n" {
		t.Errorf("a dry run changed the file: %q", got)
	}
}
