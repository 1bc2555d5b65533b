//go:build linux || darwin

package proc

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// newTestPump makes a pump over a pipe, whose other end it returns.
func newTestPump(t *testing.T) (p *pump, w int) {
	t.Helper()
	r, w, err := outputPipe()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSpool(filepath.Join(t.TempDir(), "x"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); s.close() })
	return newPump(r, s, func() {}), w
}

func written(t *testing.T, p *pump) string {
	t.Helper()
	b, err := os.ReadFile(headFile(p.to.prefix))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// H1: what was written before catchUp is in the spool after it, whether or not the pump has had its turn. The pump here
// has had none: it begins after it was asked.
func TestH1_CatchUp(t *testing.T) {
	p, w := newTestPump(t)
	want := strings.Repeat("0123456789abcdef", 3000) // less than a pipe holds
	if _, err := unix.Write(w, []byte(want)); err != nil {
		t.Fatal(err)
	}
	caught := make(chan struct{})
	go func() { p.catchUp(); close(caught) }()
	go p.run()
	<-caught
	if got := written(t, p); got != want {
		t.Fatalf("%d of %d bytes", len(got), len(want))
	}
	for _, s := range []string{"more", "and more"} { // it goes on as before, as often as it is asked
		if _, err := unix.Write(w, []byte(s)); err != nil {
			t.Fatal(err)
		}
		p.catchUp()
		if want += s; written(t, p) != want {
			t.Fatalf("%q is missing", s)
		}
	}
	p.catchUp() // with nothing there
	unix.Write(w, []byte("last"))
	unix.Close(w)
	<-p.ended
	p.catchUp() // of a pump that has ended
	if got := written(t, p); got != want+"last" {
		t.Errorf("the end is %q", got[max(0, len(got)-20):])
	}
}

// The end of a pipe ends its pump also when catchUp is the first to see it.
func TestCatchUpAtTheEnd(t *testing.T) {
	p, w := newTestPump(t)
	unix.Write(w, []byte("all"))
	unix.Close(w)
	go p.run()
	p.catchUp()
	<-p.ended
	if got := written(t, p); got != "all" {
		t.Errorf("spool is %q", got)
	}
}

// Who writes without end does not hold up catchUp.
func TestCatchUpBesideAnEndlessWriter(t *testing.T) {
	p, w := newTestPump(t)
	b := []byte(strings.Repeat("y\n", 4096))
	var writer sync.WaitGroup
	begun := make(chan struct{})
	writer.Go(func() {
		defer unix.Close(w)
		for n := 0; ; n++ {
			if _, err := unix.Write(w, b); err != nil {
				return
			}
			if n == 0 {
				close(begun)
			}
		}
	})
	<-begun
	go p.run()
	for range 5 {
		p.catchUp()
	}
	if total, _ := p.to.written(); total < int64(len(b)) {
		t.Errorf("%d bytes were read", total)
	}
	p.from.Close() // ends the pump, and with EPIPE the writer
	<-p.ended
	writer.Wait()
}

// A terminal is caught up with like a pipe.
func TestCatchUpOnTerminal(t *testing.T) {
	master, slave, _, err := openTerminal()
	if err != nil {
		t.Skip("no pseudo-terminals here: " + err.Error())
	}
	s, err := newSpool(filepath.Join(t.TempDir(), "x"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	p := newPump(pollable(master, "terminal"), s, func() {})
	unix.Write(slave, []byte("seen\n"))
	caught := make(chan struct{})
	go func() { p.catchUp(); close(caught) }()
	go p.run()
	<-caught
	if got := written(t, p); got != "seen\r\n" {
		t.Errorf("spool is %q", got)
	}
	unix.Close(slave)
	<-p.ended
	p.from.Close()
}
