package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client of the official SDK drives the real command: it lists media, changes a workbook through ids, creates one, reads a
// result as a resource, and is told not to retry what cannot be done.
func TestM3_ARealClientWorksOnMedia(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sales.csv"), []byte("region,qty\nNorth,5\nSouth,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tackle", "-C", dir, "--state", filepath.Join(dir, ".state"), "--no-config", "mcp", "--approve", "always")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir+"/s", "XDG_CONFIG_HOME="+dir+"/c", "TACKLE_MEDIA_PROGRAMS=false")
	client := sdk.NewClient(&sdk.Implementation{Name: "media-test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	call := func(name string, args map[string]any) (text string, failed bool, links []string) {
		t.Helper()
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range res.Content {
			switch c := c.(type) {
			case *sdk.TextContent:
				text += c.Text + "\n"
			case *sdk.ResourceLink:
				links = append(links, c.URI)
			}
		}
		return text, res.IsError, links
	}
	query := func(id, q string) (string, bool) {
		t.Helper()
		text, failed, _ := call("media_query", map[string]any{"media_id": id, "q": q})
		return text, failed
	}
	marker := regexp.MustCompile(`\[media id: (\S+) \| ([^\]]*)\]`)
	made := func(text string) string {
		t.Helper()
		m := marker.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no media in %s", text)
		}
		return m[1]
	}
	if text, _, _ := call("list_media", nil); strings.TrimSpace(text) != "[]" {
		t.Errorf("at first there is %s", text)
	}
	// A file of the workspace becomes a workbook, which is changed by its id.
	text, failed := query("file:sales.csv", "convert to=xlsx")
	if failed {
		t.Fatal(text)
	}
	text, failed = query(made(text), `sheet add_rows rows='[["West",9]]' | sheet rename_sheet sheet=Sheet1 to="Sales 2026"`)
	if failed {
		t.Fatal(text)
	}
	book := made(text)
	if text, _ = query(book, "extract text"); text != "# Sales 2026\nregion\tqty\nNorth\t5\nSouth\t7\nWest\t9\n\n" {
		t.Errorf("%q", text)
	}
	// One call creates a file and fills it.
	text, failed, links := call("media_query", map[string]any{"media_id": "empty:xlsx", "ops": []any{map[string]any{"verb": "sheet.update_cells", "args": map[string]any{"updates": []any{map[string]any{"address": "A1", "value": "new"}}}}}})
	if failed || len(links) != 1 || !strings.Contains(text, "untitled.xlsx") {
		t.Errorf("%s %v", text, links)
	}
	// The result is a resource, and a file when it is copied.
	res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: links[0]})
	if err != nil || len(res.Contents) != 1 || !strings.HasPrefix(string(res.Contents[0].Blob), "PK") {
		t.Errorf("%+v %v", res, err)
	}
	if text, failed, _ = call("copy_file", map[string]any{"path": "artifact:" + book, "to": "out/sales.xlsx"}); failed {
		t.Error(text)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "out", "sales.xlsx")); err != nil || !strings.HasPrefix(string(b), "PK") {
		t.Error(err)
	}
	if text, failed = query("file:out/sales.xlsx", "convert to=csv"); failed || !strings.Contains(text, "sales.csv") {
		t.Error(text)
	}
	var list []struct{ ID, Filename, Origin string }
	text, _, _ = call("list_media", nil)
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) < 4 {
		t.Errorf("%s %v", text, err)
	}
	// What cannot be done says so once, and what can be done instead.
	text, failed = query(book, "convert to=numbers")
	if !failed || !strings.HasPrefix(text, "Error (ENGINE_REQUIRED): nothing here converts to numbers.") || !strings.Contains(text, "Do not retry convert to=numbers.") {
		t.Error(text)
	}
	text, failed = query("doc-7", "extract text")
	if !failed || !strings.Contains(text, "Visible media ids: ") || !strings.Contains(text, book) {
		t.Error(text)
	}
	// Files outside of the rules stay closed, whatever tool asks.
	if text, failed = query("file:missing.csv", "extract text"); !failed || !strings.Contains(text, "does not exist") {
		t.Error(text)
	}
}

// Pictures are read where a program for it is here, also by statements that need none otherwise: a redaction that left a
// number in a scan would be worse than none.
func TestPicturesAreReadAtATerminal(t *testing.T) {
	tesseract, err := exec.LookPath("tesseract")
	if err != nil {
		if os.Getenv("TACKLE_ORACLES") == "1" {
			t.Fatal("tesseract is not here, and TACKLE_ORACLES asks for it: scripts/deps.sh installs tesseract-ocr tesseract-ocr-eng")
		}
		t.Skip("tesseract is not here: scripts/deps.sh installs tesseract-ocr tesseract-ocr-eng")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin") // with this program alone, so that no others are tried
	if err := errors.Join(os.Mkdir(bin, 0o755), os.Symlink(tesseract, filepath.Join(bin, "tesseract"))); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	command, err := exec.LookPath("tackle")
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, string) {
		t.Helper()
		cmd := exec.Command(command, append([]string{"-C", work, "--state", filepath.Join(dir, ".state"), "--no-config", "media"}, args...)...)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "PATH="+bin, "HOME="+dir, "XDG_STATE_HOME="+dir+"/s", "XDG_CONFIG_HOME="+dir+"/c")
		var out, said strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v %s", args, err, said.String())
		}
		return out.String(), said.String()
	}
	const word = "../../media/engine/ext/probe.png" // it says tackle
	here, err := filepath.Abs(word)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := run(here, "extract text"); strings.TrimSpace(out) != "tackle" {
		t.Errorf("reads %q", out)
	}
	run(here, "convert to=pdf", "-o", "scan.pdf")
	if out, _ := run("scan.pdf", "extract text"); !strings.Contains(strings.ReplaceAll(out, " ", ""), "tackle") { // it may take one word for two
		t.Errorf("reads %q of the scan", out)
	}
	_, said := run("scan.pdf", "redact match=tackle", "-o", "gone.pdf")
	if !strings.Contains(said, "OCR") {
		t.Errorf("says %q", said)
	}
	if out, _ := run("gone.pdf", "extract text"); strings.Contains(strings.ReplaceAll(out, " ", ""), "tackle") {
		t.Errorf("the word is still read: %q", out)
	}
	run("empty:png", "image resize width=20 height=20", "-o", "white.png")
	if out, said := run("white.png", "extract text"); strings.TrimSpace(out) != "" || !strings.Contains(said, "no words in it") {
		t.Errorf("of a white picture: %q %q", out, said)
	}
}
