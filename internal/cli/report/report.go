// Package report prints what the dev pipeline found in the forms that people and other programs read: lines of text, JSON,
// annotations of GitHub's workflows, and SARIF.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/dev"
)

// Formats are the names of the forms, the default first.
func Formats() []string { return []string{"text", "json", "github", "sarif"} }

// Options tune what is printed.
type Options struct {
	// Root is the absolute path of the root, and Dir that of the folder that file names are shown relative to in text.
	Root, Dir string
	Version   string // of this program, for SARIF
	// Show makes a text safe for where it is printed. Nil: it is printed as it is.
	Show func(string) string
}

// Write prints a result in a form.
func Write(w io.Writer, format string, res *dev.Result, opt Options) error {
	switch format {
	case "text":
		return text(w, res, opt)
	case "json":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(res)
	case "github":
		return github(w, res)
	case "sarif":
		return sarif(w, res, opt)
	}
	return fmt.Errorf("format %q: want %s", format, strings.Join(Formats(), ", "))
}

// text prints a line for each diagnostic, then what changed. Where there is nothing to say it prints nothing.
func text(w io.Writer, res *dev.Result, opt Options) error {
	show := opt.Show
	if show == nil {
		show = func(s string) string { return s }
	}
	var b strings.Builder
	for _, d := range res.Diagnostics {
		d.File = fromDir(d.File, opt)
		b.WriteString(show(d.String()) + "\n")
	}
	if len(res.Changes.Files) > 0 {
		b.WriteString(show(res.Changes.Summary) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func fromDir(file string, opt Options) string {
	if file == "" || opt.Dir == "" {
		return file
	}
	rel, err := filepath.Rel(opt.Dir, filepath.Join(opt.Root, filepath.FromSlash(file)))
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

// github prints workflow commands. Its values are escaped as the runner reads them.
func github(w io.Writer, res *dev.Result) error {
	var b strings.Builder
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, d := range res.Diagnostics {
		var props []string
		add := func(name string, v any, set bool) {
			if set {
				props = append(props, name+"="+property.Replace(fmt.Sprint(v)))
			}
		}
		add("file", d.File, d.File != "")
		add("line", d.Range.Start.Line, d.Range.Start.Line > 0)
		add("endLine", d.Range.End.Line, d.Range.End.Line > 0)
		add("col", d.Range.Start.Column, d.Range.Start.Column > 0)
		add("endColumn", d.Range.End.Column, d.Range.End.Column > 0)
		add("title", strings.TrimSpace(d.Source+" "+d.Code), true)
		fmt.Fprintf(&b, "::%s %s::%s\n", map[dev.Severity]string{dev.Err: "error", dev.Warn: "warning", dev.Note: "notice", dev.Hint: "notice"}[d.Severity], strings.Join(props, ","), value.Replace(d.Message))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The parts of a SARIF 2.1.0 log that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool               sarifTool             `json:"tool"`
		OriginalURIBaseIDs map[string]sarifPlace `json:"originalUriBaseIds"`
		Results            []sarifResult         `json:"results"`
	}
	sarifTool struct {
		Driver     sarifDriver   `json:"driver"`
		Extensions []sarifDriver `json:"extensions,omitempty"`
	}
	sarifDriver struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifPlace   `json:"artifactLocation"`
		Region   *sarifRegion `json:"region,omitempty"`
	}
	sarifPlace struct {
		URI    string `json:"uri"`
		BaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
)

const rootID = "ROOT"

func sarif(w io.Writer, res *dev.Result, opt Options) error {
	run := sarifRun{Results: []sarifResult{}, Tool: sarifTool{Driver: sarifDriver{Name: "tackle", Version: opt.Version}}}
	run.OriginalURIBaseIDs = map[string]sarifPlace{rootID: {URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(opt.Root) + "/"}).String()}}
	for _, e := range res.Engines {
		d := sarifDriver{Name: e.Engine, Version: e.Version}
		if !slices.Contains(run.Tool.Extensions, d) {
			run.Tool.Extensions = append(run.Tool.Extensions, d)
		}
	}
	for _, d := range res.Diagnostics {
		rule := d.Source
		if d.Code != "" {
			rule += "/" + d.Code
		}
		r := sarifResult{RuleID: rule, Level: map[dev.Severity]string{dev.Err: "error", dev.Warn: "warning", dev.Note: "note", dev.Hint: "note"}[d.Severity], Message: sarifText{d.Message}}
		if d.File != "" {
			p := sarifPhysical{Artifact: sarifPlace{URI: (&url.URL{Path: d.File}).String(), BaseID: rootID}}
			if d.Range.Start.Line > 0 {
				p.Region = &sarifRegion{d.Range.Start.Line, d.Range.Start.Column, d.Range.End.Line, d.Range.End.Column}
			}
			r.Locations = []sarifLocation{{p}}
		}
		run.Results = append(run.Results, r)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
