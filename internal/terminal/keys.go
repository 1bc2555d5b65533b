package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
	"unicode/utf8"
)

// A key is one thing that a person typed: a character, or one of the constants.
type key rune

const (
	keyNone   key = 0 // nothing that counts: a paste, an arrow, half a character
	keyCtrlC  key = 3
	keyCtrlD  key = 4
	keyErase  key = 8
	keyEnter  key = 13
	keyKill   key = 21 // Ctrl-U
	keyEscape key = 27
)

// typed is what one read gave.
type typed struct {
	text string
	at   time.Time
}

// key returns the single key that was typed. Several at once are a paste, or were typed before anybody could read what
// they answer; an escape sequence is an arrow or a function key. Neither counts.
func (t typed) key() key {
	r, n := utf8.DecodeRuneInString(t.text)
	if n != len(t.text) || r == utf8.RuneError {
		return keyNone
	}
	switch r {
	case '\n':
		return keyEnter
	case 0x7f:
		return keyErase
	}
	return key(r)
}

// reader reads from a terminal in a goroutine of its own until stop is called.
type reader struct {
	dev   Device
	typed chan typed
	done  chan error // of capacity 1: why the reading ended
	quit  chan struct{}
}

func newReader(dev Device, now func() time.Time) *reader {
	r := &reader{dev: dev, typed: make(chan typed), done: make(chan error, 1), quit: make(chan struct{})}
	_ = dev.SetReadDeadline(time.Time{})
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := dev.Read(buf)
			if n > 0 {
				select {
				case r.typed <- typed{string(buf[:n]), now()}:
				case <-r.quit:
					r.done <- nil
					return
				}
			}
			if err != nil {
				r.done <- err
				return
			}
		}
	}()
	return r
}

// stop ends the reading and waits for it, where the terminal can be made to return from a read. Elsewhere the goroutine
// ends with the next key.
func (r *reader) stop() {
	close(r.quit)
	if r.dev.SetReadDeadline(time.Unix(1, 0)) == nil {
		<-r.done
	}
}

// next waits for something typed. The error is the cause of ctx's end, or that the terminal is gone.
func (r *reader) next(ctx context.Context) (typed, error) {
	select {
	case t := <-r.typed:
		return t, nil
	case err := <-r.done:
		r.done <- err // for stop
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			err = io.EOF
		}
		return typed{}, err
	case <-ctx.Done():
		return typed{}, context.Cause(ctx)
	}
}
