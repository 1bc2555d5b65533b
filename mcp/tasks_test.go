package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

const tasksAndForms = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// taskView is what a client sees of a task.
type taskView struct {
	ResultType, TaskID, Status, CreatedAt, LastUpdatedAt string
	TTLMs, PollIntervalMs                                int64
	Result                                               *callResult
	Error                                                *struct{ Code int }
	InputRequests                                        map[string]json.RawMessage
}

func (c *lineClient) task(method, extra string) taskView {
	c.t.Helper()
	m := c.request(method, `{`+extra+`,"_meta":{`+modernMeta("x", tasksAndForms)+`}}`)
	if m.Error != nil {
		c.t.Fatalf("%s: %+v", method, m.Error)
	}
	var v taskView
	if err := json.Unmarshal(m.Result, &v); err != nil {
		c.t.Fatal(err)
	}
	return v
}

// H6 with the tasks extension: a call that takes a while becomes a task that the client polls.
func TestH6_Task(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startStdio(t, newTestServer(t, slowBox(), Config{}))
		defer c.in.Close()
		began := time.Now()
		if v := c.task("tools/call", `"name":"echo","arguments":{"path":"1s"}`); v.ResultType != "complete" || v.TaskID != "" {
			t.Errorf("a quick call: %+v", v)
		}
		v := c.task("tools/call", `"name":"echo","arguments":{"path":"10s"}`)
		if v.ResultType != "task" || v.Status != "working" || v.TaskID == "" || v.TTLMs != 600_000 || v.PollIntervalMs != 500 || time.Since(began) != 3*time.Second {
			t.Fatalf("%+v after %v", v, time.Since(began))
		}
		id := `"taskId":"` + v.TaskID + `"`
		if v := c.task("tasks/get", id); v.Status != "working" || v.ResultType != "complete" || v.Result != nil {
			t.Errorf("%+v", v)
		}
		time.Sleep(9 * time.Second) // of the bubble's clock
		if v := c.task("tasks/get", id); v.Status != "completed" || v.Result == nil || v.Result.text() != "done after 10s" {
			t.Errorf("%+v", v)
		}
		if v := c.task("tasks/cancel", id); v.ResultType != "complete" || v.TaskID != "" {
			t.Errorf("cancel of an ended task: %+v", v)
		}
		v = c.task("tools/call", `"name":"echo","arguments":{"path":"1h"}`)
		id = `"taskId":"` + v.TaskID + `"`
		c.task("tasks/cancel", id)
		synctest.Wait()
		if v := c.task("tasks/get", id); v.Status != "cancelled" || v.Result != nil {
			t.Errorf("%+v", v)
		}
	})
}

// An ask of a task is answered through tasks/update; an ask before it is a task rides on the answer of the call.
func TestTaskAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking := echoBox()
		asking.call = func(ctx context.Context, req toolbox.Request) (tool.Result, error) {
			time.Sleep(3 * time.Second) // of the bubble's clock
			reply, err := Ask(ctx, "Sure?", map[string]any{"type": "object", "properties": map[string]any{"answer": map[string]any{"type": "string"}}})
			return tool.TextResult(reply.Action+" "+fmt.Sprint(reply.Content["answer"]), nil), err
		}
		c := startStdio(t, newTestServer(t, asking, Config{}))
		defer c.in.Close()
		v := c.task("tools/call", `"name":"echo","arguments":{}`)
		id := `"taskId":"` + v.TaskID + `"`
		time.Sleep(2 * time.Second)
		if v := c.task("tasks/get", id); v.Status != "input_required" || len(v.InputRequests) != 1 || !strings.Contains(string(v.InputRequests[askKey]), "elicitation/create") {
			t.Fatalf("%+v", v)
		}
		if v := c.task("tasks/update", id+`,"inputResponses":{"other":{"action":"accept"},"approval":7}`); v.ResultType != "complete" || v.TaskID != "" {
			t.Errorf("%+v", v)
		}
		c.task("tasks/update", id+`,"inputResponses":{"approval":{"action":"accept","content":{"answer":"allow this call"}}}`)
		synctest.Wait()
		if v := c.task("tasks/get", id); v.Status != "completed" || v.Result.text() != "accept allow this call" {
			t.Errorf("%+v", v)
		}
	})
}

// A fault of the program is a failed task; a tool error is a completed one.
func TestTaskFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := echoBox()
		box.call = func(_ context.Context, req toolbox.Request) (tool.Result, error) {
			time.Sleep(3 * time.Second) // of the bubble's clock
			if strings.Contains(string(req.Args), "fault") {
				return tool.Result{}, errors.New("secret reason")
			}
			e := tool.Errorf(tool.NotFound, "no")
			return tool.Result{Err: e, Parts: []tool.Part{tool.Text(e.Render())}}, nil
		}
		c := startStdio(t, newTestServer(t, box, Config{}))
		defer c.in.Close()
		fault, wrong := c.task("tools/call", `"name":"echo","arguments":{"path":"fault"}`), c.task("tools/call", `"name":"echo","arguments":{}`)
		time.Sleep(5 * time.Second)
		if v := c.task("tasks/get", `"taskId":"`+fault.TaskID+`"`); v.Status != "failed" || v.Error == nil || v.Error.Code != -32603 || v.Result != nil {
			t.Errorf("fault: %+v", v)
		}
		if v := c.task("tasks/get", `"taskId":"`+wrong.TaskID+`"`); v.Status != "completed" || !v.Result.IsError {
			t.Errorf("tool error: %+v", v)
		}
	})
}

func TestTaskErrors(t *testing.T) {
	c := startStdio(t, newTestServer(t, echoBox(), Config{}))
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		m := c.request(method, `{"taskId":"x","_meta":{`+modernMeta("x", "{}")+`}}`)
		if m.Error == nil || m.Error.Code != -32021 || !strings.Contains(string(m.Error.Data), tasksExtension) {
			t.Errorf("%s without the extension: %+v", method, m.Error)
		}
		m = c.request(method, `{"taskId":"x","_meta":{`+modernMeta("x", tasksAndForms)+`}}`)
		if m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%s of an unknown task: %+v", method, m.Error)
		}
	}
	for _, method := range []string{"tasks/list", "tasks/result"} {
		if m := c.request(method, `{"_meta":{`+modernMeta("x", tasksAndForms)+`}}`); m.Error == nil || m.Error.Code != -32601 {
			t.Errorf("%s: %+v", method, m.Error)
		}
	}
	c.initialize("x", "{}")
	if m := c.request("tasks/get", `{"taskId":"x"}`); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("in the older era: %+v", m.Error)
	}
}

// Over HTTP the header names the task, and a task is its owner's.
func TestTaskHTTP(t *testing.T) {
	box, _, release, _ := gateBox()
	w := startWeb(t, newTestServer(t, box, Config{TaskAfter: time.Millisecond}), nil)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{%s}}}`, modernMeta("x", tasksAndForms))
	created := messages(t, w.send(body, modernHeaders("tools/call", "echo")))[0]
	id := regexp.MustCompile(`c-[A-Z2-7]{12}`).FindString(string(created.Result))
	get := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":%q,"_meta":{%s}}}`, id, modernMeta("x", tasksAndForms))
	for name, want := range map[string]int{id: 200, "other": 400, "": 400} {
		if res := w.send(get, modernHeaders("tasks/get", name)); res.StatusCode != want {
			t.Errorf("Mcp-Name %q: %d, want %d", name, res.StatusCode, want)
		}
	}
	// MCP-015: clientB cannot see, answer or cancel it.
	res := w.send(get, func(r *http.Request) {
		modernHeaders("tasks/get", id)(r)
		r.Header.Set("Authorization", "Bearer "+w.clientB)
	})
	if m := messages(t, res)[0]; res.StatusCode != 400 || m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("clientB: %d %+v", res.StatusCode, m)
	}
	close(release)
}
