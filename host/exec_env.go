package host

import (
	"slices"
	"strings"
)

// hazardous variables make a harmless command run something else, read another configuration, or take commands from
// somewhere: loaders, start-up files and options of shells and interpreters, git's overrides, helpers of pagers.
// A name that ends in "*" is a prefix.
var hazardous = []string{
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*", "BASH_LOADABLES_PATH", "BASH_XTRACEFD", "PS4", "PROMPT_COMMAND", "IFS", "CDPATH", "GLOBIGNORE", "POSIXLY_CORRECT",
	"ZDOTDIR", "FPATH",
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "MALLOC_*", "RES_OPTIONS", "HOSTALIASES",
	"GIT_*", "SSH_ASKPASS*", "SVN_*", "HG*",
	"PAGER", "MANPAGER", "LESS*", "LV", "MORE", "EDITOR", "VISUAL", "BROWSER", "FCEDIT",
	"GREP_OPTIONS", "GREP_COLOR*", "RIPGREP_CONFIG_PATH", "TAR_OPTIONS", "GZIP", "XZ_OPT", "UNZIP*", "ZIPOPT", "RSYNC_*", "FIND_*", "DIFF_OPTIONS", "LS_OPTIONS", "FZF_*", "BAT_*",
	"PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT", "PYTHONUSERBASE", "PERL5*", "PERLLIB", "PERL_*", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_*", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "LUA_*", "TCLLIBPATH", "PHPRC", "PHP_INI_SCAN_DIR", "AWKPATH", "AWKLIBPATH", "R_*",
	"MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "TERMINFO*", "TERMCAP", "INPUTRC", "EXINIT", "VIMINIT", "GVIMINIT", "CURL_HOME", "WGETRC", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "KRB5_CONFIG",
}

// HazardousVariable reports whether an environment variable can make a harmless command do something else. Runners never
// pass such a variable on from their own environment. Setting one for a single command is the caller's right, and
// something that policy should see.
func HazardousVariable(name string) bool { return MatchVariable(hazardous, name) }

// MatchVariable reports whether a list of names and prefixes ("LC_*") holds a name.
func MatchVariable(list []string, name string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		prefix, wild := strings.CutSuffix(p, "*")
		return p == name || wild && strings.HasPrefix(name, prefix)
	})
}
