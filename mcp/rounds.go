package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// openAsk is a question that the client carries to its person between two requests (revision 2026-07-28).
type openAsk struct {
	number int // of the ask within its call, from 1
	params *sdk.ElicitParams
	answer chan *sdk.ElicitResult
}

// askKey names the only input request that we ever make.
const askKey = "approval"

// elicit asks the client of the call and waits for the answer.
func (r *running) elicit(ctx context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	if !r.peer.modern() {
		return r.peer.elicit(ctx, params)
	}
	r.mu.Lock()
	r.asked++
	a := &openAsk{number: r.asked, params: params, answer: make(chan *sdk.ElicitResult, 1)}
	r.ask = a
	r.makeID()
	r.mu.Unlock()
	r.srv.calls.keep(r)
	defer func() {
		r.mu.Lock()
		if r.ask == a {
			r.ask = nil
		}
		r.mu.Unlock()
	}()
	r.deliver(outcome{ask: a})
	select {
	case res := <-a.answer:
		return res, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answered gives the open ask its answer, if it is the one with that number and there is an answer. Only the first
// answer counts.
func (r *running) answered(number int, res *sdk.ElicitResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ask != nil && r.ask.number == number && res != nil {
		r.ask.answer <- res
		r.ask = nil
	}
}

// The state that a client carries names the call and the ask, and is signed: id.number.digest.mac, where the digest is
// that of the tool's name and arguments.

var errState = errors.New("requestState is not one that this server gave out")

func (s *Server) sealState(id string, number int, digest string) string {
	body := fmt.Sprintf("%s.%d.%s", id, number, digest)
	return body + "." + base64.RawURLEncoding.EncodeToString(s.mac(body))
}

// openState returns what a state names. A state that was changed, or sealed with another key, is refused.
func (s *Server) openState(state string) (id string, number int, digest string, err error) {
	i := strings.LastIndexByte(state, '.')
	if i < 0 {
		return "", 0, "", errState
	}
	mac, err := base64.RawURLEncoding.DecodeString(state[i+1:])
	if err != nil || !hmac.Equal(mac, s.mac(state[:i])) {
		return "", 0, "", errState
	}
	parts := strings.Split(state[:i], ".")
	if len(parts) != 3 {
		return "", 0, "", errState
	}
	if number, err = strconv.Atoi(parts[1]); err != nil {
		return "", 0, "", errState
	}
	return parts[0], number, parts[2], nil
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
