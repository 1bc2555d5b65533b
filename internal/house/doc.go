// Package house holds no code, only tests: the rules of the whole tree that a compiler does not know. Which package may
// import which, that every package says its one idea, that no test sleeps, that engines know no world, and how long a
// file and a function may be.
package house
