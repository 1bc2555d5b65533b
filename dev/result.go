package dev

import (
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/change"
)

// Result is what a plan did and found. All steps have this one shape.
type Result struct {
	// OK says that every step did its work. Errors in files do not change that: they are in Counts.
	OK    bool   `json:"ok"`
	Steps []Ran  `json:"steps"`
	Error string `json:"error,omitempty"` // why the last step of Steps failed

	Counts      Counts       `json:"counts"`
	Diagnostics []Diagnostic `json:"diagnostics"`
	// Compared is set where check was asked for what changed: Diagnostics then holds what was introduced.
	Compared *Comparison `json:"compared,omitempty"`

	// Changes are those of the disk.
	Changes Changes `json:"changes"`
	// Unwritten are files that the plan changed and did not write, with a warning among the diagnostics.
	Unwritten []string `json:"unwritten,omitempty"`

	Excerpts []Excerpt `json:"excerpts,omitempty"` // of read_lines
	Engines  []Work    `json:"engines,omitempty"`
	Notes    []string  `json:"notes,omitempty"` // what was overlooked to make an edit or a patch fit
}

// Ran is one step that was begun.
type Ran struct {
	Step    string `json:"step"`
	Targets int    `json:"targets"` // files that it worked on
	Changed int    `json:"changed"` // files whose content it changed
}

// Changes summarise changed files as git does.
type Changes struct {
	Summary string              `json:"summary"` // "2 files changed, 7 insertions(+), 3 deletions(-)" and a line for each file
	Files   []change.FileChange `json:"files"`
	// LineCountsAvailable is false where the lines of some file could not be counted; its counts are absent then, never 0.
	LineCountsAvailable bool     `json:"lineCountsAvailable"`
	Transactions        []string `json:"transactions,omitempty"`
}

// Excerpt is a part of a file.
type Excerpt struct {
	File  string `json:"file"`
	First int    `json:"first"` // number of the first line, from 1
	Lines int    `json:"lines"`
	Total int    `json:"total"` // lines of the whole file
	Text  string `json:"text"`
}

// Comparison is what check with delta found beside what is new.
type Comparison struct {
	Baseline   string       `json:"baseline"`   // what the state was compared with, in words
	Introduced int          `json:"introduced"` // those in Result.Diagnostics
	Resolved   []Diagnostic `json:"resolved"`
	Unchanged  int          `json:"unchanged"`
}

// Work says what an engine did in a plan.
type Work struct {
	Engine     string     `json:"engine"`
	Version    string     `json:"version,omitempty"`
	Capability Capability `json:"capability"`
	Files      int        `json:"files"` // that it was asked about
	Known      int        `json:"known"` // of them, whose content it had looked at before
}

func (r *Result) note(d Diagnostic) { r.Diagnostics = append(r.Diagnostics, d) }

// wrote adds a committed set to the changes. root is what paths are shown relative to.
func (r *Result) wrote(set *change.Set, root, tx string) {
	p := set.Preview(root, change.PreviewOptions{})
	for _, f := range p.Files {
		if strings.HasSuffix(f.Path, "/") {
			continue
		}
		r.Changes.add(f)
	}
	r.Changes.Transactions = append(r.Changes.Transactions, tx)
}

// add joins what two writes of one plan did to the same file.
func (c *Changes) add(f change.FileChange) {
	for i := range c.Files {
		old := &c.Files[i]
		if old.Path == f.Path && old.Status != change.Deleted && f.From == "" {
			old.Added, old.Removed = old.Added+f.Added, old.Removed+f.Removed
			old.LineCountsAvailable = old.LineCountsAvailable && f.LineCountsAvailable
			old.NewSize, old.NewMode = f.NewSize, f.NewMode
			if f.Status == change.Deleted {
				old.Status = f.Status
			}
			return
		}
	}
	c.Files = append(c.Files, f)
}

// finish counts and summarises.
func (r *Result) finish() {
	sortDiagnostics(r.Diagnostics)
	r.Diagnostics = unique(r.Diagnostics)
	r.Counts = count(r.Diagnostics)
	if r.Diagnostics == nil {
		r.Diagnostics = []Diagnostic{}
	}
	c := &r.Changes
	if c.Files == nil {
		c.Files = []change.FileChange{}
	}
	c.LineCountsAvailable = true
	for _, f := range c.Files {
		c.LineCountsAvailable = c.LineCountsAvailable && f.LineCountsAvailable
	}
	c.Summary = summarise(c.Files)
	if total, rest, _ := strings.Cut(c.Summary, "\n"); !c.LineCountsAvailable {
		// A total that leaves out a file would be read as if it had changed nothing.
		total, _, _ = strings.Cut(total, ",")
		c.Summary = total + "\n" + rest
	}
}

// summarise puts the totals first, as a reader wants them; the lines of the files follow as git prints them.
func summarise(files []change.FileChange) string {
	text := change.Preview{Files: files}.Summary()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var total string
	var rest []string
	for _, l := range lines {
		if total == "" && (strings.Contains(l, " files changed") || strings.Contains(l, " file changed")) && !strings.Contains(l, " | ") {
			total = strings.TrimPrefix(l, " ")
			continue
		}
		rest = append(rest, l)
	}
	return strings.Join(append([]string{total}, rest...), "\n")
}

// Headline says in one line what a plan did.
func (r *Result) Headline() string {
	names := make([]string, 0, len(r.Steps))
	for _, s := range r.Steps {
		names = append(names, s.Step)
	}
	state := "ok"
	if !r.OK {
		state = "failed"
	}
	if len(names) == 0 {
		names = []string{AcquireName}
	}
	counts := make([]string, 0, 4)
	for _, s := range Severities() {
		counts = append(counts, plural(r.Counts[s], string(s)))
	}
	return fmt.Sprintf("%s: %s; %s.", strings.Join(names, ", "), state, strings.Join(counts, ", "))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
