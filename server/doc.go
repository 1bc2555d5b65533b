// Package server serves a box over HTTP: a JSON API with its description, server-sent events, pages for people, and MCP, all
// on one listener.
//
// The one idea: the server adds no power. It shows what the store holds and passes on what people say; every call that comes
// in here takes the toolbox's road, every answer the one queue of asks, and both stand in the ledger with the name of who
// was behind them.
//
//	s, err := server.New(server.Config{Box: box})
//	if err != nil { … }
//	defer s.Close()
//	l, err := s.Listen()          // loopback, or a socket; other addresses only with Config.Public
//	err = s.Serve(ctx, l)         // until ctx ends
//
// # Who may
//
// Everybody is somebody, also on this machine: a request carries a token (Authorization: Bearer), or the cookie of a person who
// logged in with a code that was valid once. Tokens have a name, a role and an end, and are kept as digests ([Keys]). Host
// and Origin are checked before anything else, on every listener, and no answer lets a page of another origin read it.
//
//	/healthz /readyz          for everybody, and tell nothing
//	/login                    a code becomes a cookie
//	/mcp                      agents and admins
//	everything else           as the description says: /api/openapi.json
//
// # Asks
//
// While a server runs, asks wait for an answer (ask.DefaultTimeout), because somebody may come and look; then they leave a
// ticket. The API and the console answer both.
//
// # For whoever builds pages
//
// The pages stand in server/console and are mounted behind the door at "/". They render the structs of server/internal/core,
// learn who asks from access.From, put access.CSRF into what they post, and follow /api/events, whose ids let them go on
// after a restart.
package server
