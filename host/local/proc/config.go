package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Config configures a runner. The zero value runs commands in the current directory, without keepers.
type Config struct {
	// StateDir keeps output of commands that have no spool of their own, in files below run/ that are removed with the
	// command. Default: a temporary directory for this runner.
	StateDir string
	// Dir is where commands run that name no directory. Default: the current directory.
	Dir string
	// Workspace are directories whose programs a command with Trusted does not find. Default: Dir.
	Workspace []string
	// Keeper starts a keeper: usually [Self], in a program whose main calls [KeeperMain] first. Default: no keepers.
	Keeper []string
	// Idle is how many idle keepers are kept for the next commands. Default 2.
	Idle int
	// Tree asks for a way to hold trees together. Default: control group and subreaper, where they exist.
	Tree Tree
	// Pass names more variables of this process's environment that commands inherit; see [Environment].
	Pass []string
	// Env is set for all commands, before that of the command itself.
	Env map[string]string
}

// Tree names a way to hold process trees together.
type Tree string

// The ways that can be asked for.
const (
	TreeDefault Tree = ""
	// TreeNamespace gives each keeper a pid namespace: nothing of a tree can survive its keeper, not even a keeper that
	// is killed. The price is that commands see no other processes (ps, pkill, lsof -i find only their own), and where
	// this process is not root, that sudo and other set-user-id programs do not work. Linux only.
	TreeNamespace Tree = "namespace"
	// TreeSubreaper does without control groups. Linux only.
	TreeSubreaper Tree = "subreaper"
	// TreeSession does without keepers and control groups: trees are found by session, parent and mark.
	TreeSession Tree = "session"
)

const defaultIdle = 2

// check fills in defaults and finds contradictions.
func (c *Config) check() error {
	if c.Idle == 0 {
		c.Idle = defaultIdle
	}
	if c.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("directory of commands: %w", err)
		}
		c.Dir = dir
	}
	for _, p := range []string{c.Dir, c.StateDir} {
		if p != "" && !filepath.IsAbs(p) {
			return fmt.Errorf("directory %q is not absolute", p)
		}
	}
	switch c.Tree {
	case TreeDefault, TreeSession:
	case TreeNamespace, TreeSubreaper:
		if len(c.Keeper) == 0 {
			return fmt.Errorf("tree %q needs keepers", c.Tree)
		}
	default:
		return fmt.Errorf("unknown tree %q", c.Tree)
	}
	if c.Workspace == nil {
		c.Workspace = []string{c.Dir}
	}
	c.Keeper, c.Pass, c.Workspace = slices.Clone(c.Keeper), slices.Clone(c.Pass), slices.Clone(c.Workspace)
	_, err := withEnv(nil, c.Env)
	return err
}
