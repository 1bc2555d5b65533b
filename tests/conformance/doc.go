// Package conformance runs the protocol's own conformance runner (from npm) against our MCP stack: the server over HTTP,
// the server over stdio behind a bridge, and the client. Both frozen requirement sets run, the older and the newer era.
// What fails for a known reason is listed with it; anything else, and anything listed that passes, fails the test.
//
// TACKLE_NPM names the folder for the runner; without it the tests say so and do not run.
package conformance
