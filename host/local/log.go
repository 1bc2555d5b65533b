//go:build linux || darwin

package local

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
)

// The log is a text file of lines "VERB KEY [ID] [JSON]". A verb is one of these.
const (
	lineBegin  = "begin"  // begin KEY ID {beginRecord}: before anything is made outside of the state directory
	lineStaged = "staged" // staged KEY [stagedRecord, …]: new contents are complete
	lineEnd    = "end"    // end KEY {endRecord}: every step is done
	lineAbort  = "abort"  // abort KEY: nothing of it remains
	lineKept   = "kept"   // kept KEY {keptRecord}: what the before-images amount to
)

// maxLog is the size in bytes at which a log becomes a segment. Only the last one is read when a slot is taken.
const maxLog = 256 << 10

const keyLen = 16 + 3

// beginRecord describes a transaction.
type beginRecord struct {
	Note    map[string]string `json:"note,omitempty"`
	Journal bool              `json:"journal,omitempty"` // several operations: it counts only with a tx file
	Steps   []step            `json:"steps"`
}

// stagedRecord identifies staged content; zero where a step has none.
type stagedRecord struct {
	Inode uint64 `json:"inode,omitempty"`
	Mtime int64  `json:"mtime,omitempty"`
}

// endRecord completes it with what was learned on the way.
type endRecord struct {
	Before   []change.Digest `json:"before"` // by step, zero where unknown or without content
	After    []change.Digest `json:"after"`
	Bytes    int64           `json:"bytes,omitempty"`    // of its before-images
	Reverted []int           `json:"reverted,omitempty"` // steps that were taken back after a failure
}

// keptRecord carries the estimate over to the next owner of the slot and the next segment.
type keptRecord struct {
	Bytes   int64 `json:"bytes"`
	Scanned int64 `json:"scanned"` // Unix nanoseconds
}

// newKey returns the key of a new transaction: the time in nanoseconds, made unique, and the slot. Keys sort by time.
func (s *slot) newKey(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(uint64(now.UnixNano()), s.last+1)
	key := fmt.Sprintf("%016x%03x", s.last, s.n)
	s.active[key] = true
	return key
}

func keyTime(key string) time.Time {
	n, _ := strconv.ParseUint(key[:16], 16, 64) // keys are checked where they are read
	return time.Unix(0, int64(n))
}

func validKey(key string) bool {
	if len(key) != keyLen {
		return false
	}
	_, err := strconv.ParseUint(key[:16], 16, 63)
	return err == nil
}

// settle ends the life of a key that newKey gave out.
func (s *slot) settle(key string) {
	s.mu.Lock()
	delete(s.active, key)
	s.mu.Unlock()
}

// append writes one line in one system call.
func (s *slot) append(verb, key, id string, v any) error {
	line := make([]byte, 0, 1024)
	line = append(append(append(line, verb...), ' '), key...)
	if id != "" {
		line = append(append(line, ' '), id...)
	}
	if v != nil {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		line = append(append(line, ' '), data...)
	}
	line = append(line, '\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(line)
}

// write appends a line; the caller holds s.mu. A line that was cut short is closed by the next one and ignored by readers.
func (s *slot) write(line []byte) error {
	if s.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := unix.Write(s.fd, line)
	s.size += int64(max(n, 0))
	if n > 0 {
		s.torn = n < len(line)
	}
	if err == nil && n < len(line) {
		err = unix.ENOSPC
	}
	return err
}

// roll starts a new segment when the log is long and nothing is in flight, so that older segments are complete.
func (s *slot) roll() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size < maxLog || len(s.active) > 0 {
		return nil
	}
	segment := "log-" + fmt.Sprintf("%016x%03x", s.last, s.n)
	if err := unix.Renameat(s.root, "log", s.root, segment); err != nil {
		return err
	}
	fd, err := openAt(s.root, "log", unix.O_RDWR|unix.O_APPEND|unix.O_CREAT, 0o600)
	if err != nil {
		return err
	}
	unix.Close(s.fd)
	s.fd, s.size, s.torn = fd, 0, false
	return s.writeKept()
}

// writeKept notes the estimate; the caller holds s.mu.
func (s *slot) writeKept() error {
	data, err := json.Marshal(keptRecord{s.kept, s.scanned})
	if err != nil {
		return err
	}
	return s.write(fmt.Appendf(nil, "%s %016x%03x %s\n", lineKept, s.last, s.n, data))
}

// load reads the log of a slot that was just locked.
func (s *slot) load() error {
	data, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	s.size = int64(len(data))
	s.torn = len(data) > 0 && data[len(data)-1] != '\n'
	open := map[string]bool{}
	for line := range lines(data) {
		if n, err := strconv.ParseUint(line.key[:16], 16, 64); err == nil {
			s.last = max(s.last, n)
		}
		switch line.verb {
		case lineBegin:
			open[line.key] = true
		case lineEnd:
			var end endRecord
			if json.Unmarshal(line.json, &end) == nil {
				s.kept += end.Bytes
			}
			delete(open, line.key)
		case lineAbort:
			delete(open, line.key)
		case lineKept:
			var kept keptRecord
			if json.Unmarshal(line.json, &kept) == nil {
				s.kept, s.scanned = kept.Bytes, kept.Scanned
			}
		}
	}
	names, err := os.ReadDir(filepath.Join(s.dir, "tx"))
	s.dirty = len(open) > 0 || len(names) > 0
	return err
}

// logLine is one parsed line; json is what follows the last token.
type logLine struct {
	verb, key, id string
	json          []byte
}

// lines yields the well-formed lines of a log. What a crash cut short is skipped.
func lines(data []byte) func(yield func(logLine) bool) {
	return func(yield func(logLine) bool) {
		for raw := range bytes.Lines(data) {
			if l, ok := parseLine(raw); ok && !yield(l) {
				return
			}
		}
	}
}

func parseLine(raw []byte) (logLine, bool) {
	raw, ok := bytes.CutSuffix(raw, []byte{'\n'})
	if !ok {
		return logLine{}, false
	}
	verb, rest, _ := bytes.Cut(raw, []byte{' '})
	key, rest, _ := bytes.Cut(rest, []byte{' '})
	l := logLine{verb: string(verb), key: string(key)}
	if !validKey(l.key) {
		return l, false
	}
	if l.verb == lineBegin {
		id, more, _ := bytes.Cut(rest, []byte{' '})
		l.id, rest = string(id), more
	}
	l.json = rest
	return l, true
}
