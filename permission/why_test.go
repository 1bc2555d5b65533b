package permission

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/tool"
)

// P4: layer by layer and rule by rule, which matched and which decided.
func TestP4_WhyCall(t *testing.T) {
	g := gate(t, Options{
		Layers: []Layer{
			{Name: User, Rules: parse(t, "allow edit **\nask edit src/**\nallow write_file src/gen/**")},
			{Name: Project, Untrusted: true, Rules: []Rule{
				{Permission: "edit", Pattern: "src/*.go", Action: tool.Deny, Reason: "written by a generator", Source: Source{"p.yaml", 3, 5}},
				{Permission: "edit", Pattern: "src/a.go", Action: tool.Allow}}},
		},
		Modes: map[string][]Layer{"code": {{Rules: parse(t, "deny shell *")}}},
	})
	e := g.Why(tool.Definition{Name: "edit", Permission: "edit"}, Request{Intent: on("edit", tool.Write, resolve("src/a.go", nil)), Mode: "code"})
	want := `edit asks under the permission edit in mode code
visible: no layer's last rule for it denies everything
write path "/w/ws/src/a.go" (given as "src/a.go"): write-in
  layer user: ask
    1 allow "**"  rules:1  matches
  > 2 ask "src/**"  rules:2  matches
    3 allow "src/gen/**"  rules:3  (written for write_file)
  layer project (not trusted: its allow rules are ignored): deny
  > 1 deny "src/*.go"  p.yaml:3:5  matches  "written by a generator"
    2 allow "src/a.go"  matches  (ignored: the layer is not trusted, so it only tightens)
  layer mode code: no rule for this permission
  posture guarded: allow, but a layer has an opinion
  = deny by rule project:1
call: deny by rule project:1
  edit of "src/a.go" is denied: rule project:1 (p.yaml:3:5): written by a generator
`
	if diff := cmp.Diff(want, e.Text()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var back Explanation
	data, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, back); diff != "" {
		t.Errorf("the explanation is not plain data: -want +got\n%s", diff)
	}
}

// P4: a tool without a call, a guard, a link, a grant, a parent.
func TestP4_WhyParts(t *testing.T) {
	hide := gate(t, Options{Layers: user(t, "deny edit *")})
	links := map[string]string{root + "/l": root + "/.env"}
	granted := gate(t, Options{})
	if err := granted.Grant(t.Context(), Grant{ID: "g7", Permission: "edit", Pattern: "/srv/*", Scope: ThisProject}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		g    *Gate
		r    Request
		want []string
	}{
		{"no call", hide, Request{}, []string{"not visible: denied by rule user:1", `1 deny "*"  rules:1`, "posture guarded decides where"}},
		{"switched off", gate(t, Options{}), Request{Overlay: map[string]bool{"edit": false}}, []string{"not visible: denied by request"}},
		{"guard", gate(t, Options{Layers: user(t, "allow edit **")}), Request{Intent: on("edit", tool.Write, resolve(".git/config", nil))},
			[]string{`guard protected-names: ask`, "= ask by guard protected-names", "needs a person's approval"}},
		{"one spelling", gate(t, Options{Layers: user(t, "allow edit l\ndeny edit l\nallow edit **")}), Request{Intent: on("edit", tool.Write, resolve("l", links))},
			[]string{`(given as "l")`, "(matches only one spelling", "matches  (matches one spelling of the path"}},
		{"secret", gate(t, Options{Layers: user(t, "allow edit **")}), Request{Intent: on("edit", tool.Write, resolve(".env", nil))},
			[]string{"an allow covers a file of credentials only when", "posture guarded: ask\n"}},
		{"grant", granted, Request{Intent: on("edit", tool.Write, resolve("/srv/a", nil))}, []string{"grant g7 answers the ask", "= allow by grant g7"}},
		{"parent", hide.Narrow(gate(t, Options{})), Request{Intent: on("edit", tool.Write, resolve("a", nil))},
			[]string{"not visible: hidden by the parent", "call: deny by parent: rule user:1", "parent session:\n  edit asks"}},
		{"what does not show is escaped", gate(t, Options{}), Request{Intent: on("edit", tool.Write, resolve("a\x1b[2Jb\u202e", nil))},
			[]string{`a\x1b[2Jb\u202e`}},
		{"no target", gate(t, Options{}), Request{Intent: &tool.Intent{Tool: "edit", Permission: "edit", Effects: []tool.Effect{tool.Write}}},
			[]string{"write no target: write-out"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.g.Why(tool.Definition{Name: "edit", Permission: "edit"}, tt.r).Text()
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in:\n%s", want, text)
				}
			}
			if strings.ContainsAny(text, "\x1b\u202e") {
				t.Errorf("raw control characters in %q", text)
			}
		})
	}
}
