package proc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// raw is a string of any bytes that survives JSON.
type raw string

func (r raw) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(r)), nil
}

func (r *raw) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	*r = raw(b)
	return err
}

// join and split make one raw string of many, none of which holds a NUL byte.
func join(list []string) raw { return raw(strings.Join(list, "\x00")) }

func (r raw) split() []string { return strings.Split(string(r), "\x00") }

// spec is a command that is ready to start: everything looked up, defaults filled in. An owner hands it to a keeper.
type spec struct {
	Run      string
	Path     raw // absolute path of the program
	Argv     raw // joined
	Env      raw // joined
	Dir      raw
	Input    bool
	Terminal *host.Size
	Split    bool
	Limits   host.Limits
	Spool    raw
	Record   raw
	Detach   bool
}

// quotas returns what each stream may keep: the quota is for both together.
func (s *spec) quota() int64 {
	if s.Split {
		return s.Limits.Spool / 2
	}
	return s.Limits.Spool
}

// errorsSpool names the spool of standard error.
func errorsSpool(prefix string) string { return prefix + ".err" }

func resolveLimits(l host.Limits) host.Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
		*d = max(*d, 0) // negative: none
	}
	unlimited := l.Time < 0
	def(&l.Time, host.DefaultTime)
	if unlimited {
		l.Time = 0
	}
	def(&l.Drain, host.DefaultDrain)
	def(&l.Grace, host.DefaultGrace)
	if l.Spool <= 0 {
		l.Spool = host.DefaultSpool
	}
	if l.Tree == 0 {
		l.Tree = host.DefaultTree
	}
	l.Tree = max(l.Tree, 0)
	return l
}

// writeRecord writes an Exit so that a reader sees the old one or the new one.
func writeRecord(path string, e host.Exit) error {
	if path == "" {
		return nil
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("record of a command: %w", err)
	}
	return os.Rename(tmp, path)
}

// readRecord reads what writeRecord wrote. A missing record is os.ErrNotExist.
func readRecord(path string) (host.Exit, error) {
	var e host.Exit
	if path == "" {
		return e, os.ErrNotExist
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("record of a command %s: %w", path, err)
	}
	return e, nil
}
