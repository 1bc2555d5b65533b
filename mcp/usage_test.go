package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/toolbox"
)

// figuredBox is a box that counts.
type figuredBox struct{ Box }

func (figuredBox) Figures() []toolbox.Figures {
	return []toolbox.Figures{{Tool: "echo", Calls: 3, Failures: 1}}
}

// T13: a client can read the usage figures of the tools, and is told not to keep them.
func TestT13_UsageResource(t *testing.T) {
	c := startStdio(t, newTestServer(t, figuredBox{echoBox()}, Config{}))
	c.initialize("x", "{}")
	if m := c.request("resources/list", `{}`); m.Error != nil || !strings.Contains(string(m.Result), usageURI) {
		t.Errorf("%s %+v", m.Result, m.Error)
	}
	m := c.request("resources/read", `{"uri":"`+usageURI+`"}`)
	var got struct {
		Contents []struct{ Text, MimeType string }
		TTLMs    int
	}
	if m.Error != nil || json.Unmarshal(m.Result, &got) != nil || len(got.Contents) != 1 || got.TTLMs != 0 {
		t.Fatalf("%s %+v", m.Result, m.Error)
	}
	var list []toolbox.Figures
	if err := json.Unmarshal([]byte(got.Contents[0].Text), &list); err != nil || len(list) != 1 || list[0].Calls != 3 || list[0].Failures != 1 {
		t.Errorf("%s %v", got.Contents[0].Text, err)
	}
}
