package tackle

import (
	"context"
	"io"
	"slices"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tools/file"
)

// builtins is the explicit list of tools, in the order in which models see them.
func (b *Box) builtins() []Tool {
	var out []Tool
	for _, list := range [][]tool.Tool{file.Tools()} {
		for _, t := range list {
			out = append(out, Tool{t, []string{DefaultMode}})
		}
	}
	for _, t := range b.cfg.Tools {
		if t.Modes == nil {
			t.Modes = []string{b.cfg.Mode}
		}
		out = append(out, t)
	}
	off := b.merged.Disabled()
	return slices.DeleteFunc(out, func(t Tool) bool { return slices.Contains(off, t.Definition().Name) })
}

// spool gives tools and road the store of artifacts.
type spool struct{ *artifact.Store }

// Put is described at tool.Artifacts.
func (s spool) Put(ctx context.Context, session, name, mime string, r io.Reader) (string, error) {
	a, err := s.Store.Put(ctx, session, name, mime, r)
	return a.ID, err
}

// Open is described at tool.Artifacts.
func (s spool) Open(ctx context.Context, id string) (tool.ArtifactReader, error) {
	r, err := s.Store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Artifacts returns the outputs that were too long to show.
func (b *Box) Artifacts() tool.Artifacts { return spool{b.artifacts} }
