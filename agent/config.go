package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// Config configures an Agent. Model and Box are needed; the zero value of everything else works.
type Config struct {
	Model model.Model
	Box   *toolbox.Box
	// Events holds the sessions; default: memory, gone with the process.
	Events store.Events
	// Records are those of the road, where it has some: what became of calls that a killed process had begun.
	Records *session.Log
	// Shelf keeps the media that results and messages hold. Without one their bytes stand in the events.
	Shelf Shelf

	Mode    string          // default: that of the box
	Dir     string          // working folder of the calls; default: the host's first root
	Prompt  Prompt          // what the model is told about its task and the place
	Overlay map[string]bool // tools of the mode that are switched off or on
	Bounds  tool.Bounds     // what one result may show the model, where that is less than the box's limit
	Limits  Limits          // of each turn

	Effort      model.Effort
	MaxTokens   int // of one answer; default: the model's
	Temperature *float64

	// Keep says what a compaction must not lose, beside what was said and the files that were read: open tasks, media, todos.
	Keep []Keeper
	// Untrusted says whose words a result holds, "" for the project's and the person's own. Default: [Stranger].
	Untrusted func(def *tool.Definition, res *tool.Result) string
	// Claim keeps other processes from driving a session until release is called. Default: nothing does.
	Claim func(session string) (release func(), err error)
	// Watch hears of everything, in order for each session. It is called from the goroutines of the loop, should return fast and must
	// not use the session.
	Watch func(session string, u Update)

	Stall time.Duration // without a sign of life a request to the model is given up and tried again; default 5 minutes
	Clock Clock         // default: that of the system
	Log   *slog.Logger  // default: discards
}

// DefaultStall is the default of Config.Stall. A model may reason for minutes before it says anything.
const DefaultStall = 5 * time.Minute

// Clock is what the driver knows of time.
type Clock struct {
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error // returns the error of ctx when that ends first
}

// Shelf keeps media of sessions by id.
type Shelf interface {
	// Keep stores media and returns the id by which tools know them.
	Keep(ctx context.Context, session, name, mime string, data []byte) (id string, err error)
	// Fetch returns the bytes of media. Errors wrap fs.ErrNotExist.
	Fetch(ctx context.Context, session, id string) ([]byte, error)
}

// Keeper tells what a session must still know after a compaction.
type Keeper interface {
	// Keep returns a heading and what stands below it, "" for nothing.
	Keep(ctx context.Context, session string) (heading, text string, err error)
}

// Update is something that a face can show. Exactly one field beside Call is set.
type Update struct {
	Event *Event       // it is stored
	Piece *model.Piece // of the answer that is arriving; void when a Failed event follows
	// Call is the id of the call that Partial or Progress is of.
	Call     string
	Partial  string
	Progress *Progress
}

// Progress says how far a call is. Total 0: not known.
type Progress struct {
	Done, Total float64
	Message     string
}

// Stranger is the default of Config.Untrusted: results of imported tools, of tools that reach beyond the workspace, and of media
// that others made, are the words of strangers.
func Stranger(def *tool.Definition, res *tool.Result) string {
	if def == nil || res.Err != nil {
		return ""
	}
	if trust, ok := res.Meta.Values["trust"].(string); ok && trust != "" && trust != "first-party" {
		return def.Name + ", " + trust
	}
	if def.Category == "mcp" || def.Category == "web" || def.Annotations.OpenWorld {
		return def.Name
	}
	return ""
}

func (c *Config) complete() error {
	if c.Model == nil {
		return errors.New("agent: no model; set Config.Model")
	}
	if c.Box == nil {
		return errors.New("agent: no toolbox; set Config.Box")
	}
	if c.Limits.Compact > 1 {
		return fmt.Errorf("agent: limit compact is %v; it is the part of the window at which the conversation is told in short, at most 1", c.Limits.Compact)
	}
	if c.Events == nil {
		c.Events = &store.Memory{}
	}
	if c.Mode == "" {
		c.Mode = c.Box.Env().Mode
	}
	if c.Untrusted == nil {
		c.Untrusted = Stranger
	}
	if c.Watch == nil {
		c.Watch = func(string, Update) {}
	}
	if c.Stall == 0 {
		c.Stall = DefaultStall
	}
	if c.Clock.Now == nil {
		c.Clock.Now = time.Now
	}
	if c.Clock.Wait == nil {
		c.Clock.Wait = wait
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// wait is the clock of the system.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
