package model

import "time"

// Class says what can be done about an error of a model.
type Class string

// The classes.
const (
	Retry        Class = "retry"        // overloaded, rate limited, cut off: the same request may succeed later
	TooLong      Class = "too long"     // the request does not fit the model's window: compact it
	Refused      Class = "refused"      // the provider does not answer this request: its content must change
	Unauthorized Class = "unauthorized" // no key, a wrong key, or no right to this model: a person must act
	Invalid      Class = "invalid"      // the provider calls the request wrong, or its answer cannot be understood
	Canceled     Class = "canceled"     // the context ended
)

// Error is a failure of a model. Its message says what to do next and never holds a key.
type Error struct {
	Class    Class         `json:"class"`
	Provider string        `json:"provider"`
	Status   int           `json:"status,omitempty"` // of HTTP; 0: there was no response
	After    time.Duration `json:"after,omitempty"`  // how long the provider asks to wait, with Retry; 0: it does not say
	Message  string        `json:"message"`
	Cause    error         `json:"-"`
}

func (e *Error) Error() string { return e.Provider + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
