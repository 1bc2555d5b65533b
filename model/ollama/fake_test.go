package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// fake is /api/chat as its public reference describes it.
type fake struct{ ids bool }

type object = map[string]any

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

func (f fake) Stream(r modeltest.Reply) modeltest.Stream {
	s := modeltest.Stream{ContentType: "application/x-ndjson"}
	say := func(more object) string {
		m := object{"role": "assistant", "content": ""}
		for k, v := range more {
			m[k] = v
		}
		return text(object{"model": r.Model, "created_at": "2026-11-30T08:00:00.123456Z", "message": m, "done": false})
	}
	for _, x := range r.Steps {
		switch {
		case x.Call != nil:
			args := strings.Join(x.Call.Args, "")
			if args == "" {
				args = "{}"
			}
			c := object{"function": object{"index": 0, "name": x.Call.Name, "arguments": json.RawMessage(args)}}
			if f.ids {
				c["id"] = x.Call.ID
			}
			s.Steps = append(s.Steps, say(object{"tool_calls": []any{c}}))
		case x.Reasoning != "":
			s.Steps = append(s.Steps, say(object{"thinking": x.Reasoning}))
		default:
			s.Steps = append(s.Steps, say(object{"content": x.Text}))
		}
	}
	if r.Fail != "" {
		_, _, s.Tail = f.Error(r.Fail)
		return s
	}
	reason := map[model.Stop]string{model.Length: "length"}[r.Stop]
	if reason == "" {
		reason = "stop"
	}
	s.Tail = text(object{"model": r.Model, "created_at": "2026-11-30T08:00:01Z", "message": object{"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
		"total_duration": 5, "load_duration": 1, "prompt_eval_count": r.Usage.Input, "prompt_eval_duration": 2, "eval_count": r.Usage.Output, "eval_duration": 2})
	return s
}

func (fake) Error(f modeltest.Fault) (status int, contentType, body string) {
	type row struct {
		status int
		said   string
	}
	r := map[modeltest.Fault]row{
		modeltest.Unauthorized: {401, "unauthorized: " + modeltest.Key},
		modeltest.Forbidden:    {403, "this model requires a subscription, upgrade for access: https://ollama.com/upgrade"},
		modeltest.TooLong:      {400, "the input length exceeds the context length"},
		modeltest.Invalid:      {400, "invalid options: num_ctxx"},
		modeltest.RateLimited:  {429, "you've reached your hourly usage limit, please try again later"},
		modeltest.Broken:       {500, "llama runner process has terminated: exit status 2"},
		modeltest.Overloaded:   {503, "server busy, please try again.  maximum pending requests exceeded"},
		modeltest.NoModel:      {404, `model "none" not found, try pulling it first`},
	}[f]
	return r.status, "application/json; charset=utf-8", text(object{"error": r.said})
}

type seenMessage struct {
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Thinking string   `json:"thinking"`
	Images   [][]byte `json:"images"`
	Calls    []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolName string `json:"tool_name"`
	CallID   string `json:"tool_call_id"`
}

type seenRequest struct {
	Model    string        `json:"model"`
	Messages []seenMessage `json:"messages"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Stream   *bool `json:"stream"`
	Think    any   `json:"think"`
	Truncate *bool `json:"truncate"`
	Shift    *bool `json:"shift"`
	Options  struct {
		Window      int      `json:"num_ctx"`
		MaxTokens   int      `json:"num_predict"`
		Temperature *float64 `json:"temperature"`
	} `json:"options"`
}

// Request reads a request more strictly than the service, which skips what it does not know.
func (f fake) Request(r *http.Request, body []byte) (seen modeltest.Seen, err error) {
	seen.Key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if r.Method != http.MethodPost || r.URL.Path != "/api/chat" || r.URL.RawQuery != "" {
		return seen, fmt.Errorf("asked %s %s", r.Method, r.URL)
	}
	var q seenRequest
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return seen, err
	}
	if q.Truncate == nil || *q.Truncate || q.Shift == nil || *q.Shift {
		return seen, errors.New("the server would forget the beginning")
	}
	seen.Model, seen.MaxTokens, seen.Temperature = q.Model, q.Options.MaxTokens, q.Options.Temperature
	for _, t := range q.Tools {
		seen.Tools = append(seen.Tools, model.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	var raw struct {
		Tools    json.RawMessage
		Messages []json.RawMessage
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return seen, err
	}
	seen.Prefix = []string{string(raw.Tools)}
	for i, m := range q.Messages {
		seen.Prefix = append(seen.Prefix, string(raw.Messages[i]))
		if m.Role == "system" {
			seen.System += m.Content
			continue
		}
		out, err := read(m)
		if err != nil {
			return seen, fmt.Errorf("messages[%d]: %w", i, err)
		}
		seen.Messages = append(seen.Messages, out)
	}
	return seen, nil
}

func read(m seenMessage) (model.Message, error) {
	out := model.Message{Role: model.User}
	words := content.TextPart(m.Content)
	switch m.Role {
	case "tool":
		if m.ToolName == "" {
			return out, errors.New("a result needs the name of its tool")
		}
		out.Blocks = []model.Block{{Result: &model.Result{CallID: m.CallID, Name: m.ToolName, Parts: []content.Part{words}}}}
		return out, nil
	case "assistant":
		out.Role = model.Assistant
	case "user":
	default:
		return out, fmt.Errorf("role %q", m.Role)
	}
	if m.Content != "" {
		out.Blocks = append(out.Blocks, model.Block{Part: &words})
	}
	for _, d := range m.Images {
		out.Blocks = append(out.Blocks, model.Block{Part: &content.Part{Kind: content.Image, MIME: http.DetectContentType(d), Data: d}})
	}
	for _, c := range m.Calls {
		if !bytes.HasPrefix(c.Function.Arguments, []byte("{")) {
			return out, fmt.Errorf("json: cannot unmarshal %s into arguments", c.Function.Arguments)
		}
		out.Blocks = append(out.Blocks, model.Block{Call: &model.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}})
	}
	return out, nil
}
