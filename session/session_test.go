package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/tool"
)

func record(call string, marks ...Mark) *Record {
	return &Record{Phase: End, Call: call, Tool: "read_file", Session: "s1", Raw: json.RawMessage(`{"path":"a"}`), Args: json.RawMessage(`{"path":"a"}`),
		Decision: &tool.Decision{By: "posture guarded"}, Intent: &tool.Intent{Effects: []tool.Effect{tool.Read}, Targets: []tool.Target{{Kind: tool.PathTarget, Value: "/w/a"}}},
		Result: &Outcome{}, Marks: marks, At: time.Unix(1, 0)}
}

// F9: read-state survives the process; hydration fills only what is missing.
func TestF9_ReadStateIsFoldedFromCalls(t *testing.T) {
	st := &store.Memory{}
	one, two := change.Sum([]byte("1")), change.Sum([]byte("2"))
	first := NewLog(st)
	for _, r := range []*Record{
		record("c1", Mark{"/w/a", one}, Mark{"/w/b", one}, Mark{"/w/gone", one}),
		record("c2", Mark{"/w/a", two}, Mark{"/w/gone", change.Digest{}}),
	} {
		if err := first.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	rs, err := NewLog(st).ReadState(t.Context(), "s1") // another process
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]change.Digest{"/w/a": two, "/w/b": one, "/w/gone": {}} {
		got, ok := rs.Seen(key)
		if got != want || ok != (want != change.Digest{}) {
			t.Errorf("%s: %v %v, want %v", key, got, ok, want)
		}
	}
	live := &ReadState{}
	live.Mark("/w/a", change.Sum([]byte("live")))
	recs, err := first.Calls(t.Context(), "s1")
	if err != nil || len(recs) != 2 {
		t.Fatalf("%d records, %v", len(recs), err)
	}
	live.Hydrate(recs)
	if got, _ := live.Seen("/w/a"); got != change.Sum([]byte("live")) {
		t.Error("hydration replaced what is live")
	}
	if live.Len() != 2 {
		t.Errorf("%d keys", live.Len())
	}
}

// A parent's read-state that is handed over wins over the session's own.
func TestHandedOver(t *testing.T) {
	parent := &ReadState{}
	ctx := WithReadState(context.Background(), parent)
	for name, get := range map[string]func(context.Context, string) (tool.ReadState, error){
		"log": NewLog(&store.Memory{}).ReadState, "memory": (&Memory{}).ReadState,
	} {
		if rs, err := get(ctx, "child"); err != nil || rs != tool.ReadState(parent) {
			t.Errorf("%s: %v %v", name, rs, err)
		}
		a, _ := get(context.Background(), "x")
		b, _ := get(context.Background(), "x")
		c, _ := get(context.Background(), "y")
		if a != b || a == c {
			t.Errorf("%s: sessions share or lose their state", name)
		}
	}
}

// P11: every record has its ledger entry, and the chain holds.
func TestP11_Ledger(t *testing.T) {
	st := &store.Memory{}
	l := NewLog(st)
	write := record("c2")
	write.Phase, write.Result = Start, nil
	write.Intent = &tool.Intent{Effects: []tool.Effect{tool.Write}, Changes: &change.Set{Ops: []change.Op{change.Create("/w/n", []byte("n"), 0o644)}}}
	end := *write
	end.Phase, end.Result = End, &Outcome{Meta: tool.Meta{Transaction: []string{"t1"}}}
	end.Committed = []*change.Set{write.Intent.Changes, {Ops: []change.Op{change.Create("/w/m", []byte("m"), 0o644)}}} // the second was made by running
	second := *write
	second.Point = 2
	denied := record("c3")
	denied.Decision = &tool.Decision{Verdict: tool.Deny, By: "rule user:3"}
	denied.Result = &Outcome{Denied: true, Err: tool.Errorf(tool.PermissionDenied, "no")}
	broken := record("c4")
	broken.Raw = json.RawMessage(`{"path":`)
	for _, r := range []*Record{record("c1"), write, &second, &end, denied, broken} {
		if err := l.Record(t.Context(), r); err != nil {
			t.Fatalf("%s: %v", r.Call, err)
		}
	}
	led := ledger.New(st, nil)
	if _, err := led.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	var entries []ledger.Entry
	evs, err := st.Read(t.Context(), ledger.Stream, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range evs {
		var e ledger.Entry
		if err := json.Unmarshal(ev.Body, &e); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	want := []struct {
		call, decision, outcome string
		kind                    ledger.Kind
	}{
		{"c1", "allow", "ok", ledger.Ran}, {"c2", "allow", "", ledger.Decision}, {"c2", "allow", "", ledger.Decision}, {"c2", "allow", "ok", ledger.Ran},
		{"c3", "deny", "PERMISSION_DENIED", ledger.Decision}, {"c4", "allow", "ok", ledger.Ran},
	}
	if len(entries) != len(want) {
		t.Fatalf("%d entries, want %d", len(entries), len(want))
	}
	for i, w := range want {
		e := entries[i]
		if e.Call != w.call || e.Decision != w.decision || e.Outcome != w.outcome || e.Kind != w.kind {
			t.Errorf("entry %d: %+v, want %+v", i, e, w)
		}
	}
	if f := entries[3].Files; len(f) != 2 || f[0].Path != "/w/n" || f[0].After != change.Sum([]byte("n")).String() || f[1].Path != "/w/m" || entries[3].Tx != "t1" {
		t.Errorf("files %+v, tx %q", f, entries[3].Tx)
	}
	if entries[1].Point != 1 || entries[2].Point != 2 {
		t.Errorf("gate points %d and %d", entries[1].Point, entries[2].Point)
	}
}

// Records of reads are stored a little later, in order, and before any record that somebody waits for.
func TestLightRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &store.Memory{}
		l := NewLog(st)
		light := func(name string) {
			t.Helper()
			r := record(name)
			r.Light = true
			if err := l.Record(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		names := func() string {
			t.Helper()
			recs, err := NewLog(st).Calls(t.Context(), "s1") // as another process sees it
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, r := range recs {
				out = append(out, r.Call)
			}
			return strings.Join(out, " ")
		}
		light("a")
		light("b")
		if got := names(); got != "" {
			t.Errorf("stored at once: %s", got)
		}
		time.Sleep(lightDelay)
		synctest.Wait()
		if got := names(); got != "a b" {
			t.Errorf("after the delay: %s", got)
		}
		light("c")
		if err := l.Record(t.Context(), record("d")); err != nil {
			t.Fatal(err)
		}
		if got := names(); got != "a b c d" {
			t.Errorf("before a record that is waited for: %s", got)
		}
		for i := range lightMost {
			light(fmt.Sprint("m", i))
		}
		if got := strings.Count(names(), "m"); got != lightMost {
			t.Errorf("%d of %d stored when many wait", got, lightMost)
		}
		light("e")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got := names(); !strings.HasSuffix(got, " e") {
			t.Errorf("after Close: %s", got)
		}
		synctest.Wait()
	})
}

// slowStore appends when it is let.
type slowStore struct {
	store.Memory
	enter, leave chan struct{}
}

func (s *slowStore) Append(ctx context.Context, evs ...store.Event) ([]int64, error) {
	s.enter <- struct{}{}
	<-s.leave
	return s.Memory.Append(ctx, evs...)
}

// Whoever asks the log, or closes it, meets what was recorded before, also while that is being stored; and a call waits
// for its own record, not for those that came after it.
func TestLogSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &slowStore{enter: make(chan struct{}), leave: make(chan struct{})}
		l := NewLog(st)
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- l.Record(t.Context(), record("a")) }()
		<-st.enter
		go func() { second <- l.Record(t.Context(), record("b")) }()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- l.Close() }()
		asked := make(chan int, 1)
		go func() {
			recs, err := l.Calls(t.Context(), "s1")
			if err != nil {
				t.Error(err)
			}
			asked <- len(recs)
		}()
		synctest.Wait()
		st.leave <- struct{}{}
		<-st.enter
		synctest.Wait()
		if len(first) != 1 || len(second) != 0 || len(closed) != 0 || len(asked) != 0 {
			t.Errorf("first %d, second %d, closed %d, asked %d", len(first), len(second), len(closed), len(asked))
		}
		st.leave <- struct{}{}
		if err := <-second; err != nil {
			t.Error(err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if n := <-asked; n != 2 {
			t.Errorf("%d records", n)
		}
	})
}

// Many sessions record at once: every record is stored, once, in the order of its session.
func TestLogConcurrent(t *testing.T) {
	st := &store.Memory{}
	l := NewLog(st)
	var wg sync.WaitGroup
	const sessions, each = 8, 50
	for s := range sessions {
		wg.Go(func() {
			for i := range each {
				r := record(fmt.Sprintf("c%d", i))
				r.Session, r.Light = fmt.Sprintf("s%d", s), i%3 > 0
				if err := l.Record(t.Context(), r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for s := range sessions {
		recs, err := NewLog(st).Calls(t.Context(), fmt.Sprintf("s%d", s))
		if err != nil || len(recs) != each {
			t.Fatalf("session %d: %d records, %v", s, len(recs), err)
		}
		for i, r := range recs {
			if r.Call != fmt.Sprintf("c%d", i) {
				t.Errorf("session %d: %s at place %d", s, r.Call, i)
			}
		}
	}
	if n, err := l.Verify(t.Context()); err != nil || n != sessions*each {
		t.Errorf("%d entries, %v", n, err)
	}
}

// A light record that cannot be stored is told with the next one.
func TestLightRecordsAreNotLostSilently(t *testing.T) {
	st := store.Open(t.TempDir(), store.Options{})
	l := NewLog(st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	r := record("a")
	r.Light = true
	if err := l.Record(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err == nil {
		t.Error("nothing was told")
	}
}

// What a call only read is stored in short: the beginning of the text with the digest of all, and data that is small.
func TestShorten(t *testing.T) {
	long := strings.Repeat("text ", 1000)
	for _, big := range []bool{false, true} {
		n := 10
		if big {
			n = keptData
		}
		res := tool.TextResult(long, strings.Repeat("x", n))
		o := OutcomeOf(&res)
		o.Shorten()
		p := o.Parts[0]
		if len(p.Text) > 2*keptText || !strings.HasPrefix(long, p.Text[:100]) || p.Size != int64(len(long)) || p.Name != "sha256:"+change.Sum([]byte(long)).String() || (o.Data == nil) != big {
			t.Errorf("big %v: %d bytes of text, %+v, %d of data", big, len(p.Text), p, len(o.Data))
		}
		if res.Text() != long {
			t.Error("the result itself was cut")
		}
	}
}
