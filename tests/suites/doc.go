// Package suites runs the test data that other projects wrote against the tools, as a black box: whole workspaces before
// and after a call. The data is not part of this repository; TACKLE_SHARED names the folder that holds suites/.
package suites
