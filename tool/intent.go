package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// Effect is what a call would do to the world, coarsely. Policy refines it by looking at the targets.
type Effect string

// The effects.
const (
	Read     Effect = "read"
	Write    Effect = "write"
	Execute  Effect = "execute"
	Network  Effect = "network"
	Interact Effect = "interact" // ask a person
	Spawn    Effect = "spawn"    // start a child agent
	Stop     Effect = "stop"     // end what the session itself has started
)

// Permissions that more than one tool needs: to read the content of files, and to change files in whatever way (P2).
const (
	ReadPermission = "read_file"
	EditPermission = "edit"
)

// PlanFolder is where plans lie, below a workspace root: Markdown files that nothing runs or obeys, so that a session which
// may change nothing else may write them.
const PlanFolder = ".tackle/plans"

// Target is one thing that a call would touch, resolved.
type Target struct {
	Kind   TargetKind `json:"kind"`
	Effect Effect     `json:"effect"`
	Value  string     `json:"value"` // resolved absolute path, command line, URL, or imported tool name
	Path   *host.Path `json:"path,omitempty"`
	// Unseen says of a command that it reads more files than were looked at, so nobody knows whether all may be read.
	Unseen bool `json:"unseen,omitempty"`
	// Fixed says of a command that it is the only one which ever asks under its permission, so that who allows the permission by
	// its name allows exactly this command.
	Fixed bool `json:"fixed,omitempty"`
}

// TargetKind says how Value is to be read.
type TargetKind string

// The kinds of targets.
const (
	PathTarget    TargetKind = "path"
	CommandTarget TargetKind = "command"
	URLTarget     TargetKind = "url"
	ToolTarget    TargetKind = "tool"
	// ArtifactTarget is output that is kept; its value is "artifact:ID", as in paths.
	ArtifactTarget TargetKind = "artifact"
)

// PathTo returns the target for a resolved path.
func PathTo(p host.Path, e Effect) Target {
	return Target{Kind: PathTarget, Effect: e, Value: p.Real, Path: &p}
}

// ArtifactTo returns the target for reading an artifact.
func ArtifactTo(id string) Target {
	return Target{Kind: ArtifactTarget, Effect: Read, Value: "artifact:" + id}
}

// Intent is what a call would do, in a form that policy, people and other processes can read (T4).
// Args and Targets are never mixed: the first is what the model asked for, the second what that resolved to.
type Intent struct {
	Tool       string          `json:"tool"`
	Permission string          `json:"permission"`
	Effects    []Effect        `json:"effects"`
	Args       json.RawMessage `json:"args"`
	Targets    []Target        `json:"targets,omitempty"`
	MayCreate  []string        `json:"mayCreate,omitempty"` // exact destinations, never globs
	Persists   bool            `json:"persists,omitempty"`
	Engines    []string        `json:"engines,omitempty"`
	Changes    *change.Set     `json:"-"`               // the exact bytes, where they are known
	Hunks      int             `json:"hunks,omitempty"` // edits or patch hunks that can be approved one by one (P9)
	// Alone says that the plan depends on more than its targets, such as what was committed last: the call runs by itself.
	Alone bool `json:"alone,omitempty"`
	// Looks says that the command which the call executes only looks (H3): it runs beside calls that only read.
	Looks bool `json:"looks,omitempty"`
	// Dir is the folder that a command runs in, absolute. Optional; it is part of what is approved.
	Dir string `json:"dir,omitempty"`
	// Scripts are files whose content the call would run, as they are now. They are part of what is approved.
	Scripts []Script `json:"scripts,omitempty"`
	// Note is kept with the transaction of the changes, beside tool, session and call.
	Note map[string]string `json:"note,omitempty"`
	// Fingerprint binds an approval to arguments, targets and the hashes of what is replaced and of what replaces it.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// Script is a file that a command runs.
type Script struct {
	Path   string        `json:"path"` // resolved
	Digest change.Digest `json:"digest"`
}

// ScriptsDigest names the scripts of the intent with what they hold; "" where there are none.
func (in *Intent) ScriptsDigest() string {
	if len(in.Scripts) == 0 {
		return ""
	}
	h := sha256.New()
	for _, s := range in.Scripts {
		fmt.Fprintf(h, "%d:%s;%s;", len(s.Path), s.Path, s.Digest)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Has reports whether the intent has the effect.
func (in *Intent) Has(e Effect) bool { return slices.Contains(in.Effects, e) }

// Seal computes the fingerprint. The road calls it when it has filled Tool, Permission and Args.
func (in *Intent) Seal() {
	h := sha256.New()
	put := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s;", len(p), p)
		}
	}
	put(in.Tool, in.Permission, string(in.Args), fmt.Sprint(in.Persists))
	for _, e := range in.Effects {
		put("effect", string(e))
	}
	for _, t := range in.Targets {
		put("target", string(t.Kind), string(t.Effect), t.Value)
	}
	for _, m := range in.MayCreate {
		put("create", m)
	}
	for _, e := range in.Engines {
		put("engine", e)
	}
	if in.Dir != "" {
		put("dir", in.Dir)
	}
	for _, s := range in.Scripts {
		put("script", s.Path, s.Digest.String())
	}
	if !in.Changes.Empty() {
		put("changes", in.Changes.Fingerprint())
	}
	in.Fingerprint = hex.EncodeToString(h.Sum(nil))
}

// Action is a planned call.
type Action struct {
	Intent Intent
	// Run does what the intent says. It runs at most once. Nil is an error of the tool's author.
	Run func(ctx context.Context, r Runner) (Result, error)
}

// Runner is what the road gives a running action.
type Runner interface {
	// Commit carries out a changeset. The set of the action's own intent is committed as it was approved; any other
	// set is the second gate point of the call: it is previewed, decided and fingerprinted like an intent, once.
	// Errors: *Error (stale, no space, …) and *Denial, both ready to be returned by Run.
	Commit(ctx context.Context, set *change.Set) (host.Receipt, error)

	// Progress tells the face how far the work is. total 0 means unknown.
	Progress(done, total float64, message string)

	// Partial shows output that exists already. It does not become part of the result.
	Partial(text string)

	// Meta attaches a value to the call's record and result (channel for part metadata, T17).
	Meta(key string, value any)
}
