package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mewkiz/flac"
)

// block is one metadata block of a FLAC file.
type block struct {
	kind byte
	body []byte
}

const (
	flacInfo    = 0
	flacSeek    = 3
	flacComment = 4
	flacPicture = 6
)

// blocks reads the metadata of a FLAC file; frames is where the sound begins.
func blocks(b []byte) (out []block, frames int, err error) {
	at := id3Length(b)
	if at+4 > len(b) || string(b[at:at+4]) != "fLaC" {
		return nil, 0, errors.New("it does not begin as a flac file does")
	}
	at += 4
	for last := false; !last; {
		if at+4 > len(b) {
			return nil, 0, errors.New("its head is cut off")
		}
		last = b[at]&0x80 != 0
		n := int(b[at+1])<<16 | int(b[at+2])<<8 | int(b[at+3])
		if at+4+n > len(b) {
			return nil, 0, errors.New("its head says that it is longer than the file")
		}
		out = append(out, block{b[at] & 0x7f, b[at+4 : at+4+n]})
		if len(out) > 10_000 {
			return nil, 0, errors.New("its head has more than 10000 parts")
		}
		at += 4 + n
	}
	if out[0].kind != flacInfo {
		return nil, 0, errors.New("its head does not begin with a description of the stream")
	}
	return out, at, nil
}

func openFLAC(b []byte) (*track, error) {
	parts, _, err := blocks(b)
	if err != nil {
		return nil, err
	}
	s, err := flac.New(bytes.NewReader(b[id3Length(b):]))
	if err != nil {
		return nil, err
	}
	t := &track{codec: "flac", rate: int(s.Info.SampleRate), channels: int(s.Info.NChannels), bits: int(s.Info.BitsPerSample), samples: -1}
	if n := s.Info.NSamples; n > 0 {
		t.samples = int64(n)
	}
	for _, p := range parts {
		t.tagged = t.tagged || p.kind == flacComment && len(vorbisComments(p.body).text) > 0 || p.kind == flacPicture
	}
	var out []float64
	t.next = func() ([]float64, error) {
		f, err := s.ParseNext()
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, errors.New("it is cut off")
		case err != nil:
			return nil, err
		case len(f.Subframes) != t.channels:
			return nil, fmt.Errorf("a frame has %d channels, the head says %d", len(f.Subframes), t.channels)
		case f.BitsPerSample != 0 && int(f.BitsPerSample) != t.bits, f.SampleRate != 0 && int(f.SampleRate) != t.rate:
			return nil, fmt.Errorf("a frame has %d bits at %d Hz, the head says %d at %d", f.BitsPerSample, f.SampleRate, t.bits, t.rate)
		}
		out = out[:0]
		full := math.Ldexp(1, t.bits-1)
		for i := range f.Subframes[0].Samples {
			for _, ch := range f.Subframes {
				if i >= len(ch.Samples) {
					return nil, errors.New("the channels of a frame have different lengths")
				}
				out = append(out, float64(ch.Samples[i])/full)
			}
		}
		return out, nil
	}
	return t, nil
}
