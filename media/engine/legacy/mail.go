package legacy

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
)

// letterParts is a mail: what it says and what is attached.
type letterParts struct {
	head     [][2]string // shown headers in order
	text     string
	html     string
	files    []media.Payload
	warnings []string
}

// flow makes a document of a mail: its subject, its headers, its text, and the names of what is attached.
func (m *letterParts) flow(name string) (*flow.Doc, []string, error) {
	d := &flow.Doc{}
	for _, h := range m.head {
		if h[0] == "Subject" {
			d.Title = h[1]
		}
	}
	d.Blocks = append(d.Blocks, flow.Block{Kind: flow.Heading, Level: 1, Runs: []flow.Run{{Text: cmp.Or(d.Title, "(no subject)")}}})
	for _, h := range m.head {
		if h[0] != "Subject" {
			d.Blocks = append(d.Blocks, flow.Block{Kind: flow.Item, Level: 1, Runs: []flow.Run{{Text: h[0] + ": ", Bold: true}, {Text: h[1]}}})
		}
	}
	switch {
	case m.html != "":
		body, err := flow.ReadHTML(m.html)
		if err != nil {
			return nil, nil, media.Failf("the page within %s cannot be read: %v.", name, err)
		}
		shift(body.Blocks, len(d.Notes))
		d.Blocks, d.Notes = append(d.Blocks, body.Blocks...), append(d.Notes, body.Notes...)
	case m.text != "":
		for _, p := range strings.Split(strings.ReplaceAll(m.text, "\r\n", "\n"), "\n\n") {
			if strings.TrimSpace(p) != "" {
				d.Blocks = append(d.Blocks, flow.P(strings.Trim(p, "\n")))
			}
		}
	}
	for _, f := range m.files {
		d.Blocks = append(d.Blocks, flow.Block{Kind: flow.Item, Level: 1, Runs: []flow.Run{{Text: fmt.Sprintf("Attachment: %s (%d bytes)", f.Name, len(f.Data))}}})
	}
	return d, m.warnings, nil
}

func readEML(r *media.Request) (*flow.Doc, []string, error) {
	m, err := openEML(r)
	if err != nil {
		return nil, nil, err
	}
	return m.flow(r.In.Name)
}

var decoder = &mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
	e, err := htmlindex.Get(charset)
	if err != nil {
		return nil, err
	}
	return e.NewDecoder().Reader(in), nil
}}

func headerText(s string) string {
	if out, err := decoder.DecodeHeader(s); err == nil {
		s = out
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
}

func openEML(r *media.Request) (*letterParts, error) {
	src := bytes.TrimLeft(r.In.Data, "\r\n \t")
	if bytes.HasPrefix(src, []byte("From ")) { // the line with which a mailbox begins
		_, rest, _ := bytes.Cut(src, []byte("\n"))
		src = rest
	}
	msg, err := mail.ReadMessage(bytes.NewReader(src))
	if err != nil {
		return nil, media.Failf("%s is no mail that can be read: %v.", r.In.Name, err)
	}
	m := &letterParts{}
	for _, k := range []string{"Subject", "From", "To", "Cc", "Bcc", "Reply-To", "Date"} {
		if v := msg.Header.Get(k); v != "" {
			m.head = append(m.head, [2]string{k, headerText(v)})
		}
	}
	lim := r.Limits.WithDefaults()
	p := &mailParts{out: m, left: int(lim.Unpacked), members: min(lim.Members, 2000)}
	if err := p.part(textproto.MIMEHeader(msg.Header), msg.Body, 0); err != nil {
		return nil, err
	}
	return m, nil
}

// mailParts takes the parts of a mail apart.
type mailParts struct {
	out     *letterParts
	left    int
	members int
}

func (p *mailParts) part(h textproto.MIMEHeader, body io.Reader, depth int) error {
	if p.members--; p.members < 0 || depth > 20 {
		return media.Failf("the mail has more parts, or is nested deeper, than is allowed.")
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		kind, _, _ = strings.Cut(h.Get("Content-Type"), ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	kind = cmp.Or(kind, "text/plain")
	if strings.HasPrefix(kind, "multipart/") && params["boundary"] != "" {
		mr := multipart.NewReader(body, params["boundary"])
		for {
			part, err := mr.NextRawPart()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				p.out.warnings = append(p.out.warnings, "The mail is damaged; what stands after the damage was left out.")
				return nil
			}
			if err := p.part(part.Header, part, depth+1); err != nil {
				return err
			}
		}
	}
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, &letters64{r: body})
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	raw, err := io.ReadAll(io.LimitReader(body, int64(p.left)+1))
	if p.left -= len(raw); p.left < 0 {
		return media.Failf("the mail unpacks to more than is allowed.")
	}
	if err != nil {
		p.out.warnings = append(p.out.warnings, "A part of the mail is damaged; what could be read of it is there.")
	}
	disposition, dp, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
	name := headerText(cmp.Or(dp["filename"], params["name"]))
	switch {
	case disposition != "attachment" && name == "" && kind == "text/html" && p.out.html == "":
		p.out.html = charsetText(raw, params["charset"])
	case disposition != "attachment" && name == "" && strings.HasPrefix(kind, "text/") && p.out.text == "":
		p.out.text = charsetText(raw, params["charset"])
	default:
		if name == "" {
			name = fmt.Sprintf("part%d", len(p.out.files)+1)
			if f, ok := media.FormatOf(kind); ok {
				name += "." + f.Token
			} else if kind == "message/rfc822" {
				name += ".eml"
			}
		}
		p.out.files = append(p.out.files, media.Payload{Data: raw, MIME: kind, Name: media.CleanName(name)})
	}
	return nil
}

// letters64 passes on only what base64 is made of, as mails hold line feeds and worse in it.
type letters64 struct{ r io.Reader }

func (l *letters64) Read(b []byte) (int, error) {
	for {
		n, err := l.r.Read(b)
		k := 0
		for _, c := range b[:n] {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' {
				b[k] = c
				k++
			}
		}
		if k > 0 || err != nil {
			return k, err
		}
	}
}

func charsetText(raw []byte, charset string) string {
	if e, err := htmlindex.Get(charset); charset != "" && err == nil {
		if out, err := e.NewDecoder().Bytes(raw); err == nil {
			return string(out)
		}
	}
	return media.DecodeText(raw)
}

// msg reads a mail of Outlook: one stream for each property, named by its number and type ([MS-OXMSG]).
func (c *cfb) msg() (*flow.Doc, []string, error) {
	return c.letter().flow(c.name)
}

// prop returns a text property below a folder.
func (c *cfb) prop(dir, id string) string {
	if b := c.get(dir + "__substg1.0_" + id + "001F"); b != nil {
		return strings.TrimRight(wide(b), "\x00")
	}
	return strings.TrimRight(narrow(c.get(dir+"__substg1.0_"+id+"001E")), "\x00")
}

func (c *cfb) letter() *letterParts {
	m := &letterParts{}
	add := func(name, v string) {
		if v = strings.TrimSpace(v); v != "" {
			m.head = append(m.head, [2]string{name, v})
		}
	}
	add("Subject", c.prop("", "0037"))
	from := c.prop("", "0C1A")
	if a := cmp.Or(c.prop("", "5D01"), c.prop("", "0C1F")); strings.Contains(a, "@") && a != from {
		from = strings.TrimSpace(from + " <" + a + ">")
	}
	add("From", from)
	add("To", c.prop("", "0E04"))
	add("Cc", c.prop("", "0E03"))
	if t, ok := c.sent(); ok {
		add("Date", t.Format(time.RFC3339))
	}
	m.text = c.prop("", "1000")
	if b := c.get("__substg1.0_10130102"); b != nil {
		m.html = media.DecodeText(b)
	} else {
		m.html = c.prop("", "1013")
	}
	if m.text == "" && m.html == "" {
		if src := unpackRTF(c.get("__substg1.0_10090102")); src != nil {
			m.fromRTF(src)
		}
	}
	seen := map[string]bool{}
	for _, p := range c.order {
		dir, rest, ok := strings.Cut(p, "/")
		if !ok || !strings.HasPrefix(dir, "__attach_version1.0_") || seen[dir] || strings.Contains(rest, "/") {
			continue
		}
		seen[dir] = true
		name := cmp.Or(c.prop(dir+"/", "3707"), c.prop(dir+"/", "3704"), fmt.Sprintf("part%d", len(m.files)+1))
		if data := c.get(dir + "/__substg1.0_37010102"); data != nil {
			m.files = append(m.files, media.Payload{Data: data, Name: media.CleanName(name)})
		} else {
			m.warnings = append(m.warnings, fmt.Sprintf("The attachment %s is a message or an object within the file, which is not taken out.", media.CleanName(name)))
		}
	}
	return m
}

// fromRTF reads a text that is kept as RTF, which may hold a page.
func (m *letterParts) fromRTF(src []byte) {
	d, _, err := readRTF(&media.Request{In: media.Payload{Data: src, Name: "message.rtf"}})
	if err != nil {
		m.warnings = append(m.warnings, "The text of the mail cannot be read: "+err.Error())
		return
	}
	m.text = d.Text(flow.Options{})
}

// sent returns when a mail was sent.
func (c *cfb) sent() (time.Time, bool) {
	b := c.get("__properties_version1.0")
	for i := 32; i+16 <= len(b); i += 16 {
		if tag := u32(b, i); tag == 0x00390040 || tag == 0x0e060040 {
			ticks := binary.LittleEndian.Uint64(b[i+8:])
			if ticks == 0 || ticks > 1<<62 {
				continue
			}
			return time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC).Add(0).AddDate(0, 0, int(ticks/864_000_000_000)).Add(time.Duration(ticks%864_000_000_000) * 100), true
		}
	}
	return time.Time{}, false
}

// rtfSeed is what the window of compressed RTF begins with ([MS-OXRTFCP]).
const rtfSeed = "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"

// unpackRTF decodes compressed RTF; nil where it is none.
func unpackRTF(b []byte) []byte {
	if len(b) < 16 {
		return nil
	}
	size := u32(b, 4)
	switch string(b[8:12]) {
	case "MELA":
		return cut(b, 16, size)
	case "LZFu":
	default:
		return nil
	}
	if size > 64<<20 {
		return nil
	}
	window := make([]byte, 4096)
	at := copy(window, rtfSeed)
	var out []byte
	in := b[16:]
	for len(in) > 0 {
		flags := in[0]
		in = in[1:]
		for bit := range 8 {
			if flags&(1<<bit) == 0 {
				if len(in) < 1 {
					return out
				}
				out, window[at] = append(out, in[0]), in[0]
				at, in = (at+1)%4096, in[1:]
				continue
			}
			if len(in) < 2 {
				return out
			}
			v := int(in[0])<<8 | int(in[1])
			in = in[2:]
			from, n := v>>4, v&0xf+2
			if from == at || len(out) > size+64 {
				return out
			}
			for k := range n {
				c := window[(from+k)%4096]
				out, window[at] = append(out, c), c
				at = (at + 1) % 4096
			}
		}
	}
	return out
}
