package tackle

import (
	"context"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox/hook"
)

// mostStops is how often in a row hooks may have a turn go on that the model had ended.
const mostStops = 8

// Begin runs the hooks of a session that begins (or, with resumed, goes on) and returns what they add to the first message of this
// process, as parts; usually none.
func (b *Box) Begin(ctx context.Context, session string, resumed bool) ([]tool.Part, error) {
	how := hook.Startup
	if resumed {
		how = hook.Resume
	}
	text, err := b.hooks.SessionStart(ctx, session, how)
	if err != nil || text == "" {
		return nil, err
	}
	return []tool.Part{content.TextPart("[From the hooks of this place:]\n" + b.mask(text))}, nil
}

// Turn says something in a session and runs the turn to its end, and further where hooks have it go on. Without parts it takes up an
// unfinished turn.
func (b *Box) Turn(ctx context.Context, s *agent.Session, parts ...tool.Part) (agent.Turn, error) {
	turn, err := begin(ctx, s, parts)
	total := turn.Tally
	for n := range mostStops {
		if err != nil || turn.End.Why != agent.Done || ctx.Err() != nil {
			break
		}
		reason, stopped := b.hooks.Stop(ctx, s.ID(), n > 0)
		if stopped != nil || reason == "" { // only the end of ctx stops it, and the turn is over
			break
		}
		if err = s.Say(ctx, agent.Message{From: "a hook that ran when you stopped", Parts: []content.Part{content.TextPart(b.mask(reason))}}); err != nil {
			break
		}
		if turn, err = s.Resume(ctx); err == nil {
			total.Rounds, total.Calls = total.Rounds+turn.Tally.Rounds, total.Calls+turn.Tally.Calls
			total.Usage, total.Cost = total.Usage.Add(turn.Tally.Usage), total.Cost+turn.Tally.Cost
		}
	}
	turn.Tally = total
	return turn, err
}

func begin(ctx context.Context, s *agent.Session, parts []tool.Part) (agent.Turn, error) {
	if len(parts) == 0 {
		return s.Resume(ctx)
	}
	return s.Run(ctx, parts...)
}
