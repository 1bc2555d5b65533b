package client

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/tackle-dev/tackle/tool"
)

// Finding is something that a person should look at. Nothing is refused for it.
type Finding struct {
	Server, Tool string // Tool is "" for the server's configuration
	Message      string
}

// String says the finding in one line.
func (f Finding) String() string {
	if f.Tool != "" {
		return f.Tool + ": " + f.Message
	}
	return f.Server + ": " + f.Message
}

// suspicious are words in a description that speak to the model about something else than the tool.
var suspicious = []struct {
	re  *regexp.Regexp
	why string
}{
	{regexp.MustCompile(`(?i)(ignore|disregard|forget)[^.]{0,30}(previous|prior|above|other|all)[^.]{0,20}(instruction|rule|prompt)`), "tells the model to ignore previous instructions"},
	{regexp.MustCompile(`(?i)(do not|don't|never)[^.]{0,20}(tell|mention|show|inform|reveal)[^.]{0,30}(user|person|human|anyone)`), "tells the model to hide something from the person"},
	{regexp.MustCompile(`(?i)\.ssh\b|id_rsa|\.aws/credentials|\.env\b|/etc/(passwd|shadow)|\.netrc|keychain`), "names a place where secrets are kept"},
	{regexp.MustCompile(`(?i)<\s*(important|system|instructions?|secret|hidden)\b`), "holds a tag that poses as an instruction"},
	{regexp.MustCompile(`(?i)(before|instead of) (using|calling) (this|any other|other)[^.]{0,20}tools?[^.]{0,60}(must|first|always)`), "tells the model to do something before it uses tools"},
	{regexp.MustCompile(`(?i)(send|post|forward|upload|exfiltrate)[^.]{0,40}(conversation|chat history|context|system prompt|file contents?|credentials?)`), "asks for the conversation or for files"},
}

// Inspect looks at what a foreign tool says about itself.
func Inspect(def tool.Definition) []Finding {
	var out []Finding
	text := def.Title + "\n" + def.Description
	if def.Schema != nil {
		if b, err := def.Schema.MarshalJSON(); err == nil {
			text += "\n" + string(b)
		}
	}
	for _, s := range suspicious {
		if m := s.re.FindString(text); m != "" {
			out = append(out, Finding{def.Author, def.Name, fmt.Sprintf("the description %s: %q", s.why, m)})
		}
	}
	return out
}

var (
	runners   = map[string]bool{"npx": true, "bunx": true, "pnpx": true, "uvx": true, "pipx": true, "dlx": true}
	versioned = regexp.MustCompile(`.[@=]=?v?\d`)
)

// InspectServer looks at the configuration of a server.
func InspectServer(s *Server) []Finding {
	var out []Finding
	add := func(format string, args ...any) {
		out = append(out, Finding{Server: s.Name, Message: fmt.Sprintf(format, args...)})
	}
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err == nil && u.Scheme == "http" && !loopbackName(u.Hostname()) {
			add("%s is not encrypted; others on the way can read and change what it says", s.URL)
		}
		return out
	}
	if pkg := runnerPackage(s); pkg != "" && !versioned.MatchString(pkg) {
		add("%s %s takes whatever version is the newest; name an exact one, so that the code does not change between two runs", path.Base(s.Command), pkg)
	}
	if shell := path.Base(s.Command); (shell == "sh" || shell == "bash" || shell == "cmd" || shell == "powershell") && len(s.Args) > 0 {
		add("the command goes through %s; name the program itself", shell)
	}
	return out
}

// runnerPackage returns the package that a command like npx fetches and runs, or "".
func runnerPackage(s *Server) string {
	if !runners[strings.TrimSuffix(path.Base(s.Command), ".cmd")] {
		return ""
	}
	for _, a := range s.Args {
		if !strings.HasPrefix(a, "-") && a != "run" {
			return a
		}
	}
	return ""
}

func loopbackName(h string) bool {
	return h == "localhost" || strings.HasPrefix(h, "127.") || h == "::1"
}

// InspectFile looks at a file that decides which servers run: one that others can write, or a link into a folder of
// theirs, lets them choose the program. info is that of the path itself, not of what a link names; owner says whether the
// file belongs to this user or to the administrator.
func InspectFile(name string, info fs.FileInfo, owner bool) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link; it decides which programs run, so it must be a plain file", name)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by others (mode %#o); it decides which programs run", name, info.Mode().Perm())
	case !owner:
		return fmt.Errorf("%s belongs to somebody else; it decides which programs run", name)
	}
	return nil
}
