//go:build !amd64

package scan

// findPair finds a candidate at or after the start of h; see literal. h must have at least n+d bytes.
func (l *literal) findPair(h []byte, n int) int { return l.findPairPortable(h, n) }
