//go:build linux || darwin

package local

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/change"
)

// A write that was cut short anywhere is recognised; a foreign content of the same size is not taken for one.
func TestTorn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SliceOf(rapid.ByteRange('a', 'c')).Draw(t, "old")
		new := rapid.SliceOf(rapid.ByteRange('a', 'c')).Draw(t, "new")
		k := rapid.IntRange(0, len(new)).Draw(t, "written")
		now := append([]byte(nil), new[:k]...)
		if k < len(old) {
			now = append(now, old[k:]...)
		}
		if !torn(now, old, new) {
			t.Fatalf("%q after %d bytes of %q over %q is not recognised", now, k, new, old)
		}
		i := rapid.IntRange(0, len(now)).Draw(t, "at")
		if i < len(now) {
			foreign := append([]byte(nil), now...)
			foreign[i] = 'x'
			if torn(foreign, old, new) {
				t.Fatalf("%q is taken for a piece of %q over %q", foreign, new, old)
			}
		}
	})
}

func journalFile(t testing.TB, contents ...string) []byte {
	t.Helper()
	l := newLocal(t.(*testing.T), nil)
	s, err := l.acquireSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &commit{l: l, s: s, id: "the-id", key: s.newKey(l.cfg.Now())}
	for i, text := range contents {
		op := change.Create("/f", []byte(text), 0o644)
		c.acts = append(c.acts, &act{i: i, op: &op, step: step{Path: "/f", Way: wayCreate}})
	}
	if err := c.writeJournal(); err != nil {
		t.Fatal(err)
	}
	fd, st, err := openLeaf(s.tx, c.key)
	if err != nil {
		t.Fatal(err)
	}
	data, err := readFile(fd, st.size)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A journal counts if and only if every byte of it is there.
func TestJournalIsWholeOrNothing(t *testing.T) {
	data := journalFile(t, "", "one", string(bytes.Repeat([]byte("two"), 40_000)))
	h, contents, ok := readJournal(data)
	if !ok || h.ID != "the-id" || len(h.Steps) != 3 || string(contents[1]) != "one" || len(contents[2]) != 120_000 {
		t.Fatalf("%+v %v", h, ok)
	}
	for n := 0; n < len(data); n += 1 + n/50 {
		if _, _, ok := readJournal(data[:n]); ok {
			t.Fatalf("the first %d of %d bytes count", n, len(data))
		}
		broken := bytes.Clone(data)
		broken[n] ^= 1
		if _, _, ok := readJournal(broken); ok {
			t.Fatalf("with byte %d broken it counts", n)
		}
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(journalTrailer))
	f.Add([]byte("{\"steps\":[{}],\"sizes\":[5],\"before\":[]}\nhello\x00\x00\x00\x00" + journalTrailer))
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, contents, ok := readJournal(data); ok && len(h.Steps) != len(contents) {
			t.Fatal("a journal with steps and contents that do not fit")
		}
	})
}

func FuzzLog(f *testing.F) {
	f.Add([]byte("begin 18eca48cf8b76968000 id {\"steps\":[]}\nend 18eca48cf8b76968000 {\"before\":[],\"after\":[]}\n"))
	f.Add([]byte("begin 18eca48cf8b76968000 id {\"st\nstaged x\n\nabort 18eca48cf8b76968000\nkept 18eca48cf8b76968000 {}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		seg := &segment{txs: map[string]*logged{}}
		for line := range lines(data) {
			seg.add(line, 0)
		}
		for key, tx := range seg.txs {
			if !validKey(key) || keyTime(key).IsZero() {
				t.Fatalf("key %q", key)
			}
			if tx.done {
				if got, err := tx.transaction(nil); err == nil && got.ID != tx.id {
					t.Fatal("another transaction")
				}
			}
		}
	})
}
