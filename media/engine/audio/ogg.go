package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/pion/opus"

	"github.com/tackle-dev/tackle/media"
)

const opusRate = 48000

// page is one page of an Ogg file.
type page struct {
	flags   byte // 1: goes on with a packet, 2: the first, 4: the last
	granule int64
	serial  uint32
	number  uint32
	lacing  []byte
	body    []byte
	next    int // where the next page begins
}

// crc is the checksum of Ogg; its table is made when it is first used.
var crcTable = sync.OnceValue(func() *[256]uint32 {
	var t [256]uint32
	for i := range t {
		r := uint32(i) << 24
		for range 8 {
			if r&0x80000000 != 0 {
				r = r<<1 ^ 0x04c11db7
			} else {
				r <<= 1
			}
		}
		t[i] = r
	}
	return &t
})

func crc(sum uint32, b []byte) uint32 {
	t := crcTable()
	for _, c := range b {
		sum = sum<<8 ^ t[byte(sum>>24)^c]
	}
	return sum
}

// readPage reads the page at a place and checks its sum.
func readPage(b []byte, at int) (p page, err error) {
	b = b[at:]
	if len(b) < 27 || string(b[:4]) != "OggS" || b[4] != 0 {
		return p, errors.New("a page does not begin where it should")
	}
	n := int(b[26])
	if len(b) < 27+n {
		return p, errors.New("it is cut off within the head of a page")
	}
	p = page{flags: b[5], granule: int64(binary.LittleEndian.Uint64(b[6:])), serial: binary.LittleEndian.Uint32(b[14:]), number: binary.LittleEndian.Uint32(b[18:]), lacing: b[27 : 27+n]}
	size := 0
	for _, l := range p.lacing {
		size += int(l)
	}
	if len(b) < 27+n+size {
		return p, errors.New("it is cut off within a page")
	}
	p.body = b[27+n : 27+n+size]
	p.next = at + 27 + n + size
	sum := crc(crc(crc(0, b[:22]), []byte{0, 0, 0, 0}), b[26:27+n+size])
	if sum != binary.LittleEndian.Uint32(b[22:]) {
		return p, fmt.Errorf("page %d does not have the checksum that it names", p.number)
	}
	return p, nil
}

// write appends a page.
func (p *page) write(out []byte) []byte {
	at := len(out)
	out = append(append(out, "OggS\x00"...), p.flags)
	out = binary.LittleEndian.AppendUint64(out, uint64(p.granule))
	out = binary.LittleEndian.AppendUint32(out, p.serial)
	out = binary.LittleEndian.AppendUint32(out, p.number)
	out = append(out, 0, 0, 0, 0, byte(len(p.lacing)))
	out = append(append(out, p.lacing...), p.body...)
	binary.LittleEndian.PutUint32(out[at+22:], crc(0, out[at:]))
	return out
}

// packets reads the packets of an Ogg file that holds one stream.
type packets struct {
	b       []byte
	at      int
	serial  uint32
	started bool
	page    page
	lace    int // the next entry of the page's lacing
	body    int
	last    bool // the page of the last packet is marked as the end
}

// next returns the next packet. end is true for the last that ends on its page, whose time is then the page's.
func (p *packets) next() (data []byte, end bool, err error) {
	var parts []byte
	whole := true
	for {
		for p.lace >= len(p.page.lacing) {
			if p.at >= len(p.b) {
				if parts != nil {
					return nil, false, errors.New("it is cut off within a packet")
				}
				return nil, false, io.EOF
			}
			if p.page, err = readPage(p.b, p.at); err != nil {
				return nil, false, err
			}
			switch {
			case !p.started:
				p.serial, p.started = p.page.serial, true
			case p.page.serial != p.serial || p.page.flags&2 != 0:
				return nil, false, media.Refusef("the Ogg file holds more than one stream; here one of Opus is decoded.")
			}
			p.at, p.lace, p.body = p.page.next, 0, 0
			p.last = p.page.flags&4 != 0
			if goes := p.page.flags&1 != 0; goes != (parts != nil) {
				if parts != nil {
					return nil, false, errors.New("a page that goes on with a packet is missing")
				}
				whole = false // its beginning is not in the file
			}
		}
		n := int(p.page.lacing[p.lace])
		parts = append(parts, p.page.body[p.body:p.body+n]...)
		p.lace, p.body = p.lace+1, p.body+n
		if n == 255 {
			if len(parts) > 1<<24 {
				return nil, false, errors.New("a packet is longer than 16 MiB")
			}
			continue
		}
		if !whole {
			parts, whole = nil, true
			continue
		}
		end = true
		for _, l := range p.page.lacing[p.lace:] {
			end = end && l == 255
		}
		if parts == nil {
			parts = []byte{}
		}
		return parts, end, nil
	}
}

// opusHead is the description of an Opus stream (RFC 7845).
type opusHead struct {
	channels int
	skip     int64
	gain     float64
}

func readOpusHead(b []byte) (h opusHead, err error) {
	switch {
	case len(b) >= 7 && string(b[:7]) == "\x01vorbis":
		return h, media.Refusef("the Ogg file holds Vorbis, which is not decoded here; Opus is.")
	case len(b) >= 5 && string(b[:5]) == "\x7fFLAC", len(b) >= 8 && string(b[:5]) == "Speex":
		return h, media.Refusef("the Ogg file holds FLAC or Speex, which is not decoded here; Opus is.")
	case len(b) < 19 || string(b[:8]) != "OpusHead":
		return h, media.Refusef("the Ogg file holds no Opus; nothing else in Ogg is decoded here.")
	case b[8]>>4 != 0:
		return h, media.Refusef("the Opus stream is of version %d, which is not known.", b[8])
	}
	h.channels = int(b[9])
	h.skip = int64(binary.LittleEndian.Uint16(b[10:]))
	h.gain = math.Pow(10, float64(int16(binary.LittleEndian.Uint16(b[16:])))/256/20)
	if h.channels < 1 {
		return h, errors.New("it says that it has no channels")
	}
	if b[18] != 0 && !(b[18] == 1 && h.channels <= 2) {
		return h, media.Refusef("the Opus stream has %d channels in several streams; here one or two channels are decoded.", h.channels)
	}
	if h.channels > 2 {
		return h, errors.New("it says that it has more channels than its kind can")
	}
	return h, nil
}

// packetSamples is how many samples of one channel a packet decodes to, by its head.
func packetSamples(b []byte) (int64, error) {
	if len(b) == 0 {
		return 0, errors.New("a packet is empty")
	}
	var each int64 // samples of a frame
	switch c := int(b[0] >> 3); {
	case c < 12:
		each = []int64{480, 960, 1920, 2880}[c&3]
	case c < 16:
		each = []int64{480, 960}[c&1]
	default:
		each = []int64{120, 240, 480, 960}[c&3]
	}
	n := []int64{1, 2, 2, 0}[b[0]&3]
	if n == 0 {
		if len(b) < 2 {
			return 0, errors.New("a packet is cut off")
		}
		n = int64(b[1] & 63)
	}
	if n == 0 || n*each > maxPacket {
		return 0, errors.New("a packet is longer than 120 ms")
	}
	return n * each, nil
}

const maxPacket = 5760 // samples: 120 ms

// length walks all packets without decoding: the samples that are heard, or -1 with the reason.
func (h *opusHead) length(ps *packets) (int64, error) {
	var total, last int64
	offset := int64(-1)
	for {
		b, end, err := ps.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return -1, err
		}
		n, err := packetSamples(b)
		if err != nil {
			return -1, err
		}
		if total += n; end && ps.page.granule >= 0 {
			if last = ps.page.granule; offset < 0 {
				offset = 0
				if !ps.last { // a stream that was joined while it ran does not begin at 0
					offset = max(0, last-total)
				}
			}
		}
	}
	heard := max(0, total-h.skip)
	if n := last - max(0, offset) - h.skip; last > 0 && ps.last && n >= 0 && n < heard {
		heard = n
	}
	return heard, nil
}

func openOgg(b []byte) (*track, error) {
	ps := &packets{b: b}
	first, _, err := ps.next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, err
	}
	h, err := readOpusHead(first)
	if err != nil {
		return nil, err
	}
	tags, _, err := ps.next()
	if err != nil || len(tags) < 8 || string(tags[:8]) != "OpusTags" {
		return nil, errors.New("its second packet is not that of its tags")
	}
	d, err := opus.NewDecoderWithOutput(opusRate, h.channels)
	if err != nil {
		return nil, err
	}
	t := &track{codec: "opus", rate: opusRate, channels: h.channels, samples: -1, tagged: len(vorbisComments(tags[8:]).text) > 0}
	walk := *ps
	if t.samples, err = h.length(&walk); err != nil {
		return nil, err
	}
	if !walk.last {
		t.notes = append(t.notes, "The file does not mark its end; it may be cut off.")
	}
	buf := make([]float32, maxPacket*2)
	var out []float64
	skip, left := h.skip, t.samples
	t.next = func() ([]float64, error) {
		for {
			packet, _, err := ps.next()
			if err != nil {
				return nil, err
			}
			if left == 0 {
				continue // what encoders add to fill the last packet
			}
			n, err := d.DecodeToFloat32(packet, buf)
			if err != nil {
				return nil, err
			}
			from := min(skip, int64(n))
			skip -= from
			to := int64(n)
			to = min(to, from+left)
			left -= to - from
			out = out[:0]
			for _, v := range buf[from*int64(h.channels) : to*int64(h.channels)] {
				out = append(out, float64(v)*h.gain)
			}
			if len(out) > 0 {
				return out, nil
			}
		}
	}
	return t, nil
}
