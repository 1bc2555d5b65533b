//go:build linux || darwin

package attacks

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
)

// lineFiles are the files that the lines of attacks speak of.
func lineFiles() map[string]string {
	return map[string]string{"ws/f": "hello\n", "ws/in": "data\n", "ws/m": "0 string hello hi\n", "ws/c": "--pre=./evil\n", "ws/nums": "1\n2\n", "ws/evil": evil, "ws/p/ls": evil, "ws/sub/x": "x\n"}
}

// digest renders the names, modes, sizes and times below a folder.
func digest(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, p, info.Mode(), info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// SHP, SHF, GIT: through the front door no line of an attack runs while nobody is there, in the foreground or as a task, and
// nothing is left of the trial.
func TestShellAttacks_Box(t *testing.T) {
	table := tricks(t)
	calls := 0
	for _, id := range slices.Sorted(maps.Keys(table)) {
		p := newPlace(t, lineFiles())
		box := p.open(tackle.Config{})
		before := digest(t, filepath.Join(p.dir, "ws"))
		for i, c := range table[id] {
			args := map[string]any{"command": c.Line}
			if i%2 == 1 {
				args["background"] = true
			}
			calls++
			if res := call(t, box, "shell", args); res.OK() || res.Denied == nil {
				t.Fatalf("%s: %q ran: %s", id, c.Line, res.Text())
			}
		}
		if after := digest(t, filepath.Join(p.dir, "ws")); after != before {
			t.Errorf("%s: the workspace has changed:\n%s\n%s", id, before, after)
		}
		for _, name := range []string{"CANARY", "OUT"} {
			if _, err := os.Lstat(filepath.Join(p.dir, name)); err == nil {
				t.Errorf("%s: %s is left in the home folder", id, name)
			}
		}
		if list, err := box.Tasks().List(t.Context(), ""); err != nil || len(list) > 0 {
			t.Errorf("%s: tasks were made: %v %v", id, list, err)
		}
	}
	t.Logf("%d calls", calls)
}

// H3, P7: the everyday commands run through the front door without a prompt, while nobody is there, and change nothing. Only
// what reads a file outside of the workspace is asked about, as it is of every tool (P6).
func TestEverydayCommands_Box(t *testing.T) {
	p := newPlace(t, lineFiles())
	box := p.open(tackle.Config{})
	f, err := os.Open("lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := digest(t, filepath.Join(p.dir, "ws"))
	ran, outside := 0, 0
	for s := bufio.NewScanner(f); s.Scan(); {
		kind, text, _ := strings.Cut(s.Text(), " ")
		var line string
		if kind != "everyday" && kind != "looks" || json.Unmarshal([]byte(text), &line) != nil {
			continue
		}
		res := call(t, box, "shell", map[string]any{"command": line})
		switch {
		case strings.Contains(line, "/etc/passwd"):
			if outside++; res.Denied == nil {
				t.Errorf("%q reads outside of the workspace unasked", line)
			}
		case res.Denied != nil:
			t.Errorf("%q: %s", line, res.Text())
		default:
			ran++
		}
	}
	if ran != 83 || outside != 1 {
		t.Errorf("%d commands ran, %d read outside; want 83 and 1", ran, outside)
	}
	if after := digest(t, filepath.Join(p.dir, "ws")); after != before {
		t.Errorf("the workspace has changed:\n%s\n%s", before, after)
	}
}

// SELF-001, SELF-002, SELF-004, SELF-005, SELF-006, SELF-015, SELF-016, FS-028: what a command is known to write is judged
// like the writes of file tools. A rule that spells the command out lets it run unconfined, and the guard of protected names
// asks all the same.
func TestSELF_ProtectedNamesByCommands(t *testing.T) {
	var rules []permission.Rule
	spell := func(line string, argvs ...string) string {
		for _, a := range argvs {
			rules = append(rules, permission.Rule{Permission: "shell", Pattern: `{"argv": ` + a + `, "redirects": true}`})
		}
		return line
	}
	p := newPlace(t, map[string]string{"ws/.git/HEAD": "ref: refs/heads/main\n", "ws/.git/config": "", "ws/.git/hooks/x": "", "ws/.vscode/x": "", "ws/.bashrc": ""})
	home := p.dir
	free := spell("cp a.txt b.txt", `["cp","a.txt","b.txt"]`)
	lines := []string{
		spell("cp a.txt .git/hooks/pre-commit", `["cp","a.txt",".git/hooks/pre-commit"]`),
		spell("cp a.txt .git/hooks/../config", `["cp","a.txt",".git/hooks/../config"]`),
		spell("cd .git/hooks && cp ../../a.txt pre-commit", `["cp","../../a.txt","pre-commit"]`),
		spell("mv a.txt .git/info/attributes", `["mv","a.txt",".git/info/attributes"]`),
		spell("echo x > .git/config", `["echo","x"]`),
		spell("echo x >> .GIT/config"),
		spell("echo x | tee .git/hooks/pre-commit", `["tee",".git/hooks/pre-commit"]`),
		spell("sed -i s/x/y/ .git/config", `["sed","-i","s/x/y/",".git/config"]`),
		spell("chmod +x .git/hooks/x", `["chmod","+x",".git/hooks/x"]`),
		spell("ln -s a.txt .git/hooks/pre-push", `["ln","-s","a.txt",".git/hooks/pre-push"]`),
		spell("dd if=a.txt of=.git/config", `["dd","if=a.txt","of=.git/config"]`),
		spell("touch .vscode/tasks.json", `["touch",".vscode/tasks.json"]`),
		spell("timeout 5 touch .mcp.json", `["touch",".mcp.json"]`, `["timeout","5","touch",".mcp.json"]`),
		spell("bash -c 'touch x.code-workspace'", `["touch","x.code-workspace"]`),
		spell("echo x > .git", `["echo","x"]`),
		spell("cp a.txt "+home+"/.bashrc", `["cp","a.txt","`+home+`/.bashrc"]`),
		spell("echo x >> " + home + "/.ssh/authorized_keys"),
		spell("mkdir -p .claude/skills", `["mkdir","-p",".claude/skills"]`),
		spell("rm -r .git/hooks", `["rm","-r",".git/hooks"]`),
		spell("echo x > .tackle/config.yaml"),
		spell("cp a.txt "+home+"/state/trust", `["cp","a.txt","`+home+`/state/trust"]`),
	}
	rules = append(rules, permission.Rule{Permission: "edit", Pattern: "**"}, permission.Rule{Permission: "edit", Pattern: "/**"})
	for _, posture := range []string{"guarded", "auto"} {
		box := p.open(tackle.Config{Posture: posture, Rules: rules})
		before := digest(t, filepath.Join(p.dir, "ws"))
		for _, line := range lines {
			res := call(t, box, "shell", map[string]any{"command": line})
			if res.Denied == nil {
				t.Errorf("posture %s: %s: %s", posture, line, res.Text())
			}
		}
		if after := digest(t, filepath.Join(p.dir, "ws")); after != before {
			t.Errorf("posture %s: the workspace has changed:\n%s\n%s", posture, before, after)
		}
		if res := call(t, box, "shell", map[string]any{"command": free}); !res.OK() {
			t.Errorf("posture %s: %s is not protected: %s", posture, free, res.Text())
		}
		if err := os.Remove(filepath.Join(p.dir, "ws", "b.txt")); err != nil {
			t.Error(err)
		}
	}
}

// SELF-018: no command that says what it writes or reads gets at our own state, whatever rules allow; a person is asked.
func TestSELF018_OwnStateByCommands(t *testing.T) {
	p := newPlace(t, nil)
	asked := 0
	state := filepath.Join(p.dir, "state")
	box := p.open(tackle.Config{Posture: "auto", Rules: []permission.Rule{{Permission: "read_file", Pattern: "/**"}, {Permission: "read_file", Pattern: "**"}}})
	for _, line := range []string{"cat " + state + "/trust", "ls " + state, "grep -r x " + state, "find " + state, "cat < " + state + "/trust", "head -c 10 " + state + "/*", "cd " + state + " && cat trust"} {
		if res := call(t, box, "shell", map[string]any{"command": line}); res.Denied == nil {
			t.Errorf("%s: %s", line, res.Text())
		}
	}
	box = p.open(tackle.Config{Faces: always(t, func(*ask.Request) { asked++ })})
	if res := call(t, box, "shell", map[string]any{"command": "ls " + state}); !res.OK() || asked != 1 {
		t.Errorf("asked %d times: %s", asked, res.Text())
	}
	if _, err := box.VerifyLedger(t.Context()); err != nil {
		t.Error(err)
	}
}

// SHP-020, SHP-038, P6: no line that only looks tells what is in a file that is asked about, whatever it calls the file. The
// files are there, and bash expands what the lines say.
func TestSecretsByCommands(t *testing.T) {
	p := newPlace(t, map[string]string{"ws/f": "x\n", "ws/.env": "KEY=hush\n", "ws/sub/.env": "KEY=hush\n", "ws/sub/x": "x\n", "ws/id_rsa": "hush\n", "out/x": "hush\n", ".ssh/id": "hush\n"})
	box := p.open(tackle.Config{})
	tried := 0
	for line := range strings.SplitSeq(strings.TrimSpace(secretLines), "\n") {
		tried++
		if res := call(t, box, "shell", map[string]any{"command": line}); res.Denied == nil || strings.Contains(res.Text(), "hush") {
			t.Errorf("%s: %s", line, res.Text())
		}
	}
	if tried < 80 {
		t.Errorf("only %d lines", tried)
	}
	for _, line := range []string{"cat f", "cat sub/*", "grep -r x sub/x", "find . -name '*'", "ls -la . sub", "find . -exec ls {} +", "stat f", "du -a ."} {
		if res := call(t, box, "shell", map[string]any{"command": line}); res.Denied != nil || strings.Contains(res.Text(), "hush") {
			t.Errorf("%s: %s", line, res.Text())
		}
	}
}

const secretLines = `
cat .env
cat < .env
cat<.env
cat 0<.env
{ cat; } < .env
(cat) <.env
cat f .env
cat f -A .env
cat -- .env
cat ./sub/../.env
cat .//.env
cat sub/.env
cat ../ws/.env
cat /proc/self/cwd/.env
cat .e*
cat .??*
cat .en[v]
cat */.env
cat sub/.*
cat *
cat id_*
(cd sub; cat .env)
cd sub && cd .. && cat .env
cd sub; cat ../.env
cd ./sub/.. ; sort .env
cd .. && cat out/x
cd ../out; cat x
bash -c 'cat .env'
bash -lc 'cd sub; cat .env'
sh -c 'cat < .env'
eval cat .env
env cat .env
nice cat .env
timeout 5 cat .env
find . -name .env -exec cat {} +
find . -name '.e*' -exec tac {} +
find sub -type f -exec head {} ';'
find . -exec timeout 5 cat {} ';'
find .. -exec cat {} +
find . >/dev/null; grep -r hush .
grep -r hush .
grep -r hush
grep -R hush sub
grep -d recurse hush sub
grep --directories=recurse hush sub
grep '' .env
grep -e '' .env
egrep . .env
grep -h . sub/.*
diff -r sub f
diff f .env
cmp f .env
comm f .env
head -1 .env
head -c 5 .env f
tail -n1 ./.env
tail -c +1 .env
tac .env
rev .env
nl .env
sort .env
uniq .env
cut -d= -f2 .env
paste .env
fold .env
expand .env
column .env
tr a b < .env
wc -c < .env
wc -l ./.*
strings .env
xxd .env
od -c .env
hexdump .env
base64 .env
file .env
sha256sum .env
jq -R . .env
sed -n p .env
sed '' ./sub/.env
stat .env
cat ~/.ssh/id
cat x=~/.ssh/id
cat $HOME/.ssh/id
cat "$PWD/.env"
cat $(echo .env)
cat .en{v,w}
echo .env | xargs cat
cat <(cat .env)
cat <<< "$(cat .env)"
read x < .env; echo $x
while read x; do echo $x; done < .env
printf '%s' "$(<.env)"
ls ..
du -a ../out
find / -maxdepth 1
ls -R /root
cat /etc/hostname`

// POL-015: a command in the background is decided on and recorded like one in the foreground, once.
func TestPOL015_Background(t *testing.T) {
	p := newPlace(t, nil)
	asked := 0
	box := p.open(tackle.Config{Faces: always(t, func(*ask.Request) { asked++ })})
	for i, background := range []bool{false, true} {
		req := tackle.NewRequest("shell", map[string]any{"command": "echo x > made", "background": background})
		req.ID = fmt.Sprint("call-", i)
		res, err := box.Call(t.Context(), req)
		if err != nil || !res.OK() {
			t.Fatal(res.Text(), err)
		}
		entries, err := box.Ledger(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		kinds := ""
		for _, e := range entries {
			if e.Call == req.ID {
				kinds += string(e.Kind) + " "
			}
		}
		if asked != i+1 || kinds != "request decision ran " {
			t.Errorf("background %v: asked %d times, recorded as %s", background, asked, kinds)
		}
	}
	denied := p.open(tackle.Config{Rules: []permission.Rule{{Permission: "shell", Pattern: `["echo"]`, Action: tool.Deny}}, Faces: always(t, nil)})
	for _, args := range []map[string]any{{"command": "echo x"}, {"command": "echo x", "background": true}, {"command": "ls && echo x", "adopt": true}} {
		if res := call(t, denied, "shell", args); res.Denied == nil {
			t.Errorf("%v: %s", args, res.Text())
		}
	}
}

// SHF-023: where PATH leads into the workspace (an activated environment, say), a program that lies there under the name of one
// that only looks is not run by a line that runs unasked; and where it could be, a person is asked.
func TestSHF023_PlantedOnPath(t *testing.T) {
	p := newPlace(t, map[string]string{"ws/f": "x\n", "ws/.git/HEAD": "ref: refs/heads/main\n", "ws/.git/objects/x": "", "ws/.git/refs/x": ""})
	canary := filepath.Join(p.dir, "ws", "CANARY")
	for _, name := range []string{"ls", "cat", "git", "timeout", "env", "bash", "sh", "mktemp", "ln", "mv", "rm", "mkdir"} {
		p.put("ws/venv/bin/"+name, "#!/bin/sh\n/usr/bin/touch "+canary+"\n")
		if err := os.Chmod(filepath.Join(p.dir, "ws/venv/bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(p.dir, "ws/venv/bin")+":"+os.Getenv("PATH"))
	box := p.open(tackle.Config{Rules: []permission.Rule{{Permission: "shell", Pattern: `["make"]`}}})
	for line, want := range map[string]string{"ls f": "f", "cat f | cat": "x", "timeout 5 ls f": "f", "env ls f": "f", "bash -c 'ls f'": "f", "find f -exec cat {} +": "x", "cd . && ls f": "f"} {
		if res := call(t, box, "shell", map[string]any{"command": line}); !res.OK() || !strings.Contains(res.Text(), want) {
			t.Errorf("%s: %s", line, res.Text())
		}
	}
	if res := call(t, box, "shell", map[string]any{"command": "ls f", "background": true}); !res.OK() {
		t.Error(res.Text())
	}
	call(t, box, "git", map[string]any{"op": "status"})
	for _, line := range []string{"ls f && make", "make | cat", "cat f; make", "timeout 5 echo && make"} {
		if res := call(t, box, "shell", map[string]any{"command": line}); res.Denied == nil {
			t.Errorf("%s: %s", line, res.Text())
		}
	}
	for _, line := range []string{"make", "cd . && echo x && make", "/bin/ls f; make"} {
		if res := call(t, box, "shell", map[string]any{"command": line}); res.Denied != nil {
			t.Errorf("%s: %s", line, res.Text())
		}
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("a program of the workspace was run")
	}
}

// POL-022: another route to a command that is denied is denied, or asked about, as well.
func TestPOL022_OtherRoutes(t *testing.T) {
	p := newPlace(t, nil)
	rules := []permission.Rule{{Permission: "shell", Pattern: "*"}, {Permission: "shell", Pattern: `["touch"]`, Action: tool.Deny}}
	box := p.open(tackle.Config{Rules: rules})
	for _, line := range []string{"touch x", "/usr/bin/touch x", "/proc/self/root/usr/bin/touch x", "/bin/../bin/touch x", "env touch x", "bash -c 'touch x'", "t''ouch x", "$(echo touch) x", "busybox touch x",
		"cp /usr/bin/touch t && ./t x", "python3 -c 'open(\"x\",\"w\")'", "xargs touch <<< x", "find . -maxdepth 0 -exec touch x ';'", "true; : > x", "perl -e 'open F,\">x\"'", "ls || touch x", "TOUCH x"} {
		if res := call(t, box, "shell", map[string]any{"command": line}); res.Denied == nil {
			t.Errorf("%s: %s", line, res.Text())
		}
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "ws", "x")); err == nil {
		t.Error("the file was made")
	}
}

// RES-007: a command that waits for input meets the end of it at once, or says that nobody can type here.
func TestRES007_NoInput(t *testing.T) {
	p := newPlace(t, nil)
	box := p.open(tackle.Config{Faces: always(t, nil)})
	for line, want := range map[string]string{"cat": "(no output)", "cat; echo done": "done", "read x; echo $?": "1", "head -1 /dev/tty": "/dev/tty", "read -p name? x < /dev/tty; echo $?": "1"} {
		if res := call(t, box, "shell", map[string]any{"command": line, "timeout": 60}); !res.OK() || !strings.Contains(res.Text(), want) {
			t.Errorf("%s: %s", line, res.Text())
		}
	}
}

// RES-009: no expression is slow, however long the line that it does not match.
func TestRES009_NoBacktracking(t *testing.T) {
	p := newPlace(t, map[string]string{"ws/long": strings.Repeat("a", 1<<20) + "!\n"})
	box := p.open(tackle.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a search that goes back takes for ever
	defer cancel()
	for _, pattern := range []string{"(a+)+$", "(a|a)*$", "(a*)*b", "^(.*a){20}$", "(a?){50}a{50}c"} {
		res, err := box.Call(ctx, tackle.NewRequest("grep", map[string]any{"pattern": pattern, "path": "long"}))
		if err != nil || !res.OK() && !strings.Contains(res.Text(), "pattern") {
			t.Errorf("%s: %s %v", pattern, res.Text(), err)
		}
	}
	if ctx.Err() != nil {
		t.Error("the searches took longer than a minute")
	}
}
