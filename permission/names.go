package permission

import "strings"

// A nameTable recognises paths by the names of their components, at any depth and whether or not they exist. A name that
// is a directory covers all that is below. Names are compared folded, see fold and foldName.
type nameTable struct {
	names    words            // whole component
	suffixes map[string]bool  // from the last dot on
	pairs    map[string]words // a component and the one after it
	firsts   words            // the keys of pairs
	extra    func(before, name string) bool
}

// words is a set of strings that says no quickly: most components of most paths have a first byte and a length that no
// word has.
type words struct {
	all   map[string]bool
	shape *[256]uint32 // by first byte: bit n is set when a word has n bytes, bit 31 for 31 and more
}

func newWords(all map[string]bool) words {
	w := words{all, new([256]uint32)}
	for s := range all {
		w.shape[s[0]] |= 1 << min(len(s), 31)
	}
	return w
}

// has reports whether s, which is not empty, is in the set.
func (w words) has(s string) bool { return w.shape[s[0]]>>min(len(s), 31)&1 == 1 && w.all[s] }

// find returns the first name of the path that the table knows, or "". path is folded and uses slashes; before is the
// name of the folder that it is relative to.
func (t *nameTable) find(before, path string) string {
	for start := 0; start <= len(path); {
		end := strings.IndexByte(path[start:], '/')
		if end < 0 {
			end = len(path)
		} else {
			end += start
		}
		if name := foldName(path[start:end]); name != "" {
			if t.has(before, name) {
				return name
			}
			before = name
		}
		start = end + 1
	}
	return ""
}

func (t *nameTable) has(before, name string) bool {
	if t.names.has(name) || before != "" && t.firsts.has(before) && t.pairs[before].has(name) {
		return true
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && t.suffixes[name[dot:]] {
		return true
	}
	return t.extra != nil && t.extra(before, name)
}

// named reports whether a pattern itself spells a name of the table, so that a rule written with it is meant for such
// files: "**/.env*", "keys/*.pem", "~/.aws/**". pattern is folded.
func (t *nameTable) named(pattern string) bool {
	for piece := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return r == '{' || r == '}' || r == ',' }) {
		if t.find("", strings.NewReplacer("*", "", "?", "", `\`, "").Replace(piece)) != "" {
			return true
		}
	}
	return false
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// newTable makes a table. names and suffixes are words; pairs are words of the form first/second, with "_" in the first for
// a blank.
func newTable(names, suffixes, pairs string, extra func(before, name string) bool) *nameTable {
	seconds, firsts := map[string]map[string]bool{}, map[string]bool{}
	for w := range strings.FieldsSeq(pairs) {
		a, b, _ := strings.Cut(w, "/")
		a = strings.ReplaceAll(a, "_", " ")
		if !firsts[a] {
			firsts[a], seconds[a] = true, map[string]bool{}
		}
		seconds[a][b] = true
	}
	t := &nameTable{names: newWords(set(names)), suffixes: set(suffixes), firsts: newWords(firsts), pairs: map[string]words{}, extra: extra}
	for a, s := range seconds {
		t.pairs[a] = newWords(s)
	}
	return t
}

// protectedNames are the names whose files run code, or instruct an agent, the next time somebody opens a shell, an
// editor, a repository or an agent: writing them always asks (P7). The core is the list of field/security.md 5.1 and the
// mandatory write protection of sandbox-runtime 0.0.83; the other start-up files do the same for their programs.
func protectedNames() *nameTable {
	return newTable(`
			.git .gitmodules .gitattributes .gitconfig .hg .husky .pre-commit-config.yaml .pre-commit-config.yml
			lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml lefthook-local.yml
			.vscode .idea .zed .devcontainer .devcontainer.json
			.cursor .cursorrules .claude .claude.json .codex .gemini .opencode opencode.json opencode.jsonc .windsurf
			.windsurfrules .clinerules .roo .roomodes .kiro .continue .aider.conf.yml .agents .mcp.json
			agents.md agents.override.md claude.md claude.local.md gemini.md copilot-instructions.md
			.envrc .npmrc .yarnrc .yarnrc.yml .yarnrc.yaml .pnpmfile.cjs .ripgreprc .curlrc .wgetrc .condarc .pypirc
			.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
			.kshrc .cshrc .tcshrc .login .logout .inputrc .xinitrc .xprofile .xsession .xsessionrc .pam_environment
			.vimrc .gvimrc .exrc .nvimrc .nvim.lua .emacs .emacs.d .dir-locals.el .tmux.conf .screenrc .gdbinit .lldbinit
			.pythonrc .pythonrc.py .irbrc .pryrc .rprofile
			.ssh .aws .kube .gnupg .netrc`,
		`.code-workspace`,
		`.config/git .config/systemd .config/autostart .config/fish .config/environment.d .config/nvim
			.cargo/config .cargo/config.toml .bundle/config .local/bin library/launchagents`,
		func(before, name string) bool {
			return before == ".config" && strings.Contains(name, "credential")
		})
}

// secretNames are the names of files that usually hold credentials. Reading one asks, also inside the workspace.
func secretNames() *nameTable {
	templates := set(`example sample template tmpl dist default defaults schema md ts`)
	data := set(`json yml yaml toml db ini xml`)
	return newTable(`
			.env .netrc _netrc .pgpass .my.cnf .mylogin.cnf .git-credentials .htpasswd .dockercfg .vault-token .s3cfg .boto
			.pypirc .rediscli_auth .terraformrc .password-store
			.ssh .gnupg .aws .azure .kube .mozilla keyrings key3.db key4.db logins.json cookies.sqlite
			credentials .credentials master.key terraform.tfstate terraform.tfstate.backup`,
		`.pem .key .p12 .pfx .jks .keystore .kdbx .ppk .ovpn .agekey .env .keytab .tfvars`,
		`.config/gcloud .config/gh .config/op .config/google-chrome .config/chromium .config/bravesoftware
			.docker/config.json .cargo/credentials.toml library/keychains application_support/google
			application_support/firefox application_support/bravesoftware etc/shadow etc/gshadow`,
		func(before, name string) bool {
			last := name[strings.LastIndexByte(name, '.')+1:]
			switch {
			case strings.HasPrefix(name, ".env."):
				return !templates[last]
			case strings.HasPrefix(name, "id_rsa"), strings.HasPrefix(name, "id_dsa"), strings.HasPrefix(name, "id_ecdsa"),
				strings.HasPrefix(name, "id_ed25519"):
				return last != "pub"
			case strings.HasPrefix(name, "."):
				return strings.HasSuffix(name, "_history") || before == ".config" && strings.Contains(name, "credential")
			case strings.HasPrefix(name, "service-account"), strings.HasPrefix(name, "service_account"), strings.HasPrefix(name, "client_secret"):
				return last == "json"
			case strings.HasPrefix(name, "credentials."), strings.HasPrefix(name, "secrets."):
				return data[last]
			}
			return before == ".config" && strings.Contains(name, "credential")
		})
}

// procSecret recognises the files of /proc that show the memory or environment of a process. path is absolute.
func procSecret(path string) bool {
	rest, ok := strings.CutPrefix(path, "/proc/")
	if !ok {
		return false
	}
	for _, leaf := range [...]string{"/environ", "/mem", "/auxv", "/maps"} {
		if strings.HasSuffix(rest, leaf) {
			return true
		}
	}
	return rest == "kcore"
}
