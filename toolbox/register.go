package toolbox

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"golang.org/x/time/rate"

	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

var toolName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// entry is a registered tool with what the road needs at each call, made once.
type entry struct {
	tool    tool.Tool
	def     tool.Definition // after overrides
	base    string          // default name
	modes   []string        // empty: system tool
	checker *schema.Checker
	limiter *rate.Limiter // nil: no rate limit
	figures *figures
}

func (e *entry) inMode(mode string) bool { return slices.Contains(e.modes, mode) }

// Register adds a tool for the given modes. Without modes it is a system tool: the platform may call it, no model ever
// sees it. A name that is taken in one of the modes is an error (T8).
func (b *Box) Register(t tool.Tool, modes ...string) error { return b.register(t, modes, false) }

// Replace is Register, but takes the place of a tool of the same name in the same modes.
func (b *Box) Replace(t tool.Tool, modes ...string) error { return b.register(t, modes, true) }

func (b *Box) register(t tool.Tool, modes []string, replace bool) error {
	e, err := b.newEntry(t, modes)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	entries := make([]*entry, 0, len(b.entries)+1)
	placed := false
	for _, old := range b.entries {
		if old.def.Name != e.def.Name || !share(old.modes, modes) {
			entries = append(entries, old)
			continue
		}
		if !replace {
			return fmt.Errorf("toolbox: a tool named %s is registered already for %v", e.def.Name, modesText(old.modes))
		}
		if !placed { // the first place in the list is kept: it stays byte-stable
			entries, placed = append(entries, e), true
		}
		if rest := slices.DeleteFunc(slices.Clone(old.modes), func(m string) bool { return slices.Contains(modes, m) }); len(rest) > 0 {
			entries = append(entries, &entry{tool: old.tool, def: old.def, base: old.base, modes: rest, checker: old.checker, limiter: old.limiter, figures: old.figures})
		}
	}
	if !placed {
		entries = append(entries, e)
	}
	b.entries = entries
	return nil
}

func (b *Box) newEntry(t tool.Tool, modes []string) (*entry, error) {
	def := t.Definition()
	if err := def.Err(); err != nil {
		return nil, fmt.Errorf("toolbox: register: %w", err)
	}
	if def.Schema == nil {
		return nil, fmt.Errorf("toolbox: register %s: no schema", def.Name)
	}
	e := &entry{tool: t, base: def.Name, modes: slices.Clone(modes), figures: &figures{}}
	if o, ok := b.cfg.Overrides[def.Name]; ok {
		if o.Name != "" {
			def.Name = o.Name
		}
		if o.Description != "" {
			def.Description = o.Description
		}
	}
	if !toolName.MatchString(def.Name) {
		return nil, fmt.Errorf("toolbox: register: tool name %q: want %s", def.Name, toolName)
	}
	if def.Permission == "" {
		def.Permission = e.base
	}
	checker, err := schema.Compile(def.Schema)
	if err != nil {
		return nil, fmt.Errorf("toolbox: register %s: %w", def.Name, err)
	}
	if bad := portability(def); bad != nil {
		return nil, fmt.Errorf("toolbox: register %s: %w", def.Name, bad)
	}
	if r := def.Rate; r.Calls > 0 && r.Per > 0 {
		e.limiter = rate.NewLimiter(rate.Limit(float64(r.Calls)/r.Per.Seconds()), r.Calls)
	}
	e.def, e.checker = def, checker
	return e, nil
}

// portability refuses a definition that some client or provider would drop, and names the provider (T14).
func portability(def tool.Definition) error {
	var errs []error
	for _, f := range schema.Lint(def.Def()) {
		if f.Rule == "E6" && def.Category == "mcp" {
			continue // imported names carry their server's and are made to fit; see mcp/client
		}
		if f.Severity == schema.Error {
			errs = append(errs, errors.New(f.String()))
		}
	}
	return errors.Join(errs...)
}

// share reports whether two registrations would meet in one list. Two system tools meet too.
func share(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return slices.ContainsFunc(a, func(m string) bool { return slices.Contains(b, m) })
}

func modesText(modes []string) any {
	if len(modes) == 0 {
		return "the platform"
	}
	return modes
}
