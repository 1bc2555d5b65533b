// Package scan finds the lines of a buffer that a pattern matches, as fast as the memory delivers them.
//
//	p, err := scan.Compile(`\w+_alloc\(`, scan.Options{})
//	s := p.NewScanner()             // one for each goroutine
//	s.Lines(buf, func(l scan.Line) bool { … return true })
//
// The package is pure and keeps no goroutine. It promises the lines of package regexp (leftmost semantics do not matter
// for the question whether a line matches), with five decisions on top: \w, \d, \s, \b and case folding are Unicode, as
// in ripgrep; "$" also stands before "\r\n"; an invalid byte counts as U+FFFD and is matched by "."; a pattern that
// contains a line end spans lines without being told to; an opening brace that begins no repetition is text.
// It is not for replacing or for submatches.
//
// # How a line is found
//
// Searching code is looking for something rare in something large, so nearly all bytes must be dismissed without being
// looked at one by one. Three ways, tried in this order, when the pattern is compiled:
//
// Needles. Every match of `\w+_alloc\(` contains "_alloc(". The planner (plan.go) derives such sets of texts from the
// syntax tree: the texts a part matches exactly are multiplied along a concatenation as long as there are few, joined
// over an alternation, and given up at a star; of all sets that every match needs one of, the one with the smallest
// chance of turning up is kept. If the set is the whole truth ("mutex_lock"), an occurrence is a match; otherwise the
// line around it goes to the automaton.
//
// A needle is not searched from its first byte on. Its two rarest bytes, by a table of how common bytes are in source
// text, are compared at their two offsets for 64 positions at once (pair_amd64.s: two loads, two compares and an AND for
// 32 positions, an OR into the loads to ignore case). Two rare bytes at the right distance are nearly always the
// needle; one rare byte alone stops every few hundred bytes. Where there is no AVX2, and on other processors, the
// standard library's byte search takes the place of the loop.
//
// The automaton. A pattern without a needle ("[A-Z]{5}[0-9]{4}") needs every byte. The syntax tree is compiled to a byte
// automaton (nfa.go): characters beyond ASCII become sequences of byte ranges, shared as a tree, so that \w is one
// instruction a byte deep and not eight hundred. From it a deterministic automaton is built while it runs (dfa.go): a
// state is a set of instructions, a transition is computed the first time it is needed. A line matches as soon as the
// set holds the final instruction; where the match began is of no interest.
//
// Four lanes. Each step of such an automaton is a load whose address depends on the load before, so the processor
// mostly waits. But lines are independent of each other. The buffer is cut at line ends into four stretches and one
// loop advances all of them (lanes.go): four loads are under way at any time, which is about three times as fast. This
// is what makes patterns without a needle twice as fast here as in engines with a single lane.
//
// Beginnings. A pattern that can only match at the beginning of a line rules nearly every line out at its first byte, and
// is then faster line by line: the next line end with a possible first byte behind it is found 64 positions at a time
// (head_amd64.s), and only that line is looked at.
//
// # What the automaton cannot say
//
// Assertions (^, $, \b) look at the byte to come. They stay in the set unresolved and are followed when the next byte is
// known. A word edge beside a character beyond ASCII would need the whole character, and an invalid byte counts as a
// character of its own: in both cases the automaton quits, and that one line is decided by running the
// nondeterministic automaton with full knowledge (dfa.simulate). When a pattern needs more states than the cache holds
// again and again, all of its lines are decided that way.
//
// Matches that span lines have no lines to be cut at: one lane finds where a match ends and the last place before it where
// none was under way, and package regexp finds the match from there on (blocks.go).
package scan
