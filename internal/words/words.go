// Package words draws texts from the words of a grammar, for property tests of what reads it: random bytes hardly ever make
// two words stand beside each other, and that is where readers err.
package words

import "pgregory.net/rapid"

// Draw draws a text: one of whole, or nothing, with up to eight words at its end or within it, and now and then with a
// piece cut out or said twice.
func Draw(t *rapid.T, words []string, whole ...string) string {
	text := ""
	if len(whole) > 0 && rapid.Bool().Draw(t, "from whole") {
		text = rapid.SampledFrom(whole).Draw(t, "whole")
	}
	word := rapid.SampledFrom(words)
	for range rapid.IntRange(0, 8).Draw(t, "changes") {
		at, end := len(text), len(text)
		how := rapid.IntRange(0, 7).Draw(t, "how")
		if how > 3 {
			at = rapid.IntRange(0, len(text)).Draw(t, "at")
			end = min(len(text), at+rapid.IntRange(1, 12).Draw(t, "length"))
		}
		switch how {
		case 6:
			text = text[:at] + text[end:]
		case 7:
			text = text[:end] + text[at:end] + text[end:]
		default:
			text = text[:at] + word.Draw(t, "word") + text[at:]
		}
	}
	return text
}
