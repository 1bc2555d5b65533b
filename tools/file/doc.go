// Package file holds the tools that read, list and change files.
//
// Each tool is a thin skin: it loads what the call names, lets an engine (edit, text, change) compute, and returns an
// intent with the exact bytes. None of them writes by itself: changes go through the road's Commit.
//
// [Tools] returns all of them. Every struct is usable alone; its zero value has the documented limits.
package file

import (
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
)

// Limits of the file tools. Descriptions are rendered from these constants.
const (
	ReadLines   = 2000      // lines of one read_file call, over all of its files
	ReadBytes   = 256 << 10 // bytes of one read_file call
	MaxRanges   = 200       // files or ranges of one read_file call
	LineClip    = 2000      // characters of one line that read_file shows
	MaxEditSize = 64 << 20  // bytes of a file that can be edited or hashed
	ListEntries = 100       // entries of list_dir
	ListDepth   = 2         // levels of list_dir
	MaxTree     = 10000     // files that delete_file and copy_file take at once
	MaxTreeSize = 256 << 20 // bytes that copy_file holds at once
)

// Tools returns the file tools in the order of their list. cfg is for listings.
func Tools(cfg search.Config) []tool.Tool {
	return []tool.Tool{
		Read{}.Tool(), Edit{}.Tool(), MultiEdit{}.Tool(), Patch{}.Tool(), Write{}.Tool(), List{cfg}.Tool(),
		Delete{}.Tool(), Move{}.Tool(), Copy{}.Tool(),
	}
}
