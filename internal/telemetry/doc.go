// Package telemetry tells a collector of traces what tools did, where one is configured.
//
// The one idea: a span is made when a call has ended, from what its result says; so nothing is open that a crash could lose,
// and a call without a collector costs nothing. Names are those of the GenAI conventions of OpenTelemetry, which are still in
// development: they stand in names.go and nowhere else. Arguments and results are never in a span: they may hold anything.
//
// A call belongs to the trace of whoever made it (the header traceparent). Where nobody named one, all calls of a session form
// a trace whose ids follow from the session's, so that several processes write to the same one.
//
// Spans are sent as OTLP over HTTP in its JSON form, by an exporter of our own behind the official SDK: the usual one brings a
// whole RPC library along (docs/decisions.md).
package telemetry
