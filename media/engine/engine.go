// Package engine lists the engines that come with tackle, in the order in which they are asked: the one that knows a format
// best first. Each is a package of its own and usable alone.
package engine

import (
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
	"github.com/tackle-dev/tackle/media/engine/image"
	"github.com/tackle-dev/tackle/media/engine/legacy"
	"github.com/tackle-dev/tackle/media/engine/odf"
	"github.com/tackle-dev/tackle/media/engine/ooxml"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/engine/text"
)

// All returns the engines that need no other program.
func All() []media.Engine {
	return []media.Engine{sheet.Engine(), ooxml.Engine(), odf.Engine(), legacy.Engine(), data.Engine(), text.Engine(), image.Engine()}
}
