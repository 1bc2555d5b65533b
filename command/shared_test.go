package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared returns the folder with the attack corpus and the cases of the research, which are not part of the project.
// Without it the tests of this file have nothing to say; the tables of the other tests hold rows of each class.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TACKLE_SHARED")
	if dir == "" {
		t.Skip("TACKLE_SHARED is not set: the attack corpus and the research cases are not at hand")
	}
	return dir
}

// harmless are rows of the research cases that look like traps and are none: they only look.
var harmless = []string{"tail -n1 f", "ls --time-style=+%Y", "column -t in", `echo -e '\x41'`, "printf '%s' 'a[$(touch CANARY)]'", "printf '%d' 'a[$(touch CANARY)]'", "cat <<'E'\n$(touch CANARY)\nE", "cd 'a[$(touch CANARY)]'"}

// H3: the everyday commands of the research are read-only, its traps are not.
func TestH3_ResearchCases(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(shared(t), "lab", "security", "cases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	yes, no := 0, 0
	for line := range strings.Lines(string(data)) {
		want, text, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if !ok {
			continue
		}
		text = strings.NewReplacer(`\x0a`, "\n", `\x0d`, "\r", `\xa0`, "\u00a0").Replace(text)
		got, why := ReadOnly(text)
		switch {
		case want == "RO":
			if yes++; !got {
				t.Errorf("%q is refused: %s", text, why)
			}
		case got:
			isHarmless := false
			for _, h := range harmless {
				isHarmless = isHarmless || h == text
			}
			if !isHarmless {
				t.Errorf("%q is called read-only", text)
			}
			fallthrough
		default:
			no++
		}
	}
	if yes != 76 || no < 150 {
		t.Errorf("found %d everyday commands and %d traps, want 76 and at least 150", yes, no)
	}
}

// The inputs of the attack groups about the shell are refused as read-only.
func TestAttackCorpus(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(shared(t), "attacks", "attacks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var attacks []struct{ ID, Group, Input string }
	if err := json.Unmarshal(data, &attacks); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, a := range attacks {
		if a.Input == "" || !strings.HasPrefix(a.Group, "shell-") {
			continue
		}
		seen[a.Group]++
		if ok, _ := ReadOnly(a.Input); ok {
			t.Errorf("%s: %q is called read-only", a.ID, a.Input)
		}
	}
	for _, group := range []string{"shell-parse", "shell-flags", "shell-git"} {
		if seen[group] < 15 {
			t.Errorf("group %s: found %d inputs", group, seen[group])
		}
	}
}
