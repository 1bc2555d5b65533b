package clients

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/mcp/setup"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/tests/clients/fakemodel"
	"github.com/tackle-dev/tackle/tests/internal/tree"
	"github.com/tackle-dev/tackle/tests/npm"
)

// A real client's model finds media, edits a workbook through ids, creates one, reads a result as a resource where the client
// lets it, and stops after one answer that tells it not to retry. What it made is then looked at as files.
func TestMediaPipeline(t *testing.T) {
	npm.Root(t)
	bin := binary(t)
	for _, name := range withModel() {
		t.Run(name, func(t *testing.T) {
			ws := mediaWorkspace(t)
			// Gemini reads only resources that a server lists beforehand, pi reads none.
			m := &mind{tool: recipes[name].tool, reads: name == "claude" || name == "codex"}
			driveMedia(t, name, bin, ws, m)
			m.inspect(t)
			inspectWorkbooks(t, ws)
		})
	}
}

// The other way round: a model of the same mind that does not see the sentence goes on, so it is the sentence that stops it.
func TestDoNotRetryIsWhatStops(t *testing.T) {
	npm.Root(t)
	bin := binary(t)
	names := withModel()
	if len(names) == 0 {
		t.Skip("TACKLE_CLIENTS names no client with a model")
	}
	m := &mind{tool: recipes[names[0]].tool, blind: true}
	driveMedia(t, names[0], bin, mediaWorkspace(t), m)
	if m.attempts != stubborn {
		t.Errorf("without the sentence the model tried %d times, want %d: %.500q", m.attempts, stubborn, m.refusals)
	}
}

func mediaWorkspace(t *testing.T) string {
	t.Helper()
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "rich.xlsx"), richWorkbook(t), 0o644); err != nil {
		t.Fatal(err)
	}
	return ws
}

// richWorkbook has a chart, a pivot table, a picture, a comment and names.
func richWorkbook(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(tree.Root, "media", "engine", "sheet", "testdata", "rich.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func driveMedia(t *testing.T, name, bin, ws string, m *mind) {
	t.Helper()
	r := recipes[name]
	model := &fakemodel.Model{Next: m.next}
	endpoint := httptest.NewServer(model)
	defer endpoint.Close()
	s := &stage{t: t, home: t.TempDir(), ws: ws, model: endpoint.URL}
	s.entry = setup.Entry{Name: "tackle", Command: bin, Args: []string{"mcp", "-C", ws, "--state", t.TempDir(), "--no-config"}}
	args, env := r.run(s)
	modules := npm.Install(t, strings.NewReplacer("@", "", "/", "-").Replace(r.pkg), r.pkg)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm.Bin(t, modules, r.bin), args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = ws, environment(t, s.home, env...), 5*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.4000s", name, err, out)
	}
	if m.refusals == nil {
		t.Fatalf("the model came as far as %d results: %.3000s\n%.2000s", len(m.results), strings.Join(m.results, "\n---\n"), out)
	}
}

// stubborn is how often the model asks for what it wants while nothing tells it not to.
const stubborn = 4

// mind is what the model thinks. It knows no id beforehand: it reads them in the results.
type mind struct {
	tool  string // pattern of the name of read_file with this client
	blind bool   // it does not see "Do not retry"
	reads bool   // the client lets it read resources

	results  []string
	done     []string // names of the steps taken
	attempts int      // calls for what cannot be done
	refusals []string // their results
	resource string   // what a resource was read as
}

var (
	markers     = regexp.MustCompile(`\[media id: ([^\s\\|]+) \| ([^\]\\]*)\]`)
	links       = regexp.MustCompile(`artifact://[A-Za-z0-9_-]+`)
	directive   = regexp.MustCompile(`Do not retry[^.]*\.`)
	readsMCP    = regexp.MustCompile(`^(ReadMcpResourceTool|read_mcp_resource)$`)
	updateCells = `sheet update_cells sheet="Data" updates='[{"address":"C2","value":1000}]'`
	fillNew     = `sheet update_cells updates='[{"address":"A1","value":"total"},{"address":"B1","value":"=6*7"}]' | sheet rename_sheet sheet=Sheet1 to="Sums"`
)

// next is called by one request at a time.
func (m *mind) next(q *fakemodel.Request) (fakemodel.Call, bool) {
	if len(q.Results) < len(m.results) {
		return fakemodel.Call{}, false // a helper call of the client beside the conversation
	}
	m.results = q.Results
	call := func(name string, args any) (fakemodel.Call, bool) {
		b, err := json.Marshal(args)
		if err != nil {
			panic(err) // strings and maps of them
		}
		m.done = append(m.done, name)
		return fakemodel.Call{Tool: regexp.MustCompile(strings.Replace(m.tool, "read_file", name, 1)), Args: string(b)}, true
	}
	query := func(id, statement string) (fakemodel.Call, bool) {
		return call("media_query", map[string]string{"media_id": id, "q": statement})
	}
	last := ""
	if n := len(q.Results); n > 0 {
		last = q.Results[n-1]
	}
	switch len(q.Results) {
	case 0:
		if len(q.Tools) == 0 {
			return fakemodel.Call{}, false
		}
		return call("list_media", map[string]any{})
	case 1:
		return query("file:rich.xlsx", updateCells)
	case 2:
		return query(m.id(1), `sheet add_rows sheet="Data" rows='[["West","Fig",7]]'`)
	case 3:
		return call("list_media", map[string]any{})
	case 4:
		return query("empty:xlsx", fillNew)
	case 5:
		return call("copy_file", map[string]string{"path": "artifact:" + m.id(1), "to": "edited.xlsx"})
	case 6:
		return call("copy_file", map[string]string{"path": "artifact:" + m.id(2), "to": "grown.xlsx"})
	case 7:
		return call("copy_file", map[string]string{"path": "artifact:" + m.id(4), "to": "new.xlsx"})
	case 8:
		return query(m.id(1), "convert to=csv")
	case 9:
		if uri := links.FindString(last); uri != "" && m.reads {
			return fakemodel.Call{Tool: readsMCP, Args: `{"server":"tackle","uri":"` + uri + `"}`}, true
		}
		return m.insist(query)
	}
	if m.attempts == 0 {
		m.resource = last
		return m.insist(query)
	}
	m.refusals = append(m.refusals, last)
	if m.blind {
		last = directive.ReplaceAllString(last, "")
	}
	if m.attempts >= stubborn || strings.Contains(last, "Do not retry") {
		return fakemodel.Call{}, false
	}
	return m.insist(query)
}

// insist asks for a format that nothing writes.
func (m *mind) insist(query func(id, statement string) (fakemodel.Call, bool)) (fakemodel.Call, bool) {
	m.attempts++
	return query(m.id(1), "convert to=numbers")
}

// id reads the id of the media that a result shows.
func (m *mind) id(result int) string {
	if result < len(m.results) {
		if g := markers.FindStringSubmatch(m.results[result]); g != nil {
			return g[1]
		}
	}
	return "none"
}

func (m *mind) inspect(t *testing.T) {
	t.Helper()
	if len(m.results) < 10 {
		t.Fatalf("the model saw %d results: %.3000s", len(m.results), strings.Join(m.results, "\n---\n"))
	}
	for i, parts := range [][]string{{}, {"rich.xlsx", "1 changed"}, {"rich.xlsx", "1 added"}, {m.id(1), m.id(2), "tool-result"}, {"untitled.xlsx"},
		{"edited.xlsx"}, {"grown.xlsx"}, {"new.xlsx"}, {"rich.csv"}} {
		for _, part := range parts {
			if !strings.Contains(m.results[i], part) {
				t.Errorf("result %d lacks %q: %s", i+1, part, m.results[i])
			}
		}
	}
	for _, i := range []int{1, 2, 4, 8} {
		if m.id(i) == "none" || !strings.Contains(m.results[i], "artifact://"+m.id(i)) {
			t.Errorf("result %d has no marker, or no link to the resource: %s", i+1, m.results[i])
		}
	}
	if m.attempts != 1 || len(m.refusals) != 1 || !strings.Contains(m.refusals[0], "ENGINE_REQUIRED") {
		t.Errorf("the model tried %d times what cannot be done: %q", m.attempts, m.refusals)
	}
	if m.reads && !strings.Contains(m.resource, "South,Pear,1000,2.5") {
		t.Errorf("the resource was read as %.500s", m.resource)
	}
}

// inspectWorkbooks opens what the model made, and compares the members that were not to change.
func inspectWorkbooks(t *testing.T, ws string) {
	t.Helper()
	p, err := media.New(media.Config{Engines: engine.All()})
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string) media.Payload {
		b, err := os.ReadFile(filepath.Join(ws, name))
		if err != nil {
			t.Fatal(err)
		}
		return media.Payload{Data: b, Name: name}
	}
	text := func(name string) string {
		res, err := p.Query(t.Context(), file(name), "extract text")
		if err != nil {
			t.Fatal(err)
		}
		return res.Read.Text
	}
	if !bytes.Equal(file("rich.xlsx").Data, richWorkbook(t)) {
		t.Error("the original changed")
	}
	if got := text("edited.xlsx"); !strings.Contains(got, "\nSouth\tPear\t1000\t2.5\t") || !strings.Contains(text("rich.xlsx"), "\nSouth\tPear\t3\t2.5\t") {
		t.Errorf("%.200s", got)
	}
	if got := text("grown.xlsx"); !strings.Contains(got, "\nSouth\tPear\t1000\t2.5\t") || !strings.Contains(got, "\nWest\tFig\t7") {
		t.Errorf("%.200s", got)
	}
	if got := text("new.xlsx"); got != "# Sums\ntotal\t42\n" && got != "# Sums\ntotal\t=6*7\n" {
		t.Errorf("%q", got)
	}
	was, is := stored(t, file("rich.xlsx").Data), stored(t, file("edited.xlsx").Data)
	// The sheet, the sheet whose formula depends on it, and the two parts that have formulas and the pivot table computed again.
	follow := []string{"xl/worksheets/sheet1.xml", "xl/worksheets/sheet3.xml", "xl/workbook.xml", "xl/pivotCache/pivotCacheDefinition1.xml"}
	for name := range was {
		if is[name] != was[name] && !slices.Contains(follow, name) {
			t.Errorf("%s changed", name)
		}
	}
	for _, name := range []string{"xl/charts/chart1.xml", "xl/pivotTables/pivotTable1.xml", "xl/comments1.xml", "xl/styles.xml"} {
		if was[name] == "" {
			t.Errorf("the workbook has no %s, so nothing says that it stays", name)
		}
	}
	if is[follow[0]] == was[follow[0]] || len(is) != len(was) {
		t.Errorf("%d members became %d, or the sheet is what it was", len(was), len(is))
	}
}

// stored returns the members of a zip file as they are stored, compressed.
func stored(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.OpenRaw()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(b)
	}
	return out
}
