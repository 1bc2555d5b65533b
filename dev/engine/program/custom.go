package program

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/dev"
)

// Custom describes an engine in words that stand in a configuration file.
type Custom struct {
	Files  []string // see Action
	Inputs []string
	Config []string // see Command
	Links  []string
	// Command lines by capability. The first word is a program on the path, or one of the project with its path from the
	// root; "{files}" stands for the names of the files, which otherwise come last. Format and fix rewrite their files.
	Format, Lint, Fix, Check []string
	// Find says how the output of lint, fix and check is read: "sarif", "rdjson", or a regular expression; see Match.
	Find  string
	Exits []int // see Action
}

// Custom makes an engine of a description. An error is a mistake in the description; a program that is not here is said
// in the detection, and the engine is nil then.
func (p Place) Custom(ctx context.Context, name string, c Custom, r Runner, w Workshop) (dev.Engine, dev.Detection, error) {
	found := dev.Detection{Name: name}
	find, err := finderOf(c.Find)
	if err != nil {
		return nil, found, err
	}
	cmd := &Command{Name: name, Can: map[dev.Capability]Action{}, Config: c.Config, Links: c.Links, Runner: r, Workshop: w}
	for _, x := range []struct {
		what dev.Capability
		argv []string
	}{{dev.CanFormat, c.Format}, {dev.CanLint, c.Lint}, {dev.CanFix, c.Fix}, {dev.CanCheck, c.Check}} {
		if len(x.argv) == 0 {
			continue
		}
		at, version, why := p.program(ctx, x.argv[0])
		if why != "" {
			found.Reason = why
			return nil, found, nil
		}
		found.Where, found.Version = at, version
		a := Action{Files: c.Files, Argv: append([]string{at}, x.argv[1:]...), Exits: c.Exits, Find: find, Rewrites: x.what == dev.CanFormat || x.what == dev.CanFix}
		a.Shown = strings.Join(slices.DeleteFunc(slices.Clone(x.argv), func(s string) bool { return s == filesMark }), " ")
		if x.what == dev.CanLint || x.what == dev.CanCheck {
			a.Inputs = c.Inputs
			if find == nil {
				return nil, found, fmt.Errorf("it can %s, but nothing says how its output is read: set find to sarif, rdjson or a regular expression", x.what)
			}
		}
		cmd.Can[x.what] = a
	}
	switch {
	case len(cmd.Can) == 0:
		return nil, found, fmt.Errorf("it has no command line: set format, lint, fix or check")
	case len(c.Files) == 0:
		return nil, found, fmt.Errorf("it serves no files: set files, such as [\"*.py\"]")
	}
	cmd.Version = found.Version
	return cmd, found, nil
}

func finderOf(find string) (Finder, error) {
	switch find {
	case "":
		return nil, nil
	case "sarif":
		return SARIF(), nil
	case "rdjson":
		return RDJSON(), nil
	}
	re, err := regexp.Compile(find)
	if err != nil {
		return nil, fmt.Errorf("find is neither sarif nor rdjson nor a regular expression: %w", err)
	}
	if re.SubexpIndex("message") < 0 {
		return nil, fmt.Errorf("find has no group (?P<message>…)")
	}
	return Match(find, dev.Warn), nil
}

// program finds the program of a command line. Its version is the time of its file: to ask it would be to start it.
func (p Place) program(ctx context.Context, word string) (at, version, why string) {
	switch {
	case filepath.IsAbs(word):
		at = word
	case strings.ContainsAny(word, `/\`):
		at = filepath.Join(p.Root, filepath.FromSlash(word))
	default:
		var ok bool
		if at, ok = p.onPath(ctx, word); !ok {
			return "", "", word + " is not on the path"
		}
	}
	real, err := p.Host.Resolve(ctx, "", at)
	if err != nil || !p.isFile(ctx, at) {
		return "", "", at + " is not there"
	}
	info, err := p.Host.Stat(ctx, real.Real)
	if err != nil {
		return "", "", at + " cannot be looked at"
	}
	return at, "file of " + info.ModTime.UTC().Format(time.DateTime), ""
}
