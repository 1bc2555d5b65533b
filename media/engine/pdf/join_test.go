package pdf_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// booklet is a file with all that belongs to pages: an outline, named destinations and links to them, numbers of pages, a form,
// an attachment. Each page shows its letter.
func booklet(name, letters string) []byte {
	s := newSheet()
	rect := object.Array{int64(10), int64(10), int64(90), int64(30)}
	var fields object.Array
	for i, c := range letters {
		field := s.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Widget"), "FT": object.Name("Tx"), "T": object.String(fmt.Sprint("field", i)),
			"V": object.String(fmt.Sprintf("%s value %d", name, i)), "Rect": rect, "DA": object.String("/Helv 10 Tf 0 g"), "AP": object.Dict{"N": form(s, line(4, fmt.Sprintf("%s value %d", name, i)))}})
		link := object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Link"), "Rect": rect, "A": object.Dict{"S": object.Name("GoTo"), "D": object.String("last")}}
		fields = append(fields, field)
		s.page(line(300, "Page "+string(c)), object.Dict{"Annots": object.Array{field, link}})
	}
	n := len(letters)
	s.catalog["AcroForm"] = object.Dict{"Fields": fields, "DA": object.String("/Helv 0 Tf"), "DR": object.Dict{"Font": object.Dict{"Helv": s.Add(helvetica)}}}
	outline := s.Add(nil)
	one := s.Add(object.Dict{"Title": object.String(name + " begins"), "Parent": outline, "Dest": object.Array{s.kids[0], object.Name("Fit")}})
	two := s.Add(object.Dict{"Title": object.String(name + " ends"), "Parent": outline, "Prev": one, "Dest": object.String("last")})
	s.Dict(one)["Next"] = two
	s.Set(outline, object.Dict{"Type": object.Name("Outlines"), "First": one, "Last": two, "Count": int64(2)})
	s.catalog["Outlines"] = outline
	s.catalog["PageLabels"] = object.Dict{"Nums": object.Array{int64(0), object.Dict{"S": object.Name("r")}, int64(n - 1), object.Dict{"P": object.String(name + "-"), "S": object.Name("D")}}}
	file := s.Add(object.Deflate([]byte("attached to "+name), object.Dict{"Type": object.Name("EmbeddedFile")}))
	s.catalog["Names"] = object.Dict{"Dests": object.Dict{"Names": object.Array{object.String("last"), object.Array{s.kids[n-1], object.Name("Fit")}}},
		"EmbeddedFiles": object.Dict{"Names": object.Array{object.String("note"), object.Dict{"F": object.String(name + ".txt"), "EF": object.Dict{"F": file}}}}}
	s.Trailer["Info"] = s.Add(object.Dict{"Title": object.String("Title of " + name)})
	return s.bytes()
}

// facts are what a file says beside its pages, each in a line.
func facts(t *testing.T, data []byte) string {
	t.Helper()
	f, err := object.Open(data, object.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	at := map[int]int{}
	pages := f.Array(f.Dict(f.Catalog()["Pages"])["Kids"])
	for i, k := range pages {
		at[k.(object.Ref).Num] = i + 1
	}
	where := func(o object.Object) int {
		if k, ok := f.Resolve(o).(object.String); ok {
			list := f.Array(f.Dict(f.Dict(f.Catalog()["Names"])["Dests"])["Names"])
			for i := 0; i+1 < len(list); i += 2 {
				if f.Resolve(list[i]) == k {
					o = list[i+1]
				}
			}
		}
		if a := f.Array(o); len(a) > 0 {
			if r, ok := a[0].(object.Ref); ok {
				return at[r.Num]
			}
		}
		return -1
	}
	text := func(o object.Object) string { s, _ := f.Resolve(o).(object.String); return s.Text() }
	for o, n := f.Dict(f.Catalog()["Outlines"])["First"], 0; f.Dict(o) != nil && n < 50; o, n = f.Dict(o)["Next"], n+1 {
		fmt.Fprintf(&b, "outline %s: %d\n", text(f.Dict(o)["Title"]), where(f.Dict(o)["Dest"]))
	}
	for _, k := range f.Array(f.Dict(f.Catalog()["AcroForm"])["Fields"]) {
		fmt.Fprintf(&b, "field %s: %s\n", text(f.Dict(k)["T"]), text(f.Dict(k)["V"]))
	}
	for i, k := range pages {
		for _, a := range f.Array(f.Dict(k)["Annots"]) {
			v := f.Dict(a)
			if f.Name(v["Subtype"]) != "Link" {
				continue
			}
			dest := v["Dest"]
			if dest == nil {
				dest = f.Dict(v["A"])["D"]
			}
			fmt.Fprintf(&b, "link of %d: %d\n", i+1, where(dest))
		}
	}
	nums := f.Array(f.Dict(f.Catalog()["PageLabels"])["Nums"])
	for i := 0; i+1 < len(nums); i += 2 {
		how := f.Dict(nums[i+1])
		fmt.Fprintf(&b, "label %d: %s%s%d\n", f.Int(nums[i], -1)+1, text(how["P"]), f.Name(how["S"]), f.Int(how["St"], 1))
	}
	list := f.Array(f.Dict(f.Dict(f.Catalog()["Names"])["EmbeddedFiles"])["Names"])
	for i := 0; i+1 < len(list); i += 2 {
		fmt.Fprintf(&b, "attached %s\n", text(list[i]))
	}
	return b.String()
}

// checked asks qpdf, where it is installed, whether a file is sound.
func checked(t *testing.T, data []byte) {
	t.Helper()
	if !sound(t, data) {
		t.Error("the file is not sound")
	}
}

func sound(t *testing.T, data []byte) bool {
	t.Helper()
	qpdf, err := exec.LookPath("qpdf")
	if err != nil {
		if os.Getenv("TACKLE_ORACLES") != "" {
			t.Fatal("qpdf is not installed, and TACKLE_ORACLES asks for it: run scripts/deps.sh")
		}
		t.Log("qpdf is not installed; the file is not checked by it")
		return true
	}
	name := filepath.Join(t.TempDir(), "a.pdf")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(qpdf, "--check", name).CombinedOutput(); err != nil || bytes.Contains(msg, []byte("WARNING")) {
		t.Logf("qpdf: %v: %.500s", err, msg)
		return false
	}
	return true
}

// Merging keeps what belongs to the pages of each part, and says which fields were renamed.
func TestMergeKeeps(t *testing.T) {
	p, err := media.New(media.Config{Engines: []media.Engine{shared}, Resolve: func(_ context.Context, id string) (media.Payload, error) {
		return media.Payload{Data: booklet(id, "xy"), Name: id + ".pdf"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Query(t.Context(), media.Payload{Data: booklet("a", "abc"), Name: "a.pdf"}, "merge with=@b,@c")
	if err != nil {
		t.Fatal(err)
	}
	checked(t, res.Media.Data)
	if got := order(t, res.Media.Data); got != "abcxyxy" {
		t.Errorf("pages %s", got)
	}
	const want = `outline a begins: 1
outline a ends: 3
outline b begins: 4
outline b ends: 5
outline c begins: 6
outline c ends: 7
field field0: a value 0
field field1: a value 1
field field2: a value 2
field field0_2: b value 0
field field1_2: b value 1
field field0_3: c value 0
field field1_3: c value 1
link of 1: 3
link of 2: 3
link of 3: 3
link of 4: 5
link of 5: 5
link of 6: 7
link of 7: 7
label 1: r1
label 3: a-D1
label 4: r1
label 5: b-D1
label 6: r1
label 7: c-D1
attached note
attached note_2
attached note_3
`
	if got := facts(t, res.Media.Data); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if w := strings.Join(res.Warnings, " "); !strings.Contains(w, `Fields of b.pdf were renamed`) || !strings.Contains(w, `"field0" to "field0_2"`) {
		t.Errorf("%q", w)
	}
	if m := fmt.Sprint(query(t, res.Media.Data, "extract metadata").Read.Data); !strings.Contains(m, "Title of a") || !strings.Contains(m, "form_fields:7") {
		t.Error(m)
	}
}

// A part without an outline, names or numbers of its own does not disturb those of others.
func TestMergeWithPlain(t *testing.T) {
	p, err := media.New(media.Config{Engines: []media.Engine{shared}, Resolve: func(context.Context, string) (media.Payload, error) {
		return media.Payload{Data: booklet("b", "xy"), Name: "b.pdf"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Query(t.Context(), in(pages("ab")), "merge with=@b")
	if err != nil {
		t.Fatal(err)
	}
	checked(t, res.Media.Data)
	want := "outline b begins: 3\noutline b ends: 4\nfield field0: b value 0\nfield field1: b value 1\nlink of 3: 4\nlink of 4: 4\nlabel 1: D1\nlabel 3: r1\nlabel 4: b-D1\nattached note\n"
	if got := facts(t, res.Media.Data); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Pages that are picked keep what belongs to them; where every page stays, everything does.
func TestPickKeeps(t *testing.T) {
	src := booklet("a", "abcd")
	for statement, want := range map[string]string{
		"select pages=4,2": "outline a ends: 1\nfield field1: a value 1\nfield field3: a value 3\nlink of 1: 1\nlink of 2: 1\nlabel 1: a-D1\nlabel 2: r2\n",
		"select pages=1-2": "outline a begins: 1\nfield field0: a value 0\nfield field1: a value 1\nlabel 1: r1\n",
		"reorder order=4,3,2,1": "outline a begins: 4\noutline a ends: 1\nfield field0: a value 0\nfield field1: a value 1\nfield field2: a value 2\nfield field3: a value 3\n" +
			"link of 1: 1\nlink of 2: 1\nlink of 3: 1\nlink of 4: 1\nlabel 1: a-D1\nlabel 2: r3\nlabel 3: r2\nlabel 4: r1\nattached note\n",
	} {
		res := query(t, src, statement)
		checked(t, res.Media.Data)
		if got := facts(t, res.Media.Data); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", statement, got, want)
		}
	}
	for i, part := range query(t, src, `split ranges='[[1,2],[3,4]]'`).List {
		checked(t, part.Data)
		want := []string{"outline a begins: 1\n", "outline a ends: 2\n"}[i]
		if got := facts(t, part.Data); !strings.HasPrefix(got, want+"field") {
			t.Errorf("part %d:\n%s", i+1, got)
		}
	}
}

// step is how many files are passed over for one that is merged.
const step = 25

// Files are merged with themselves, and qpdf and pdftotext agree with the result.
func TestOracle_Merge(t *testing.T) {
	root := os.Getenv("TACKLE_PDFS")
	if root == "" {
		t.Skip("needs TACKLE_PDFS, a folder of PDF files; make oracles sets it")
	}
	tool := oracle(t, "pdftotext", "poppler-utils")
	read := func(data []byte) map[string]int {
		cmd := exec.Command(tool, "-q", "-raw", "-", "-")
		cmd.Stdin = bytes.NewReader(data)
		out, err := cmd.Output()
		if err != nil {
			t.Error(err)
		}
		return words(string(out))
	}
	files, merged := 0, 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".pdf") {
			return err
		}
		if files++; files%step != 0 {
			return nil
		}
		name := strings.TrimPrefix(path, root)
		data, err := os.ReadFile(path)
		if err != nil || len(data) > 2<<20 || !sound(t, data) {
			return err
		}
		p, err := media.New(media.Config{Engines: []media.Engine{shared}, Resolve: func(context.Context, string) (media.Payload, error) {
			return media.Payload{Data: data, Name: "again.pdf"}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.Query(t.Context(), in(data), "merge with=@again unsign=true")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		if merged++; !sound(t, res.Media.Data) {
			t.Errorf("%s merged with itself is not sound", name)
		}
		once, twice := read(data), read(res.Media.Data)
		for w, n := range once {
			if twice[w] != 2*n {
				t.Errorf("%s: %q %d times, then %d", name, w, n, twice[w])
				break
			}
		}
		return nil
	})
	if err != nil || merged == 0 {
		t.Errorf("%d of %d files merged, %v", merged, files, err)
	}
	t.Logf("%d of %d files merged with themselves", merged, files)
}
