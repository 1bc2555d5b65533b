package custom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/tool"
)

// Config is what a tool needs of the place where it runs.
type Config struct {
	Runner host.Runner
	// Getenv gives the variables that a manifest names.
	Getenv func(name string) (string, bool)
	// Digests are those of the scripts when the tool was found, by path. A script that is another one later does not run.
	Digests map[string]change.Digest
}

// New makes the tool of a manifest.
func New(m *Manifest, c Config) tool.Tool { return &custom{m, c} }

type custom struct {
	m *Manifest
	c Config
}

// Definition is described at tool.Tool.
func (t *custom) Definition() tool.Definition {
	example := "{}"
	if t.m.Example != nil {
		if b, err := json.Marshal(t.m.Example); err == nil {
			example = string(b)
		}
	}
	title := t.m.Title
	if title == "" {
		title = t.m.Name
	}
	return tool.Definition{Name: t.m.Name, Category: "custom", Title: title, Description: strings.TrimSpace(t.m.Description), Schema: t.m.schema,
		Annotations: tool.Annotations{OpenWorld: true}, Permission: t.m.Name, Example: example, Timeout: t.m.Timeout + graceTime, Version: "1", Author: t.m.Path}
}

// graceTime lies between the limit of the command, which says what it waited for, and that of the call.
const graceTime = 5e9

// Plan is described at tool.Tool.
func (t *custom) Plan(ctx context.Context, call *tool.Call, args json.RawMessage) (tool.Action, error) {
	argv := t.m.argv()
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = command.Quote(a)
	}
	dir := call.Dir
	if dir == "" && call.Host != nil && len(call.Host.Info().Roots) > 0 {
		dir = call.Host.Info().Roots[0].Path
	}
	// A manifest may say that its tool only reads. Whoever wrote it is believed when a person reads it, not when policy decides.
	intent := tool.Intent{Effects: []tool.Effect{tool.Execute}, Dir: dir,
		Targets: []tool.Target{{Kind: tool.CommandTarget, Effect: tool.Execute, Value: strings.Join(quoted, " "), Unseen: true, Fixed: true}}}
	for _, path := range t.m.Scripts() {
		d, err := t.digest(ctx, call, path)
		if err != nil {
			return tool.Action{}, err
		}
		intent.Scripts = append(intent.Scripts, tool.Script{Path: path, Digest: d})
	}
	return tool.Action{Intent: intent, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
		for _, s := range intent.Scripts {
			if d, err := t.digest(ctx, call, s.Path); err != nil || d != s.Digest {
				return tool.Result{}, errors.Join(err, tool.Errorf(tool.Stale, "%s changed after the call was approved; nothing was run.", s.Path))
			}
		}
		return t.run(ctx, call, r, argv, dir, args)
	}}, nil
}

// digest is that of a script as it is now, which must be what it was when the tool was found.
func (t *custom) digest(ctx context.Context, call *tool.Call, path string) (change.Digest, error) {
	gone := func(why string) error {
		return tool.Errorf(tool.OperationNotAllowed, "%s, which %s runs, %s.", path, t.m.Name, why).With("Do not retry it in this session: the person looks at the file and starts a new one.")
	}
	if call.Host == nil {
		return change.Digest{}, gone("cannot be read here")
	}
	p, err := call.Host.Resolve(ctx, call.Dir, path)
	if err != nil {
		return change.Digest{}, gone("cannot be found: " + err.Error())
	}
	f, err := call.Host.Open(ctx, p.Real)
	if err != nil {
		return change.Digest{}, gone("cannot be read: " + err.Error())
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxScript+1))
	if err != nil || len(data) > MaxScript {
		return change.Digest{}, gone("cannot be read as a whole")
	}
	d := change.Sum(data)
	if want, ok := t.c.Digests[path]; ok && d != want {
		return d, gone("is another one than when this session began")
	}
	return d, nil
}

// MaxScript bounds a script beside a manifest, in bytes.
const MaxScript = 64 << 20

// Data is what people and programs see of a call.
type Data struct {
	Command  string          `json:"command"`
	Exit     host.Exit       `json:"exit"`
	Value    json.RawMessage `json:"value,omitempty"`    // what a tool with JSON output said
	Messages string          `json:"messages,omitempty"` // what it wrote to standard error, the end of it
}

// maxMessages bounds what is shown of standard error, in bytes.
const maxMessages = 4 << 10

func (t *custom) run(ctx context.Context, call *tool.Call, r tool.Runner, argv []string, dir string, args json.RawMessage) (tool.Result, error) {
	env := map[string]string{"TACKLE_TOOL": t.m.Name, "TACKLE_SESSION": call.Session, "TACKLE_DIR": dir}
	for _, name := range t.m.Env {
		if v, ok := t.c.Getenv(name); ok {
			env[name] = v
		}
	}
	p, err := t.c.Runner.Start(ctx, host.Command{Argv: argv, Dir: dir, Env: env, Input: true, Split: true,
		Limits: host.Limits{Time: t.m.Timeout, Spool: 4 * maxOutput, Output: maxOutput}})
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		return tool.Result{}, tool.Errorf(tool.OperationFailed, "%s could not be started: %v.", t.m.Name, err).With("Retrying will not help before the person has mended " + t.m.Path + ".")
	}
	defer p.Close()
	var line bytes.Buffer // one line, whatever blanks the model wrote
	if err := json.Compact(&line, args); err != nil {
		return tool.Result{}, err
	}
	fed := make(chan struct{})
	go func() { // a tool that reads nothing must not hold the call; closing the process ends the writing
		defer close(fed)
		in := p.Input()
		_, _ = in.Write(append(line.Bytes(), '\n'))
		_ = in.Close()
	}()
	exit, err := p.Wait(ctx)
	if err != nil {
		_, _ = p.Stop(context.WithoutCancel(ctx), 0)
		return tool.Result{}, err
	}
	var out, messages clip.Result
	if out, err = host.ClipOutput(p.Output(), clip.Limits{Lines: -1, Bytes: -1}, clip.Head); err == nil {
		messages, err = host.ClipOutput(p.Errors(), clip.Limits{Lines: -1, Bytes: maxMessages}, clip.Tail)
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s ran (%s), but its output could not be read: %w", t.m.Name, exit, err)
	}
	if err := p.Close(); err != nil {
		r.Meta("left", err.Error())
	}
	<-fed
	return t.result(argv, exit, out.Text(), strings.TrimSpace(messages.Text()))
}

func (t *custom) result(argv []string, exit host.Exit, out, messages string) (tool.Result, error) {
	d := Data{Command: strings.Join(argv, " "), Exit: exit, Messages: messages}
	text := strings.TrimRight(out, "\n")
	fail := func(code tool.Code, what, hint string) (tool.Result, error) {
		e := tool.Errorf(code, "%s", what)
		if said := strings.TrimSpace(strings.Join([]string{messages, clipped(text)}, "\n")); said != "" {
			e.Message += "\n" + said
		}
		return tool.Result{Err: e.With(hint), Parts: []tool.Part{tool.Text(e.With(hint).Render())}, Data: d}, nil
	}
	switch {
	case exit.End == host.EndTime:
		return fail(tool.TimedOut, fmt.Sprintf("%s was ended after %s, with everything that it had started.", t.m.Name, t.m.Timeout), "It may have done a part of its work: look before you call it again.")
	case exit.End == host.EndOutput:
		return fail(tool.LimitExceeded, fmt.Sprintf("%s wrote more than %d bytes and was ended.", t.m.Name, maxOutput), "Ask it for less at once.")
	case exit.End == host.EndTree:
		return fail(tool.LimitExceeded, fmt.Sprintf("%s started more processes than it may and was ended.", t.m.Name), "Retrying will not help before the person has mended it.")
	case !exit.Success():
		return fail(tool.ExecutionFailed, fmt.Sprintf("%s failed (%s).", t.m.Name, exit), "Change the arguments by what it says; where it says nothing of use, tell the person.")
	}
	if t.m.Output == JSONOutput {
		if !json.Valid([]byte(text)) {
			return fail(tool.ExecutionFailed, t.m.Name+" ended well and wrote no JSON, which its manifest promises.", "Retrying will not help before the person has mended "+filepath.Base(t.m.Path)+".")
		}
		d.Value = json.RawMessage(strings.ToValidUTF8(text, "\uFFFD"))
	}
	if text == "" {
		text = t.m.Name + " ended well and wrote nothing."
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	}
	return tool.TextResult(text, d), nil
}

// clipped is the beginning of an output that went with a failure.
func clipped(s string) string {
	return clip.Middle(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD"), maxMessages)
}
