package audio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tackle-dev/tackle/media"
)

const (
	minRate     = 1000
	maxRate     = 768_000
	maxChannels = 32
)

// track is an opened sound.
type track struct {
	name           string
	codec          string
	rate, channels int
	bits           int   // of a sample; 0 where the format has none
	samples        int64 // of one channel, by what the file says; -1 where it does not
	tagged         bool
	notes          []string // what the reader should know
	most           int64    // samples of one channel that are allowed
	limit          time.Duration
	// next returns the next samples, all channels in turn, from -1 to 1; io.EOF at the end. The slice is valid until the
	// next call.
	next func() ([]float64, error)
}

// open reads the head of a sound and checks it.
func open(p *media.Payload, l media.Limits) (*track, error) {
	f, _ := media.FormatOf(p.MIME)
	opener := map[string]func([]byte) (*track, error){"wav": openWAV, "mp3": openMP3, "flac": openFLAC, "ogg": openOgg}[f.Token]
	if opener == nil {
		return nil, media.Refusef("%s is %s, which is not decoded here; wav, mp3, flac and Opus are.", p.Name, p.MIME)
	}
	t, err := guard(func() (*track, error) { return opener(p.Data) })
	if err != nil {
		var e *media.Error
		if errors.As(err, &e) {
			return nil, err
		}
		return nil, media.Failf("%s is damaged: %v.", p.Name, err)
	}
	t.name = p.Name
	if t.rate < minRate || t.rate > maxRate {
		return nil, media.Failf("%s says that it has %d samples a second; rates from %d to %d are understood.", p.Name, t.rate, minRate, maxRate)
	}
	if t.channels < 1 || t.channels > maxChannels {
		return nil, media.Failf("%s says that it has %d channels; 1 to %d are understood.", p.Name, t.channels, maxChannels)
	}
	t.limit = l.Sound
	t.most = int64(l.Sound.Seconds() * float64(t.rate))
	if t.samples > t.most {
		return nil, t.tooLong()
	}
	return t, nil
}

// guard makes an error of a decoder's panic: some files make the decoders read beyond their tables.
func guard[T any](do func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its decoder cannot go on (%.100s)", fmt.Sprint(v))
		}
	}()
	return do()
}

func (t *track) tooLong() error {
	return media.Failf("%s is longer than the %v that are allowed. Cut it into shorter pieces first.", t.name, t.limit)
}

// each decodes the sound block by block. What it holds must be as much as it says.
func (t *track) each(ctx context.Context, do func(block []float64) error) error {
	var n int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		block, err := guard(t.next)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var e *media.Error
			if errors.As(err, &e) {
				return err
			}
			return media.Failf("%s is damaged at %.1f seconds: %v.", t.name, float64(n)/float64(t.rate), err)
		}
		for i, v := range block {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				block[i] = 0
			}
		}
		if n += int64(len(block) / t.channels); n > t.most {
			return t.tooLong()
		}
		if err := do(block); err != nil {
			return err
		}
	}
	if t.samples >= 0 && n != t.samples {
		return media.Failf("%s says that it has %d samples and holds %d; it is cut off or damaged.", t.name, t.samples, n)
	}
	if n == 0 {
		t.notes = append(t.notes, t.name+" holds no sound.")
	}
	return nil
}
