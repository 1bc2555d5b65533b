package scan

import "golang.org/x/sys/cpu"

// pairAVX2 returns the least p in [0, n) for which base[p]|m1 == b1 and base[p+d]|m2 == b2, or -1. n must be at least
// 32, and base must have n+d bytes.
//
//go:noescape
func pairAVX2(base *byte, n, d int, b1, b2, m1, m2 byte) int

// headAVX2 returns the least p in [0, n) for which base[p] is a line end and lo <= base[p+1] <= lo+width, or -1. n must be
// at least 32, and base must have n+1 bytes.
//
//go:noescape
func headAVX2(base *byte, n int, lo, width byte) int

// nextHead returns the beginning of the first line after the first whose first byte is in [lo, hi], or -1.
func nextHead(b []byte, lo, hi byte) int {
	if n := len(b) - 1; n >= 32 && cpu.X86.HasAVX2 {
		if p := headAVX2(&b[0], n, lo, hi-lo); p >= 0 {
			return p + 1
		}
		return -1
	}
	return nextHeadPortable(b, lo, hi)
}

// findPair finds a candidate at or after the start of h; see literal. h must have at least n+d bytes.
func (l *literal) findPair(h []byte, n int) int {
	if n >= 32 && cpu.X86.HasAVX2 {
		return pairAVX2(&h[0], n, l.j-l.i, l.b1, l.b2, l.m1, l.m2)
	}
	return l.findPairPortable(h, n)
}
