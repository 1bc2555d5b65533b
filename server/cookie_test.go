package server

import (
	"net/http"
	"testing"
)

// WEB-011: to a browser a page of another port of this machine is of the same site, so it sends the cookie along; such a page
// gets nothing by it, and can only lead here.
func TestWEB011_PagesOfThisMachine(t *testing.T) {
	p := start(t, nil)
	cookie, _ := p.login(Identity{Name: "operator", Role: Admin})
	for what, c := range map[string]struct {
		change []func(*http.Request)
		want   int
	}{
		"no browser":                {nil, 200},
		"our own page":              {[]func(*http.Request){header("Sec-Fetch-Site", "same-origin"), header("Sec-Fetch-Mode", "cors")}, 200},
		"our own page, with origin": {[]func(*http.Request){header("Origin", p.web.URL), header("Sec-Fetch-Site", "same-origin")}, 200},
		"typed":                     {[]func(*http.Request){header("Sec-Fetch-Site", "none"), header("Sec-Fetch-Mode", "navigate")}, 200},
		"a link":                    {[]func(*http.Request){header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Mode", "navigate")}, 200},
		"a script of another port":  {[]func(*http.Request){header("Origin", "http://localhost:9999"), header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Mode", "cors")}, 403},
		"without Sec-Fetch":         {[]func(*http.Request){header("Origin", "http://localhost:9999")}, 403},
		"a picture in another page": {[]func(*http.Request){header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Mode", "no-cors")}, 403},
		"a page of another site":    {[]func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "no-cors")}, 403},
	} {
		for _, path := range []string{"/api/me", "/api/sessions", "/api/events?types=ledger", "/"} {
			req := p.request("GET", path, nil, append([]func(*http.Request){withCookie(cookie)}, c.change...)...)
			res, err := p.web.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close() // of a stream, unread
			if res.StatusCode != c.want {
				t.Errorf("%s, %s: %d, want %d", what, path, res.StatusCode, c.want)
			}
		}
	}
}
