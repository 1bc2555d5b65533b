package change

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPreview(t *testing.T) {
	long := strings.Repeat("line\n", 200)
	for _, c := range []struct {
		name    string
		set     *Set
		diff    string
		summary string
	}{
		{"empty", nil, "", " 0 files changed\n"},
		{"edit", set(Replace("/w/dir/a.txt", file("1\n2\n3\n"), []byte("1\nX\n3\n"))),
			"diff --git a/dir/a.txt b/dir/a.txt\n--- a/dir/a.txt\n+++ b/dir/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+X\n 3\n",
			" dir/a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n"},
		{"create and delete", set(Create("/w/new", []byte("x"), 0o755), Op{Kind: Delete, Path: "/w/old", Before: file("p\nq\n")}),
			"diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n" +
				"diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-p\n-q\n",
			" new | 1 +\n old | 2 --\n 2 files changed, 1 insertion(+), 2 deletions(-)\n create mode 100755 new\n delete mode 100644 old\n"},
		{"empty file", set(Create("/w/e", nil, 0)), "diff --git a/e b/e\nnew file mode 100644\n",
			" e | 0\n 1 file changed, 0 insertions(+), 0 deletions(-)\n create mode 100644 e\n"},
		{"move", set(Op{Kind: Move, Path: "/w/a", To: "/w/b c", Before: State{Type: File, Mode: 0o644, Blob: KnownBlob(Sum(nil), 7)}}),
			"diff --git a/a b/b c\nrename from a\nrename to b c\n",
			" a => b c | 0\n 1 file changed, 0 insertions(+), 0 deletions(-)\n rename a => b c\n"},
		{"move and edit", set(Op{Kind: Delete, Path: "/w/a", Before: file("1\n2\n3\n")}, Create("/w/b", []byte("1\n2\n4\n"), 0o644)),
			"diff --git a/a b/b\nrename from a\nrename to b\n--- a/a\n+++ b/b\n@@ -1,3 +1,3 @@\n 1\n 2\n-3\n+4\n",
			" a => b | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n rename a => b\n"},
		{"rename of equal content anywhere", set(Op{Kind: Delete, Path: "/w/a", Before: file("x\n")}, Create("/w/k", []byte("k"), 0o644), Create("/w/b", []byte("x\n"), 0o755)),
			"diff --git a/k b/k\nnew file mode 100644\n--- /dev/null\n+++ b/k\n@@ -0,0 +1 @@\n+k\n\\ No newline at end of file\n" +
				"diff --git a/a b/b\nold mode 100644\nnew mode 100755\nrename from a\nrename to b\n",
			" k      | 1 +\n a => b | 0\n 2 files changed, 1 insertion(+)\n create mode 100644 k\n rename a => b\n"},
		{"mode", set(Op{Kind: Chmod, Path: "/w/x", Before: file("x"), After: FileState([]byte("x"), 0o755)},
			Op{Kind: Chmod, Path: "/w/y", Before: file("x"), After: FileState([]byte("x"), 0o600)}),
			"diff --git a/x b/x\nold mode 100644\nnew mode 100755\ndiff --git a/y b/y\nold mode 100644\nnew mode 100600\n",
			" x | 0\n y | 0\n 2 files changed, 0 insertions(+), 0 deletions(-)\n mode change 100644 => 100755 x\n mode change 100644 => 100600 y\n"},
		{"link and type", set(Op{Kind: Write, Path: "/w/l", After: link("t")}, Op{Kind: Write, Path: "/w/t", Before: file("x\n"), After: link("l")}),
			"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+t\n\\ No newline at end of file\n" +
				"diff --git a/t b/t\ndeleted file mode 100644\n--- a/t\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
				"diff --git a/t b/t\nnew file mode 120000\n--- /dev/null\n+++ b/t\n@@ -0,0 +1 @@\n+l\n\\ No newline at end of file\n",
			" l | 1 +\n t | 2 +-\n 2 files changed, 2 insertions(+), 1 deletion(-)\n create mode 120000 l\n mode change 100644 => 120000 t\n"},
		{"directories", set(Op{Kind: Mkdir, Path: "/w/d", After: dir(0o755)}, Op{Kind: Mkdir, Path: "/w/e", Before: dir(0o755), After: dir(0o755)}),
			"", " 0 files changed\n create directory d/\n"},
		{"binary", set(Replace("/w/b", file("\x00\x01"), []byte("abc"))),
			"diff --git a/b b/b\nBinary files a/b and b/b differ\n(binary: 2 bytes before, 3 after)\n",
			" b | Bin 2 -> 3 bytes\n 1 file changed, 0 insertions(+), 0 deletions(-)\n"},
		{"content not held", set(Replace("/w/b", State{Type: File, Mode: 0o644, Blob: KnownBlob(Sum([]byte("zz")), 2)}, []byte("abc"))),
			"diff --git a/b b/b\nBinary files a/b and b/b differ\n(content not held: 2 bytes before, 3 after)\n",
			" b | ? 2 -> 3 bytes\n 1 file changed, 0 insertions(+), 0 deletions(-)\n"},
		{"utf-16", set(Replace("/w/u", file("\xff\xfea\x00\n\x00"), []byte("\xff\xfeb\x00\n\x00"))),
			"diff --git a/u b/u\n--- a/u\n+++ b/u\n@@ -1 +1 @@\n-a\n+b\n",
			" u | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n"},
		{"utf-16 becomes utf-8", set(Replace("/w/u", file("\xfe\xff\x00a\x00\n"), []byte("a\n"))),
			"diff --git a/u b/u\n(only the encoding differs: 6 bytes before, 2 after)\n",
			" u | 0\n 1 file changed, 0 insertions(+), 0 deletions(-)\n"},
		{"no change", set(Replace("/w/b", file("x"), []byte("x"))), "", " 0 files changed\n"},
		{"outside, odd names", set(Create("/other/a", []byte("x\n"), 0), Create("/w/ta\tb\"\u202e", []byte("x\n"), 0)),
			"diff --git a//other/a b//other/a\nnew file mode 100644\n--- /dev/null\n+++ b//other/a\n@@ -0,0 +1 @@\n+x\n" +
				"diff --git \"a/ta\\tb\\\"\\342\\200\\256\" \"b/ta\\tb\\\"\\342\\200\\256\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/ta\\tb\\\"\\342\\200\\256\"\n@@ -0,0 +1 @@\n+x\n",
			" /other/a              | 1 +\n \"ta\\tb\\\"\\342\\200\\256\" | 1 +\n 2 files changed, 2 insertions(+)\n create mode 100644 /other/a\n create mode 100644 \"ta\\tb\\\"\\342\\200\\256\"\n"},
		{"wide bar", set(Create("/w/a", []byte(long), 0), Create("/w/b", []byte("x\n"), 0)), "-",
			" a | 200 " + strings.Repeat("+", 70) + "\n b |   1 +\n 2 files changed, 201 insertions(+)\n create mode 100644 a\n create mode 100644 b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.set.Preview("/w", PreviewOptions{})
			if d := cmp.Diff(c.diff, p.Diff); d != "" && c.diff != "-" {
				t.Errorf("diff (-want +got)\n%s", d)
			}
			if d := cmp.Diff(c.summary, p.Summary()); d != "" {
				t.Errorf("summary (-want +got)\n%s", d)
			}
			data, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			var back Preview
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(p, back); d != "" {
				t.Errorf("JSON round trip of %s (-want +got)\n%s", data, d)
			}
		})
	}
}

// D6: counts that are not available are absent, never 0.
func TestD6_CountsAbsent(t *testing.T) {
	p := set(Replace("/w/b", file("\x00"), []byte("abc"))).Preview("/w", PreviewOptions{})
	data, _ := json.Marshal(p.Files[0])
	want := `{"path":"b","status":"M","lineCountsAvailable":false,"binary":true,"oldSize":1,"newSize":3,"oldMode":"100644","newMode":"100644"}`
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Error(d)
	}
}

func TestPreviewRoots(t *testing.T) {
	for _, c := range []struct{ root, path, want string }{
		{"/w", "/w/a/b", "a/b"},
		{"/", "/w/a", "w/a"},
		{"/w", "/wx/a", "/wx/a"},
		{"", "/w/a", "/w/a"},
		{"/w", "/w", "/w"},
		{"/w", `/w/a\b`, `a\b`},
		{`C:\w`, `C:\w\a\b`, "a/b"},
	} {
		v := viewer{root: c.root}
		if got := v.rel(c.path); got != c.want {
			t.Errorf("rel(%q, %q) = %q, want %q", c.root, c.path, got, c.want)
		}
	}
}

// The diff of a preview of text, links and modes is what git apply takes.
func TestPreviewAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test compares with git, which is not installed")
	}
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		if n++; n > 40 { // a process each; the table above holds the forms
			return
		}
		before := genTextWorld(r)
		set := genSet(r, before, genText)
		after := before.commit(r, set)
		root := t.TempDir()
		before.write(t, root)
		text := set.Preview("/w", PreviewOptions{Context: rapid.IntRange(1, 4).Draw(r, "context")}).Diff
		if text != "" {
			cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
			cmd.Dir, cmd.Stdin = root, strings.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil {
				r.Fatalf("git apply: %v\n%s\n%s", err, out, text)
			}
		}
		if d := cmp.Diff(after.gitView(), readTree(t, root)); d != "" {
			r.Fatalf("git made something else (-want +got)\n%s\n%s", d, text)
		}
	})
}

// genTextWorld draws files and links; git keeps no directories and only one bit of a mode.
func genTextWorld(t *rapid.T) tree {
	w := tree{}
	for _, p := range paths {
		if rapid.IntRange(0, 3).Draw(t, "there") > 0 {
			w[p] = genText(t)
		}
	}
	return w
}

func genText(t *rapid.T) State {
	if rapid.IntRange(0, 3).Draw(t, "link") == 0 {
		return link("t")
	}
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "c\r\n"}), 0, 12).Draw(t, "lines")
	text := strings.Join(lines, "") + rapid.SampledFrom([]string{"", "end"}).Draw(t, "end")
	return FileState([]byte(text), rapid.SampledFrom([]fs.FileMode{0o644, 0o755}).Draw(t, "mode"))
}

func (w tree) write(t *testing.T, root string) {
	for p, s := range w {
		p = filepath.Join(root, strings.TrimPrefix(p, "/w/"))
		data, _ := s.Blob.Bytes()
		err := error(nil)
		if s.Type == Symlink {
			err = os.Symlink(s.Target, p)
		} else {
			err = os.WriteFile(p, data, s.Mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// gitView is what git can know of a tree, by relative path.
func (w tree) gitView() map[string]string {
	out := map[string]string{}
	for p, s := range w {
		data, _ := s.Blob.Bytes()
		switch p = strings.TrimPrefix(p, "/w/"); s.Type {
		case Symlink:
			out[p] = "link " + s.Target
		case File:
			out[p] = gitMode(s.Mode, false) + " " + string(data)
		}
	}
	return out
}

func readTree(t *testing.T, root string) map[string]string {
	out := map[string]string{}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		p := filepath.Join(root, e.Name())
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(p)
			out[e.Name()] = "link " + target
			continue
		}
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = gitMode(info.Mode(), false) + " " + string(data)
	}
	return out
}

func BenchmarkPreview(b *testing.B) {
	old := bytes.Repeat([]byte("a line of some file with a few words\n"), 1<<20/37)
	edited := bytes.Replace(old, []byte("some"), []byte("this"), 1)
	b.SetBytes(int64(len(old)))
	before := FileState(old, 0o644)
	before.Blob.Digest()
	for b.Loop() {
		set(Replace("/w/a", before, edited)).Preview("/w", PreviewOptions{})
	}
}
