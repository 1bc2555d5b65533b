package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// Class is what a call would do to one target, finer than a [tool.Effect]: the postures speak about classes (P6).
type Class string

// The classes.
const (
	ReadIn         Class = "read-in"         // a file of the workspace or of the session's artifacts
	ReadOut        Class = "read-out"        // a file elsewhere
	ReadSecret     Class = "read-secret"     // a file that usually holds credentials, or tackle's own state
	WriteIn        Class = "write-in"        // a file of the workspace
	WritePlan      Class = "write-plan"      // a plan: a Markdown file in the folder of plans, which nothing runs or obeys
	WriteProtected Class = "write-protected" // a protected name, a file of credentials, or tackle's own state
	WriteOut       Class = "write-out"       // a file elsewhere
	ExecReadonly   Class = "exec-readonly"   // a command that only looks
	ExecSandboxed  Class = "exec-sandboxed"  // a command in the workspace overlay without network
	ExecHost       Class = "exec-host"       // a command outside confinement
	NetKnown       Class = "net-known"       // a request to a host that the configuration names
	NetNew         Class = "net-new"         // a request to any other host
	External       Class = "external"        // something that leaves the machine and cannot be taken back, or a foreign tool
	ConfigFile     Class = "config"          // tackle's own configuration
)

// Classes returns every class, in a fixed order.
func Classes() []Class {
	return []Class{ReadIn, ReadOut, ReadSecret, WriteIn, WritePlan, WriteProtected, WriteOut, ExecReadonly, ExecSandboxed, ExecHost,
		NetKnown, NetNew, External, ConfigFile}
}

// Facts are what classification has to know about the place where tools act. Paths are absolute and resolved. The zero
// value knows no workspace, so that every path is outside.
type Facts struct {
	Roots     []string               // workspace roots
	Readable  []string               // directories outside of the roots that posture auto reads without asking
	Skills    func(path string) bool // reports whether a path outside of the roots is of a skill that the person keeps: read like the workspace; nil: none is
	Home      string                 // for "~/" in patterns
	State     []string               // tackle's own directories: journal, before-images, ledger, grants
	Artifacts string                 // the session's artifacts; usually below State, and read like the workspace
	Config    []string               // tackle's configuration files and folders, and programs of hooks; ".tackle" counts at every place

	// Command says which class a command has that does more than look: exec-sandboxed where it runs in the sandbox. Nil:
	// exec-host. What only looks is exec-readonly by [command.ReadOnly], whose demands on the shell the host meets.
	Command func(tool.Target) Class
	// OpenPath says that commands find programs in the workspace by their name (PATH). A line that only looks is run without
	// those; in a line that does more, a command that looks may be any of them.
	OpenPath bool
	// Known reports whether the configuration names the host of a URL target. Nil: no host is known.
	Known func(tool.Target) bool
	// Trusted reports whether an imported tool's own word that it only reads may be believed. Nil: no tool is trusted.
	Trusted func(name string) bool
}

// spool returns the folder that artifacts are taken to lie in.
func (f *Facts) spool() string {
	if f.Artifacts == "" {
		return "/.artifacts"
	}
	return f.Artifacts
}

// FactsOf returns the facts that a host knows about itself.
func FactsOf(info host.Info) Facts {
	f := Facts{Home: info.Home}
	for _, r := range info.Roots {
		f.Roots = append(f.Roots, r.Path)
	}
	if info.StateDir != "" {
		f.State = []string{info.StateDir}
	}
	return f
}

// Classify returns the classes of an intent's targets, each once, in the order of [Classes] (P6).
func Classify(in *tool.Intent, f Facts) []Class {
	j := newJudge(f)
	found := map[Class]bool{}
	for _, s := range j.subjects(in) {
		for _, c := range s.classes[:s.n] {
			found[c] = true
		}
	}
	return slices.DeleteFunc(Classes(), func(c Class) bool { return !found[c] })
}

// judge knows what single targets are.
type judge struct {
	facts             Facts
	protected, secret *nameTable
	state, config     []string // of the facts, folded
}

func newJudge(f Facts) *judge {
	j := &judge{facts: f, protected: protectedNames(), secret: secretNames()}
	for _, d := range append(slices.Clone(f.State), f.Artifacts) {
		if d != "" {
			j.state = append(j.state, fold(filepath.ToSlash(d)))
		}
	}
	for _, c := range f.Config {
		j.config = append(j.config, fold(filepath.ToSlash(c)))
	}
	return j
}

// below reports whether path is dir or lies in it. Both are absolute and clean.
func below(path, dir string) bool {
	if dir == "" || !strings.HasPrefix(path, dir) {
		return false
	}
	return len(path) == len(dir) || isSlash(path[len(dir)]) || isSlash(dir[len(dir)-1])
}

func isSlash(c byte) bool { return c == '/' || c == filepath.Separator }

func belowAny(path string, dirs []string) bool {
	for _, d := range dirs {
		if below(path, d) {
			return true
		}
	}
	return false
}

// locate makes a Path for a resolved path that came without one. The longest root that contains it is its root.
func (j *judge) locate(real string) host.Path {
	p := host.Path{Given: real, Abs: real, Real: real, Rel: filepath.ToSlash(real)}
	for _, r := range j.facts.Roots {
		if below(real, r) && len(r) > len(p.Root) {
			rel, err := filepath.Rel(r, real)
			if err == nil {
				p.Root, p.Rel = r, filepath.ToSlash(rel)
			}
		}
	}
	return p
}

// classPath classifies one spelling of a path.
func (j *judge) classPath(f *form, e tool.Effect) Class {
	switch e {
	case tool.Read:
		switch {
		case f.artifact:
			return ReadIn
		case f.state, f.secret != "":
			return ReadSecret
		case f.inside, j.facts.Skills != nil && j.facts.Skills(f.native):
			return ReadIn
		}
		return ReadOut
	case tool.Execute:
		return ExecHost
	}
	switch {
	case f.state:
		return WriteProtected
	case f.plan:
		return WritePlan
	case f.config:
		return ConfigFile
	case f.protected != "", f.secret != "":
		return WriteProtected
	case f.inside:
		return WriteIn
	}
	return WriteOut
}

// classOther classifies a target that is not a path, and what an intent does without naming a target.
func (j *judge) classOther(t *tool.Target) Class {
	switch t.Kind {
	case tool.CommandTarget:
		return j.classCommand(t)
	case tool.URLTarget:
		switch {
		case t.Effect != tool.Read && t.Effect != tool.Network:
			return External
		case j.facts.Known != nil && j.facts.Known(*t):
			return NetKnown
		}
		return NetNew
	case tool.ToolTarget:
		if t.Effect == tool.Read && j.facts.Trusted != nil && j.facts.Trusted(t.Value) {
			return ReadIn
		}
		return External
	}
	switch t.Effect {
	case tool.Write:
		return WriteOut
	case tool.Execute:
		return ExecHost
	case tool.Network:
		return NetNew
	case tool.Read, tool.Interact, tool.Spawn, tool.Stop:
		// Asking a person and starting a child are harmless in themselves: the child's calls are judged one by one (P12).
		// So is ending what the session itself has started.
		return ReadIn
	}
	return External
}
