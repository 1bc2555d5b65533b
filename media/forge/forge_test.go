package forge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/media/engine/data"
	pictures "github.com/tackle-dev/tackle/media/engine/image"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/forge"
	"github.com/tackle-dev/tackle/media/forge/shelf"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
	"github.com/tackle-dev/tackle/toolbox"
)

// desk is a session with media.
type desk struct {
	t     *testing.T
	shelf *shelf.Shelf
	box   *toolbox.Box
	set   *forge.Set
}

func newDesk(t *testing.T, surface forge.Surface, change func(*forge.Config)) *desk {
	t.Helper()
	mem := &store.Memory{}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var ticks atomic.Int64
	arts := artifact.New(mem, mem, artifact.Options{})
	d := &desk{t: t, shelf: shelf.New(mem, arts, func() time.Time { return began.Add(time.Duration(ticks.Add(1)) * time.Second) })}
	p := mustPipeline(t, few()...)
	var err error
	cfg := forge.Config{Pipeline: p, Library: d.shelf, Surface: surface}
	if change != nil {
		change(&cfg)
	}
	if d.set, err = forge.Tools(cfg); err != nil {
		t.Fatal(err)
	}
	if d.box, err = toolbox.New(toolbox.Config{}); err != nil {
		t.Fatal(err)
	}
	for _, tl := range d.set.Tools() {
		if err := d.box.Register(tl, "code"); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *desk) attach(name, content string) forge.Item {
	d.t.Helper()
	it, err := d.shelf.Attach(d.t.Context(), "s", name, "", []byte(content))
	if err != nil {
		d.t.Fatal(err)
	}
	return it
}

func (d *desk) call(name string, args any) *tool.Result {
	d.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	res, err := d.box.Call(d.t.Context(), toolbox.Request{Tool: name, Args: raw, Session: "s", Mode: "code"})
	if err != nil {
		d.t.Fatal(err)
	}
	return &res
}

func (d *desk) query(id, q string) *tool.Result {
	d.t.Helper()
	return d.call("media_query", map[string]string{"media_id": id, "q": q})
}

func (d *desk) made(res *tool.Result) forge.Item {
	d.t.Helper()
	a, ok := res.Data.(forge.Answer)
	if !ok || len(a.Media) != 1 {
		d.t.Fatalf("%s %+v", res.Text(), res.Data)
	}
	return a.Media[0]
}

func TestM3_Surfaces(t *testing.T) {
	d := newDesk(t, forge.Composite, nil)
	if diff := cmp.Diff([]string{"list_media", "media_query"}, d.set.Order); diff != "" {
		t.Error(diff)
	}
	g := newDesk(t, forge.Granular, nil)
	names := strings.Join(g.set.Order, " ")
	for _, want := range []string{"list_media", "sheet_update_cells", "chunk", "redact", "image_resize", "extract_text"} {
		if g.set.ByName[want] == nil {
			t.Errorf("no tool %s in %s", want, names)
		}
	}
	for _, no := range []string{"slides_add", "audio_transcribe", "merge", "select", "media_query"} {
		if g.set.ByName[no] != nil {
			t.Errorf("%s is in %s, and nothing here does it", no, names)
		}
	}
	_, err := forge.Tools(forge.Config{Pipeline: mustPipeline(t), Library: d.shelf})
	if err == nil || !strings.Contains(err.Error(), "Surface must be named") {
		t.Error(err)
	}
}

// few are engines without documents, so that there is something that nothing here does.
func few() []media.Engine {
	return []media.Engine{sheet.Engine(), data.Engine(), text.Engine(), pictures.Engine()}
}

func mustPipeline(t *testing.T, engines ...media.Engine) *media.Pipeline {
	t.Helper()
	p, err := media.New(media.Config{Engines: engines})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// told is all that a model is told about media_query.
func told(d *desk) string {
	def := d.set.ByName["media_query"].Definition()
	return def.Description + "\n" + def.Schema.Properties["media_id"].Description + "\n" + def.Schema.Properties["q"].Description
}

// The description speaks of what is there, in words that the parser reads, and is not too long.
func TestM3_Description(t *testing.T) {
	d := newDesk(t, forge.Composite, func(c *forge.Config) { c.Files = true })
	text := told(d)
	all := newDesk(t, forge.Composite, func(c *forge.Config) { c.Files, c.Pipeline = true, mustPipeline(t, engine.All()...) })
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	ids, _, err := enc.Encode(told(all))
	if err != nil || len(ids) >= 2500 {
		t.Errorf("%d tokens (%v)", len(ids), err)
	}
	for _, no := range []string{"slides", "transcribe", "- merge", "pdf", "docx"} {
		if strings.Contains(text, no) {
			t.Errorf("it speaks of %q, which nothing here does", no)
		}
	}
	p := mustPipeline(t, few()...)
	examples := 0
	_, list, _ := strings.Cut(text, "Examples:\n")
	for line := range strings.Lines(list) {
		s, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			continue
		}
		examples++
		plan, err := p.Compile(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if again, _ := p.Print(plan); again != s {
			t.Errorf("%s prints as %s", s, again)
		}
	}
	if examples < 3 {
		t.Errorf("%d examples", examples)
	}
	if !strings.Contains(text, `"redact match=/\\d{3}-\\d{2}-\\d{4}/ replace=\"[SSN]\""`) {
		t.Errorf("no expression as tool arguments have it:\n%s", text)
	}
	none := newDesk(t, forge.Composite, func(c *forge.Config) { c.Pipeline = mustPipeline(t) })
	text = told(none)
	for _, no := range []string{"convert to", "empty:", "redact", "sheet"} {
		if strings.Contains(text, no) {
			t.Errorf("without engines it speaks of %q:\n%s", no, text)
		}
	}
}

func TestT14_Portable(t *testing.T) {
	for _, s := range []forge.Surface{forge.Composite, forge.Granular} {
		for _, tl := range newDesk(t, s, nil).set.Tools() {
			for _, f := range schema.Lint(tl.Definition().Def()) {
				t.Errorf("%s: %+v", tl.Definition().Name, f)
			}
		}
	}
}

func TestContract(t *testing.T) {
	mem := &store.Memory{}
	lib := shelf.New(mem, artifact.New(mem, mem, artifact.Options{}), nil)
	for _, s := range []forge.Surface{forge.Composite, forge.Granular} {
		set, err := forge.Tools(forge.Config{Pipeline: mustPipeline(t, engine.All()...), Library: lib, Surface: s})
		if err != nil {
			t.Fatal(err)
		}
		for _, tl := range set.Tools() {
			t.Run(tl.Definition().Name, func(t *testing.T) {
				w := tooltest.World{}
				if tl.Definition().Name == "media_query" {
					w.Bad = map[string]tool.Code{
						`{"media_id":"a"}`: tool.BadRequest,
						`{"media_id":"a","q":"x","ops":[{"verb":"x","args":{}}]}`: tool.BadRequest,
						`{"media_id":"a","q":"slect pages=1"}`:                    tool.UnknownVerb,
						`{"media_id":"a","q":"redact match=/a"}`:                  tool.PipeSyntax,
						`{"media_id":"a","q":"convert to=numbers"}`:               tool.EngineRequired,
						`{"media_id":"a","q":"chunk size=0"}`:                     tool.BadArgument,
					}
				}
				tooltest.Run(t, tl, w)
			})
		}
	}
}

func TestM4_Misses(t *testing.T) {
	d := newDesk(t, forge.Composite, nil)
	res := d.query("doc-7", "extract text")
	if got := res.Text(); !strings.HasPrefix(got, "Error (MEDIA_NOT_FOUND): no media with id \"doc-7\".\nNo media is visible in this session.\nTo create NEW media instead, pass media_id \"empty:<format>\" (available: ") {
		t.Error(got)
	}
	a, b := d.attach("report.md", "# a"), d.attach("data.csv", "a,b\n")
	want := fmt.Sprintf("Error (MEDIA_NOT_FOUND): no media with id \"doc-7\".\nVisible media ids: %s (report.md), %s (data.csv)\nTo create", a.ID, b.ID)
	if got := d.query("doc-7", "extract text").Text(); !strings.HasPrefix(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	// References miss in the same way.
	if res = d.query(a.ID, "diff with=@nope"); res.Err == nil || res.Err.Code != tool.MediaNotFound || !strings.Contains(res.Text(), "data.csv") {
		t.Error(res.Text())
	}
	// Another session sees none of it.
	raw, _ := json.Marshal(map[string]string{"media_id": a.ID, "q": "extract text"})
	other, err := d.box.Call(t.Context(), toolbox.Request{Tool: "media_query", Args: raw, Session: "other", Mode: "code"})
	if err != nil || other.Err == nil || other.Err.Code != tool.MediaNotFound || strings.Contains(other.Text(), "report.md") {
		t.Error(other.Text(), err)
	}
	none := newDesk(t, forge.Composite, func(c *forge.Config) { c.Pipeline = mustPipeline(t) })
	if got := none.query("x", "extract metadata").Text(); strings.Contains(got, "empty:") {
		t.Error(got)
	}
}

func TestM4_ListAndMarkers(t *testing.T) {
	d := newDesk(t, forge.Composite, nil)
	if got := d.call("list_media", map[string]any{}).Text(); got != "[]" {
		t.Error(got)
	}
	a := d.attach("a[1]\n.md", "# T\n")
	res := d.query(a.ID, "convert to=html")
	html := d.made(res)
	var list []map[string]any
	if err := json.Unmarshal([]byte(d.call("list_media", map[string]any{}).Text()), &list); err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for k, want := range map[string]any{"id": a.ID, "filename": "a_1_.md", "kind": "document", "mimeType": "text/markdown", "origin": "attachment", "source": "user", "trust": "third-party-private"} {
		if list[0][k] != want {
			t.Errorf("%s is %v, want %v", k, list[0][k], want)
		}
	}
	for k, want := range map[string]any{"id": html.ID, "origin": "tool-result", "source": "tool:media_query", "trust": "first-party", "inheritsTrust": "third-party-private"} {
		if list[1][k] != want {
			t.Errorf("%s is %v, want %v", k, list[1][k], want)
		}
	}
	if diff := cmp.Diff([]any{a.ID}, list[1]["derivedFrom"]); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(res.Text(), "[media id: "+html.ID+" | a_1_.html]") {
		t.Error(res.Text())
	}
}

func TestM5_Results(t *testing.T) {
	d := newDesk(t, forge.Composite, nil)
	a := d.attach("a.md", "# One\nx\n\n# Two\ny\n")
	// Several results.
	res := d.query(a.ID, "split by=section")
	if got := res.Data.(forge.Answer); len(got.Media) != 2 || got.Media[1].Filename != "a.part2.md" || strings.Count(res.Text(), "[media id: ") != 2 {
		t.Error(res.Text())
	}
	// What is read is text, with the trust of its source.
	res = d.query(a.ID, "extract text")
	if got := res.Data.(forge.Answer); res.Text() != "# One\nx\n\n# Two\ny\n" || got.Trust != forge.Private || got.Media != nil {
		t.Errorf("%q %+v", res.Text(), got)
	}
	if res.Meta.Values["trust"] != string(forge.Private) {
		t.Errorf("%v", res.Meta.Values)
	}
	// Calls build on each other.
	b := d.made(d.query(a.ID, `update_text anchor=x replace="z & z"`))
	if got := d.query(b.ID, `diff with=@`+a.ID).Text(); !strings.Contains(got, "-z & z\n+x\n") {
		t.Error(got)
	}
	// Data is text as JSON.
	if got := d.query(a.ID, "chunk").Text(); !strings.Contains(got, `"char_start": 0`) {
		t.Error(got)
	}
	// Structured operations do the same.
	res = d.call("media_query", map[string]any{"media_id": a.ID, "ops": []any{map[string]any{"verb": "redact", "args": map[string]any{"match": []string{"/o\\w/i"}, "replace": "_"}}}})
	if got := res.Data.(forge.Answer); got.Plan != `redact match=/o\w/i replace="_"` && got.Plan != `redact match=/o\w/i replace=_` {
		t.Errorf("%s %s", got.Plan, res.Text())
	}
	// A picture is shown, and fits.
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 3000, 10))); err != nil {
		t.Fatal(err)
	}
	pic := d.attach("p.png", buf.String())
	res = d.query(pic.ID, "image flip axis=both")
	if len(res.Parts) < 2 || res.Parts[1].Kind != tool.ImageKind || res.Parts[1].Width > 2000 || !strings.HasPrefix(res.Parts[0].Text, "[media id: ") {
		t.Errorf("%+v", res.Parts[0])
	}
}

func TestM4_Creation(t *testing.T) {
	d := newDesk(t, forge.Composite, nil)
	res := d.query("empty:xlsx", `sheet update_cells updates='[{"address":"A1","value":"hello"}]'`)
	it := d.made(res)
	if it.Filename != "untitled.xlsx" || it.Inherits != forge.FirstParty {
		t.Errorf("%+v", it)
	}
	if got := d.query(it.ID, "extract text").Text(); got != "# Sheet1\nhello\n" {
		t.Errorf("%q", got)
	}
	a := d.attach("a.txt", "x\n")
	if got := d.query(a.ID, "diff with=@empty:TXT").Text(); !strings.Contains(got, "-x") {
		t.Error(got)
	}
	res = d.query("empty:docx", "sanitize")
	if res.Err == nil || res.Err.Code != tool.EmptyFormatUnavailable || !strings.Contains(res.Text(), "Available: ") || !strings.Contains(res.Text(), "Do not retry empty:docx.") {
		t.Error(res.Text())
	}
}

func TestM6_FailuresAreLines(t *testing.T) {
	d := newDesk(t, forge.Composite, nil)
	a := d.attach("a.md", "x")
	for q, want := range map[string]string{
		"redackt match=x":      "Error (UNKNOWN_VERB): column 1: there is no verb \"redackt\". Closest: redact. Use: redact match=/",
		"redact match=zz":      "Error (STEP_FAILED): redact: nothing in a.md matches \"zz\".",
		"convert to=pdf":       "Error (ENGINE_REQUIRED): nothing here converts to pdf.",
		"slides add":           "Error (ENGINE_REQUIRED): column 1: slides add needs a presentation engine and this deployment has none. Do not retry slides add. Usable here: ",
		"image resize width=9": "Error (UNSUPPORTED_OP): image resize works on images here, and a.md is md. Possible with it: ",
	} {
		res := d.query(a.ID, q)
		if res.OK() || !strings.HasPrefix(res.Text(), want) || strings.Contains(strings.SplitN(res.Text(), "\n", 2)[0], "TOOL ERROR") {
			t.Errorf("%s\n got %s\nwant %s", q, res.Text(), want)
		}
	}
}

func TestM7_Gate(t *testing.T) {
	no := errors.New("the operator said no")
	opened := 0
	var asked []forge.GateCall
	d := newDesk(t, forge.Composite, func(c *forge.Config) {
		c.Library = counting{c.Library, &opened}
		c.Gate = func(_ context.Context, g forge.GateCall) error { asked = append(asked, g); return no }
	})
	a := d.attach("a.txt", "x")
	res := d.query(a.ID, "sanitize")
	if res.OK() || !errors.Is(res.Err.Err, no) || opened != 0 || len(asked) != 1 || asked[0].Tool != "media_query" {
		t.Errorf("%s; opened %d; asked %v", res.Text(), opened, asked)
	}
	var args map[string]string
	if err := json.Unmarshal(asked[0].Args, &args); err != nil || len(args) != 2 || args["media_id"] != a.ID || args["q"] != "sanitize" {
		t.Errorf("the gate was told %s (%v)", asked[0].Args, err)
	}
	// What is not understood is not asked about.
	d.query(a.ID, "sanitise it")
	d.call("media_query", map[string]any{"media_id": a.ID})
	if len(asked) != 1 {
		t.Errorf("asked %v", asked)
	}
	// The listing is not gated.
	if !strings.Contains(d.call("list_media", map[string]any{}).Text(), a.ID) {
		t.Error("no list")
	}
}

type counting struct {
	forge.Library
	n *int
}

func (c counting) Open(ctx context.Context, session, id string) (forge.Item, []byte, error) {
	*c.n++
	return c.Library.Open(ctx, session, id)
}

func TestOverrides(t *testing.T) {
	d := newDesk(t, forge.Composite, func(c *forge.Config) {
		c.Overrides = map[string]forge.Override{"media_query": {Name: "process_file", Description: "Do things."}}
	})
	if diff := cmp.Diff([]string{"list_media", "process_file"}, d.set.Order); diff != "" {
		t.Error(diff)
	}
	if def := d.set.ByName["process_file"].Definition(); def.Description != "Do things." || def.Name != "process_file" {
		t.Errorf("%+v", def)
	}
	_, err := forge.Tools(forge.Config{Pipeline: mustPipeline(t), Library: d.shelf, Surface: forge.Composite, Overrides: map[string]forge.Override{"redact": {Name: "x"}}})
	if err == nil || !strings.Contains(err.Error(), `"redact"`) {
		t.Error(err)
	}
}

func TestGranularCalls(t *testing.T) {
	d := newDesk(t, forge.Granular, nil)
	a := d.attach("a.csv", "n,v\nx,1\n")
	it := d.made(d.call("sheet_add_rows", map[string]any{"media_id": a.ID, "rows": []any{[]any{"y", 2}}}))
	if got := d.call("extract_text", map[string]any{"media_id": it.ID}).Text(); got != "n,v\nx,1\ny,2\n" {
		t.Errorf("%q", got)
	}
	it = d.made(d.call("redact", map[string]any{"media_id": it.ID, "match": []string{"/[xy]/g"}, "replace": "-"}))
	if got := d.call("extract_text", map[string]any{"media_id": it.ID}).Text(); got != "n,v\n-,1\n-,2\n" {
		t.Errorf("%q", got)
	}
	b := d.made(d.call("convert", map[string]any{"media_id": "empty:csv", "to": "xlsx"}))
	it = d.made(d.call("sheet_update_cells", map[string]any{"media_id": b.ID, "sheet": 1, "updates": []any{map[string]any{"address": "A1", "value": 5}}}))
	if got := d.call("diff", map[string]any{"media_id": b.ID, "with": it.ID}).Text(); !strings.Contains(got, "5") {
		t.Error(got)
	}
}
