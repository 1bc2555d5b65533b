// Package clients runs real MCP clients from npm, offline, against our server and a scripted model, and asserts what the
// model sees: the tools, the instructions, and the whole result of a call.
//
// TACKLE_NPM names the folder for their programs (about 100 to 500 MB each); without it the tests say so and do not run.
// TACKLE_CLIENTS names the clients to run, or "all"; by default the light ones run.
package clients
