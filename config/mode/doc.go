// Package mode reads modes: files that say which tools an agent has, what it may do with them, what it is told, and which
// model it is.
//
// A mode is a Markdown file with a head of YAML. The head names it and narrows it; the text below is the beginning of the
// agent's system prompt:
//
//	---
//	description: Look at the change of this branch and say what is wrong with it
//	tools: [read_file, glob, grep, git]
//	permissions:
//	  - edit: deny
//	effort: high
//	---
//	You review a change that somebody else made. …
//
// The keys are name (that of the file, where it is missing), description, from (the mode whose tools these are, "code" or
// "dev"), tools (names, with "*" for any characters; all where it is missing), permissions (rules as in a configuration, a
// layer of their own), model (PROVIDER/NAME) and effort (off, low, medium, high). Only the description must be there.
//
// Some modes are built in. The person's files, in the folder modes beside the configuration, replace those of the same name;
// those of a project lie in .tackle/modes. What a project says never loosens anything: of a file that the person has not
// trusted the rules only tighten and the model does not count, and a mode that exists already keeps everything it has and
// gets the tightening rules on top. In a trusted file a mode of a known name may say everything anew, but the rules of the
// one that it replaces stay beside its own.
package mode
