// Package terminal asks the person at a terminal. A [Prompt] is a face of the queue of asks: it shows what a call would do
// and reads one key.
//
// The one idea: the key must be an answer to what is on the screen. So the prompt talks to the controlling terminal itself
// and never to standard input, which may be a pipe that somebody else fills; what was typed before the prompt was
// drawn, and in the moment after, is dropped; what is pasted is no key; and Enter answers nothing, so that there is no
// default that a habit could choose.
//
// What is shown comes from [ask.View], which is escaped already; this package only lays it out and cuts it, and one key
// opens it whole.
package terminal
