//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd

package terminal

// flush has nothing to do: the moment after the prompt was drawn, in which keys are dropped, covers it.
func flush(int) error { return nil }
