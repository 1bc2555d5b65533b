package git

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Configurations are read as git reads them, bad ones refused where git refuses them.
func TestParseConfigAgrees(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: the reader is not compared with it")
	}
	file := filepath.Join(t.TempDir(), "config")
	check := func(t *rapid.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(git, "config", "-z", "--no-includes", "--list", "--file", file)
		c.Dir, c.Env = filepath.Dir(file), []string{"HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "PATH=/usr/bin:/bin", "GIT_DIR=/nonexistent"}
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		bad := c.Run() != nil
		got, err := parseConfig(text)
		if bad != (err != nil) {
			t.Fatalf("%q: git says %q, we say %v", text, errs.String(), err)
		}
		if want := entries(out.String()); !bad && !slices.Equal(got, want) {
			t.Fatalf("%q is read as %q, by git as %q", text, got, want)
		}
	}
	pieces := []string{"[core]", "[core]\n", "\n", "\r\n", "[branch \"a\"]\n", "[branch \"a\\\"b\\\\c\"]\n", "[a.B]\n", "[Remote \"O\"]", "autoCRLF", " = ", "=", "true", "\"", "\\n", "\\\n", "\\", " ; x", "#", "\t", " ", "key = value\n", "k-1 = a b  c \n", "x=\"a # b\" ; c\n",
		"url = https://x/y\n", "é", "[", "]", "[core \"", "= a\\tb\n", "\xef\xbb\xbf", "1x", "-", "a", "\x0b", "\r", "[x\"y\"]", "[ core]", "[core ]", "merge = refs/heads/main\n", "\"\"", "a=\n", "b\n", "\\q"}
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), ""))
	})
}
