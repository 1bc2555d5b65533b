// Package client brings the tools of other MCP servers under our contract.
//
// A [Pool] holds servers from configuration (see [Parse] for .mcp.json). It starts them in the background, each in a
// process group of its own; what a server offers becomes a tool.Tool whose calls take the toolbox's road like any other:
// its permission is mcp__server__tool, its effect the network, and what the server says about itself is a hint that
// nothing relies on. Results are turned into our parts, so that the bounds and media rules of the road hold.
//
// A server is somebody else's program. It may hang, flood, die, lie, or change its tools after they were approved: the
// waits have limits, its standard error is kept for the error message, and a tool whose definition changed is withheld
// until somebody approves it again. A server that a project's file names is not started before its exact command was
// approved: writing such a file is as good as running code.
package client
