package tool

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
)

// Call is one tool call and everything that the tool may use for it. A Call belongs to one call; it is not stored.
type Call struct {
	ID      string // unique
	Session string
	Message string // id of the assistant message that holds the call; may be empty
	Tool    string // the name under which the tool was called
	Mode    string
	Model   string
	Dir     string // working directory, absolute; "" means the host's first root

	Host      host.Host
	Env       Environment // as it was when the call began
	Log       *slog.Logger
	ReadState ReadState
	Artifacts Artifacts
	Bounds    Bounds  // what the face can show; the tool may bound its own output by it
	Options   Options // of the session

	// Hold is how long the face keeps its caller waiting before it answers that the call goes on (H6); 0 is for ever. A tool
	// that can go on by other means, as a background task, answers by itself before that.
	Hold time.Duration

	// Screen, where a gate can judge single targets, returns the function that does. Listings and searches use Visible.
	// ScreenRead is the same for reading files, with the permission [ReadPermission].
	Screen, ScreenRead func() func(Target) Verdict

	// Private collects, where it is set, the paths that planning resolved and that policy does not simply let the session
	// read: an error of planning that tells whether they exist waits until the gate has decided.
	Private *Private

	// Hunks are the 1-based numbers of the edits or patch hunks that may be planned; nil means all. Denied maps the
	// others to the words of the person who denied them (P9).
	Hunks  []int
	Denied map[int]string
}

// Options are session settings that tools honour.
type Options struct {
	RequireRead bool // F9: refuse to change a file that was not read in this session, or changed since
	Durable     bool // sync files before a change is reported
	Spawns      bool // the session can start subagents (shapes the hint of O3)
}

// Approved reports whether the n-th hunk (1-based) may be planned, and otherwise the words of the denial.
func (c *Call) Approved(n int) (ok bool, words string) {
	if c.Hunks == nil {
		return true, ""
	}
	for _, h := range c.Hunks {
		if h == n {
			return true, ""
		}
	}
	return false, c.Denied[n]
}

// Visible returns a function that reports whether a listing or search may show a file below a folder that the call may
// read. Without a gate that judges single targets everything may be shown.
func (c *Call) Visible() func(p host.Path) bool {
	// Asked for at the first file, because what was decided about the call by then counts.
	judge := sync.OnceValue(func() func(Target) Verdict {
		if c.Screen == nil {
			return func(Target) Verdict { return Allow }
		}
		return c.Screen()
	})
	return func(p host.Path) bool { return judge()(PathTo(p, Read)) == Allow }
}

// Reading returns what policy says to reading the file at a path, whatever the tool is for. Where that is not allow,
// nothing of the content may be told before the gate has decided about reading it, not even by an error of planning.
func (c *Call) Reading(p host.Path) Verdict {
	if c.ScreenRead == nil {
		return Allow
	}
	return c.ScreenRead()(PathTo(p, Read))
}

// ArtifactPath returns the id in a path that names an artifact, artifact:ID. A file of such a name is reached as
// ./artifact:ID.
func ArtifactPath(path string) (id string, ok bool) {
	id, ok = strings.CutPrefix(strings.TrimPrefix(path, "@"), "artifact:")
	return id, ok && id != ""
}

// Resolve resolves a path argument against the call's working directory. The path of an artifact is no path of a file;
// tools that take one look for it before they resolve.
// Errors: *Error with INVALID_PARAMETER or OPERATION_NOT_ALLOWED for the parameter "path".
func (c *Call) Resolve(ctx context.Context, path string) (host.Path, error) {
	if err := c.usable(path); err != nil {
		return host.Path{}, err
	}
	p, err := c.Host.Resolve(ctx, c.Dir, path)
	if err != nil {
		return p, PathError("path", path, err)
	}
	c.Private.note(p)
	return p, nil
}

func (c *Call) usable(path string) error {
	switch id, artifact := ArtifactPath(path); {
	case strings.TrimSpace(path) == "":
		return &Error{Code: InvalidParameter, Message: "path is empty.", Parameter: "path",
			Expected: "a file path, absolute or relative to the working directory"}
	case artifact:
		return &Error{Code: OperationNotAllowed, Parameter: "path", Expected: "the path of a file or folder",
			Message: fmt.Sprintf("artifact:%s is output that is kept to be read; it is no file here.", clip.Middle(id, quoted)),
			Hint:    "Read it with read_file, search it with the artifact tool (op=grep), or make a file of it with copy_file."}
	case c.Host == nil:
		return &Error{Code: OperationNotAllowed, Message: "this toolbox has no files.", Hint: "Retrying will not help."}
	}
	return nil
}

// ResolveSelf is Resolve for the path itself: where its last component is a symbolic link, the link is meant and not
// what it points to.
func (c *Call) ResolveSelf(ctx context.Context, path string) (host.Path, error) {
	if err := c.usable(path); err != nil {
		return host.Path{}, err
	}
	key := path
	if home := c.Host.Info().Home; home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		key = filepath.Join(home, path[1:])
	}
	key = Key(c.dir(), key)
	base := filepath.Base(key)
	if base == string(filepath.Separator) || strings.ContainsRune(path, 0) {
		return c.Resolve(ctx, path)
	}
	p, err := c.Host.Resolve(ctx, c.Dir, filepath.Dir(key))
	if err != nil {
		return p, PathError("path", path, err)
	}
	p.Given, p.Abs = path, key
	p.Real = filepath.Join(p.Real, base)
	p.Self = p.Real
	if p.Inside() {
		p.Rel = filepath.ToSlash(filepath.Join(p.Rel, base))
	} else {
		p.Rel = p.Real
	}
	c.Private.note(p)
	return p, nil
}

func (c *Call) dir() string {
	if c.Dir == "" && c.Host != nil {
		if roots := c.Host.Info().Roots; len(roots) > 0 {
			return roots[0].Path
		}
	}
	return c.Dir
}

// Key returns the canonical read-state key of a path (F9): absolute and clean, links not followed.
func Key(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// ReadState remembers which files a session has read, by canonical key. Implementations are safe for concurrent use.
type ReadState interface {
	// Seen returns the digest of the content that the session last read or wrote at the key.
	Seen(key string) (change.Digest, bool)
	// Mark notes that the session now knows the content with this digest; the zero digest forgets the key.
	Mark(key string, d change.Digest)
}

// Artifacts gives tools access to spooled output.
type Artifacts interface {
	// Put stores output and returns its id.
	Put(ctx context.Context, session, name, mime string, r io.Reader) (id string, err error)
	// Open returns the content of an artifact. Errors wrap fs.ErrNotExist.
	Open(ctx context.Context, id string) (ArtifactReader, error)
}

// ArtifactReader reads one artifact.
type ArtifactReader interface {
	io.ReaderAt
	io.Closer
	Size() int64
	Name() string
	MIME() string
}
