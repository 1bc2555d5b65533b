package patch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// numbers reads the starts from a header "@@ -1,2 +3,4 @@ section". It reports whether it is one.
func (h *Hunk) numbers(line string) (bool, error) {
	old, new, section, ok := cutRanges(line)
	if !ok {
		return false, nil
	}
	var err error
	if h.OldStart, _, err = parseRange(old); err == nil {
		h.NewStart, _, err = parseRange(new)
	}
	if errors.Is(err, strconv.ErrSyntax) {
		return false, nil
	}
	h.Numbered, h.Section = err == nil, section
	return err == nil, err
}

func headerCounts(line string) (old, new int, err error) {
	o, n, _, _ := cutRanges(line)
	if _, old, err = parseRange(o); err == nil {
		_, new, err = parseRange(n)
	}
	return old, new, err
}

// cutRanges cuts a header into its parts.
func cutRanges(line string) (old, new, section string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimPrefix(line, "@@"), " "), "-")
	if !ok {
		return "", "", "", false
	}
	ranges, section, ok := strings.Cut(rest, "@@")
	if !ok {
		return "", "", "", false
	}
	old, new, ok = strings.Cut(strings.TrimSpace(ranges), " ")
	new, plus := strings.CutPrefix(strings.TrimSpace(new), "+")
	return old, new, strings.TrimPrefix(section, " "), ok && plus
}

// parseRange reads "start" or "start,count".
func parseRange(s string) (start, count int, err error) {
	first, second, two := strings.Cut(s, ",")
	count = 1
	if start, err = parseNumber(first); err == nil && two {
		count, err = parseNumber(second)
	}
	if err == nil && start > maxLine-count {
		err = fmt.Errorf("the range %q is too large", s)
	}
	return start, count, err
}

const maxLine = 1<<63 - 1

func parseNumber(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("the number %s is too large", s)
	}
	return int(n), err
}

func first(s ...string) string {
	for _, s := range s {
		if s != "" {
			return s
		}
	}
	return ""
}
