package fakemodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// arguments are the arguments of a call as a value.
func (d *decision) arguments() any {
	var v any
	if err := json.Unmarshal([]byte(d.args), &v); err != nil {
		return object{}
	}
	return v
}

// messages serves the messages API of Anthropic.
func (m *Model) messages(w http.ResponseWriter, q object, t *turn) {
	t.API = "messages"
	t.Texts = text(q["system"]) + "\n"
	for _, x := range list(q["tools"]) {
		v := obj(x)
		t.Tools = append(t.Tools, Tool{Name: str(v["name"]), Description: str(v["description"]), Schema: v["input_schema"]})
	}
	for _, x := range list(q["messages"]) {
		content := obj(x)["content"]
		if s, ok := content.(string); ok {
			t.Texts += s + "\n"
		}
		for _, y := range list(content) {
			if b := obj(y); str(b["type"]) == "tool_result" {
				t.Results = append(t.Results, text(b["content"]))
			} else {
				t.Texts += text(b) + "\n"
			}
		}
	}
	d := m.decide(t)
	usage := object{"input_tokens": len(t.Raw) / 4, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	block, reason := object{"type": "text", "text": d.text}, "end_turn"
	if d.tool != nil {
		block, reason = object{"type": "tool_use", "id": "toolu_" + d.id, "name": d.tool.Name, "input": d.arguments()}, "tool_use"
	}
	message := object{"id": "msg_" + d.id, "type": "message", "role": "assistant", "model": t.model, "content": []any{block}, "stop_reason": reason, "stop_sequence": nil, "usage": usage}
	if !t.stream {
		reply(w, message)
		return
	}
	s := stream(w)
	message["content"], message["stop_reason"] = []any{}, nil
	s.event("message_start", object{"type": "message_start", "message": message})
	start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": d.text}
	if d.tool != nil {
		start = object{"type": "tool_use", "id": block["id"], "name": d.tool.Name, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": d.args}
	}
	s.event("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": start})
	s.event("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	s.event("content_block_stop", object{"type": "content_block_stop", "index": 0})
	s.event("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 10}})
	s.event("message_stop", object{"type": "message_stop"})
}

// gemini serves generateContent and streamGenerateContent of Google.
func (m *Model) gemini(w http.ResponseWriter, path string, q object, t *turn) {
	t.API, t.model, t.stream = "gemini", path, strings.Contains(path, "streamGenerateContent")
	t.Texts = text(obj(q["systemInstruction"])["parts"]) + "\n"
	for _, x := range list(q["tools"]) {
		for _, y := range list(obj(x)["functionDeclarations"]) {
			v := obj(y)
			schema := v["parametersJsonSchema"]
			if schema == nil {
				schema = v["parameters"]
			}
			t.Tools = append(t.Tools, Tool{Name: str(v["name"]), Description: str(v["description"]), Schema: schema})
		}
	}
	for _, x := range list(q["contents"]) {
		if str(obj(x)["role"]) == "model" {
			continue
		}
		for _, y := range list(obj(x)["parts"]) {
			if r := obj(obj(y)["functionResponse"]); r != nil {
				t.Results = append(t.Results, text(r["response"]))
			} else {
				t.Texts += text(y) + "\n"
			}
		}
	}
	d := m.decide(t)
	part := object{"text": d.text}
	if d.tool != nil {
		part = object{"functionCall": object{"name": d.tool.Name, "args": d.arguments()}}
	}
	if str(obj(q["generationConfig"])["responseMimeType"]) == "application/json" { // a router or a loop detector
		part = object{"text": `{"reasoning":"x","model_choice":"flash","complexity_reasoning":"x","complexity_score":1}`}
	}
	out := object{"candidates": []any{object{"index": 0, "content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": len(t.Raw) / 4, "candidatesTokenCount": 10, "totalTokenCount": len(t.Raw)/4 + 10}, "modelVersion": "fake"}
	if t.stream {
		stream(w).data(out)
		return
	}
	reply(w, out)
}

// ollama serves the chat of Ollama, which streams unless told otherwise.
func (m *Model) ollama(w http.ResponseWriter, q object, t *turn) {
	t.API, t.stream = "ollama", true
	if b, ok := q["stream"].(bool); ok {
		t.stream = b
	}
	for _, x := range list(q["tools"]) {
		f := obj(obj(x)["function"])
		t.Tools = append(t.Tools, Tool{Name: str(f["name"]), Description: str(f["description"]), Schema: f["parameters"]})
	}
	for _, x := range list(q["messages"]) {
		if v := obj(x); str(v["role"]) == "tool" {
			t.Results = append(t.Results, text(v["content"]))
		} else {
			t.Texts += text(v["content"]) + "\n"
		}
	}
	d := m.decide(t)
	message := object{"role": "assistant", "content": d.text}
	if d.tool != nil {
		message = object{"role": "assistant", "content": "", "tool_calls": []any{object{"function": object{"name": d.tool.Name, "arguments": d.arguments()}}}}
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	enc := json.NewEncoder(w)
	if t.stream {
		_ = enc.Encode(object{"model": t.model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false})
		message = object{"role": "assistant", "content": ""}
	}
	_ = enc.Encode(object{"model": t.model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": true, "done_reason": "stop", "prompt_eval_count": len(t.Raw) / 4, "eval_count": 10})
}
