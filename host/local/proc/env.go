package proc

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/host"
)

// passed names what commands inherit from the environment of this process; a name that ends in "*" is a prefix. A list of
// names to pass, not of names to hold back: keys and tokens have as many names as there are services.
var passed = []string{
	"HOME", "USER", "LOGNAME", "PATH", "HOSTNAME", "TZ", "TMPDIR", "LANG", "LANGUAGE", "LC_*", "XDG_*",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "KUBECONFIG",
	"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOPRIVATE", "GONOSUMDB", "GONOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN", "GOOS", "GOARCH", "GOEXPERIMENT", "CGO_*",
	"CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTC_WRAPPER", "RUSTFLAGS",
	"NVM_DIR", "NVM_BIN", "NODE_ENV", "NPM_CONFIG_PREFIX", "NPM_CONFIG_CACHE", "npm_config_prefix", "npm_config_cache", "PNPM_HOME", "YARN_CACHE_FOLDER", "BUN_INSTALL", "DENO_DIR", "VOLTA_HOME", "FNM_*", "COREPACK_HOME",
	"VIRTUAL_ENV", "CONDA_*", "PYENV_ROOT", "PYENV_VERSION", "POETRY_HOME", "UV_CACHE_DIR", "PIPX_HOME", "PIP_CACHE_DIR", "PIP_INDEX_URL",
	"JAVA_HOME", "JDK_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "MAVEN_HOME", "M2_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "SDKMAN_DIR", "DOTNET_ROOT", "DOTNET_CLI_HOME", "NUGET_PACKAGES",
	"GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "RBENV_ROOT", "RBENV_VERSION", "ASDF_*", "MISE_*", "COMPOSER_HOME", "PHPENV_ROOT",
	"CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "CCACHE_DIR", "ACLOCAL_PATH",
	"NIX_*", "HOMEBREW_PREFIX", "HOMEBREW_CELLAR", "HOMEBREW_REPOSITORY", "INFOPATH", "MANPATH",
	"SystemRoot", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "TEMP", "TMP",
}

// noEditor is run by git in place of an editor: a command has nobody to edit with.
const noEditor = `echo 'no editor here: give the text as an argument, such as git commit -m TEXT' >&2; false`

// fixed is what every command finds in its environment. Pagers are cat, prompts are off, colours are off, and an editor
// fails with a word of advice instead of waiting.
var fixed = map[string]string{
	"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "SYSTEMD_PAGER": "cat", "GH_PAGER": "cat", "AWS_PAGER": "", "BAT_PAGER": "cat", "DELTA_PAGER": "cat",
	"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": noEditor, "EDITOR": "false", "VISUAL": "false", "GCM_INTERACTIVE": "never", "SSH_ASKPASS_REQUIRE": "never", "GH_PROMPT_DISABLED": "1",
	"DEBIAN_FRONTEND": "noninteractive", "PIP_NO_INPUT": "1", "npm_config_fund": "false", "npm_config_update_notifier": "false", "COMPOSER_NO_INTERACTION": "1", "HOMEBREW_NO_AUTO_UPDATE": "1",
	"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", "TERM": "dumb", "NO_COLOR": "1",
}

// onTerminal replaces entries of fixed where a person may look at the command's terminal.
var onTerminal = map[string]string{"TERM": "xterm-256color", "NO_COLOR": ""}

// shells are where bash is looked for, the shell whose grammar policy reads: not on a PATH, which others may fill.
var shells = []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"}

// findShell returns the bash that runs scripts, or where it should be.
func findShell() string {
	for _, path := range shells {
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return path
		}
	}
	return shells[0]
}

// defaultPath serves a process that has none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Environment returns the environment of commands, sorted, from that of this process (as os.Environ returns it): the
// variables that are passed on, then the fixed ones. pass extends the list of names; a name that is hazardous
// ([host.HazardousVariable]) passes only where pass names it in full. Directories of PATH that are relative or empty are
// dropped: the working directory must not decide which program runs.
func Environment(own, pass []string, terminal bool) []string {
	env := make(map[string]string, 64)
	for _, kv := range own {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		named := slices.Contains(pass, name)
		if named || !host.HazardousVariable(name) && (host.MatchVariable(passed, name) || host.MatchVariable(pass, name)) {
			env[name] = value
		}
	}
	env["PATH"], env["SHELL"] = cleanPath(env["PATH"]), findShell()
	if env["LANG"] == "" && env["LC_ALL"] == "" && env["LC_CTYPE"] == "" {
		env["LC_CTYPE"] = "C.UTF-8" // the one category that encodings need: each costs a file at every start
	}
	for name, value := range fixed {
		if t, ok := onTerminal[name]; ok && terminal {
			value = t
		}
		if value == "" && name != "AWS_PAGER" {
			delete(env, name)
			continue
		}
		env[name] = value
	}
	return flatten(env)
}

func flatten(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

func cleanPath(path string) string {
	var dirs []string
	for _, d := range filepath.SplitList(path) {
		if filepath.IsAbs(d) && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	if len(dirs) == 0 {
		return defaultPath
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// outsideOf returns a PATH without the directories that lie below some others, as they are named or as they resolve.
func outsideOf(path string, tops []string) string {
	forms := func(dir string) []string {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return []string{filepath.Clean(dir), real}
		}
		return []string{filepath.Clean(dir)}
	}
	below := func(dir, top string) bool {
		rel, err := filepath.Rel(top, dir)
		return err == nil && filepath.IsLocal(rel)
	}
	inside := func(dir string) bool {
		for _, top := range tops {
			for _, t := range forms(top) {
				if slices.ContainsFunc(forms(dir), func(d string) bool { return below(d, t) }) {
					return true
				}
			}
		}
		return false
	}
	dirs := slices.DeleteFunc(filepath.SplitList(path), inside)
	if len(dirs) == 0 {
		return defaultPath
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// withEnv sets variables in an environment. An illegal name or value is an error that names it.
func withEnv(env []string, set map[string]string) ([]string, error) {
	if len(set) == 0 {
		return slices.Clone(env), nil
	}
	for name, value := range set {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return nil, fmt.Errorf("environment: %q is not a name of a variable", name)
		}
		if strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("environment: the value of %s holds a NUL byte", name)
		}
	}
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, ok := set[name]
		return ok
	})
	return append(out, flatten(set)...), nil
}

// lookEnv returns the value of a variable in a list.
func lookEnv(env []string, name string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
