package client

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// pin is the hash of what a model is told about a tool: name, description and schema, and of the hints.
func pin(t *sdk.Tool) string {
	b, err := json.Marshal([]any{t.Name, t.Title, t.Description, t.InputSchema, t.Annotations})
	if err != nil {
		return "" // what came from JSON marshals
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// remembered is what is kept of a server between runs.
type remembered struct {
	Tools []*sdk.Tool       `json:"tools"`
	Pins  map[string]string `json:"pins"`
}

// restore takes the tools of an earlier run, so that they are listed before the server has started.
func (r *remote) restore() {
	l := r.link
	if l.pool.opt.Cache == nil || l.allowed() != nil {
		return
	}
	b, err := l.pool.opt.Cache.Load(l.cfg.Fingerprint())
	var m remembered
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.pool.opt.Log.Warn("mcp cache", "server", l.cfg.Name, "err", err)
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Pins != nil {
		r.pins = m.Pins
	}
	r.adopt(m.Tools)
	r.cached = len(r.tools) > 0
}

// store remembers the list. Of a withheld tool the accepted definition stays pinned. The caller holds mu.
func (r *remote) store(list []*sdk.Tool) {
	l := r.link
	if l.pool.opt.Cache == nil {
		return
	}
	b, err := json.Marshal(remembered{list, r.pins})
	if err == nil {
		err = l.pool.opt.Cache.Store(l.cfg.Fingerprint(), b)
	}
	if err != nil {
		l.pool.opt.Log.Warn("mcp cache", "server", l.cfg.Name, "err", err)
	}
}

// Dir is a Cache in a folder, one file for each server.
type Dir string

// Load is described at Cache.
func (d Dir) Load(fingerprint string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(d), fingerprint+".json"))
}

// Store is described at Cache.
func (d Dir) Store(fingerprint string, data []byte) error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("cache of tool lists: %w", err)
	}
	f, err := os.CreateTemp(string(d), "list-*")
	if err != nil {
		return fmt.Errorf("cache of tool lists: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(string(d), fingerprint+".json"))
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("cache of tool lists: %w", err)
	}
	return nil
}
