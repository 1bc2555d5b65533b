package wire

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestA2_Lines(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, row := range []struct {
		in   string
		want []string
		err  error
	}{
		{"", nil, nil},
		{"a\nb\r\n\n  \nc\n", []string{"a", "b", "c"}, nil},
		{long + "\n" + long + "y\n", []string{long, long + "y"}, nil},
		{"a\nb", []string{"a"}, io.ErrUnexpectedEOF}, // its end is missing: it was cut
		{"a\n" + long, []string{"a"}, io.ErrUnexpectedEOF},
		{"a\n  ", []string{"a"}, nil},
	} {
		for _, r := range []io.Reader{strings.NewReader(row.in), iotest.OneByteReader(strings.NewReader(row.in)), iotest.DataErrReader(strings.NewReader(row.in))} {
			var got []string
			err := Lines(r, func(line []byte) error {
				got = append(got, string(line))
				return nil
			})
			if err != row.err || !slices.Equal(got, row.want) {
				t.Errorf("%.20q: %d lines, %v, want %d, %v", row.in, len(got), err, len(row.want), row.err)
			}
		}
	}
	enough := errors.New("enough")
	if err := Lines(strings.NewReader("a\nb\n"), func([]byte) error { return enough }); err != enough {
		t.Errorf("got %v", err)
	}
	broken := errors.New("broken")
	if err := Lines(iotest.ErrReader(broken), func([]byte) error { return nil }); err != broken {
		t.Errorf("got %v", err)
	}
	if err := Lines(io.LimitReader(endless{}, maxLine+1<<20), func([]byte) error { return nil }); err != errLine {
		t.Errorf("a line without end: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A line is handed on before the next byte is read.
func TestA2_LinesDoNotWait(t *testing.T) {
	r, w := io.Pipe()
	came := make(chan string)
	go func() {
		defer w.Close()
		for _, s := range []string{"data: one\n\n", "data: two\n\n"} {
			if _, err := io.WriteString(w, s); err != nil {
				return
			}
			<-came // nothing more is written before
		}
	}()
	var got []string
	if err := Events(r, func(data []byte) error {
		got = append(got, string(data))
		came <- string(data)
		return nil
	}); err != nil || len(got) != 2 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestA2_Events(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		var want []string
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			b.WriteString(rapid.SampledFrom([]string{"", ": ping\n", "event: x\n", "id: 7\nretry: 3\n", "data:\n", "data: [DONE]\n"}).Draw(t, "before"))
			if rapid.Bool().Draw(t, "data") {
				s := rapid.StringMatching(`[a-z{][a-z :{}"]{0,9}[a-z}]`).Draw(t, "s")
				want = append(want, s)
				b.WriteString(rapid.SampledFrom([]string{"data: ", "data:"}).Draw(t, "field") + s + rapid.SampledFrom([]string{"\n\n", "\r\n\r\n", "\n"}).Draw(t, "end"))
			}
		}
		var got []string
		if err := Events(strings.NewReader(b.String()), func(data []byte) error {
			got = append(got, string(data))
			return nil
		}); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q, %v, want %q of %q", got, err, want, b.String())
		}
	})
}
