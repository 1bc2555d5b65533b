package forge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/undo"
)

// baseline returns what files were before the session of a call first changed them, from the before-images of the host.
// A file whose first image is not kept any more is left out: then its state now counts for before too.
func baseline(call *tool.Call) func(context.Context) (map[string]change.State, string, error) {
	if call.Host == nil || call.Session == "" {
		return nil
	}
	return func(ctx context.Context) (map[string]change.State, string, error) {
		list, err := call.Host.Transactions(ctx, "")
		if err != nil {
			return nil, "", err
		}
		out := map[string]change.State{}
		known := map[string]bool{}
		missing := 0
		for _, tx := range list {
			if tx.Note[undo.NoteSession] != call.Session {
				continue
			}
			for _, p := range tx.Paths {
				if p.Kind == change.Move && !known[p.To] {
					known[p.To], out[p.To] = true, change.State{}
				}
				if known[p.Path] || p.Kind == change.Mkdir {
					continue
				}
				known[p.Path] = true
				if p.BeforeType == change.Absent {
					out[p.Path] = change.State{}
					continue
				}
				s, err := call.Host.Image(ctx, tx.ID, p.Path)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					missing++
				case err != nil:
					return nil, "", err
				case s.Type == change.File:
					out[p.Path] = s
				}
			}
		}
		name := "the files before this session changed them"
		if missing > 0 {
			name += fmt.Sprintf(" (%d of them are not kept any more and count as they are)", missing)
		}
		return out, name, nil
	}
}
