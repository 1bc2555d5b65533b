// Package race says whether the race detector is compiled in, for tests with bounds that it moves: it allocates what is
// otherwise converted in place, and makes compilers of WebAssembly many times slower.
package race
