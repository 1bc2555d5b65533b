package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tasks extension: a call of a client that speaks it, and that takes a while, answers with a task, which the client
// polls. A task is a running call under its id; nothing else is kept for it.

// pollInterval is how often a client should ask for a task.
const pollInterval = 500 * time.Millisecond

// taskParams are the params of tasks/get, tasks/update and tasks/cancel.
type taskParams struct {
	sdk.ParamsBase
	TaskID         string                     `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

// addTasks makes the methods known to the SDK; intercept serves them.
func (s *Server) addTasks() error {
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		err := sdk.AddReceivingCustomMethod(s.sdk, method, func(context.Context, *sdk.ServerSession, *taskParams) (*rawResult, error) {
			return nil, fmt.Errorf("%s: the request was not intercepted", method)
		})
		if err != nil {
			return fmt.Errorf("mcp: %w", err)
		}
	}
	return nil
}

// errNeedsTasks refuses a client that did not declare the extension.
func errNeedsTasks() error {
	return &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client did not declare the tasks extension",
		Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)}
}

func (s *Server) serveTask(ctx context.Context, method string, req *sdk.ServerRequest[*taskParams]) (sdk.Result, error) {
	v, _ := req.Params.Meta[sdk.MetaKeyProtocolVersion].(string)
	if v < modernVersion {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("%q belongs to revision %s and later", method, modernVersion)}
	}
	who := modernSpeaker(v, req.ClientInfo(), req.ClientCapabilities())
	if !who.tasky {
		return nil, errNeedsTasks()
	}
	r := s.calls.find(req.Params.TaskID, s.ownerOf(originOf(ctx, who.who, req.Session, req.Extra)))
	if r == nil {
		return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("no task %q", req.Params.TaskID)}
	}
	switch method {
	case "tasks/get":
		return &rawResult{raw: s.encodeTaskState(r)}, nil
	case "tasks/cancel":
		r.end(errStopped)
	case "tasks/update":
		r.answered(formsOf(req.Params.InputResponses))
	}
	return &rawResult{raw: append(s.appendServer([]byte(`{"resultType":"complete"`)), '}')}, nil
}

// formsOf reads the answers that are forms. Others are ignored: we ask for nothing else.
func formsOf(raw map[string]json.RawMessage) map[string]*sdk.ElicitResult {
	out := map[string]*sdk.ElicitResult{}
	for key, b := range raw {
		var e sdk.ElicitResult
		if json.Unmarshal(b, &e) == nil && e.Action != "" {
			out[key] = &e
		}
	}
	return out
}

// taskState is the part that CreateTaskResult and the answer of tasks/get share.
type taskState struct {
	ResultType     string `json:"resultType"`
	TaskID         string `json:"taskId"`
	Status         string `json:"status"`
	StatusMessage  string `json:"statusMessage,omitempty"`
	CreatedAt      string `json:"createdAt"`
	LastUpdatedAt  string `json:"lastUpdatedAt"`
	TTLMs          int64  `json:"ttlMs"`
	PollIntervalMs int64  `json:"pollIntervalMs"`
}

// The states of a task.
const (
	working       = "working"
	inputRequired = "input_required"
	completed     = "completed"
	failed        = "failed"
	cancelled     = "cancelled"
)

func (r *running) task(resultType string) taskState {
	id := r.handle()
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := r.changed
	if changed.IsZero() {
		changed = r.began
	}
	t := taskState{ResultType: resultType, TaskID: id, Status: working, CreatedAt: stamp(r.began), LastUpdatedAt: stamp(changed),
		TTLMs: max(r.srv.cfg.Retention.Milliseconds(), 1), PollIntervalMs: pollInterval.Milliseconds()}
	switch {
	case r.last != nil && errors.Is(context.Cause(r.ctx), errStopped):
		t.Status = cancelled
	case r.last != nil && r.last.fault != nil:
		t.Status = failed
	case r.last != nil:
		t.Status = completed
	case len(r.asks) > 0:
		t.Status = inputRequired
	}
	return t
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// encodeTask writes the answer of a call that became a task.
func (s *Server) encodeTask(r *running) []byte {
	t := r.task("task")
	if t.Status != inputRequired {
		t.Status = working // an end since then is told by tasks/get
	}
	b := marshal(t)
	return append(s.appendServer(b[:len(b)-1]), '}')
}

// encodeTaskState writes the answer of tasks/get.
func (s *Server) encodeTaskState(r *running) []byte {
	t := r.task("complete")
	b := marshal(t)
	b = b[:len(b)-1]
	switch t.Status {
	case inputRequired:
		b = append(append(b, `,"inputRequests":`...), marshal(r.questions())...)
	case completed:
		b = append(b, `,"result":`...)
		b = appendResult(b, r.last.res, true, s.info)
	case failed:
		b = append(append(b, `,"error":`...), marshal(jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: faultText(r.name)})...)
	}
	return append(s.appendServer(b), '}')
}
