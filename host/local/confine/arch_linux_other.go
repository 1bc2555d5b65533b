//go:build linux && !amd64 && !arm64

package confine

const nativeArch, foreignCalls = 0, 0 // no filter is known
