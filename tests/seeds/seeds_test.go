package seeds

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/tests/internal/tree"
)

// table is docs/seeds/NNN.json.
type table struct {
	Seed      string     `json:"seed"`
	Sentences []sentence `json:"sentences"`
}

// sentence is one sentence of a document. Exactly one of Tests and Kind is set, or neither where all of it is pending.
type sentence struct {
	ID   string `json:"id"`
	Sum  string `json:"sum"`            // the beginning of the SHA-256 of its text with single blanks
	Says string `json:"says,omitempty"` // what it demands
	// Tests prove it. Kind says why there is nothing to prove: heading, diagram, code, reason, pointer.
	Tests []string `json:"tests,omitempty"`
	Kind  string   `json:"kind,omitempty"`
	// Pending is what of it is not there yet, with the part of the plan that brings it.
	Pending string `json:"pending,omitempty"`
}

// kinds are the kinds of sentences that demand nothing, with what their texts look like: a demand cannot be passed off as a
// heading.
var kinds = map[string]*regexp.Regexp{
	"heading": regexp.MustCompile(`^(\d+\.|Tier \d+: [^.]*\.|.*[^.!?\s])$`),
	"diagram": regexp.MustCompile(`^([│┌└▼].*$|flowchart |.* --> |-+$|` + // or lines of an example in code
		`(import|const) .*[{'})]$|// .*|\w+,$|[{}]|\}\)?,?$|\}\)$|\w+: ('[^']*'|\{),?$)`),
	"pointer": regexp.MustCompile(`^(• |[^.]*: [^.]*\.$)`),
	"code":    regexp.MustCompile(`^(import .*|.*[{}(),;]|// .*|# .*|"[^"]*",|.*; // .*|export \w+=.*|\w+\??:( "[^"]*")?)$`),
	"reason":  regexp.MustCompile(`.`),
}

// later names the part of the plan that brings all of a sentence.
var later = regexp.MustCompile(`^Part \d+: \w`)

// Every sentence has its tests, and the tests are there.
func TestSentencesHaveTests(t *testing.T) {
	tests, err := tree.Load(tree.Root)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(tree.Root, "docs", "seeds", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no table of a document: %v", err)
	}
	for _, f := range files {
		tb := read(t, f)
		if len(tb.Sentences) < 10 {
			t.Errorf("%s: only %d sentences", f, len(tb.Sentences))
		}
		for i, s := range tb.Sentences {
			switch {
			case s.ID != fmt.Sprintf("%s-%02d", tb.Seed, i+1):
				t.Errorf("%s: sentence %d is called %s", f, i+1, s.ID)
			case s.Kind != "" && (kinds[s.Kind] == nil || s.Tests != nil || s.Pending != ""):
				t.Errorf("%s: a sentence of kind %q has no tests", s.ID, s.Kind)
			case s.Kind == "" && (s.Says == "" || len(s.Tests) == 0 && !later.MatchString(s.Pending)):
				t.Errorf("%s has no test", s.ID)
			}
			for _, name := range s.Tests {
				if err := tests.Check(name); err != nil {
					t.Errorf("%s: %v", s.ID, err)
				}
			}
		}
	}
}

// The tables are about the documents as they are.
func TestTablesFollowTheDocuments(t *testing.T) {
	shared := tree.Shared()
	if shared == "" {
		t.Skip("the documents are not here (TACKLE_SHARED), so the tables are not compared with them")
	}
	files, err := filepath.Glob(filepath.Join(tree.Root, "docs", "seeds", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		tb := read(t, f)
		doc, err := os.ReadFile(filepath.Join(shared, "seeds", tb.Seed+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		want := split(string(doc))
		for i, text := range want {
			if i >= len(tb.Sentences) {
				t.Errorf("%s: sentence %d is missing: %s %.60q", tb.Seed, i+1, sum(text), text)
			} else if got := tb.Sentences[i].Sum; got != sum(text) {
				t.Errorf("%s: the document has %s: %.60q", tb.Sentences[i].ID, sum(text), text)
			} else if kind := kinds[tb.Sentences[i].Kind]; kind != nil && !kind.MatchString(text) {
				t.Errorf("%s is no %s: %.60q", tb.Sentences[i].ID, tb.Sentences[i].Kind, text)
			}
		}
		if len(tb.Sentences) > len(want) {
			t.Errorf("%s: %d sentences, the document has %d", tb.Seed, len(tb.Sentences), len(want))
		}
	}
}

func read(t *testing.T, file string) table {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var tb table
	if err := json.Unmarshal(b, &tb); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return tb
}

var end = regexp.MustCompile(`[.!?]\s+[A-Z“]`)

// split cuts a document into sentences: a line is at least one, and within a line a capital behind a full stop begins the
// next.
func split(doc string) []string {
	var out []string
	for line := range strings.Lines(doc) {
		line = strings.TrimSpace(line)
		for line != "" {
			at := end.FindStringIndex(line)
			if at == nil {
				out = append(out, line)
				break
			}
			out = append(out, line[:at[0]+1])
			line = strings.TrimSpace(line[at[0]+1:])
		}
	}
	return out
}

func sum(text string) string {
	h := sha256.Sum256([]byte(strings.Join(strings.Fields(text), " ")))
	return hex.EncodeToString(h[:6])
}
