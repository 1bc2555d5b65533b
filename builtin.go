package tackle

import (
	"context"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
	artifacttool "github.com/tackle-dev/tackle/tools/artifact"
	"github.com/tackle-dev/tackle/tools/file"
	"github.com/tackle-dev/tackle/tools/git"
	"github.com/tackle-dev/tackle/tools/plan"
	searchtools "github.com/tackle-dev/tackle/tools/search"
	"github.com/tackle-dev/tackle/tools/todo"
	"github.com/tackle-dev/tackle/undo"
)

// builtins is the explicit list of tools, in the order in which models see them.
func (b *Box) builtins(dev []Tool) []Tool {
	var out []Tool
	for _, list := range [][]tool.Tool{file.Tools(b.searchConfig()), searchtools.Tools(b.searchConfig()), b.gitTools(), b.shellTools(), b.mediaTools(), b.skillTools(), {artifacttool.Tool{List: b.artifacts.List}.Tool(), todo.Tool{Lists: b.todos()}.Tool()}} {
		for _, t := range list {
			out = append(out, Tool{Tool: t, Modes: []string{DefaultMode}})
		}
	}
	out = append(out, b.planTools()...)
	out = append(out, dev...)
	out = append(out, Tool{Tool: file.Undo{Diff: b.diffOf}.Tool(), Modes: []string{}}, Tool{Tool: b.titleTool(), Modes: []string{}}) // system tools
	for _, t := range b.cfg.Tools {
		if t.Modes == nil {
			t.Modes = []string{b.cfg.Mode}
		}
		out = append(out, t)
	}
	out = append(out, b.customTools(out)...)
	off := b.merged.Disabled()
	return slices.DeleteFunc(out, func(t Tool) bool { return slices.Contains(off, t.Definition().Name) })
}

// planTools returns the tools over plans, for the modes that name them: whoever may change files needs none of their own.
func (b *Box) planTools() []Tool {
	var out []Tool
	for _, t := range plan.Tools(plan.Files{Read: file.Read{}.Tool(), Write: file.Write{}.Tool(), Edit: file.Edit{}.Tool()}) {
		modes := []string{}
		for _, m := range b.modes.All() {
			if m.Tools != nil && m.From == DefaultMode && m.Has(t.Definition().Name) {
				modes = append(modes, m.Name)
			}
		}
		if len(modes) > 0 { // without modes it would be a system tool
			out = append(out, Tool{Tool: t, Modes: modes})
		}
	}
	return out
}

// gitTools returns the tool that looks at repositories, where git can be run.
func (b *Box) gitTools() []tool.Tool {
	if b.commands.runner == nil {
		return nil
	}
	if _, err := exec.LookPath("git"); err != nil && b.cfg.Host == nil {
		return nil
	}
	return git.Tools(git.Config{Runner: b.commands.runner})
}

// diffOf finds what the record of a transaction says it changed.
func (b *Box) diffOf(ctx context.Context, tx host.Transaction) (diff, dir string, ok bool) {
	return b.log.DiffOf(ctx, tx.Note[undo.NoteSession], tx.Note[undo.NoteCall], tx.ID)
}

// searchConfig gives the search engine the ignore file that the user has set for all repositories.
func (b *Box) searchConfig() search.Config {
	home, err := os.UserHomeDir()
	if err != nil {
		return search.Config{}
	}
	name, data, err := search.UserExcludes(os.ReadFile, home, os.Getenv("XDG_CONFIG_HOME"))
	if err != nil {
		return search.Config{}
	}
	return search.Config{Excludes: data, ExcludesName: name}
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
