package server

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/store"
)

const (
	addressSpace = "server.address"
	addressKey   = "now"
)

// address is where a server of a state folder is reached.
type address struct {
	Base    string `json:"base"`
	Process int    `json:"process"`
}

// Announce notes where the server is reached, such as "http://127.0.0.1:7710", so that other processes of the same state folder
// can name it. Close takes the note back.
func (s *Server) Announce(ctx context.Context, base string) error {
	body, err := json.Marshal(address{base, os.Getpid()})
	if err != nil {
		return err
	}
	if err := s.cfg.Box.Store().Set(ctx, store.Record{Space: addressSpace, Key: addressKey, Body: body}); err != nil {
		return err
	}
	s.announced = true
	return nil
}

// withdraw takes the note back, unless another server has written its own.
func (s *Server) withdraw() {
	if !s.announced {
		return
	}
	ctx := context.Background()
	if a, err := readAddress(ctx, s.cfg.Box); err == nil && a.Process == os.Getpid() {
		_ = s.cfg.Box.Store().Unset(ctx, addressSpace, addressKey) // a note that stays misleads nobody for long
	}
}

// Address returns where a server of the state folder of a box was announced, "" where none was. It may have died since.
func Address(ctx context.Context, box *tackle.Box) (string, error) {
	a, err := readAddress(ctx, box)
	return a.Base, err
}

func readAddress(ctx context.Context, box *tackle.Box) (a address, err error) {
	r, err := box.Store().Get(ctx, addressSpace, addressKey)
	if errors.Is(err, store.ErrNotFound) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(r.Body, &a)
}
