package ooxml

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// The example of MS-OVBA 3.2.2.
func TestDecompressMacros(t *testing.T) {
	packed := "\x01\x2f\xb0\x00\x23\x61\x61\x61\x62\x63\x64\x65\x82\x66\x00\x70\x61\x67\x68\x69\x6a\x01\x38\x08\x61\x6b\x6c\x00\x30\x6d\x6e\x6f\x70\x06\x71\x02\x70\x04\x10\x72\x73\x74\x75\x76\x10\x77\x78\x79\x7a\x00\x3c"
	const want = "#aaabcdefaaaaghijaaaaaklaaamnopqaaaaaaaaaaaarstuvwxyzaaa"
	if got := string(decompress([]byte(packed[1:]))); got != want {
		t.Errorf("%q", got)
	}
	if got := macroSources([]byte("junk\x01\x00" + packed)); len(got) != 1 || string(got[0]) != want {
		t.Errorf("%q", got)
	}
}

// A real project of macros: what is written in its modules is found although it is packed in its file.
func TestMacrosAreLookedInto(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/xuri/excelize/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "test", "vbaProject.bin"))
	if err != nil {
		t.Fatal(err)
	}
	const word = `Attribute VB_Base = "0{00020820-0000-0000-C000-000000000046}"` // of ThisWorkbook, as every project has it
	if strings.Contains(string(data), word) {
		t.Fatal("the words stand in the file as they are")
	}
	in := doc(t, wp(wr("x "+strings.ReplaceAll(word, `"`, "&quot;"))), [3]string{"word/vbaProject.bin", "vbaProject", string(data)})
	req := &media.Request{In: in, Args: map[string]any{"match": []media.Match{{Text: word}}}}
	f, err := open(req)
	if err != nil {
		t.Fatal(err)
	}
	red, err := tree.NewRedaction(&media.Request{Args: req.Args})
	if err != nil {
		t.Fatal(err)
	}
	hit, known, err := f.lookObject(t.Context(), "word/vbaProject.bin", data, red)
	if hit == "" || !known || err != nil {
		t.Errorf("%q %v %v", hit, known, err)
	}
	if _, err := run(t, in, `redact match=/VB_Base = "0.00020820[^"]*"/`); err == nil || !strings.Contains(err.Error(), "still stands in the part word/vbaProject.bin") {
		t.Error(err)
	}
	clean := must(t, in, "sanitize | redact match=VB_Base")
	if members(t, clean.Media.Data)["word/vbaProject.bin"] != nil {
		t.Error("the macros are still there")
	}
}
