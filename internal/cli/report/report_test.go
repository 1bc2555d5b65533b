package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine/program"
)

func result() *dev.Result {
	return &dev.Result{OK: true, Engines: []dev.Work{{Engine: "x", Version: "1"}, {Engine: "x", Version: "1"}}, Diagnostics: []dev.Diagnostic{
		{File: "src/a b.go", Range: dev.Range{Start: dev.Position{Line: 3, Column: 4}, End: dev.Position{Line: 3, Column: 9}}, Severity: dev.Err, Code: "c,1", Source: "x", Message: "50% wrong\nsecond line"},
		{File: "b.go", Severity: dev.Warn, Source: "x", Message: "whole file"}, {Severity: dev.Note, Source: "dev", Code: "skipped", Message: "no file"}}}
}

func write(t *testing.T, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, result(), Options{Root: "/w", Dir: "/w/src", Version: "v1"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	if got, want := write(t, "text"), "a b.go:3:4: error: 50% wrong\nsecond line (x c,1)\n../b.go: warning: whole file (x)\ninfo: no file (dev skipped)\n"; got != want {
		t.Errorf("text: %q", got)
	}
	if got, want := write(t, "github"), "::error file=src/a b.go,line=3,endLine=3,col=4,endColumn=9,title=x c%2C1::50%25 wrong%0Asecond line\n::warning file=b.go,title=x::whole file\n::notice title=dev skipped::no file\n"; got != want {
		t.Errorf("github: %q", got)
	}
	var back dev.Result
	if err := json.Unmarshal([]byte(write(t, "json")), &back); err != nil || !slices.Equal(back.Diagnostics, result().Diagnostics) {
		t.Errorf("json: %v %+v", err, back)
	}
	if err := Write(&bytes.Buffer{}, "xml", result(), Options{}); err == nil || !strings.Contains(err.Error(), "text, json, github, sarif") {
		t.Errorf("xml: %v", err)
	}
}

// What is written as SARIF is read back as the same findings.
func TestSARIFRoundTrip(t *testing.T) {
	found, ok := program.SARIF()(program.End{Stdout: []byte(write(t, "sarif"))}, "x")
	if !ok || len(found) != 3 {
		t.Fatalf("%v %+v", ok, found)
	}
	want := result().Diagnostics
	want[0].Code, want[1].Code, want[2].Code, want[2].Source = "x/c,1", "x", "dev/skipped", "x"
	if !slices.Equal(found, want) {
		t.Errorf("%+v\nwant %+v", found, want)
	}
}
