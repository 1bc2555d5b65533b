package tackle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/tool"
	sessiontools "github.com/tackle-dev/tackle/tools/session"
)

// titleTool returns the system tool that names sessions.
func (b *Box) titleTool() tool.Tool {
	return sessiontools.Title{
		Opening: b.opening,
		Keep: func(ctx context.Context, id, title string) error {
			return history.SetTitle(ctx, b.store, id, history.Title{Text: b.mask(title), By: "model"})
		},
		Model: func() model.Model {
			if m := b.titler.Load(); m != nil {
				return *m
			}
			return nil
		},
	}.Tool()
}

// opening returns what was said first in a session and the words of the first answer.
func (b *Box) opening(ctx context.Context, id string) (string, error) {
	s, err := b.History(ctx, id)
	if errors.Is(err, history.ErrUnknown) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	out := ""
	for i := range s.Turns {
		for _, it := range s.Turns[i].Items {
			switch {
			case it.Said != nil && out == "":
				out = content.JoinText(it.Said.Parts)
			case it.Answer != nil && it.Answer.Message != nil:
				for _, bl := range it.Answer.Message.Blocks {
					if bl.Part != nil && bl.Part.Text != "" {
						return out + "\n\n" + bl.Part.Text, nil
					}
				}
			}
		}
	}
	return out, nil
}

// SetTitle gives a session a title in the name of a person; an empty one takes it away.
func (b *Box) SetTitle(ctx context.Context, id, title string) error {
	last, err := b.store.Last(ctx, id)
	if err != nil {
		return err
	}
	if last == 0 {
		return fmt.Errorf("session %q: %w", id, history.ErrUnknown)
	}
	return history.SetTitle(ctx, b.store, id, history.Title{Text: b.mask(title), By: "person"})
}

// NameSession has a model give a session its title, by the system tool "title". One that has a title keeps it. A nil model takes
// nothing but the first words, which every list shows anyway.
func (b *Box) NameSession(ctx context.Context, id string, m model.Model) error {
	if m == nil {
		return nil
	}
	if given, err := history.TitleOf(ctx, b.store, id); err != nil || given.Text != "" {
		return err
	}
	b.titler.Store(&m)
	args, err := json.Marshal(map[string]string{"session": id})
	if err != nil {
		return err
	}
	req := NewRequest("title", args)
	req.Platform, req.Session = true, id
	res, err := b.Call(ctx, req)
	if err == nil && res.Err != nil {
		return res.Err
	}
	return err
}
