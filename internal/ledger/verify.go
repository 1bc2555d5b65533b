package ledger

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
)

// BrokenError says where a chain is broken: at the first entry that cannot be what was written.
type BrokenError struct {
	Seq    int64
	Reason string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("the ledger is broken at entry %d: %s", e.Seq, e.Reason)
}

// Report says what was verified.
type Report struct {
	Entries int64  `json:"entries"` // that are whole, from the first one checked
	Head    Anchor `json:"head"`    // the last of them
}

// Verify reads the whole chain. It returns a *BrokenError with the first entry that is broken, or an error of the
// store. Each anchor must be found in the chain as it was noted.
func (l *Ledger) Verify(ctx context.Context, anchors ...Anchor) (Report, error) {
	v := verifier{anchors: anchors}
	for {
		evs, err := l.events.Read(ctx, Stream, v.head.Seq, page)
		if err != nil {
			return v.report(), err
		}
		for _, ev := range evs {
			if ev.Seq != v.head.Seq+1 {
				return v.report(), &BrokenError{Seq: v.head.Seq + 1, Reason: fmt.Sprintf("the entry is missing; the next one is %d", ev.Seq)}
			}
			if err := v.check(ev.Body); err != nil {
				return v.report(), err
			}
		}
		if len(evs) < page {
			return v.report(), v.finish()
		}
	}
}

// VerifyExport verifies what [Ledger.Export] wrote. An export that begins later in the chain is verified from its first
// entry on.
func VerifyExport(r io.Reader, anchors ...Anchor) (Report, error) {
	v := verifier{anchors: anchors, middle: true}
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadBytes('\n')
		if line = bytes.TrimSuffix(line, []byte{'\n'}); len(line) > 0 {
			if err := v.check(line); err != nil {
				return v.report(), err
			}
		}
		if errors.Is(err, io.EOF) {
			return v.report(), v.finish()
		}
		if err != nil {
			return v.report(), fmt.Errorf("read the export: %w", err)
		}
	}
}

// verifier checks entries one by one.
type verifier struct {
	head    Anchor // the last whole entry
	n       int64
	anchors []Anchor
	middle  bool // the first entry may stand anywhere in the chain
}

func (v *verifier) report() Report { return Report{Entries: v.n, Head: v.head} }

func (v *verifier) check(body []byte) error {
	broken := func(format string, args ...any) error {
		return &BrokenError{Seq: v.head.Seq + 1, Reason: fmt.Sprintf(format, args...)}
	}
	e, err := parse(body)
	if err != nil {
		return broken("%v", err)
	}
	if v.middle && v.n == 0 {
		v.head = Anchor{Seq: e.Seq - 1, Hash: e.Prev}
	}
	if e.Seq != v.head.Seq+1 {
		return broken("it calls itself entry %d", e.Seq)
	}
	if e.Prev != v.head.Hash {
		return broken("it follows an entry with hash %.12q, but entry %d has %.12q", e.Prev, v.head.Seq, v.head.Hash)
	}
	hash := e.Hash
	e.Hash = ""
	sum := sha256.Sum256(e.canonical())
	if want := hex.EncodeToString(sum[:]); hash != want {
		return broken("its hash is %.12q, its content has %.12q", hash, want)
	}
	v.head = Anchor{Seq: e.Seq, Hash: hash}
	v.n++
	for _, a := range v.anchors {
		if a.Seq == e.Seq && a.Hash != hash {
			return &BrokenError{Seq: e.Seq, Reason: fmt.Sprintf("its hash is %.12q, the anchor says %.12q: the chain was written anew", hash, a.Hash)}
		}
	}
	return nil
}

// finish looks for anchors behind the end.
func (v *verifier) finish() error {
	i := slices.IndexFunc(v.anchors, func(a Anchor) bool { return a.Seq > v.head.Seq })
	if i < 0 {
		return nil
	}
	return &BrokenError{Seq: v.head.Seq + 1, Reason: fmt.Sprintf("the chain ends at entry %d, but an anchor names entry %d: entries were cut off", v.head.Seq, v.anchors[i].Seq)}
}
