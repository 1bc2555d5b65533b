// Package ext holds the engines that are programs of the machine, or a service that the operator names: LibreOffice,
// tesseract, ffmpeg, speech recognisers, vips and pandoc.
//
// Each program is tried with a small file before it counts as here, and [Finder.Find] says of each what was found or why it
// is not used. Nothing of this happens at the start of a program: it is for the first use of media.
//
// A program gets its input as a file in a private folder, a fixed list of arguments, no shell, a time limit, a limit of
// output, and a process group of its own that is ended with it. Its options keep it from the network and from other files,
// and where the runner confines it, it could not reach them. LibreOffice keeps running between conversions, with a profile of
// its own and macros off.
package ext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/media"
)

// Runner starts programs and ends the whole tree of one that is out of time.
type Runner interface {
	// Run waits for the end of a program. A program that fails is no error; one that cannot be started is.
	Run(ctx context.Context, s Start) (End, error)
	// Keep starts a program that stays.
	Keep(ctx context.Context, s Start) (Resident, error)
}

// Start says what to run.
type Start struct {
	Argv     []string
	Dir      string            // absolute
	Env      map[string]string // beside the runner's own
	Limit    time.Duration     // of time
	Output   int64             // bytes of output, after which it is ended
	FileSize int64             // bytes of a file that it may write

	// For a runner that confines: the program reads what the system keeps for all programs and what lies at Read, writes in
	// Dir, and has no network. Sockets allows it local ones.
	Read    []string
	Sockets bool
}

// End says how a program ended.
type End struct {
	Stdout, Stderr []byte
	Code           int    // exit status, -1 where a signal ended it
	Signal         string // that ended it, or ""
	TimedOut       bool
}

// Resident is a program that stays and answers lines with lines. It is not for concurrent use.
type Resident interface {
	// Ask sends a line, unless it is empty, and returns the next line of the program.
	Ask(ctx context.Context, line string) (string, error)
	// Close ends its input and waits a little for it to end; Kill waits for nothing.
	Close() error
	Kill() error
}

// Folder is a private folder for one call. Paths are relative to it.
type Folder interface {
	Dir() string
	Put(path string, content []byte) error
	// Get reads a regular file of at most so many bytes.
	Get(path string, limit int64) ([]byte, error)
	Close() error
}

// Speech is a service for speech to text that speaks the interface of OpenAI.
type Speech struct {
	URL   string // up to and without /audio/transcriptions
	Model string
	Key   string // sent as a bearer token; "" sends none
	// Post sends a request and returns the status and the body.
	Post func(ctx context.Context, url string, header map[string]string, body []byte) (status int, answer []byte, err error)
}

// Config says where programs are looked for and how they are run. It is copied.
type Config struct {
	Runner Runner // nil: no programs
	// Folder makes a private folder.
	Folder func() (Folder, error)
	// Look finds a program of the machine by its name; "" where there is none.
	Look func(name string) string
	// Exists reports whether there is a file or folder at an absolute path.
	Exists func(path string) bool
	// Stamp changes when a program does; "" where it cannot be told.
	Stamp func(path string) string
	// Known are the programs that passed their trial earlier. They are not tried again while their stamp is the same.
	Known []Known
	// Model is a file with the model of a recogniser that does not bring one: whisper-cli.
	Model  string
	Speech *Speech
	// OfficeTime is how long LibreOffice may take for one file. Default 90 seconds.
	OfficeTime time.Duration
}

// Known is a program that passed its trial.
type Known struct {
	Name, Path, Stamp, Version string
	Abilities                  []string `json:",omitempty"` // languages of tesseract, formats of vips
}

// Found says what is known of one program.
type Found struct {
	Name    string
	Path    string
	Version string
	Use     string // what it is for, or would be
	Reason  string // why it is not used; "" where it is
	Engine  *media.Engine

	abilities []string
}

// Finder finds the engines once. It is safe for concurrent use. Close ends what keeps running.
type Finder struct {
	cfg   Config
	mu    sync.Mutex
	found []Found
	done  bool

	closing sync.Mutex
	close   []func() error

	quick  bool    // start nothing
	origin *Finder // whose Close ends what keeps running
}

// New returns a finder. It touches nothing.
func New(cfg Config) *Finder { return &Finder{cfg: cfg} }

// probeLimit is how long one program may take to show that it works.
const probeLimit = 60 * time.Second

// Find tries the programs, all at once, and remembers what it found.
func (f *Finder) Find(ctx context.Context) ([]Found, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return f.found, nil
	}
	if f.cfg.Runner == nil {
		f.found, f.done = []Found{{Name: "programs", Reason: "this host starts no programs"}}, true
		if f.cfg.Speech != nil {
			f.found = append(f.found, speechService(f.cfg.Speech))
		}
		return f.found, nil
	}
	probes := f.probes()
	out := make([]Found, len(probes))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 3)
	for i, probe := range probes {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			c, stop := context.WithTimeout(ctx, probeLimit)
			defer stop()
			out[i] = probe(c)
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.cfg.Speech != nil { // what the operator named comes before what happens to be there
		out = append([]Found{speechService(f.cfg.Speech)}, out...)
	}
	f.found, f.done = out, true
	return out, nil
}

// probes look for one program each, the preferred first.
func (f *Finder) probes() []func(context.Context) Found {
	return []func(context.Context) Found{f.soffice, f.tesseract, f.ffmpeg, f.pandoc, f.vips, f.whisper, f.vosk, f.pocketsphinx}
}

// Engines returns the engines that work here.
func (f *Finder) Engines(ctx context.Context) ([]media.Engine, error) {
	found, err := f.Find(ctx)
	var out []media.Engine
	for _, x := range found {
		if x.Engine != nil {
			out = append(out, *x.Engine)
		}
	}
	return out, err
}

// Close ends the programs that keep running.
func (f *Finder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	f.closing.Lock()
	defer f.closing.Unlock()
	for _, c := range f.close {
		err = errors.Join(err, c())
	}
	f.close = nil
	return err
}

// untried is why a program is not used before somebody uses media.
const untried = "it is there and not tried yet; the first use of media tries it"

// Quick returns the engines of programs that are known to work, and starts none.
func (f *Finder) Quick() []media.Engine {
	sub := &Finder{cfg: f.cfg, quick: true}
	sub.origin = f
	var out []media.Engine
	if s := f.cfg.Speech; s != nil {
		if x := speechService(s); x.Engine != nil {
			out = append(out, *x.Engine)
		}
	}
	if f.cfg.Runner == nil || len(f.cfg.Known) == 0 {
		return out
	}
	for _, probe := range sub.probes() {
		if x := probe(context.Background()); x.Engine != nil {
			out = append(out, *x.Engine)
		}
	}
	return out
}

// Known returns the programs that passed their trial, for the next time.
func (f *Finder) Known() []Known {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Known
	for _, x := range f.found {
		if x.Engine != nil && x.Path != "" && f.cfg.Stamp != nil && f.cfg.Stamp(x.Path) != "" {
			out = append(out, Known{x.Name, x.Path, f.cfg.Stamp(x.Path), x.Version, x.abilities})
		}
	}
	return out
}

// passed returns what is known of a program that was tried earlier and has not changed.
func (f *Finder) passed(x *Found) (Known, bool) {
	for _, k := range f.cfg.Known {
		if len(k.Abilities) == 0 && (k.Name == "tesseract" || k.Name == "vips") {
			continue // what they can do is found by the trial
		}
		if k.Name == x.Name && k.Path == x.Path && f.cfg.Stamp != nil && k.Stamp != "" && f.cfg.Stamp(x.Path) == k.Stamp {
			return k, true
		}
	}
	return Known{}, false
}

// tried tries a program unless it was tried earlier; what it says of its version is asked afterwards.
func (f *Finder) tried(ctx context.Context, x *Found, trial func() error, version ...string) bool {
	if k, ok := f.passed(x); ok {
		x.Version, x.abilities = k.Version, k.Abilities
		return true
	}
	if f.quick {
		x.Reason = untried
		return false
	}
	if err := trial(); err != nil {
		*x = x.broken(err)
		return false
	}
	if len(version) > 0 {
		x.Version = f.version(ctx, version...)
	}
	return true
}

// atEnd has something done by Close.
func (f *Finder) atEnd(do func() error) {
	if f.origin != nil {
		f = f.origin
	}
	f.closing.Lock()
	defer f.closing.Unlock()
	f.close = append(f.close, do)
}

// find looks for a program and makes its report. get says how one gets it.
func (f *Finder) find(name, use, get string, names ...string) (Found, bool) {
	for _, n := range append([]string{name}, names...) {
		if p := f.cfg.Look(n); p != "" {
			return Found{Name: name, Path: p, Use: use}, true
		}
	}
	return Found{Name: name, Use: use, Reason: "not installed; " + get}, false
}

// maxOutput bounds what one program prints.
const maxOutput = 64 << 20

// job is one run of a program in a private folder.
type job struct {
	argv []string
	read []string          // what it reads beside them
	sock bool              // it talks to itself over a socket
	in   map[string][]byte // files to begin with
	out  string            // file to read afterwards; "" is standard output
	time time.Duration     // default: a minute
}

// run runs a job. A program that fails is an error with the end of what it said.
func (f *Finder) run(ctx context.Context, j job, limit int64) ([]byte, error) {
	dir, err := f.cfg.Folder()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for name, b := range j.in {
		if err := dir.Put(name, b); err != nil {
			return nil, err
		}
	}
	return f.in(ctx, dir, j, limit)
}

// environment is what programs get: a home of their own, and one thread.
func environment(dir string) map[string]string {
	return map[string]string{"HOME": dir, "TMPDIR": dir, "LC_ALL": "C.UTF-8", "OMP_THREAD_LIMIT": "1"}
}

func (f *Finder) in(ctx context.Context, dir Folder, j job, limit int64) ([]byte, error) {
	name, most := path.Base(j.argv[0]), cmp.Or(j.time, time.Minute)
	end, err := f.cfg.Runner.Run(ctx, Start{Argv: j.argv, Dir: dir.Dir(), Env: environment(dir.Dir()), Limit: most, Output: maxOutput, FileSize: max(limit, 1<<20) * 2, Read: j.read, Sockets: j.sock})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, media.Failf("%s could not be run: %v.", name, err)
	case end.TimedOut:
		return nil, media.Failf("%s did not end within %v and was ended. The file may be damaged, or too large for it.", name, most)
	case end.Code != 0 || end.Signal != "":
		return nil, media.Failf("%s could not do it%s.", name, because(end))
	case j.out != "":
		b, err := dir.Get(j.out, limit)
		if err != nil {
			return nil, media.Failf("%s gave nothing%s.", name, because(end))
		}
		return b, nil
	case int64(len(end.Stdout)) > limit:
		return nil, media.Failf("%s printed more than the %d MB that are allowed.", name, limit>>20)
	}
	return end.Stdout, nil
}

// because gives the last thing that a program said.
func because(end End) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(end.Stderr), "\ufffd")), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		if r := []rune(last); len(r) > 200 {
			last = string(r[:199]) + "…"
		}
		return ": " + strings.TrimSuffix(last, ".")
	}
	if end.Signal != "" {
		return ": it was ended by " + end.Signal
	}
	return fmt.Sprintf(" (exit status %d)", end.Code)
}

// version is what a program says of itself.
func (f *Finder) version(ctx context.Context, argv ...string) string {
	dir, err := f.cfg.Folder()
	if err != nil {
		return ""
	}
	defer dir.Close()
	end, err := f.cfg.Runner.Run(ctx, Start{Argv: argv, Dir: dir.Dir(), Env: environment(dir.Dir()), Limit: 20 * time.Second, Output: 1 << 20, FileSize: 1 << 20})
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(end.Stdout)+string(end.Stderr)), "\n")
	for _, w := range strings.Fields(line) {
		if w = strings.Trim(w, "v,;()"); len(w) > 0 && w[0] >= '0' && w[0] <= '9' && strings.Contains(w, ".") {
			return w
		}
		if _, v, ok := strings.Cut(w, "-"); ok && len(v) > 0 && v[0] >= '0' && v[0] <= '9' { // vips-8.14.1
			return v
		}
	}
	return ""
}

// broken is what is said of a program that is there and does not do what it should.
func (x Found) broken(err error) Found {
	x.Reason = "it is there, and the trial failed: " + strings.TrimSuffix(err.Error(), ".")
	return x
}

// works is what is said of a program that does what it should.
func (x Found) works(e media.Engine) Found {
	e.ID = strings.ReplaceAll(x.Name, " ", "-")
	x.Engine = &e
	return x
}

func mimes(tokens ...string) []string {
	var out []string
	for _, t := range tokens {
		if f, ok := media.FormatOf(t); ok {
			out = append(out, f.MIME)
		}
	}
	return out
}

func gave(b []byte) (media.Result, error) {
	if b == nil {
		b = []byte{}
	}
	return media.Result{Media: &media.Payload{Data: b}}, nil
}

// inputName is the name of the input file: never the one that it came with.
func inputName(p *media.Payload) string {
	if f, ok := media.FormatOf(p.MIME); ok {
		return "in." + f.Token
	}
	return "in"
}
