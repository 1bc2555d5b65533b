package engine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/pipe"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/media/engine/ext"
)

var update = flag.Bool("update", false, "write the generated parts of docs/media.md anew")

const formats = "txt md html json yaml xml csv tsv docx doc odt fodt rtf epub eml msg pdf xlsx xlsm xlsb xls ods fods sylk dif dbf numbers pptx ppt odp png jpeg gif webp tiff bmp avif heic svg wav mp3 flac ogg"

// everything is a pipeline with every engine, the programs among them; none is started.
func everything(t *testing.T) *media.Pipeline {
	t.Helper()
	cfg := ext.Config{
		Runner: noPrograms{}, Look: func(name string) string { return "/bin/" + name }, Exists: func(string) bool { return true }, Stamp: func(string) string { return "1" },
		Model: "/model", Speech: &ext.Speech{URL: "http://127.0.0.1", Model: "m"},
	}
	for _, name := range []string{"soffice", "tesseract", "ffmpeg", "pandoc", "vips", "whisper-cli"} {
		k := ext.Known{Name: name, Path: "/bin/" + name, Stamp: "1"}
		switch name {
		case "tesseract":
			k.Abilities = []string{"eng"}
		case "vips":
			k.Abilities = []string{"heic", "avif"}
		}
		cfg.Known = append(cfg.Known, k)
	}
	programs := ext.New(cfg).Quick()
	if len(programs) != len(cfg.Known) {
		t.Fatalf("%d programs of %d", len(programs), len(cfg.Known))
	}
	p, err := media.New(media.Config{Engines: append(engine.All(), programs...)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type noPrograms struct{ ext.Runner }

// The parts of docs/media.md that say what there is are made from what there is.
func TestDocs(t *testing.T) {
	all := everything(t)
	inside, err := media.New(media.Config{Engines: engine.All()})
	if err != nil {
		t.Fatal(err)
	}
	var verbs, conversions strings.Builder
	verbs.WriteString("```\n")
	for _, v := range all.Verbs() {
		fmt.Fprintf(&verbs, "%s\n    %s\n", v.Signature(), v.Doc)
	}
	verbs.WriteString("```\n")
	conversions.WriteString("| from | inside | with programs also |\n|---|---|---|\n")
	i := slices.IndexFunc(all.Verbs(), func(v pipe.Verb) bool { return v.ID == "convert" })
	targets := all.Verbs()[i].Params[0].Enum
	for _, token := range strings.Fields(formats) {
		f, ok := media.FormatOf(token)
		if !ok {
			t.Fatal(token)
		}
		own, more := inside.Targets(f.MIME), []string{}
		for _, to := range all.Targets(f.MIME) {
			if !slices.Contains(own, to) {
				more = append(more, to)
			}
		}
		if named(own, targets, token)+named(more, targets, token) != "" {
			fmt.Fprintf(&conversions, "| %s | %s | %s |\n", f.Token, named(own, targets, token), named(more, targets, token))
		}
	}
	limits := media.Limits{}.WithDefaults()
	bounds := fmt.Sprintf("One media %d MiB, unpacked %d MiB, %d members, %d million pixels, %d pages, %d million cells, %v of sound, %v for a run, %v for an expression.\n",
		limits.Bytes>>20, limits.Unpacked>>20, limits.Members, limits.Pixels/1_000_000, limits.Pages, limits.Cells/1_000_000, limits.Sound, limits.Time, limits.Match)

	file := filepath.Join("..", "..", "docs", "media.md")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	for _, part := range []struct{ name, text string }{{"verbs", verbs.String()}, {"conversions", conversions.String()}, {"limits", bounds}} {
		begin, end := "<!-- made by go test ./media/engine -update: "+part.name+" -->\n", "<!-- end -->"
		at := strings.Index(doc, begin)
		if at < 0 {
			t.Fatalf("docs/media.md has no place for %s", part.name)
		}
		at += len(begin)
		to := at + strings.Index(doc[at:], end)
		if doc[at:to] != part.text {
			if !*update {
				t.Errorf("docs/media.md is behind on %s: go test ./media/engine -run Docs -update", part.name)
			}
			doc = doc[:at] + part.text + doc[to:]
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// named lists what convert takes, for a reader, but for the format itself.
func named(tokens, targets []string, own string) string {
	var out []string
	for _, t := range tokens {
		if t != own && slices.Contains(targets, t) {
			out = append(out, t)
		}
	}
	return strings.Join(out, " ")
}
