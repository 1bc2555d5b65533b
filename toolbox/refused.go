package toolbox

import (
	"fmt"
	"sync"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// EndTurnValue is the key of a result's Meta.Values under which stands why the turn should end: the same call was refused
// for the third time in it (P13). A loop ends the turn; a model that reads the result is told to take another way.
const EndTurnValue = "turn.end"

// keptTurns bounds the turns whose refusals are counted.
const keptTurns = 256

// refusals counts refused calls by turn. Where calls name none, the session is one turn.
type refusals struct {
	mu    sync.Mutex
	turns map[string]*permission.Refusals
	order []string
}

func (r *refusals) of(session, turn string) *permission.Refusals {
	key := session + "\x00" + turn
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.turns[key]; t != nil {
		return t
	}
	if r.turns == nil {
		r.turns = map[string]*permission.Refusals{}
	}
	if len(r.order) == keptTurns {
		delete(r.turns, r.order[0])
		r.order = append(r.order[:0:0], r.order[1:]...)
	}
	t := &permission.Refusals{}
	r.turns[key], r.order = t, append(r.order, key)
	return t
}

// repeated counts the refusal of a call, and tells the model what the repetition of it means.
func (b *Box) repeated(p *Planned, res *tool.Result) {
	if p.entry == nil || res.Denied == nil && !res.OK() {
		return
	}
	in := &tool.Intent{Tool: p.entry.def.Name, Args: p.Args}
	if in.Args == nil { // refused before the arguments were read
		in.Args = p.Request.Args
	}
	turn := b.refused.of(p.Request.Session, p.Request.turn())
	if res.Denied == nil {
		turn.Passed(in)
		return
	}
	times, end := turn.Refused(in)
	switch {
	case end:
		reason := fmt.Sprintf("the same call of %s was refused %d times", in.Tool, times)
		e := *res.Err
		e.Hint = fmt.Sprintf("This very call was refused %d times. Do not make it again: change your approach, or end the turn and say what you need.", times)
		res.Err = &e
		if res.Meta.Values == nil {
			res.Meta.Values = map[string]any{}
		}
		res.Meta.Values[EndTurnValue] = reason
	case times > 1:
		res.Err = res.Err.With(joinSentences(res.Err.Hint, fmt.Sprintf("This very call was refused %d times now; at the next time the turn ends.", times)))
	}
}
