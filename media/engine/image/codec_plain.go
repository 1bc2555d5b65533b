//go:build !nodynamic

package image

import "io"

type ioReader = io.Reader

// modern returns the codecs beside those of the standard library. WebP with loss and AVIF are WebAssembly, in builds with
// the tag nodynamic: without it their packages would load libraries of the system when the program starts.
func modern() []codec { return []codec{losslessWebP()} }
