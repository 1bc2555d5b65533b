package forge_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/media/forge"
)

// deck is a presentation with five slides.
func deck(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../engine/ooxml/testdata/deck.pptx")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Documents with pages, by the tools of a model: several media in one statement by the ids that the model has, results that
// the next call works on, parts and assets as media of their own, and reads as text.
func TestM4_DocumentsByID(t *testing.T) {
	d := newDesk(t, forge.Composite, func(c *forge.Config) { c.Pipeline = mustPipeline(t, engine.All()...) })
	a := d.attach("a.pptx", deck(t))
	first := d.made(d.query(a.ID, "select pages=2,1"))
	both := d.made(d.query(first.ID, "merge with=@"+a.ID))
	text := d.query(both.ID, "extract text")
	var titles []string
	for l := range strings.Lines(text.Text()) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "Title of slide") {
			titles = append(titles, l[len("Title of slide "):])
		}
	}
	if !slices.Equal(titles, []string{"2", "1", "1", "2", "3", "4", "5"}) {
		t.Errorf("the slides are %q", titles)
	}
	if got := d.query(first.ID, "diff with=@"+a.ID).Text(); !strings.Contains(got, "+Title of slide 5") {
		t.Errorf("the difference is %.300s", got)
	}
	if res := d.query(a.ID, "merge with=@nope"); !strings.Contains(res.Text(), `Error (MEDIA_NOT_FOUND): no media with id "nope".`) || !strings.Contains(res.Text(), a.ID+" (a.pptx)") {
		t.Errorf("a reference that leads nowhere: %s", res.Text())
	}
	for q, n := range map[string]int{"split": 5, "extract assets": 1} {
		res := d.query(a.ID, q)
		got, ok := res.Data.(forge.Answer)
		if !ok || len(got.Media) != n || strings.Count(res.Text(), "[media id: ") != n {
			t.Errorf("%s gives %s", q, res.Text())
			continue
		}
		for _, m := range got.Media {
			if m.Source != "tool:media_query" || m.Trust != forge.FirstParty {
				t.Errorf("%s: %+v", q, m)
			}
		}
	}
	if got := d.query(a.ID, "chunk size=40").Text(); !strings.Contains(got, `"char_start": 0`) || !strings.Contains(got, "Title of slide 1") {
		t.Errorf("the pieces are %.300s", got)
	}
}

// The narrow tools of the document by their names, each with a real file.
func TestM3_NarrowToolsOfDocuments(t *testing.T) {
	d := newDesk(t, forge.Granular, func(c *forge.Config) { c.Pipeline = mustPipeline(t, engine.All()...) })
	a := d.attach("a.pptx", deck(t))
	csv := d.attach("t.csv", "name,qty\nApple,3\n")
	one := d.made(d.call("select", map[string]any{"media_id": a.ID, "pages": []int{3}}))
	two := d.made(d.call("merge", map[string]any{"media_id": one.ID, "with": []string{a.ID}}))
	if got := d.call("extract_metadata", map[string]any{"media_id": two.ID}).Text(); !strings.Contains(got, `"slide_count": 6`) {
		t.Errorf("the deck is %s", got)
	}
	if got := d.call("chunk", map[string]any{"media_id": one.ID}).Text(); !strings.Contains(got, "Title of slide 3") {
		t.Errorf("the pieces are %s", got)
	}
	cell := d.made(d.call("sheet_update_cells", map[string]any{"media_id": csv.ID, "updates": []any{map[string]any{"address": "B2", "value": 9}}}))
	if got := d.call("extract_text", map[string]any{"media_id": cell.ID}).Text(); !strings.Contains(got, "Apple,9") {
		t.Errorf("the table is %s", got)
	}
}
