package console

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/tests/npm"
)

// playwright is the package that drives the browser.
const playwright = "playwright-core@1.65.1"

// longest is how long one scenario may take, on a machine that does other things too.
const longest = 3 * time.Minute

func bytesOf(content string) io.Reader {
	return base64.NewDecoder(base64.StdEncoding, strings.NewReader(content))
}

// browser returns the browser, or skips the test.
func browser(t *testing.T) string {
	t.Helper()
	npm.Root(t)
	name := os.Getenv("TACKLE_CHROMIUM")
	if name == "" {
		name = "chromium"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no browser (%v), so the pages are not tried in one; make console installs it", err)
	}
	return path
}

// play runs one scenario and returns what it printed.
func play(t *testing.T, p *place, scenario string, env ...string) {
	t.Helper()
	chromium, modules := browser(t), npm.Install(t, "playwright", playwright)
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm.Node(t), "scenarios.mjs", scenario)
	cmd.Env = append(os.Environ(), append(env, "MODULES="+modules, "CHROMIUM="+chromium, "CONTROL="+p.control.URL, "BASE=http://"+p.address)...)
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("the scenario took longer than %v\n%s", longest, out.String())
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(strings.TrimSpace(out.String()))
}

// X5, P8, P9, UI-009, UI-010: what a person does in the console, in a real browser.
func TestX5_InABrowser(t *testing.T) {
	browser(t)
	for _, scenario := range []string{"approve", "deny", "hunks", "always", "undo", "try", "restart", "hostile", "keyboard", "roles", "plain", "tabs", "media", "documents", "paint"} {
		t.Run(scenario, func(t *testing.T) {
			play(t, open(t, t.TempDir()), scenario)
		})
	}
}

// TestScreenshots draws the pages of a day at the corner shop into the folder that TACKLE_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	to := os.Getenv("TACKLE_SCREENSHOTS")
	if to == "" {
		t.Skip("TACKLE_SCREENSHOTS names no folder for pictures, so none are made")
	}
	to, err := filepath.Abs(to)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(os.TempDir(), "corner-shop") // a name that reads well in a picture
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatalf("%v; another run draws at this moment, or one was killed: then remove the folder", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.CopyFS(dir, os.DirFS("../../examples/sample")); err != nil {
		t.Fatal(err)
	}
	play(t, open(t, dir), "screenshots", "TO="+to)
}
