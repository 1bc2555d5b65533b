package tool

import (
	"fmt"
	"strings"
)

// Code is the code of a tool error. The first twenty are those of the agent toolbox document; the rest belong to the
// media and dev pipelines and to changes of files.
type Code string

// The codes.
const (
	MissingParameter    Code = "MISSING_PARAMETER"
	InvalidParameter    Code = "INVALID_PARAMETER"
	NotFound            Code = "NOT_FOUND"
	PermissionDenied    Code = "PERMISSION_DENIED"
	OperationFailed     Code = "OPERATION_FAILED"
	OperationNotAllowed Code = "OPERATION_NOT_ALLOWED"
	ValidationError     Code = "VALIDATION_ERROR"
	RateLimited         Code = "RATE_LIMITED" // by our own limiter
	LimitExceeded       Code = "LIMIT_EXCEEDED"
	InvalidCronSpec     Code = "INVALID_CRON_SPEC"
	InvalidOperation    Code = "INVALID_OPERATION"
	TimedOut            Code = "TIMEOUT"
	InvalidArguments    Code = "INVALID_TOOL_ARGUMENTS" // the arguments are not one whole JSON object
	SubagentFailed      Code = "SUBAGENT_FAILED"
	ExecutionFailed     Code = "TOOL_EXECUTION_FAILED"
	Unauthorized        Code = "UNAUTHORIZED" // remote 401
	Forbidden           Code = "FORBIDDEN"    // remote 403
	RateLimitExceeded   Code = "RATE_LIMIT_EXCEEDED"
	NetworkError        Code = "NETWORK_ERROR"
	SecurityViolation   Code = "SECURITY_VIOLATION"

	Stale                  Code = "STALE" // a file is not what it was when it was read or approved
	UnknownTool            Code = "UNKNOWN_TOOL"
	Cancelled              Code = "CANCELLED"
	MediaNotFound          Code = "MEDIA_NOT_FOUND"
	UnknownVerb            Code = "UNKNOWN_VERB"
	EmptyFormatUnavailable Code = "EMPTY_FORMAT_UNAVAILABLE"
	PipeSyntax             Code = "PIPE_SYNTAX"
	UnknownArgument        Code = "UNKNOWN_ARG"
	BadArgument            Code = "BAD_ARG"
	MissingArgument        Code = "MISSING_ARG"
	EngineRequired         Code = "ENGINE_REQUIRED" // the verb exists and nothing here can do it
	UnsupportedOp          Code = "UNSUPPORTED_OP"  // the verb does not apply to this format
	StepFailed             Code = "STEP_FAILED"
	StepUnavailable        Code = "STEP_UNAVAILABLE"
	NotPipeExpressible     Code = "NOT_PIPE_EXPRESSIBLE"
	EmptyGenerationFailed  Code = "EMPTY_GENERATION_FAILED"
	BadRequest             Code = "BAD_REQUEST"
)

// Codes returns every code, in a fixed order.
func Codes() []Code {
	return []Code{MissingParameter, InvalidParameter, NotFound, PermissionDenied, OperationFailed, OperationNotAllowed,
		ValidationError, RateLimited, LimitExceeded, InvalidCronSpec, InvalidOperation, TimedOut, InvalidArguments,
		SubagentFailed, ExecutionFailed, Unauthorized, Forbidden, RateLimitExceeded, NetworkError, SecurityViolation,
		Stale, UnknownTool, Cancelled, MediaNotFound, UnknownVerb, EmptyFormatUnavailable, PipeSyntax, UnknownArgument, BadArgument,
		MissingArgument, EngineRequired, UnsupportedOp, StepFailed, StepUnavailable, NotPipeExpressible, EmptyGenerationFailed, BadRequest}
}

// Error is a failure that a model can act on. Message states the fact and quotes the offending value; Hint says what
// to do next, or that retrying will not help.
type Error struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Parameter string `json:"parameter,omitempty"`
	Expected  string `json:"expected,omitempty"`
	Example   string `json:"example,omitempty"`
	Hint      string `json:"recoveryHint,omitempty"`
	Retry     bool   `json:"retry,omitempty"` // the same call may succeed later
	Err       error  `json:"-"`               // the cause, for programs
	// Line has Render use the line form, as media tools do.
	Line bool `json:"-"`
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

func (e *Error) Unwrap() error { return e.Err }

// Render returns the block form that models read:
//
//	TOOL ERROR: CODE
//	message
//	PARAMETER: …
//	EXPECTED: …
//	EXAMPLE: …
//	RECOVERY HINT: …
//
// Lines without a value are left out. An error with Line set is rendered by RenderLine.
func (e *Error) Render() string {
	if e.Line {
		return e.RenderLine()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "TOOL ERROR: %s\n%s", e.Code, e.Message)
	for _, l := range [...]struct{ label, value string }{
		{"PARAMETER", e.Parameter}, {"EXPECTED", e.Expected}, {"EXAMPLE", e.Example}, {"RECOVERY HINT", e.Hint},
	} {
		if l.value != "" {
			fmt.Fprintf(&b, "\n%s: %s", l.label, l.value)
		}
	}
	return b.String()
}

// RenderLine returns the line form of media tools: Error (CODE): message, with the example and the hint behind it.
func (e *Error) RenderLine() string {
	s := fmt.Sprintf("Error (%s): %s", e.Code, e.Message)
	if e.Example != "" {
		s += " Example: " + e.Example
	}
	if e.Hint != "" {
		s += " " + e.Hint
	}
	return s
}

// Errorf returns an error with a code and a message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// With returns a copy with a recovery hint.
func (e *Error) With(hint string) *Error {
	c := *e
	c.Hint = hint
	return &c
}

// For returns a copy that names the parameter and what was expected of it.
func (e *Error) For(parameter, expected string) *Error {
	c := *e
	c.Parameter, c.Expected = parameter, expected
	return &c
}
