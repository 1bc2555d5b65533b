//go:build !linux

package search

// Local is the file system of this machine.
func Local() FS { return portable{} }

// openerFS has no raw way on this system.
func openerFS(DirOpener) FS { return nil }
