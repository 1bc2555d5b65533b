package audio

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/tackle-dev/tackle/media"
)

// sanitize takes tags and whatever else is no sound out of a file. The sound itself stays as it is.
func sanitize(_ context.Context, r *media.Request) (media.Result, error) {
	if _, err := open(&r.In, r.Limits.WithDefaults()); err != nil {
		return media.Result{}, err
	}
	var out []byte
	var n int
	var err error
	switch f, _ := media.FormatOf(r.In.MIME); f.Token {
	case "wav":
		out, n, err = cleanWAV(r.In.Data)
	case "mp3":
		out, n, err = cleanMP3(r.In.Data)
	case "flac":
		out, n, err = cleanFLAC(r.In.Data)
	default:
		out, n, err = cleanOgg(r.In.Data)
	}
	if err != nil {
		return media.Result{}, media.Failf("%s is damaged: %v.", r.In.Name, err)
	}
	res := media.Result{Media: &media.Payload{Data: out}, Counts: media.Counts{Removed: n}}
	if n == 0 {
		res.Warnings = []string{r.In.Name + " had no tags to remove."}
	}
	return res, nil
}

func cleanWAV(b []byte) ([]byte, int, error) {
	parts, err := chunks(b)
	if err != nil {
		return nil, 0, err
	}
	out := append([]byte(nil), b[:12]...)
	removed := 0
	seen := map[string]bool{}
	for _, c := range parts {
		if !slices.Contains([]string{"fmt ", "fact", "data"}, c.id) || seen[c.id] {
			removed++
			continue
		}
		seen[c.id] = true
		out = binary.LittleEndian.AppendUint32(append(out, c.id...), uint32(len(c.body)))
		out = append(out, c.body...)
		if len(out)%2 == 1 {
			out = append(out, 0)
		}
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, removed, nil
}

func cleanMP3(b []byte) ([]byte, int, error) {
	s, err := frames(b)
	if err != nil {
		return nil, 0, err
	}
	removed := 0
	for _, side := range []int{s.first, len(b) - s.end} {
		if side > 0 {
			removed++
		}
	}
	return append([]byte(nil), b[s.first:s.end]...), removed, nil
}

func cleanFLAC(b []byte) ([]byte, int, error) {
	parts, at, err := blocks(b)
	if err != nil {
		return nil, 0, err
	}
	var keep []block
	for _, p := range parts {
		if p.kind == flacInfo && keep == nil || p.kind == flacSeek {
			keep = append(keep, p)
		}
	}
	out := []byte("fLaC")
	for i, p := range keep {
		kind := p.kind
		if i == len(keep)-1 {
			kind |= 0x80
		}
		out = append(out, kind, byte(len(p.body)>>16), byte(len(p.body)>>8), byte(len(p.body)))
		out = append(out, p.body...)
	}
	removed := len(parts) - len(keep)
	if id3Length(b) > 0 {
		removed++
	}
	return append(out, b[at:]...), removed, nil
}

// cleanOgg writes the second packet anew, without comments. Later pages get new numbers where it took more than one.
func cleanOgg(b []byte) ([]byte, int, error) {
	first, err := readPage(b, 0)
	if err != nil {
		return nil, 0, err
	}
	out := append([]byte(nil), b[:first.next]...)
	at := first.next
	pages, removed := 0, 0
	for done := false; !done; pages++ {
		p, err := readPage(b, at)
		if err != nil {
			return nil, 0, err
		}
		at = p.next
		for i, l := range p.lacing {
			if l < 255 {
				if i != len(p.lacing)-1 {
					return nil, 0, errors.New("its tags share a page with sound")
				}
				done = true
			}
		}
	}
	ps := &packets{b: b}
	for range 2 {
		packet, _, err := ps.next()
		if err != nil {
			return nil, 0, err
		}
		if len(packet) > 8 && string(packet[:8]) == "OpusTags" {
			t := vorbisComments(packet[8:])
			removed = len(t.text) + len(t.pictures)
		}
	}
	const empty = "OpusTags\x00\x00\x00\x00\x00\x00\x00\x00"
	tags := page{serial: first.serial, number: first.number + 1, lacing: []byte{byte(len(empty))}, body: []byte(empty)}
	out = tags.write(out)
	for at < len(b) {
		p, err := readPage(b, at)
		if err != nil {
			return nil, 0, err
		}
		at = p.next
		p.number -= uint32(pages - 1)
		out = p.write(out)
	}
	return out, removed, nil
}
