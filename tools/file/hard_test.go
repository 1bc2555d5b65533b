package file

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// shelf keeps artifacts by id.
type shelf map[string]string

func (s shelf) Put(_ context.Context, _, _, _ string, r io.Reader) (string, error) {
	b, err := io.ReadAll(r)
	id := fmt.Sprintf("a%06d", len(s))
	s[id] = string(b)
	return id, err
}

func (s shelf) Open(_ context.Context, id string) (tool.ArtifactReader, error) {
	text, ok := s[id]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return spooled{strings.NewReader(text)}, nil
}

type spooled struct{ *strings.Reader }

func (spooled) Close() error  { return nil }
func (s spooled) Size() int64 { return s.Reader.Size() }
func (spooled) Name() string  { return "output" }
func (spooled) MIME() string  { return "text/plain" }

// O8: artifact:ID is a path: it is read and copied from; what changes files says what to do instead, and makes no file of
// that name.
func TestO8_ArtifactPaths(t *testing.T) {
	w := newWorldWith(t, map[string]string{"a": "one\n"}, toolbox.Config{Artifacts: shelf{"a000one": "first\nsecond\n", "a000bin": "\xff\x00"}})
	w.holds(w.ok("read_file", args{"path": "artifact:a000one"}), "1\tfirst\n2\tsecond")
	w.holds(w.ok("read_file", args{"path": "@artifact:a000one"}), "1\tfirst")
	w.holds(w.ok("copy_file", args{"path": "artifact:a000one", "to": "deep/out.txt"}), "Copied artifact:a000one to deep/out.txt")
	w.ok("copy_file", args{"path": "artifact:a000bin", "to": "bin"})
	w.holds(w.ok("write_file", args{"path": "written", "content": "@artifact:a000one"}), "Created written (13 bytes)")
	if w.get("deep/out.txt") != "first\nsecond\n" || w.get("bin") != "\xff\x00" || w.get("written") != "first\nsecond\n" {
		t.Errorf("%q %q %q", w.get("deep/out.txt"), w.get("bin"), w.get("written"))
	}
	w.holds(w.fails("copy_file", args{"path": "artifact:a000two", "to": "x"}, tool.NotFound), "may have expired")
	w.holds(w.fails("copy_file", args{"path": "artifact:a000one", "to": "a"}, tool.OperationNotAllowed), "exists already")
	for name, a := range map[string]args{
		"edit": {"old_string": "first", "new_string": "x"}, "multi_edit": {"edits": []args{{"old_string": "", "new_string": "x"}}},
		"write_file": {"content": "x"}, "delete_file": {}, "move_file": {"to": "x"}, "list_dir": {},
	} {
		a["path"] = "artifact:a000one"
		w.holds(w.fails(name, a, tool.OperationNotAllowed), "is output that is kept to be read", "copy_file")
	}
	w.holds(w.fails("copy_file", args{"path": "a", "to": "artifact:a000one"}, tool.OperationNotAllowed), "PARAMETER: to")
	w.fails("apply_patch", args{"patch": "*** Begin Patch\n*** Add File: artifact:a000one\n+x\n*** End Patch"}, tool.OperationFailed)
	if w.get("artifact:a000one") != "<absent>" {
		t.Error("a file of that name was made")
	}
	w.put("artifact:a000one", "a real file\n")
	w.holds(w.ok("read_file", args{"path": "./artifact:a000one"}), "1\ta real file")
}

// O1, O2: one read_file call stays within what the face shows, whatever it is asked for.
func TestO2_ReadBudget(t *testing.T) {
	wide := strings.Repeat("é", 5000)
	w := newWorld(t, map[string]string{"wide": wide + "\n" + wide + "\n", "a": "one\n"}, tool.Options{})
	read := func(bytes int, a args) string {
		t.Helper()
		raw, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		res, err := w.box.Call(t.Context(), toolbox.Request{Tool: "read_file", Args: raw, Dir: w.dir, Bounds: tool.Bounds{Bytes: bytes}})
		if err != nil || len(res.Text()) > bytes {
			t.Errorf("%d bytes of %d, %v\n%.300s", len(res.Text()), bytes, err, res.Text())
		}
		return res.Text()
	}
	// A line that is wider than the face can be read to its end, piece by piece.
	seen, next := "", 1
	for range 100 {
		text := read(1000, args{"path": "wide", "offset": 1, "limit": 1, "column": next})
		row, _, _ := strings.Cut(text, "\n")
		shown, more, _ := strings.Cut(strings.TrimPrefix(row, "1\t"), " …[")
		seen += shown
		if _, err := fmt.Sscanf(more[strings.LastIndex(more, "column=")+1:], "olumn=%d]", &next); err != nil {
			break
		}
	}
	if seen != wide {
		t.Errorf("%d of %d bytes of the wide line were seen", len(seen), len(wide))
	}
	w.holds(read(1000, args{"path": "a", "column": 10}), "1\t[this line has 3 characters]")
	var missing, many []args
	for i := range MaxRanges {
		missing = append(missing, args{"path": fmt.Sprintf("missing-%0100d", i)})
		many = append(many, args{"path": "a"})
	}
	read(5000, args{"files": missing})
	w.holds(read(1000, args{"files": append(many[:1:1], append([]args{{"path": "wide"}}, missing[:50]...)...)}), "Not read, because this call is full: ", " more. Read them")
	w.holds(w.fails("read_file", args{"files": append(many, args{"path": "a"})}, tool.LimitExceeded), "one call reads up to 200")
	w.holds(w.fails("read_file", args{"files": []args{{"path": "wide", "offset": 9}, {"path": "wide", "offset": 8}}}, tool.InvalidParameter), "none of the 2")
}

// O9: pictures of one call together stay within what a provider takes.
func TestO9_ManyPictures(t *testing.T) {
	var pic bytes.Buffer
	if err := png.Encode(&pic, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, map[string]string{"p.png": pic.String(), "d.pdf": pdf(3) + strings.Repeat("x", 3_000_000)}, tool.Options{})
	var files []args
	for range 30 {
		files = append(files, args{"path": "p.png"})
	}
	res := w.call("read_file", args{"files": files})
	if n := len(res.Parts) - 1; n != maxPictures || !strings.Contains(res.Text(), "no room for it") {
		t.Errorf("%d pictures: %.200s", n, res.Text())
	}
	for i := range files {
		files[i] = args{"path": "d.pdf"}
	}
	res = w.call("read_file", args{"files": files})
	total := 0
	for _, p := range res.Parts {
		total += len(p.Data)
	}
	if total == 0 || total > maxMedia {
		t.Errorf("%d bytes of media", total)
	}
}

// endless is a host on which a file that claims to be empty has no end, as some files of the system.
type endless struct{ host.Host }

func (h endless) Open(ctx context.Context, real string) (host.File, error) {
	f, err := h.Host.Open(ctx, real)
	if err == nil && filepath.Base(real) == "endless" {
		return endlessFile{f}, nil
	}
	return f, err
}

type endlessFile struct{ host.File }

func (endlessFile) Read(p []byte) (int, error) { return len(p), nil }

func TestEndlessFiles(t *testing.T) {
	w := newWorld(t, map[string]string{"endless": ""}, tool.Options{})
	if _, err := readAll(t.Context(), endless{w.host}, filepath.Join(w.dir, "endless"), 1<<20); err == nil || !strings.Contains(err.Error(), "does not end") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readAll(ctx, endless{w.host}, filepath.Join(w.dir, "endless"), 1<<40); err == nil {
		t.Error("reading does not end with its context")
	}
	if _, err := digestOf(ctx, endless{w.host}, filepath.Join(w.dir, "endless")); err == nil {
		t.Error("hashing does not end with its context")
	}
}

// F9, F12: a file is known under the name by which it was addressed and by its own; a foreign change is seen through a
// link as well, and the session's own never counts as foreign.
func TestF9_Links(t *testing.T) {
	w := newWorld(t, map[string]string{"real": "one\n", "sub/x": "x"}, tool.Options{RequireRead: true})
	if err := os.Symlink("real", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	w.fails("edit", args{"path": "link", "old_string": "one", "new_string": "two"}, tool.OperationNotAllowed)
	w.ok("read_file", args{"path": "link"})
	w.ok("edit", args{"path": "real", "old_string": "one", "new_string": "two"})
	w.ok("edit", args{"path": "sub/../link", "old_string": "two", "new_string": "three"})
	w.ok("edit", args{"path": filepath.Join(w.dir, "real"), "old_string": "three", "new_string": "four"})
	w.put("real", "foreign\n")
	for _, name := range []string{"real", "link", "./link"} {
		w.fails("edit", args{"path": name, "old_string": "foreign", "new_string": "x"}, tool.Stale)
		w.fails("write_file", args{"path": name, "content": "x"}, tool.Stale)
	}
	free := newWorld(t, map[string]string{"real": "one\n"}, tool.Options{})
	if err := os.Symlink("real", filepath.Join(free.dir, "link")); err != nil {
		t.Fatal(err)
	}
	free.ok("read_file", args{"path": "link"})
	free.put("real", "foreign\n")
	free.fails("write_file", args{"path": "real", "content": "lost update"}, tool.Stale)
	if got := free.get("real"); got != "foreign\n" {
		t.Errorf("%q", got)
	}
}

// P6: what a session may not read it is not told by the errors of tools that change files, nor by a copy, nor by the
// guess of a name. Asking counts as not telling.
func TestP6_PrivateFiles(t *testing.T) {
	const secret = "KEY=s3cr3t-value"
	files := map[string]string{".env": secret + "\nOTHER=1\n", "keep/notes.txt": secret + "\n", "dir/.env": secret + "\n", "dir/plain": "p\n", "a": "one\n"}
	deny := permission.Rule{Permission: "read_file", Pattern: "keep/**", Action: tool.Deny}
	probes := func(path string) map[string]args {
		return map[string]args{
			"edit":        {"path": path, "old_string": "KEY=s3cr3t-valuX", "new_string": "y"},
			"multi_edit":  {"path": path, "edits": []args{{"old_string": "KEY=s3cr3t-valuX", "new_string": "y"}}},
			"apply_patch": {"patch": "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** Update File: " + path + "\n@@\n-KEY=s3cr3t-valuX\n+y\n*** End Patch"},
		}
	}
	for _, path := range []string{".env", "keep/notes.txt"} {
		w := newWorldWith(t, files, toolbox.Config{}, deny)
		before := w.tree()
		for name, a := range probes(path) {
			res := w.call(name, a)
			if res.OK() || res.Denied == nil || strings.Contains(res.Text(), "s3cr3t-value") {
				t.Errorf("%s %s: %s", name, path, res.Text())
			}
		}
		if res := w.call("copy_file", args{"path": filepath.Dir(path), "to": "../copy"}); path != ".env" && (res.Denied == nil || w.tree() != before) {
			t.Errorf("copy of the folder of %s: %s", path, res.Text())
		}
		if res := w.call("copy_file", args{"path": path, "to": "copy"}); res.Denied == nil || w.get("copy") != "<absent>" {
			t.Errorf("copy of %s: %s", path, res.Text())
		}
	}
	w := newWorldWith(t, files, toolbox.Config{}, deny)
	if res := w.call("copy_file", args{"path": "dir", "to": "copy"}); res.Denied == nil || !strings.Contains(res.Text(), ".env") || w.get("copy/.env") != "<absent>" {
		t.Errorf("copy of a folder with a private file: %s", res.Text())
	}
	if res := w.call("edit", args{"path": "keep/notes.txt", "old_string": "KEY=", "new_string": "K="}); res.Denied == nil || w.get("keep/notes.txt") != secret+"\n" {
		t.Errorf("an edit finds out what it may not read: %s", res.Text())
	}
	if text := w.fails("read_file", args{"path": ".en"}, tool.NotFound); strings.Contains(text, "Did you mean") {
		t.Errorf("a private name: %s", text)
	}

	// With a person there, reading and changing are decided one after the other.
	var asked []string
	w = newWorldWith(t, files, toolbox.Config{Answerer: answerer(func(a toolbox.Asked) tool.Decision {
		asked = append(asked, a.Intent.Permission)
		return tool.Decision{Verdict: tool.Allow, By: "person", Person: true, Fingerprint: a.Intent.Fingerprint}
	})})
	w.holds(w.fails("edit", probes(".env")["edit"], tool.NotFound), "s3cr3t-value")
	w.ok("copy_file", args{"path": ".env", "to": "copy"})
	if w.get("copy") != files[".env"] || len(asked) == 0 || asked[0] != tool.ReadPermission {
		t.Errorf("asked for %q, copy %q", asked, w.get("copy"))
	}
}

type answerer func(toolbox.Asked) tool.Decision

func (f answerer) Answer(_ context.Context, a toolbox.Asked) (tool.Decision, error) { return f(a), nil }

// P6, P7: a folder moves with what is in it: a rule or guard for a file in it holds for the folder.
func TestP6_MovedFolders(t *testing.T) {
	w := newWorldWith(t, map[string]string{"d/plain": "p", "e/sub/keep": "k", "f/.vscode/tasks.json": "{}"}, toolbox.Config{},
		permission.Rule{Permission: "edit", Pattern: "e/sub/keep", Action: tool.Deny})
	w.ok("move_file", args{"path": "d", "to": "d2"})
	before := w.tree()
	for _, dir := range []string{"e", "f"} {
		if res := w.call("move_file", args{"path": dir, "to": "moved"}); res.Denied == nil {
			t.Errorf("%s: %s", dir, res.Text())
		}
	}
	if w.tree() != before {
		t.Error("something moved")
	}
}

// A name in a listing is one name: it cannot look like another row.
func TestF8_OddNames(t *testing.T) {
	w := newWorld(t, map[string]string{"a\nb": "", "bad\xff": "", "rtl\u202egpj.exe": "", "plain é": ""}, tool.Options{})
	text := w.ok("list_dir", args{"path": "."})
	w.holds(text, `"a\nb" 0 B`, `"bad\xff" 0 B`, `"rtl\u202egpj.exe"`, "\n  plain é 0 B")
	if n := strings.Count(text, "\n"); n != 4 {
		t.Errorf("%d rows:\n%s", n, text)
	}
}

// Where a folder is in the way, the error says how to put something into it.
func TestIntoFolders(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "one", "d/": ""}, tool.Options{})
	for _, name := range []string{"move_file", "copy_file"} {
		w.holds(w.fails(name, args{"path": "a", "to": "d"}, tool.OperationNotAllowed), "to=d/a")
		w.holds(w.fails(name, args{"path": "a", "to": "x\x00y"}, tool.InvalidParameter), "PARAMETER: to")
	}
}

// oddPaths are spellings that tools have to survive.
var oddPaths = []string{"", " ", ".", "..", "/", "//", "../..", "a", "./a", "a/", "a/x", "a/..", "d", "d/", "d/..", "d/sub", "none", "none/deep/x", "link", "dangling", "loop", "loop/x", "dlink/b", "dlink/new",
	"fifo", "~", "~/none", "~x", "a\x00b", strings.Repeat("x", 300), strings.Repeat("d/", 3000), "artifact:zz", "@artifact:zz", "é", "e\u0301", "-rf", "a\nb", "*", "unreadable", "sealed/x", "sealed/y", "bin"}

// Whatever paths and texts a call names: it is no fault, its failure says what to do next, and a failed call changes nothing.
func TestOddCalls(t *testing.T) {
	tools := map[string]func(t *rapid.T, path, other string) args{
		"read_file": func(t *rapid.T, p, o string) args {
			return args{"files": []args{{"path": p, "offset": rapid.IntRange(1, 3).Draw(t, "n")}, {"path": o}}}
		},
		"edit": func(t *rapid.T, p, o string) args {
			return args{"path": p, "old_string": rapid.SampledFrom([]string{"", "one", "two", o}).Draw(t, "old"), "new_string": "NEW"}
		},
		"multi_edit": func(_ *rapid.T, p, o string) args {
			return args{"path": p, "edits": []any{args{"old_string": "one", "new_string": o}, 7, o, nil}}
		},
		"write_file": func(_ *rapid.T, p, o string) args { return args{"path": p, "content": o} },
		"delete_file": func(t *rapid.T, p, _ string) args {
			return args{"path": p, "recursive": rapid.Bool().Draw(t, "recursive")}
		},
		"move_file": func(_ *rapid.T, p, o string) args { return args{"path": p, "to": o} },
		"copy_file": func(_ *rapid.T, p, o string) args { return args{"path": p, "to": o} },
		"list_dir":  func(_ *rapid.T, p, _ string) args { return args{"path": p} },
		"apply_patch": func(t *rapid.T, p, o string) args {
			a := []string{"*** Add File: " + p + "\n+x", "*** Add File: " + o + "\n+x", "*** Add File: " + p + "/below\n+x", "*** Delete File: " + p, "*** Update File: " + p + "\n@@\n-one\n+two",
				"*** Update File: " + p + "\n*** Move to: " + o + "\n@@\n-one\n+two", "*** Update File: " + o + "\n*** Move to: " + p + "/deep\n@@\n-one\n+two"}
			return args{"patch": "*** Begin Patch\n" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(a), 1, 4).Draw(t, "sections"), "\n") + "\n*** End Patch"}
		},
	}
	names := []string{"read_file", "edit", "multi_edit", "write_file", "delete_file", "move_file", "copy_file", "list_dir", "apply_patch"}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, map[string]string{"a": "one\n", "d/b": "b", "d/sub/c": "c", "bin": "a\x00b", "sealed/x": "one\n", "unreadable": "one\n", "é": "one\n"}, tool.Options{})
		for from, to := range map[string]string{"link": "a", "dangling": "nowhere/at/all", "loop": "loop", "dlink": "d"} {
			if err := os.Symlink(to, filepath.Join(w.dir, from)); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(filepath.Join(w.dir, "fifo"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(w.dir, "unreadable"), 0); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(w.dir, "sealed"), 0o555); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Chmod(filepath.Join(w.dir, "sealed"), 0o755) }()
		for range 6 {
			name := rapid.SampledFrom(names).Draw(rt, "tool")
			a := tools[name](rt, rapid.SampledFrom(oddPaths).Draw(rt, "path"), rapid.SampledFrom(oddPaths).Draw(rt, "other"))
			raw, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			before := w.tree()
			res, err := w.box.Call(t.Context(), toolbox.Request{Tool: name, Args: raw, Session: "s", Dir: w.dir})
			switch {
			case err != nil:
				rt.Fatalf("%s %s: fault: %v", name, raw, err)
			case res.OK():
			case res.Err.Message == "" || res.Err.Hint == "" && res.Err.Expected == "":
				rt.Fatalf("%s %s: does not say what to do next:\n%s", name, raw, res.Text())
			case res.Err.Code == tool.ExecutionFailed:
				rt.Fatalf("%s %s: an error that nobody thought of:\n%s", name, raw, res.Text())
			case len(res.Text()) > 60_000:
				rt.Fatalf("%s: %d bytes", name, len(res.Text()))
			case w.tree() != before:
				rt.Fatalf("%s %s: failed and changed something:\n%s\nbefore\n%s\nafter\n%s", name, raw, res.Text(), before, w.tree())
			}
		}
	})
}

// Arguments of many megabytes are answered in time, and their failures stay readable. (The time is for the race detector
// on a slow machine; what is quadratic would take hours.)
func TestHugeArguments(t *testing.T) {
	line := "some text that stands in many lines of the file\n"
	huge, large := strings.Repeat(line, 10<<20/len(line)), strings.Repeat(line, 1<<20/len(line))
	w := newWorld(t, map[string]string{"a": "one\ntwo\n", "big": large}, tool.Options{})
	begin := time.Now()
	w.ok("write_file", args{"path": "w", "content": huge})
	w.fails("edit", args{"path": "a", "old_string": large, "new_string": "x"}, tool.NotFound)
	w.fails("edit", args{"path": "big", "old_string": strings.Repeat("some other text that stands nowhere\n", 10000), "new_string": "x"}, tool.NotFound)
	w.fails("edit", args{"path": "big", "old_string": line, "new_string": "x"}, tool.InvalidParameter)
	w.fails("multi_edit", args{"path": "a", "edits": []args{{"old_string": large, "new_string": "x"}, {"old_string": "two", "new_string": "two"}}}, tool.OperationFailed)
	w.fails("apply_patch", args{"patch": huge}, tool.InvalidParameter)
	w.fails("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: a\n@@\n-" + strings.ReplaceAll(large, "\n", "\n-") + "\n*** End Patch"}, tool.NotFound)
	w.ok("edit", args{"path": "big", "old_string": line, "new_string": "x\n", "replace_all": true})
	for _, name := range []string{"read_file", "delete_file", "list_dir"} {
		if res := w.call(name, args{"path": huge}); res.OK() || len(res.Text()) > 2000 || len(res.Err.Message) > 2000 {
			t.Errorf("%s: %d bytes of text", name, len(res.Text()))
		}
	}
	if took := time.Since(begin); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
}

// A link is meant itself, however its path is spelled: delete and move never reach what it points to.
func TestLinksThemselves(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", base)
	w := newWorld(t, map[string]string{"target": "precious\n", "d/inner": "x"}, tool.Options{})
	rel, err := filepath.Rel(base, w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, spelled := range []string{"ln", "./ln", "d/../ln", filepath.Join(w.dir, "ln"), filepath.Join(w.dir, "ln") + "/", "dl/../ln", "~/" + rel + "/ln"} {
		for _, to := range []string{"target", "ln", "nowhere", "d"} {
			if err := os.Symlink(to, filepath.Join(w.dir, "ln")); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				w.ok("delete_file", args{"path": spelled})
			} else {
				w.ok("move_file", args{"path": spelled, "to": "moved"})
				if got, err := os.Readlink(filepath.Join(w.dir, "moved")); err != nil || got != to {
					t.Errorf("%s -> %s: moved %q, %v", spelled, to, got, err)
				}
				w.ok("delete_file", args{"path": "moved"})
			}
			if _, err := os.Lstat(filepath.Join(w.dir, "ln")); err == nil || w.get("target") != "precious\n" || w.get("d/inner") != "x" {
				t.Fatalf("%s -> %s: the link %v, target %q", spelled, to, err, w.get("target"))
			}
		}
	}
}

// A folder that cannot be read whole is not half deleted or copied, and the error names the entry.
func TestTreesWithTrouble(t *testing.T) {
	w := newWorld(t, map[string]string{"d/a": "a", "d/sub/b": "b"}, tool.Options{})
	if err := syscall.Mkfifo(filepath.Join(w.dir, "d/sub/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := w.tree()
	w.holds(w.fails("delete_file", args{"path": "d", "recursive": true}, tool.OperationNotAllowed), "d/sub/fifo is a fifo")
	w.holds(w.fails("copy_file", args{"path": "d", "to": "e"}, tool.OperationNotAllowed), "d/sub/fifo is a fifo")
	if w.tree() != before {
		t.Error("something changed")
	}
	w.ok("move_file", args{"path": "d", "to": "e/f"}) // a rename needs to read nothing
	if w.get("e/f/sub/b") != "b" {
		t.Errorf("%s", w.tree())
	}
	many := filepath.Join(w.dir, "many")
	if err := os.Mkdir(many, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range MaxTree + 1 {
		if err := os.Symlink("x", filepath.Join(many, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	w.holds(w.fails("delete_file", args{"path": "many", "recursive": true}, tool.LimitExceeded), "more than 10000 entries", "subfolders")
	w.holds(w.fails("copy_file", args{"path": "many", "to": "copy"}, tool.LimitExceeded), "nothing was changed")
	if entries, err := os.ReadDir(many); err != nil || len(entries) != MaxTree+1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&walker{ctx: ctx, call: &tool.Call{Host: w.host}}).walk(host.Path{Abs: many, Real: many}); err == nil {
		t.Error("walking does not end with its context")
	}
}

// A file that vanishes or changes between the plan and the run: the call is planned again, and says what it finds.
func TestBetweenPlanAndRun(t *testing.T) {
	for name, tt := range map[string]struct {
		between func(w *world)
		tool    string
		a       args
		code    tool.Code // "" for success
		want    map[string]string
	}{
		"edit, changed elsewhere": {func(w *world) { w.put("a", "one\ntwo\nfar\n") }, "edit", args{"path": "a", "old_string": "one", "new_string": "1"}, "", map[string]string{"a": "1\ntwo\nfar\n"}},
		"edit, changed there":     {func(w *world) { w.put("a", "uno\ntwo\n") }, "edit", args{"path": "a", "old_string": "one", "new_string": "1"}, tool.NotFound, map[string]string{"a": "uno\ntwo\n"}},
		"edit, vanished":          {func(w *world) { w.drop("a") }, "edit", args{"path": "a", "old_string": "one", "new_string": "1"}, tool.NotFound, map[string]string{"a": "<absent>"}},
		"edit, a link now":        {func(w *world) { w.drop("a"); w.link("b", "a") }, "edit", args{"path": "a", "old_string": "one", "new_string": "1"}, tool.NotFound, map[string]string{"b": "other\n"}},
		"write, appeared":         {func(w *world) { w.put("n", "foreign\n") }, "write_file", args{"path": "n", "content": "ours\n"}, "", map[string]string{"n": "ours\n"}},
		"write, folder vanished":  {func(w *world) { w.drop("d/x"); w.drop("d") }, "write_file", args{"path": "d/x", "content": "ours\n"}, "", map[string]string{"d/x": "ours\n"}},
		"write, a folder now":     {func(w *world) { w.drop("a"); w.put("a/below", "x") }, "write_file", args{"path": "a", "content": "ours\n"}, tool.InvalidParameter, map[string]string{"a/below": "x"}},
		"delete, changed":         {func(w *world) { w.put("a", "foreign\n") }, "delete_file", args{"path": "a"}, "", map[string]string{"a": "<absent>"}},
		"delete, something new":   {func(w *world) { w.put("d/new", "n") }, "delete_file", args{"path": "d", "recursive": true}, tool.Stale, map[string]string{"d/new": "n", "d/x": "x"}},
		"move, goal taken":        {func(w *world) { w.put("n", "foreign\n") }, "move_file", args{"path": "a", "to": "n"}, tool.OperationNotAllowed, map[string]string{"n": "foreign\n", "a": "one\ntwo\n"}},
		"copy, goal taken":        {func(w *world) { w.put("n", "foreign\n") }, "copy_file", args{"path": "a", "to": "n"}, tool.OperationNotAllowed, map[string]string{"n": "foreign\n"}},
		"read, vanished":          {func(w *world) { w.drop("a") }, "read_file", args{"path": "a"}, tool.NotFound, nil},
		"read, a fifo now":        {func(w *world) { w.drop("a"); w.fifo("a") }, "read_file", args{"path": "a"}, tool.InvalidParameter, nil},
		"read, a link now":        {func(w *world) { w.drop("a"); w.link("b", "a") }, "read_file", args{"path": "a"}, tool.Stale, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a": "one\ntwo\n", "b": "other\n", "d/x": "x"}, tool.Options{})
			raw, err := json.Marshal(tt.a)
			if err != nil {
				t.Fatal(err)
			}
			p, err := w.box.Plan(t.Context(), toolbox.Request{Tool: tt.tool, Args: raw, Session: "s", Dir: w.dir})
			if err != nil || p.Err != nil {
				t.Fatal(err, p.Err)
			}
			tt.between(w)
			res, err := w.box.Run(t.Context(), p, tool.Decision{Verdict: tool.Allow})
			if err != nil {
				t.Fatal(err)
			}
			if code := ""; res.Err != nil && string(res.Err.Code) != string(tt.code) || res.Err == nil && string(tt.code) != code {
				t.Errorf("want code %q: %s", tt.code, res.Text())
			}
			for name, want := range tt.want {
				if got := w.get(name); got != want {
					t.Errorf("%s: %q, want %q (%s)", name, got, want, res.Text())
				}
			}
		})
	}
}

func (w *world) drop(name string) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(to, name string) {
	w.t.Helper()
	if err := os.Symlink(to, filepath.Join(w.dir, name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) fifo(name string) {
	w.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(w.dir, name), 0o644); err != nil {
		w.t.Fatal(err)
	}
}
