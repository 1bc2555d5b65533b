//go:build !amd64

package scan

// findPair finds a candidate at or after the start of h; see literal. h must have at least n+d bytes.
func (l *literal) findPair(h []byte, n int) int { return l.findPairPortable(h, n) }

// nextHead returns the beginning of the first line after the first whose first byte is in [lo, hi], or -1.
func nextHead(b []byte, lo, hi byte) int { return nextHeadPortable(b, lo, hi) }
