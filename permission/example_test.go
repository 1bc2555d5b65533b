package permission_test

import (
	"context"
	"fmt"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Rules are judged target by target; the last match of a layer is its opinion.
func ExampleGate_Decide() {
	gate, err := permission.New(permission.Options{
		Facts: permission.Facts{Roots: []string{"/home/ann/project"}, Home: "/home/ann"},
		Layers: []permission.Layer{{Name: permission.User, Rules: []permission.Rule{
			{Permission: "edit", Pattern: "vendor/", Action: tool.Deny, Reason: "change the upstream instead"},
			{Permission: "edit", Pattern: "vendor/ours/**", Action: tool.Allow},
		}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rel := range []string{"main.go", "vendor/x/x.go", "vendor/ours/y.go", ".git/hooks/pre-commit"} {
		path := host.Path{Given: rel, Abs: "/home/ann/project/" + rel, Real: "/home/ann/project/" + rel, Root: "/home/ann/project", Rel: rel}
		d, err := gate.Decide(context.Background(), permission.Request{Intent: &tool.Intent{
			Tool: "edit", Permission: "edit", Effects: []tool.Effect{tool.Write}, Targets: []tool.Target{tool.PathTo(path, tool.Write)},
		}})
		fmt.Println(rel, d.Verdict, d.By, err)
	}
	// Output:
	// main.go allow posture guarded <nil>
	// vendor/x/x.go deny rule user:1 <nil>
	// vendor/ours/y.go allow rule user:2 <nil>
	// .git/hooks/pre-commit ask guard protected-names <nil>
}
