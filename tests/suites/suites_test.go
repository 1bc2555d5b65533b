package suites

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/tool"
)

// deviationsFile lists every case whose outcome is not the expected one, with the reason. A case that is listed and
// passes fails the test too: the list stays true.
const deviationsFile = "../../docs/deviations.md"

// minimum numbers of cases: a runner that finds nothing has proven nothing.
const (
	minExact = 250
	minEdit  = 360
)

func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TACKLE_SHARED")
	if dir == "" {
		t.Skip("TACKLE_SHARED is not set: the suites of other projects are not here (make suites SHARED=DIR runs them)")
	}
	return filepath.Join(dir, "suites")
}

// deviations reads rows "| suite/case | outcome | reason |".
func deviations(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(deviationsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		cols := strings.Split(sc.Text(), "|")
		if len(cols) < 5 || !strings.Contains(cols[1], "/") {
			continue
		}
		name, outcome, reason := strings.Trim(cols[1], " `"), strings.TrimSpace(cols[2]), strings.TrimSpace(cols[3])
		if len(reason) < 10 {
			t.Errorf("%s: %s has no reason", deviationsFile, name)
		}
		out[name] = outcome
	}
	return out
}

// count is the tally of one suite.
type count struct{ pass, alt, listed, fail int }

func (c *count) String() string {
	return fmt.Sprintf("pass %4d  accepted variant %3d  listed deviation %3d  FAIL %3d", c.pass, c.alt, c.listed, c.fail)
}

// run runs cases and prints success and error cases apart, per suite.
func run(t *testing.T, cases []testCase) {
	listed := deviations(t)
	tally := map[string]*count{}
	for i := range cases {
		c := &cases[i]
		verdict := runCase(t, c)
		key := fmt.Sprintf("%-22s %-7s", c.meta.Suite, c.meta.Expect)
		if tally[key] == nil {
			tally[key] = &count{}
		}
		n := tally[key]
		_, known := listed[c.name]
		switch {
		case verdict == "pass" && known:
			n.fail++
			t.Errorf("%s passes and is listed in %s; take it off the list", c.name, deviationsFile)
		case verdict == "pass":
			n.pass++
		case strings.HasPrefix(verdict, "alt:") && !(c.meta.Tier == "exact" && c.meta.Expect == "success"):
			n.alt++ // of an exact success case there is no variant
		case known && c.meta.Tier != "exact":
			n.listed++
		default:
			n.fail++
			t.Errorf("%s (tier %s): %s", c.name, c.meta.Tier, verdict)
		}
	}
	total := count{}
	for _, key := range slices.Sorted(maps.Keys(tally)) {
		n := tally[key]
		t.Logf("%s %s", key, n)
		total.pass, total.alt, total.listed, total.fail = total.pass+n.pass, total.alt+n.alt, total.listed+n.listed, total.fail+n.fail
	}
	t.Logf("%-30s %s", "all", &total)
}

func runCase(t *testing.T, c *testCase) string {
	t.Helper()
	ws := filepath.Join(t.TempDir(), "ws") // its own parent, so that ../x stays inside
	if err := c.prepare(ws); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	before, err := treeOf(ws)
	if err != nil {
		t.Fatal(err)
	}
	res := callTool(t, c, ws)
	v, err := c.verdict(ws, before, res.OK(), res.Text())
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	if strings.HasPrefix(v, "FAIL") && res.OK() && slices.Contains(c.meta.Alternatives, "coerce_null_to_default") && sameWithoutNulls(t, c, ws) {
		return "alt:coerce_null_to_default"
	}
	return v
}

func callTool(t *testing.T, c *testCase, ws string) tool.Result {
	t.Helper()
	args, err := c.args()
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: ws, StateDir: t.TempDir(), NoFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	res, err := box.Call(t.Context(), tackle.NewRequest(c.call.Tool, args))
	if err != nil {
		t.Fatalf("%s: fault: %v", c.name, err)
	}
	return res
}

// sameWithoutNulls reports whether a call that leaves the null arguments out does the same.
func sameWithoutNulls(t *testing.T, c *testCase, got string) bool {
	t.Helper()
	plain := *c
	plain.call.Args = maps.Clone(c.call.Args)
	maps.DeleteFunc(plain.call.Args, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	ws := filepath.Join(t.TempDir(), "ws")
	if err := plain.prepare(ws); err != nil {
		t.Fatal(err)
	}
	res := callTool(t, &plain, ws)
	a, aerr := treeOf(got)
	b, berr := treeOf(ws)
	return res.OK() && aerr == nil && berr == nil && equalTrees(a, b)
}

func TestEditSuites(t *testing.T) {
	cases, err := load(shared(t), "edit", "multi_edit")
	if err != nil {
		t.Fatal(err)
	}
	exact := 0
	for i := range cases {
		if cases[i].meta.Tier == "exact" {
			exact++
		}
	}
	if exact < minExact || len(cases) < minEdit {
		t.Fatalf("found %d cases, %d of them exact; want at least %d and %d", len(cases), exact, minEdit, minExact)
	}
	t.Logf("%d cases, %d of tier exact", len(cases), exact)
	run(t, cases)
}

// minima of the patch cases: the complete scenarios of the real implementation, and the diffs on which git and GNU
// patch agree.
const (
	minScenarios = 25
	minAgreed    = 30
	minPatch     = 340
)

func TestPatchSuites(t *testing.T) {
	cases, err := load(shared(t), "apply_patch")
	if err != nil {
		t.Fatal(err)
	}
	scenarios, agreed := 0, 0
	for i := range cases {
		c := &cases[i]
		if c.meta.Suite == "codex-scenarios" {
			scenarios++
		}
		if c.meta.Agreement == "both" {
			agreed++
		}
	}
	if scenarios < minScenarios || agreed < minAgreed || len(cases) < minPatch {
		t.Fatalf("found %d cases, %d scenarios, %d agreed", len(cases), scenarios, agreed)
	}
	t.Logf("%d cases, %d scenarios of the envelope, %d on which git and GNU patch agree", len(cases), scenarios, agreed)
	run(t, cases)
}
