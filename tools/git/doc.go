// Package git holds the tool that looks at git repositories: status, diff, log, show and blame. It changes nothing and,
// other than git itself, runs no program that a repository names.
//
// # Why plain git will not do
//
// git is not read-only. On status, diff, log, show and blame it runs what the repository's own configuration names: a file
// system monitor, filters that clean files, external diffs, text converters, hooks, pagers, signature checkers, helpers that
// fetch missing objects. Whoever can write .git/config of any folder below, by unpacking an archive say, runs programs
// through "git status". Options switch some of it off, and filters only by their name.
//
// # What is done instead
//
// git is given another configuration. A repository's configuration lies in its common directory, beside objects and refs;
// the variable GIT_COMMON_DIR names another one. A private directory in the host's state holds links to the objects, refs and
// logs of the repository, and a configuration of ours: the few settings that change what is read, each checked ([settings]). There are no drivers, hooks or aliases in it, no includes and no remotes that could be fetched from; the
// configuration of user and system is left out as well. It is a list of what is let in, so what a newer git can be told to
// run is not on it, and nothing is gained by changing the configuration while git runs. Attributes of the work tree are
// honoured, but a driver that they name is not defined.
//
// Where that can change what is seen, the result says so: files that are stored by a filter (git-lfs) are compared without
// it, and objects that were not fetched yet (partial clones) are missing.
//
// The remaining options (--no-ext-diff and so on) are a second net. Submodules are compared by their commit alone, because
// git looks at their files by running itself in them, with their configuration. A revision is looked up to a commit first,
// so that only digits reach the commands; a path is always a literal one below the top folder.
//
// What a file holds, now or in some commit, is shown where policy lets the session read a file of that name.
package git

import (
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// Limits. The description is rendered from them.
const (
	Files   = 200 // of status, and listed in front of a diff
	Lines   = 400 // of a diff, a file or blame
	Commits = 30  // of log

	// TimeLimit bounds each run of git.
	TimeLimit = time.Minute
	// maxOutput bounds what is read of one run, bytes.
	maxOutput = 32 << 20
	// lineWidth is how much of one line is shown, bytes.
	lineWidth = 2000
)

// Config is what the tool needs.
type Config struct {
	// Runner runs git where the files are. Required.
	Runner host.Runner
}

// Tools returns the tools of this package.
func Tools(c Config) []tool.Tool { return []tool.Tool{Git(c).Tool()} }
