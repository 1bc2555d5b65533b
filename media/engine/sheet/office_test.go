package sheet

import (
	"bytes"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// facts are what LibreOffice shows of a workbook besides its values, each found in its flat file.
var facts = []struct {
	name string
	find *regexp.Regexp // its groups are the fact
}{
	{"chart", regexp.MustCompile(`<chart:series [^>]*chart:values-cell-range-address="([^"]*)" chart:label-cell-address="([^"]*)"`)},
	{"chart's categories", regexp.MustCompile(`<chart:categories [^>]*table:cell-range-address="([^"]*)"`)},
	{"chart's sheet", regexp.MustCompile(`draw:notify-on-update-of-ranges="([^"]*)"`)},
	{"pivot table", regexp.MustCompile(`<table:data-pilot-table table:name="([^"]*)"`)},
	{"pivot source", regexp.MustCompile(`table:source-cell-range table:cell-range-address="([^"]*)"`)},
	{"picture", regexp.MustCompile(`<draw:image [^>]*draw:mime-type="([^"]*)"`)},
	{"comment", regexp.MustCompile(`(?s)<office:annotation [^>]*>.*?<text:p[^>]*>(.*?)</text:p>`)},
	{"validation", regexp.MustCompile(`<table:content-validation table:name="[^"]*" table:condition="([^"]*)"`)},
	{"conditional format", regexp.MustCompile(`calcext:target-range-address="([^"]*)"`)},
	{"condition", regexp.MustCompile(`<calcext:condition [^>]*calcext:value="([^"]*)"`)},
	{"hyperlink", regexp.MustCompile(`<text:a xlink:href="([^"]*)"`)},
	{"name", regexp.MustCompile(`<table:named-range table:name="([^"]*)" [^>]*table:cell-range-address="([^"]*)"`)},
	{"merged cells", regexp.MustCompile(`table:number-columns-spanned="([2-9]\d*)"`)},
	{"widths", regexp.MustCompile(`style:column-width="([^"]*)"`)},
	{"wrong formula", regexp.MustCompile(`(#REF!|#NAME\?)`)},
}

// office opens workbooks with LibreOffice and returns the facts of each.
func office(t *testing.T, books map[string][]byte) map[string]map[string][]string {
	t.Helper()
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		if os.Getenv("TACKLE_ORACLES") != "" {
			t.Fatal("soffice is not installed, and TACKLE_ORACLES asks for it: run scripts/deps.sh")
		}
		t.Skip("soffice is not installed; the results are not opened with LibreOffice")
	}
	dir := t.TempDir()
	args := []string{"-env:UserInstallation=file://" + dir + "/profile", "--headless", "--convert-to", "fods", "--outdir", filepath.Join(dir, "out")}
	for name, b := range books {
		file := filepath.Join(dir, name+".xlsx")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	if out, err := exec.CommandContext(t.Context(), soffice, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := map[string]map[string][]string{}
	for name := range books {
		b, err := os.ReadFile(filepath.Join(dir, "out", name+".fods"))
		if err != nil {
			t.Fatalf("LibreOffice did not open %s: %v", name, err)
		}
		all[name] = map[string][]string{}
		for _, f := range facts {
			for _, m := range f.find.FindAllSubmatch(b, -1) {
				all[name][f.name] = append(all[name][f.name], html.UnescapeString(string(bytes.Join(m[1:], []byte(" ")))))
			}
		}
	}
	return all
}

// The table of field notes 2.3 with LibreOffice as the judge: after a change of a cell everything is where it was; after a
// change of the grid or of a name it follows.
func TestFidelityByLibreOffice(t *testing.T) {
	in := rich(t)
	did := map[string]string{
		"cell":    `sheet update_cells updates='[{"address":"B5","value":"other"}]'`,
		"end":     `sheet add_rows rows='[["new",null,1000]]'`,
		"row":     `sheet add_rows rows='[["new",null,1000]]' before=3`,
		"gone":    `sheet delete_rows rows=5-6`,
		"column":  `sheet add_columns headers=Extra before=1`,
		"narrow":  `sheet delete_columns columns=1`,
		"renamed": `sheet rename_sheet sheet=Data to="Raw Data"`,
		"both":    `sheet add_rows rows='[["new",null,1000]]' before=3 | sheet rename_sheet sheet=Data to="Raw Data"`,
		"moved":   `sheet add_sheet name=First at=1`,
	}
	books := map[string][]byte{"before": in.Data}
	for name, do := range did {
		books[name] = must(t, in, do).Media.Data
	}
	got := office(t, books)
	before := got["before"]
	for _, f := range facts {
		if n := len(before[f.name]); n == 0 && f.name != "wrong formula" {
			t.Errorf("the sample has no %s, so nothing is said of it", f.name)
		}
	}

	// follow returns the facts with their references rewritten, as a person would by hand.
	follow := func(pairs ...string) map[string][]string {
		r := strings.NewReplacer(pairs...)
		out := map[string][]string{}
		for name, values := range before {
			for _, v := range values {
				if name != "widths" && name != "comment" && name != "validation" && name != "hyperlink" {
					v = r.Replace(v)
				}
				out[name] = append(out[name], v)
			}
		}
		return out
	}
	quoted := []string{"$Data.", "$'Raw Data'.", "Data.", "'Raw Data'."}
	for name, want := range map[string]map[string][]string{
		"cell":    before,
		"end":     before,
		"moved":   before,
		"row":     follow("13", "14", "41", "42"),
		"gone":    follow("13", "11", "41", "39"),
		"column":  follow("A1", "B1", "F41", "G41", "B2", "C2", "B13", "C13", "C1:", "D1:", "C1", "D1", "C2", "D2", "C13", "D13", "C41", "D41", "$C$", "$D$"),
		"narrow":  follow("F41", "E41", "B2", "A2", "B13", "A13", "C13", "B13", "C1", "B1", "C2", "B2", "C41", "B41", "$C$", "$B$", "5", "4"),
		"renamed": follow(quoted...),
		"both":    follow(append([]string{"13", "14", "41", "42"}, quoted...)...),
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range facts {
				if f.name == "widths" && (name == "column" || name == "narrow" || name == "moved") {
					continue // there is one column more or less, or a sheet of ordinary ones
				}
				if d := cmp.Diff(want[f.name], got[name][f.name]); d != "" {
					t.Errorf("%s\n%s (-want +got)\n%s", did[name], f.name, d)
				}
			}
		})
	}
}
