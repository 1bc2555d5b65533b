package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// disk is a world of named texts that calls read and write, slowly.
type disk struct {
	mu     sync.Mutex
	files  map[string]string
	active int
	peak   int
}

type diskInput struct {
	Op   string `json:"op" jsonschema:"What to do"`
	Path string `json:"path" jsonschema:"Where"`
	Text string `json:"text,omitempty" jsonschema:"What to append"`
	Wait int    `json:"wait,omitempty" jsonschema:"Milliseconds"`
}

// tool returns a tool whose plan looks at the world, as real ones do: reading what is not there cannot be planned.
func (d *disk) tool() tool.Tool {
	return tool.Define(tool.Spec{Name: "disk", Category: "test", Description: "Read and write texts."}, func(_ context.Context, _ *tool.Call, in diskInput) (tool.Action, error) {
		d.mu.Lock()
		old, exists := d.files[in.Path]
		d.mu.Unlock()
		effect := tool.Read
		switch in.Op {
		case "read":
			if !exists {
				return tool.Action{}, tool.Errorf(tool.NotFound, "%s is not there", in.Path)
			}
		case "edit":
			if !strings.Contains(old, in.Text) {
				return tool.Action{}, tool.Errorf(tool.NotFound, "%s does not hold %s", in.Path, in.Text)
			}
			effect = tool.Write
		case "append", "remove":
			effect = tool.Write
		case "run":
			effect = tool.Execute
		}
		intent := tool.Intent{Effects: []tool.Effect{effect}, Targets: []tool.Target{tool.PathTo(host.Path{Abs: in.Path, Real: in.Path}, effect)}}
		if in.Op == "look" {
			intent = tool.Intent{Effects: []tool.Effect{tool.Execute}, Looks: true, Targets: []tool.Target{{Kind: tool.CommandTarget, Effect: tool.Execute, Value: "look"}}}
		}
		return tool.Action{Intent: intent, Run: func(context.Context, tool.Runner) (tool.Result, error) {
			d.enter()
			defer d.leave()
			time.Sleep(time.Duration(in.Wait) * time.Millisecond)
			d.mu.Lock()
			defer d.mu.Unlock()
			switch in.Op {
			case "read":
				return tool.TextResult(d.files[in.Path], nil), nil
			case "list", "look", "run":
				return tool.TextResult(d.below(in.Path), nil), nil
			case "append": // from what was planned, so that a plan made too early shows
				d.files[in.Path] = old + in.Text
				return tool.TextResult(d.files[in.Path], nil), nil
			case "edit":
				d.files[in.Path] = strings.Replace(old, in.Text, in.Text+in.Text, 1)
				return tool.TextResult(d.files[in.Path], nil), nil
			case "remove":
				delete(d.files, in.Path)
			}
			return tool.TextResult("done", nil), nil
		}}, nil
	})
}

func (d *disk) enter() {
	d.mu.Lock()
	d.active++
	d.peak = max(d.peak, d.active)
	d.mu.Unlock()
}

func (d *disk) leave() { d.mu.Lock(); d.active--; d.mu.Unlock() }

func (d *disk) below(dir string) string {
	var out []string
	for p, text := range d.files {
		if strings.HasPrefix(p, dir) {
			out = append(out, p+"="+text)
		}
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

// T11: whatever runs in parallel, the results and the world are those of running the calls one by one.
func TestT11_ParallelEqualsSequential(t *testing.T) {
	allow := gateFunc(func(GateRequest) tool.Decision { return tool.Decision{Verdict: tool.Allow, By: "test"} })
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) diskInput {
			p := path.Join("/w", rapid.SampledFrom([]string{"a", "b", "d/c", "d/e"}).Draw(t, "path"))
			op := rapid.SampledFrom([]string{"read", "read", "append", "append", "edit", "edit", "remove", "list", "look", "run"}).Draw(t, "op")
			if op == "list" || op == "look" {
				p = rapid.SampledFrom([]string{"/w/d", "/w"}).Draw(t, "dir")
			}
			return diskInput{Op: op, Path: p, Text: rapid.StringMatching(`[a-d]`).Draw(t, "text"), Wait: rapid.IntRange(0, 5).Draw(t, "wait")}
		}), 2, 14).Draw(rt, "calls")
		differs := ""
		synctest.Test(t, func(t *testing.T) { differs = compareRuns(t, ops, allow) })
		if differs != "" {
			rt.Fatal(differs)
		}
	})
}

// compareRuns runs the calls one by one in one world and all at once in another, and says how the two differ.
func compareRuns(t *testing.T, ops []diskInput, g Gate) string {
	start := map[string]string{"/w/a": "A", "/w/d/c": "C"}
	one, many := &disk{files: maps.Clone(start)}, &disk{files: maps.Clone(start)}
	want := runAll(t, one, ops, g, func(b *Box, reqs []Request) ([]tool.Result, error) {
		var out []tool.Result
		for _, r := range reqs {
			res, err := b.Call(t.Context(), r)
			if err != nil {
				return nil, err
			}
			out = append(out, res)
		}
		return out, nil
	})
	got := runAll(t, many, ops, g, func(b *Box, reqs []Request) ([]tool.Result, error) { return b.CallAll(t.Context(), reqs) })
	for i := range want {
		if got[i].Text() != want[i].Text() {
			return fmt.Sprintf("call %d %+v:\n got %q\nwant %q", i, ops[i], got[i].Text(), want[i].Text())
		}
	}
	if !maps.Equal(one.files, many.files) {
		return fmt.Sprintf("worlds differ:\n one by one %v\n parallel   %v", one.files, many.files)
	}
	return ""
}

func runAll(t *testing.T, d *disk, ops []diskInput, g Gate, run func(*Box, []Request) ([]tool.Result, error)) []tool.Result {
	b, err := New(Config{Gate: g, Env: tool.Environment{Mode: "code"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Register(d.tool(), "code"); err != nil {
		t.Fatal(err)
	}
	reqs := make([]Request, len(ops))
	for i, op := range ops {
		args, err := json.Marshal(op)
		if err != nil {
			t.Fatal(err)
		}
		reqs[i] = Request{Tool: "disk", Args: args}
	}
	res, err := run(b, reqs)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// T11: reads run together, an exclusive call alone, and results come back in call order.
func TestT11_ReadsTogetherExclusiveAlone(t *testing.T) {
	allow := gateFunc(func(GateRequest) tool.Decision { return tool.Decision{Verdict: tool.Allow, By: "test"} })
	for _, tt := range []struct {
		op   string
		peak int
		took time.Duration
	}{{"read", 4, 10 * time.Millisecond}, {"look", 4, 10 * time.Millisecond}, {"run", 1, 40 * time.Millisecond}, {"append", 1, 40 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			d := &disk{files: map[string]string{"/w/a": "x"}}
			b := newBox(t, Config{Gate: allow}, d.tool())
			var reqs []Request
			for range 4 {
				reqs = append(reqs, Request{Tool: "disk", Args: json.RawMessage(`{"op":"` + tt.op + `","path":"/w/a","text":"y","wait":10}`)})
			}
			begin := time.Now()
			if _, err := b.CallAll(t.Context(), reqs); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); d.peak != tt.peak || took != tt.took {
				t.Errorf("%s: peak %d in %v, want %d in %v", tt.op, d.peak, took, tt.peak, tt.took)
			}
		})
	}
}

// T11: a call that waited is planned again with the arguments that its hooks made, once.
func TestT11_HooksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{files: map[string]string{"/w/a": "x"}}
		b := newBox(t, Config{Gate: allowAll, Hooks: []Hook{hookFuncs{before: func(r *Request) error {
			r.Args = json.RawMessage(strings.Replace(string(r.Args), `"text":"`, `"text":"h`, 1))
			return nil
		}}}}, d.tool())
		var reqs []Request
		for range 3 {
			reqs = append(reqs, Request{Tool: "disk", Args: json.RawMessage(`{"op":"append","path":"/w/a","text":"y","wait":10}`)})
		}
		res, err := b.CallAll(t.Context(), reqs)
		if err != nil || d.files["/w/a"] != "xhyhyhy" || res[2].Text() != "xhyhyhy" {
			t.Errorf("%v %q", err, d.files["/w/a"])
		}
		if took := res[2].Meta.Duration; took != 10*time.Millisecond {
			t.Errorf("waiting counts as running: %v", took)
		}
	})
}

// T11: what two calls share is found also where no path of the one is a path of the other: names of one inode, commands
// that only read, and calls whose plan depends on more than their targets.
func TestT11_HiddenOverlaps(t *testing.T) {
	s := newShelf(t, Config{Gate: allowAll}, map[string]string{"a": "one"})
	if err := os.Link(filepath.Join(s.dir, "a"), filepath.Join(s.dir, "b")); err != nil {
		t.Fatal(err)
	}
	at := func(name string, e tool.Effect) footprint {
		return s.box.footprintOf(t.Context(), &Planned{Call: &tool.Call{}, entry: &entry{}, Action: tool.Action{Intent: tool.Intent{Effects: []tool.Effect{e},
			Targets: []tool.Target{tool.PathTo(host.Path{Abs: filepath.Join(s.dir, name), Real: filepath.Join(s.dir, name)}, e)}}}})
	}
	through := s.box.footprintOf(t.Context(), &Planned{Call: &tool.Call{}, entry: &entry{}, Action: tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read},
		Targets: []tool.Target{tool.PathTo(host.Path{Abs: filepath.Join(s.dir, "link", "x"), Real: filepath.Join(s.dir, "d", "x")}, tool.Read)}}}})
	command := s.box.footprintOf(t.Context(), &Planned{Call: &tool.Call{}, entry: &entry{}, Action: tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read},
		Targets: []tool.Target{{Kind: tool.CommandTarget, Effect: tool.Read, Value: "cat a"}}}}})
	alone := s.box.footprintOf(t.Context(), &Planned{Call: &tool.Call{}, entry: &entry{}, Action: tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}, Alone: true}}})
	for _, tt := range []struct {
		name string
		a, b footprint
		want bool
	}{
		{"hard links", at("a", tool.Write), at("b", tool.Read), true},
		{"reads of hard links", at("a", tool.Read), at("b", tool.Read), false},
		{"what is read through a link, and the link", through, at("link", tool.Write), true},
		{"what is read through a link, and its folder", through, at("d", tool.Write), true},
		{"a command that reads, and a write", command, at("a", tool.Write), true},
		{"a command that reads, and a read", command, at("a", tool.Read), false},
		{"two commands that read", command, command, false},
		{"alone", alone, at("a", tool.Read), true},
	} {
		if got := conflict(tt.a, tt.b); got != tt.want || conflict(tt.b, tt.a) != got {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
