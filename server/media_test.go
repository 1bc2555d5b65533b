package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/race"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// workbook makes a workbook of two sheets: a thousand rows, and some totals with formulas.
func workbook(t testing.TB, box *tackle.Box) []byte {
	t.Helper()
	var rows []string
	for i := 1; i <= 1000; i++ {
		rows = append(rows, fmt.Sprintf(`["item %d",%d]`, i, i))
	}
	p := box.MediaPipeline()
	res, err := p.Query(t.Context(), media.Payload{Data: nil, MIME: media.EmptyMIME}, `convert to=xlsx | sheet add_rows rows='[`+strings.Join(rows, ",")+`]' | sheet add_sheet name="Totals" | sheet update_cells sheet="Totals" updates='[{"address":"B2","value":"=SUM(Sheet1!B1:B1000)"},{"address":"A2","value":"all"}]'`)
	if err != nil {
		t.Fatal(err)
	}
	return res.Media.Data
}

func picture(t testing.TB, w, h int, c color.NRGBA) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.SetNRGBA(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (p *place) attach(session, name string, data []byte) string {
	p.t.Helper()
	it, err := p.box.Attach(p.t.Context(), session, name, "", data)
	if err != nil {
		p.t.Fatal(err)
	}
	return it.ID
}

// made makes media with a call of an agent, and returns its id.
func (p *place) made(id, q string) string {
	p.t.Helper()
	res := p.call("media_query", map[string]any{"media_id": id, "q": q})
	if !res.OK() {
		p.t.Fatal(res.Text())
	}
	b, _ := json.Marshal(res.Data)
	var a struct{ Media []struct{ ID string } }
	if err := json.Unmarshal(b, &a); err != nil || len(a.Media) == 0 {
		p.t.Fatalf("%s: %s", q, b)
	}
	return a.Media[0].ID
}

// media calls the operations on media as they are described.
func (c *contract) media() {
	p := c.place
	book, text := p.attach("main", "list.xlsx", workbook(c.t, p.box)), p.attach("main", "notes.md", []byte("# A\n\none\n"))
	pic := p.attach("main", "dot.png", picture(c.t, 8, 6, color.NRGBA{200, 0, 0, 255}))
	changed := p.made(book, `sheet update_cells updates='[{"address":"B2","value":77}]'`)
	small := p.made(pic, `image resize width=4`)
	at := func(id string) map[string]string { return map[string]string{"session": "main", "media": id} }
	c.get("/api/sessions/{session}/media", map[string]string{"session": "main"}, "")
	c.get("/api/sessions/{session}/media", map[string]string{"session": "none"}, "")
	for _, id := range []string{book, text, pic, changed, "none"} {
		c.get("/api/sessions/{session}/media/{media}", at(id), "")
		c.get("/api/sessions/{session}/media/{media}/rows", at(id), "?row=3&rows=2&sheet=2")
		c.get("/api/sessions/{session}/media/{media}/lines", at(id), "?from=2&limit=1")
		c.get("/api/sessions/{session}/media/{media}/compare", at(id), "")
		c.get("/api/sessions/{session}/media/{media}/picture", at(id), "?small=true")
		c.get("/api/sessions/{session}/media/{media}/content", at(id), "")
	}
	c.get("/api/sessions/{session}/media/{media}/compare", at(small), "?with="+pic)
	c.get("/api/sessions/{session}/media/{media}/compare", at(small), "?with="+book)
	c.get("/api/sessions/{session}/media/{media}/compare", at(book), "?with="+book)

	a, done := p.asked("copy_file", map[string]any{"path": "artifact:" + small, "to": "ask/dot.png"})
	var list core.AskMedia
	if err := json.Unmarshal(c.get("/api/asks/{ask}/media", map[string]string{"ask": a.ID}, ""), &list); err != nil || len(list.Files) != 1 || list.Files[0].Before == nil || list.Files[0].Before.Media != pic {
		c.t.Fatalf("%+v, %v", list, err)
	}
	n := fmt.Sprint(list.Files[0].Number)
	c.get("/api/asks/{ask}/media/{file}/compare", map[string]string{"ask": a.ID, "file": n}, "")
	c.get("/api/asks/{ask}/media/{file}/compare", map[string]string{"ask": a.ID, "file": "99"}, "")
	for _, side := range []string{"before", "after", "inside"} {
		c.get("/api/asks/{ask}/media/{file}/picture/{side}", map[string]string{"ask": a.ID, "file": n, "side": side}, "")
	}
	c.call("admin", http.MethodPost, "/api/asks/{ask}/answer", map[string]string{"ask": a.ID}, "", core.Answer{Fingerprint: a.Fingerprint})
	<-done
	c.get("/api/asks/{ask}/media", map[string]string{"ask": a.ID}, "")
}

// X5, M5: what a person sees of media: where they come from, windows of sheets with formulas, and what a change changed.
func TestX5_MediaOfASession(t *testing.T) {
	p := start(t, nil)
	book := p.attach("main", "list.xlsx", workbook(t, p.box))
	changed := p.made(book, `sheet update_cells updates='[{"address":"B500","value":0},{"address":"C1","value":"new"}]'`)
	var list core.MediaList
	p.get("viewer", "/api/sessions/main/media", &list)
	if len(list.Media) != 2 {
		t.Fatalf("%+v", list)
	}
	a, b := list.Media[0], list.Media[1]
	if a.ID != book || a.Origin != "attachment" || a.Trust != "third-party-private" || a.View != core.SheetView || a.Before != "" || a.Source != "user" {
		t.Errorf("the attachment: %+v", a)
	}
	if b.ID != changed || b.Origin != "tool-result" || b.Trust != "first-party" || b.Inherits != "third-party-private" || b.Before != book || b.Source != "tool:media_query" || b.Size == 0 {
		t.Errorf("the result: %+v", b)
	}
	base := "/api/sessions/main/media/" + changed
	var v core.MediaView
	p.get("viewer", base, &v)
	if strings.Join(v.Sheets, "|") != "Sheet1|Totals" || v.Problem != "" {
		t.Errorf("%+v", v)
	}
	var rows core.Rows
	p.get("viewer", base+"/rows?row=499&rows=3", &rows)
	if rows.Last != 1000 || rows.Width != 3 || len(rows.Rows) != 3 || rows.Rows[1].Cells[1] != (core.SheetCell{At: "B500", Column: 2, Text: "0", Number: true}) {
		t.Errorf("%+v", rows)
	}
	p.get("viewer", base+"/rows?sheet=2", &rows)
	if len(rows.Rows) != 1 || rows.Rows[0].Cells[1].Formula != "=SUM(Sheet1!B1:B1000)" {
		t.Errorf("%+v", rows)
	}
	var d core.Comparison
	p.get("viewer", base+"/compare", &d)
	if d.Kind != core.SheetView || len(d.Cells) < 2 || d.Before.Media != book || !strings.Contains(fmt.Sprintf("%+v", d.Cells), "{Sheet:Sheet1 Kind:cell Cell:B500 Row:0 Before:500 After:0 Values:[]}") {
		t.Errorf("%+v", d)
	}
	text := p.attach("main", "a.txt", []byte("one\ntwo\n"))
	other := p.made(text, `apply_patch patch="--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"`)
	p.get("viewer", "/api/sessions/main/media/"+other+"/compare", &d)
	if d.Kind != core.TextView || !strings.Contains(d.Diff, "-two\n+TWO\n") || d.Added != 1 {
		t.Errorf("%+v", d)
	}
}

// MED, WEB: media are somebody else's bytes. They come as a download, or as a picture that our decoder has read; nobody
// reaches those of another session, and who may not look gets nothing.
func TestMED_ServedBytesRunNothing(t *testing.T) {
	p := start(t, nil)
	red := picture(t, 40, 30, color.NRGBA{200, 0, 0, 255})
	hostile := map[string][]byte{
		"evil.svg":              []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`),
		"evil.html":             []byte("<!doctype html><script>alert(1)</script>"),
		"page.png":              []byte("<html><script>alert(1)</script></html>"),
		"half.png":              red[:len(red)/2],
		"\"><script>.png":       append([]byte("\x89PNG\r\n\x1a\n"), "<script>alert(1)</script>"...),
		"bomb.xlsx":             []byte("PK\x03\x04<script>"),
		"../../../etc/pass.pdf": []byte("%PDF-1.4 <script>"),
	}
	if race.Enabled {
		t.Log("no PDF is opened: under the race detector PDFium takes minutes to compile")
		delete(hostile, "../../../etc/pass.pdf")
	}
	ids := map[string]string{}
	for name, data := range hostile {
		ids[name] = p.attach("main", name, data)
	}
	good := p.attach("main", "good.png", append(bytes.Clone(red), "<script>trailing</script>"...))
	for name, id := range ids {
		at := "/api/sessions/main/media/" + id
		a := p.send("viewer", "GET", at+"/picture", nil)
		if a.StatusCode != 400 || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s is drawn: %d %s", name, a.StatusCode, a.Header.Get("Content-Type"))
		}
		c := p.send("viewer", "GET", at+"/content", nil)
		h := c.Header
		if c.StatusCode != 200 || !bytes.Equal(c.body, hostile[name]) || h.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment;") ||
			h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || strings.ContainsAny(h.Get("Content-Disposition"), "<>/") {
			t.Errorf("%s: %d %v", name, c.StatusCode, h)
		}
		for _, op := range []string{"", "/rows", "/lines", "/compare"} {
			if a := p.send("viewer", "GET", at+op, nil); a.Header.Get("Content-Type") != "application/json" || a.StatusCode >= 500 {
				t.Errorf("%s%s: %d %s", name, op, a.StatusCode, a.body)
			}
		}
	}
	a := p.send("viewer", "GET", "/api/sessions/main/media/"+good+"/picture", nil)
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "image/png" || a.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(a.Header.Get("Content-Security-Policy"), "default-src 'none'; sandbox") || a.Header.Get("Content-Disposition") != "inline" {
		t.Errorf("a picture: %d %v", a.StatusCode, a.Header)
	}
	// Other sessions, other roles, ids that are paths.
	p.attach("other", "theirs.txt", []byte("theirs\n"))
	theirs := p.attach("main/x", "deeper.txt", []byte("deeper\n"))
	for _, at := range []string{"other/media/" + good, "none/media/" + good, "main/media/none", "main/media/x%2F" + theirs, "main/media/..%2Fother%2F" + good, ".ledger/media/x"} {
		for _, op := range []string{"", "/content", "/lines", "/rows", "/picture", "/compare"} {
			wantStatus(t, at+op, p.send("viewer", "GET", "/api/sessions/"+at+op, nil), 404)
		}
	}
	wantStatus(t, "media of no session", p.send("viewer", "GET", "/api/sessions/none/media", nil), 404)
	for _, rt := range p.srv.routes {
		if rt.about == "media" {
			at := strings.NewReplacer("{session}", "main", "{media}", good).Replace(rt.path)
			wantStatus(t, at+" as an agent", p.send("bot", "GET", at, nil), 403)
			wantStatus(t, at+" as nobody", p.do(p.request("GET", at, nil)), 401)
		}
	}
	// Windows and ranges have ends.
	var rows core.Rows
	table := p.attach("main", "big.csv", []byte(strings.Repeat("a,b,c\n", 5000)))
	p.get("viewer", "/api/sessions/main/media/"+table+"/rows?rows=1000000&columns=1000000&row=2", &rows)
	if len(rows.Rows) != 1000 || rows.Columns != 200 || rows.Rows[0].Row != 2 {
		t.Errorf("%d rows, %d columns", len(rows.Rows), rows.Columns)
	}
	var lines core.Lines
	p.get("viewer", "/api/sessions/main/media/"+table+"/lines?from=4000&limit=999999", &lines)
	if len(lines.Lines) != 1001 || lines.Total != 5000 {
		t.Errorf("%d lines of %d", len(lines.Lines), lines.Total)
	}
	for _, q := range []string{"?row=99999999999", "?sheet=5", "?sheet=-1"} {
		if a := p.send("viewer", "GET", "/api/sessions/main/media/"+table+"/rows"+q, nil); a.StatusCode != 200 && a.StatusCode != 400 {
			t.Errorf("%s: %d %s", q, a.StatusCode, a.body)
		}
	}
}

// Documents are looked at by their words, a PDF by its pages too, and what a redaction changed is there line by line.
func TestMED_Documents(t *testing.T) {
	p := start(t, nil)
	make_ := func(name, from string, data []byte, q string) string {
		res, err := p.box.MediaPipeline().Query(t.Context(), media.Payload{Data: data, Name: from}, q)
		if err != nil {
			t.Fatal(err)
		}
		return p.attach("main", name, res.Media.Data)
	}
	at := func(id string) string { return "/api/sessions/main/media/" + id }
	letter := make_("letter.docx", "a.md", []byte("# Offer \\<b\n\nnumber 123-45-6789\n"), "convert to=docx")
	var v core.MediaView
	var l core.Lines
	p.get("viewer", at(letter), &v)
	p.get("viewer", at(letter)+"/lines", &l)
	if v.Media.View != core.DocumentView || !v.Text || v.Pages != 0 || v.Problem != "" || strings.Join(l.Lines, "|") != "Offer <b||number 123-45-6789" {
		t.Errorf("%+v %q", v, l.Lines)
	}
	wantStatus(t, "a picture of words", p.send("viewer", "GET", at(letter)+"/picture?page=1", nil), 400)
	var c core.Comparison
	p.get("viewer", at(p.made(letter, `redact match="123-45-6789"`))+"/compare", &c)
	if c.Kind != core.TextView || !strings.Contains(c.Diff, "-number 123-45-6789\n+number █\n") {
		t.Errorf("%+v", c)
	}
	scan := make_("scan.pdf", "a.png", picture(t, 300, 200, color.NRGBA{0, 90, 0, 255}), "convert to=pdf")
	p.get("viewer", at(scan), &v)
	if v.Media.View != core.DocumentView || v.Pages != 1 {
		t.Errorf("%+v", v)
	}
	if race.Enabled {
		t.Log("no page is drawn: under the race detector PDFium takes minutes to compile; the browser's tests draw pages")
		return
	}
	a := p.send("viewer", "GET", at(scan)+"/picture?page=1&small=true", nil)
	if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "image/") || !strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("a page: %d %v", a.StatusCode, a.Header)
	}
	for _, page := range []string{"", "?page=0", "?page=2"} {
		wantStatus(t, page, p.send("viewer", "GET", at(scan)+"/picture"+page, nil), 400)
	}
}
