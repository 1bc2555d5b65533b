//go:build !unix

package search

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }
