package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"

	"github.com/tackle-dev/tackle/media"
)

// frameHead is the head of one frame of an mp3 file.
type frameHead struct {
	version int // 1, 2, or 25 for 2.5
	layer   int
	rate    int
	mono    bool
	size    int // in bytes with the head; 0 where the file leaves it open
	samples int
	side    int // bytes of side information
}

var mp3Rates = map[int][3]int{1: {44100, 48000, 32000}, 2: {22050, 24000, 16000}, 25: {11025, 12000, 8000}}

// mp3Bits are the rates of Layer III in kbit/s, of version 1 and of the others.
var mp3Bits = [2][15]int{{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}, {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}}

func readHead(b []byte) (h frameHead, ok bool) {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return h, false
	}
	h.version = [4]int{25, 0, 2, 1}[b[1]>>3&3]
	h.layer = 4 - int(b[1]>>1&3)
	bits, rate := int(b[2]>>4), int(b[2]>>2&3)
	if h.version == 0 || h.layer == 4 || bits == 15 || rate == 3 || b[3]&3 == 2 {
		return h, false
	}
	h.rate = mp3Rates[h.version][rate]
	h.mono = b[3]>>6 == 3
	if h.layer != 3 {
		return h, true
	}
	low, slot := 0, 144000
	h.samples, h.side = 1152, 32
	if h.mono {
		h.side = 17
	}
	if h.version != 1 {
		low, slot = 1, 72000
		h.samples, h.side = 576, 17
		if h.mono {
			h.side = 9
		}
	}
	if bits > 0 {
		h.size = slot*mp3Bits[low][bits]/h.rate + int(b[2]>>1&1)
	}
	return h, true
}

// mp3Sound are the frames of an mp3 file.
type mp3Sound struct {
	head        frameHead // of the first
	first, end  int       // where the frames begin and end, tags left out
	count       int64     // of frames, without the one that only describes
	said        int64     // of frames, by the description; -1 without
	delay, tail int64     // samples before and behind the sound, by the description
	info        bool      // the first frame only describes
	cut         bool      // the last frame is not whole
	feed        []byte    // the frames that hold sound

	// Of version 2: the last data of the frames before, of which a frame may use 255 bytes, and what repack took apart.
	stored []byte
	heads  [][]byte
	main   []byte
}

// repack takes a frame of version 2 apart, for pour to lay out anew: the decoder takes padded frames of this version for
// one byte shorter than they are, and then reads the data of all later ones from the wrong place.
func (s *mp3Sound) repack(b []byte, h frameHead) error {
	at := 4
	if b[1]&1 == 0 {
		at += 2 // a checksum
	}
	if at+h.side > len(b) {
		return errors.New("a frame is shorter than its head")
	}
	head := append([]byte{b[0], b[1] | 1, highest<<4 | b[2]&0x0d, b[3]}, b[at:at+h.side]...)
	side := head[4:]
	length := func(from int) (v int) { // of the data of one channel, in bits
		for i := from; i < from+12; i++ {
			v = v<<1 | int(side[i/8]>>(7-i%8)&1)
		}
		return v
	}
	need := length(9)
	if !h.mono {
		need = length(10) + length(10+63)
	}
	need = (need + 7) / 8
	data := b[at+h.side:]
	all := append(s.stored, data...)
	s.stored = append([]byte(nil), all[max(0, len(all)-255):]...)
	from := len(all) - len(data) - int(side[0])
	if from < 0 || from+need > len(all) {
		// The data of this frame is not in the file, as at the start of a piece: it is silent.
		need, from = 0, 0
		clear(side)
	}
	start := len(s.heads) * s.room()
	first := max(len(s.main), start-255)
	if first+need > start+s.room() {
		return errors.New("a frame holds more than a frame can")
	}
	side[0] = byte(max(0, start-first))
	s.main = append(s.main, make([]byte, first-len(s.main))...)
	s.main = append(s.main, all[from:from+need]...)
	s.heads = append(s.heads, head)
	return nil
}

const highest = 14 // the index of the highest bit rate

// room is what a frame of version 2 at the highest bit rate holds beside its head.
func (s *mp3Sound) room() int {
	return 72000*mp3Bits[1][highest]/s.head.rate - 4 - s.head.side
}

// pour makes frames of what repack took apart.
func (s *mp3Sound) pour() {
	room := s.room()
	s.main = append(s.main, make([]byte, max(0, len(s.heads)*room-len(s.main)))...)
	for i, h := range s.heads {
		s.feed = append(append(s.feed, h...), s.main[i*room:(i+1)*room]...)
	}
	s.heads, s.main, s.stored = nil, nil, nil
}

// frames walks the frames of an mp3 file without decoding any.
func frames(b []byte) (*mp3Sound, error) {
	at, end := id3Length(b), len(b)
	if end-at >= 128 && string(b[end-128:end-125]) == "TAG" {
		end -= 128
	}
	if n := apeLength(b[at:end]); n > 0 {
		end -= n
	}
	s := &mp3Sound{said: -1, first: -1}
	same := func(h frameHead) bool {
		return h.version == s.head.version && h.layer == s.head.layer && h.rate == s.head.rate && h.mono == s.head.mono
	}
	for at < end {
		h, ok := readHead(b[at:end])
		if ok && s.first >= 0 {
			ok = same(h)
		}
		if !ok || s.first < 0 && h.layer == 3 && h.size > 0 && !followed(b[at:end], h) {
			// Whatever stands between frames is passed over, up to a bound before the first.
			next := bytes.IndexByte(b[at+1:end], 0xff)
			if s.first < 0 && at > id3Length(b)+64<<10 || next < 0 {
				break
			}
			at += 1 + next
			continue
		}
		if s.first < 0 {
			s.head, s.first = h, at
			if h.layer != 3 || h.version == 25 || h.size == 0 {
				return s, nil
			}
			if n := min(at+h.size, end); s.describe(b[at:n]) {
				at += h.size
				continue
			}
		}
		if h.size < 4+h.side || at+h.size > end {
			s.cut = true
			break
		}
		if h.version == 1 {
			s.feed = append(s.feed, b[at:at+h.size]...)
		} else if err := s.repack(b[at:at+h.size], h); err != nil {
			return nil, err
		}
		s.count++
		at += h.size
	}
	if s.first < 0 {
		return nil, errors.New("it has no frame of MPEG audio")
	}
	s.end = min(at, end)
	s.pour()
	return s, nil
}

// followed reports whether a frame is followed by another, or by the end.
func followed(b []byte, h frameHead) bool {
	if h.size >= len(b) {
		return true
	}
	n, ok := readHead(b[h.size:])
	return ok && n.version == h.version && n.layer == h.layer && n.rate == h.rate
}

// describe reads the frame that encoders put first: how many follow, and what they added on both sides.
func (s *mp3Sound) describe(b []byte) bool {
	at := 4 + s.head.side
	if len(b) < at+8 || string(b[at:at+4]) != "Xing" && string(b[at:at+4]) != "Info" {
		return false
	}
	s.info = true
	flags := binary.BigEndian.Uint32(b[at+4:])
	at += 8
	if flags&1 != 0 && len(b) >= at+4 {
		s.said = int64(binary.BigEndian.Uint32(b[at:]))
		at += 4
	}
	for i, n := range []int{4, 100, 4} {
		if flags&(2<<i) != 0 {
			at += n
		}
	}
	if len(b) >= at+24 {
		if d, p := int64(b[at+21])<<4|int64(b[at+22]>>4), int64(b[at+22]&15)<<8|int64(b[at+23]); d > 0 {
			const decoder = 529 // what every decoder adds
			s.delay, s.tail = d+decoder, max(0, p-decoder)
		}
	}
	return true
}

func openMP3(b []byte) (*track, error) {
	s, err := frames(b)
	if err != nil {
		return nil, err
	}
	switch {
	case s.head.layer != 3:
		return nil, media.Refusef("the file holds MPEG audio of layer %d; here only layer III (mp3) is decoded.", s.head.layer)
	case s.head.version == 25:
		return nil, media.Refusef("the file holds mp3 of %d Hz (MPEG 2.5), which is not decoded here.", s.head.rate)
	case s.head.size == 0:
		return nil, media.Refusef("the mp3 file leaves its bit rate open (free format), which is not decoded here.")
	case s.said > 0 && s.count < s.said:
		return nil, fmt.Errorf("it says that it has %d frames and holds %d; it is cut off", s.said, s.count)
	case s.count == 0:
		return nil, errors.New("it has no whole frame of sound")
	}
	t := &track{codec: "mp3", rate: s.head.rate, channels: 2, tagged: len(b) != s.end-s.first}
	if s.head.mono {
		t.channels = 1
	}
	if s.cut {
		t.notes = append(t.notes, "The file ends within a frame; it was read up to there.")
	}
	whole := s.count * int64(s.head.samples)
	t.samples = max(0, whole-s.delay-s.tail)
	skip, left := min(s.delay, whole), t.samples
	d, err := mp3.NewDecoder(struct{ io.Reader }{bytes.NewReader(s.feed)}) // a reader that cannot seek is not read twice
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 4*1152)
	var out []float64
	t.next = func() ([]float64, error) {
		for left > 0 {
			n, err := io.ReadFull(d, buf)
			if n < 4 {
				if errors.Is(err, io.ErrUnexpectedEOF) {
					err = io.EOF
				}
				return nil, err
			}
			out = out[:0]
			for i := 0; i+4 <= n && left > 0; i += 4 {
				if skip > 0 {
					skip--
					continue
				}
				left--
				out = append(out, float64(int16(binary.LittleEndian.Uint16(buf[i:])))/32768)
				if t.channels == 2 {
					out = append(out, float64(int16(binary.LittleEndian.Uint16(buf[i+2:])))/32768)
				}
			}
			if len(out) > 0 {
				return out, nil
			}
		}
		return nil, io.EOF
	}
	return t, nil
}
