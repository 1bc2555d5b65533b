package skill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/words"
)

// A6: SKILL.md is read as people write it, and what was mended is said (complaints, class 16).
func TestA6_Parse(t *testing.T) {
	for name, tt := range map[string]struct {
		folder, in string
		want       Skill
		notes      []string // words of each note
		err        string
	}{
		"plain":                 {"deploy", "---\nname: deploy\ndescription: Put it live.\n---\n\n# Deploy\n\nRun it.\n", Skill{Name: "deploy", Description: "Put it live.", Body: "# Deploy\n\nRun it."}, nil, ""},
		"colon without quotes":  {"deploy", "---\nname: deploy\ndescription: Use when: the person says ship it\n---\nx", Skill{Name: "deploy", Description: "Use when: the person says ship it", Body: "x"}, []string{"put quotes"}, ""},
		"byte order mark":       {"a", "\uFEFF---\nname: a\ndescription: d\n---\nx", Skill{Name: "a", Description: "d", Body: "x"}, nil, ""},
		"two byte order marks":  {"a", "\uFEFF\uFEFF---\nname: a\ndescription: d\n---\nx", Skill{Name: "a", Description: "d", Body: "x"}, nil, ""},
		"UTF-16":                {"a", "\xff\xfe-\x00-\x00-\x00\n\x00n\x00a\x00m\x00e\x00:\x00 \x00a\x00\n\x00d\x00e\x00s\x00c\x00r\x00i\x00p\x00t\x00i\x00o\x00n\x00:\x00 \x00d\x00\n\x00-\x00-\x00-\x00\n\x00x\x00", Skill{Name: "a", Description: "d", Body: "x"}, []string{"UTF-8"}, ""},
		"carriage returns":      {"a", "---\r\nname: a\r\ndescription: d\r\n---\r\nx\r\ny\r\n", Skill{Name: "a", Description: "d", Body: "x\ny"}, nil, ""},
		"blank lines before":    {"a", "\n\n---\nname: a\ndescription: d\n---\nx", Skill{Name: "a", Description: "d", Body: "x"}, nil, ""},
		"folded":                {"a", "---\nname: a\ndescription: >\n  one\n  two\n---\n", Skill{Name: "a", Description: "one two"}, nil, ""},
		"folded, no YAML":       {"a", "---\nname: a\nnote: b: c\ndescription: >-\n  one\n  two\nallowed-tools:\n  - shell\n  - edit\n---\n", Skill{Name: "a", Description: "one two", Tools: []string{"shell", "edit"}, Meta: map[string]string{"note": "b: c"}}, []string{"line by line"}, ""},
		"tabs":                  {"a", "---\nname:\ta\ndescription:\td\n\tmore\n---\n", Skill{Name: "a", Description: "d more"}, []string{"line by line"}, ""},
		"no front matter":       {"My Skill", "# Title\n\nDoes a thing.\n\nMore.\n", Skill{Name: "my-skill", Description: "Does a thing.", Body: "# Title\n\nDoes a thing.\n\nMore."}, []string{"no front matter", "no name", "no description"}, ""},
		"empty front matter":    {"a", "---\n---\nDoes it.", Skill{Name: "a", Description: "Does it.", Body: "Does it."}, []string{"no name", "no description"}, ""},
		"name of another form":  {"a", "---\nname: My_Skill\ndescription: d\n---\n", Skill{Name: "my-skill", Description: "d"}, []string{"lower case", "it is named my-skill"}, ""},
		"twice":                 {"a", "---\nname: a\nname: b\ndescription: d\n---\n", Skill{Name: "a", Description: "d"}, []string{"twice"}, ""},
		"tools in one line":     {"a", "---\nname: a\ndescription: d\nallowed-tools: Bash(git add *, git commit *), Read Write\n---\n", Skill{Name: "a", Description: "d", Tools: []string{"Bash(git add *, git commit *)", "Read", "Write"}}, nil, ""},
		"other fields":          {"a", "---\nname: a\ndescription: d\nlicense: MIT\nargument-hint: \"[file]\"\ndisable-model-invocation: true\nmetadata:\n  version: 1.10\n---\n", Skill{Name: "a", Description: "d", Hint: "[file]", Manual: true, Meta: map[string]string{"license": "MIT", "metadata.version": "1.10"}}, nil, ""},
		"hidden words":          {"a", "---\nname: a\ndescription: \"d\\u200b\\u202e\\U000E0041 e\"\n---\n", Skill{Name: "a", Description: "d e"}, nil, ""},
		"long description":      {"a", "---\nname: a\ndescription: " + strings.Repeat("é", 1025) + "\n---\n", Skill{Name: "a", Description: strings.Repeat("é", 1025)}, []string{"1025 characters"}, ""},
		"list as front matter":  {"a", "---\n- name\n---\nDoes it.", Skill{Name: "a", Description: "Does it.", Body: "Does it."}, []string{"line by line", "no name", "no description"}, ""},
		"front matter unended":  {"a", "---\nname: a\ndescription: d\n\n# Text\n", Skill{}, nil, "add a line ---"},
		"nothing":               {"a", "", Skill{}, nil, "add a description"},
		"only a heading":        {"a", "---\nname: a\n---\n# Title\n", Skill{}, nil, "add a description"},
		"a name that is a path": {"a", "---\nname: ../x\ndescription: d\n---\n", Skill{}, nil, "letters, digits and hyphens"},
		"a long name":           {"a", "---\nname: " + strings.Repeat("x", 65) + "\ndescription: d\n---\n", Skill{}, nil, "1 to 64"},
		"binary":                {"a", "\x00\x01\x02", Skill{}, nil, "save it as UTF-8"},
		"too long":              {"a", strings.Repeat("x", MaxFile+1), Skill{}, nil, "files beside it"},
		"long front matter":     {"a", "---\nname: " + strings.Repeat("x", maxFront) + "\n---\n", Skill{}, nil, "move the text below"},
		"bomb of aliases":       {"a", "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b]\nname: a\ndescription: d\n---\n", Skill{Name: "a", Description: "d"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tt.folder, []byte(tt.in))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want an error with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Notes) != len(tt.notes) {
				t.Fatalf("notes %q, want %q", got.Notes, tt.notes)
			}
			for i, n := range tt.notes {
				if !strings.Contains(got.Notes[i], n) {
					t.Errorf("note %q, want %q in it", got.Notes[i], n)
				}
			}
			got.Notes = nil
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func md(name, more string) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: %s\ndescription: does %s\n---\n%s", name, name, more)}
}

// A6: every candidate has a finding with its reason; nothing vanishes.
func TestA6_EveryCandidateIsFound(t *testing.T) {
	project := fstest.MapFS{
		"deploy/SKILL.md":            md("deploy", "x"),
		"deploy/scripts/run.sh":      {Data: []byte("echo")},
		"group/inner/SKILL.md":       md("inner", "x"),
		"lower/skill.md":             md("lower", "x"),
		"both/SKILL.md":              md("both", "right"),
		"loose.md":                   {Data: []byte("words")},
		"README.md":                  {Data: []byte("words")},
		"broken/SKILL.md":            {Data: []byte("---\nname: broken\n")},
		"a/b/c/d/e/SKILL.md":         md("deep", "x"),
		"node_modules/m/SKILL.md":    md("module", "x"),
		"folder/SKILL.md/other.txt":  {Data: []byte("x")},
		"mended/SKILL.md":            {Data: []byte("---\nname: mended\ndescription: a: b\n---\n")},
		"gitignored/.gitignore":      {Data: []byte("*")},
		"gitignored/in/SKILL.md":     md("ignored-by-git", "x"),
		".hidden/SKILL.md":           md("hidden", "x"),
		"notskills/readme/words.txt": {Data: []byte("x")},
	}
	user := fstest.MapFS{"deploy/SKILL.md": md("deploy", "of the user"), "mine/SKILL.md": md("mine", "x")}
	c, err := Load(t.Context(), []Place{{"project", "/p", project}, {"user", "/u", user}, {"none", "/none", os.DirFS("/no/such/folder")}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range c.Skills {
		names = append(names, s.Name)
	}
	if want := []string{"both", "deploy", "hidden", "ignored-by-git", "inner", "lower", "mended", "mine"}; !slices.Equal(names, want) {
		t.Errorf("skills %q, want %q", names, want)
	}
	want := map[string]string{ // path → state and a word of the reason
		"/p/deploy/SKILL.md": "loaded", "/p/group/inner/SKILL.md": "loaded", "/p/lower/skill.md": "mended rename it to SKILL.md",
		"/p/both/SKILL.md": "loaded", "/p/loose.md": "rejected move it to loose/SKILL.md", "/p/broken/SKILL.md": "rejected add a line ---",
		"/p/a/b/c/d/e/SKILL.md": "rejected 4 folders deep", "/p/folder/SKILL.md": "rejected no regular file", "/p/mended/SKILL.md": "mended put quotes",
		"/p/gitignored/in/SKILL.md": "mended in a folder named in", "/p/.hidden/SKILL.md": "mended in a folder named .hidden",
		"/u/deploy/SKILL.md": "shadowed /p/deploy/SKILL.md has the same name", "/u/mine/SKILL.md": "loaded",
	}
	for _, f := range c.Findings {
		state, reason, _ := strings.Cut(want[f.Path], " ")
		if string(f.State) != state || !strings.Contains(f.Reason, reason) {
			t.Errorf("%s: %s %q, want %q", f.Path, f.State, f.Reason, want[f.Path])
		}
		delete(want, f.Path)
	}
	for p, w := range want {
		t.Errorf("%s (%s) has no finding", p, w)
	}
	if s, ok := c.Get("Deploy"); !ok || s.Place != "project" || s.Body != "x" {
		t.Errorf("deploy is %+v", s)
	}
	if got := c.Near("deplyo"); !slices.Equal(got, []string{"deploy"}) {
		t.Errorf("near %q", got)
	}
	if got := c.Rejected("loose"); len(got) != 1 || got[0].Path != "/p/loose.md" {
		t.Errorf("rejected %+v", got)
	}
}

// Links to folders are followed, wherever they lead; a link in a circle ends, one that leads nowhere is said.
func TestA6_Links(t *testing.T) {
	dir, far := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(far, File), []byte("---\nname: far\ndescription: d\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"far": far, "round": dir, "nowhere": filepath.Join(dir, "none")} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("this machine makes no links: ", err)
		}
	}
	c, err := Load(t.Context(), []Place{{"user", dir, os.DirFS(dir)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Skills) != 1 || c.Skills[0].Path != filepath.Join(dir, "far", File) {
		t.Errorf("skills %+v", c.Skills)
	}
	if !slices.ContainsFunc(c.Findings, func(f Finding) bool {
		return f.State == Rejected && f.Name == "nowhere" && strings.Contains(f.Reason, "leads to nothing")
	}) {
		t.Errorf("findings %+v", c.Findings)
	}
	if !Any(t.Context(), []Place{{"user", dir, os.DirFS(dir)}}) || Any(t.Context(), []Place{{"user", far, os.DirFS(filepath.Join(dir, "none"))}}) {
		t.Error("Any errs")
	}
}

func TestLoad_Canceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, []Place{{"p", "/p", fstest.MapFS{"a/SKILL.md": md("a", "")}}}); err == nil {
		t.Error("no error")
	}
}

// What is read has a name that can be said and shown, or is an error that says what to do.
func TestParse_Property(t *testing.T) {
	parts := []string{"---\n", "...\n", "name: a\n", "name: ", "description: ", "d\n", ": ", "\n", " ", "- x\n", "|\n", ">\n", "\"", "'", "#", "{", "[", "\t", "\r", "\uFEFF", "&a ", "*a", "allowed-tools:", "é", "\xff", "words"}
	rapid.Check(t, func(rt *rapid.T) {
		in := words.Draw(rt, parts, "---\nname: deploy\ndescription: Put it live.\nallowed-tools: [a, b]\n---\n# Text\n")
		check(rt, in)
	})
}

func check(t interface{ Fatalf(string, ...any) }, in string) {
	s, err := Parse("folder", []byte(in))
	if err != nil {
		if !strings.ContainsAny(err.Error(), ":") {
			t.Fatalf("%q: the error does not say what to do: %v", in, err)
		}
		return
	}
	if s.Name == "" || utf8.RuneCountInString(s.Name) > MaxName || plain(s.Name) != s.Name || strings.ContainsAny(s.Name, "/\\ \n") || s.Description == "" || strings.ContainsAny(s.Description, "\n\r\t") {
		t.Fatalf("%q: %+v", in, s)
	}
	if !utf8.ValidString(s.Body) || !utf8.ValidString(s.Description) {
		t.Fatalf("%q: invalid text %+v", in, s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: b: c\n---\nx")
	f.Fuzz(func(t *testing.T, in string) { check(t, in) })
}

// 500 skills are read in less than 100 ms.
func BenchmarkLoad500(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		at := filepath.Join(dir, fmt.Sprintf("skill-%d", i))
		if err := os.MkdirAll(filepath.Join(at, "scripts"), 0o700); err != nil {
			b.Fatal(err)
		}
		text := fmt.Sprintf("---\nname: skill-%d\ndescription: What skill %d is for and when to use it, in a sentence or two.\nlicense: MIT\n---\n%s", i, i, strings.Repeat("Some words of it.\n", 250))
		if err := os.WriteFile(filepath.Join(at, File), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		c, err := Load(context.Background(), []Place{{"user", dir, os.DirFS(dir)}})
		if err != nil || len(c.Skills) != 500 {
			b.Fatal(err, len(c.Skills))
		}
	}
}
