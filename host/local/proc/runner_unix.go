//go:build linux || darwin

package proc

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// Runner starts commands on this machine. It is safe for concurrent use.
type Runner struct {
	cfg     Config
	self    host.Identity
	boot    string
	shell   string
	env     [2][]string // of commands, without and with a terminal
	scratch string      // directory of spools that nobody named, guarded by mu; "" until it is needed

	ready    sync.Once // guards what prepare fills in
	launcher *launcher
	base     string // directory of control groups; "" where there are none
	keepers  *keepers
	conf     host.Confinement

	trust   sync.Once
	trusted string // PATH of commands with Trusted

	mu     sync.Mutex
	live   map[*command]struct{}
	closed bool
	starts sync.WaitGroup // that Close waits for
}

var _ host.Runner = (*Runner)(nil)

// Open returns the runner that cfg describes. It starts nothing: the first command, or Confinement, finds out what this
// machine can do.
func Open(cfg Config) (*Runner, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	r := &Runner{cfg: cfg, boot: bootID(), shell: findShell(), live: make(map[*command]struct{})}
	if p, ok := readProcess(os.Getpid()); ok {
		r.self = host.Identity{PID: p.pid, Start: p.start}
	}
	var err error
	for i := range r.env {
		own := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, MarkVariable+"=") })
		if r.env[i], err = withEnv(Environment(own, cfg.Pass, i == 1), cfg.Env); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// prepare finds out what this machine can do, once.
func (r *Runner) prepare() {
	r.ready.Do(func() {
		sweepScratch(r.scratchParent())
		r.conf = host.Confinement{Profiles: []host.Profile{host.ProfileHost}, Notes: []string{"Commands run unconfined: they can do whatever this user can do."}}
		r.prepareTrees()
	})
}

// Confinement implements host.Runner.
func (r *Runner) Confinement() host.Confinement {
	r.prepare()
	c := r.conf
	c.Profiles, c.Notes = slices.Clone(c.Profiles), slices.Clone(c.Notes)
	return c
}

// Start implements host.Runner.
func (r *Runner) Start(ctx context.Context, c host.Command) (host.Process, error) {
	r.prepare()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := r.plan(&c)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errClosed
	}
	r.starts.Add(1)
	r.mu.Unlock()
	defer r.starts.Done()
	cmd := &command{runner: r, mine: c.Spool == "", detached: c.Detach, grace: s.Limits.Grace}
	if err := r.begin(ctx, cmd, s); err != nil {
		return nil, startError(s, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[cmd] = struct{}{}
	return cmd, nil
}

// plan turns a command into a spec, or says what is wrong with it.
func (r *Runner) plan(c *host.Command) (*spec, error) {
	if (c.Script == "") == (len(c.Argv) == 0) {
		return nil, errors.New("a command has either a script or an argument vector")
	}
	if !slices.Contains(r.conf.Profiles, c.Profile) {
		return nil, fmt.Errorf("profile %q: %w: it needs a sandbox", c.Profile, host.ErrUnsupported)
	}
	if c.Detach && (!r.conf.Detach || c.Spool == "") {
		return nil, fmt.Errorf("a detached command needs a keeper and a spool: %w", host.ErrUnsupported)
	}
	if c.Terminal != nil && (c.Input || c.Split || !r.conf.Terminal) {
		return nil, fmt.Errorf("a terminal is input, output and errors in one, and not on every system: %w", host.ErrUnsupported)
	}
	s := &spec{Run: c.Run, Input: c.Input, Terminal: c.Terminal, Split: c.Split, Limits: resolveLimits(c.Limits), Spool: raw(c.Spool), Record: raw(c.Record), Detach: c.Detach}
	if s.Run == "" {
		s.Run = newRun()
	}
	if !validRun(s.Run) {
		return nil, fmt.Errorf("run %q is not made of up to 64 letters, digits, - and _", s.Run)
	}
	if c.Spool == "" {
		dir, err := r.spools()
		if err != nil {
			return nil, err
		}
		s.Spool = raw(filepath.Join(dir, scratchName(r.self, s.Run)))
	}
	for _, p := range []string{string(s.Spool), c.Record} {
		if p != "" && !filepath.IsAbs(p) {
			return nil, fmt.Errorf("spool or record %q is not an absolute path", p)
		}
	}
	env, err := withEnv(r.env[btoi(c.Terminal != nil)], c.Env)
	if err != nil {
		return nil, err
	}
	if c.Trusted {
		if env, err = withEnv(env, map[string]string{"PATH": r.outside(lookEnv(env, "PATH"))}); err != nil {
			return nil, err
		}
	}
	env = append(env, MarkVariable+"="+s.Run)
	if err := r.place(s, c, env); err != nil {
		return nil, err
	}
	s.Env = join(env)
	return s, nil
}

// outside is outsideOf the workspace; the answer for the PATH that commands usually have is kept.
func (r *Runner) outside(path string) string {
	usual := lookEnv(r.env[0], "PATH")
	if path != usual {
		return outsideOf(path, r.cfg.Workspace)
	}
	r.trust.Do(func() { r.trusted = outsideOf(usual, r.cfg.Workspace) })
	return r.trusted
}

// place looks up directory and program.
func (r *Runner) place(s *spec, c *host.Command, env []string) error {
	dir := cmp.Or(c.Dir, r.cfg.Dir)
	if err := checkDir(dir); err != nil {
		return &host.PathError{Op: "chdir", Path: dir, Err: err}
	}
	s.Dir = raw(dir)
	argv := c.Argv
	if c.Script != "" {
		argv = []string{r.shell, "--norc", "--noprofile", "-c", c.Script}
	}
	for _, a := range argv {
		if strings.ContainsRune(a, 0) {
			return &host.PathError{Op: "exec", Path: argv[0], Err: fmt.Errorf("%w: an argument holds a NUL byte", host.ErrInvalidPath)}
		}
	}
	if slices.ContainsFunc(argv, func(a string) bool { return len(a) >= maxArgument }) {
		return tooLong(argv[0], len(join(argv))+len(join(env)))
	}
	path, err := lookProgram(argv[0], dir, lookEnv(env, "PATH"))
	if err != nil && c.Script != "" {
		err = fmt.Errorf("%w: scripts are run by bash; install it, or give a program and its arguments instead of a script", err)
	}
	if err != nil {
		return &host.PathError{Op: "exec", Path: argv[0], Err: err}
	}
	path, argv = limited(r.shell, path, argv, c.Limits)
	s.Path, s.Argv = raw(path), join(argv)
	return nil
}

func checkDir(dir string) error {
	switch fi, err := os.Stat(dir); {
	case !filepath.IsAbs(dir):
		return fmt.Errorf("%w: it is not absolute", host.ErrInvalidPath)
	case err != nil:
		return cause(err)
	case !fi.IsDir():
		return host.ErrNotDir
	}
	return nil
}

// cause strips the operation and path that another error adds.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// lookProgram finds a program: with a slash relative to dir, otherwise on the path.
func lookProgram(name, dir, path string) (string, error) {
	if name == "" {
		return "", fs.ErrNotExist
	}
	var list []string
	switch {
	case filepath.IsAbs(name):
		list = []string{name}
	case strings.ContainsRune(name, filepath.Separator):
		list = []string{filepath.Join(dir, name)}
	default:
		for _, d := range filepath.SplitList(path) {
			list = append(list, filepath.Join(d, name))
		}
	}
	err := fs.ErrNotExist
	for _, p := range list {
		fi, serr := os.Stat(p)
		switch {
		case serr != nil:
		case fi.Mode().IsRegular() && fi.Mode()&0o111 != 0:
			return p, nil
		default:
			err = fs.ErrPermission
		}
	}
	return "", err
}

// startError says where a start failed. The directory and the program were there a moment ago.
func startError(s *spec, err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return tooLong(s.program(), len(s.Argv)+len(s.Env))
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		if derr := checkDir(string(s.Dir)); derr != nil {
			return &host.PathError{Op: "chdir", Path: string(s.Dir), Err: derr}
		}
		if _, ok := errors.AsType[*fs.PathError](err); !ok {
			return &host.PathError{Op: "exec", Path: s.program(), Err: e}
		}
	}
	return err
}

func tooLong(program string, bytes int) error {
	return &host.PathError{Op: "exec", Path: program, Err: fmt.Errorf("arguments and environment are too long for the system (%d bytes): put the text into a file", bytes)}
}

// program returns the name under which the program is run.
func (s *spec) program() string {
	name, _, _ := strings.Cut(string(s.Argv), "\x00")
	return name
}

func newRun() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// scratchParent is where spools that nobody named are kept, or the directory for them is made.
func (r *Runner) scratchParent() string {
	if r.cfg.StateDir == "" {
		return os.TempDir()
	}
	return filepath.Join(r.cfg.StateDir, "run")
}

// spools returns the directory of spools that nobody named. It is made when it is first needed.
func (r *Runner) spools() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.scratch != "" {
		return r.scratch, nil
	}
	if r.closed {
		return "", errClosed
	}
	dir := r.scratchParent()
	var err error
	if r.cfg.StateDir == "" {
		dir, err = os.MkdirTemp(dir, scratchName(r.self, "*"))
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("directory of command output: %w", err)
	}
	r.scratch = dir
	return dir, nil
}

var errClosed = errors.New("the runner is closed")

// scratchPrefix begins the names of spools that nobody named, and of the directories that are made for them.
const scratchPrefix = "tackle-run-"

// scratchName names the spool of a command of this process, so that a later process knows whose it was:
// tackle-run-NAMESPACE-PID-START-RUN.
func scratchName(owner host.Identity, run string) string {
	return fmt.Sprintf("%s%s-%d-%d-%s", scratchPrefix, pidNamespace(), owner.PID, owner.Start, run)
}

// sweepScratch removes what owners that are dead left in a directory. What belongs to another user or was made in another
// pid namespace is left alone: whether its owner lives cannot be seen from here.
func sweepScratch(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name, ours := strings.CutPrefix(e.Name(), scratchPrefix)
		ns, rest, _ := strings.Cut(name, "-")
		var id host.Identity
		if n, _ := fmt.Sscanf(rest, "%d-%d-", &id.PID, &id.Start); !ours || ns != pidNamespace() || n != 2 || aliveAs(id) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil && int(st.Uid) == os.Geteuid() {
			os.RemoveAll(path)
		}
	}
}

// aliveAs reports whether a process lives.
func aliveAs(id host.Identity) bool {
	p, ok := readProcess(id.PID)
	return ok && p.alive() && p.start == id.Start
}

// forget is called when a command was closed.
func (r *Runner) forget(c *command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, c)
}

// Close ends all commands that are not detached, and the keepers.
func (r *Runner) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	r.mu.Unlock()
	r.ready.Do(func() {}) // what was not prepared stays so
	r.starts.Wait()
	r.mu.Lock()
	live := make([]*command, 0, len(r.live))
	for c := range r.live {
		live = append(live, c)
	}
	r.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(live))
	for i, c := range live {
		wg.Go(func() { errs[i] = c.Close() })
	}
	wg.Wait()
	if r.keepers != nil {
		r.keepers.close()
	}
	r.launcher.close()
	if r.cfg.StateDir == "" && r.scratch != "" {
		errs = append(errs, os.RemoveAll(r.scratch))
	}
	return errors.Join(errs...)
}
