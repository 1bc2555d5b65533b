package host

import (
	"context"
	"io"
	"time"
)

// Runner is the command half of a host: it starts commands where the files are, and owns the whole process tree of each
// until that has ended. It is an interface of its own, so that a place with files only stays a valid Host.
// Implementations are safe for concurrent use and join the suite in host/runnertest.
type Runner interface {
	// Start starts a command. ctx bounds the start only: the process lives until it ends, its limit is reached, or its
	// owner calls Stop or Close. [Run] is the shorter road for a command that nobody watches.
	// Errors: *PathError with Op "chdir" (the directory) or "exec" (the program or shell), wrapping fs.ErrNotExist,
	// fs.ErrPermission, ErrNotDir or ErrInvalidPath; ErrUnsupported for what this runner cannot give.
	Start(ctx context.Context, c Command) (Process, error)

	// Attach finds a command again from its handle, also one that another process started and left behind. A command
	// that is gone gives a Process whose Wait returns soon, with what is on record of its end. A handle of which only Run,
	// Spool and Record are known, because its owner died while it started the command, is enough to find it by its mark.
	// Close lets go of an attached command and never ends it.
	Attach(ctx context.Context, h Handle) (Process, error)

	// Confinement says what holds commands, and how their trees end. It does not change while the runner is open.
	Confinement() Confinement
}

// Commander is a Host with a command half.
type Commander interface {
	Host
	// Runner returns the command half, the same one each time. It belongs to the host and ends with it.
	// Errors: ErrUnsupported, or why commands cannot run here.
	Runner() (Runner, error)
}

// Defaults of [Limits].
const (
	DefaultTime        = 30 * time.Second       // of a command
	DefaultSpool int64 = 32 << 20               // bytes of output kept on disk
	DefaultDrain       = 250 * time.Millisecond // how long output may follow the leader's end
	DefaultGrace       = time.Second            // between SIGTERM and SIGKILL
	DefaultTree        = 4096                   // processes of a tree at one time
)

// Command says what to run. The zero values of all fields but one of Script and Argv are good.
type Command struct {
	Script string   // run by bash --norc --noprofile -c; never by a login shell or the user's own
	Argv   []string // or a program with its arguments; a name without slash is looked up on the fixed PATH

	Dir string            // absolute; "" is the runner's default directory
	Env map[string]string // added to the fixed environment, and stronger than it (see [HazardousVariable])

	// Trusted finds programs in those directories of PATH alone that do not lie in the workspace: what only looks must not
	// run a program of the workspace that has the name of another.
	Trusted bool

	Input    bool  // keep standard input open as a pipe for Process.Input; default: end of file at once
	Terminal *Size // a pseudo-terminal as input, output and errors; default: no controlling terminal at all
	Split    bool  // keep standard error apart; default: one stream, in the order in which things were written

	Limits  Limits
	Profile Profile

	// Run marks every process of the tree, in its environment, so that it can be found again. Default: random.
	Run string
	// Spool is the absolute path, without extension, of the files that hold the output: Spool.log and, for output
	// beyond half of Limits.Spool, Spool.OFFSET.log. Default: files of the runner that Process.Close removes.
	Spool string
	// Record is a file that receives the [Exit] as JSON when the command ends, written by whoever watches it then.
	Record string
	// Detach lets the tree outlive this process and its Close. Default: it ends with this process, kill -9 included,
	// where Confinement.OwnerDeath says so.
	Detach bool
}

// Limits bound a command. In each field 0 means the default; in those without one it means no limit.
type Limits struct {
	Time   time.Duration // until the tree is ended; DefaultTime, negative for no limit
	Drain  time.Duration // DefaultDrain
	Grace  time.Duration // DefaultGrace, negative for none: SIGKILL at once
	Spool  int64         // bytes of output kept on disk: the first half and the last quarter at least; DefaultSpool
	Output int64         // bytes of output after which the tree is ended; no default
	// Tree is how many processes the tree may have at one time, about, before it is ended: a fork bomb is found within a
	// second. Unlike Processes it holds for root too. DefaultTree, negative for no limit.
	Tree int

	Memory    int64         // bytes of address space, of each process; no default
	CPU       time.Duration // of each process, in whole seconds; no default
	FileSize  int64         // bytes of each file that is written; no default
	Processes int           // additional processes and threads; no default
}

// Profile names what a command may do.
type Profile string

// The profiles. A runner lists those that it can give in its Confinement.
const (
	ProfileHost     Profile = ""         // whatever the user of this process may do
	ProfileReadOnly Profile = "readonly" // no writable path, no network
)

// Size is that of a terminal, in characters. The zero Size is 24 rows of 80.
type Size struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// Confinement says what holds commands.
type Confinement struct {
	Confined   bool      // false: a command can do whatever the user can do
	Profiles   []Profile // that Start accepts
	Tree       string    // how a whole tree is found and ended, the strongest means first
	Complete   bool      // a child that makes a session of its own is found and ended too
	OwnerDeath bool      // trees end when this process dies, kill -9 included
	Detach     bool      // Command.Detach is possible
	Terminal   bool      // Command.Terminal is possible
	Notes      []string  // what this runner cannot do, each a sentence for doctor
}

// String returns a line for results and doctor, such as "unconfined; trees end by cgroup.kill, subreaper".
func (c Confinement) String() string {
	s := "unconfined"
	if c.Confined {
		s = "confined"
	}
	return s + "; trees end by " + c.Tree
}

// Handle identifies a started command durably: pid and start time name a process for ever, a pid alone does not.
type Handle struct {
	Run     string    `json:"run"`
	PID     int       `json:"pid,omitempty"`   // of the leader
	Start   uint64    `json:"start,omitempty"` // of the leader, in the host's own unit (Linux: clock ticks since boot)
	Boot    string    `json:"boot,omitempty"`  // identifies the boot that Start counts from
	Owner   Identity  `json:"owner,omitzero"`  // the process that started it
	Keeper  *Identity `json:"keeper,omitempty"`
	Group   string    `json:"group,omitempty"` // control group
	Spool   string    `json:"spool"`
	Quota   int64     `json:"quota"` // of the spool, bytes
	Split   bool      `json:"split,omitempty"`
	Record  string    `json:"record,omitempty"`
	Started time.Time `json:"started"`
}

// Identity names one process of one boot.
type Identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// Process is a started command. Whoever holds it owns it and closes it; handing the Process on hands the command on,
// which is how a foreground command becomes a background task. It is safe for concurrent use.
type Process interface {
	Handle() Handle
	// Output returns the spooled output, Errors the standard error of a command with Split and otherwise nil.
	Output() Output
	Errors() Output
	// Input returns what feeds the command, or nil where its input was closed from the start.
	Input() Input

	// Wait returns when the leader has ended and its output is drained, also if a child that lives on keeps the output
	// open: the Exit names those. It may be called often; ending ctx ends the waiting only, with the error of ctx.
	Wait(ctx context.Context) (Exit, error)
	// Gone is closed when nothing of the tree is known to live.
	Gone() <-chan struct{}
	// State looks at the tree as it is now.
	State(ctx context.Context) (State, error)

	// Signal sends a signal, by name ("SIGINT"), to the leader's process group.
	Signal(ctx context.Context, name string) error
	// Stop ends the whole tree, politely first, and returns when it is gone or when that was given up: what still lives
	// is then named. A tree that is gone already is no error.
	Stop(ctx context.Context, grace time.Duration) (survivors []ProcessInfo, err error)
	// Detach lets the tree outlive this process from now on. ErrUnsupported where Confinement says so.
	Detach(ctx context.Context) error
	// Close ends what still lives, unless it is detached, and frees everything, files of the runner included.
	Close() error
}

// Input feeds a command. Close ends its input; on a terminal it sends the end-of-file character.
type Input interface {
	io.WriteCloser
	// Resize tells the size of the terminal; without one it is an error.
	Resize(s Size) error
}

// End says why a command ended.
type End string

// The ends.
const (
	EndExited  End = "exited"  // by itself, with an exit status or by a signal that came from elsewhere
	EndTime    End = "time"    // Limits.Time
	EndOutput  End = "output"  // Limits.Output
	EndTree    End = "tree"    // Limits.Tree
	EndStopped End = "stopped" // Stop or Close
	EndOwner   End = "owner"   // the process that owned it is gone
	EndLost    End = "lost"    // it is gone and nobody saw how
)

// Exit says how a command ended.
type Exit struct {
	End       End           `json:"end"`
	Code      int           `json:"code"`             // exit status, or -1
	Signal    string        `json:"signal,omitempty"` // that ended the leader, such as "SIGKILL"
	Started   time.Time     `json:"started,omitzero"`
	Ended     time.Time     `json:"ended,omitzero"` // of the leader
	CPU       time.Duration `json:"cpu,omitempty"`  // user and system time of the leader and the children it waited for
	MaxRSS    int64         `json:"maxRSS,omitempty"`
	Limit     string        `json:"limit,omitempty"`     // the limit of EndTime, EndOutput and EndTree in words
	Output    int64         `json:"output"`              // bytes written so far, kept or not
	Errors    int64         `json:"errors,omitempty"`    // the same of standard error, with Split
	Survivors []ProcessInfo `json:"survivors,omitempty"` // of the tree, that live on after the leader
	Open      bool          `json:"open,omitempty"`      // something still holds the output: more may come
	Waiting   *Waiting      `json:"waiting,omitempty"`   // what it waited for when a limit ended it
	Gone      bool          `json:"gone"`                // nothing of the tree lives
}

// ProcessInfo describes one process.
type ProcessInfo struct {
	PID  int    `json:"pid"`
	Name string `json:"name"` // as the system shows it, 15 bytes on Linux
}

// State is a tree at one moment.
type State struct {
	Running   bool          // the leader lives
	Processes []ProcessInfo // all that live, the leader first
	Waiting   *Waiting      // nil where nothing seems to wait for input
	Owned     bool          // the process that started it lives
}

// Waiting says that a process waits for input that nobody has sent.
type Waiting struct {
	ProcessInfo
	On   string `json:"on"`   // "terminal" or "pipe", or "" for a program that looks for input elsewhere, since it got none
	Sure bool   `json:"sure"` // it is blocked in a read; otherwise it is idle and listens, among others, to its input
}

// Output is what a command wrote, addressed by offsets into everything that it ever wrote. The start and the end are
// kept, so an offset may name bytes that are gone.
type Output interface {
	// Stat says how much there is.
	Stat() (OutputStat, error)
	// Read fills p from the given offset, or from the next offset that is kept, and returns where that was.
	// At the end of what was written so far it returns io.EOF; the command may write more until Stat says Done.
	Read(p []byte, at int64) (n int, from int64, err error)
	// More waits until there is output behind the offset, and returns nil, or io.EOF when there will never be any, or
	// the error of ctx.
	More(ctx context.Context, at int64) error
}

// OutputStat counts bytes of output.
type OutputStat struct {
	Total int64    // written
	Kept  int64    // of them, that can be read
	Done  bool     // no more can come
	Files []string // that hold what is kept, in order, each plain text as it was written
}
