package tackle

import (
	"context"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox/hook"
)

// AnswerHook answers a question of another agent's hook from the policy of this box: in is what the agent gave the hook on
// standard input. What was decided is in the ledger. See [hook.Serve].
func (b *Box) AnswerHook(ctx context.Context, in []byte) hook.Reply {
	return hook.Serve(ctx, in, foreign{b})
}

// foreign is the policy of a box for the calls of other agents.
type foreign struct{ box *Box }

// Resolve is described at hook.Judge.
func (f foreign) Resolve(ctx context.Context, cwd, path string) (host.Path, error) {
	return f.box.Host().Resolve(ctx, cwd, path)
}

// Judge is described at hook.Judge.
func (f foreign) Judge(ctx context.Context, session string, in *tool.Intent) (tool.Decision, error) {
	in.Seal()
	d, err := f.box.policy.Decide(ctx, permission.Request{Intent: in, Session: session})
	if err != nil {
		return d, err
	}
	e := ledger.Entry{Kind: ledger.Decision, Session: f.box.mask(session), Tool: in.Tool, Point: 1, Fingerprint: in.Fingerprint,
		Decision: d.Verdict.String(), By: d.By, Reason: f.box.mask(d.Reason)}
	for _, t := range in.Targets {
		e.Targets = append(e.Targets, f.box.mask(t.Value))
	}
	for _, effect := range in.Effects {
		e.Effects = append(e.Effects, string(effect))
	}
	_, err = f.box.ledger.Append(ctx, e)
	return d, err
}
