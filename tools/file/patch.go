package file

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/patch"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed patch.md
var patchText string

// Patch is the apply_patch tool (F5). The zero value is ready.
type Patch struct{}

type patchInput struct {
	Patch string `json:"patch" jsonschema:"The whole patch"`
}

// patchData is what people and programs see of apply_patch.
type patchData struct {
	Format string    `json:"format"`
	Hunks  []outcome `json:"hunks"`
}

// Tool returns the tool.
func (t Patch) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "apply_patch", Category: "file", Title: "Apply patch", Permission: "edit",
		Description: tool.Describe(patchText, nil),
		Annotations: tool.Annotations{Destructive: true},
		Example:     `{"patch": "*** Begin Patch\n*** Update File: main.go\n@@ func main() {\n-\trun()\n+\tos.Exit(run())\n*** End Patch\n"}`,
		Models:      patchesByHabit,
	}, t.plan)
}

func (Patch) plan(ctx context.Context, call *tool.Call, in patchInput) (tool.Action, error) {
	p, err := patch.Parse(in.Patch)
	if err != nil {
		return tool.Action{}, &tool.Error{Code: tool.InvalidParameter, Parameter: "patch", Err: err, Message: sentence(err.Error()),
			Expected: "a *** Begin Patch … *** End Patch envelope, or a unified diff", Hint: "Nothing was written. Correct the patch and send it again whole."}
	}
	src := &patchSource{ctx: ctx, call: call, seen: map[string]loaded{}}
	res, err := patch.Plan(p, src, patch.Options{Hunks: call.Hunks})
	if src.fault != nil {
		return tool.Action{}, src.fault
	}
	outcomes := hunkOutcomes(call, &res)
	if err != nil {
		return tool.Action{}, planError(err, outcomes)
	}
	set := &res.Set
	if err := src.parents(set); err != nil {
		return tool.Action{}, err
	}
	data := patchData{Format: p.Format.String(), Hunks: outcomes}
	if set.Empty() {
		return src.unchanged(data), nil
	}
	run := commit(set, func(host.Receipt) tool.Result {
		return tool.TextResult(patchMessage(&res, set.Preview(call.Dir, change.PreviewOptions{}).Files, outcomes), data)
	})
	if private, worst := src.private(); worst == tool.Deny {
		return behind(private, run), nil
	}
	intent := tool.Intent{Effects: []tool.Effect{tool.Read, tool.Write}, Persists: true, Changes: set, Hunks: p.Count()}
	for _, path := range set.Paths() {
		intent.Targets = append(intent.Targets, tool.PathTo(src.pathOf(path), tool.Write))
	}
	for _, op := range set.Ops {
		switch {
		case op.Kind == change.Move:
			intent.MayCreate = append(intent.MayCreate, op.To)
		case op.Before.Type == change.Absent && op.Kind == change.Write:
			intent.MayCreate = append(intent.MayCreate, op.Path)
		}
	}
	return tool.Action{Intent: intent, Run: run}, nil
}

// private returns the files that were read for the patch and that policy does not simply let the session read, with the
// strictest verdict.
func (s *patchSource) private() (targets []tool.Target, worst tool.Verdict) {
	for _, l := range s.seen {
		if v := s.call.Reading(l.path); v != tool.Allow && l.exists() {
			targets, worst = append(targets, tool.PathTo(l.path, tool.Read)), max(worst, v)
		}
	}
	slices.SortFunc(targets, func(a, b tool.Target) int { return strings.Compare(a.Value, b.Value) })
	return targets, worst
}

// unchanged is the action of a patch that fits and changes nothing.
func (s *patchSource) unchanged(data patchData) tool.Action {
	intent := tool.Intent{Effects: []tool.Effect{tool.Read}}
	for _, l := range s.seen {
		intent.Targets = append(intent.Targets, tool.PathTo(l.path, tool.Read))
	}
	slices.SortFunc(intent.Targets, func(a, b tool.Target) int { return strings.Compare(a.Value, b.Value) })
	msg := "No change needed: every file is as the patch wants it."
	if rest := unmade("hunk", data.Hunks); rest != "" {
		msg = "Nothing was written." + rest + "\n\n" + outcomeBlock(data.Hunks)
	}
	return tool.Action{Intent: intent, Run: func(context.Context, tool.Runner) (tool.Result, error) {
		return tool.TextResult(msg, data), nil
	}}
}

// patchMessage says which files changed, by letter as git does, what was overlooked, and what was not applied.
func patchMessage(res *patch.Result, files []change.FileChange, outcomes []outcome) string {
	var b strings.Builder
	files = slices.DeleteFunc(slices.Clone(files), func(f change.FileChange) bool { return strings.HasSuffix(f.Path, "/") }) // folders made on the way
	fmt.Fprintf(&b, "Applied the patch to %d files:", len(files))
	for _, f := range files {
		name := f.Path
		if f.From != "" {
			name = f.From + " -> " + f.Path
		}
		fmt.Fprintf(&b, "\n%s %s", f.Status, name)
		if f.LineCountsAvailable {
			fmt.Fprintf(&b, " +%d -%d", f.Added, f.Removed)
		}
	}
	for _, n := range res.Notes {
		b.WriteString("\nNote: " + n.String())
	}
	for _, h := range res.Hunks {
		if h.Outcome == patch.Applied && h.Note != "" {
			fmt.Fprintf(&b, "\nNote: hunk #%d at line %d: %s", h.Number, h.At, h.Note)
		}
	}
	if rest := unmade("hunk", outcomes); rest != "" {
		b.WriteString(rest + "\n\n" + outcomeBlock(outcomes))
	}
	return b.String()
}

func hunkOutcomes(call *tool.Call, res *patch.Result) []outcome {
	out := make([]outcome, 0, len(res.Hunks))
	for _, h := range res.Hunks {
		o := outcome{Number: h.Number, Status: string(h.Outcome)}
		switch {
		case h.Err != nil:
			o.Message = strings.TrimSuffix(h.Err.Msg, ".")
		case h.Outcome == patch.Denied:
			_, o.Message = call.Approved(h.Number)
		default:
			o.Rung = h.Rung.String()
		}
		out = append(out, o)
	}
	return out
}

// planError turns the failures of a plan into one error for the model. Nothing was written.
func planError(err error, outcomes []outcome) error {
	var pe *patch.PlanError
	if !errors.As(err, &pe) {
		return err
	}
	e := &tool.Error{Code: tool.OperationFailed, Parameter: "patch", Err: err, Hint: "Nothing was written. Correct what failed and send the whole patch again."}
	var b strings.Builder
	b.WriteString("the patch does not apply; nothing was written.")
	for _, f := range pe.Errors {
		b.WriteString("\n" + f.Error())
	}
	if slices.ContainsFunc(outcomes, func(o outcome) bool { return o.Status == "applied" }) {
		b.WriteString("\n\n" + strings.ReplaceAll(outcomeBlock(outcomes), " applied\n", " would apply\n"))
	}
	e.Message = b.String()
	switch pe.Errors[0].Code {
	case patch.FileMissing, patch.NotFound, patch.AnchorNotFound, patch.AlreadyApplied:
		e.Code = tool.NotFound
	case patch.Ambiguous, patch.SamePath, patch.NoContext, patch.OutOfOrder, patch.Conflict:
		e.Code = tool.InvalidParameter
	case patch.FileExists, patch.IsDirectory, patch.NotText, patch.IsLink, patch.NotWhole:
		e.Code = tool.OperationNotAllowed
	}
	return e
}

func sentence(s string) string {
	if strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// patchSource reads the files of a patch through the call's host.
type patchSource struct {
	ctx   context.Context
	call  *tool.Call
	seen  map[string]loaded // by real path
	fault error
}

// Read is described at patch.Source.
func (s *patchSource) Read(path string, follow bool) (string, change.State, error) {
	var l loaded
	var err error
	if follow {
		l, err = stat(s.ctx, s.call, path)
	} else {
		l, err = statNoFollow(s.ctx, s.call, path)
	}
	if err == nil && l.state.Type == change.File {
		if l, err = s.content(l, path); err == nil {
			err = mustHaveRead(s.call, &l, path)
		}
	}
	if err != nil {
		if tool.IsFault(err) {
			s.fault = err
		}
		var e *tool.Error
		if errors.As(err, &e) {
			err = errors.New(strings.TrimSuffix(e.Message, "."))
		}
		return l.path.Real, l.state, err
	}
	s.seen[l.path.Real] = l
	return l.path.Real, l.state, nil
}

func (s *patchSource) content(l loaded, path string) (loaded, error) {
	if known, ok := s.seen[l.path.Real]; ok && known.state.Blob != nil {
		l.state = known.state
		return l, nil
	}
	if l.info.Size > MaxEditSize {
		return l, tool.Errorf(tool.LimitExceeded, "%q has %d bytes; files up to %d bytes can be patched.", path, l.info.Size, MaxEditSize)
	}
	data, err := readAll(s.ctx, s.call.Host, l.path.Real, MaxEditSize)
	if err != nil {
		return l, tool.PathError("patch", path, err)
	}
	l.state.Blob = change.NewBlob(data)
	return l, nil
}

// pathOf returns the resolved path that a plan's absolute path came from.
func (s *patchSource) pathOf(abs string) host.Path {
	if l, ok := s.seen[abs]; ok {
		return l.path
	}
	p, err := s.call.ResolveSelf(s.ctx, abs)
	if err != nil {
		return host.Path{Given: abs, Abs: abs, Real: abs}
	}
	return p
}

// parents puts the folders that a set's new files need before its operations, each once.
func (s *patchSource) parents(set *change.Set) error {
	made := map[string]bool{}
	var dirs []change.Op
	for _, op := range set.Ops {
		path := op.Path
		switch {
		case op.Kind == change.Move:
			path = op.To
		case op.Kind != change.Write || op.Before.Type != change.Absent:
			continue
		}
		ops, err := parents(s.ctx, s.call, path)
		if err != nil {
			return tool.PathError("patch", path, err)
		}
		for _, o := range ops {
			if !made[o.Path] {
				made[o.Path] = true
				dirs = append(dirs, o)
			}
		}
	}
	set.Ops = append(dirs, set.Ops...)
	return nil
}
