package ask

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/glob"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// maxPatterns is how many patterns one "always" may store: more would be a policy that nobody reads.
const maxPatterns = 5

// asked returns the targets that policy asks about, and whether a guard is among those that ask.
func asked(e *permission.Explanation) (targets []permission.TargetView, guarded bool) {
	for _, t := range e.Targets {
		if t.Verdict == tool.Ask {
			targets = append(targets, t)
			guarded = guarded || strings.HasPrefix(t.By, "guard ")
		}
	}
	return targets, guarded
}

// offers lists how long a yes to the question may hold. targets are what policy asks about.
func (q *Queue) offers(qu *Question, targets []permission.TargetView, guarded bool, mask mask) []Offer {
	what := describe(qu.Intent.Permission, targets, mask)
	where := ""
	if dir := qu.Intent.Dir; dir != "" && dir != q.opt.Root {
		where = " in " + show.Line(mask(dir))
	}
	what += where
	out := []Offer{{Scope: Once, Says: "this call"}}
	// What a parent session asks would have to be granted there; a target without a name cannot be granted at all, and one
	// with a secret in it would keep the secret.
	bad := func(t permission.TargetView) bool {
		return t.Kind == "" || t.Value == "" || t.By == "guard unknown-target" || mask(exact(&t)) != exact(&t)
	}
	if q.gate() == nil || len(targets) == 0 || strings.HasPrefix(qu.Policy.By, "parent: ") || slices.ContainsFunc(targets, bad) {
		return out
	}
	var patterns []string
	if !guarded {
		patterns = q.narrow(qu.Intent, targets)
	}
	like := fmt.Sprintf("%s of %s", show.Line(qu.Intent.Permission), listed(patterns))
	if slices.ContainsFunc(patterns, local) {
		like += where
	}
	if qu.Session != "" {
		if qu.Turn != "" {
			out = append(out, Offer{Scope: Turn, Says: what + ", until the turn ends"})
		}
		out = append(out, Offer{Scope: Session, Says: what + ", until the session ends"})
		if len(patterns) > 0 {
			out = append(out, Offer{Scope: Like, Patterns: patterns, Says: like + ", until the session ends"})
		}
	}
	out = append(out, Offer{Scope: Project, Says: what + ", in this project"})
	if len(patterns) > 0 {
		out = append(out, Offer{Scope: Always, Patterns: patterns, Says: like + ", in this project"})
	}
	return append(out, Offer{Scope: Until, Says: what + ", in this project until a time"})
}

func describe(perm string, targets []permission.TargetView, mask mask) string {
	names := map[string]bool{}
	for i := range targets {
		names[exact(&targets[i])] = true
	}
	if len(names) != 1 {
		return fmt.Sprintf("%s of these %d targets", show.Line(perm), len(names))
	}
	name, _ := show.Cut(show.Line(mask(exact(&targets[0]))), 80)
	return show.Line(perm) + " of " + name
}

func listed(patterns []string) string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = show.Line(p)
	}
	return strings.Join(out, ", ")
}

// narrow returns the narrowest patterns that are still useful: they cover the asked targets and what is like them. None
// where there is no such pattern, or where one would be dangerous.
func (q *Queue) narrow(in *tool.Intent, targets []permission.TargetView) []string {
	var out []string
	add := func(p string) bool {
		if p == "" {
			return false
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
		return len(out) <= maxPatterns
	}
	for _, t := range targets {
		switch t.Kind {
		case tool.PathTarget:
			if in.Permission == permission.Shell { // its patterns are about commands
				return nil
			}
			if !add(around(in, &t)) {
				return nil
			}
		case tool.CommandTarget:
			list := suggested(exact(&t))
			if len(list) == 0 {
				return nil
			}
			for _, p := range list {
				if !add(p) {
					return nil
				}
			}
		case tool.URLTarget:
			if !add(site(&t)) {
				return nil
			}
		default:
			return nil
		}
	}
	gate := q.gate()
	for _, p := range out {
		if gate.CheckGrant(permission.Grant{Permission: in.Permission, Pattern: p, Scope: permission.ThisProject}) != nil {
			return nil
		}
	}
	return out
}

// around returns a pattern for files like the target: those of its folder with its extension, or, for reading outside of
// the workspace, all of its folder. A folder near the top of the file system is too much, and so is one that a link leads to.
func around(in *tool.Intent, t *permission.TargetView) string {
	if slices.Contains(t.Classes, permission.ReadSecret) || slices.Contains(t.Classes, permission.WriteProtected) || slices.Contains(t.Classes, permission.ConfigFile) {
		return "" // a pattern would not cover them
	}
	file := filepath.ToSlash(t.Value)
	inside := false
	for _, target := range in.Targets {
		if target.Value == t.Value && target.Path != nil {
			if target.Path.Link {
				return ""
			}
			if inside = target.Path.Inside(); inside {
				file = target.Path.Rel
			}
		}
	}
	dir, name := path.Split(file)
	// The target of these is a folder, and what they show lies below it.
	if folder := slices.Contains([]string{"glob", "grep", "list_dir"}, in.Permission); folder {
		dir, name = file+"/", ""
	}
	if !inside && strings.Count(dir, "/") < 4 { // "/home/u/x/" has four
		return ""
	}
	ext := path.Ext(name)
	switch {
	case name == "":
		return glob.Quote(dir) + "**"
	case ext != "" && ext != name:
		return glob.Quote(dir) + "*" + glob.Quote(ext)
	case !inside && t.Effect == tool.Read:
		return glob.Quote(dir) + "*"
	}
	return ""
}

// site returns the pattern for the host of an address: none for what sends something, for numbers, for names without a dot
// and for hosts that could be written otherwise.
func site(t *permission.TargetView) string {
	u, err := url.Parse(t.Value)
	if err != nil || u.User != nil || slices.Contains(t.Classes, permission.External) || !strings.Contains(u.Hostname(), ".") {
		return ""
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return ""
	}
	p := strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host)
	match, err := permission.Hosts{}.Compile(p, false)
	if err != nil || !match(tool.Target{Kind: t.Kind, Value: t.Value}) {
		return ""
	}
	return p
}

// grants returns what a yes gives beyond this call.
func (r *Request) grants(a *Answer) []permission.Grant {
	base := permission.Grant{Permission: r.Permission, Session: r.Session, Turn: r.Turn, Expires: a.Until, Person: a.Approver.Name, Reason: a.Words}
	switch a.Scope {
	case Turn:
		base.Scope = permission.ThisTurn
	case Session, Like:
		base.Scope, base.Turn = permission.ThisSession, ""
	case Project, Always, Until:
		base.Scope, base.Session, base.Turn = permission.ThisProject, "", ""
	default:
		return nil
	}
	var out []permission.Grant
	if a.Scope == Like || a.Scope == Always {
		for _, p := range r.offer(a.Scope).Patterns {
			g := base
			if g.Pattern = p; local(p) {
				g.Dir, g.Scripts = r.Dir, r.Scripts
			}
			out = append(out, g)
		}
		return out
	}
	for _, t := range r.Asks {
		g := base
		g.Target, g.Dir, g.Scripts = t, r.Dir, r.Scripts
		out = append(out, g)
	}
	return out
}

// local reports whether what a pattern for commands allows depends on the folder: it names its program by a relative path, or
// spells out one command, such as make, that works on what it finds there.
func local(pattern string) bool {
	if !command.IsPattern(pattern) {
		return false
	}
	p, err := command.ParsePattern(pattern)
	return err != nil || len(p.Argv) == 0 || p.Exact() || slices.ContainsFunc(p.Argv[0].One, func(name string) bool {
		return strings.Contains(name, "/") && !path.IsAbs(name)
	})
}

// late returns what a yes to a ticket gives: the call itself once more, for a while, or what the scope says.
func (r *Request) late(a *Answer, at time.Time) []permission.Grant {
	if grants := r.grants(a); grants != nil {
		return grants
	}
	g := permission.Grant{Fingerprint: r.Fingerprint, Scope: permission.Once, Session: r.Session, Expires: at.Add(LateTime), Person: a.Approver.Name, Reason: a.Words}
	if r.Session == "" {
		g.Scope = permission.ThisProject
	}
	return []permission.Grant{g}
}
