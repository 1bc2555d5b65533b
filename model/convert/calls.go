package convert

import (
	"encoding/json"
	"errors"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/form"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

func chatCalls(body []byte) (calls []model.Call, err error) {
	var r struct {
		Choices []struct {
			Message struct {
				Calls []struct {
					ID       string `json:"id"`
					Function struct {
						Name      string          `json:"name"`
						Arguments json.RawMessage `json:"arguments"`
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	if len(r.Choices) == 0 {
		return nil, errors.New("it has no choices")
	}
	for _, c := range r.Choices[0].Message.Calls {
		x := model.Call{ID: c.ID, Name: c.Function.Name}
		wire.Arguments(&x, wire.ArgumentText(c.Function.Arguments))
		calls = append(calls, x)
	}
	return finish(calls), nil
}

func responsesCalls(body []byte) (calls []model.Call, err error) {
	var r struct {
		Output []struct {
			Type      string          `json:"type"`
			ID        string          `json:"call_id"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"output"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	for _, o := range r.Output {
		if o.Type == "function_call" {
			x := model.Call{ID: o.ID, Name: o.Name}
			wire.Arguments(&x, wire.ArgumentText(o.Arguments))
			calls = append(calls, x)
		}
	}
	return finish(calls), nil
}

func anthropicCalls(body []byte) (calls []model.Call, err error) {
	var r struct {
		Content []struct {
			Type  string          `json:"type"`
			ID    string          `json:"id"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	for _, c := range r.Content {
		if c.Type == "tool_use" {
			x := model.Call{ID: c.ID, Name: c.Name}
			wire.Arguments(&x, string(c.Input))
			calls = append(calls, x)
		}
	}
	return finish(calls), nil
}

func geminiCalls(body []byte) (calls []model.Call, err error) {
	var r struct {
		Candidates []struct {
			Content struct {
				Parts []struct {
					Signature string `json:"thoughtSignature"`
					Call      *struct {
						ID   string          `json:"id"`
						Name string          `json:"name"`
						Args json.RawMessage `json:"args"`
					} `json:"functionCall"`
				} `json:"parts"`
			} `json:"content"`
		} `json:"candidates"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	if len(r.Candidates) == 0 {
		return nil, errors.New("it has no candidates")
	}
	for _, p := range r.Candidates[0].Content.Parts {
		if p.Call == nil {
			continue
		}
		x := model.Call{ID: p.Call.ID, Name: p.Call.Name}
		wire.Arguments(&x, string(p.Call.Args))
		if p.Signature != "" {
			x.Provider, x.Opaque = "gemini", form.Encode(p.Signature)
		}
		calls = append(calls, x)
	}
	return finish(calls), nil
}

type ollamaCall struct {
	ID       string         `json:"id,omitempty"`
	Function ollamaFunction `json:"function"`
}

type ollamaFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func ollamaCalls(body []byte) (calls []model.Call, err error) {
	var r struct {
		Message struct {
			Calls []ollamaCall `json:"tool_calls"`
		} `json:"message"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	for _, c := range r.Message.Calls {
		x := model.Call{ID: c.ID, Name: c.Function.Name}
		wire.Arguments(&x, wire.ArgumentText(c.Function.Arguments))
		calls = append(calls, x)
	}
	return finish(calls), nil
}

func finish(calls []model.Call) []model.Call {
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = wire.ID()
		}
	}
	return calls
}
