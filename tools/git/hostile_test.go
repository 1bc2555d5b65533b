//go:build linux || darwin

package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/tool"
)

// A plant is a way in which a repository makes plain git run a program of its own.
type plant struct {
	name string
	// set plants it. EVIL is a program that leaves a canary and prints its input or its last argument; CANARY the file.
	config [][2]string // settings of the repository
	files  map[string]string
	set    func(w *world, evil string)
	// trigger are arguments with which plain git runs the program, which shows that the plant is alive. Empty where only
	// other commands than those of the tool would run it, or a terminal is needed.
	trigger []string
}

var plants = []plant{
	{name: "file system monitor", config: [][2]string{{"core.fsmonitor", "EVIL"}}, trigger: []string{"status"}},
	{name: "file system monitor with a shell", config: [][2]string{{"core.fsmonitor", "touch CANARY; false"}}, trigger: []string{"status"}},
	{name: "external diff", config: [][2]string{{"diff.external", "EVIL"}}, trigger: []string{"diff"}},
	{name: "diff driver", config: [][2]string{{"diff.x.command", "EVIL"}}, files: attributes("diff=x"), trigger: []string{"diff"}},
	{name: "text converter", config: [][2]string{{"diff.x.textconv", "EVIL"}}, files: attributes("diff=x"), trigger: []string{"log", "-p"}},
	{name: "text converter of blame", config: [][2]string{{"diff.x.textconv", "EVIL"}}, files: attributes("diff=x"), trigger: []string{"blame", "a.txt"}},
	{name: "text converter with a cache", config: [][2]string{{"diff.x.textconv", "EVIL"}, {"diff.x.cachetextconv", "true"}}, files: attributes("diff=x"), trigger: []string{"show"}},
	{name: "filter", config: [][2]string{{"filter.x.clean", "EVIL"}}, files: attributes("filter=x"), trigger: []string{"status"}},
	{name: "filter that is required", config: [][2]string{{"filter.x.clean", "EVIL"}, {"filter.x.smudge", "EVIL"}, {"filter.x.required", "true"}}, files: attributes("filter=x"), trigger: []string{"diff"}},
	{name: "filter as a process", config: [][2]string{{"filter.x.process", "EVIL"}}, files: attributes("filter=x"), trigger: []string{"diff"}},
	{name: "filter with an odd name", config: [][2]string{{"filter.X.y Z.clean", "EVIL"}}, files: attributes("filter=X.y"), trigger: nil},
	{name: "filter by info/attributes", config: [][2]string{{"filter.x.clean", "EVIL"}}, files: map[string]string{".git/info/attributes": "* filter=x\n"}, trigger: []string{"status"}},
	{name: "filter by an attributes file elsewhere", config: [][2]string{{"filter.x.clean", "EVIL"}, {"core.attributesfile", "attrs"}}, files: map[string]string{"attrs": "* filter=x\n"}, trigger: []string{"status"}},
	{name: "filter by an included file", config: [][2]string{{"include.path", "../included"}}, files: map[string]string{".gitattributes": "* filter=x\n", "included": "[filter \"x\"]\n\tclean = EVIL\n"}, trigger: []string{"status"}},
	{name: "filter by a conditional include", config: [][2]string{{"includeif.gitdir:**.path", "../included"}}, files: map[string]string{".gitattributes": "* filter=x\n", "included": "[filter \"x\"]\n\tclean = EVIL\n"}, trigger: []string{"status"}},
	{name: "filter by the configuration of a work tree", config: [][2]string{{"extensions.worktreeconfig", "true"}}, files: map[string]string{".gitattributes": "* filter=x\n", ".git/config.worktree": "[filter \"x\"]\n\tclean = EVIL\n"}, trigger: []string{"status"}},
	{name: "hook after the index changed", files: map[string]string{".git/hooks/post-index-change": "#!/bin/sh\ntouch CANARY\n"}, trigger: []string{"status"}, set: func(w *world, _ string) {
		w.put("a.txt", "one\nTWO\nthree\n") // as it was, with another time: status writes the index
	}},
	{name: "hooks elsewhere", config: [][2]string{{"core.hookspath", "hooks"}}, files: map[string]string{"hooks/post-index-change": "#!/bin/sh\ntouch CANARY\n"}, trigger: []string{"status"}, set: func(w *world, _ string) {
		w.put("a.txt", "one\nTWO\nthree\n")
	}},
	{name: "signature checker", config: [][2]string{{"log.showsignature", "true"}, {"gpg.program", "EVIL"}}, set: signed, trigger: []string{"log"}},
	{name: "signature checker of another format", config: [][2]string{{"log.showsignature", "true"}, {"gpg.openpgp.program", "EVIL"}}, set: signed, trigger: []string{"show"}},
	{name: "pretty format with a signature", config: [][2]string{{"format.pretty", "%G?"}, {"gpg.program", "EVIL"}}, set: signed, trigger: []string{"log"}},
	{name: "missing object of a partial clone", set: promisor, trigger: []string{"log", "-p"}},
	{name: "submodule with a monitor", set: submodule("core.fsmonitor", "touch CANARY; false"), trigger: []string{"status"}},
	{name: "submodule with a filter", set: submodule("filter.x.clean", "touch CANARY; cat"), trigger: []string{"diff"}},
	{name: "submodule in a diff", config: [][2]string{{"diff.submodule", "diff"}}, set: submodule("diff.external", "touch CANARY"), trigger: []string{"diff"}},
	{name: "summary of submodules", config: [][2]string{{"status.submodulesummary", "true"}}, set: submodule("core.fsmonitor", "touch CANARY; false"), trigger: []string{"status"}},
	{name: "work tree elsewhere", config: [][2]string{{"core.worktree", "/"}}},
	{name: "nested repository", set: func(w *world, evil string) {
		w.in(w.mkdir("ws/nested"), "init", "-q", ".")
		w.in(w.mkdir("ws/nested"), "config", "core.fsmonitor", evil)
	}},
	{name: "pager", config: [][2]string{{"core.pager", "EVIL"}, {"pager.status", "EVIL"}, {"pager.diff", "EVIL"}, {"pager.log", "EVIL"}, {"pager.show", "EVIL"}, {"pager.blame", "EVIL"}}},
	{name: "aliases", config: [][2]string{{"alias.status", "!EVIL"}, {"alias.rev-parse", "!EVIL"}, {"alias.diff", "!EVIL"}, {"alias.log", "!EVIL"}}},
	{name: "editors, helpers and proxies", config: [][2]string{{"core.editor", "EVIL"}, {"sequence.editor", "EVIL"}, {"core.askpass", "EVIL"}, {"credential.helper", "!EVIL"}, {"core.sshcommand", "EVIL"},
		{"core.gitproxy", "EVIL"}, {"ssh.variant", "EVIL"}, {"interactive.difffilter", "EVIL"}, {"diff.tool", "x"}, {"difftool.x.cmd", "EVIL"}, {"merge.tool", "x"}, {"mergetool.x.cmd", "EVIL"},
		{"merge.x.driver", "EVIL"}, {"uploadpack.packobjectshook", "EVIL"}, {"core.alternaterefscommand", "EVIL"}, {"trailer.x.command", "EVIL"}, {"trailer.x.cmd", "EVIL"}, {"submodule.x.update", "!EVIL"},
		{"remote.origin.uploadpack", "EVIL"}, {"remote.origin.receivepack", "EVIL"}, {"remote.origin.vcs", "evil"}, {"url.ext::EVIL.insteadof", "x"}, {"protocol.allow", "always"}, {"protocol.ext.allow", "always"},
		{"gc.auto", "1"}, {"maintenance.auto", "true"}, {"sendemail.smtpserver", "EVIL"}, {"browser.x.cmd", "EVIL"}, {"man.x.cmd", "EVIL"}, {"tar.x.command", "EVIL"}, {"guitool.x.cmd", "EVIL"}, {"hook.x.command", "EVIL"}, {"hook.x.event", "post-index-change"}}},
	{name: "files that are read", config: [][2]string{{"blame.ignorerevsfile", "/dev/zero"}, {"mailmap.file", "/dev/zero"}, {"diff.orderfile", "/dev/zero"}, {"core.excludesfile", "/dev/zero"}, {"include.path", "/dev/zero"}, {"commit.template", "/dev/zero"}}},
}

func attributes(what string) map[string]string {
	return map[string]string{".gitattributes": "* " + what + "\n"}
}

// signed adds a commit with a signature, which git wants to check.
func signed(w *world, _ string) {
	tree := strings.TrimSpace(w.plain("rev-parse", "HEAD^{tree}"))
	head := strings.TrimSpace(w.plain("rev-parse", "HEAD"))
	file := filepath.Join(w.top, "commit")
	text := "tree " + tree + "\nparent " + head + "\nauthor Ada <ada@example.org> 1767319445 +0100\ncommitter Ada <ada@example.org> 1767319445 +0100\n" +
		"gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\nsigned\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	id := strings.TrimSpace(w.plain("hash-object", "-t", "commit", "-w", file))
	w.plain("update-ref", "HEAD", id)
}

// promisor takes an object away and names a remote that has it, behind a transport that is a command.
func promisor(w *world, _ string) {
	id := strings.TrimSpace(w.plain("rev-parse", "HEAD~1:a.txt"))
	if err := os.Remove(filepath.Join(w.dir, ".git", "objects", id[:2], id[2:])); err != nil {
		w.t.Fatal(err)
	}
	for _, s := range [][2]string{{"core.repositoryformatversion", "1"}, {"extensions.partialclone", "origin"}, {"remote.origin.promisor", "true"}, {"remote.origin.url", "ext::touch " + filepath.Join(w.top, "CANARY")},
		{"protocol.ext.allow", "always"}} {
		w.plain("config", s[0], s[1])
	}
}

// submodule adds one, changed and with a configuration of its own.
func submodule(key, value string) func(*world, string) {
	return func(w *world, _ string) {
		other := w.mkdir("other")
		w.in(other, "init", "-q", "-b", "main", ".")
		if err := os.WriteFile(filepath.Join(other, "s.txt"), []byte("s\n"), 0o644); err != nil {
			w.t.Fatal(err)
		}
		w.in(other, "add", ".")
		w.in(other, "commit", "-q", "-m", "s")
		w.plain("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "mod")
		w.plain("commit", "-q", "-m", "submodule")
		canary := filepath.Join(w.top, "CANARY")
		w.in(filepath.Join(w.dir, "mod"), "config", key, strings.ReplaceAll(value, "CANARY", canary))
		w.put("mod/.gitattributes", "* filter=x\n")
		w.put("mod/s.txt", "S\n")
	}
}

// looks are calls of all kinds.
var looks = []args{{"op": "status"}, {"op": "diff"}, {"op": "diff", "staged": true, "stat": true}, {"op": "diff", "rev": "HEAD~1"}, {"op": "log", "path": "a.txt"}, {"op": "show"}, {"op": "show", "rev": "HEAD:a.txt"},
	{"op": "blame", "path": "a.txt"}, {"op": "blame", "path": "a.txt", "rev": "HEAD"}}

// GIT-001…015: a repository with any known way to run a program runs none through the tool, and nothing of it changes. Plain
// git shows first that the way is open.
func TestHostileRepository(t *testing.T) {
	alive := 0
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			w := newWorld(t, option{})
			canary, evil := filepath.Join(w.top, "CANARY"), filepath.Join(w.top, "evil")
			fill := func(s string) string {
				return strings.ReplaceAll(strings.ReplaceAll(s, "EVIL", evil), "CANARY", canary)
			}
			if err := os.WriteFile(evil, []byte(fill("#!/bin/sh\ntouch CANARY\nfor f; do :; done\nif [ -f \"$f\" ]; then cat \"$f\"; else cat; fi\n")), 0o755); err != nil {
				t.Fatal(err)
			}
			w.repository()
			prepare := func() {
				w.put("a.txt", "one\nTwO\nthree\n")
				for name, text := range p.files {
					w.put(name, fill(text))
					if strings.Contains(name, "hooks/") {
						if err := os.Chmod(filepath.Join(w.dir, name), 0o755); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			prepare()
			if p.set != nil {
				p.set(w, evil)
			}
			own, err := os.ReadFile(filepath.Join(w.dir, ".git", "config"))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.config {
				own = append(own, line(entry{fill(s[0]), fill(s[1])})...)
			}
			w.put(".git/config", string(own))
			if p.trigger != nil {
				_, err := w.try(w.dir, p.trigger...)
				if _, missing := os.Lstat(canary); missing != nil {
					t.Fatalf("plain git %q does not run it (%v): the plant proves nothing", p.trigger, err)
				}
				alive++
				if err := os.Remove(canary); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(p.name, "hook") {
				w.put("a.txt", "one\nTWO\nthree\n") // plain git has written the index
			}
			before := w.digest(w.dir)
			for _, a := range looks {
				res := w.call(a)
				if _, err := os.Lstat(canary); err == nil {
					t.Fatalf("git %v ran a program of the repository:\n%s", a, res.Text())
				}
				if !res.OK() && p.name != "missing object of a partial clone" {
					t.Errorf("git %v: %s", a, res.Text())
				}
			}
			if after := w.digest(w.dir); after != before {
				t.Errorf("looking changed the repository:\nbefore %s\nafter %s", before, after)
			}
		})
	}
	t.Logf("%d plants, %d shown to be alive with plain git", len(plants), alive)
	if alive < 20 {
		t.Errorf("only %d plants are alive", alive)
	}
}

// A partial clone is said to be one, instead of fetching.
func TestPartialClone(t *testing.T) {
	w := newWorld(t, option{})
	w.repository()
	promisor(w, "")
	w.holds(w.fails(args{"op": "show", "rev": "HEAD"}, tool.OperationFailed), "partial clone", "not fetched here", "git fetch")
	w.holds(w.ok(args{"op": "status"}), "On main")
	w.holds(w.ok(args{"op": "log"}), "second", "first")
}

// GIT-014: no argument becomes an option, and none leaves the repository.
func TestArgumentsAreNoOptions(t *testing.T) {
	w := newWorld(t, option{})
	w.repository()
	out := filepath.Join(w.top, "OUT")
	for _, a := range []args{
		{"op": "show", "rev": "--output=" + out}, {"op": "diff", "rev": "--output=" + out}, {"op": "log", "rev": "--output=" + out}, {"op": "diff", "rev": "--output=" + out + "..HEAD"},
		{"op": "diff", "rev": "HEAD..--output=" + out}, {"op": "blame", "path": "a.txt", "rev": "--contents=" + out}, {"op": "show", "rev": "-s"}, {"op": "show", "rev": "HEAD:--output=" + out}, {"op": "log", "rev": "^HEAD"}, {"op": "log", "rev": "HEAD\n--all"},
		{"op": "log", "rev": "--all"}, {"op": "show", "rev": "HEAD:../x"}, {"op": "show", "rev": "HEAD:/etc/passwd"}, {"op": "show", "rev": ":a.txt"}, {"op": "show", "rev": "HEAD^{tree}"}, {"op": "show", "rev": "HEAD:a.txt:b"},
	} {
		if res := w.call(a); res.OK() {
			t.Errorf("git %v: %s", a, res.Text())
		} else if res.Err.Code != tool.InvalidParameter && res.Err.Code != tool.NotFound {
			t.Errorf("git %v: %s", a, res.Text())
		}
	}
	// Names of files that look like options or patterns are names.
	for _, name := range []string{"--output=OUT", "-n", ":(top)a", "*.txt", "a\nb", "[a]", "quo\"te", "é"} {
		w.put(name, "x\n")
	}
	w.plain("add", ".")
	w.plain("commit", "-q", "-m", "odd names")
	for _, name := range []string{"--output=OUT", "-n", ":(top)a", "*.txt", "a\nb", "[a]", "quo\"te", "é"} {
		w.put(name, "y\n")
		path := "./" + name
		w.holds(w.ok(args{"op": "diff", "path": path}), "1 file, +1 -1", "-x\n+y")
		w.holds(w.ok(args{"op": "log", "path": path}), "odd names", "!second")
		w.holds(w.ok(args{"op": "blame", "path": path, "rev": "HEAD"}), "1: x")
		if !strings.HasPrefix(name, "-") {
			w.holds(w.ok(args{"op": "show", "rev": "HEAD:" + strings.ReplaceAll(name, "\n", "\n")}), "x")
		}
	}
	if _, err := os.Lstat(out); err == nil {
		t.Error("a file was written")
	}
}
