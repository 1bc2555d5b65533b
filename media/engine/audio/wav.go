package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tackle-dev/tackle/media"
)

// chunk is one part of a RIFF file. body is what of it is there.
type chunk struct {
	id   string
	size uint32 // as the file says
	body []byte
}

// streamed sizes are what programs leave that could not go back to write the real one.
func streamed(size uint32) bool { return size == 0 || size >= 0xffffff00 }

// chunks reads the parts of a RIFF file. A part that is cut off ends the list.
func chunks(b []byte) ([]chunk, error) {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return nil, errors.New("it does not begin as a wav file does")
	}
	var out []chunk
	for at := 12; at+8 <= len(b); {
		c := chunk{id: string(b[at : at+4]), size: binary.LittleEndian.Uint32(b[at+4:])}
		at += 8
		n := int(min(uint64(c.size), uint64(len(b)-at)))
		if c.id == "data" && streamed(c.size) && !slices.ContainsFunc(out, func(c chunk) bool { return c.id == "data" }) {
			n = len(b) - at
		}
		c.body = b[at : at+n]
		out = append(out, c)
		if len(out) > 10_000 {
			return nil, errors.New("it has more than 10000 parts")
		}
		at += n + n%2
	}
	return out, nil
}

// The formats of samples.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavALaw       = 6
	wavULaw       = 7
	wavExtensible = 0xfffe
)

func openWAV(b []byte) (*track, error) {
	parts, err := chunks(b)
	if err != nil {
		return nil, err
	}
	var format []byte
	var data *chunk
	t := &track{codec: "pcm"}
	for i := range parts {
		switch c := &parts[i]; c.id {
		case "fmt ":
			if format == nil {
				format = c.body
			}
		case "data":
			if data == nil {
				data = c
			}
		case "LIST", "id3 ", "ID3 ", "bext", "iXML":
			t.tagged = true
		}
	}
	if len(format) < 16 || data == nil {
		return nil, errors.New("it has no description of its samples, or no samples")
	}
	kind := int(binary.LittleEndian.Uint16(format))
	t.channels = int(binary.LittleEndian.Uint16(format[2:]))
	t.rate = int(min(binary.LittleEndian.Uint32(format[4:]), math.MaxInt32))
	t.bits = int(binary.LittleEndian.Uint16(format[14:]))
	if kind == wavExtensible && len(format) >= 26 {
		kind = int(binary.LittleEndian.Uint16(format[24:]))
	}
	size := (t.bits + 7) / 8 // bytes of a sample
	var value func([]byte) float64
	switch {
	case kind == wavPCM && t.bits >= 1 && t.bits <= 8:
		value = func(b []byte) float64 { return (float64(b[0]) - 128) / 128 }
	case kind == wavPCM && t.bits > 8 && t.bits <= 32:
		value = func(b []byte) float64 {
			var n int32
			for i := range size {
				n |= int32(b[i]) << (8 * (i + 4 - size))
			}
			return float64(n) / (1 << 31)
		}
	case kind == wavFloat && t.bits == 32:
		t.codec = "pcm float"
		value = func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	case kind == wavFloat && t.bits == 64:
		t.codec = "pcm float"
		value = func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	case kind == wavALaw && t.bits == 8:
		t.codec, value = "a-law", func(b []byte) float64 { return aLaw(b[0]) }
	case kind == wavULaw && t.bits == 8:
		t.codec, value = "µ-law", func(b []byte) float64 { return uLaw(b[0]) }
	default:
		return nil, media.Refusef("the wav file holds samples of kind %d with %d bits, which are not decoded here; PCM, float, A-law and µ-law are.", kind, t.bits)
	}
	frame := t.channels * size
	if frame == 0 {
		return nil, errors.New("it says that it has no channels")
	}
	if said := int(binary.LittleEndian.Uint16(format[12:])); said != 0 && said != frame {
		return nil, fmt.Errorf("it says that %d channels of %d bits take %d bytes", t.channels, t.bits, said)
	}
	switch {
	case streamed(data.size) && int(data.size) != len(data.body):
		t.notes = append(t.notes, "The file does not say how long it is; it was read to its end.")
	case int64(data.size) > int64(len(data.body)):
		return nil, fmt.Errorf("it says that it has %d bytes of samples and holds %d; it is cut off", data.size, len(data.body))
	}
	body := data.body
	if rest := len(body) % frame; rest != 0 {
		body = body[:len(body)-rest]
		t.notes = append(t.notes, fmt.Sprintf("The last %d bytes are no whole sample.", rest))
	}
	t.samples = int64(len(body) / frame)
	var block []float64
	t.next = func() ([]float64, error) {
		if len(body) == 0 {
			return nil, io.EOF
		}
		n := min(len(body), 4096*frame)
		block = block[:0]
		for i := 0; i < n; i += size {
			block = append(block, value(body[i:i+size]))
		}
		body = body[n:]
		return block, nil
	}
	return t, nil
}

// aLaw and uLaw are the curves of telephony (ITU-T G.711).
func aLaw(b byte) float64 {
	b ^= 0x55
	v := int(b&15)<<4 + 8
	if e := int(b>>4) & 7; e > 0 {
		v = (v + 256) << (e - 1)
	}
	if b&0x80 == 0 {
		v = -v
	}
	return float64(v) / 32768
}

func uLaw(b byte) float64 {
	b = ^b
	v := (int(b&15)<<3+132)<<(b>>4&7) - 132
	if b&0x80 != 0 {
		v = -v
	}
	return float64(v) / 32768
}

// masks say which loudspeakers the channels are for, by their number.
var masks = [9]uint32{0, 4, 3, 7, 0x33, 0x37, 0x3f, 0x70f, 0x63f}

// wavHeader is the head of a wav file up to its samples, of which there are n in each channel.
func wavHeader(rate, channels, bits, n int) []byte {
	frame := channels * bits / 8
	size := n * frame
	kind, length := wavPCM, 16
	if channels > 2 || bits > 16 {
		kind, length = wavExtensible, 40
	}
	le := binary.LittleEndian
	out := append(le.AppendUint32([]byte("RIFF"), uint32(4+8+length+8+size+size%2)), "WAVEfmt "...)
	out = le.AppendUint32(out, uint32(length))
	out = le.AppendUint16(out, uint16(kind))
	out = le.AppendUint16(out, uint16(channels))
	out = le.AppendUint32(out, uint32(rate))
	out = le.AppendUint32(out, uint32(rate*frame))
	out = le.AppendUint16(out, uint16(frame))
	out = le.AppendUint16(out, uint16(bits))
	if kind == wavExtensible {
		out = le.AppendUint16(out, 22)
		out = le.AppendUint16(out, uint16(bits))
		mask := uint32(0)
		if channels < len(masks) {
			mask = masks[channels]
		}
		out = le.AppendUint32(out, mask)
		out = append(out, "\x01\x00\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"...)
	}
	return le.AppendUint32(append(out, "data"...), uint32(size))
}
