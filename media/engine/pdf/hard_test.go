package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// nested makes forms that each show the one below ten times: a small file that shows a great many words.
func nested(depth int) []byte {
	s := newSheet()
	inner := form(s, line(10, "word"))
	for range depth {
		inner = s.Add(object.Deflate(bytes.Repeat([]byte("/X Do\n"), 10), object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Form"),
			"BBox": object.Array{int64(0), int64(0), int64(400), int64(400)}, "Resources": object.Dict{"XObject": object.Dict{"X": inner}}}))
	}
	s.page("/X Do", object.Dict{"Resources": object.Dict{"XObject": object.Dict{"X": inner}}})
	return s.bytes()
}

// A page that takes forever is stopped, and the next document is read.
func TestMED007_Endless(t *testing.T) {
	p, err := media.New(media.Config{Engines: []media.Engine{pdf.Engine(pdf.Config{Cache: cacheDir(), Workers: 1, Time: 3 * time.Second})}})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"extract text", "convert to=images", redactSSN} {
		_, err := p.Query(t.Context(), in(nested(12)), statement)
		if err == nil || !strings.Contains(err.Error(), "allowed") && !strings.Contains(err.Error(), "damaged") && !strings.Contains(err.Error(), "safely") {
			t.Errorf("%s: %v", statement, err)
		}
		res, err := p.Query(t.Context(), in(pages("a")), "extract text")
		if err != nil || !strings.Contains(res.Read.Text, "aaa") {
			t.Errorf("after %s: %v", statement, err)
		}
	}
}

// Who asks can take it back.
func TestMED007_Cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(300*time.Millisecond, cancel)
	defer timer.Stop()
	_, err := pipeline(t).Query(ctx, in(nested(12)), "extract text")
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Files that are no files end in words, not in panics, and nothing in them is run.
func TestMED007_Broken(t *testing.T) {
	whole := pages("abc")
	js := object.Dict{"S": object.Name("JavaScript"), "JS": object.String("for(;;){}")}
	armed := newSheet()
	armed.page(line(300, "Page a"), object.Dict{"AA": object.Dict{"O": js}})
	armed.catalog["OpenAction"] = js
	for name, c := range map[string]struct {
		data []byte
		want string // in the error; "" where it is read
	}{
		"empty":        {[]byte("%PDF-1.7\n"), "damaged beyond repair"},
		"cut off":      {whole[:len(whole)/2], ""},
		"zeros":        {append([]byte("%PDF-1.7\n"), make([]byte, 1<<20)...), "damaged beyond repair"},
		"nested":       {append([]byte("%PDF-1.7\n1 0 obj\n"), bytes.Repeat([]byte("["), 1<<20)...), "damaged beyond repair"},
		"with scripts": {armed.bytes(), ""},
	} {
		for _, statement := range []string{"extract text", "select pages=1", "sanitize", "extract metadata", "extract assets", "convert to=md", redactSSN} {
			_, err := pipeline(t).Query(t.Context(), in(c.data), statement)
			var e *media.Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("%s, %s: %v", name, statement, err)
			}
			if c.want != "" && statement != "extract metadata" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, %s: %v", name, statement, err)
			}
		}
	}
}

// More pages than allowed are refused before they are looked at.
func TestMED007_Pages(t *testing.T) {
	p, err := media.New(media.Config{Engines: []media.Engine{shared}, Limits: media.Limits{Pages: 3, Pixels: 10_000}})
	if err != nil {
		t.Fatal(err)
	}
	for statement, want := range map[string]string{"extract text": "has 5 pages, more than the 3", "select pages=1": "has 5 pages, more than the 3"} {
		if _, err := p.Query(t.Context(), in(pages("abcde")), statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if _, err := p.Query(t.Context(), in(pages("a")), "convert to=images"); err == nil || !strings.Contains(err.Error(), "pixels") {
		t.Error(err)
	}
}

// An encrypted file opens with its password and is not encrypted afterwards, which is said.
func TestOracle_Encrypted(t *testing.T) {
	qpdf := oracle(t, "qpdf", "qpdf")
	dir := t.TempDir()
	s := newSheet()
	s.page(line(300, "Page a "+ssn), nil)
	plain := filepath.Join(dir, "plain.pdf")
	if err := os.WriteFile(plain, s.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"secret", "owner", "256"}, {"secret", "owner", "128", "--use-aes=y"}, {"", "owner", "256"}} {
		name := filepath.Join(dir, "locked.pdf")
		cmd := append(append([]string{"--allow-weak-crypto", "--encrypt"}, args...), "--", plain, name)
		if out, err := exec.Command(qpdf, cmd...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		with := ""
		if args[0] != "" {
			with = ` password="` + args[0] + `"`
			for _, statement := range []string{"extract text", "sanitize", redactSSN, `extract text password="wrong"`} {
				if _, err := pipeline(t).Query(t.Context(), in(data), statement); err == nil || !strings.Contains(err.Error(), "password=") {
					t.Errorf("%v %s: %v", args, statement, err)
				}
			}
			if m := query(t, data, "extract metadata").Read.Data.(map[string]any); m["encrypted"] != true {
				t.Error(m)
			}
		}
		if got := query(t, data, "extract text"+with).Read.Text; !strings.Contains(got, ssn) {
			t.Errorf("%v: %q", args, got)
		}
		res := query(t, data, redactSSN+with)
		holds(t, res.Media.Data, ssn)
		if !strings.Contains(fmt.Sprint(res.Warnings), "was encrypted; the result is not") {
			t.Error(res.Warnings)
		}
		if order(t, query(t, data, "select pages=1"+with).Media.Data) != "a" {
			t.Error("select lost the page")
		}
	}
}
