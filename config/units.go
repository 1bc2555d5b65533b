package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes. As text it is a number with an optional unit: B, KB, MB, GB (powers of 1000), KiB, MiB, GiB
// (powers of 1024). -1 means no limit where a limit is meant.
type Size int64

// units from the largest, so that String finds the shortest exact form.
var units = [...]struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}, {"B", 1}}

// String returns the size with the largest unit that divides it.
func (s Size) String() string {
	if s <= 0 {
		return strconv.FormatInt(int64(s), 10)
	}
	for _, u := range units {
		if int64(s)%u.bytes == 0 {
			return fmt.Sprintf("%d %s", int64(s)/u.bytes, u.name)
		}
	}
	return ""
}

// MarshalText writes the form of String.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a number with an optional unit, case ignored.
func (s *Size) UnmarshalText(text []byte) error {
	t := strings.TrimSpace(string(text))
	digits := t
	if i := strings.IndexFunc(t, func(r rune) bool { return (r < '0' || r > '9') && r != '-' }); i >= 0 {
		digits = t[:i]
	}
	unit := strings.TrimSpace(t[len(digits):])
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < -1 || n < 0 && unit != "" {
		return fmt.Errorf("%q is not a size; write a number of bytes, or a number with B, KB, KiB, MB, MiB, GB or GiB", t)
	}
	if unit == "" {
		*s = Size(n)
		return nil
	}
	for _, u := range units {
		if strings.EqualFold(u.name, unit) {
			if n > math.MaxInt64/u.bytes {
				return fmt.Errorf("%q is too large", t)
			}
			*s = Size(n * u.bytes)
			return nil
		}
	}
	return fmt.Errorf("%q has the unit %q; units are B, KB, KiB, MB, MiB, GB and GiB", t, unit)
}

const day = 24 * time.Hour

// ParseDuration reads what time.ParseDuration reads, and whole days ("30d").
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= int(math.MaxInt64/day) {
			return time.Duration(n) * day, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration; write such as 500ms, 90s, 5m, 12h or 30d", text)
	}
	return d, nil
}

// formatDuration writes whole days as days, and drops zero minutes and seconds.
func formatDuration(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
