package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/tackle-dev/tackle/internal/store"
)

// Texts is the stream of texts that sessions share: system prompts and lists of tools. Each is stored once, under its digest, and
// never removed, so that an old session is sent to its model as it was.
const Texts = ".agent"

// PutText stores a text, unless it is known, and returns what refers to it.
func PutText(ctx context.Context, events store.Events, text string) (Text, error) {
	sum := sha256.Sum256([]byte(text))
	digest := hex.EncodeToString(sum[:])
	body, err := json.Marshal(text)
	if err != nil {
		return Text{}, err
	}
	seqs, err := events.Append(ctx, store.Event{Session: Texts, Kind: prefix + "text", Key: digest, Body: body})
	if err != nil {
		return Text{}, fmt.Errorf("keep text %.12s: %w", digest, err)
	}
	return Text{Seq: seqs[0], Digest: digest}, nil
}

// putText is PutText for texts that this process may have stored before.
func (a *Agent) putText(ctx context.Context, text string) (Text, error) {
	text = string(a.cfg.Box.Mask([]byte(text)))
	a.known.Lock()
	defer a.known.Unlock()
	if t, ok := a.refs[text]; ok {
		return t, nil
	}
	t, err := PutText(ctx, a.cfg.Events, text)
	if err != nil {
		return t, err
	}
	if len(a.refs) >= keptTexts {
		clear(a.refs)
	}
	a.refs[text] = t
	return t, nil
}

// GetText returns a stored text; that of the zero Text is empty.
func GetText(ctx context.Context, events store.Events, t Text) (string, error) {
	if t == (Text{}) {
		return "", nil
	}
	evs, err := events.Read(ctx, Texts, t.Seq-1, 1)
	if err != nil {
		return "", err
	}
	if len(evs) == 0 || evs[0].Key != t.Digest {
		return "", fmt.Errorf("text %.12s is not in this store; was the session copied without it?", t.Digest)
	}
	var text string
	if err := json.Unmarshal(evs[0].Body, &text); err != nil {
		return "", fmt.Errorf("text %.12s: %w", t.Digest, err)
	}
	return text, nil
}
