// Package ask is the one queue of questions to people: what policy asks, who answers, and what comes of it.
//
// The one idea: an ask is a race with one winner. A call that must wait for a person puts a [Request] on the [Queue] and
// waits; every face that is there (a terminal, a console, an MCP client, Go code) sees the same request, escaped in the
// same way; the first answer decides, and every later one is told so. An ask also ends when its call ends, when its time
// is over, and when nobody is left who could answer.
//
// What keeps an answer honest:
//
//   - It names the fingerprint of what was shown, so it cannot answer another version of the call.
//   - Ids cannot be guessed, hold for one answer, and are refused from another session.
//   - It may hold for longer than one call only in the ways that the request offers. An offer covers exactly the targets
//     that policy asked about or, where that is useful and safe, the narrowest pattern around them; never an interpreter or
//     a wrapper by its name. What holds is a [permission.Grant], given before the call goes on.
//   - A [Journal] stores the question before any face sees it and the answer before the call goes on.
//
// With nobody there an ask becomes a denial that says so. Where [Options.Tickets] is set, it also leaves a ticket: a person
// can answer it later, in another process, and the same call is then let through once.
//
// [Subscription.Serve] lets a [Face] answer, one ask after the other. [Request.View] is what a face shows.
package ask
