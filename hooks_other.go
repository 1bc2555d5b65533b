//go:build !unix

package tackle

import "os/exec"

func shellLine(script string) []string { return []string{"cmd", "/C", script} }

func ownGroup(*exec.Cmd) {}
