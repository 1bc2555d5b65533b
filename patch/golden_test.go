package patch

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tackle-dev/tackle/change"
)

var update = flag.Bool("update", false, "write the golden files anew")

// world is a file system in memory below /w. It is a Source and carries out sets.
type world map[string]change.State

const root = "/w"

func (w world) Read(p string, follow bool) (string, change.State, error) {
	if strings.HasPrefix(p, "forbidden") {
		return "", change.State{}, errors.New("permission denied")
	}
	abs := p
	if !path.IsAbs(p) {
		abs = path.Join(root, p)
	}
	for follow && w[abs].Type == change.Symlink {
		abs = path.Join(path.Dir(abs), w[abs].Target)
	}
	return abs, w[abs], nil
}

// commit carries out a set as a host must, and fails where an operation does not find what it expects.
func (w world) commit(s *change.Set) (world, error) {
	out := world{}
	for p, st := range w {
		out[p] = st
	}
	for _, op := range s.Ops {
		if !out[op.Path].Equal(op.Before) {
			return nil, fmt.Errorf("%s %s: is not what the operation expects", op.Kind, op.Path)
		}
		switch op.Kind {
		case change.Delete:
			delete(out, op.Path)
		case change.Move:
			if out[op.To].Type != change.Absent {
				return nil, fmt.Errorf("move to %s: exists", op.To)
			}
			out[op.To] = out[op.Path]
			delete(out, op.Path)
		default:
			out[op.Path] = op.After
		}
	}
	return out, nil
}

// In the txtar files ‹0D› stands for the byte 0D, ‹BOM› for a byte order mark, and ‹END› at the end of a file says that its
// last line has no line feed.
var escape = regexp.MustCompile(`‹(BOM|[0-9A-F]{2})›`)

func unescape(b []byte) string {
	s := strings.TrimSuffix(string(b), "‹END›\n")
	return escape.ReplaceAllStringFunc(s, func(m string) string {
		code := strings.TrimSuffix(strings.TrimPrefix(m, "‹"), "›")
		if code == "BOM" {
			return "\xef\xbb\xbf"
		}
		n, _ := strconv.ParseUint(code, 16, 8)
		return string([]byte{byte(n)})
	})
}

func escaped(s string) []byte {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0xFEFF:
			b.WriteString("‹BOM›")
		case r == utf8.RuneError && n == 1, r < ' ' && r != '\n' && r != '\t':
			fmt.Fprintf(&b, "‹%02X›", s[i])
		default:
			b.WriteRune(r)
		}
		i += n
	}
	if s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteString("‹END›\n")
	}
	return []byte(b.String())
}

// TestGolden runs testdata/*.txtar. The first lines of a file say which rule it is about; lines of the form "key: value"
// among them are directives: mode PATH OCTAL, link PATH TARGET, dir PATH, hunks N,…, option NAME. Then come the patch, the
// files before (in/) and, written by -update, what the plan says (want) and the files after (out/).
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 60 {
		t.Fatalf("found %d cases (%v); the harness is broken", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { golden(t, name) })
	}
}

func golden(t *testing.T, name string) {
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	w, opt := world{}, Options{}
	var text, want string
	wantFiles := map[string]string{}
	for _, f := range ar.Files {
		switch p, in := strings.CutPrefix(f.Name, "in/"); {
		case in:
			w[path.Join(root, p)] = change.FileState([]byte(unescape(f.Data)), 0o644)
		case f.Name == "patch":
			text = unescape(f.Data)
		case f.Name == "want":
			want = string(f.Data)
		default:
			wantFiles[strings.TrimPrefix(f.Name, "out/")] = unescape(f.Data)
		}
	}
	directives(t, string(ar.Comment), w, &opt)
	got, after := outcome(text, w, opt)
	gotFiles := map[string]string{}
	for p, st := range after {
		if !st.Equal(w[p]) {
			gotFiles[strings.TrimPrefix(p, root+"/")] = describe(st)
		}
	}
	if *update {
		rewrite(t, name, ar, got, gotFiles)
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("plan (-want +got)\n%s", d)
	}
	if d := cmp.Diff(wantFiles, gotFiles); d != "" {
		t.Errorf("files (-want +got)\n%s", d)
	}
}

func describe(st change.State) string {
	if st.Type == change.Symlink {
		return "-> " + st.Target + "\n"
	}
	data, _ := st.Blob.Bytes()
	return string(data)
}

func directives(t *testing.T, comment string, w world, opt *Options) {
	for _, line := range strings.Split(comment, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		args := strings.Fields(value)
		switch key {
		case "mode":
			st := w[path.Join(root, args[0])]
			n, _ := strconv.ParseUint(args[1], 8, 32)
			st.Mode = fs.FileMode(n)
			w[path.Join(root, args[0])] = st
		case "link":
			w[path.Join(root, args[0])] = change.State{Type: change.Symlink, Target: args[1]}
		case "dir":
			w[path.Join(root, args[0])] = change.State{Type: change.Dir, Mode: 0o755}
		case "hunks":
			for _, s := range strings.Split(value, ",") {
				n, err := strconv.Atoi(s)
				if err != nil {
					t.Fatal(err)
				}
				opt.Hunks = append(opt.Hunks, n)
			}
		case "option":
			opt.FirstMatch = opt.FirstMatch || value == "first match"
			opt.FinalNewline = opt.FinalNewline || value == "final newline"
		}
	}
}

// outcome parses and plans a patch and writes down what came of it.
func outcome(text string, w world, opt Options) (string, world) {
	var b strings.Builder
	p, err := Parse(text)
	if err != nil {
		fmt.Fprintf(&b, "%v\n", err)
		return b.String(), w
	}
	res, err := Plan(p, w, opt)
	for _, n := range res.Notes {
		fmt.Fprintf(&b, "note: %v\n", n)
	}
	for _, h := range res.Hunks {
		fmt.Fprintf(&b, "#%d %s %s", h.Number, h.Path, h.Outcome)
		if h.At > 0 && h.Outcome == Applied {
			fmt.Fprintf(&b, " at line %d", h.At)
		}
		if h.Offset != 0 || h.Fuzz != 0 {
			fmt.Fprintf(&b, ", offset %d, fuzz %d", h.Offset, h.Fuzz)
		}
		if h.Note != "" {
			fmt.Fprintf(&b, " (%s)", h.Note)
		}
		b.WriteByte('\n')
	}
	if err != nil {
		var pe *PlanError
		if errors.As(err, &pe) {
			for _, e := range pe.Errors {
				fmt.Fprintf(&b, "%s: %v\n", e.Code, e)
			}
		} else {
			fmt.Fprintln(&b, err)
		}
		return b.String(), w
	}
	after, err := w.commit(&res.Set)
	if err != nil {
		fmt.Fprintf(&b, "COMMIT FAILS: %v\n", err)
		return b.String(), w
	}
	for _, op := range res.Set.Ops {
		fmt.Fprintf(&b, "%s %s", op.Kind, strings.TrimPrefix(op.Path, root+"/"))
		if op.To != "" {
			fmt.Fprintf(&b, " → %s", strings.TrimPrefix(op.To, root+"/"))
		}
		if op.After.Type != change.Absent && op.After.Mode != op.Before.Mode {
			fmt.Fprintf(&b, " mode %03o", op.After.Mode)
		}
		b.WriteByte('\n')
	}
	return b.String(), after
}

func rewrite(t *testing.T, name string, ar *txtar.Archive, got string, files map[string]string) {
	ar.Files = slices.DeleteFunc(ar.Files, func(f txtar.File) bool {
		return f.Name == "want" || strings.HasPrefix(f.Name, "out/")
	})
	ar.Files = append(ar.Files, txtar.File{Name: "want", Data: []byte(got)})
	for _, p := range slices.Sorted(func(yield func(string) bool) {
		for p := range files {
			if !yield(p) {
				return
			}
		}
	}) {
		ar.Files = append(ar.Files, txtar.File{Name: "out/" + p, Data: escaped(files[p])})
	}
	if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}
