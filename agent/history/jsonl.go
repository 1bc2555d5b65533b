package history

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/internal/store"
)

// ExportVersion is that of the lines that [Session.WriteJSONL] writes.
const ExportVersion = 1

// header is the first line of an export.
type header struct {
	Format   string    `json:"format"` // "tackle session"
	Version  int       `json:"version"`
	Exported time.Time `json:"exported"`
	Session  Summary   `json:"session"`
}

// text is a line with a text that events refer to.
type text struct {
	Text   string `json:"text"` // its digest
	Stands string `json:"stands"`
	Body   string `json:"body"`
}

// WriteJSONL writes the session as lines of JSON: a header, the system prompts and lists of tools that events refer to by their
// digests, and every event as it is stored.
func (s *Session) WriteJSONL(ctx context.Context, from store.Events, w io.Writer, now time.Time) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(header{"tackle session", ExportVersion, now.UTC(), s.Summary}); err != nil {
		return err
	}
	loop, err := agent.Read(s.Log)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range loop {
		if e.Setup == nil {
			continue
		}
		for i, t := range []agent.Text{e.Setup.System, e.Setup.Tools} {
			if t == (agent.Text{}) || seen[t.Digest] {
				continue
			}
			seen[t.Digest] = true
			body, err := agent.GetText(ctx, from, t)
			if err != nil {
				return err
			}
			if err := enc.Encode(text{t.Digest, []string{"system", "tools"}[i], body}); err != nil {
				return err
			}
		}
	}
	for _, ev := range s.Log {
		if err := enc.Encode(ev); err != nil {
			return err
		}
	}
	return b.Flush()
}
