package program

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/dev"
)

// Match reads lines that a regular expression matches, as problem matchers of editors do. The named groups are file,
// line, column, endline, endcolumn, severity, code and message; file, line and message are usual, the others may be
// missing. Lines that begin with white space behind a match continue its message. Both streams are read.
//
// Any output is understood: a program that found nothing prints nothing that matches.
func Match(expr string, severity dev.Severity) Finder {
	re := regexp.MustCompile(expr)
	return func(end End, source string) ([]dev.Diagnostic, bool) {
		var out []dev.Diagnostic
		for _, stream := range [][]byte{end.Stdout, end.Stderr} {
			out = append(out, matchLines(re, string(stream), source, severity)...)
		}
		return out, len(out) > 0 || end.Code == 0
	}
}

func matchLines(re *regexp.Regexp, text, source string, severity dev.Severity) []dev.Diagnostic {
	var out []dev.Diagnostic
	open := false // the last line belongs to a match
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		m := re.FindStringSubmatch(line)
		if m == nil {
			if open && line != "" && (line[0] == ' ' || line[0] == '\t') {
				out[len(out)-1].Message += "\n" + strings.TrimSpace(line)
			} else {
				open = false
			}
			continue
		}
		group := func(name string) string {
			if i := re.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}
		number := func(name string) int { n, _ := strconv.Atoi(group(name)); return n }
		d := dev.Diagnostic{File: group("file"), Severity: severityOf(group("severity"), severity), Code: group("code"), Source: source, Message: strings.TrimSpace(group("message"))}
		if n := number("line"); n > 0 {
			d.Range = dev.At(n, number("column"))
			d.Range.End = dev.Position{Line: number("endline"), Column: number("endcolumn")}
		}
		out, open = append(out, d), true
	}
	return out
}

// severityOf reads the words that programs use.
func severityOf(word string, otherwise dev.Severity) dev.Severity {
	switch strings.ToLower(word) {
	case "error", "fatal", "critical", "blocker", "e", "f":
		return dev.Err
	case "warning", "warn", "major", "w":
		return dev.Warn
	case "note", "info", "information", "notice", "minor", "i", "none":
		return dev.Note
	case "hint", "style", "suggestion", "help", "h", "s":
		return dev.Hint
	}
	return otherwise
}

// SARIF reads a SARIF 2.1.0 log on standard output.
func SARIF() Finder {
	type region struct{ StartLine, StartColumn, EndLine, EndColumn int }
	type log struct {
		Runs []struct {
			Results []struct {
				RuleID  string
				Rule    struct{ ID string }
				Level   string
				Kind    string
				Message struct{ Text string }
				Fixes   []json.RawMessage

				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           region
					}
				}
			}
		}
	}
	return func(end End, source string) ([]dev.Diagnostic, bool) {
		var l log
		if !decode(end.Stdout, &l) || l.Runs == nil {
			return nil, false
		}
		var out []dev.Diagnostic
		for _, run := range l.Runs {
			for _, r := range run.Results {
				if r.Kind == "pass" || r.Kind == "notApplicable" {
					continue
				}
				d := dev.Diagnostic{Severity: severityOf(r.Level, dev.Warn), Code: r.RuleID, Source: source, Message: r.Message.Text, Fix: len(r.Fixes) > 0}
				if d.Code == "" {
					d.Code = r.Rule.ID
				}
				if len(r.Locations) > 0 {
					p := r.Locations[0].PhysicalLocation
					d.File = fromURI(p.ArtifactLocation.URI)
					if g := p.Region; g.StartLine > 0 {
						d.Range = dev.At(g.StartLine, g.StartColumn)
						if g.EndLine == 0 && g.EndColumn > 0 {
							g.EndLine = g.StartLine
						}
						d.Range.End = dev.Position{Line: g.EndLine, Column: g.EndColumn}
					}
				}
				out = append(out, d)
			}
		}
		return out, true
	}
}

// fromURI returns the path of a file URI, or of a relative reference.
func fromURI(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "" && u.Scheme != "file" {
		return s
	}
	return filepath.ToSlash(u.Path)
}

// RDJSON reads the diagnostic format of reviewdog, one object on standard output.
func RDJSON() Finder {
	type position struct{ Line, Column int }
	type log struct {
		Diagnostics []struct {
			Message  string
			Severity string
			Code     struct{ Value string }
			Location struct {
				Path  string
				Range struct{ Start, End position }
			}
			Suggestions []json.RawMessage
		}
	}
	return func(end End, source string) ([]dev.Diagnostic, bool) {
		var l log
		if !decode(end.Stdout, &l) || l.Diagnostics == nil {
			return nil, false
		}
		out := make([]dev.Diagnostic, 0, len(l.Diagnostics))
		for _, x := range l.Diagnostics {
			d := dev.Diagnostic{File: x.Location.Path, Severity: severityOf(x.Severity, dev.Warn), Code: x.Code.Value, Source: source, Message: x.Message, Fix: len(x.Suggestions) > 0}
			if r := x.Location.Range; r.Start.Line > 0 {
				d.Range = dev.At(r.Start.Line, r.Start.Column)
				d.Range.End = dev.Position(r.End)
			}
			out = append(out, d)
		}
		return out, true
	}
}

// decode reads the JSON object in an output; programs print banners around it.
func decode(out []byte, v any) bool {
	start := bytes.IndexByte(out, '{')
	if start < 0 {
		return false
	}
	return json.NewDecoder(bytes.NewReader(out[start:])).Decode(v) == nil
}
