package fakemodel

import (
	"io"
	"net/http"
	"strings"
)

// chat serves the chat completions of OpenAI, which many others speak too.
func (m *Model) chat(w http.ResponseWriter, q object, t *turn) {
	t.API = "chat"
	for _, x := range list(q["tools"]) {
		f := obj(obj(x)["function"])
		t.Tools = append(t.Tools, Tool{Name: str(f["name"]), Description: str(f["description"]), Schema: f["parameters"]})
	}
	for _, x := range list(q["messages"]) {
		if msg := obj(x); str(msg["role"]) == "tool" {
			t.Results = append(t.Results, text(msg["content"]))
		} else {
			t.Texts += text(msg["content"]) + "\n"
		}
	}
	d := m.decide(t)
	usage := object{"prompt_tokens": len(t.Raw) / 4, "completion_tokens": 10, "total_tokens": len(t.Raw)/4 + 10}
	message, reason := object{"role": "assistant", "content": d.text}, "stop"
	call := object{}
	if d.tool != nil {
		call = object{"id": "call_" + d.id, "type": "function", "function": object{"name": d.tool.Name, "arguments": d.args}}
		message, reason = object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	if !t.stream {
		reply(w, object{"id": "chatcmpl_" + d.id, "object": "chat.completion", "created": 1, "model": t.model, "usage": usage,
			"choices": []any{object{"index": 0, "message": message, "finish_reason": reason}}})
		return
	}
	s := stream(w)
	chunk := func(choices []any, usage any) {
		c := object{"id": "chatcmpl_" + d.id, "object": "chat.completion.chunk", "created": 1, "model": t.model, "choices": choices}
		if usage != nil {
			c["usage"] = usage
		}
		s.data(c)
	}
	delta := func(v object, finish any) { chunk([]any{object{"index": 0, "delta": v, "finish_reason": finish}}, nil) }
	delta(object{"role": "assistant", "content": ""}, nil)
	if d.tool != nil {
		call["index"] = 0
		delta(object{"tool_calls": []any{call}}, nil)
	} else {
		delta(object{"content": d.text}, nil)
	}
	delta(object{}, reason)
	chunk([]any{}, usage)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// responses serves the responses API of OpenAI, with tools in namespaces as Codex sends them.
func (m *Model) responses(w http.ResponseWriter, q object, t *turn) {
	t.API = "responses"
	t.Texts = text(q["instructions"]) + "\n"
	for _, x := range list(q["tools"]) {
		v := obj(x)
		switch str(v["type"]) {
		case "function":
			t.Tools = append(t.Tools, Tool{Name: str(v["name"]), Description: str(v["description"]), Schema: v["parameters"]})
		case "namespace":
			for _, y := range list(v["tools"]) {
				n := obj(y)
				t.Tools = append(t.Tools, Tool{Space: str(v["name"]), Name: str(n["name"]), Description: str(n["description"]), Schema: n["parameters"]})
			}
			t.Texts += text(v["description"]) + "\n"
		}
	}
	for _, x := range list(q["input"]) {
		if v := obj(x); strings.HasSuffix(str(v["type"]), "_call_output") {
			t.Results = append(t.Results, text(v["output"]))
		} else {
			t.Texts += text(v["content"]) + "\n"
		}
	}
	d := m.decide(t)
	usage := object{"input_tokens": len(t.Raw) / 4, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 10,
		"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": len(t.Raw)/4 + 10}
	item := object{"type": "message", "id": "msg_" + d.id, "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": d.text, "annotations": []any{}}}}
	if d.tool != nil {
		item = object{"type": "function_call", "id": "fc_" + d.id, "call_id": "call_" + d.id, "name": d.tool.Name, "arguments": d.args, "status": "completed"}
		if d.tool.Space != "" {
			item["namespace"] = d.tool.Space
		}
	}
	response := object{"id": "resp_" + d.id, "object": "response", "created_at": 1, "status": "completed", "model": t.model, "output": []any{item}, "usage": usage}
	if !t.stream {
		reply(w, response)
		return
	}
	s := stream(w)
	begun := object{"id": "resp_" + d.id, "object": "response", "created_at": 1, "status": "in_progress", "model": t.model, "output": []any{}}
	s.event("response.created", object{"type": "response.created", "response": begun})
	s.event("response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item})
	if d.tool == nil {
		s.event("response.output_text.delta", object{"type": "response.output_text.delta", "item_id": item["id"], "output_index": 0, "content_index": 0, "delta": d.text})
	}
	s.event("response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	s.event("response.completed", object{"type": "response.completed", "response": response})
}
