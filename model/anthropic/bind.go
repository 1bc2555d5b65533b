package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"strconv"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/model"
)

// A thinking block is signed for the model that wrote it and for the conversation before it: sent back behind anything else, it
// makes newer models refuse the request, now and on every later try. A session changes before its end all the same: it is
// compacted, rewound, gets another system prompt at a turn boundary, or goes on with another model. So each block is kept with a
// digest of what stood before it and goes back only behind the same. Leaving it out is always allowed.

// sealed is the opaque form of reasoning.
type sealed struct {
	Block json.RawMessage `json:"block"`           // as the provider sent it
	Bound string          `json:"bound,omitempty"` // digest of what stood before it; "" is not compared
}

// binder digests a conversation as it grows. Reasoning itself does not count: what is left out once stays left out, and what is
// written behind it is bound to a conversation without it.
type binder struct{ h hash.Hash }

func newBinder(name string, req model.Request) *binder {
	b := &binder{sha256.New()}
	b.text(name)
	for _, t := range req.Tools {
		b.text(t.Name)
		b.text(t.Description)
		b.text(string(t.Schema)) // the provider compares tools as they are sent
	}
	b.text(req.System)
	return b
}

// canonical is a value in one way of writing it: a session that was stored writes it in another than the model did.
func canonical(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return ""
	}
	out, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(out)
}

// text adds a word with its length, so that words cannot run into each other. Bytes that are no text count as a store writes them.
func (b *binder) text(s string) {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	b.h.Write([]byte(strconv.Itoa(len(s)) + ":"))
	b.h.Write([]byte(s))
}

func (b *binder) block(role model.Role, x model.Block) {
	if x.Reasoning != nil {
		return
	}
	b.text(string(role))
	switch {
	case x.Part != nil:
		b.part(string(x.Part.Kind), x.Part.Text, x.Part.MIME, x.Part.URI, x.Part.Data)
	case x.Call != nil:
		b.text(x.Call.ID)
		b.text(x.Call.Name)
		b.text(canonical(x.Call.Arguments))
		b.text(x.Call.Malformed)
	case x.Result != nil:
		b.text(x.Result.CallID)
		b.text(strconv.FormatBool(x.Result.Error))
		for _, p := range x.Result.Parts {
			b.part(string(p.Kind), p.Text, p.MIME, p.URI, p.Data)
		}
	}
}

func (b *binder) part(kind, text, mime, uri string, data []byte) {
	b.text(kind)
	b.text(text)
	b.text(mime)
	b.text(uri)
	b.text(strconv.Itoa(len(data)))
	b.h.Write(data)
}

// sum is the digest of what was added so far.
func (b *binder) sum() string { return hex.EncodeToString(b.h.Sum(nil)[:12]) }

// seal puts the block of the provider into the opaque form, bound to what was added so far.
func (b *binder) seal(block json.RawMessage) json.RawMessage {
	out, err := json.Marshal(sealed{block, b.sum()})
	if err != nil {
		return nil // only of a block that is not JSON, which the client has ruled out
	}
	return out
}

// open returns the block if it may go back behind what was added so far.
func (b *binder) open(opaque json.RawMessage) (block json.RawMessage, ok bool) {
	var s sealed
	if json.Unmarshal(opaque, &s) != nil || len(s.Block) == 0 || s.Bound != "" && s.Bound != b.sum() {
		return nil, false
	}
	return s.Block, true
}
