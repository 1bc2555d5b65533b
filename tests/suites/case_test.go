package suites

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// testCase is one folder of a suite.
type testCase struct {
	dir  string
	name string // suite/case
	call struct {
		Tool string                     `json:"tool"`
		Args map[string]json.RawMessage `json:"args"`
	}
	meta struct {
		Suite        string            `json:"suite"`
		Expect       string            `json:"expect"` // success or error
		Tier         string            `json:"tier"`
		Format       string            `json:"format"`
		Agreement    string            `json:"oracle_agreement"`
		Strip        *int              `json:"strip"`
		Setup        []step            `json:"setup"`
		Post         []check           `json:"post"`
		MustNotExist []string          `json:"must_not_exist"`
		Modes        map[string]string `json:"expected_mode"`
		Alternatives []string          `json:"acceptable_alternatives"`
		AltDirs      []string          `json:"alternative_expected_dirs"`
		Disputed     json.RawMessage   `json:"disagreements"`
	}
}

type step struct {
	Op, Path, Content, Target, Mode string
}

type check struct {
	Check  string          `json:"check"`
	Path   string          `json:"path"`
	Equals json.RawMessage `json:"equals"`
}

// load reads all cases of the suites folder whose tool is one of the given.
func load(root string, tools ...string) ([]testCase, error) {
	metas, err := filepath.Glob(filepath.Join(root, "*", "*", "meta.json"))
	if err != nil {
		return nil, err
	}
	var out []testCase
	for _, m := range metas {
		c := testCase{dir: filepath.Dir(m)}
		c.name = filepath.Base(filepath.Dir(c.dir)) + "/" + filepath.Base(c.dir)
		for file, into := range map[string]any{"meta.json": &c.meta, "call.json": &c.call} {
			b, err := os.ReadFile(filepath.Join(c.dir, file))
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(b, into); err != nil {
				return nil, fmt.Errorf("%s/%s: %w", c.dir, file, err)
			}
		}
		if slices.Contains(tools, c.call.Tool) {
			out = append(out, c)
		}
	}
	return out, nil
}

// args returns the arguments for the tool. A patch that is no UTF-8 goes as the bytes it has. In every project whose
// multi-edit cases are here one edit that fails fails the call; that is our option atomic, so it is asked for.
func (c *testCase) args() (json.RawMessage, error) {
	args := map[string]any{}
	for k, v := range c.call.Args {
		args[k] = v
	}
	if b64, ok := c.call.Args["patch_base64"]; ok {
		var s string
		if err := json.Unmarshal(b64, &s); err != nil {
			return nil, err
		}
		raw, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return nil, err
		}
		delete(args, "patch_base64")
		args["patch"] = string(raw)
	}
	if c.call.Tool == "multi_edit" {
		args["atomic"] = true
	}
	return json.Marshal(args)
}

// prepare lays the workspace of a case into ws.
func (c *testCase) prepare(ws string) error {
	if err := os.MkdirAll(ws, 0o755); err != nil {
		return err
	}
	if input := filepath.Join(c.dir, "input"); exists(input) {
		if err := os.CopyFS(ws, os.DirFS(input)); err != nil {
			return err
		}
		// The data may lie on a read-only tree; the workspace is an ordinary one.
		err := filepath.WalkDir(ws, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.Type()&fs.ModeSymlink != 0 {
				return err
			}
			info, err := os.Stat(filepath.Join(input, strings.TrimPrefix(p, ws)))
			if err != nil {
				return err
			}
			return os.Chmod(p, info.Mode().Perm()|0o600|(info.Mode().Perm()&0o111|0o100)*boolMode(d.IsDir()))
		})
		if err != nil {
			return err
		}
	}
	for _, s := range c.meta.Setup {
		if err := s.do(ws); err != nil {
			return fmt.Errorf("setup %s %s: %w", s.Op, s.Path, err)
		}
	}
	return nil
}

func boolMode(b bool) fs.FileMode {
	if b {
		return 1
	}
	return 0
}

func (s step) do(ws string) error {
	p := filepath.Join(ws, s.Path)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	switch s.Op {
	case "write":
		return os.WriteFile(p, []byte(s.Content), 0o644)
	case "symlink":
		return os.Symlink(s.Target, p)
	case "hardlink":
		return os.Link(filepath.Join(ws, s.Target), p)
	case "chmod":
		mode, err := strconv.ParseUint(s.Mode, 8, 32)
		if err != nil {
			return err
		}
		return os.Chmod(p, fs.FileMode(mode))
	case "mkdir":
		return os.MkdirAll(p, 0o755)
	}
	return fmt.Errorf("unknown step %q", s.Op)
}

// treeOf reads every file below root; links appear by name only. A missing root is an empty tree.
func treeOf(root string) (map[string]string, error) {
	t := map[string]string{}
	if !exists(root) {
		return t, nil
	}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			t[rel] = "<link>"
			return nil
		}
		t[rel] = string(b)
		return nil
	})
	return t, err
}

func exists(p string) bool { _, err := os.Lstat(p); return err == nil }

// verdict compares what a call left behind with what the case expects: "pass", "alt:…" or "FAIL: …".
func (c *testCase) verdict(ws string, before map[string]string, ok bool, message string) (string, error) {
	got, err := treeOf(ws)
	if err != nil {
		return "", err
	}
	want, err := treeOf(filepath.Join(c.dir, "expected"))
	if err != nil {
		return "", err
	}
	for _, s := range c.meta.Setup { // links made by setup are not part of expected/
		k := filepath.Clean(s.Path)
		if v, there := got[k]; there && !strings.HasPrefix(k, "..") {
			if _, known := want[k]; !known {
				want[k] = v
			}
		}
	}
	if bad := c.after(ws, ok); bad != "" {
		return "FAIL: " + bad, nil
	}
	wantOK := c.meta.Expect == "success"
	unchanged := equalTrees(got, before)
	switch {
	case ok == wantOK && equalTrees(got, want):
		return "pass", nil
	case slices.Contains(c.meta.Alternatives, "error_unchanged") && !ok && unchanged:
		return "alt:error_unchanged", nil
	case !wantOK && !ok && unchanged:
		return "alt:atomic", nil
	}
	for _, a := range c.meta.AltDirs {
		alt, err := treeOf(filepath.Join(c.dir, a))
		if err != nil {
			return "", err
		}
		if equalTrees(got, alt) && (a != "expected.atomic" || !ok) {
			return "alt:" + strings.TrimPrefix(a, "expected."), nil
		}
	}
	outcome := map[bool]string{true: "success", false: "error"}
	return fmt.Sprintf("FAIL: %s, wanted %s; differs: %v; %s", outcome[ok], c.meta.Expect, difference(got, want), firstLine(message)), nil
}

// after checks what a tree comparison does not see.
func (c *testCase) after(ws string, ok bool) string {
	for _, p := range c.meta.MustNotExist {
		if exists(filepath.Join(ws, p)) {
			return "must not exist: " + p
		}
	}
	for _, ch := range c.meta.Post {
		p := filepath.Join(ws, ch.Path)
		var equals string
		if len(ch.Equals) > 0 {
			if err := json.Unmarshal(ch.Equals, &equals); err != nil {
				return err.Error()
			}
		}
		info, err := os.Lstat(p)
		switch ch.Check {
		case "content":
			if b, err := os.ReadFile(p); err != nil || string(b) != equals {
				return "content of " + ch.Path
			}
		case "is_symlink":
			if err != nil || info.Mode()&fs.ModeSymlink == 0 {
				return "no link any more: " + ch.Path
			}
		case "mode":
			if m, perr := strconv.ParseUint(equals, 8, 32); err != nil || perr != nil || info.Mode().Perm() != fs.FileMode(m) {
				return "mode of " + ch.Path
			}
		default:
			return "unknown check " + ch.Check
		}
	}
	if ok {
		for p, mode := range c.meta.Modes {
			m, err := strconv.ParseUint(mode, 8, 32)
			info, serr := os.Stat(filepath.Join(ws, p))
			if err != nil || serr != nil || info.Mode()&0o111 != fs.FileMode(m)&0o111 {
				return "mode of " + p
			}
		}
	}
	return ""
}

func equalTrees(a, b map[string]string) bool { return len(difference(a, b)) == 0 }

func difference(a, b map[string]string) []string {
	var out []string
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			out = append(out, k)
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

func firstLine(s string) string {
	line, _, _ := bytes.Cut([]byte(s), []byte("\n"))
	return string(line)
}
