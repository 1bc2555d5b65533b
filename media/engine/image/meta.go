package image

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
)

// meta is what a picture says beside its pixels.
type meta struct {
	orientation    int // as EXIF numbers it: 1 to 8; 0 where it is not said
	exif, icc, xmp []byte
}

func (m *meta) empty() bool { return m.exif == nil && m.icc == nil && m.xmp == nil }

const (
	exifHead = "Exif\x00\x00"
	xmpHead  = "http://ns.adobe.com/xap/1.0/\x00"
	iccHead  = "ICC_PROFILE\x00"
	pngHead  = "\x89PNG\r\n\x1a\n"
)

// maxProfile bounds a colour profile or other metadata when it is unpacked.
const maxProfile = 8 << 20

func readMeta(b []byte) meta {
	var m meta
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xd8")):
		for _, s := range segments(b) {
			switch p := s.payload; {
			case s.marker == 0xe1 && bytes.HasPrefix(p, []byte(exifHead)):
				m.exif = p[len(exifHead):]
			case s.marker == 0xe1 && bytes.HasPrefix(p, []byte(xmpHead)):
				m.xmp = p[len(xmpHead):]
			case s.marker == 0xe2 && bytes.HasPrefix(p, []byte(iccHead)) && len(p) > len(iccHead)+2:
				m.icc = append(m.icc, p[len(iccHead)+2:]...)
			}
		}
	case bytes.HasPrefix(b, []byte(pngHead)):
		for _, c := range pngChunks(b) {
			switch c.name {
			case "eXIf":
				m.exif = c.data
			case "iCCP":
				if i := bytes.IndexByte(c.data, 0); i >= 0 && i+2 <= len(c.data) {
					if z, err := zlib.NewReader(bytes.NewReader(c.data[i+2:])); err == nil {
						if icc, err := io.ReadAll(io.LimitReader(z, maxProfile+1)); err == nil && len(icc) <= maxProfile {
							m.icc = icc
						}
					}
				}
			case "iTXt":
				const key = "XML:com.adobe.xmp\x00\x00\x00\x00\x00"
				if bytes.HasPrefix(c.data, []byte(key)) {
					m.xmp = c.data[len(key):]
				}
			}
		}
	case len(b) > 12 && string(b[:4]) == "RIFF":
		for _, c := range riffChunks(b) {
			switch c.name {
			case "EXIF":
				m.exif = bytes.TrimPrefix(c.data, []byte(exifHead))
			case "ICCP":
				m.icc = c.data
			case "XMP ":
				m.xmp = c.data
			}
		}
	}
	if len(m.exif) < 8 {
		m.exif = nil
	}
	m.walk(func(ifd int, tag uint16, at, _ int, value uint32, _ int) {
		if ifd == 0 && tag == 0x0112 && value >= 1 && value <= 8 {
			m.orientation = int(value)
		}
	})
	return m
}

func (m *meta) order() binary.ByteOrder {
	switch {
	case bytes.HasPrefix(m.exif, []byte("II*\x00")):
		return binary.LittleEndian
	case bytes.HasPrefix(m.exif, []byte("MM\x00*")):
		return binary.BigEndian
	}
	return nil
}

// walk visits the entries of the first two directories of EXIF: the picture's and the thumbnail's. value is the entry's
// value where that is a number; at is where its four bytes stand; off and size are where longer data lies.
func (m *meta) walk(visit func(ifd int, tag uint16, at, off int, value uint32, size int)) {
	o := m.order()
	if o == nil {
		return
	}
	b := m.exif
	next := int(o.Uint32(b[4:]))
	for ifd := 0; ifd < 2 && next > 0 && next+2 <= len(b); ifd++ {
		n := int(o.Uint16(b[next:]))
		at := next + 2
		for i := 0; i < n && at+12 <= len(b); i, at = i+1, at+12 {
			kind, count := o.Uint16(b[at+2:]), int(o.Uint32(b[at+4:]))
			unit := map[uint16]int{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 9: 4, 10: 8}[kind]
			var value uint32
			switch kind {
			case 3:
				value = uint32(o.Uint16(b[at+8:]))
			case 4, 9:
				value = o.Uint32(b[at+8:])
			}
			off, size := at+8, unit*count
			if size > 4 {
				off = int(o.Uint32(b[at+8:]))
			}
			if count < 0 || count > len(b) || off < 0 || off+size > len(b) {
				continue
			}
			visit(ifd, o.Uint16(b[at:]), at+8, off, value, size)
		}
		if at+4 > len(b) {
			return
		}
		next = int(o.Uint32(b[at:]))
	}
}

// upright returns the EXIF data for a picture that stands as it is to be seen. Its thumbnail, which would show the picture
// as it was, is wiped.
func (m *meta) upright() []byte {
	if m.exif == nil {
		return nil
	}
	c := meta{exif: bytes.Clone(m.exif)}
	o := c.order()
	thumb, size := 0, 0
	c.walk(func(ifd int, tag uint16, at, _ int, value uint32, _ int) {
		switch {
		case ifd == 0 && tag == 0x0112:
			o.PutUint16(c.exif[at:], 1)
		case ifd == 1 && tag == 0x0201:
			thumb = int(value)
		case ifd == 1 && tag == 0x0202:
			size = int(value)
			o.PutUint32(c.exif[at:], 0)
		}
	})
	if thumb > 0 && size > 0 && thumb < len(c.exif) {
		clear(c.exif[thumb:min(len(c.exif), thumb+size)])
	}
	return c.exif
}

// tags returns what of EXIF is worth telling.
func (m *meta) tags() map[string]any {
	out := map[string]any{}
	m.walk(func(ifd int, tag uint16, _, off int, _ uint32, size int) {
		name := map[uint16]string{0x010f: "camera_make", 0x0110: "camera_model", 0x0132: "taken", 0x0131: "software", 0x013b: "artist", 0x8298: "copyright"}[tag]
		switch {
		case ifd == 0 && name != "" && size > 0:
			out[name] = strings.ToValidUTF8(strings.TrimRight(string(m.exif[off:off+min(size, 200)]), "\x00 "), "?")
		case ifd == 0 && tag == 0x8825:
			out["place"] = true // the metadata tells where the picture was taken
		}
	})
	return out
}

// segment is a marker segment of a JPEG file before its pixels.
type segment struct {
	marker   byte
	from, to int
	payload  []byte
}

// segments returns those before the first scan.
func segments(b []byte) []segment {
	var out []segment
	for at := 2; at+4 <= len(b) && b[at] == 0xff; {
		mk := b[at+1]
		if mk == 0xff {
			at++
			continue
		}
		if mk == 0xda || mk == 0xd9 {
			return out
		}
		n := int(binary.BigEndian.Uint16(b[at+2:]))
		if n < 2 || at+2+n > len(b) {
			return out
		}
		out = append(out, segment{mk, at, at + 2 + n, b[at+4 : at+2+n]})
		at += 2 + n
	}
	return out
}

type chunk struct {
	name     string
	data     []byte
	from, to int
}

func pngChunks(b []byte) []chunk {
	var out []chunk
	for at := 8; at+12 <= len(b); {
		n := int(binary.BigEndian.Uint32(b[at:]))
		if n < 0 || n > len(b)-at-12 {
			return out
		}
		out = append(out, chunk{string(b[at+4 : at+8]), b[at+8 : at+8+n], at, at + 12 + n})
		at += 12 + n
	}
	return out
}

func riffChunks(b []byte) []chunk {
	var out []chunk
	for at := 12; at+8 <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[at+4:]))
		if n < 0 || n > len(b)-at-8 {
			return out
		}
		to := min(len(b), at+8+n+n&1)
		out = append(out, chunk{string(b[at : at+4]), b[at+8 : at+8+n], at, to})
		at = to
	}
	return out
}

// stripped removes metadata without touching the pixels. ok is false where the picture must be encoded again.
func stripped(b []byte, m meta) (out []byte, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xd8")):
		return strippedJPEG(b, m)
	case m.orientation > 1:
		return nil, false
	case bytes.HasPrefix(b, []byte(pngHead)):
		out = append(out, pngHead...)
		end := false
		for _, c := range pngChunks(b) {
			switch c.name {
			case "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD", "pHYs":
				out = append(out, b[c.from:c.to]...)
				end = c.name == "IEND"
			}
			if end {
				return out, true
			}
		}
		return nil, false
	case len(b) > 12 && string(b[8:12]) == "WEBP":
		out = append(out, b[:12]...)
		for _, c := range riffChunks(b) {
			switch c.name {
			case "EXIF", "XMP ":
			case "VP8X":
				at := len(out)
				out = append(out, b[c.from:c.to]...)
				out[at+8] &^= 0x08 | 0x04
			case "VP8 ", "VP8L", "ALPH", "ICCP":
				out = append(out, b[c.from:c.to]...)
			}
		}
		binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
		return out, true
	}
	return nil, false
}

func strippedJPEG(b []byte, m meta) ([]byte, bool) {
	out := append([]byte{}, 0xff, 0xd8)
	if m.orientation > 1 { // without it the picture would be seen lying
		out = appendSegment(out, 0xe1, []byte(exifHead+"MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"+string(rune(m.orientation))+"\x00\x00\x00\x00\x00\x00"))
	}
	at := 2
	for _, s := range segments(b) {
		icc := s.marker == 0xe2 && bytes.HasPrefix(s.payload, []byte(iccHead))
		if app := s.marker >= 0xe0 && s.marker <= 0xef; s.marker != 0xfe && (!app || s.marker == 0xe0 && bytes.HasPrefix(s.payload, []byte("JFIF\x00")) || s.marker == 0xee || icc) {
			out = append(out, b[s.from:s.to]...)
		}
		at = s.to
	}
	// The pixels, up to the end of the picture; what is hung behind it goes.
	for i := at; i+1 < len(b); i++ {
		if b[i] != 0xff {
			continue
		}
		switch mk := b[i+1]; {
		case mk == 0xd9:
			return append(out, b[at:i+2]...), true
		case mk == 0 || mk == 0xff || mk >= 0xd0 && mk <= 0xd7 || mk == 0x01:
		default:
			if i+4 > len(b) {
				return nil, false
			}
			n := int(binary.BigEndian.Uint16(b[i+2:]))
			if n < 2 {
				return nil, false
			}
			i += 1 + n
		}
	}
	return nil, false
}

func appendSegment(out []byte, marker byte, payload []byte) []byte {
	out = append(out, 0xff, marker)
	out = binary.BigEndian.AppendUint16(out, uint16(len(payload)+2))
	return append(out, payload...)
}

// into puts metadata into an encoded picture. lost reports that some of it could not be kept.
func (m *meta) into(b []byte, token string) (out []byte, lost bool) {
	k := meta{exif: m.upright(), xmp: m.xmp, icc: m.icc}
	if k.icc != nil && (len(k.icc) < 128 || string(k.icc[16:20]) != "RGB ") {
		k.icc, lost = nil, true // the pixels are RGB now, or always were another thing than the profile
	}
	if bytes.Contains(k.xmp, []byte("tiff:Orientation")) {
		k.xmp, lost = nil, true
	}
	switch token {
	case "jpeg":
		out = append(out, b[:2]...)
		if len(k.exif) > 0 {
			if len(k.exif) > 65000 {
				lost = true
			} else {
				out = appendSegment(out, 0xe1, append([]byte(exifHead), k.exif...))
			}
		}
		if n := len(k.xmp); n > 65000 {
			lost = true
		} else if n > 0 {
			out = appendSegment(out, 0xe1, append([]byte(xmpHead), k.xmp...))
		}
		parts := (len(k.icc) + 64999) / 65000
		for i := range parts {
			part := k.icc[i*65000 : min(len(k.icc), (i+1)*65000)]
			out = appendSegment(out, 0xe2, append([]byte(iccHead+string([]byte{byte(i + 1), byte(parts)})), part...))
		}
		return append(out, b[2:]...), lost
	case "png":
		chunks := pngChunks(b)
		if len(chunks) == 0 {
			return b, true
		}
		out = append(out, b[:chunks[0].to]...)
		if len(k.icc) > 0 {
			var z bytes.Buffer
			z.WriteString("profile\x00\x00")
			w := zlib.NewWriter(&z)
			_, _ = w.Write(k.icc) // a buffer takes everything
			_ = w.Close()
			out = appendChunk(out, "iCCP", z.Bytes())
		}
		if len(k.exif) > 0 {
			out = appendChunk(out, "eXIf", k.exif)
		}
		if len(k.xmp) > 0 {
			out = appendChunk(out, "iTXt", append([]byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"), k.xmp...))
		}
		return append(out, b[chunks[0].to:]...), lost
	}
	return b, lost || !k.empty()
}

func appendChunk(out []byte, name string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	at := len(out)
	out = append(append(out, name...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at:]))
}

// Forget takes from a JPEG, PNG or WebP picture all that it says beside its pixels, if hit finds something in that. hit
// gets texts and binary data, unpacked, and returns what it found, or "". left is what Forget found and could not take away,
// because the picture would have to be encoded anew; fresh is nil where nothing was found.
func Forget(picture []byte, hit func([]byte) (string, error)) (fresh []byte, left string, err error) {
	found := ""
	for _, b := range beside(picture) {
		if found, err = hit(b); found != "" || err != nil {
			break
		}
	}
	if found == "" || err != nil {
		return nil, "", err
	}
	out, ok := stripped(picture, readMeta(picture))
	if !ok {
		return nil, found, nil
	}
	for _, b := range beside(out) {
		if left, err = hit(b); left != "" || err != nil {
			return nil, left, err
		}
	}
	return out, "", nil
}

// beside returns what a picture says beside its pixels, unpacked, and what is hung behind it.
func beside(b []byte) [][]byte {
	var out [][]byte
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xd8")):
		for _, s := range segments(b) {
			out = append(out, s.payload)
		}
		if i := bytes.LastIndex(b, []byte("\xff\xd9")); i >= 0 {
			out = append(out, b[i+2:])
		}
	case bytes.HasPrefix(b, []byte(pngHead)):
		at := 8
		for _, c := range pngChunks(b) {
			at = c.to
			switch c.name {
			case "IDAT", "PLTE", "IHDR", "tRNS":
				continue
			}
			out = append(out, c.data)
			for i := range c.data { // text and profiles stand packed behind their names
				if z, err := zlib.NewReader(bytes.NewReader(c.data[i:])); err == nil {
					d, _ := io.ReadAll(io.LimitReader(z, maxProfile)) // what comes before a mistake counts
					out = append(out, d)
					break
				}
			}
		}
		out = append(out, b[min(at, len(b)):])
	case len(b) > 12 && string(b[8:12]) == "WEBP":
		at := 12
		for _, c := range riffChunks(b) {
			if at = c.to; !bytes.HasPrefix([]byte(c.name), []byte("VP8")) && c.name != "ALPH" {
				out = append(out, c.data)
			}
		}
		out = append(out, b[min(at, len(b)):])
	}
	return out
}
