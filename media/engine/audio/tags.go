package audio

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tackle-dev/tackle/media"
)

const (
	maxTags = 200
	maxText = 1000 // bytes of one tag
)

// tags are what a file says about its sound.
type tags struct {
	text     map[string]string
	pictures [][]byte
}

func (t *tags) put(name, value string) {
	name = strings.ToLower(strings.TrimSpace(name))
	value = strings.TrimSpace(strings.ToValidUTF8(strings.TrimRight(value, "\x00"), "\ufffd"))
	if name == "" || value == "" || len(t.text) >= maxTags {
		return
	}
	if len(value) > maxText {
		value = strings.ToValidUTF8(value[:maxText], "") + "…"
	}
	if t.text == nil {
		t.text = map[string]string{}
	}
	if old, ok := t.text[name]; ok && old != value && len(old) < maxText {
		value = old + "; " + value
	}
	t.text[name] = value
}

func (t *tags) picture(b []byte) {
	if len(b) > 0 && len(t.pictures) < maxTags {
		t.pictures = append(t.pictures, b)
	}
}

// readTags reads what can be read of a file's tags. What is damaged is left out.
func readTags(p *media.Payload) *tags {
	t := &tags{}
	f, _ := media.FormatOf(p.MIME)
	switch f.Token {
	case "wav":
		parts, _ := chunks(p.Data)
		for _, c := range parts {
			switch c.id {
			case "LIST":
				t.riff(c.body)
			case "id3 ", "ID3 ":
				t.id3(c.body)
			}
		}
	case "mp3":
		t.id3(p.Data)
		if n := len(p.Data); n >= 128 && string(p.Data[n-128:n-125]) == "TAG" && len(t.text) == 0 {
			old := p.Data[n-128:]
			for i, name := range []string{"title", "artist", "album"} {
				t.put(name, latin1(old[3+30*i:33+30*i]))
			}
			t.put("year", latin1(old[93:97]))
			t.put("comment", latin1(old[97:125]))
		}
	case "flac":
		parts, _, _ := blocks(p.Data)
		for _, b := range parts {
			switch b.kind {
			case flacComment:
				c := vorbisComments(b.body)
				for k, v := range c.text {
					t.put(k, v)
				}
			case flacPicture:
				t.picture(flacPictureData(b.body))
			}
		}
	case "ogg":
		ps := &packets{b: p.Data}
		if _, _, err := ps.next(); err == nil {
			if b, _, err := ps.next(); err == nil && len(b) > 8 {
				return vorbisComments(b[8:])
			}
		}
	}
	return t
}

// vorbisComments reads the comments of Xiph's formats: a vendor, and NAME=value.
func vorbisComments(b []byte) *tags {
	t := &tags{}
	take := func() ([]byte, bool) {
		if len(b) < 4 {
			return nil, false
		}
		n := binary.LittleEndian.Uint32(b)
		if uint64(n) > uint64(len(b)-4) {
			return nil, false
		}
		out := b[4 : 4+n]
		b = b[4+n:]
		return out, true
	}
	if _, ok := take(); !ok || len(b) < 4 {
		return t
	}
	b = b[4:] // the count; the comments themselves say where they end
	for {
		c, ok := take()
		if !ok {
			return t
		}
		name, value, ok := strings.Cut(string(c), "=")
		switch {
		case !ok:
		case strings.EqualFold(name, "METADATA_BLOCK_PICTURE"):
			if pic, err := base64.StdEncoding.DecodeString(value); err == nil {
				t.picture(flacPictureData(pic))
			}
		default:
			t.put(name, value)
		}
	}
}

// flacPictureData returns the picture in a block of one.
func flacPictureData(b []byte) []byte {
	at := 4
	for _, skip := range []int{0, 16} { // type of the picture, its name; four numbers stand before the picture
		if at+4 > len(b) {
			return nil
		}
		n := binary.BigEndian.Uint32(b[at:])
		if uint64(n) > uint64(len(b)-at-4) {
			return nil
		}
		at += 4 + int(n) + skip
	}
	if at+4 > len(b) {
		return nil
	}
	if n := binary.BigEndian.Uint32(b[at:]); uint64(n) <= uint64(len(b)-at-4) {
		return b[at+4 : at+4+int(n)]
	}
	return nil
}

var riffNames = map[string]string{"INAM": "title", "IART": "artist", "IPRD": "album", "ICMT": "comment", "ICRD": "date", "IGNR": "genre", "ISFT": "software", "ICOP": "copyright"}

func (t *tags) riff(b []byte) {
	if len(b) < 4 || string(b[:4]) != "INFO" {
		return
	}
	for at := 4; at+8 <= len(b); {
		n := int(min(uint64(binary.LittleEndian.Uint32(b[at+4:])), uint64(len(b)-at-8)))
		if name, ok := riffNames[string(b[at:at+4])]; ok {
			t.put(name, latin1OrUTF8(b[at+8:at+8+n]))
		}
		at += 8 + n + n%2
	}
}

// id3Length is the length of the tag at the beginning, 0 without.
func id3Length(b []byte) int {
	if len(b) < 10 || string(b[:3]) != "ID3" || b[3] == 0xff || (b[6]|b[7]|b[8]|b[9])&0x80 != 0 {
		return 0
	}
	n := 10 + synchsafe(b[6:])
	if b[5]&0x10 != 0 {
		n += 10 // a footer
	}
	return min(n, len(b))
}

func synchsafe(b []byte) int {
	return int(b[0]&127)<<21 | int(b[1]&127)<<14 | int(b[2]&127)<<7 | int(b[3]&127)
}

// apeLength is the length of an APE tag at the end, 0 without.
func apeLength(b []byte) int {
	if len(b) < 32 || string(b[len(b)-32:len(b)-24]) != "APETAGEX" {
		return 0
	}
	foot := b[len(b)-32:]
	n := int64(binary.LittleEndian.Uint32(foot[12:]))
	if binary.LittleEndian.Uint32(foot[20:])&(1<<31) != 0 {
		n += 32 // a head as well
	}
	if n < 32 || n > int64(len(b)) {
		return 32
	}
	return int(n)
}

var id3Names = map[string]string{
	"TIT2": "title", "TPE1": "artist", "TALB": "album", "TDRC": "date", "TYER": "date", "TCON": "genre", "TRCK": "track", "TCOM": "composer", "TCOP": "copyright", "TSSE": "software", "TENC": "software", "COMM": "comment", "TPE2": "album_artist", "TLAN": "language",
	"TT2": "title", "TP1": "artist", "TAL": "album", "TYE": "date", "TCO": "genre", "TRK": "track", "TCM": "composer", "COM": "comment", "TEN": "software",
}

// id3 reads an ID3v2 tag.
func (t *tags) id3(b []byte) {
	n := id3Length(b)
	if n == 0 {
		return
	}
	version, flags := b[3], b[5]
	b = b[10:n]
	if flags&0x80 != 0 && version < 4 {
		b = bytes.ReplaceAll(b, []byte{0xff, 0}, []byte{0xff})
	}
	if flags&0x40 != 0 && version > 2 && len(b) >= 4 { // a second head
		skip := int(binary.BigEndian.Uint32(b)) + 4
		if version == 4 {
			skip = synchsafe(b)
		}
		if skip < 0 || skip > len(b) {
			return
		}
		b = b[skip:]
	}
	head, letters := 10, 4
	if version == 2 {
		head, letters = 6, 3
	}
	for len(b) >= head && b[0] != 0 {
		id := string(b[:letters])
		var size int
		switch version {
		case 2:
			size = int(b[3])<<16 | int(b[4])<<8 | int(b[5])
		case 4:
			size = synchsafe(b[4:])
		default:
			size = int(min(binary.BigEndian.Uint32(b[4:]), 1<<30))
		}
		if size > len(b)-head {
			return
		}
		body := b[head : head+size]
		if version == 4 && b[9]&2 != 0 {
			body = bytes.ReplaceAll(body, []byte{0xff, 0}, []byte{0xff})
		}
		if version == 4 && b[9]&1 != 0 && len(body) >= 4 {
			body = body[4:]
		}
		b = b[head+size:]
		switch name := id3Names[id]; {
		case id == "APIC", id == "PIC":
			t.picture(id3Picture(body, id == "PIC"))
		case name == "comment":
			if len(body) > 4 {
				_, text := id3Split(body[0], body[4:])
				t.put(name, id3Text(body[0], text))
			}
		case name != "" && len(body) > 1:
			t.put(name, strings.Join(strings.FieldsFunc(id3Text(body[0], body[1:]), func(r rune) bool { return r == 0 }), "; "))
		}
	}
}

// id3Split cuts a text with an end mark from what follows.
func id3Split(enc byte, b []byte) (text, rest []byte) {
	if enc == 1 || enc == 2 {
		for i := 0; i+1 < len(b); i += 2 {
			if b[i] == 0 && b[i+1] == 0 {
				return b[:i], b[i+2:]
			}
		}
		return b, nil
	}
	text, rest, _ = bytes.Cut(b, []byte{0})
	return text, rest
}

func id3Text(enc byte, b []byte) string {
	switch enc {
	case 0:
		return latin1(b)
	case 1, 2:
		var order binary.ByteOrder = binary.BigEndian
		if enc == 1 && len(b) >= 2 {
			if b[0] == 0xff && b[1] == 0xfe {
				order = binary.LittleEndian
			}
			if b[0]^b[1] == 1 {
				b = b[2:]
			}
		}
		wide := make([]uint16, 0, len(b)/2)
		for ; len(b) >= 2; b = b[2:] {
			wide = append(wide, order.Uint16(b))
		}
		return string(utf16.Decode(wide))
	}
	return string(b)
}

func id3Picture(b []byte, old bool) []byte {
	if len(b) < 6 {
		return nil
	}
	enc, rest := b[0], b[4:] // the old kind names the format in three letters
	if !old {
		_, rest = id3Split(0, b[1:])
	}
	if len(rest) < 2 {
		return nil
	}
	_, rest = id3Split(enc, rest[1:])
	return rest
}

func latin1(b []byte) string {
	r := make([]rune, 0, len(b))
	for _, c := range b {
		r = append(r, rune(c))
	}
	text, _, _ := strings.Cut(string(r), "\x00\x00")
	return text
}

func latin1OrUTF8(b []byte) string {
	if s := string(b); strings.ToValidUTF8(s, "") == s {
		return s
	}
	return latin1(b)
}

// covers gives the pictures that a file carries.
func covers(_ context.Context, r *media.Request) (media.Result, error) {
	want, _ := r.Args["types"].([]string)
	if len(want) > 0 && !slices.Contains(want, "image") && !slices.Contains(want, "all") {
		return media.Result{}, media.Failf("%s can hold pictures and no other files.", r.In.Name)
	}
	var out []media.Payload
	for i, b := range readTags(&r.In).pictures {
		p := media.Identify(media.Payload{Data: b, Name: fmt.Sprintf("cover%d", i+1)})
		f, ok := media.FormatOf(p.MIME)
		if !ok || f.Family != media.Image {
			continue // a link, or nothing that shows itself as a picture
		}
		p.Name = media.Renamed(p.Name, f.Token)
		out = append(out, p)
	}
	if len(out) == 0 {
		return media.Result{}, media.Failf("%s carries no picture.", r.In.Name)
	}
	return media.Result{List: out}, nil
}
