package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/store"
)

// TestMain lets the test binary act as another process that writes the same ledger.
func TestMain(m *testing.M) {
	dir := os.Getenv("LEDGER_TEST_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	st := store.Open(dir, store.Options{})
	defer st.Close()
	l := New(st, nil)
	for i := range 60 {
		_, _, err := l.AppendWith(context.Background(), []store.Event{{Session: "calls", Kind: "call"}}, sample(i)...)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func clock() func() time.Time {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	return func() time.Time { at = at.Add(time.Second); return at }
}

// sample is what one call leaves behind.
func sample(i int) []Entry {
	call := fmt.Sprint("call-", i)
	return []Entry{
		{Kind: Request, Session: "s1", Call: call, Point: 1, Tool: "edit", Effects: []string{"read", "write"}, Targets: []string{"/w/a.go"}, Fingerprint: "f1"},
		{Kind: Decision, Session: "s1", Call: call, Point: 1, Decision: "allow", By: "rule: project edit /w/** allow", Shown: "d1"},
		{Kind: Ran, Session: "s1", Call: call, Outcome: "ok", Tx: "tx1", Files: []File{{Path: "/w/a.go", Before: "b1", After: "a1"}, {Path: "/w/ü", After: "a2"}}},
	}
}

func filled(t testing.TB, calls int) (*Ledger, *store.Memory) {
	t.Helper()
	st := &store.Memory{}
	l := New(st, clock())
	for i := range calls {
		if _, err := l.Append(context.Background(), sample(i)...); err != nil {
			t.Fatal(err)
		}
	}
	return l, st
}

func TestP11_AppendChains(t *testing.T) {
	l, _ := filled(t, 2)
	entries, err := l.Read(t.Context(), 0, 0)
	if err != nil || len(entries) != 6 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for i, e := range entries {
		if e.Seq != int64(i+1) || len(e.Hash) != 64 || (i > 0 && e.Prev != entries[i-1].Hash) {
			t.Errorf("entry %d: %+v", i+1, e)
		}
	}
	want := sample(0)[2]
	want.Seq, want.At, want.Prev, want.Hash = 3, entries[2].At, entries[1].Hash, entries[2].Hash
	if d := cmp.Diff(want, entries[2]); d != "" {
		t.Errorf("an entry came back changed (-want +got):\n%s", d)
	}
	rep, err := l.Verify(t.Context())
	if err != nil || rep.Entries != 6 || rep.Head.Hash != entries[5].Hash {
		t.Errorf("verify: %+v, %v", rep, err)
	}
	if head, err := l.Head(t.Context()); err != nil || head != rep.Head {
		t.Errorf("head %+v, %v, want %+v", head, err, rep.Head)
	}
}

func TestEmptyLedger(t *testing.T) {
	l := New(&store.Memory{}, nil)
	if rep, err := l.Verify(t.Context()); err != nil || rep != (Report{}) {
		t.Errorf("verify: %+v, %v", rep, err)
	}
	if head, err := l.Head(t.Context()); err != nil || head != (Anchor{}) {
		t.Errorf("head: %+v, %v", head, err)
	}
	if _, err := l.Append(t.Context(), Entry{Kind: "other"}); err == nil {
		t.Error("an unknown kind was accepted")
	}
}

func TestAppendWithIsOneTransaction(t *testing.T) {
	l, st := filled(t, 1)
	bad := store.Event{Session: "calls", Kind: "call", Seq: 9}
	_, _, err := l.AppendWith(t.Context(), []store.Event{bad}, sample(1)...)
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) || conflict.Session != "calls" {
		t.Fatalf("error %v, want the event's conflict", err)
	}
	if n, _ := st.Last(t.Context(), Stream); n != 3 {
		t.Errorf("%d entries, want 3: the entries of a refused batch were stored", n)
	}
	out, seqs, err := l.AppendWith(t.Context(), []store.Event{{Session: "calls", Kind: "call"}, {Session: "calls", Kind: "call"}}, sample(1)...)
	if err != nil || len(out) != 3 || out[2].Seq != 6 || !slices.Equal(seqs, []int64{1, 2}) {
		t.Errorf("%v %v %v", out, seqs, err)
	}
	if rep, err := l.Verify(t.Context()); err != nil || rep.Entries != 6 {
		t.Errorf("verify: %+v, %v", rep, err)
	}
}

// Every change of the stored chain is found, at the entry where it is.
func TestP11_VerifyFindsTampering(t *testing.T) {
	l, st := filled(t, 3)
	stored, err := st.Read(t.Context(), Stream, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	bodies := func() [][]byte {
		var out [][]byte
		for _, ev := range stored {
			out = append(out, bytes.Clone(ev.Body))
		}
		return out
	}
	reseal := func(body []byte, change func(*Entry)) []byte {
		e, err := parse(body)
		if err != nil {
			t.Fatal(err)
		}
		change(&e)
		return e.seal()
	}
	anchor, _ := l.Head(t.Context())
	for _, c := range []struct {
		name    string
		tamper  func(b [][]byte) [][]byte
		seq     int64
		reason  string
		anchors []Anchor
	}{
		{"a changed word", func(b [][]byte) [][]byte {
			b[1] = bytes.Replace(b[1], []byte("allow"), []byte("denyx"), 1)
			return b
		}, 2, "its hash is", nil},
		{"a changed and resealed entry", func(b [][]byte) [][]byte {
			b[3] = reseal(b[3], func(e *Entry) { e.By = "nobody" })
			return b
		}, 5, "it follows an entry with hash", nil},
		{"a removed entry", func(b [][]byte) [][]byte { return slices.Delete(b, 4, 5) }, 5, "it calls itself entry 6", nil},
		{"two swapped entries", func(b [][]byte) [][]byte { b[2], b[3] = b[3], b[2]; return b }, 3, "it calls itself entry 4", nil},
		{"an inserted entry", func(b [][]byte) [][]byte { return slices.Insert(b, 2, b[1]) }, 3, "it calls itself entry 2", nil},
		{"a hidden member", func(b [][]byte) [][]byte {
			b[0] = bytes.Replace(b[0], []byte("{"), []byte(`{"aaa":1,`), 1)
			return b
		}, 1, "not readable", nil},
		{"white space", func(b [][]byte) [][]byte {
			b[0] = bytes.Replace(b[0], []byte("{"), []byte(`{ `), 1)
			return b
		}, 1, "not the canonical form", nil},
		{"a repeated member", func(b [][]byte) [][]byte {
			b[0] = bytes.Replace(b[0], []byte("{"), []byte(`{"call":"x",`), 1)
			return b
		}, 1, "not the canonical form", nil},
		{"no JSON", func(b [][]byte) [][]byte { b[8] = []byte(`"gone"`); return b }, 9, "not readable", nil},
		{"a cut end, with an anchor", func(b [][]byte) [][]byte { return b[:7] }, 8, "entries were cut off", []Anchor{anchor}},
		{"a new chain, with an anchor", func(b [][]byte) [][]byte {
			prev := ""
			for i := range b {
				b[i] = reseal(b[i], func(e *Entry) { e.Prev, e.Reason = prev, "forged" })
				e, _ := parse(b[i])
				prev = e.Hash
			}
			return b
		}, 9, "written anew", []Anchor{anchor}},
	} {
		t.Run(c.name, func(t *testing.T) {
			forged := &store.Memory{}
			var export bytes.Buffer
			for _, b := range c.tamper(bodies()) {
				if _, err := forged.Append(t.Context(), store.Event{Session: Stream, Kind: "k", Body: b}); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&export, "%s\n", b)
			}
			rep, err := New(forged, nil).Verify(t.Context(), c.anchors...)
			check := func(rep Report, err error) {
				t.Helper()
				var broken *BrokenError
				if !errors.As(err, &broken) || broken.Seq != c.seq || !strings.Contains(err.Error(), c.reason) {
					t.Errorf("error %v, want entry %d and %q", err, c.seq, c.reason)
				}
				if want := c.seq - 1; rep.Entries != want && !strings.Contains(c.reason, "anew") {
					t.Errorf("%d entries before it, want %d", rep.Entries, want)
				}
			}
			check(rep, err)
			if c.name == "a hidden member" || c.name == "white space" || c.name == "a repeated member" {
				return // in an export that begins there, the number of the first entry is not known
			}
			rep, err = VerifyExport(&export, c.anchors...)
			check(rep, err)
		})
	}
	if _, err := l.Verify(t.Context(), anchor); err != nil {
		t.Errorf("the untouched chain: %v", err)
	}
}

func TestExport(t *testing.T) {
	l, _ := filled(t, 700) // more than one page
	var all, late bytes.Buffer
	if err := l.Export(t.Context(), &all, 0); err != nil {
		t.Fatal(err)
	}
	if err := l.Export(t.Context(), &late, 2000); err != nil {
		t.Fatal(err)
	}
	head, _ := l.Head(t.Context())
	if rep, err := VerifyExport(&all, head); err != nil || rep.Entries != 2100 || rep.Head != head {
		t.Errorf("whole export: %+v, %v", rep, err)
	}
	if rep, err := VerifyExport(&late, head); err != nil || rep.Entries != 100 {
		t.Errorf("late export: %+v, %v", rep, err)
	}
	if rep, err := l.Verify(t.Context()); err != nil || rep.Entries != 2100 {
		t.Errorf("verify: %+v, %v", rep, err)
	}
	if got, err := l.Read(t.Context(), 2098, 5); err != nil || len(got) != 2 {
		t.Errorf("read the end: %v, %v", got, err)
	}
}

// The canonical form is what the standard library writes for the same members in sorted order.
func TestCanonicalAgainstEncodingJSON(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "é<>&", "\u2028\x00\x1f\x7f\"\\/", "\b\f\n\r\t", "\xff\xfe", "😀"}))
	list := rapid.SliceOfN(text, 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		e := Entry{
			At: time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "at")), Kind: Ran, Session: text.Draw(t, "session"),
			Tool: text.Draw(t, "tool"), Effects: list.Draw(t, "effects"), Targets: list.Draw(t, "targets"),
			Reason: text.Draw(t, "reason"), Point: rapid.IntRange(0, 2).Draw(t, "point"), Seq: 7, Prev: "p",
			Files: []File{{Path: text.Draw(t, "path"), After: text.Draw(t, "after")}},
		}.valid()
		body := e.seal()
		back, err := parse(body)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, back); d != "" {
			t.Fatalf("round trip (-want +got):\n%s", d)
		}
		var members map[string]any
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		if err := dec.Decode(&members); err != nil {
			t.Fatal(err)
		}
		delete(members, "hash")
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(members); err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(buf.String(), "\n"))
		sum := sha256.Sum256([]byte(want))
		if hex.EncodeToString(sum[:]) != e.Hash {
			t.Fatalf("the hash is not that of\n%s\nbut of\n%s", want, body)
		}
	})
}

func TestGoroutinesShareAChain(t *testing.T) {
	st := store.Open(t.TempDir(), store.Options{})
	defer st.Close()
	a, b := New(st, nil), New(st, nil) // two ledgers that do not know of each other
	var wg sync.WaitGroup
	for i := range 6 {
		l := []*Ledger{a, b}[i%2]
		wg.Go(func() {
			for range 20 {
				if _, err := l.Append(t.Context(), sample(i)[0]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if rep, err := a.Verify(t.Context()); err != nil || rep.Entries != 120 {
		t.Errorf("verify: %+v, %v", rep, err)
	}
}

// P11: several processes write one whole chain.
func TestP11_ProcessesShareAChain(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "state")
	var cmds []*exec.Cmd
	for range 4 {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), "LEDGER_TEST_DIR="+dir)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	st := store.Open(dir, store.Options{})
	defer st.Close()
	if rep, err := New(st, nil).Verify(t.Context()); err != nil || rep.Entries != 4*60*3 {
		t.Errorf("verify: %+v, %v", rep, err)
	}
	if n, err := st.Last(t.Context(), "calls"); n != 240 || err != nil {
		t.Errorf("%d events beside the entries, %v, want 240", n, err)
	}
}

func FuzzVerifyExport(f *testing.F) {
	l, _ := filled(f, 1)
	var buf bytes.Buffer
	if err := l.Export(context.Background(), &buf, 0); err != nil {
		f.Fatal(err)
	}
	whole := buf.Bytes()
	f.Add(0, byte(1))
	f.Add(len(whole)-10, byte(7))
	f.Fuzz(func(t *testing.T, at int, flip byte) {
		data := bytes.Clone(whole)
		if at < 0 || flip == 0 {
			return
		}
		data[at%len(data)] ^= flip
		head, _ := l.Head(t.Context())
		if rep, err := VerifyExport(bytes.NewReader(data), head); err == nil && rep.Entries == 3 && !bytes.Equal(bytes.TrimRight(data, "\n"), bytes.TrimRight(whole, "\n")) {
			t.Fatalf("a changed byte at %d was not found: %+v", at%len(data), rep)
		}
	})
}

func BenchmarkLedgerAppend(b *testing.B) {
	for _, c := range []struct {
		name    string
		events  int
		entries int
	}{{"1-entry", 0, 1}, {"3-entries", 0, 3}, {"3-entries-and-event", 1, 3}} {
		b.Run(c.name, func(b *testing.B) {
			st := store.Open(b.TempDir(), store.Options{})
			defer st.Close()
			l := New(st, nil)
			var took []time.Duration
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				var evs []store.Event
				for range c.events {
					evs = append(evs, store.Event{Session: "s", Kind: "call", Body: []byte(`{"tool":"edit"}`)})
				}
				t := time.Now()
				if _, _, err := l.AppendWith(context.Background(), evs, sample(i)[3-c.entries:]...); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(t))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2]), "median-ns")
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	st := store.Open(b.TempDir(), store.Options{})
	defer st.Close()
	l := New(st, nil)
	for i := range 1000 {
		if _, err := l.Append(context.Background(), sample(i)...); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := l.Verify(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*3000)/b.Elapsed().Seconds(), "entries/s")
}
