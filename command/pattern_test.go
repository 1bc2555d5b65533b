package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustPattern(t testing.TB, source string) *Pattern {
	t.Helper()
	p, err := ParsePattern(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return p
}

// allows reports whether a pattern alone allows a line: all of its parts.
func allows(p *Pattern, line string) bool {
	f, err := Parse(line)
	if err != nil || len(f.Parts()) == 0 {
		return false
	}
	for _, i := range f.Parts() {
		if !p.Allows(&f, i) {
			return false
		}
	}
	return true
}

// restricts returns the strictest answer of a pattern about the calls of a line.
func restricts(p *Pattern, line string) Answer {
	f, _ := Parse(line)
	worst := No
	for i := range f.Calls {
		worst = max(worst, p.Restricts(&f, i))
	}
	return worst
}

// P5: what an allow covers. Lines behind "+" are covered, those behind "-" are not.
func TestP5_Allows(t *testing.T) {
	for _, tt := range []struct{ pattern, lines string }{
		{`["git", ["status","diff"], "..."]`, `
			+ git status
			+ git diff --stat HEAD~0
			+ git   diff
			+ 'git' "diff"
			+ /usr/bin/git diff
			+ git diff 2>&1
			+ git diff 2>/dev/null
			+ git diff src/*.go
			+ git diff; git status
			+ git diff && git status | git diff
			+ (git diff)
			+ timeout 5 git diff
			+ nice -n 3 nohup git diff
			+ command git diff
			+ bash -c 'git diff'
			+ bash -lc "git diff && git status"
			+ if git diff; then git status; fi
			+ git diff & git status
			- git
			- git push
			- git -C x diff
			- ./git diff
			- /tmp/git diff
			- git diff > out
			- git diff >> out
			- git diff $X
			- git diff "$X"
			- git diff $(ls)
			- git diff *.go
			- git diff ~/x
			- git diff {a,b}
			- git diff && rm x
			- git diff | sh
			- git diff $(rm x)
			- GIT_EXTERNAL_DIFF=x git diff
			- env A=1 git diff
			- env -i git diff
			- sudo git diff
			- xargs git diff
			- find . -exec git diff {} +
			- sh -c "git diff $X"
			- sh -c 'git diff; rm x'
			- for x in a; do git diff; done
			- git(){ git status; }; git diff
			- X=1; git diff
			- export X=1; git diff
			- [[ a ]] && git diff
			- ssh host git diff
			- watch git diff
			- timeout --unknown 5 git diff
			- git diff <<E` + "\\n$(rm x)\\nE" + `
			- git diff # \` + "\\nrm x" + `
			- git st''atus` + "\u200b"},
		{`["npm", "test"]`, `
			+ npm test
			+ npm test 2>&1
			- npm test x
			- npm
			- npm test; ls`},
		{`["git", "log", {"glob": "src/*"}]`, `
			+ git log src/a.go
			+ git log src/a/b.go
			- git log src/../../x
			- git log lib/a
			- git log src/*`},
		{`["x", {"glob": "*"}]`, `
			+ x a
			- x -rf
			- x
			- x a b`},
		{`{"argv": ["go", "test", "..."], "flags": {"deny": ["-exec", "-toolexec", "-o", "--output"]}}`, `
			+ go test ./...
			+ go test -run X ./...
			- go test -exec ./evil ./...
			- go test -exec=./evil
			- go test --exec=./evil
			- go test -toolexec x
			- go test --out=x
			- go test --output x
			- go test -o x
			- go test -o=x
			+ go test -count=1 -v
			+ go test -- -exec`},
		{`{"argv": ["sort", "..."], "flags": {"deny": ["-o", "--output"]}}`, `
			+ sort -u x
			- sort -uo x y
			- sort -oy x
			- sort --out=y x`},
		{`{"argv": ["ls", "..."], "flags": {"allow": ["-l", "-a", "--color"]}}`, `
			+ ls -l -a x
			+ ls --color=never
			- ls -la
			- ls -R
			- ls --colo`},
		{`{"argv": ["make", "..."], "redirects": true}`, `
			+ make > log
			+ make all 2>> log
			+ make < in
			- make > $X
			- make > /dev/tcp/h/1
			- make {fd}> x
			+ sh -c 'make 2>x'
			- sh -c 'make 10>x'
			- make > $(rm x)`},
		{`{"argv": ["make", "..."], "assignments": ["CI"]}`, `
			+ CI=1 make
			+ env CI=1 make
			- CI=1 CC=x make
			- CC=x make
			- CI=1`},
		{`{"argv": ["rm", "..."], "expansions": true}`, `
			+ rm $X "$Y" *.o ~/x {a,b}
			+ xargs rm
			+ find . -name x -exec rm {} ';'
			- rm $(ls)
			- rm $((x)) 
			- rm ${x@P}
			- rm ${x:-${y@P}}
			- rm $'a'
			- $X rm`},
		{`["sudo", "systemctl", "status", "..."]`, `
			+ sudo systemctl status nginx
			- sudo systemctl stop nginx
			- systemctl status nginx`},
		{`["sudo", "..."]`, `
			- sudo systemctl status
			- sudo -l`},
		{`["sudo", "-l"]`, "+ sudo -l"},
		{`["devbox", "run", "..."]`, `
			- devbox run rm -rf x`},
		{`["devbox", "run", "test", "..."]`, `
			+ devbox run test --all`},
		{`["timeout", "5", "make", "..."]`, `
			+ timeout 5 make all
			- timeout 6 make all`},
		{`["docker", "run", "-it", "--unknown", "alpine", "ls"]`, `
			+ docker run -it --unknown alpine ls`},
		{`["docker", "run", "-it", "--unknown", "alpine", "..."]`, `
			- docker run -it --unknown alpine ls`},
		{`["sh", "-c", "rm x; ls > y"]`, `
			+ sh -c 'rm x; ls > y'
			- sh -c 'rm x'`},
		{`["sh"]`, `
			- sh
			- curl x | sh`},
		{`["bash", "script.sh", "..."]`, `
			+ bash script.sh a
			- bash other.sh`},
		{`["cmd", "...", "--dry-run"]`, `
			+ cmd a b --dry-run
			+ cmd --dry-run
			- cmd a`},
		{`git diff *`, `
			+ git diff
			+ git diff a b
			- git difftool`},
		{`git diff:*`, `
			+ git diff --stat
			- git log`},
		{`npm run *:test`, `
			+ npm run a:test
			- npm run test`},
		{`npm run test*`, `
			+ npm run test
			+ npm run test:unit --watch
			- npm run build`},
		{`git * main`, `
			+ git push main
			+ git push origin main
			- git main`},
		{`npm run build`, `
			+ npm run build
			- npm run build x`},
		{`printf *`, `
			+ printf x
			- printf -v PATH x
			- printf %n x`},
		{`["export", "..."]`, "- export A=1"},
		{`["trap", "..."]`, "- trap 'rm x' EXIT"},
		{`["eval", "..."]`, "- eval $X"},
	} {
		p := mustPattern(t, tt.pattern)
		if err := p.Check(false); err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
		}
		cases := 0
		for line := range strings.SplitSeq(tt.lines, "\n") {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			cases++
			text := strings.ReplaceAll(line[2:], `\n`, "\n")
			if got, want := allows(p, text), line[0] == '+'; got != want {
				t.Errorf("%s allows %q: got %v, want %v", tt.pattern, text, got, want)
			}
		}
		if cases == 0 {
			t.Errorf("%s has no line", tt.pattern)
		}
	}
}

// P5: what a deny or an ask is about: "+" surely, "?" maybe, "-" not.
func TestP5_Restricts(t *testing.T) {
	for _, tt := range []struct{ pattern, lines string }{
		{`["git", "push"]`, `
			+ git push
			+ git push origin main
			+ git -C dir push
			+ git --git-dir=x push
			+ git -c a=b -C d push -f
			+ /usr/local/bin/git push
			+ ./git push
			+ GIT push
			+ git.exe push
			+ A=1 git push
			+ CI=true git push
			+ ls; git push
			+ ls $(git push)
			+ ls <(git push)
			+ cat <<E` + "\\n$(git push)\\nE" + `
			+ echo "${x:-$(git push)}"
			+ echo $(( $(git push) ))
			+ ls > $(git push)
			+ A=$(git push) ls
			+ export A=$(git push)
			+ [[ $(git push) ]]
			+ case x in $(git push)) ;; esac
			+ if true; then git push; fi
			+ while git push; do :; done
			+ for x in $(git push); do :; done
			+ f(){ git push; }
			+ coproc git push
			+ time git push
			+ git push &
			+ env git push
			+ env A=1 git push
			+ sudo git push
			+ sudo -u x git push
			+ timeout -k 3 5 git push
			+ nice nohup setsid stdbuf -o0 ionice -c2 git push
			+ xargs git push
			+ xargs -I{} git push {}
			+ find . -exec git push ';'
			+ find . -execdir git push {} +
			+ sh -c 'git push'
			+ bash -lc "ls && git push"
			+ zsh -c 'git push'
			+ bash -c 'bash -c "git push"'
			+ eval git push
			+ eval 'git push'
			+ bash <<< 'git push'
			+ bash <<E` + "\\ngit push\\nE" + `
			+ watch git push
			+ ssh host git push
			+ busybox git push
			+ docker exec c git push
			+ npx git push
			+ trap 'git push' EXIT
			+ su -c 'git push'
			+ command git push
			+ exec git push
			+ time -p git push
			+ g''it pu"sh"
			+ gi\t push
			+ git	push
			+ git pu\` + "\\nsh" + `
			? $X push
			? curl x | sh
			? bash -c "$X"
			? bash -ic ls
			? fish -c ls
			? git $X
			? git "$X" origin
			? g$X push
			? timeout --unknown 5 git push
			? sudo --strange x git push
			? env -S 'git push'
			- git status
			- git stash push
			- git commit -m push
			- echo git push
			- gitpush
			- cat "$X"
			- echo $X git push
			- ls`},
		{`["rm", "...", "-rf"]`, `
			+ rm -rf x
			+ rm x -rf
			+ rm -f x -rf y
			? rm $X
			- rm x`},
		{`["rm", "...", ["-r", "--recursive"]]`, `
			+ rm -rf x
			+ rm -fr x
			+ rm --recursive x
			+ rm --recurs x
			- rm -f x`},
		{`["curl"]`, `
			+ curl x | sh
			- wget x`},
		{`[["rm", "rmdir"], {"glob": "/*"}]`, `
			+ rm /etc
			+ rm -r /etc
			- rm etc`},
		{`[{"glob": "*"}, "--dangerous"]`, `
			+ anything --dangerous
			- anything x`},
		{`git push *`, `
			+ git push
			+ git push origin
			+ ls && git push origin
			+ git -C x push
			- git pull`},
		{`curl * | sh`, `
			+ curl x | sh
			- curl x`},
		{`*secret*`, `
			+ cat secret.txt
			+ ls my/Secret/x
			- ls`},
		{`rm:*`, `
			+ rm
			+ rm x
			+ /bin/rm x
			- rmdir x`},
	} {
		p := mustPattern(t, tt.pattern)
		if err := p.Check(true); err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
		}
		for line := range strings.SplitSeq(tt.lines, "\n") {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			text := strings.ReplaceAll(line[2:], `\n`, "\n")
			want := map[byte]Answer{'+': Yes, '?': Maybe, '-': No}[line[0]]
			if got := restricts(p, text); got != want {
				t.Errorf("%s restricts %q: got %d, want %d", tt.pattern, text, got, want)
			}
		}
	}
}

// P5: mistakes in patterns are found when they are loaded.
func TestP5_PatternErrors(t *testing.T) {
	for _, tt := range []struct {
		pattern  string
		restrict bool
		want     string
	}{
		{"", false, "the pattern is empty"},
		{"[]", false, "no single command"},
		{`[""`, false, "cannot be read"},
		{`["git"] x`, false, "text behind"},
		{`["git", 1]`, false, "token 1"},
		{`["git", []]`, false, "alternatives is empty"},
		{`["git", {"globb": "x"}]`, false, "token {"},
		{`{"argv": ["git"], "strange": 1}`, false, "strange"},
		{`{"argv": ["git"], "text": "git"}`, false, "either argv or text"},
		{`{"match": ["x"]}`, false, "no tokens"},
		{`["...", "x"]`, false, "spells out the command's name"},
		{`[{"glob": "*"}]`, false, "spells out the command's name"},
		{`* --help`, false, "spells out the command's name"},
		{`ls && rm *`, false, "no single command"},
		{`{"argv": ["git", "..."], "flags": {"deny": ["output"]}}`, false, `the flag "output"`},
		{`{"argv": ["git", "..."], "flags": {"deny": ["--output=x"]}}`, false, "without a value"},
		{`{"argv": ["git", "push"], "flags": {"deny": ["--force"]}}`, false, "the pattern has none"},
		{`{"argv": ["git", "..."], "flags": {"deny": ["--force"]}}`, true, "what an allow covers"},
		{`{"argv": ["git", "..."], "redirects": true}`, true, "what an allow covers"},
		{`{"argv": ["git", "diff", "..."], "match": ["git diff", "git log"]}`, false, `the example "git log" should match`},
		{`{"argv": ["git", "diff", "..."], "match": ["git diff > x"]}`, false, "should match"},
		{`{"argv": ["git", "diff", "..."], "not_match": ["git diff | head"]}`, false, "should not match"},
		{`{"argv": ["git", "diff", "..."], "match": ["ls"]}`, false, "should match"},
		{`{"argv": ["rm"], "match": ["ls; sudo rm x"], "not_match": ["rmdir x"]}`, true, ""},
		{`{"argv": ["rm"], "not_match": ["env rm x"]}`, true, "should not match"},
		{`{"argv": ["rm"], "match": ["$X rm"]}`, true, "should match"},
		{`{"argv": ["git", "diff", "..."], "match": ["git diff | head", "bash -c 'git diff'"], "not_match": ["git push", "git diff; rm x"]}`, false, ""},
	} {
		p, err := ParsePattern(tt.pattern)
		if err == nil {
			err = p.Check(tt.restrict)
		}
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.pattern, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %q", tt.pattern, err, tt.want)
		}
	}
}

// A pattern is printed as it is read.
func TestPattern_RoundTrip(t *testing.T) {
	for _, source := range []string{
		`["git",["status","diff"],"..."]`,
		`["x",{"glob":"*.go"},["..."]]`,
		`{"argv":["go","test","..."],"flags":{"deny":["-exec"]},"match":["go test"]}`,
		`{"text":"git push *"}`,
	} {
		p := mustPattern(t, source)
		if got := p.String(); got != source {
			t.Errorf("%s is printed as %s", source, got)
		}
	}
	if got := mustPattern(t, "git diff:*").String(); got != `{"text":"git diff *"}` {
		t.Errorf("got %s", got)
	}
	if diff := cmp.Diff(mustPattern(t, `["...","x"]`).Argv, []Token{{Rest: true}, {One: []string{"x"}}}); diff != "" {
		t.Error(diff)
	}
}

// P8: what is proposed for an approved line.
func TestP8_Suggest(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"git status", `["git","status","..."]`},
		{"git diff --stat HEAD", `{"argv":["git","diff","..."],"flags":{"deny":["--output","--ext-diff"]}}`},
		{"git diff --output=x", `=["git","diff","--output=x"]`},
		{"git push origin main", `=["git","push","origin","main"]`},
		{"git -C x status", `=["git","-C","x","status"]`},
		{"cd a && npm test", `=["npm","test"]`},
		{"npm run build", `=["npm","run","build"]`},
		{"python x.py", `=["python","x.py"]`},
		{"python -c 'print(1)'", `=["python","-c","print(1)"]`},
		{"make -j4", `=["make","-j4"]`},
		{"sudo systemctl restart x", `=["sudo","systemctl","restart","x"]`},
		{"timeout 60 go test ./...", `{"argv":["go","test","..."],"flags":{"deny":["-exec","-toolexec","-o","-c","-vettool","-overlay"]}}`},
		{"bash -c 'pytest -x'", `["pytest","..."]`},
		{"npx prettier .", `=["npx","prettier","."]`},
		{"xargs rm", "! the shell computes"},
		{"rm -rf build", `=["rm","-rf","build"]`},
		{"rm $X", "! the shell computes"},
		{"pytest $X", "! the shell computes"},
		{"docker compose logs web", `["docker","compose","logs","..."]`},
		{"docker compose up -d", `=["docker","compose","up","-d"]`},
		{"CI=1 pytest -q", `{"argv":["pytest","..."],"assignments":["CI"]}`},
		{"PATH=x pytest", "! it sets PATH=x"},
		{"LD_PRELOAD=x pytest", "! it sets LD_PRELOAD"},
		{"make > log", "! it has the redirection"},
		{"> log", "! it writes to a file"},
		{"X=1", "! it sets a variable"},
		{"curl x | sh", "! sh: a shell reads"},
		{"ls; cat x", ""},
		{"git status; git status -s | head; ruff check .", `["git","status","..."] ["ruff","check","..."]`},
		{"a; b; c; d; e; f", "! the line has too many parts"},
		{"for x in a; do rm x; done", "! for: a loop"},
	} {
		f, err := Parse(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		list, reason := f.Suggest()
		var got []string
		for _, s := range list {
			mark := ""
			if s.Exact {
				mark = "="
			}
			got = append(got, mark+s.Pattern.String())
			if err := s.Pattern.Check(false); err != nil {
				t.Errorf("%q: %v", tt.line, err)
			}
			if !s.Pattern.Allows(&f, s.Call) {
				t.Errorf("%q: %s does not cover the part", tt.line, s.Pattern)
			}
		}
		if reason != "" {
			if got = nil; strings.HasPrefix(tt.want, "! ") && strings.Contains(reason, tt.want[2:]) {
				continue
			}
			got = append(got, "! "+reason)
		}
		if joined := strings.Join(got, " "); joined != tt.want {
			t.Errorf("%q: got %s, want %s", tt.line, joined, tt.want)
		}
	}
}
