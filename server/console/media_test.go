package console

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/server/internal/access"
)

func dot(t *testing.T) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 9, 7))
	m.SetNRGBA(1, 1, color.NRGBA{200, 10, 10, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (p *place) attach(t *testing.T, name string, data []byte) string {
	t.Helper()
	it, err := p.box.Attach(t.Context(), "main", name, "", data)
	if err != nil {
		t.Fatal(err)
	}
	return it.ID
}

// X5, UI-009: media and their pages are shown as text, whatever they and their names hold.
func TestX5_MediaPages(t *testing.T) {
	const evil = "<img src=x onerror=alert(1)>\u202e\u200b"
	p := open(t)
	table := p.attach(t, "evil<b>\u202e.csv", []byte("name;value\n"+evil+";=1+1\nc;3\n"))
	page := p.attach(t, "page.html", []byte("<!doctype html><script>alert(2)</script>\n"+evil))
	pic, half := p.attach(t, "dot.png", dot(t)), p.attach(t, "half.png", dot(t)[:60])
	text := p.attach(t, "long.txt", []byte(strings.Repeat("a line\n", 2500)))
	bytesOnly := p.attach(t, "x.bin", []byte("\x00\x01\x02"))
	book := p.call(t, "media_query", map[string]any{"media_id": table, "q": `convert to=xlsx`})
	if !book.OK() {
		t.Fatal(book.Text())
	}
	m := "/sessions/main/media"
	tests := []struct{ path, want string }{
		{m, "third-party-private"}, {m, "/api" + m + "/" + pic + "/picture?small=true"}, {m, "tool:media_query"},
		{m + "/" + table, `id="A2"`}, {m + "/" + table, `aria-rowcount="21"`}, {m + "/" + table + "?as=text", "&lt;img src=x"}, {m + "/" + table + "?cell=zz900", `id="ZZ900"`},
		{m + "/" + table + "/rows?sheet=1&row=1&column=1&columns=2&final=3", `<tr aria-rowindex="2"><th scope="row">1</th>`},
		{m + "/" + page, "&lt;script&gt;"}, {m + "/" + pic, "9 × 7 pixels"}, {m + "/" + half, "cannot be drawn"}, {m + "/" + bytesOnly, "only for download"},
		{m + "/" + text, "Next lines"}, {m + "/" + text + "?from=2001", "Lines before"},
		{m + "/" + page + "/compare?with=" + text, "-a line"}, {m + "/" + pic + "/compare?with=" + pic, "byte for byte"}, {m + "/" + pic + "/compare?with=" + half, "cannot be compared"},
		{"/sessions/main", "Media (7)"}, {"/sessions/main/calls/" + book.Meta.Call, "What it made"},
	}
	for _, tt := range tests {
		body := p.get(t, tt.path)
		if !strings.Contains(body, tt.want) {
			t.Errorf("%s does not show %q:\n%s", tt.path, tt.want, body)
		}
		for _, bad := range []string{"<img src=x", "<script>", "\u202e", "\u200b", "<b>\u202e"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s shows %q as it is", tt.path, bad)
			}
		}
		if at := regexp.MustCompile(`\s(on[a-z]+|style)=`).FindString(tags(body)); at != "" {
			t.Errorf("%s holds the attribute%s", tt.path, at)
		}
	}
	for path, want := range map[string]int{m + "/none": 404, "/sessions/none/media": 404, m + "/" + table + "?cell=7": 400, m + "/" + table + "?sheet=x": 400, m + "/" + table + "?sheet=2": 400, m + "/" + pic + "/rows": 400,
		m + "/" + table + "/rows?row=99999999": 200, m + "/" + pic + "/compare": 400, "/asks/none/media/1": 404, "/asks/none/media/x": 400} {
		if w := p.do(t, http.MethodGet, path, nil); w.Code != want {
			t.Errorf("GET %s: %d, want %d", path, w.Code, want)
		}
	}
	p.who = access.Identity{Name: "agent", Role: access.Agent}
	for _, path := range []string{m, m + "/" + table, m + "/" + table + "/rows?row=1", m + "/" + pic + "/compare?with=" + half} {
		if w := p.do(t, http.MethodGet, path, nil); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "dot.png") {
			t.Errorf("an agent gets %s: %d", path, w.Code)
		}
	}
}

// X5, P8: an ask about a file that is made of media shows it and what it was made of.
func TestX5_AsksShowMedia(t *testing.T) {
	p := open(t)
	pic := p.attach(t, "dot.png", dot(t))
	res := p.call(t, "media_query", map[string]any{"media_id": pic, "q": "image rotate deg=90"})
	made := regexp.MustCompile(`media id: (\w+)`).FindStringSubmatch(res.Text())
	if made == nil {
		t.Fatal(res.Text())
	}
	a, done := p.asked(t, "copy_file", map[string]any{"path": "artifact:" + made[1], "to": "ask/dot.png"})
	for _, path := range []string{"/asks", "/asks/" + a.ID} {
		body := p.get(t, path)
		for _, want := range []string{"/picture/before?small=true", "/picture/after?small=true", "of which it was made"} {
			if !strings.Contains(body, want) {
				t.Errorf("%s does not hold %q", path, want)
			}
		}
	}
	link := regexp.MustCompile(`href="(/asks/[^"]+/media/\d+)"`).FindStringSubmatch(p.get(t, "/asks"))
	if link == nil {
		t.Fatal("no link to before and after")
	}
	if body := p.get(t, link[1]); !strings.Contains(body, "Side by side") || !strings.Contains(body, "7 × 9") {
		t.Error(body)
	}
	p.do(t, http.MethodPost, "/asks/"+a.ID, url.Values{"answer": {"no"}, "fingerprint": {a.Fingerprint}})
	done()
	if w := p.do(t, http.MethodGet, link[1], nil); w.Code != http.StatusNotFound {
		t.Errorf("after the answer: %d", w.Code)
	}
}
