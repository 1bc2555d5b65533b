// Package engine lists the engines that come with tackle, in the order in which they are asked: the one that knows a format
// best first. Each is a package of its own and usable alone.
package engine

import (
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/audio"
	"github.com/tackle-dev/tackle/media/engine/data"
	"github.com/tackle-dev/tackle/media/engine/image"
	"github.com/tackle-dev/tackle/media/engine/legacy"
	"github.com/tackle-dev/tackle/media/engine/odf"
	"github.com/tackle-dev/tackle/media/engine/ooxml"
	"github.com/tackle-dev/tackle/media/engine/pdf"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/engine/text"
)

// Config is for engines that have something to set. It is copied.
type Config struct {
	// Cache is a folder that only its owner can write, for what makes the first use of an engine fast: the compiled PDFium.
	// Empty means that each process compiles it, which takes seconds.
	Cache string
}

// All returns the engines that need no other program.
func All() []media.Engine { return With(Config{}) }

// With returns the engines that need no other program. Making them starts and reads nothing.
func With(c Config) []media.Engine {
	return []media.Engine{sheet.Engine(), ooxml.Engine(), odf.Engine(), legacy.Engine(), pdf.Engine(pdf.Config{Cache: c.Cache}), data.Engine(), text.Engine(), image.Engine(), audio.Engine()}
}
