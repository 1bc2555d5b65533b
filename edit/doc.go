// Package edit replaces text in a file the way a model asks for it: old text, new text, and no position.
//
// [Apply] makes one replacement, [ApplyAll] several in order, and a [Finder] only locates, for patches. All are pure
// functions over bytes. They take the text of a file as UTF-8 (package internal/text decodes it); bytes that are not
// UTF-8 are kept like all others.
//
// # The ladder
//
// A model copies what it saw, and on the way small things get lost: the file has CRLF and the copy has LF, the viewer's
// line numbers came along, tabs became blanks. So old text is looked for on the rungs of a ladder, the strictest first:
//
//	Exact          the bytes
//	LineEndings    LF, CRLF and (in a file with nothing else) CR are one; a last line needs no ending
//	TrailingSpace  blanks at the ends of lines do not count
//	LineNumbers    every line of the old text carries the number that a viewer put before it: "12\t", "12→", "12: ", "12|"
//	DiffMarkers    every line carries the '-', '+' or ' ' of a diff
//	Indentation    all lines are indented more, or less, by the same white space; or in tabs instead of blanks
//	Punctuation    typographic quotes, dashes, spaces, ellipses and full-width forms equal their plain forms
//	Escapes        \n, \t, \" and the like were written where the characters were meant
//
// A rung includes the tolerance of those above it as far as they are about white space and line endings, so a CRLF file
// with trailing blanks and tabs is found on Indentation.
//
// The first rung on which the text is found decides. There it must stand at exactly one place, otherwise the edit is
// refused with the lines of all places; going on to a looser rung could only add more of them. Nothing is ever found by
// similarity: on each rung two texts are equal or they are not. Letters, digits, brackets and the white space within a
// line always count, and from Indentation on the old text must have at least one letter or digit, so that a lone brace
// is not moved about. What is not found is explained (see [NotFoundError]), not approximated.
//
// # The splice
//
// Bytes outside of the places found stay as they are. Inside, new lines get the line ending that the file has there and,
// on Indentation, the white space that the found lines have more or less than the old text. Lines that the old and the
// new text have in common keep the bytes of the file: an edit that was found without trailing blanks does not remove
// them from the lines it did not mean to change. Where the new text leaves open how to indent it (its first line is
// indented otherwise than that of the old text), the edit is refused.
//
// How it is found quickly: an exact edit is two searches for the old text and one copy of the file. A looser rung makes
// a normal form of the file, in which what the rung ignores is gone, together with a table of the cuts; it searches the
// normal form of the old text there and translates the offsets back.
package edit
