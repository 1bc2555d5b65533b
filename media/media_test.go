package media

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// say is an engine function that writes down what it was asked.
func say(what string) doing {
	return func(_ context.Context, r *Request) (Result, error) {
		return Result{Media: &Payload{Data: []byte(string(r.In.Data) + ">" + what)}}, nil
	}
}

func to(from, format string, keep Fidelity, what string) Convert {
	return Convert{From: []string{from}, To: []string{format}, Keep: keep, Do: say(what)}
}

func pipeline(t *testing.T, cfg Config) *Pipeline {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

const docx, pdf, html, xlsx = ooxml + "wordprocessingml.document", "application/pdf", "text/html", ooxml + "spreadsheetml.sheet"

// typed gives a payload of a type that its bytes tell, or leave open.
func typed(mime, name string) Payload {
	p := Payload{Data: []byte("x"), MIME: mime, Name: name}
	switch mime {
	case docx:
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("[Content_Types].xml")
		if err == nil {
			_, err = w.Write([]byte("<Types>wordprocessingml.document.main+xml</Types>"))
		}
		if err = errors.Join(err, z.Close()); err != nil {
			panic(err)
		}
		p.Data = b.Bytes()
	case "image/png":
		p.Data = []byte("\x89PNG\r\n\x1a\n")
	}
	return p
}

func TestM2_Paths(t *testing.T) {
	for _, tt := range []struct {
		name    string
		engines []Convert
		from    string
		to      string
		want    string // what the engines wrote, or the code of the error
	}{
		{"direct", []Convert{to("text/markdown", "html", Exact, "h")}, "text/markdown", "html", "x>h"},
		{"direct before a chain that comes first", []Convert{to("text/markdown", "docx", Exact, "d"), to(docx, "pdf", Exact, "dp"), to("text/markdown", "pdf", Text, "p")}, "text/markdown", "pdf", "x>p"},
		{"two hops", []Convert{to("text/markdown", "docx", Structure, "d"), to(docx, "pdf", Visual, "p")}, "text/markdown", "pdf", "x>d>p"},
		{"three hops", []Convert{to("text/markdown", "docx", Exact, "d"), to(docx, "odt", Exact, "o"), to(odf+"text", "pdf", Exact, "p")}, "text/markdown", "pdf", "x>d>o>p"},
		{"never four", []Convert{to("text/markdown", "docx", Exact, "d"), to(docx, "odt", Exact, "o"), to(odf+"text", "rtf", Exact, "r"), to("application/rtf", "pdf", Exact, "p")}, "text/markdown", "pdf", UnsupportedOp},
		{"never through text", []Convert{to(docx, "txt", Exact, "t"), to("text/plain", "pdf", Exact, "p")}, docx, "pdf", UnsupportedOp},
		{"never through what only looks alike", []Convert{to("text/markdown", "docx", Visual, "d"), to(docx, "odt", Exact, "o")}, "text/markdown", "odt", UnsupportedOp},
		{"pictures too", []Convert{to("image/*", "pdf", Visual, "p")}, "image/png", "pdf", "\x89PNG\r\n\x1a\n>p"},
		{"supply order", []Convert{to("text/markdown", "html", Exact, "first"), to("text/markdown", "html", Exact, "second")}, "text/markdown", "html", "x>first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var engines []Engine
			for i, c := range tt.engines {
				engines = append(engines, Engine{ID: fmt.Sprint("e", i), Convert: []Convert{c}})
			}
			p := pipeline(t, Config{Engines: engines})
			res, err := p.Query(t.Context(), typed(tt.from, "a.bin"), "convert to="+tt.to)
			got := ""
			if err != nil {
				got = code(err)
			} else {
				got = string(res.Media.Data)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s (%v)", got, tt.want, err)
			}
		})
	}
}

func TestM2_TargetsAreThoseThatCanBeReached(t *testing.T) {
	p := pipeline(t, Config{Engines: []Engine{{ID: "e", Convert: []Convert{to(EmptyMIME, "xlsx", Exact, ""), to(xlsx, "csv", Structure, ""), to(xlsx, "pdf", Visual, ""), to("text/csv", "json", Exact, ""), to(pdf, "docx", Visual, "")}}}})
	if d := cmp.Diff([]string{"xlsx", "csv", "pdf"}, p.Creatable()); d != "" {
		t.Error(d)
	}
	out, err := p.Create(t.Context(), "PDF")
	if err != nil || out.Name != "untitled.pdf" || out.MIME != pdf {
		t.Errorf("%+v %v", out, err)
	}
	_, err = p.Create(t.Context(), "docx")
	if code(err) != "EMPTY_FORMAT_UNAVAILABLE" || !strings.Contains(err.Error(), "Available: xlsx, csv, pdf. Do not retry empty:docx.") {
		t.Error(err)
	}
}

func TestM3_VerbsFollowEngines(t *testing.T) {
	none := pipeline(t, Config{})
	var ids []string
	for _, v := range none.Verbs() {
		ids = append(ids, v.ID)
	}
	if d := cmp.Diff([]string{"extract.metadata"}, ids); d != "" {
		t.Error(d)
	}
	_, err := none.Query(t.Context(), typed(docx, "a.docx"), "convert to=pdf")
	if code(err) != EngineRequired || !strings.HasSuffix(err.Error(), "Do not retry convert. Usable here: extract metadata.") {
		t.Error(err)
	}
	// One operation of an engine brings one verb, not its family.
	p := pipeline(t, Config{Engines: []Engine{
		{ID: "e", Edit: []Edit{{Over: []string{xlsx}, Ops: []string{"sheet.add_rows"}, Do: say("rows")}}, Mutate: []Mutate{{Over: []string{"image/*"}, Ops: []string{"flip"}, Encodes: []string{"png"}, Do: say("flip")}}},
		{ID: "ears", Convert: []Convert{to(PCMMIME, "txt", Text, "words")}},
	}})
	ids = nil
	for _, v := range p.Verbs() {
		ids = append(ids, v.ID)
	}
	if d := cmp.Diff([]string{"convert", "extract.text", "extract.metadata", "sheet.add_rows", "image.format", "image.flip"}, ids); d != "" {
		t.Error(d) // no audio.transcribe: nothing decodes sound
	}
	// A target that nothing here makes is refused when it is compiled.
	if _, err := p.Compile("convert to=pdf"); code(err) != EngineRequired || !strings.Contains(err.Error(), "Reachable formats: txt.") {
		t.Error(err)
	}
}

func TestEnginesAreCheckedAtConstruction(t *testing.T) {
	do := say("")
	for _, tt := range []struct {
		engine Engine
		want   string
	}{
		{Engine{}, `media engine 1 (""): it has no id`},
		{Engine{ID: "ok"}, `media engine 1 ("ok"): another engine has its id`},
		{Engine{ID: "a", Convert: []Convert{{From: []string{"text/plain"}, To: []string{"md"}}}}, `media engine 1 ("a"): conversion 0: From, To and Do must be set`},
		{Engine{ID: "a", Convert: []Convert{{From: []string{"text/plain"}, To: []string{"mdd"}, Do: do}}}, `unknown format "mdd"`},
		{Engine{ID: "a", Edit: []Edit{{Over: []string{"text/plain"}, Ops: []string{"sheet.sum"}, Do: do}}}, `"sheet.sum" is no verb`},
		{Engine{ID: "a", Edit: []Edit{{Over: []string{"image/*"}, Ops: []string{"image.flip"}, Do: do}}}, `"image.flip" is no verb`},
		{Engine{ID: "a", Mutate: []Mutate{{Over: []string{"image/*"}, Ops: []string{"crop"}, Encodes: []string{"png"}, Do: do}}}, `unknown operation "crop"`},
	} {
		_, err := New(Config{Engines: []Engine{{ID: "ok"}, tt.engine}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func edits(ops ...string) []Edit {
	return []Edit{{Over: []string{"text/plain", xlsx}, Ops: ops, Do: func(_ context.Context, r *Request) (Result, error) {
		switch r.Op {
		case "chunk":
			return Result{Read: &Reading{Data: []string{string(r.In.Data)}}}, nil
		case "apply_patch":
			return Result{List: []Payload{r.In, r.In}}, nil
		case "redact":
			panic("a file that nobody thought of")
		case "sanitize":
			return Result{}, nil
		}
		return say(r.Op)(context.Background(), r)
	}}}
}

func TestM1_FrontsMakeOnePlan(t *testing.T) {
	p := pipeline(t, Config{Engines: []Engine{{ID: "e", Edit: edits("append", "sheet.delete_rows", "redact")}}})
	a, err := p.Compile(`redact match=/a/i,b replace=x | append text=q newline=false`)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.CompileOps([]byte(`[{"verb":"redact","args":{"match":[{"regex":"a","flags":"i"},"b"],"replace":"x"}},{"verb":"append","args":{"text":"q","newline":false}}]`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Build().Then("redact", Args{"match": []any{map[string]string{"regex": "a", "flags": "i"}, "b"}, "replace": "x"}).Then("append", Args{"text": "q", "newline": false}).Plan()
	if err != nil {
		t.Fatal(err)
	}
	if !a.Equal(b) || !a.Equal(c) {
		t.Errorf("%v\n%v\n%v", a, b, c)
	}
	if s, err := p.Print(c); err != nil || s != `redact match=/a/i,b replace=x | append text=q newline=false` {
		t.Errorf("%s %v", s, err)
	}
	if _, err := p.Build().Then("append", Args{"text": func() {}}).Plan(); err == nil {
		t.Error("a function was taken as an argument")
	}
}

func TestM6_RunFailures(t *testing.T) {
	p := pipeline(t, Config{Engines: []Engine{{ID: "e", Convert: []Convert{to(docx, "txt", Text, "")}, Edit: append(edits("append", "chunk", "apply_patch", "redact", "sanitize", "diff"), Edit{Over: []string{xlsx}, Ops: []string{"sheet.delete_rows"}, Do: say("")})}}, Limits: Limits{Bytes: 1000}})
	text := Payload{Data: []byte("hello"), Name: "a.txt"}
	for _, tt := range []struct {
		in              Payload
		statement, want string
	}{
		{text, "sheet delete_rows rows=1", "UNSUPPORTED_OP step 1: sheet delete_rows works on xlsx here, and a.txt is txt. Possible with it: redact, sanitize, diff, apply_patch, append, extract text, chunk."},
		{typed("image/png", "p.png"), "append text=x", "UNSUPPORTED_OP"},
		{text, "apply_patch patch=x | append text=y", "STEP_FAILED step 1: apply_patch: it gave 2 files, and the next step takes one. Let apply_patch be the last step."},
		{text, "append text=x | redact match=a", "STEP_FAILED step 2: redact: the file made its engine stop (a file that nobody thought of); it is damaged, or its format is not understood."},
		{text, "sanitize", "STEP_FAILED step 1: sanitize: it gave nothing."},
		{text, "diff with=@x", `MEDIA_NOT_FOUND step 1: no media with id "x": there are no other media here.`},
		{Payload{Data: make([]byte, 1001), Name: "big"}, "append text=x", "STEP_FAILED step 0: big has 1001 bytes, more than the 1000 that are allowed."},
		{text, "extract text ocr=force", "ENGINE_REQUIRED"},
	} {
		_, err := p.Query(t.Context(), tt.in, tt.statement)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", tt.statement, err)
			continue
		}
		if got := fmt.Sprintf("%s step %d: %v", e.Code, e.Step, e); got != tt.want && e.Code != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.statement, got, tt.want)
		}
	}
}

// A media whose words nothing reads is refused once, in the words of the step that was asked for, and is offered no such step.
func TestM6_WordsThatNothingReads(t *testing.T) {
	reads := func(ctx context.Context, r *Request) (Result, error) {
		s, err := r.ReadText(ctx, r.In)
		return Result{Read: &Reading{Data: s, Text: s}}, err
	}
	p := pipeline(t, Config{Engines: []Engine{{ID: "e", Convert: []Convert{to(pdf, "txt", Text, ""), to(docx, "html", Structure, "")},
		Edit: []Edit{{Over: []string{"application/*", "text/*"}, Ops: []string{"chunk", "diff"}, Do: reads}, {Over: []string{pdf}, Ops: []string{"sanitize"}, Do: say("")}}}}})
	in := typed(docx, "a.docx")
	for statement, want := range map[string]string{
		"extract text":         "a.docx is docx, and nothing here reads the text of that. It converts to html. Do not retry this with it.",
		"chunk":                "a.docx is docx, and nothing here reads the text of that. It converts to html. Do not retry this with it.",
		"extract text | chunk": "a.docx is docx, and nothing here reads the text of that. It converts to html. Do not retry this with it.",
		"sanitize":             "sanitize works on pdf here, and a.docx is docx. Possible with it: convert.",
		"chunk size=0":         "chunk size: ",
		"extract text ocr=force ocr_out=hocr | x": "there is no verb",
	} {
		_, err := p.Query(t.Context(), in, statement)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Fact()+" "+e.Advice(), want) {
			t.Errorf("%s\n got %v\nwant %s", statement, err, want)
		}
	}
	if res, err := p.Query(t.Context(), typed("text/plain", "a.txt"), "chunk"); err != nil || res.Read.Text != "x" {
		t.Errorf("%+v %v", res, err)
	}
}

func TestReadingGoesOnAsText(t *testing.T) {
	p := pipeline(t, Config{Engines: []Engine{{ID: "e", Convert: []Convert{to(docx, "txt", Text, "")}, Edit: edits("append", "chunk")}}})
	res, err := p.Query(t.Context(), Payload{Data: []byte("a\r\nb"), MIME: "text/markdown", Name: "n.md"}, `extract text | append text=x`)
	if err != nil || string(res.Media.Data) != "a\nb>append" || res.Media.Name != "n.txt" || res.Media.MIME != "text/plain" {
		t.Errorf("%+v %v", res.Media, err)
	}
	res, err = p.Query(t.Context(), Payload{Data: []byte("ab"), Name: "n.txt"}, `chunk`)
	if err != nil || res.Read == nil || res.Media != nil {
		t.Errorf("%+v %v", res, err)
	}
}

func TestSelection(t *testing.T) {
	var asked [][]string
	engines := []Engine{}
	for _, id := range []string{"a", "b", "c"} {
		engines = append(engines, Engine{ID: id, Convert: []Convert{to("text/markdown", "html", Exact, id)}})
	}
	engines = append(engines, Engine{ID: "only", Convert: []Convert{to("text/markdown", "txt", Text, "only")}})
	with := func(stages ...Selector) *Pipeline { return pipeline(t, Config{Engines: engines, Selection: stages}) }
	md := Payload{Data: []byte("x"), Name: "x.md"}
	ask := func(answer ...string) Selector {
		return func(_ context.Context, s Selection) ([]string, error) {
			asked = append(asked, s.Candidates)
			return answer, nil
		}
	}
	res, err := with(ask("c", "intruder", "b", "c"), ask("b")).Query(t.Context(), md, "convert to=html")
	if err != nil || string(res.Media.Data) != "x>b" {
		t.Errorf("%+v %v", res, err)
	}
	if d := cmp.Diff([][]string{{"a", "b", "c"}, {"c", "b"}}, asked); d != "" {
		t.Error(d)
	}
	if _, err = with(ask()).Query(t.Context(), md, "convert to=html"); code(err) != StepFailed || !strings.Contains(err.Error(), "a, b, c") {
		t.Error(err)
	}
	asked = nil
	if _, err = with(ask()).Query(t.Context(), md, "convert to=txt"); err != nil || asked != nil {
		t.Errorf("a single candidate was asked about: %v %v", asked, err)
	}
}

func TestInterceptors(t *testing.T) {
	var seen []string
	trace := func(name string) Interceptor {
		return func(ctx context.Context, s StepInfo, next Next) (Result, error) {
			seen = append(seen, fmt.Sprint(name, s.Index, len(s.Steps)))
			return next(ctx, s.In)
		}
	}
	engines := []Engine{{ID: "e", Edit: edits("append"), Mutate: []Mutate{{Over: []string{"image/*"}, Ops: MutateOps, Encodes: []string{"png"}, Do: say("pic")}}}}
	p := pipeline(t, Config{Engines: engines, Use: []Interceptor{trace("a"), trace("b")}})
	text := Payload{Data: []byte("x"), Name: "x.txt"}
	for range 2 { // a chain is good for many runs
		if _, err := p.Query(t.Context(), text, "append text=1 | append text=2"); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"a0 1", "b0 1", "a1 1", "b1 1", "a0 1", "b0 1", "a1 1", "b1 1"}, seen); d != "" {
		t.Error(d)
	}
	// Changes of a picture that stand together come together, with the bytes that they are done on.
	seen = nil
	pic := Payload{Data: []byte("\x89PNG\r\n\x1a\n"), Name: "x.png"}
	if _, err := p.Query(t.Context(), pic, "image rotate deg=90 | image flip axis=both"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a0 2", "b0 2"}, seen); d != "" {
		t.Error(d)
	}
	own := errors.New("closed on Sundays")
	for _, tt := range []struct {
		use  Interceptor
		want func(Result, error) bool
	}{
		{func(context.Context, StepInfo, Next) (Result, error) { return Result{}, own }, func(_ Result, err error) bool { return errors.Is(err, own) }},
		{func(context.Context, StepInfo, Next) (Result, error) { return Result{}, nil }, func(_ Result, err error) bool { return code(err) == StepFailed }},
		{func(_ context.Context, s StepInfo, _ Next) (Result, error) {
			return Result{Media: &Payload{Data: []byte("kept"), MIME: "text/plain", Name: "k"}}, nil
		}, func(r Result, err error) bool { return err == nil && string(r.Media.Data) == "kept" }},
	} {
		res, err := pipeline(t, Config{Engines: engines, Use: []Interceptor{tt.use}}).Query(t.Context(), text, "append text=1")
		if !tt.want(res, err) {
			t.Errorf("%+v %v", res, err)
		}
	}
}

func TestFusionKeepsOrder(t *testing.T) {
	var got *Request
	p := pipeline(t, Config{Engines: []Engine{{ID: "e", Mutate: []Mutate{{Over: []string{"image/*"}, Ops: MutateOps, Encodes: []string{"png", "jpeg"}, Do: func(_ context.Context, r *Request) (Result, error) {
		if got != nil {
			t.Error("called twice")
		}
		got = r
		return Result{Media: &Payload{Data: r.In.Data}}, nil
	}}}}}})
	pic := Payload{Data: []byte("\x89PNG\r\n\x1a\n"), Name: "x.png"}
	res, err := p.Query(t.Context(), pic, "image resize width=300 | image rotate deg=90 | image format to=jpg quality=70 strip_metadata=true | image resize height=5 fit=inside | image flip axis=both")
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{{Op: "resize", Width: 300, Fit: "cover"}, {Op: "rotate", Degrees: 90}, {Op: "strip_metadata"}, {Op: "resize", Height: 5, Fit: "inside"}, {Op: "flip", Axis: "both"}}
	if d := cmp.Diff(want, got.Changes); d != "" || got.To != "jpeg" || got.Quality != 70 {
		t.Error(d, got.To, got.Quality)
	}
	if res.Media.Name != "x.jpg" || res.Media.MIME != "image/jpeg" {
		t.Errorf("%s %s", res.Media.Name, res.Media.MIME)
	}
	_, err = p.Query(t.Context(), pic, "image format to=webp")
	if code(err) != UnsupportedOp || !strings.Contains(err.Error(), "pictures are written as png, jpeg") {
		t.Error(err)
	}
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	p := pipeline(t, Config{Engines: []Engine{{ID: "e", Edit: []Edit{{Over: []string{"text/plain"}, Ops: []string{"append"}, Do: func(ctx context.Context, r *Request) (Result, error) {
		n++
		cancel()
		return say("")(ctx, r)
	}}}}}})
	_, err := p.Query(ctx, Payload{Data: []byte("x"), Name: "x.txt"}, "append text=1 | append text=2")
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%v after %d steps", err, n)
	}
	p = pipeline(t, Config{Limits: Limits{Time: time.Nanosecond}, Engines: []Engine{{ID: "e", Edit: edits("append")}}})
	if _, err := p.Query(t.Context(), Payload{Data: []byte("x"), Name: "x.txt"}, "append text=1"); code(err) != StepFailed {
		t.Error(err)
	}
}

func TestReferences(t *testing.T) {
	p := pipeline(t, Config{
		Engines: []Engine{{ID: "e", Convert: []Convert{to(EmptyMIME, "txt", Exact, "blank")}, Edit: []Edit{{Over: []string{"text/plain"}, Ops: []string{"apply_patch"}, Do: func(_ context.Context, r *Request) (Result, error) {
			var names []string
			for _, w := range r.With {
				names = append(names, w.Name)
			}
			return Result{Read: &Reading{Text: strings.Join(names, " ")}}, nil
		}}}}},
		Resolve: func(_ context.Context, id string) (Payload, error) {
			return Payload{Data: []byte("x"), Name: "cfg-" + id}, nil
		},
	})
	plan, err := p.Compile(`apply_patch patch=x with=@b,@a,@empty:TXT`)
	if err != nil || !slices.Equal(plan.Refs(), []string{"b", "a", "empty:TXT"}) {
		t.Fatal(plan.Refs(), err)
	}
	text := Payload{Data: []byte("x"), Name: "x.txt"}
	res, err := p.Run(t.Context(), text, plan, RunOptions{})
	if err != nil || res.Read.Text != "cfg-b cfg-a untitled.txt" {
		t.Error(res, err)
	}
	res, err = p.Run(t.Context(), text, plan, RunOptions{Resolve: func(_ context.Context, id string) (Payload, error) {
		return Payload{Data: []byte("x"), Name: "run-" + id}, nil
	}})
	if err != nil || res.Read.Text != "run-b run-a untitled.txt" {
		t.Error(res, err)
	}
	own := errors.New("store is down")
	if _, err = p.Run(t.Context(), text, plan, RunOptions{Resolve: func(context.Context, string) (Payload, error) { return Payload{}, own }}); !errors.Is(err, own) {
		t.Error(err)
	}
}

func TestIdentify(t *testing.T) {
	for _, tt := range []struct{ data, mime, name, want string }{
		{"\x89PNG\r\n\x1a\n", "text/html", "a.html", "image/png"},
		{"<!DOCTYPE html><p>", "image/png", "a.png", "text/html"},
		{"<html>", "", "a.png", "text/html"},
		{"# <html>", "", "a.md", "text/markdown"},
		{"a,b\n", "", "a.csv", "text/csv"},
		{"a,b\n", "text/plain", "a.csv", "text/csv"},
		{"a: 1", "", "a.yml", "application/yaml"},
		{`{"a":1}`, "", "", "application/json"},
		{`{"a":1}`, "", "a.txt", "text/plain"},
		{"<svg/>", "", "", "image/svg+xml"},
		{"<?xml version='1.0'?><svg/>", "", "", "image/svg+xml"},
		{"<?xml version='1.0'?><a/>", "", "", "application/xml"},
		{"\x00\x01\x02", "text/plain", "", "application/octet-stream"},
		{"%PDF-1.7", "", "", pdf}, {"{\\rtf1", "", "", "application/rtf"}, {"RIFF....WAVE", "", "", "audio/wav"},
		{"<?xml version='1.0'?><office:document " + strings.Repeat(`xmlns:x="urn:x" `, 200) + `office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body>`, "", "a.fods", "application/vnd.oasis.opendocument.spreadsheet-flat-xml"},
		{`<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.presentation">`, "", "a.fodp", "application/xml"},
		{"PK\x03\x04 broken", docx, "", "application/zip"},
		{"hi", "TEXT/MARKDOWN; charset=utf-8", "", "text/markdown"},
	} {
		if got := Identify(Payload{Data: []byte(tt.data), MIME: tt.mime, Name: tt.name}).MIME; got != tt.want {
			t.Errorf("%q as %q %q: got %s, want %s", tt.data, tt.mime, tt.name, got, tt.want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		m          Match
		text, want string
	}{
		{Match{Text: "a.b"}, "a.b axb a.b", "[] axb []"},
		{Match{Source: `\d{3}-\d{2}-\d{4}`}, "é 123-45-6789 x", "é [] x"},
		{Match{Source: `(?<=no )jane`, Flags: "i"}, "no JANE, jane", "no [], jane"},
		{Match{Source: `(\w)\1`}, "aab日日", "[]b日日"},
		{Match{Source: `^x.y$`, Flags: "ms"}, "x\ny\nxay", "[]\n[]"},
		{Match{Source: `x*`}, "axxb", "a[]b"},
		{Match{Source: `\p{L}+`, Flags: "u"}, "1é日2", "1[]2"},
		// What nobody sees hides nothing, and goes with what it stands in.
		{Match{Text: "secret"}, "a se\u00adc\u200bret, secret\u200d, sec ret", "a [], []\u200d, sec ret"},
		{Match{Source: `\d{3}-\d{2}`}, "\u202a1\u202c23-4\u20605 123-45", "\u202a[] []"},
		{Match{Source: `a+`}, "aa\u00ada b", "[] b"},
	} {
		p, err := NewPattern(tt.m, time.Second)
		if err != nil {
			t.Error(err)
			continue
		}
		got, _, err := Replace(tt.text, []*Pattern{p}, "[]")
		if err != nil || got != tt.want {
			t.Errorf("%+v on %q: got %q %v, want %q", tt.m, tt.text, got, err, tt.want)
		}
	}
	p, err := NewPattern(Match{Source: `(a+)+$`}, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Find(strings.Repeat("a", 40) + "b"); code(err) != StepFailed {
		t.Errorf("an expression without end: %v", err)
	}
	if _, err := NewPattern(Match{Source: `(a`}, time.Second); err == nil {
		t.Error("(a compiled")
	}
}

func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{"../../etc/x.txt": "x.txt", `c:\a\b.doc`: "b.doc", "a[media id: 1]\n.txt": "a_media id: 1_.txt", strings.Repeat("x", 200): strings.Repeat("x", 60) + "…" + strings.Repeat("x", 30)} {
		if got := CleanName(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// The pipeline and its engines serve scripts and workers as well: they know no tools, sessions, policy or faces.
func TestTheCoreKnowsNoAgents(t *testing.T) {
	const module = "github.com/tackle-dev/tackle/"
	n := 0
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "forge" {
			return cmp2(err, fs.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		n++
		for _, im := range f.Imports {
			own, ok := strings.CutPrefix(strings.Trim(im.Path.Value, `"`), module)
			if ok && !slices.ContainsFunc([]string{"media", "internal/pipe", "internal/text", "internal/diff", "patch", "change"}, func(s string) bool { return own == s || strings.HasPrefix(own, s+"/") }) {
				t.Errorf("%s imports %s", p, own)
			}
		}
		return nil
	})
	if err != nil || n < 20 {
		t.Errorf("%d files, %v", n, err)
	}
}

func cmp2(err, or error) error {
	if err != nil {
		return err
	}
	return or
}
