package permission

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tackle-dev/tackle/glob"
	"github.com/tackle-dev/tackle/tool"
)

// Matcher reads the patterns of one kind of target that is neither a path nor a command (those have several parts, and a
// pattern language of their own: package command). [New] takes one for each kind; a target whose kind has none cannot be
// judged by a pattern and is asked for.
type Matcher interface {
	// Compile reads a pattern. restrict says that the rule denies or asks, so that a doubt should match. An error means
	// that the pattern cannot be one of this kind; the rule then never matches targets of the kind.
	Compile(pattern string, restrict bool) (Match, error)
}

// Match reports whether a pattern matches a target.
type Match func(tool.Target) bool

// ToolNames matches the names of imported tools; "*" in a pattern stands for any characters.
type ToolNames struct{}

// Compile implements [Matcher].
func (ToolNames) Compile(pattern string, _ bool) (Match, error) {
	if err := checkName(pattern); err != nil {
		return nil, err
	}
	return func(t tool.Target) bool { return wildcard(pattern, t.Value) }, nil
}

// A pathPattern is a compiled pattern for paths.
type pathPattern struct {
	any      bool // matches every target of every kind
	absolute bool // compared with the absolute path, not with the path below the root
	inside   bool // matches only below a root: a relative allow of a layer with a base
	restrict bool
	exact    *glob.Pattern
	folded   *glob.Pattern // of the folded text, for rules that restrict; nil where the text is folded as written
	names    bool          // spells a name of the secrets table
	text     string        // normalised and folded, before restrict widened it: the source of index keys
}

// artifactPrefix begins the pattern for artifacts, and their name in calls.
const artifactPrefix = "artifact:"

// A place is what patterns are relative to.
type place struct {
	home string // for "~/"
	base string // see Layer.Base
	// spool is the folder that "artifact:" stands for; "" reads it as the beginning of a name.
	spool string
}

// compilePath compiles a pattern for paths. A restricting pattern covers what lies below its matches, and every depth
// when it has no slash.
func compilePath(pattern string, restrict bool, at place, secret *nameTable) (pathPattern, error) {
	p := pathPattern{restrict: restrict}
	if pattern == Any {
		p.any = true
		return p, nil
	}
	if id, ok := strings.CutPrefix(pattern, artifactPrefix); ok && at.spool != "" && !strings.Contains(id, "/") {
		pattern = "/" + quotePath(at.spool) + "/" + id
	}
	text, absolute, err := normalise(pattern, at.home)
	if err != nil {
		return p, err
	}
	p.names = secret.named(fold(text)) || !glob.HasMeta(text)
	if restrict && !absolute && !strings.Contains(text, "/") && text != "**" && text != "." {
		text = "**/" + text
	}
	if !absolute && at.base != "" {
		p.inside, absolute = !restrict, true
		if base := quotePath(at.base); text == "." {
			text = base
		} else if base != "" {
			text = base + "/" + text
		}
	}
	p.absolute, p.text = absolute, fold(text)
	if restrict && text != "**" && !strings.HasSuffix(text, "/**") {
		text += "/**"
	}
	if p.exact, err = glob.Compile(text, glob.Options{}); err != nil {
		return p, patternError(err)
	}
	if f := fold(text); restrict && f != text {
		if p.folded, err = glob.Compile(f, glob.Options{}); err != nil {
			return p, patternError(err)
		}
	}
	return p, nil
}

// maxChoices bounds the alternatives of braces in one pattern, so that a project's file cannot make compiling it dear.
const maxChoices = 64

// choices returns an upper bound of the alternatives that the braces of a pattern make.
func choices(pattern string) int {
	total, open := 1, []int(nil)
	for i := 0; i < len(pattern) && total <= maxChoices; i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			open = append(open, 1)
		case c == ',' && len(open) > 0:
			open[len(open)-1]++
		case c == '}' && len(open) > 0:
			total *= open[len(open)-1]
			open = open[:len(open)-1]
		}
	}
	return total
}

func patternError(err error) error {
	var ge *glob.Error
	if errors.As(err, &ge) {
		return fmt.Errorf("the pattern cannot be read: %s", ge.Reason)
	}
	return err
}

// normalise brings a pattern into the form that package glob reads: no "./", no slash in front, "~" replaced.
func normalise(pattern, home string) (text string, absolute bool, err error) {
	switch {
	case pattern == "":
		return "", false, errors.New(`the pattern is empty; write "*" for everything`)
	case pattern != strings.TrimSpace(pattern):
		return "", false, errors.New("the pattern has blanks at its ends, which would be part of the name")
	case choices(pattern) > maxChoices:
		return "", false, fmt.Errorf("its braces make more than %d alternatives; write several rules", maxChoices)
	case strings.ContainsRune(pattern, 0):
		return "", false, errors.New("the pattern holds a NUL, which no path can")
	case strings.HasPrefix(pattern, "!"):
		return "", false, errors.New(`"!" does not turn a pattern around; put a rule with the other action below this one (write "\!" for the character)`)
	case strings.HasPrefix(pattern, "$"):
		return "", false, errors.New(`variables are not read in patterns; write "~/" for the home directory`)
	}
	rest := pattern
	switch {
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		if home == "" {
			return "", false, errors.New(`the home directory is unknown here, so "~/" means nothing; write the absolute path`)
		}
		rest, absolute = "/"+quotePath(home)+pattern[1:], true
	case strings.HasPrefix(pattern, "~"):
		return "", false, errors.New(`"~name" is not read; write the absolute path`)
	case strings.HasPrefix(pattern, "/") || hasDrive(pattern):
		absolute = true
	}
	var comps []string
	for c := range strings.SplitSeq(rest, "/") {
		switch c {
		case "", ".":
		case "..":
			return "", false, errors.New(`".." would leave the workspace; write "~/" or an absolute path`)
		default:
			comps = append(comps, c)
		}
	}
	text = strings.Join(comps, "/")
	if strings.HasSuffix(rest, "/") && text != "**" && !strings.HasSuffix(text, "/**") {
		text = strings.TrimPrefix(text+"/**", "/")
	}
	if text == "" {
		text = "." // the workspace root itself
	}
	return text, absolute, nil
}

// quotePath returns the pattern that matches exactly an absolute path, without the slash in front.
func quotePath(path string) string {
	return glob.Quote(strings.TrimPrefix(filepath.ToSlash(path), "/"))
}

func hasDrive(s string) bool {
	return len(s) >= 3 && s[1] == ':' && s[2] == '/' && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z'
}

// match reports whether the pattern matches one spelling of a path.
func (p *pathPattern) match(f *form) bool {
	if !p.restrict && f.secret != "" && !p.names {
		return false
	}
	if p.any {
		return true
	}
	if p.inside && !f.inside {
		return false
	}
	path, folded := f.abs, f.fabs
	if !p.absolute {
		if !f.inside {
			return false
		}
		path, folded = f.rel, f.frel
	}
	if p.exact.Match(path) {
		return true
	}
	if !p.restrict {
		return false
	}
	if p.folded != nil {
		return p.folded.Match(folded)
	}
	return folded != path && p.exact.Match(folded)
}

// reach says how a restricting pattern bears on a directory that is renamed with everything below it.
type reach uint8

const (
	reachNone  reach = iota
	reachMaybe       // something below may match, and would no longer match in its new place
	reachSure        // the pattern is about something below
)

// below reports how the pattern bears on what lies below the directory.
func (p *pathPattern) below(f *form) reach {
	dir := f.frel
	if p.absolute {
		dir = f.fabs
	} else if !f.inside {
		return reachNone
	}
	g := p.exact
	if p.folded != nil {
		g = p.folded
	}
	switch {
	case p.any || strings.HasPrefix(p.text, "**/") && !strings.Contains(p.text[3:], "/"):
		return reachNone // it matches in every place, or the directory itself
	case strings.HasPrefix(p.text, dir+"/") || dir == ".":
		return reachSure
	case g.Below(dir):
		return reachMaybe
	}
	return reachNone
}
