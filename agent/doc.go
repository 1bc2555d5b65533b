// Package agent is the turn loop: a model asks for calls, the road runs them, their results go back, until the model has no
// more to say, a limit is reached or somebody ends it.
//
// What happens next is decided by one pure function, [Next]: state and event in, state and steps out. It reads no clock, store
// or network, so the state of a session is the fold of its events ([Fold]), and the same machine runs under any driver. A driver
// performs the steps and feeds back what came of them; [Agent] is the embedded one, over the event log of package store. What a
// driver must keep, and the suite in agenttest holds it to, is this:
//
//   - An event is stored before it is followed: nothing is done, and nothing is shown, because of an event that a crash could lose.
//   - Texts go by reference: Next never looks at what was said, only at what it means for the loop ([Event.Control]).
//   - A call that may have run is never run twice. What became of it is found out, or said to be unknown.
//
// A session is a conversation. A turn begins with a message of the user and ends when the loop rests; it consists of rounds, each
// one answer of the model with the results of its calls.
package agent
