package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/dev"
)

// GoVet checks the types of Go packages and finds what go vet finds, through the go command. It never changes go.mod,
// never fetches a module or a toolchain, and sees what a plan has changed as an overlay, so that nothing is copied.
type GoVet struct {
	Found    Found
	Runner   Runner
	Workshop Workshop
}

// Info is described at dev.Engine.
func (g *GoVet) Info() dev.Info {
	a := dev.Ability{Files: []string{"*.go"}, Commands: []string{g.Found.Shown},
		Inputs: []string{"*.go", "go.mod", "go.sum", "go.work", "go.work.sum", "*.s", "*.c", "*.h", "*.cc", "*.cpp"}}
	return dev.Info{Name: "govet", Version: g.Found.Version, Config: []string{"go.mod"}, Batch: true,
		Can: map[dev.Capability]dev.Ability{dev.CanLint: a, dev.CanCheck: a}}
}

// Run is described at dev.Engine.
func (g *GoVet) Run(ctx context.Context, job *dev.Job) (*dev.Report, error) {
	modules, r := packages(job)
	if len(modules) == 0 {
		return r, nil
	}
	cmd := Command{Name: "govet", Runner: g.Runner, Workshop: g.Workshop, Env: map[string]string{"GOPROXY": "off", "GOTOOLCHAIN": "local"}}
	argv := append(slices.Clone(g.Found.Argv), "vet", "-json")
	if job.Capability == dev.CanCheck {
		argv = append(argv, "-directive") // the cheapest analyzer: types are checked on the way to it
	}
	copies := job.Root
	if len(job.Overlay) > 0 {
		folder, err := g.Workshop(ctx)
		if err != nil {
			return nil, fmt.Errorf("make a folder to work in: %w", err)
		}
		defer folder.Close()
		if err := overlay(folder, job); err != nil {
			return nil, err
		}
		copies = folder.Dir()
		argv = append(argv, "-overlay", filepath.Join(copies, overlayFile))
	}
	for _, m := range modules {
		dir := filepath.Join(job.Root, filepath.FromSlash(m.dir))
		end, err := cmd.start(ctx, append(slices.Clone(argv), m.packages...), dir)
		if err != nil {
			return nil, err
		}
		found, ok := vetFindings(end, job.Capability)
		if !ok {
			return nil, cmd.broken(end, nil)
		}
		for i := range found { // relative names are relative to the module
			if f := &found[i]; f.File != "" && !filepath.IsAbs(f.File) {
				f.File = filepath.Join(dir, f.File)
			}
		}
		place(found, copies, job.Root)
		r.Diagnostics = append(r.Diagnostics, found...)
	}
	return r, nil
}

// module is a Go module of a job with its packages, as arguments of the go command.
type module struct {
	dir      string
	packages []string
}

// packages sorts the files of a job into modules. What lies in none cannot be loaded by the go command and is said.
func packages(job *dev.Job) ([]module, *dev.Report) {
	roots := map[string]bool{}
	for _, f := range job.Config {
		if path.Base(f.Path) == "go.mod" {
			roots[path.Dir(f.Path)] = true
		}
	}
	r := &dev.Report{}
	var out []module
	loose := 0
	for _, f := range job.Files {
		dir := path.Dir(f.Path)
		root := dir
		for !roots[root] && root != "." && root != "/" {
			root = path.Dir(root)
		}
		if !roots[root] {
			loose++
			continue
		}
		rel, err := filepath.Rel(filepath.FromSlash(root), filepath.FromSlash(dir))
		if err != nil {
			loose++
			continue
		}
		pkg := "./" + filepath.ToSlash(rel)
		i := slices.IndexFunc(out, func(m module) bool { return m.dir == root })
		if i < 0 {
			out, i = append(out, module{dir: root}), len(out)
		}
		if !slices.Contains(out[i].packages, pkg) {
			out[i].packages = append(out[i].packages, pkg)
		}
	}
	if loose > 0 {
		r.Diagnostics = append(r.Diagnostics, dev.Diagnostic{Severity: dev.Note, Source: "govet", Code: "no-module", Message: fmt.Sprintf("%d Go files lie in no module below the root and were not checked; go mod init makes one", loose)})
	}
	return out, r
}

const overlayFile = "overlay.json"

// overlay writes what differs from the disk, and the table that tells the go command about it.
func overlay(folder Folder, job *dev.Job) error {
	table := struct{ Replace map[string]string }{map[string]string{}}
	for _, f := range job.Overlay {
		at := filepath.Join(job.Root, filepath.FromSlash(f.Path))
		if f.Content == nil {
			table.Replace[at] = "" // deleted
			continue
		}
		if err := folder.Put(f.Path, f.Content); err != nil {
			return err
		}
		table.Replace[at] = filepath.Join(folder.Dir(), filepath.FromSlash(f.Path))
	}
	b, err := json.Marshal(table)
	if err != nil {
		return err
	}
	return folder.Put(overlayFile, b)
}

// vetFindings reads the JSON of the analyzers and the lines of the compiler.
func vetFindings(end End, c dev.Capability) (found []dev.Diagnostic, ok bool) {
	compile := matchLines(goError, string(end.Stderr), "govet", dev.Err)
	analyzed, other := vetJSON(end.Stdout)
	more, _ := vetJSON(end.Stderr) // older releases print it there
	analyzed = append(analyzed, more...)
	compile = append(compile, matchLines(goError, string(other), "govet", dev.Err)...)
	seen := map[string]bool{}
	for _, d := range compile { // a package and its tests say the same
		d.Code = "compile"
		if syntax, ok := strings.CutPrefix(d.Message, "syntax error: "); ok { // as other engines say it
			d.Code, d.Message = "syntax", syntax
		}
		if k := d.String(); !seen[k] && !strings.HasPrefix(d.Message, "too many errors") {
			seen[k] = true
			found = append(found, d)
		}
	}
	if c == dev.CanLint {
		for _, d := range analyzed {
			if k := d.String(); !seen[k] {
				seen[k] = true
				found = append(found, d)
			}
		}
	}
	return found, end.Code == 0 || len(found) > 0
}

var goError = regexp.MustCompile(`^(?:vet: )?(?P<file>[^\s:][^:]*\.go):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.*)$`)

// vetJSON reads the objects that go vet -json prints, package → analyzer → findings, and returns what stands between
// them.
func vetJSON(out []byte) (found []dev.Diagnostic, other []byte) {
	type finding struct {
		Posn, End, Message string
		Fixes              []json.RawMessage `json:"suggested_fixes"`
	}
	for len(out) > 0 {
		if out[0] != '{' {
			line, rest, _ := bytes.Cut(out, []byte("\n"))
			other, out = append(append(other, line...), '\n'), rest
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(out))
		var byPackage map[string]map[string]json.RawMessage
		if err := dec.Decode(&byPackage); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return found, other
			}
			line, rest, _ := bytes.Cut(out, []byte("\n"))
			other, out = append(append(other, line...), '\n'), rest
			continue
		}
		out = bytes.TrimLeft(out[dec.InputOffset():], " \t\r\n")
		for _, byAnalyzer := range byPackage {
			for analyzer, raw := range byAnalyzer {
				var list []finding
				if json.Unmarshal(raw, &list) != nil {
					continue // an analyzer that failed prints an object with its error
				}
				for _, f := range list {
					d := dev.Diagnostic{Severity: dev.Warn, Code: analyzer, Source: "govet", Message: f.Message}
					d.File, d.Range.Start = position(f.Posn)
					if _, end := position(f.End); end.Line > 0 {
						d.Range.End = end
					}
					found = append(found, d)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b dev.Diagnostic) int { return strings.Compare(a.String(), b.String()) })
	return found, other
}

// position reads file:line:column.
func position(s string) (file string, p dev.Position) {
	rest, column, ok := cutLast(s)
	if !ok {
		return s, p
	}
	file, line, ok := cutLast(rest)
	if !ok { // only one number: it is the line
		return rest, dev.Position{Line: column}
	}
	return file, dev.Position{Line: line, Column: column}
}

func cutLast(s string) (rest string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	return s[:i], n, err == nil
}
