// Package modeltest is the suite that every adapter of package model joins.
//
// An adapter's test brings a Fake: the wire format of its provider, told in two directions. Fake renders a scripted Reply as the bytes
// that the real service would stream, and reads a request that the adapter sent back into the words of package model. The suite
// serves the fake over HTTP on this machine, breaks it in all the ways in which real services break, and judges what comes out.
//
//	func TestModel(t *testing.T) {
//		modeltest.Run(t, modeltest.Suite{Fake: fake{}, New: func(e modeltest.Endpoint) (model.Model, error) { … }})
//	}
package modeltest

import (
	"net/http"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/model"
)

// Suite is one adapter under test.
type Suite struct {
	// New makes the adapter for a model that takes pictures and documents and has a price for each kind of token.
	New  func(e Endpoint) (model.Model, error)
	Fake Fake
	Can  Can
}

// Endpoint is where the fake serves.
type Endpoint struct {
	URL  string // without a slash at its end
	Key  string // must be sent, and must appear in no error
	Idle time.Duration
}

// Can says what the wire format has. What it has not, the suite does not ask for.
type Can struct {
	Reasoning    bool // answers show reasoning
	Signed       bool // reasoning comes with a signature that must go back with it, unchanged
	CallIDs      bool // calls have ids; otherwise the adapter makes them
	TextArgs     bool // arguments are text, so that they can come in fragments and be broken
	Parallel     bool // an answer can hold several calls
	Images       bool // the user can show pictures
	Documents    bool // the user can show PDF files
	ResultImages bool // results of calls can hold pictures, as parts of their own or in a message beside them
	CacheRead    bool // usage tells what was read from a cache
	CacheWrite   bool // usage tells what was written to one
	CacheMarks   bool // requests mark what is to be cached
	Refusal      bool // an answer can be declined
	Choice       bool // a request can require or forbid calls
	StreamErrors bool // an error can be told within a stream that began well
	Ends         bool // a whole stream has an end that a cut one lacks
	RetryAfter   bool // the class Retry carries how long to wait
}

// Fake is a wire format. Its methods are called from several goroutines.
type Fake interface {
	// Stream renders an answer in parts that the suite sends one by one: the head, one part for each step, the tail with stop, usage
	// and end. The content type is that of a stream. With r.Fail the tail is the error as a stream tells it.
	Stream(r Reply) Stream
	// Error renders the body with which the service tells an error of this kind before a stream begins, its content type with it.
	Error(kind Fault) (status int, contentType, body string)
	// Request reads a request that the adapter sent, as the service would understand it. What the format cannot say stays
	// empty. An error means that the service would refuse the request.
	Request(r *http.Request, body []byte) (Seen, error)
}

// Seen is a request as a service understands it.
type Seen struct {
	// Request in the words of package model. Texts of results stand in their Parts; schemas need only be equal as JSON; the role of
	// a message is that of its side. Opaque forms need not be read.
	model.Request
	Model string
	Key   string // from the header or the query
	// Prefix is what the service's cache compares, in its order and without marks: tools, system, each message.
	Prefix []string
	Marks  int // how many cache marks the request holds
}

// Stream is a rendered answer.
type Stream struct {
	ContentType string
	Head        string   // may be empty
	Steps       []string // one for each step of the Reply; with fragments of arguments, one for each fragment is not needed
	Tail        string
}

// Reply is what a fake answers.
type Reply struct {
	Steps []Step
	Stop  model.Stop
	Usage model.Usage
	Model string // which model answers; never empty
	Fail  Fault  // the stream ends with this error instead; Stop and Usage do not count
}

// Step is one part of an answer. Exactly one of Text, Reasoning and Call is set.
type Step struct {
	Text      string
	Reasoning string
	Signature string // with Reasoning: comes with it, where the format has such a thing
	Call      *Call
}

// Call is a call in an answer.
type Call struct {
	ID   string   // "" where the service gives none
	Name string   // as the model wrote it
	Args []string // fragments; a format with arguments as values joins and parses them
}

// Fault is a kind of error that a service tells.
type Fault string

// The faults.
const (
	Unauthorized Fault = "unauthorized" // 401: the key is wrong; the message repeats the key, as some services do
	Forbidden    Fault = "forbidden"    // 403: no right to this model
	TooLong      Fault = "too long"     // 400: more tokens than the window
	Invalid      Fault = "invalid"      // 400: a field that the service does not know
	RateLimited  Fault = "rate limited" // 429
	Broken       Fault = "broken"       // 500
	Overloaded   Fault = "overloaded"   // 503, or 529 where the service uses it
	NoModel      Fault = "no model"     // 404, or what the service uses: there is no such model
)

// Key is what the suite gives as a key; the fault Unauthorized repeats it.
const Key = "key-canary-5f1c8a2e"

// Run tests the adapter.
func Run(t *testing.T, s Suite) {
	t.Run("Answers", func(t *testing.T) { s.answers(t) })
	t.Run("Requests", func(t *testing.T) { s.requests(t) })
	t.Run("Errors", func(t *testing.T) { s.errors(t) })
	t.Run("Streams", func(t *testing.T) { s.streams(t) })
}
