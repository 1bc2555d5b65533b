//go:build !linux

package confine

import "errors"

const selfPath = ""

func here() Holds { return Holds{Reason: "there is no means for it on this system"} }

func become(string) error { return errors.New("there is no means for it on this system") }
