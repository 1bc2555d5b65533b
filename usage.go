package tackle

import (
	"context"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/toolbox"
)

// Usage returns the usage figures of tools over the recorded calls of a session, or of all sessions that are kept where id
// is "" (T13). [toolbox.Box.Figures] are those of this process alone. Tools are those that were called, by the names that
// they were called by, the most used first.
func (b *Box) Usage(ctx context.Context, id string) ([]toolbox.Figures, error) {
	ids := []string{id}
	if id == "" {
		b.log.Settle()
		list, err := b.store.Sessions(ctx, store.Filter{})
		if err != nil {
			return nil, err
		}
		ids = nil
		for _, s := range list {
			ids = append(ids, s.ID)
		}
	}
	var tally toolbox.Tally
	for _, id := range ids {
		recs, err := b.log.Calls(ctx, id)
		if err != nil {
			return nil, err
		}
		for i := range recs {
			rec := &recs[i]
			if rec.Phase != session.End || rec.Result == nil {
				continue
			}
			c := toolbox.Counted{Tool: rec.Tool, Failed: rec.Result.Err != nil, Denied: rec.Result.Denied, In: int64(len(rec.Raw)), Duration: rec.Result.Meta.Duration}
			for _, p := range rec.Result.Parts {
				c.Out += max(p.Size, int64(len(p.Text)))
			}
			tally.Note(c)
		}
	}
	return tally.Figures(), nil
}
