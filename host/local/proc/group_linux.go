package proc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/tackle-dev/tackle/host"
)

// group is a control group (version 2) that holds the tree of a command and nothing else. It needs no controller: all
// that is used is membership, which children inherit, and cgroup.kill (Linux 5.14), which ends all members in one step.
//
// A group serves until it is killed. Linux (6.18, and others since kill_seq came) compares the count of kills of a
// group with that of the parent's group when a child is cloned into it, and ends the child at birth when they differ: a
// group that was killed once kills every later child that is started in it.
type group struct {
	path   string
	dir    *os.File
	killed atomic.Bool
}

// groupPrefix begins the names of our groups. Behind it stand pid namespace, pid and start time of the process that made one.
const groupPrefix = "tackle-"

// groupBase returns the directory of this process's own group, below which it may make others.
// Errors say why it may not.
func groupBase() (string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	path := ""
	for line := range bytes.Lines(own) {
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("0::")); ok {
			path = string(rest)
		}
	}
	if path == "" {
		return "", errors.New("no control groups of version 2")
	}
	mount, root, err := groupMount()
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return "", fmt.Errorf("control group %s is outside of the mount", path)
	}
	base := filepath.Join(mount, rel)
	if _, err := os.Stat(filepath.Join(base, "cgroup.procs")); err != nil {
		return "", err
	}
	return base, nil
}

// groupMount finds the mount of version 2 and the group that is its root (proc_pid_mountinfo(5)).
func groupMount() (mount, root string, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		before, after, ok := strings.Cut(s.Text(), " - ")
		fields := strings.Fields(before)
		if ok && strings.HasPrefix(after, "cgroup2 ") && len(fields) >= 5 {
			return fields[4], fields[3], nil
		}
	}
	return "", "", errors.New("no control groups of version 2 are mounted")
}

// newGroup makes a group below base. It must be able to kill.
func newGroup(base, name string) (*group, error) {
	path := filepath.Join(base, groupPrefix+name)
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, err
	}
	g := &group{path: path}
	var err error
	if g.dir, err = os.Open(path); err == nil {
		_, err = os.Stat(filepath.Join(path, "cgroup.kill"))
	}
	if err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

// groupAt returns the group at a path, without the means to start a child in it, or nil for no path.
func groupAt(path string) *group {
	if path == "" {
		return nil
	}
	return &group{path: path}
}

// tryGroup finds out whether a child can be started in a group, with a program that does not exist: what remains is the
// clone into the group.
func tryGroup(l *launcher, g *group) (err error) {
	attr := &syscall.ProcAttr{Sys: attributes(false, g)}
	l.do(func() { _, err = syscall.ForkExec(filepath.Join(g.path, "no such program"), []string{"none"}, attr) })
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	return err
}

func (g *group) members() []row { return groupMembers(g.path) }

func groupMembers(path string) []row {
	raw, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var list []row
	for f := range strings.FieldsSeq(string(raw)) {
		if pid, err := strconv.Atoi(f); err == nil {
			if p, ok := readProcess(pid); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// size returns how many processes are members, dead ones that nobody waited for included.
func (g *group) size() int {
	raw, err := os.ReadFile(filepath.Join(g.path, "cgroup.procs"))
	if err != nil {
		return 0
	}
	return bytes.Count(raw, []byte("\n"))
}

func (g *group) kill() {
	g.killed.Store(true)
	killGroup(g.path)
}

func killGroup(path string) {
	os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0) // gone is as good as killed
}

// remove removes the group. While a member is being reaped the kernel refuses; the sweep of the next start gets it then.
func (g *group) remove() {
	if g == nil {
		return
	}
	if g.dir != nil {
		g.dir.Close()
	}
	os.Remove(g.path)
}

// sweepGroups ends and removes groups below base whose makers are dead. Groups that were made in another pid namespace
// are left alone: their makers cannot be seen from here.
func sweepGroups(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, groupPrefix+"*"))
	for _, dir := range dirs {
		ns, id, ok := groupMaker(filepath.Base(dir))
		if !ok || ns != pidNamespace() {
			continue
		}
		if p, alive := readProcess(id.PID); alive && p.alive() && p.start == id.Start {
			continue
		}
		killGroup(dir)
		os.Remove(dir)
	}
}

// groupName is the name of a group that a process of this namespace makes: NAMESPACE-PID-START-RUN.
func groupName(id host.Identity, run string) string {
	return fmt.Sprintf("%s-%d-%d-%s", pidNamespace(), id.PID, id.Start, run)
}

// groupMaker is the inverse of groupName.
func groupMaker(name string) (ns string, id host.Identity, ok bool) {
	f := strings.SplitN(strings.TrimPrefix(name, groupPrefix), "-", 4)
	if len(f) < 4 {
		return "", id, false
	}
	var e1, e2 error
	id.PID, e1 = strconv.Atoi(f[1])
	id.Start, e2 = strconv.ParseUint(f[2], 10, 64)
	return f[0], id, e1 == nil && e2 == nil
}

// pidNamespace returns the number of this process's pid namespace.
func pidNamespace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "0"
	}
	return strings.Trim(strings.TrimPrefix(link, "pid:"), "[]")
}
