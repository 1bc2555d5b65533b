//go:build !linux && !darwin

package hosttest

var special []scenario
