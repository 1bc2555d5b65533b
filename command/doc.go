// Package command says what a shell command line would do, from its text alone. It runs nothing and opens nothing.
//
// The one idea: a line is judged on the argument vectors that bash would execute, never on its text. [Parse] turns a line
// into [Facts]: every simple command that may run, wherever it hides (after && or a pipe, in a substitution, behind env
// or timeout, in the script of sh -c, in find -exec), each with its words, redirections and assignments. A word that the
// shell computes is marked, with the reason, instead of being guessed.
//
// Three questions are answered on the facts:
//
//   - [ReadOnly]: does the line only look? It does when its syntax, its commands and each of their flags are on a list.
//     The list is readonly.txt; what is not on it is "no".
//   - [Pattern]: does a rule cover a command? A pattern is a list of tokens that is compared with an argument vector.
//   - [Facts.Suggest]: which pattern would cover what a person has just approved, and nothing more?
//
// # What is refused
//
// The parser is mvdan.cc/sh. Where it and bash are known to disagree, or where a person would misread the line, Parse
// returns an error beside the facts. Such facts still serve a rule that denies, because it may match what was seen, and
// never one that allows. Refused are: more than [MaxLine] bytes or [MaxCalls] commands; text that is no UTF-8; control
// characters, white space outside of ASCII and characters that do not show; a backslash before a newline (in a comment,
// bash ends the line there and the parser does not); and what does not parse.
//
// # What this package relies on
//
// The verdict of ReadOnly is about bash started without start-up files (bash --norc --noprofile -c LINE), with an
// environment from which everything is removed that changes what commands do (BASH_ENV, ENV, SHELLOPTS, BASHOPTS,
// BASH_FUNC_*, CDPATH, GIT_*, LESS*, RIPGREP_CONFIG_PATH, GREP_OPTIONS, LD_*, PAGER), and with PATH set to directories that
// the agent cannot write (host.Command.Trusted). Another shell reads the same text otherwise. What the line reads is not judged here:
// [Facts.Paths] names the files, and policy decides about them. And even so a read-only line belongs into a sandbox that
// cannot write: classification decides whether to ask, the sandbox what can happen.
package command
