// Package wires holds no code, only tests: the providers' own clients judge the adapters that stand on none, or on less than all of theirs. They read the streams
// of the adapters' fakes, and write the requests that the adapters wrote.
//
// It is a module of its own, so that what those clients bring along stays out of tackle. Run it with `make wires`.
package wires
