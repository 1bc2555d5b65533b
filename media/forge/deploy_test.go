package forge_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/tackle-dev/tackle/internal/pipe"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/forge"
)

// Deployments with few engines and with all: the tools speak of what is there.

// everything declares all that the table knows.
func everything() media.Engine {
	do := func(context.Context, *media.Request) (media.Result, error) { return media.Result{}, nil }
	e := media.Engine{ID: "everything", Mutate: []media.Mutate{{Over: []string{"image/*"}, Ops: media.MutateOps, Encodes: []string{"png", "jpeg", "webp", "tiff", "avif"}, Do: do}},
		Convert: []media.Convert{{From: []string{"application/*", "text/*", "image/*"}, To: pipe.Targets, Keep: media.Structure, Do: do}, {From: []string{media.EmptyMIME}, To: append([]string{"png", "jpeg", "wav"}, pipe.Targets...), Keep: media.Exact, Do: do},
			{From: []string{"audio/*"}, To: []string{"pcm"}, Do: do}, {From: []string{media.PCMMIME}, To: []string{"txt", "srt", "vtt", "json"}, Do: do}}}
	var ops []string
	for _, v := range pipe.Table() {
		if !strings.HasPrefix(v.ID, "image.") && v.ID != "convert" {
			ops = append(ops, v.ID)
		}
	}
	e.Edit = []media.Edit{{Over: []string{"application/*", "text/*"}, Ops: ops, Do: do}}
	return e
}

func tokens(t *testing.T, s string) int {
	t.Helper()
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	ids, _, err := enc.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return len(ids)
}

// The description stays below its bound also where every verb, format and argument is there, and every example in it is a
// statement that this deployment reads.
func TestM3_DescriptionsOfDeployments(t *testing.T) {
	for _, tt := range []struct {
		name    string
		engines []media.Engine
		has, no []string
	}{
		{"all", []media.Engine{everything()}, []string{"- slides add ", "- audio transcribe ", "- merge ", "- select ", "pdf", "ocr", "empty:"}, nil},
		{"all and ours", append(engine.All(), everything()), []string{"- slides add ", "- sheet add_rows "}, nil},
		{"text", []media.Engine{text.Engine()}, []string{"- redact ", "- convert to=html|md|txt", "Read, change, convert and create media", "- chunk", "empty:", "- split"}, []string{"- sheet", "- image", "slides", "- data", "ocr", "xlsx", "png", "transcribe", "pages=", "1024"}},
		{"one verb", []media.Engine{{ID: "one", Edit: []media.Edit{{Over: []string{"text/*"}, Ops: []string{"append"}, Do: everything().Edit[0].Do}}}}, []string{"- append ", "- extract metadata", "Read and change media"}, []string{"redact", "convert", "create", "empty:", "sheet", "chunk", "\\d"}},
		{"none", nil, []string{"- extract metadata", "Read media by id"}, []string{"append", "convert", "create", "change", "empty:", "sheet", "redact"}},
	} {
		d := newDesk(t, forge.Composite, func(c *forge.Config) { c.Pipeline, c.Files = mustPipeline(t, tt.engines...), true })
		s := told(d)
		if n := tokens(t, s); n >= 2500 {
			t.Errorf("%s: %d tokens", tt.name, n)
		} else {
			t.Logf("%s: %d tokens", tt.name, n)
		}
		for _, has := range tt.has {
			if !strings.Contains(s, has) {
				t.Errorf("%s does not speak of %q:\n%s", tt.name, has, s)
			}
		}
		for _, no := range tt.no {
			if strings.Contains(s, no) {
				t.Errorf("%s speaks of %q:\n%s", tt.name, no, s)
			}
		}
		_, list, _ := strings.Cut(s, "Examples:\n")
		p, n := mustPipeline(t, tt.engines...), 0
		for line := range strings.Lines(list) {
			statement, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
			if !ok {
				continue
			}
			n++
			plan, err := p.Compile(statement)
			if err != nil {
				t.Errorf("%s: %s: %v", tt.name, statement, err)
				continue
			}
			if again, err := p.Print(plan); err != nil || again != statement {
				t.Errorf("%s: %s prints as %s (%v)", tt.name, statement, again, err)
			}
		}
		if n == 0 {
			t.Errorf("%s has no example", tt.name)
		}
		var args struct{ Q string }
		if err := json.Unmarshal([]byte(d.set.ByName["media_query"].Definition().Example), &args); err != nil {
			t.Error(err)
		} else if _, err := p.Compile(args.Q); err != nil {
			t.Errorf("%s: the example of the tool: %v", tt.name, err)
		}
	}
}

// A granular tool takes the arguments of its verb in the table, with their bounds and values, and its example is one that it
// takes.
func TestM3_GranularSchemasAreTheTable(t *testing.T) {
	for _, engines := range [][]media.Engine{engine.All(), {everything()}} {
		p := mustPipeline(t, engines...)
		d := newDesk(t, forge.Granular, func(c *forge.Config) { c.Pipeline = p })
		if got, want := len(d.set.Order), len(p.Verbs())+1; got != want {
			t.Errorf("%d tools, want %d", got, want)
		}
		for _, v := range p.Verbs() {
			name := strings.ReplaceAll(v.ID, ".", "_")
			tl := d.set.ByName[name]
			if tl == nil {
				t.Errorf("no tool %s", name)
				continue
			}
			s := tl.Definition().Schema
			names, required := []string{"media_id"}, []string{"media_id"}
			for i := range v.Params {
				a := &v.Params[i]
				names = append(names, a.Name)
				if a.Required {
					required = append(required, a.Name)
				}
				prop := s.Properties[a.Name]
				if prop == nil {
					continue
				}
				if a.Type == pipe.Enum && len(prop.Enum) != len(a.Enum) || a.Type == pipe.Texts && len(prop.Items.Enum) != len(a.Enum) {
					t.Errorf("%s %s: %v, want %v", name, a.Name, prop.Enum, a.Enum)
				}
				if a.Type == pipe.Number && (prop.Minimum == nil || *prop.Minimum != a.Min || *prop.Maximum != a.Max) || a.Type == pipe.Numbers && *prop.Items.Minimum != a.Min {
					t.Errorf("%s %s: %+v", name, a.Name, prop)
				}
			}
			var have []string
			for n := range s.Properties {
				have = append(have, n)
			}
			slices.Sort(have)
			slices.Sort(names)
			if diff := cmp.Diff(names, have); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			slices.Sort(required)
			if diff := cmp.Diff(required, slices.Sorted(slices.Values(s.Required))); diff != "" {
				t.Errorf("%s requires: %s", name, diff)
			}
		}
	}
}

// What a live model wrote at its first attempt, and the two others of the document, word for word.
func TestM3_WhatModelsWrite(t *testing.T) {
	d := newDesk(t, forge.Composite, nil)
	a := d.attach("hr.txt", "Ada 123-45-6789, Bob 987-65-4321.\n")
	if !strings.HasPrefix(forge.Marker(a), "[media id: "+a.ID+" | hr.txt]") {
		t.Error(forge.Marker(a))
	}
	raw := `{"media_id":"` + a.ID + `","q":"redact match=/\\d{3}-\\d{2}-\\d{4}/ replace=\"[SSN]\""}`
	var args map[string]any
	if err := json.Unmarshal([]byte(raw), &args); err != nil {
		t.Fatal(err)
	}
	it := d.made(d.call("media_query", args))
	if got := d.query(it.ID, "extract text").Text(); got != "Ada [SSN], Bob [SSN].\n" {
		t.Errorf("%q", got)
	}
	none := newDesk(t, forge.Composite, func(c *forge.Config) { c.Pipeline = mustPipeline(t) })
	b := none.attach("hr.txt", "x")
	if got := none.query(b.ID, "convert to=pdf").Text(); !strings.Contains(got, "ENGINE_REQUIRED") || !strings.Contains(got, "Do not retry convert.") || !strings.Contains(got, "Usable here: extract metadata.") {
		t.Error(got)
	}
}
