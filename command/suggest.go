package command

import (
	"slices"
	"strings"
	"sync"
)

// Suggestion is a pattern that would cover one part of a line that a person has approved.
type Suggestion struct {
	Pattern *Pattern
	Call    int  // index of the part
	Exact   bool // only exactly this command; there is no prefix that would be narrow and useful
}

// MaxSuggestions bounds the patterns of one answer: a person reads no more.
const MaxSuggestions = 5

// arityTable lists the commands for which a prefix is narrow and useful: the words that make it, of which the last is
// what the command does. Interpreters, wrappers, runners of packages, build tools and scripts, and whatever deletes or
// publishes, are not on it: for them only the exact command is proposed, because their arguments are the deed. Behind the
// colon stand options that the proposal leaves out, because they write elsewhere or run a program.
const arityTable = `
git status
git diff: --output --ext-diff
git log: --output --ext-diff
git show: --output --ext-diff
git blame
git add
git commit: --no-verify -n --template -t
git fetch: --upload-pack
git rev-parse
git ls-files
git describe
git shortlog: --output
git check-ignore
git merge-base
git cat-file
go test: -exec -toolexec -o -c -vettool -overlay
go build: -toolexec -o -overlay
go vet: -vettool -toolexec
go list: -toolexec
go doc
go fmt
gofmt
goimports
staticcheck
golangci-lint run: --fix
cargo test: --config
cargo check: --config
cargo build: --config
cargo clippy: --config --fix
cargo fmt
cargo tree
pytest
ruff check
ruff format
mypy
pyright
black
isort
eslint: --rulesdir --resolve-plugins-relative-to
prettier: --plugin
tsc
jest: --config
vitest run
npm ls
npm view
npm outdated
npm audit: --fix
pip list
pip show
docker ps
docker images
docker logs
docker inspect
docker compose ps
docker compose logs
kubectl get
kubectl describe
kubectl logs
gh pr view
gh pr list
gh pr diff
gh pr checks
gh issue view
gh issue list
gh run view
gh run list
systemctl status
journalctl
mkdir
touch
shellcheck
shfmt: -w --write
clang-format: -i
terraform fmt
terraform validate
`

// arities maps a prefix to the options that its proposal leaves out.
var arities = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(arityTable) {
		prefix, options, _ := strings.Cut(strings.TrimSpace(line), ":")
		if prefix == "" {
			continue
		}
		m[prefix] = nil
		if options != "" {
			m[prefix] = strings.Fields(options)
		}
	}
	return m
})

// Suggest proposes the narrowest useful pattern for each part of the line that is more than reading, at most
// [MaxSuggestions]. It proposes nothing, and says why, where no pattern could allow a part the next time: the person can
// then only answer for this very line.
func (f *Facts) Suggest() (list []Suggestion, reason string) {
	for _, i := range f.Parts() {
		c := &f.Calls[i]
		if looks, _ := c.ReadOnly(); looks {
			continue
		}
		switch {
		case c.Problem != "":
			return nil, c.String() + ": " + c.Problem
		case len(c.Args) == 0 && len(c.Assigns) > 0:
			return nil, "it sets a variable for the rest of the line"
		case len(c.Args) == 0:
			return nil, "it writes to a file without a command"
		}
		s, why := f.suggest(i)
		if why != "" {
			return nil, c.String() + ": " + why
		}
		if !slices.ContainsFunc(list, func(o Suggestion) bool { return o.Pattern.Allows(f, i) }) {
			list = append(list, s)
		}
	}
	if len(list) > MaxSuggestions {
		return nil, "the line has too many parts to remember them all"
	}
	return list, ""
}

// suggest proposes a pattern for one call, and proves that it covers the call.
func (f *Facts) suggest(i int) (Suggestion, string) {
	c := &f.Calls[i]
	argv, literal := c.Argv()
	var words []string
	best := 0
	for n := 0; n < len(c.Args) && n < 3 && c.Args[n].Literal(); n++ {
		words = append(words, argv[n])
		if _, ok := arities()[strings.Join(words, " ")]; ok {
			best = n + 1
		}
	}
	p := &Pattern{}
	for _, a := range c.Assigns {
		if a.Name == "" || steers(a.Name) {
			return Suggestion{}, "it sets " + a.Source + ", which can change what the command does"
		}
		p.Assignments = append(p.Assignments, a.Name)
	}
	for k := range c.Redirects {
		if ok, _ := c.Redirects[k].Harmless(); !ok {
			return Suggestion{}, "it has the redirection " + c.Redirects[k].String()
		}
	}
	switch {
	case best > 0:
		for _, w := range words[:best] {
			p.Argv = append(p.Argv, Token{One: []string{w}})
		}
		p.Argv = append(p.Argv, Token{Rest: true})
		p.Flags.Deny = arities()[strings.Join(words[:best], " ")]
		if p.Allows(f, i) {
			return Suggestion{Pattern: p, Call: i}, ""
		}
		p.Argv, p.Flags = nil, Flags{}
		fallthrough
	default:
		if !literal {
			return Suggestion{}, "the shell computes some of its words"
		}
		for _, a := range argv {
			p.Argv = append(p.Argv, Token{One: []string{a}})
		}
	}
	if !p.Allows(f, i) {
		return Suggestion{}, "no pattern covers it"
	}
	return Suggestion{Pattern: p, Call: i, Exact: true}, ""
}

// steers reports whether a variable is known to change which programs run or what they load. Lower case ones are for
// scripts, but for the proxies.
func steers(name string) bool {
	for _, prefix := range [...]string{"LD_", "DYLD_", "BASH_", "GIT_", "LESS", "PYTHON", "NODE_", "NPM_", "npm_", "PERL", "RUBY", "JAVA_", "GO", "CARGO_", "RUST", "PIP_", "DOCKER_", "KUBE", "SSH_", "CGO_"} {
		if strings.HasPrefix(name, prefix) && name != "NODE_ENV" && name != "GOOS" && name != "GOARCH" && name != "RUST_LOG" && name != "RUST_BACKTRACE" && name != "CGO_ENABLED" {
			return true
		}
	}
	switch strings.ToUpper(name) {
	case "PATH", "HOME", "SHELL", "ENV", "IFS", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER", "CDPATH", "SHELLOPTS", "BASHOPTS", "PS4",
		"PROMPT_COMMAND", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "CC", "CXX", "AR", "LD", "MAKEFLAGS",
		"CFLAGS", "LDFLAGS", "TMPDIR", "TEMP", "TMP", "XDG_CONFIG_HOME":
		return true
	}
	return false
}
