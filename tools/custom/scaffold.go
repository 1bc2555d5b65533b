package custom

import (
	"fmt"
	"io/fs"
	"strings"
)

// File is a file of a scaffold.
type File struct {
	Name    string
	Content string
	Mode    fs.FileMode
}

// CheckName reports a name that no tool can have.
func CheckName(name string) error {
	if !goodName.MatchString(name) || strings.HasPrefix(name, foreign) {
		return fmt.Errorf("tool name %q: want lower-case letters, digits and _, a letter first, at most 40, and not mcp__ in front", name)
	}
	return nil
}

// Scaffold returns a tool that works: a manifest, a script, and a test of the script.
func Scaffold(name string) []File {
	fill := strings.NewReplacer("NAME", name)
	return []File{
		{name + Ext, fill.Replace(scaffoldManifest), 0o644},
		{name + ".sh", fill.Replace(scaffoldScript), 0o755},
		{name + "_test.sh", fill.Replace(scaffoldTest), 0o755},
	}
}

const scaffoldManifest = `# A tool for agents: the program below gets the arguments as JSON on standard input; what it writes to standard output is the
# result. An exit status that is not 0 is an error, and what it wrote to standard error says why.
description: Count the lines of a text. (Say here what the tool does and when to use it.)
command: [./NAME.sh]
schema:
  type: object
  properties:
    text: {type: string, description: Text to count}
  required: [text]
example: {text: "one\ntwo\n"}
effects: [read]   # what people are told; policy looks at the command itself
timeout: 10s
# env: [API_TOKEN]   # variables that it gets beside the usual ones
# output: json       # when the result is JSON
`

const scaffoldScript = `#!/bin/sh
# Arguments come as one JSON object on standard input.
set -eu
input=$(cat)
text=$(printf '%s' "$input" | sed -n 's/^{"text":"\(.*\)"}$/\1/p')
if [ -z "$text" ]; then
	echo 'text is empty' >&2
	exit 1
fi
printf '%b' "$text" | wc -l | tr -d ' '
`

const scaffoldTest = `#!/bin/sh
# Run it after each change: it calls the script as tackle does.
set -eu
cd "$(dirname "$0")"
got=$(printf '%s' '{"text":"one\ntwo\n"}' | ./NAME.sh)
if [ "$got" != 2 ]; then
	echo "got $got, want 2" >&2
	exit 1
fi
if printf '%s' '{"text":""}' | ./NAME.sh 2>/dev/null; then
	echo 'an empty text is no error' >&2
	exit 1
fi
echo ok
`
