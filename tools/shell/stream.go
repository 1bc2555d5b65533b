package shell

import (
	"context"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// stream shows the face what a command writes, whole lines at a time: a secret that is masked line by line is not torn
// apart. A command that ends soon is not streamed, and one that floods is shown in part. The function that is returned
// ends it.
func stream(ctx context.Context, o host.Output, show func(string)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := streamer{o: o, show: show}
		pause := time.NewTimer(streamFrom)
		defer pause.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-pause.C:
			}
			if s.o.More(ctx, s.at) != nil {
				return // it has written all that it will, or nobody listens any more
			}
			s.step()
			pause.Reset(streamEvery)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// What is streamed at a time, and how often.
const (
	streamEvery = 200 * time.Millisecond
	streamBytes = 8 << 10
)

type streamer struct {
	o    host.Output
	show func(string)
	at   int64  // where to read on
	line []byte // begun and not ended
}

// step shows the whole lines that came since the last step, of a flood only the last ones.
func (s *streamer) step() {
	st, err := s.o.Stat()
	if err != nil {
		return
	}
	if st.Total-s.at > streamBytes {
		s.at, s.line = st.Total-streamBytes, nil
		s.skip()
	}
	buf := make([]byte, streamBytes)
	n, from, err := s.o.Read(buf, s.at)
	if err != nil || n == 0 {
		return
	}
	s.at = from + int64(n)
	s.line = append(s.line, buf[:n]...)
	end := lastLineEnd(s.line)
	if end == 0 {
		if len(s.line) > streamBytes { // no line that anybody reads
			s.line = nil
		}
		return
	}
	text, _ := readable(string(s.line[:end]))
	s.line = append([]byte(nil), s.line[end:]...)
	if text != "" {
		s.show(text)
	}
}

// skip moves on to the start of a line.
func (s *streamer) skip() {
	buf := make([]byte, streamBytes)
	n, from, err := s.o.Read(buf, s.at)
	if err != nil {
		return
	}
	for i, c := range buf[:n] {
		if c == '\n' || c == '\r' {
			s.at = from + int64(i) + 1
			return
		}
	}
	s.at = from + int64(n)
}

func lastLineEnd(b []byte) int {
	for i := len(b); i > 0; i-- {
		if c := b[i-1]; c == '\n' || c == '\r' {
			return i
		}
	}
	return 0
}
