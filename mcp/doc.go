// Package mcp serves a toolbox to MCP clients.
//
// One [Server] speaks both eras of the protocol: the one with sessions (2024-11-05 to 2025-11-25) and the stateless one
// (2026-07-28), over standard input and output ([Server.ServeStdio]) and over streamable HTTP ([Server.Handler]).
// Whatever the era and the transport, a call takes the toolbox's one road; this package only translates:
//
//   - Results are text that is complete in itself. There is no structured content, because several clients show a
//     model only that and others only the text. A tool error and a denial are results with isError.
//   - The limit of the client at hand is passed to the tool before it runs ([BoundsFor]).
//   - A call that runs longer than a budget answers with a handle, and the tool call_wait goes on waiting for it.
//   - A question to a person ([Face]) is an elicitation in the older era and a multi-round-trip answer in the newer
//     one; a client that can do neither gets a denial that names a ticket.
//   - The tool list is a function of configuration, never of a connection: a mode is an endpoint or an argument of the
//     process.
//
// The other direction, tools of other servers under our contract, is package mcp/client; settings for the clients that
// start us are in mcp/setup.
package mcp
