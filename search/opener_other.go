//go:build !linux

package search

// openerFS has no raw way on this system.
func openerFS(DirOpener) FS { return nil }
