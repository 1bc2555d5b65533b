package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the golden files")

func TestSchema_Golden(t *testing.T) {
	got, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Schema()
	if err != nil || !bytes.Equal(got, again) {
		t.Fatalf("two calls differ: %v", err)
	}
	const file = "testdata/schema.json"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run go test -update if this is meant: -want +got\n%s", diff)
	}
}

// The schema accepts what Load accepts, and refuses the common mistakes.
func TestSchema_Validates(t *testing.T) {
	data, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		yaml string
		ok   bool
	}{
		{full, true},
		{"{}", true},
		{"output: {lines: '${N:-5}'}", true},
		{"files: {durable: '${D}'}", true},
		{"tools: {grep: {enabled: '${G}'}}", true},
		{"images: {max_age: '${AGE:-3d}'}", true},
		{"roots: [a]", true},
		{"posture: yolo", false},
		{"outptu: {}", false},
		{"output: {line: 3}", false},
		{"tools: {grep: {enable: false}}", false},
		{"rules: [{edit: prompt}]", false},
		{"rules: [{permission: edit, action: deny}]", false},
		{"rules: [{permission: edit, pattern: a, action: deny, why: x}]", false},
		{"rules: {edit: deny}", false},
		{"services: {google: {cse: {api_key: abc}}}", false},
		{"images: {max_age: soon}", false},
		{"output: {lines: many}", false},
	} {
		var v any
		if err := yaml.Unmarshal([]byte(tt.yaml), &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.yaml, err)
		}
	}
}
