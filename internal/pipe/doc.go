// Package pipe is the statement language of the media pipeline as a language kit: tokens with positions, a parser, a
// table of verbs with typed arguments, plans, and a printer that is the inverse of the parser.
//
//	redact match=/\d{3}-\d{2}-\d{4}/ replace="[SSN]" | convert to=md
//
// The grammar:
//
//	pipeline := segment ( "|" segment )*
//	segment  := verb ( IDENT "=" value )*
//	verb     := IDENT [ IDENT [ IDENT ] ]        folded: extract_text, extract text and Extract.Text are one verb
//	value    := scalar ( "," scalar )*           ranges splice into the list
//	scalar   := INT | FLOAT | INT-INT | true | false | IDENT | "…" | '…' | /…/flags | @id | @"…"
//
// White space separates, also line ends; # begins a comment. In strings \n \r \t \" \' \\ and \/ are escapes, any other
// backslash stands for itself.
//
// A [Plan] is pure data: verbs with checked arguments, spans aside equal for equal statements. [Language.Parse] makes it
// of a statement, [Language.Ops] of structured operations; both run the same checks. [Language.Print] writes a plan in
// its one canonical form, and parsing that gives the plan again. Errors are of type [*Error] and show one line to copy.
//
// The package runs nothing and knows no media. Parsing does not depend on what a deployment can do; only the check does.
package pipe
