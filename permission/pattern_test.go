package permission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/tool"
)

// P5: what a pattern matches, as an allow and as a deny. "+" both, "d" only as a deny, "-" neither.
func TestP5_Patterns(t *testing.T) {
	const rows = `
src/**          src/a.go             +
src/**          src                  +
src/**          src/a/b              +
src/**          vendor/x/src/a.txt   -
src/**          SRC/a.go             d
src             src                  +
src             src/a.go             d
src             lib/src/a.go         d
./src/*.go      src/a.go             +
src/*.go        src/a/b.go           -
src/*.go        src/a.go/x           d
src//a.go       src/a.go             +
src/            src/a/b              +
src/            src                  +
*.md            README.md            +
*.md            docs/a.md            d
**/*.md         docs/a.md            +
**/*.md         README.md            +
docs/{a,b}.md   docs/b.md            +
docs/[ab].md    docs/c.md            -
a?.txt          ab.txt               +
**              a/b/c                +
**              .                    +
**              /srv/x               -
*               a/b/c                +
*               /srv/x               +
.               .                    +
.               a                    -
/srv/**         /srv/x/y             +
/srv/           /srv/x               +
/srv            /srv/x               d
/srv/*.txt      /srv/A.TXT           d
/w/ws/src/**    src/a                +
~/notes/*.md    ~/notes/a.md         +
~/notes/        ~/notes/x/y          +
~               ~                    +
~               ~/x                  d
.env            .env                 +
.env            sub/.env             d
.env            .ENV                 d
**/.env*        sub/.env.local       +
**              .env                 d
*               .env                 d
/**             ~/.ssh/id_rsa        d
~/.ssh/**       ~/.ssh/id_rsa        +
~/.aws/         ~/.aws/credentials   +
**/*.pem        certs/a.pem          +
certs/**        certs/a.pem          d
certs/a.pem     certs/a.pem          +
a\*b            a*b                  +
a\*b            axb                  -
Ａ.txt          a.txt                d
`
	n := 0
	for row := range strings.Lines(rows) {
		f := strings.Fields(row)
		if len(f) != 3 {
			continue
		}
		n++
		path := strings.Replace(f[1], "~", home, 1)
		in := on("x", tool.Read, resolve(path, nil))
		got := ""
		for _, action := range []tool.Verdict{tool.Allow, tool.Deny} {
			g := gate(t, Options{Layers: []Layer{{Name: User, Rules: []Rule{{Permission: "x", Pattern: f[0], Action: action}}}}})
			s := g.judge.subjects(in)
			if o := g.layers[0].opinion(&s[0], "x"); o.rule != nil {
				got += action.String()
			}
		}
		short := map[string]string{"": "-", "deny": "d", "allowdeny": "+"}
		if short[got] != f[2] {
			t.Errorf("%s on %s: got %q, want %s", f[0], f[1], got, f[2])
		}
	}
	if n < 40 {
		t.Fatalf("only %d rows were found", n)
	}
}

// P5, POL-007: a pattern that could only match nothing is an error that says what to write.
func TestP5_PatternErrors(t *testing.T) {
	for _, tt := range []struct{ pattern, home, want string }{
		{"", home, `write "*"`},
		{" a", home, "blanks"},
		{"a\x00b", home, "NUL"},
		{"!a", home, "other action below"},
		{"../a", home, "leave the workspace"},
		{"a/../b", home, "leave the workspace"},
		{"$HOME/a", home, `"~/"`},
		{"~root/a", home, "absolute path"},
		{"~/a", "", "home directory is unknown"},
		{"a[", home, "not closed"},
		{"a{b", home, "not closed"},
		{strings.Repeat("{a,b}", 7), home, "more than 64 alternatives"},
	} {
		_, err := compilePath(tt.pattern, true, place{home: tt.home}, secretNames())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.pattern, err, tt.want)
		}
	}
}

func TestWildcard(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"*", "a", true}, {"a*", "ab", true}, {"a*", "b", false}, {"*a*b", "xaxb", true}, {"*a*b", "xaxbx", false},
		{"a", "a", true}, {"a", "ab", false}, {"mcp_*_read", "mcp_gh_read", true}, {"", "", true}, {"**", "x", true},
		{strings.Repeat("a*", 30) + "b", strings.Repeat("a", 2000), false},
	} {
		if got := wildcard(tt.pattern, tt.name); got != tt.want {
			t.Errorf("wildcard(%.20q, %.20q) = %v", tt.pattern, tt.name, got)
		}
	}
}

// Lint: rules that do not do what they seem to do.
func TestLint(t *testing.T) {
	tests := []struct {
		name   string
		layers []Layer
		want   []string // "layer:number code"
	}{
		{"nothing", user(t, "deny edit **\nallow edit docs/**\nask shell *"), nil},
		{"unknown", user(t, "deny edti **\nask mcp_* *"), []string{"user:1 unknown-permission", "user:2 unknown-permission"}},
		{"prototype names are only unknown (POL-005)", user(t, "deny __proto__ *\ndeny toString *\ndeny edit src/**"),
			[]string{"user:1 unknown-permission", "user:2 unknown-permission"}},
		{"folded", user(t, "deny write_file src/**"), []string{"user:1 folded"}},
		{"same pattern", user(t, "deny edit a/b\nallow edit a/b"), []string{"user:1 shadowed"}},
		{"a tree below", user(t, "deny edit a/b/*.go\nask edit a/**"), []string{"user:1 shadowed"}},
		{"any", user(t, "deny edit a/b\nallow * *"), []string{"user:1 shadowed"}},
		{"a narrower permission does not cover", user(t, "deny * a/b\nallow edit a/**"), nil},
		{"an allow for secrets stays", user(t, "allow read_file **/.env*\nallow read_file **"), nil},
		{"overruled", []Layer{{Name: User, Rules: parse(t, "deny edit *")}, {Name: Project, Rules: parse(t, "allow edit src/**")}},
			[]string{"project:1 overruled"}},
		{"untrusted", []Layer{{Name: Project, Untrusted: true, Rules: parse(t, "allow edit src/**\ndeny edit x/y")}}, []string{"project:1 untrusted"}},
		{"guarded", user(t, "allow edit .vscode/**\nallow edit ~/.local/state/tackle/**"), []string{"user:1 guarded", "user:2 guarded"}},
		{"never: a command where none is run", user(t, "deny edit [\"git\", \"status\"]\ndeny shell [\"git\", \"status\"]"), []string{"user:1 never"}},
		{"never: an address", user(t, "deny grep https://example.com/*"), []string{"user:1 never"}},
		{"never: outside of every root", []Layer{{Name: Project, Base: "/elsewhere", Rules: parse(t, "allow edit src/**\ndeny edit x/**")},
			{Name: User, Rules: parse(t, "allow edit src/**")}, {Name: "other", Base: root + "/sub", Rules: parse(t, "allow edit src/**")}}, []string{"project:1 never"}},
		{"top only", user(t, "allow edit *.md\ndeny edit *.go"), []string{"user:1 top-only"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range gate(t, Options{Layers: tt.layers}).Lint() {
				got = append(got, f.Layer+":"+string(rune('0'+f.Number))+" "+f.Code)
				if !strings.HasPrefix(f.String(), "rules:") {
					t.Errorf("no position in %q", f)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	near := gate(t, Options{Layers: user(t, "deny edti **")}).Lint()
	if len(near) != 1 || !strings.Contains(near[0].Message, "did you mean edit?") {
		t.Errorf("no suggestion: %v", near)
	}
}
