package tackle

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
)

// P8, P11: an ask is stored as it was shown before anybody sees it, and its end before the call goes on.
func TestP8_AsksAreEventsOfTheirSession(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	box, err := Open(t.Context(), Config{Dir: dir, StateDir: state, NoFiles: true, Session: "s", Rules: []permission.Rule{{Permission: "edit", Pattern: "**", Action: tool.Ask}}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	stored := func(phase ask.EventKind) *AskRecord {
		evs, err := box.Store().Read(t.Context(), "s", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range evs {
			var rec AskRecord
			if ev.Kind == AskKind && json.Unmarshal(ev.Body, &rec) == nil && rec.Phase == phase {
				return &rec
			}
		}
		return nil
	}
	face := ask.FaceFunc(func(ctx context.Context, r *ask.Request) (ask.Answer, error) {
		switch rec := stored(ask.Opened); {
		case rec == nil || rec.ID != r.ID || rec.Request == nil || rec.Request.Shown != r.Shown || rec.Request.View.Title != r.View.Title:
			t.Errorf("seen before it was stored: %+v", rec)
		}
		return ask.Answer{Allow: true, Fingerprint: r.Fingerprint, Approver: ask.Approver{Name: "operator", Face: "test"}}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sub := box.Asks().Subscribe(ask.Audience{})
	go sub.Serve(ctx, face)
	res, err := box.Call(t.Context(), NewRequest("write_file", map[string]any{"path": "x", "content": "x"}))
	if err != nil || !res.OK() {
		t.Fatal(err, res.Text())
	}
	rec := stored(ask.Closed)
	if rec == nil || rec.Decision == nil || rec.Decision.By != "person operator (test)" || rec.Call != res.Meta.Call {
		t.Errorf("its end: %+v", rec)
	}
	if _, err := box.VerifyLedger(t.Context()); err != nil {
		t.Error(err)
	}
}

// A diff that is too large for the store is kept in part, and says so.
func TestP8_LargeAsksAreKeptInPart(t *testing.T) {
	r := &ask.Request{ID: "a", View: ask.View{Diff: strings.Repeat("+line\n", mostShown/6+10)}}
	ev, err := askEvent(AskRecord{Phase: ask.Opened, ID: "a", Request: r}, "", "k", time.Time{})
	if err != nil || len(ev.Body) > store.MaxBody || !strings.Contains(string(ev.Body), "are not kept") || ev.Session == "" {
		t.Errorf("%d bytes, %v", len(ev.Body), err)
	}
	if len(r.View.Diff) < mostShown {
		t.Error("the request itself was cut")
	}
}

func TestRemoveSessions(t *testing.T) {
	box, err := Open(t.Context(), Config{Dir: t.TempDir(), StateDir: t.TempDir(), NoFiles: true, Session: "own"})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, s := range []string{"old", "other"} {
		req := NewRequest("list_dir", map[string]any{"path": "."})
		req.Session = s
		if _, err := box.Call(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if _, err := box.ArtifactStore().Put(t.Context(), s, "out", "text/plain", strings.NewReader("kept by two")); err != nil {
			t.Fatal(err)
		}
	}
	box.Settle()
	if err := box.RemoveSessions(t.Context(), "person operator", "own"); err == nil {
		t.Error("removed its own session")
	}
	if err := box.RemoveSessions(t.Context(), "person operator", "old"); err != nil {
		t.Fatal(err)
	}
	if recs, err := box.Calls(t.Context(), "old"); len(recs) != 0 || err != nil {
		t.Errorf("%d records are left, %v", len(recs), err)
	}
	for s, want := range map[string]int{"old": 0, "other": 1} {
		if list, err := box.ArtifactStore().List(t.Context(), s); len(list) != want || err != nil {
			t.Errorf("session %s refers to %d artifacts, want %d, %v", s, len(list), want, err)
		}
	}
	entries, err := box.Ledger(t.Context(), 0, 0)
	if err != nil || !strings.Contains(entries[len(entries)-1].Reason, "session old removed") || entries[len(entries)-1].By != "person operator" {
		t.Errorf("the ledger: %+v, %v", entries, err)
	}
	if _, err := box.VerifyLedger(t.Context()); err != nil {
		t.Error(err)
	}
}
