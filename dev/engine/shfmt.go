package engine

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tackle-dev/tackle/dev"
)

// Shfmt formats shell scripts as shfmt does, and checks their syntax. The zero value indents with tabs, which is the
// default of shfmt.
type Shfmt struct {
	Indent       uint // blanks for each level; 0: a tab
	BinaryNext   bool // && and | begin a line
	SwitchIndent bool // the branches of case are indented
}

// Info is described at dev.Engine.
func (Shfmt) Info() dev.Info {
	files := dev.Ability{Files: []string{"*.sh", "*.bash", "*.bats", "*.mksh", ".bashrc", ".bash_profile", ".profile"}}
	return dev.Info{Name: "shfmt", Version: moduleVersion("mvdan.cc/sh/v3"), Can: map[dev.Capability]dev.Ability{dev.CanFormat: files, dev.CanCheck: files}}
}

// Run is described at dev.Engine.
func (s Shfmt) Run(ctx context.Context, job *dev.Job) (*dev.Report, error) {
	printer := syntax.NewPrinter(syntax.Indent(s.Indent), syntax.BinaryNextLine(s.BinaryNext), syntax.SwitchCaseIndent(s.SwitchIndent))
	return each(job, func(f dev.File) ([]byte, []dev.Diagnostic, error) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		prog, err := syntax.NewParser(syntax.Variant(dialect(f)), syntax.KeepComments(true)).Parse(bytes.NewReader(f.Content), f.Path)
		if err != nil {
			return nil, one(shellError(f.Path, err)), nil
		}
		if job.Capability != dev.CanFormat {
			return nil, nil, nil
		}
		var out bytes.Buffer
		if err := printer.Print(&out, prog); err != nil {
			return nil, nil, err
		}
		return out.Bytes(), nil, nil
	})
}

// dialect is told by the first line of a script, else by its name.
func dialect(f dev.File) syntax.LangVariant {
	first, _, _ := bytes.Cut(f.Content, []byte("\n"))
	line := string(first)
	if strings.HasPrefix(line, "#!") {
		switch words := strings.Fields(strings.TrimPrefix(line, "#!")); {
		case len(words) == 0:
		case strings.HasSuffix(line, "/sh"), strings.HasSuffix(line, "/dash"), strings.HasSuffix(line, " sh"):
			return syntax.LangPOSIX
		case strings.Contains(line, "mksh"), strings.HasSuffix(line, "ksh"):
			return syntax.LangMirBSDKorn
		case strings.Contains(line, "bats"):
			return syntax.LangBats
		}
	}
	switch path.Ext(f.Path) {
	case ".bats":
		return syntax.LangBats
	case ".mksh":
		return syntax.LangMirBSDKorn
	}
	return syntax.LangBash
}

func shellError(file string, err error) dev.Diagnostic {
	d := dev.Diagnostic{File: file, Severity: dev.Err, Code: "syntax", Source: "shfmt", Message: err.Error()}
	var parse syntax.ParseError
	var lang syntax.LangError
	switch {
	case errors.As(err, &parse):
		d.Range, d.Message = dev.At(int(parse.Pos.Line()), int(parse.Pos.Col())), parse.Text
	case errors.As(err, &lang):
		d.Range = dev.At(int(lang.Pos.Line()), int(lang.Pos.Col()))
	}
	return d
}
