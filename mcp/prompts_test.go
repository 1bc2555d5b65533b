package mcp

import (
	"context"
	"strings"
	"testing"
)

// A6: skills are prompts that people start, in both eras; a server without any does not speak of prompts.
func TestA6_Prompts(t *testing.T) {
	cfg := Config{Prompts: []Prompt{
		{Name: "deploy", Title: "Deploy", Description: "Put it live.", Argument: "[what]", Text: func(_ context.Context, arg string) (string, error) { return "Deploy " + arg + ".", nil }},
		{Name: "plain", Description: "No argument.", Text: func(context.Context, string) (string, error) { return "Plain.", nil }},
	}}
	for _, meta := range []string{"", `"_meta":{` + modernMeta("c", "{}") + `}`} {
		c := startStdio(t, newTestServer(t, echoBox(), cfg))
		sep := ""
		if meta == "" {
			if m := c.initialize("x", "{}"); !strings.Contains(string(m.Result), `"prompts"`) {
				t.Errorf("initialize says nothing of prompts: %s", m.Result)
			}
		} else {
			sep = ","
		}
		m := c.request("prompts/list", "{"+meta+"}")
		if m.Error != nil || !strings.Contains(string(m.Result), `"deploy"`) || !strings.Contains(string(m.Result), `"[what]"`) || !strings.Contains(string(m.Result), `"plain"`) {
			t.Errorf("%q: %s %+v", meta, m.Result, m.Error)
		}
		m = c.request("prompts/get", `{"name":"deploy","arguments":{"arguments":"the site"}`+sep+meta+`}`)
		if m.Error != nil || !strings.Contains(string(m.Result), "Deploy the site.") {
			t.Errorf("%q: %s %+v", meta, m.Result, m.Error)
		}
		if m = c.request("prompts/get", `{"name":"none"`+sep+meta+`}`); m.Error == nil {
			t.Errorf("%q: a prompt that does not exist: %s", meta, m.Result)
		}
	}
	c := startStdio(t, newTestServer(t, echoBox(), Config{}))
	if m := c.initialize("x", "{}"); strings.Contains(string(m.Result), `"prompts"`) {
		t.Errorf("a server without prompts speaks of them: %s", m.Result)
	}
	if _, err := NewServer(echoBox(), Config{Prompts: []Prompt{cfg.Prompts[0], cfg.Prompts[0]}}); err == nil {
		t.Error("two prompts of one name are no error")
	}
}
