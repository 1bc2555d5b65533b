package command

import (
	"slices"
	"strings"
	"testing"
)

// everyday are commands that agents run all day; each must be read-only.
var everyday = []string{
	"ls", "ls -la", "ls -la pkg/", "ls -lhS --color=never", "ls *.md", "ls -d */", "/bin/ls -l", "/usr/bin/wc -l f",
	"cat go.mod", "cat -n main.go", "cat a b | tac | rev", "cat *.txt", "cat 'a b.txt'", `cat a\ b.txt`, `cat "a b.txt"`,
	"head -20 f", "head -n 20 f", "head -c 100 f", "tail -n 5 f", "tail -5 f", "tail -c +100 f", "wc -l f", "wc -l < f", "wc -l src/*.go", "nl -ba f",
	"cut -d: -f1 f", "cut -c1-80 f", "tr a-z A-Z < f", "tr -d '\\r'", "paste -sd, f", "fold -w 80 f", "expand -t4 f",
	"sort f", "sort -u -k2,2n f", "sort -rn f | head", "uniq -c f", "sort f | uniq -c | sort -rn", "comm -12 a b", "cmp a b",
	"diff -u a b", "diff -ru dir1 dir2", "diff -U5 a b", "diff <f -",
	"stat -c '%s %n' f", "du -sh .", "du -h -d 1", "df -h", "file README.md", "file -b --mime-type f",
	"sha256sum f", "md5sum a b", "od -c f", "od -An -tx1 f", "hexdump -C f", "strings -n 8 bin", "xxd f", "xxd -l 64 f", "xxd -c16 -g 1 f", "base64 -d f", "base64 f",
	"grep -rn 'func main' .", `grep -rn "TODO" src --include='*.go'`, "grep -c x f", "grep -A3 -B 2 x f", "grep -5 x f", "grep -E 'a|b' f", "grep -e a -e b f", "egrep 'x+' f",
	`rg -n "foo" -g "*.go"`, "rg --files", "rg -n --no-heading 'a|b' internal | head -20", "rg -uuu -l secret | wc -l", "rg -t go foo", "rg -A 3 --max-count=1 x",
	"fd -e go", "fd -t f pattern src", "fdfind main",
	"find . -name '*.go' -type f", "find . -maxdepth 2 -not -path './.git/*'", `find . -type f -printf '%s %p\n' | sort -rn | head -20`, "find . \\( -name a -o -name b \\) -print", "find -L src -newermt 2024-01-01", "find . -name '*.go' ! -name '*_test.go'", "find . -mtime -1 -size +10k",
	"sed -n '1,200p' main.go", "sed -n 10p f", "sed -n '/^func/,/^}/p' f", "sed 's/foo/bar/g' f", "sed -e 's/a/b/' -e '5q' f", `sed -n '$p' f`, "sed '/^$/d' f", "sed -E 's/(a|b)+/x/2g' f", "sed -n '1~2p' f", "sed -n '5,+3p' f", "sed 'y/abc/xyz/' f", "sed -n '/a/{p;n;p}' f", `sed 's/\//-/g' f`, "sed 's|a|b|' f", "sed -n '/[a-z]/p' f", "sed 's/[^,]*,//' f",
	"jq .name package.json", "jq -r '.scripts | keys[]' package.json", `jq '.a.env, ."env", .["env"]' f`, `jq -r '.[] | "\(.name): \(.env)"' f`, "jq --arg x env '.[$x]' f", "jq 'map(select(.n > 1e3)) | length' f", "jq '{name, v: .version}' f", "jq -c '.[]|{a:.b}' f", "jq 'to_entries|map(.key)' f", "jq '.[0:3]' f", "jq -n '[1,2]|add'", "jq '[recurse | scalars] | length' f", "jq '{recurse, while: .until}' f", `jq 'if .a then "x" else "y" end' f`,
	"tree -L 2 -I node_modules", "tree -a", "which go", "command -v go", "type -a ls",
	"pwd", "pwd && ls", "ls; pwd; whoami", "cd src && ls", "(cd src && ls)", "cd src; cat f", "echo hi", `echo "hello world"`, "echo -n x", "echo hi 2>&1", "echo hi >&2", "printf '%s\\n' abc", "printf '%5.2f|%-3d\\n' 1 2",
	"ls missing 2>/dev/null || true", "grep -c x f >/dev/null && echo yes", "ls &>/dev/null", "! grep -q x f", "test -f x && echo y", "[ -d src ] && ls src", "[ 3 -gt 2 ]", "test a = b",
	"cat <<'EOF'\ntext $(x) `y`\nEOF", "cat <<EOF\nplain text\nEOF", "cat <<< hello", "wc -c <<<'a b'",
	"uname -a", "id -un", "date", "date +%s", "date -u '+%Y-%m-%d'", "date -d yesterday +%F", "date -Iseconds", "basename /a/b.txt .txt", "dirname a/b", "realpath .", "readlink -f x", "seq 1 10", "seq 10 -1 1", "expr 1 + 2", "nproc", "uptime", "hexdump -n 16 f", "numfmt --to=iec 1024", "column -t -s, f.csv", "true", "false || true", "{ ls; pwd; }",
	"wc -l ./*.go", "du -s ./*", "tail -n +5 f", "seq 0.5 0.1 2",
	"ls\npwd", "ls # a comment", "ls |& cat", "ls | grep -v '^d' | wc -l", "cat f | head -1 | cut -f2",
}

// H3: everyday commands are read-only.
func TestH3_Everyday(t *testing.T) {
	if len(everyday) < 76 {
		t.Fatalf("only %d commands", len(everyday))
	}
	for _, line := range everyday {
		if ok, why := ReadOnly(line); !ok {
			t.Errorf("%q is refused: %s", line, why)
		}
	}
}

// H3: what is refused, by class, with a part of the reason.
func TestH3_Refused(t *testing.T) {
	for _, tt := range []struct{ class, line, why string }{
		{"empty", "", "no command"},
		{"empty", "# only a comment", "no command"},

		// shell-parse
		{"chain", "git --version && touch t", "not on the list"},
		{"newline", "ls\ntouch t", "touch"},
		{"background", "ls & touch t", "background"},
		{"background", "ls &", "background"},
		{"substitution", "ls $(touch t)", "a substitution"},
		{"substitution", "echo `touch t`", "a substitution"},
		{"substitution", `echo "$(touch t)"`, "a substitution"},
		{"process substitution", "cat <(touch t)", "a substitution"},
		{"process substitution", "echo x > >(cat)", "another one runs"},
		{"here-document", "cat <<E\n$(touch t)\nE", "another one runs"},
		{"here-document", "cat <<E\n$x\nE", "here-document"},
		{"here-document", "cat <<E | sh\ntouch t\nE", "sh"},
		{"here-document", "cat <<-\\E\n\tx\n\tE\ntouch t", "touch"},
		{"here-string", "cat <<< $x", "redirection"},
		{"redirection", "cat f > out", ">out"},
		{"redirection", "cat f >> out", ">>out"},
		{"redirection", ">| out echo", ">|out"},
		{"redirection", "cat <> out", "<>out"},
		{"redirection", "> out", "without a command"},
		{"redirection", "ls >& out", ">&out"},
		{"redirection", "ls &>> out", "&>>out"},
		{"redirection", "ls {fd}>/dev/null", "named descriptor"},
		{"redirection", "{ ls; } > out", ">out"},
		{"redirection", "(ls) > out", ">out"},
		{"redirection", "! ls > out && ls", ">out"},
		{"redirection", "echo x > $(touch t)", "another one runs"},
		{"redirection", "echo x >/dev/tcp/127.0.0.1/9", "/dev/tcp"},
		{"redirection", "cat </dev/tcp/127.0.0.1/9", "/dev/tcp"},
		{"redirection", "ls 2>&$x", "a variable"},
		{"assignment", "PATH=p:$PATH ls", "assignment"},
		{"assignment", "X=1", "assignment"},
		{"assignment", "PROMPT_COMMAND='touch t'", "assignment"},
		{"brace", "{touch,t}", "brace"},
		{"brace", "sort {-o,out} f", "brace"},
		{"brace", "cat a{b", "a brace"},
		{"encoded", `$'\x74ouch' t`, "encoded"},
		{"encoded", `ls $"x"`, "encoded"},
		{"name", "t''ouch x", "touch"},
		{"name", `t\ouch x`, "touch"},
		{"name", "$X", "a variable"},
		{"name", "/usr/bin/touc[h] x", "a glob"},
		{"backslash-newline", "to\\\nuch t", "backslash before a newline"},
		{"backslash-newline", "ls # x \\\ntouch t", "backslash before a newline"},
		{"backslash-newline", "ls 'a\\\nb'", "backslash before a newline"},
		{"tilde", "cat x=~/.ssh/id", "a tilde"},
		{"tilde", "cat ~/f", "a tilde"},
		{"tilde", "cat a~", "a brace or tilde"},
		{"white space", "ls\rtouch t", "U+000D"},
		{"white space", "ls\u00a0touch t", "U+00A0"},
		{"invisible", "ls \u200bx", "U+200B"},
		{"invisible", "ls \u202ex", "U+202E"},
		{"invisible", "ls \u3164", "U+3164"},
		{"control", "ls \x00", "U+0000"},
		{"control", "ls \x1b[2K", "U+001B"},
		{"encoding", "ls \xff", "0xff"},
		{"construct", "if true; then ls; fi", "if"},
		{"construct", "for f in a; do ls; done", "for"},
		{"construct", "while true; do ls; done", "while"},
		{"construct", "case a in a) ls;; esac", "case"},
		{"construct", "ls(){ touch t; }; ls", "function"},
		{"construct", "coproc ls", "coproc"},
		{"construct", "time ls", "time"},
		{"construct", "[[ -f x ]]", "[["},
		{"construct", "(( 1 ))", "(("},
		{"construct", "let a=1", "let"},
		{"construct", "export A=1", "export"},
		{"arithmetic", "echo $((1))", "arithmetic"},
		{"arithmetic", "echo $[ x='a[$(touch t)]', x ]", "arithmetic"},
		{"arithmetic", "test -v 'a[$(touch t)]'", "-v"},
		{"arithmetic", "test -R x", "-R"},
		{"arithmetic", "[ 'a[$(touch t)]' -gt 0 ]", "no number"},
		{"arithmetic", "printf -v 'a[$(touch t)]' x", "format"},
		{"arithmetic", "printf '%n' PATH", "format"},
		{"arithmetic", "printf '%5n' PATH", "format"},
		{"arithmetic", "printf -- '%n' PATH", "format"},
		{"transform", `x='$(touch t)'; echo "${x@P}"`, "assignment"},
		{"transform", "echo ${!x}", "a variable"},
		{"glob", "rg hello *", "a glob"},
		{"glob", "grep x *", "a glob"},
		{"glob", "sort *", "a glob"},
		{"glob", "find . *", "a glob"},
		{"glob", "sed -n 1p *", "a glob"},
		{"glob", "ls @(a|b)", "a glob"},
		{"glob", "ls *(e:'touch t':)", ""},
		{"limits", strings.Repeat("true && ", MaxCalls) + "true", "more than 50"},
		{"limits", "echo " + strings.Repeat("x", MaxLine), "bytes"},
		{"syntax", "ls 'x", "quote"},
		{"syntax", "ls |", "statement"},
		{"comment", "echo 'a#b'; ls #\ntouch t", "touch"},
		{"wrapper", "env ls", "not on the list"},
		{"wrapper", "timeout 5 ls", "not on the list"},
		{"wrapper", "sh -c ls", "not on the list"},
		{"wrapper", "command ls", "runs"},
		{"wrapper", "xargs ls", "not on the list"},
		{"wrapper", "time -p ls", "time"},
		{"wrapper", "exec ls", "not on the list"},
		{"wrapper", "eval ls", "not on the list"},
		{"runner", "npx x", "npx"},
		{"runner", "python -c x", "python"},
		{"callback", "trap 'touch t' DEBUG; ls", "trap"},
		{"callback", "mapfile -C 'touch t' -c 1 < f", "mapfile"},
		{"variable", "cat $HOME/.ssh/id_rsa", "a variable"},
		{"path", "./ls", "not in /bin"},
		{"path", "bin/rg x", "not in /bin"},
		{"path", "/tmp/ls", "not in /bin"},
		{"path", "/usr/local/bin/ls", "not in /bin"},
		{"path", "/usr/bin/../../tmp/ls", "not in /bin"},

		// shell-flags
		{"find", `find . -maxdepth 0 -exec touch t \;`, "-exec"},
		{"find", "find . -execdir x {} +", "-exec"},
		{"find", "find . -ok x {} ';'", "-ok"},
		{"find", "find . -delete", "-delete"},
		{"find", `find . \-delete`, "-delete"},
		{"find", "find . -fprint out", "-fprint"},
		{"find", "find . -fprintf out x", "-fprintf"},
		{"find", "find . -fls out", "-fls"},
		{"find", "find -files0-from f", "-files0-from"},
		{"find", "find -D exec .", "-D"},
		{"find", "find . -name", "without its argument"},
		{"find", "find . -newerXY x", "-newerXY"},
		{"sed", "sed -n '1e touch t' f", "command e"},
		{"sed", "sed 's/.*/touch t/e' f", "flag e"},
		{"sed", "sed -n 'w out' f", "command w"},
		{"sed", "sed -n 's/h/h/w out' f", "flag w"},
		{"sed", "sed -n 's/h/h/gpw out' f", "flag w"},
		{"sed", "sed -n '1W out' f", "command W"},
		{"sed", "sed -n 'r f' f", "command r"},
		{"sed", "sed -n 1p -ewout", "command w"},
		{"sed", "sed -n -e p -e 'w out' f", "command w"},
		{"sed", "sed --expression='w out' f", "command w"},
		{"sed", "sed -i s/a/b/ f", "-i"},
		{"sed", "sed -ni p f", "-i"},
		{"sed", "sed -i.bak p f", "-i"},
		{"sed", "sed --in-pl s/a/b/ f", "--in-pl"},
		{"sed", "sed --sandbox -i s/a/b/ f", "-i"},
		{"sed", "sed -f script f", "-f"},
		{"sed", `sed '\,a,w out' f`, "command"},
		{"sed", "sed 'a text' f", "command a"},
		{"sed", "sed ':a;N;ba' f", "command :"},
		{"sed", "sed 'G;D' f", "command D"},
		{"sed", "sed '# x\nw out' f", "command #"},
		{"sed", "sed 'y/[/]/;w out;/' f", "command w"},
		{"sed", "sed 's/[/]/x/' f", "s"},
		{"sed", "sed 'p w out' f", "text behind"},
		{"sed", "sed -l 'w out' p", "no number"},
		{"sed", "sed 's/a/b", "s"},
		{"sed", "sed", "no script"},
		{"uniq", "uniq in out", "more than 1"},
		{"uniq", "uniq in -c", "more than 1"},
		{"uniq", "uniq -- in out", "more than 1"},
		{"sort", "sort -o out in", "-o"},
		{"sort", "sort -oout in", "-o"},
		{"sort", "sort -uoout in", "-o"},
		{"sort", "sort --outp=out in", "--outp"},
		{"sort", "sort in -o out", "-o"},
		{"sort", "sort -S 64k --compress-program=./evil", "-S"},
		{"sort", "sort --compress-program=./evil in", "--compress-program"},
		{"sort", "sort -T /tmp in", "-T"},
		{"sort", "sort --files0-from=-", "--files0-from"},
		{"rg", "rg --pre ./evil x", "--pre"},
		{"rg", "rg --pre=./evil x", "--pre"},
		{"rg", "rg --hostname-bin ./evil x", "--hostname-bin"},
		{"rg", "rg -z x", "-z"},
		{"rg", "rg -iz x", "-z"},
		{"rg", "rg --search-zip x", "--search-zip"},
		{"rg", "rg -f patterns x", "-f"},
		{"rg", "rg --ignore-file f x", "--ignore-file"},
		{"fd", "fd -x touch", "-x"},
		{"fd", "fd -Hx touch", "-x"},
		{"fd", "fd --exec-batch touch", "--exec-batch"},
		{"grep", "grep -f nums f", "-f"},
		{"grep", "grep -rf nums f", "-f"},
		{"xxd", "xxd in out", "more than 1"},
		{"xxd", "xxd -r in", "-r"},
		{"xxd", "xxd -ps in out", "more than 1"},
		{"xxd", "xxd -c in out", "value"},
		{"base64", "base64 in out", "more than 1"},
		{"file", "file -C -m m", "-C"},
		{"file", "file -f names", "-f"},
		{"file", "file -z f", "-z"},
		{"tree", "tree -o out", "-o"},
		{"tree", "tree -Lo 2 out", "not the last"},
		{"tree", "tree -R -H .", "-R"},
		{"strings", "strings @f", "options from a file"},
		{"awk", `awk 'BEGIN{system("touch t")}'`, "awk"},
		{"man", "man --html=./evil ls", "man"},
		{"tar", "tar cf x f", "tar"},
		{"tee", "cat f | tee out", "tee"},
		{"dd", "dd if=a of=b", "dd"},
		{"date", "date -s 2001-01-01", "-s"},
		{"date", "date 0101", "no format"},
		{"date", "date -f f", "-f"},
		{"diff", "diff -l a b", "-l"},
		{"tail", "tail -f f", "-f"},
		{"tail", "tail -5f f", "-5f"},
		{"tail", "tail --follow f", "--follow"},
		{"tail", "tail +5f f", "may be an option"},
		{"seq", "seq inf", "not plain"},
		{"seq", "seq 1 1000000000000", "not plain"},
		{"wc", "wc *", "./* cannot be one"},
		{"du", "du -s *", "./* cannot be one"},
		{"du", "du -X f .", "-X"},
		{"df", "df --sync", "--sync"},
		{"wc", "wc --files0-from=f", "--files0-from"},
		{"jq", "jq -n env", "env"},
		{"jq", "jq -n 'repeat(1)'", "repeat"},
		{"jq", "jq 'until(.a; .)' f", "until"},
		{"jq", "jq 'range(infinite)' f", "infinite"},
		{"jq", "jq -n '1 | recurse (. + 1)'", "recurse with an argument"},
		{"jq", "jq -n '$ENV'", "$ENV"},
		{"jq", "jq -n '$ ENV'", "$ENV"},
		{"jq", "jq -n '$__prog_args'", "$__prog_args"},
		{"jq", "jq input_filename f", "input_filename"},
		{"jq", `jq 'import "x" as x; .' f`, "import"},
		{"jq", `jq '"\(env)"' f`, "env"},
		{"jq", "jq '{a: env}' f", "env"},
		{"jq", "jq '{(env): 1}' f", "env"},
		{"jq", "jq '.[env:2]' f", "env"},
		{"jq", "jq 'def f: env; f' f", "def"},
		{"jq", "jq 'x::f' f", "x"},
		{"jq", "jq '# x\nenv' f", "comment"},
		{"jq", "jq --arg x harmless env f", "env"},
		{"jq", "jq -f prog f", "-f"},
		{"jq", "jq -nf prog f", "-f"},
		{"jq", "jq -L d . f", "-L"},
		{"jq", "jq --slurpfile a f . f", "--slurpfile"},
		{"cd", "cd", "folder"},
		{"cd", "cd -", "folder"},
		{"cd", "cd $x", "a variable"},
		{"cd", "cd a b", "more than 1"},
		{"env", "env", "not on the list"},
		{"env", "printenv", "not on the list"},
		{"history", "history -s touch; history -w out", "history"},
		{"[", "[ -f x", "no closing"},

		// shell-git
		{"git", "git status", "not on the list"},
		{"git", "git diff --no-ext-diff --no-textconv", "not on the list"},
		{"git", "git log", "not on the list"},
		{"git", "git diff --output=out", "not on the list"},
		{"git", "git grep -O./evil x", "not on the list"},
		{"git", "git ls-remote --upload-pa=./evil .", "not on the list"},
		{"git", "cd sub && git status", "not on the list"},
		{"git", "git branch newb; git config a.b c", "not on the list"},
	} {
		ok, why := ReadOnly(tt.line)
		if ok {
			t.Errorf("%s: %.80q is called read-only", tt.class, tt.line)
		} else if !strings.Contains(why, tt.why) {
			t.Errorf("%s: %.80q is refused for %q, want %q", tt.class, tt.line, why, tt.why)
		}
	}
}

// The table can be read, and mistakes in a table are found.
func TestTable(t *testing.T) {
	m, err := readTable(ReadOnlyTable)
	if err != nil {
		t.Fatal(err)
	}
	if len(m) < 60 {
		t.Errorf("only %d commands", len(m))
	}
	for name, e := range m {
		if e.operands == pattern && e.long["regexp"] != 1 && name != "fd" && name != "fdfind" {
			t.Errorf("%s: a pattern without --regexp", name)
		}
	}
	for _, tt := range []struct{ table, want string }{
		{"  options a\n", "line 1: an attribute without a command"},
		{"a\na, b\n", "line 2: a stands twice"},
		{"a\n  operands strange\n", `line 2: operands "strange"`},
		{"a\n  check strange\n", `line 2: check "strange"`},
		{"a\n  strange\n", `line 2: attribute "strange"`},
		{"a\n  value (\n", "line 2: error parsing regexp"},
	} {
		if _, err := readTable(tt.table); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.table, err, tt.want)
		}
	}
}

// H3: what a wrapper runs is judged with everything that the wrapper and the line give it.
func TestH3_Looks(t *testing.T) {
	for _, tt := range []struct {
		line string
		want string // the commands of the parts that do more than look, joined
	}{
		{"ls", ""},
		{"timeout 5 ls -la | head", ""},
		{"bash -c 'ls; cat f'", ""},
		{"bash -euo pipefail -c 'ls'", ""},
		{"cat <<'E'\n$(x)\nE", ""},
		{"find . -name '*.go' -exec grep -l x {} +", ""},
		{"find . -exec cat {} ';' -exec ls -l {} +", ""},
		{"/usr/bin/env ls", ""},

		// The wrapper is any program.
		{"./timeout 5 ls", "timeout"},
		{"p/env ls", "env"},
		{"./bash -c ls", "bash"},
		{"/tmp/sh -c ls", "sh"},
		{"./find . -exec ls {} ';'", "find"},
		{"./nice ./nohup ls", "nice nohup"},
		{"./eval ls", "eval"},

		// Words that are not known may be options.
		{"xargs sort", "sort"},
		{"xargs cat", "cat"},
		{"xargs -I{} sort {}", "sort"},
		{"find . -exec uniq {} +", "uniq"},
		{"find . -exec sed {} +", "sed"},
		{"find . -exec sort x{} ';'", "sort"},
		{"find . -exec {} ';'", ""}, // its name is a problem, not a look

		// What surrounds it.
		{"env PATH=p ls", "ls"},
		{"bash -c ls > out", "ls"},
		{"{ timeout 5 ls; } > out", "ls"},
		{"bash -k -c 'ls PATH=p'", "bash ls"},
		{"bash -o keyword -c 'ls PATH=p'", "bash keyword ls"},
		{"bash -O dotglob -c 'cat *'", "bash dotglob cat"},
		{"bash -H -c ls", "bash ls"},
	} {
		f, err := Parse(tt.line)
		if err != nil {
			t.Fatalf("%q: %v", tt.line, err)
		}
		var more []string
		for i := range f.Calls {
			c := &f.Calls[i]
			part := slices.Contains(f.Parts(), i) || c.Guess
			if ok, _ := c.Looks(); !ok && part && c.Name() != "" {
				more = append(more, c.Name())
			}
		}
		if got := strings.Join(more, " "); got != tt.want {
			t.Errorf("%q: %q do more than look, want %q", tt.line, got, tt.want)
		}
	}
}
