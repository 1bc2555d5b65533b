package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/permission"
)

// Load merges the files, and a gate is made of what they say.
func ExampleLoad() {
	home, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)
	file := filepath.Join(home, "config.yaml")
	text := "posture: ${POSTURE:-guarded}\nrules:\n  - edit: {vendor/: deny, vendor/ours/: allow}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	env := map[string]string{"HOME": home, "TACKLE_OUTPUT_LINES": "500"}
	m, err := config.Load(context.Background(), config.Options{
		Dir: home, UserFile: file,
		Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := permission.New(permission.Options{Posture: m.Config.Posture, Layers: m.Layers, Facts: permission.Facts{Home: home}})
	fmt.Println(gate != nil, err)
	fmt.Println(m.Config.Posture, m.Config.Output.Lines, m.Origins["output.lines"], m.Origins["posture"].Line)
	fmt.Println(m.Layers[0].Rules[0])
	// Output:
	// true <nil>
	// guarded 500 TACKLE_OUTPUT_LINES 1
	// deny edit "vendor/"
}
