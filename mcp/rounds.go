package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// openAsk is a question that the client carries to its person between two requests (revision 2026-07-28).
type openAsk struct {
	params *sdk.ElicitParams
	answer chan *sdk.ElicitResult
}

// askKey names the first question of a call; further ones are numbered.
const askKey = "approval"

// elicit asks the client of the call and waits for the answer.
func (r *running) elicit(ctx context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	if !r.peer.modern() {
		return r.peer.elicit(ctx, params)
	}
	a := &openAsk{params: params, answer: make(chan *sdk.ElicitResult, 1)}
	r.mu.Lock()
	r.asked++
	key := askKey
	if r.asked > 1 {
		key = fmt.Sprintf("%s-%d", askKey, r.asked)
	}
	if r.asks == nil {
		r.asks = map[string]*openAsk{}
	}
	r.asks[key] = a
	r.changed = time.Now()
	r.makeID()
	r.mu.Unlock()
	r.srv.calls.keep(r)
	defer r.close(key)
	r.deliver(outcome{asks: true})
	select {
	case res := <-a.answer:
		return res, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (r *running) close(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asks, key)
}

// answered gives open asks their answers. Only the first answer counts; answers to nothing are ignored.
func (r *running) answered(answers map[string]*sdk.ElicitResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, res := range answers {
		if a := r.asks[key]; a != nil && res != nil {
			a.answer <- res
			delete(r.asks, key)
			r.changed = time.Now()
		}
	}
}

// questions returns what the client has to ask its person now.
func (r *running) questions() sdk.InputRequestMap {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := sdk.InputRequestMap{}
	for key, a := range r.asks {
		out[key] = a.params
	}
	return out
}

// The state that a client carries between rounds names the call, and is signed: id.digest.mac, where the digest is that
// of the tool's name and arguments.

var errState = errors.New("requestState is not one that this server gave out")

func (s *Server) sealState(id, digest string) string {
	body := id + "." + digest
	return body + "." + base64.RawURLEncoding.EncodeToString(s.mac(body))
}

// openState returns what a state names. A state that was changed, or sealed with another key, is refused.
func (s *Server) openState(state string) (id, digest string, err error) {
	parts := strings.Split(state, ".")
	if len(parts) != 3 {
		return "", "", errState
	}
	mac, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(mac, s.mac(parts[0]+"."+parts[1])) {
		return "", "", errState
	}
	return parts[0], parts[1], nil
}

func (s *Server) mac(body string) []byte {
	m := hmac.New(sha256.New, s.cfg.StateKey)
	m.Write([]byte(body))
	return m.Sum(nil)
}

// digestOf binds a state to the call that it belongs to.
func digestOf(name string, args []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(name), name)
	h.Write(args)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
