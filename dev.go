package tackle

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/config/mode"
	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
	"github.com/tackle-dev/tackle/dev/engine/program"
	"github.com/tackle-dev/tackle/dev/forge"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local/scratch"
	"github.com/tackle-dev/tackle/tool"
)

// DevMode is the mode that has the tools of the dev pipeline alone.
const DevMode = mode.Dev

// devRoom is the dev pipeline of a box.
type devRoom struct {
	cfg      dev.Config // of every pipeline of this box, but for the gate
	pipeline *dev.Pipeline
	detected []dev.Detection
	onEdit   bool
}

// inCode are the steps that stand beside the file tools in mode code, which has tools to read and edit already.
var inCode = []string{"format", "lint", "check"}

// newDev makes the pipeline with the engines that are here, and its tools: all of them in mode dev, format, lint and check
// in mode code as well. The box's own gate decides about its steps.
func (b *Box) newDev(ctx context.Context, h host.Host) ([]Tool, error) {
	m := &b.merged.Config
	room := &devRoom{onEdit: m.Dev.FormatOnEdit}
	engines, detected, err := b.findEngines(ctx, h)
	if err != nil {
		return nil, err
	}
	room.detected = detected
	engines, err = choose(engines, m.Dev.Engines, detected)
	if err != nil {
		return nil, err
	}
	room.cfg = dev.Config{Host: h, Gate: forge.Road{}, Root: b.cfg.Roots[0], Engines: engines, Search: b.searchConfig(), FormatOnEdit: m.Dev.FormatOnEdit}
	if room.pipeline, err = dev.New(room.cfg); err != nil {
		return nil, err
	}
	b.dev = room
	granular, err := forge.Tools(room.pipeline, forge.Options{})
	if err != nil {
		return nil, err
	}
	surface := forge.Surface(m.Dev.Surface)
	var out []Tool
	for _, t := range granular {
		var modes []string
		if slices.Contains(inCode, t.Definition().Name) {
			modes = append(modes, DefaultMode)
		}
		if surface == forge.Granular || surface == "" {
			modes = append(modes, DevMode)
		}
		if modes != nil { // without modes it would be a system tool
			out = append(out, Tool{Tool: t, Modes: modes})
		}
	}
	if surface == forge.Granular || surface == "" {
		return out, nil
	}
	other, err := forge.Tools(room.pipeline, forge.Options{Surface: surface})
	if err != nil {
		return nil, fmt.Errorf("dev.surface: %w", err)
	}
	for _, t := range other {
		out = append(out, Tool{Tool: t, Modes: []string{DevMode}})
	}
	return out, nil
}

// findEngines returns the engines that are available here, and what was looked for. It starts no program. Programs come
// first: where a project brings its own formatter, it is meant.
func (b *Box) findEngines(ctx context.Context, h host.Host) (engines []dev.Engine, detected []dev.Detection, err error) {
	runs := b.commands.runner != nil
	place := program.Place{Host: h, Root: b.cfg.Roots[0], Path: filepath.SplitList(os.Getenv("PATH"))}
	var runner program.Runner
	if runs {
		runner = program.OnHost{Open: func() (host.Runner, error) { return b.commands.runner, nil }}
	}
	workshop := func(context.Context) (program.Folder, error) {
		return scratch.New(filepath.Join(b.cfg.StateDir, "work"))
	}
	programs, found, err := b.customEngines(ctx, place, runner, workshop)
	if err != nil {
		return nil, nil, err
	}
	known, more := place.Engines(ctx, runner, workshop)
	programs, found = append(programs, known...), append(found, more...)
	if !runs {
		programs = nil
		for i := range found {
			found[i].Reason = "this host starts no programs"
		}
	}
	engines = append(engines, programs...)
	for _, e := range engine.All() {
		info := e.Info()
		engines = append(engines, e)
		detected = append(detected, dev.Detection{Name: info.Name, Version: info.Version})
	}
	return engines, append(detected, found...), nil
}

// customEngines makes engines of the programs that the configuration names. They are preferred to all others.
func (b *Box) customEngines(ctx context.Context, place program.Place, r program.Runner, w program.Workshop) (engines []dev.Engine, found []dev.Detection, err error) {
	commands := b.merged.Config.Dev.Commands
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		c := commands[name]
		e, d, err := place.Custom(ctx, name, program.Custom{Files: c.Files, Inputs: c.Inputs, Config: c.Config, Links: c.Links,
			Format: c.Format, Lint: c.Lint, Fix: c.Fix, Check: c.Check, Find: c.Find, Exits: c.Exits}, r, w)
		if err != nil {
			return nil, nil, fmt.Errorf("dev.commands.%s: %w", name, err)
		}
		if found = append(found, d); e != nil {
			engines = append(engines, e)
		}
	}
	return engines, found, nil
}

// choose keeps the engines that a configuration names, in its order. One that is known but not here is left out: doctor
// says why. One that nobody knows is an error.
func choose(engines []dev.Engine, names []string, detected []dev.Detection) ([]dev.Engine, error) {
	if len(names) == 0 {
		return engines, nil
	}
	var out []dev.Engine
	for _, name := range names {
		if !slices.ContainsFunc(detected, func(d dev.Detection) bool { return d.Name == name }) {
			known := make([]string, len(detected))
			for i, d := range detected {
				known[i] = d.Name
			}
			return nil, fmt.Errorf("dev.engines: no engine is named %q; known are %s", name, strings.Join(known, ", "))
		}
		for _, e := range engines {
			if e.Info().Name == name {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// Engines says which engines of the dev pipeline are here, and why others are not.
func (b *Box) Engines() []dev.Detection { return slices.Clone(b.dev.detected) }

// Pipeline returns a dev pipeline over the first root with the engines of the box and a gate of the caller's own. What it
// writes is journalled, so undo can take it back.
func (b *Box) Pipeline(gate dev.Gate) (*dev.Pipeline, error) {
	cfg := b.dev.cfg
	cfg.Gate, cfg.FormatOnEdit = gate, false
	return dev.New(cfg)
}

// shape formats what other tools than those of the pipeline are about to write, where the configuration wants that.
func (r *devRoom) shape() func(ctx context.Context, call *tool.Call, set *change.Set) string {
	if !r.onEdit {
		return nil
	}
	return func(ctx context.Context, _ *tool.Call, set *change.Set) string {
		var done []string
		for i := range set.Ops {
			op := &set.Ops[i]
			content, held := op.After.Blob.Bytes()
			if op.Kind != change.Write || op.After.Type != change.File || !held {
				continue
			}
			file, err := filepath.Rel(r.pipeline.Root(), op.Path)
			if err != nil || !filepath.IsLocal(file) {
				continue
			}
			formatted, by := r.pipeline.Formatted(ctx, filepath.ToSlash(file), content)
			if by == "" {
				continue
			}
			op.After = change.State{Type: change.File, Mode: op.After.Mode, Blob: change.NewBlob(formatted)}
			done = append(done, fmt.Sprintf("%s (%s)", filepath.ToSlash(file), by))
		}
		if done == nil {
			return ""
		}
		return "formatted on the way: " + strings.Join(done, ", ") + ". Read it again before you edit it."
	}
}
