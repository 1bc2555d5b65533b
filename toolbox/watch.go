package toolbox

import (
	"context"
	"fmt"

	"github.com/tackle-dev/tackle/tool"
)

// Stage is a point on the way of a call.
type Stage string

// The stages. A call that is refused or fails goes from any of them to Ended; a fault has no end.
const (
	StagePlanned Stage = "planned" // policy is asked next
	StageAsked   Stage = "asked"   // a person is asked next
	StageDecided Stage = "decided" // somebody answered, or nobody did in time
	StageRunning Stage = "running" // it runs next; again at each further point at which it begins to act
	StageEnded   Stage = "ended"   // its result is recorded
)

// Moment is what [Request.Watch] hears of.
type Moment struct {
	Stage  Stage
	Point  int              // the gate point: 1, or more for what a running call asks about
	Tool   *tool.Definition // not to be changed
	Intent *tool.Intent     // not to be changed or kept; nil at the end
	// Decision is why policy asks, and what was decided.
	Decision tool.Decision
	Result   *tool.Result // at the end; not to be changed
}

// tell tells the watcher of a call.
func (b *Box) tell(ctx context.Context, p *Planned, m Moment) error {
	if p.Request.Watch == nil {
		return nil
	}
	if p.entry != nil {
		m.Tool = &p.entry.def
	}
	if m.Point == 0 {
		m.Point = 1
	}
	err := guard("watcher", func() error { return p.Request.Watch(ctx, m) })
	if err != nil && !tool.IsFault(err) {
		err = tool.Fault(fmt.Errorf("call %s, %s: %w", p.Request.ID, m.Stage, err))
	}
	return err
}
