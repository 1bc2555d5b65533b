package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/mcp/internal/wire"
	"github.com/tackle-dev/tackle/tool"
)

// Limits of parts that are no text, in bytes before base64. Larger ones are described instead of sent: a client that
// passes them on would make the next request to its provider fail.
const (
	maxImage    = 3_700_000 // base64 of it stays below 5 MB, the smallest limit of a provider
	maxAudio    = 8 << 20
	maxDocument = 4 << 20
)

// metaKey holds, in a result's _meta, what programs need and models do not.
const metaKey = "dev.tackle/call"

// appendResult appends a tools/call result. modern adds what revision 2026-07-28 wants in every result; serverInfo is
// its raw JSON.
func appendResult(dst []byte, res *tool.Result, modern bool, serverInfo []byte) []byte {
	dst = append(dst, `{"content":[`...)
	n := 0
	put := func(f func([]byte) []byte) {
		if n > 0 {
			dst = append(dst, ',')
		}
		n++
		dst = f(dst)
	}
	for i := range res.Parts {
		p := &res.Parts[i]
		if s := spoken(p); s != "" || p.Kind == content.Text {
			put(func(b []byte) []byte { return appendText(b, s) })
		}
		if carried(p) {
			put(func(b []byte) []byte { return appendPart(b, p) })
		}
	}
	dst = append(dst, ']')
	if !res.OK() {
		dst = append(dst, `,"isError":true`...)
	}
	if modern {
		dst = append(dst, `,"resultType":"complete"`...)
	}
	dst = appendMeta(dst, &res.Meta, modern, serverInfo)
	return append(dst, '}')
}

func appendText(dst []byte, s string) []byte {
	dst = append(dst, `{"type":"text","text":`...)
	dst = wire.AppendString(dst, s)
	return append(dst, '}')
}

// spoken is the text that stands for a part, or before it: links and documents are dropped by some clients, so the text
// must say what they are. A picture that is sent speaks for itself.
func spoken(p *tool.Part) string {
	switch p.Kind {
	case content.Text:
		return p.Text
	case content.Link:
		return describe("link", p) + " " + p.URI
	case content.Document:
		if !carried(p) {
			return describe("document", p) + " is too large to be sent here."
		}
		return describe("document", p)
	case content.Image, content.Audio:
		if !carried(p) {
			return describe(string(p.Kind), p) + " cannot be sent here: it is too large, or not of a kind that clients show."
		}
	}
	return ""
}

// carried reports whether the bytes, or the link, of a part are sent.
func carried(p *tool.Part) bool {
	switch p.Kind {
	case content.Image:
		return len(p.Data) <= maxImage && strings.HasPrefix(p.MIME, "image/")
	case content.Audio:
		return len(p.Data) <= maxAudio && strings.HasPrefix(p.MIME, "audio/")
	case content.Document:
		return len(p.Data) <= maxDocument
	case content.Link:
		return true
	}
	return false
}

func describe(kind string, p *tool.Part) string {
	s := "[" + kind
	for _, f := range []string{p.Name, p.MIME} {
		if f != "" {
			s += " " + f
		}
	}
	size := p.Size
	if size == 0 {
		size = int64(len(p.Data))
	}
	if size > 0 {
		s += fmt.Sprintf(" %d bytes", size)
	}
	if p.Width > 0 && p.Height > 0 {
		s += fmt.Sprintf(" %d×%d", p.Width, p.Height)
	}
	return s + "]"
}

func appendPart(dst []byte, p *tool.Part) []byte {
	field := func(key, value string) {
		if value != "" {
			dst = append(dst, ',', '"')
			dst = append(dst, key...)
			dst = append(dst, '"', ':')
			dst = wire.AppendString(dst, value)
		}
	}
	switch p.Kind {
	case content.Image, content.Audio:
		dst = append(dst, `{"type":"`...)
		dst = append(dst, p.Kind...)
		dst = append(dst, `","data":`...)
		dst = wire.AppendBase64(dst, p.Data)
		field("mimeType", p.MIME)
		return append(dst, '}')
	case content.Link:
		dst = append(dst, `{"type":"resource_link"`...)
		field("uri", p.URI)
		name := p.Name
		if name == "" {
			name = p.URI
		}
		field("name", name)
		field("mimeType", p.MIME)
		if p.Size > 0 {
			dst = fmt.Appendf(dst, `,"size":%d`, p.Size)
		}
		return append(dst, '}')
	}
	dst = append(dst, `{"type":"resource","resource":{"uri":`...)
	dst = wire.AppendString(dst, documentURI(p))
	field("mimeType", p.MIME)
	if strings.HasPrefix(p.MIME, "text/") || p.MIME == "application/json" {
		dst = append(dst, `,"text":`...)
		dst = wire.AppendString(dst, string(p.Data))
	} else {
		dst = append(dst, `,"blob":`...)
		dst = wire.AppendBase64(dst, p.Data)
	}
	return append(dst, '}', '}')
}

// documentURI names an embedded document, which the protocol wants to have a URI.
func documentURI(p *tool.Part) string {
	if p.URI != "" {
		return p.URI
	}
	return "document:" + strings.Map(func(r rune) rune {
		if r <= ' ' || r == '%' || r >= 0x7f {
			return '_'
		}
		return r
	}, p.Name)
}

// callMeta is what programs can read about a call. It is left out where there is nothing to say.
type callMeta struct {
	Artifact    string       `json:"artifact,omitempty"`
	Truncated   bool         `json:"truncated,omitempty"`
	Transaction []string     `json:"transaction,omitempty"` // ids for undo
	Files       []fileChange `json:"files,omitempty"`
	Repairs     []string     `json:"repairs,omitempty"`
	Ticket      string       `json:"ticket,omitempty"`
}

type fileChange struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Status string `json:"status"`
}

func appendMeta(dst []byte, m *tool.Meta, modern bool, serverInfo []byte) []byte {
	own := ownMeta(m)
	if own == nil && !modern {
		return dst
	}
	dst = append(dst, `,"_meta":{`...)
	if modern {
		dst = append(dst, `"io.modelcontextprotocol/serverInfo":`...)
		dst = append(dst, serverInfo...)
	}
	if own != nil {
		if modern {
			dst = append(dst, ',')
		}
		dst = append(dst, `"`+metaKey+`":`...)
		dst = append(dst, own...)
	}
	return append(dst, '}')
}

func ownMeta(m *tool.Meta) []byte {
	ticket := ""
	if m.Decision != nil {
		ticket = m.Decision.Ticket
	}
	if m.Artifact == "" && !m.Truncated && len(m.Transaction) == 0 && len(m.Changes) == 0 && len(m.Repairs) == 0 && ticket == "" {
		return nil
	}
	out := callMeta{Artifact: m.Artifact, Truncated: m.Truncated, Transaction: m.Transaction, Repairs: m.Repairs, Ticket: ticket}
	for _, c := range m.Changes {
		out.Files = append(out.Files, fileChange{c.Path, c.From, string(c.Status)})
	}
	b, err := json.Marshal(out)
	if err != nil { // strings and slices of them always marshal
		return nil
	}
	return b
}
