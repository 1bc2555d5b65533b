package toolbox

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// Times of the road.
const (
	DefaultTimeout = 2 * time.Minute
	// grace is how long the road waits for a tool that ignores the end of its context.
	grace = 5 * time.Second
)

// Gate decides about intents. permission.Gate is one.
type Gate interface {
	// Decide returns the verdict of policy. Ask means that only a person may answer. An error is a fault.
	Decide(ctx context.Context, req GateRequest) (tool.Decision, error)
}

// GateRequest is what a gate sees.
type GateRequest = permission.Request

// Answerer answers asks. It returns an allow or a deny, bound to the fingerprint that it was shown.
type Answerer interface {
	Answer(ctx context.Context, ask Asked) (tool.Decision, error)
}

// Asked is a question to a person: the intent, sealed, and why policy asks.
type Asked struct {
	GateRequest
	Policy tool.Decision
	// Hunks is how many separately approvable hunks the call has; 0 where it cannot be approved in part.
	Hunks int
}

// Hook stands around calls: Before may rewrite the request's arguments or refuse the call with a *tool.Error or
// *tool.Denial; After may add to the result's parts. They run in order, for every face.
type Hook interface {
	Before(ctx context.Context, req *Request) error
	After(ctx context.Context, req *Request, res *tool.Result) error
}

// Recorder stores what happened. Record returns after the record is stored (persist before publish).
type Recorder interface {
	Record(ctx context.Context, rec *session.Record) error
}

// Sessions gives the state of a session. An unknown id is a new session.
type Sessions interface {
	ReadState(ctx context.Context, session string) (tool.ReadState, error)
}

// Config configures a Box. The zero value works: no host, no recorder, and a gate that lets only reading through.
type Config struct {
	Host      host.Host
	Env       tool.Environment
	Gate      Gate           // nil: reading is allowed, everything else is denied
	Answerer  Answerer       // nil: nobody is there, an ask becomes a denial that says so
	Recorder  Recorder       // nil: nothing is recorded
	Sessions  Sessions       // nil: read-state lives in memory, by session id
	Artifacts tool.Artifacts // nil: output that is cut cannot be read later, and says so
	Hooks     []Hook
	Rewriters []Rewriter // change what models are told about tools, in order (P3)

	// Shape, where it is set, may change the bytes that a planned call would write, before anybody decides about them, and
	// says for the model what it did, "" for nothing. It starts no program and changes nothing but the After states of Write
	// operations.
	Shape func(ctx context.Context, call *tool.Call, set *change.Set) string

	Overrides map[string]Override // by default name (T15)
	Aliases   map[string]string   // old name → name of the list (T15)

	Bounds   tool.Bounds   // the shared limit, default 2000 lines and 50 KB (O1)
	Timeout  time.Duration // default 2 minutes
	Parallel int           // calls at once in CallAll; default twice the processors
	Options  tool.Options
	Log      *slog.Logger     // default: discards
	Clock    func() time.Time // default time.Now
}

// Override renames or re-describes a tool. Empty fields keep the default.
type Override struct {
	Name        string
	Description string
}

// Box is a set of tools with the road. It is safe for concurrent use.
type Box struct {
	cfg     Config
	env     atomic.Pointer[tool.Environment]
	mu      sync.RWMutex // guards entries
	entries []*entry
	reads   session.Memory
	refused refusals
	redact  atomic.Pointer[redactor]
	// rewrites holds what each view is told: rewriteKey → *rewritten. It is bounded by tools, modes and models in use.
	rewrites sync.Map
}

// New returns an empty box. cfg is copied.
func New(cfg Config) (*Box, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Parallel == 0 {
		cfg.Parallel = 2 * runtime.GOMAXPROCS(0)
	}
	if cfg.Parallel < 0 || cfg.Timeout < 0 {
		return nil, fmt.Errorf("toolbox: parallel %d and timeout %v must not be negative", cfg.Parallel, cfg.Timeout)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Gate == nil {
		cfg.Gate = readOnlyGate{}
	}
	for name, o := range cfg.Overrides {
		if o.Name != "" && !toolName.MatchString(o.Name) {
			return nil, fmt.Errorf("toolbox: override of %s: name %q: want %s", name, o.Name, toolName)
		}
	}
	b := &Box{}
	b.setEnv(cfg.Env)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	} else {
		cfg.Log = slog.New(&redactHandler{cfg.Log.Handler(), b})
	}
	if cfg.Sessions == nil {
		cfg.Sessions = &b.reads
	}
	b.cfg = cfg
	return b, nil
}

// Env returns a copy of the environment as it is now.
func (b *Box) Env() tool.Environment { return *b.env.Load() }

// UpdateWorkspace replaces the workspace of the environment (project switch). Running calls keep what they began with.
func (b *Box) UpdateWorkspace(w tool.Workspace) {
	b.updateEnv(func(e *tool.Environment) { e.Workspace = w })
}

// UpdateProject replaces project and mode (T10). Running calls keep what they began with.
func (b *Box) UpdateProject(p tool.Project, mode string) {
	b.updateEnv(func(e *tool.Environment) { e.Project, e.Mode = p, mode })
}

func (b *Box) updateEnv(change func(*tool.Environment)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := *b.env.Load()
	change(&e)
	b.setEnv(e)
}

func (b *Box) setEnv(e tool.Environment) {
	b.env.Store(&e)
	b.redact.Store(newRedactor(e.Secrets()))
}

// Host returns the host that calls act on; nil where the box has none.
func (b *Box) Host() host.Host { return b.cfg.Host }

// readOnlyGate is the gate of a box that was given none.
type readOnlyGate struct{}

func (readOnlyGate) Decide(_ context.Context, req GateRequest) (tool.Decision, error) {
	for _, e := range req.Intent.Effects {
		if e != tool.Read {
			return tool.Decision{Verdict: tool.Deny, By: "no gate", Reason: "this toolbox has no gate, so it only reads"}, nil
		}
	}
	return tool.Decision{Verdict: tool.Allow, By: "no gate"}, nil
}
