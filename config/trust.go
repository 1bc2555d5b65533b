package config

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TrustKey names the exact content of a project's file in its place. The place belongs to it: the same text in another
// repository allows other things.
func TrustKey(dir string, content []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "tackle project configuration\n%d %s\n", len(dir), dir)
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// Trust is the list of project files that a person has trusted, kept in a file of the state folder: one line each, the
// key, a blank and the path (for reading only). A line that is not of this form trusts nothing. Trust keeps no copy, so
// that several processes can use one file; its methods read it each time.
type Trust struct {
	File string
}

// Trusted reports whether the key is in the list. A list that cannot be read trusts nothing.
func (t Trust) Trusted(key string) bool {
	data, err := os.ReadFile(t.File)
	if err != nil || len(key) != 2*sha256.Size {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if k, _, _ := strings.Cut(strings.TrimSpace(line), " "); k == key {
			return true
		}
	}
	return false
}

// Add trusts a file of which Load reported this key and path.
func (t Trust) Add(key, path string) error {
	if _, err := hex.DecodeString(key); err != nil || len(key) != 2*sha256.Size {
		return fmt.Errorf("trust: %q is not a key of a project's file", key)
	}
	if t.Trusted(key) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(t.File), 0o700); err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	f, err := os.OpenFile(t.File, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	// One write of a whole line: other processes may append at the same time.
	_, err = fmt.Fprintf(f, "%s %q\n", key, path)
	return errors.Join(err, f.Close())
}

// Remove takes the trust back. A key that is not in the list is no error.
func (t Trust) Remove(key string) error {
	data, err := os.ReadFile(t.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	var kept bytes.Buffer
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if k, _, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); k != key {
			kept.WriteString(lines.Text() + "\n")
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(t.File), ".trusted-*")
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	_, err = tmp.Write(kept.Bytes())
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), t.File)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("trust: %w", err)
	}
	return nil
}
