package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// fake is generateContent as its public reference describes it.
type fake struct{ ids bool }

type object = map[string]any

func event(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return "data: " + string(b) + "\r\n\r\n"
}

func event1(r modeltest.Reply, part object, more object) string {
	c := object{"index": 0, "content": object{"role": "model", "parts": []any{part}}}
	for k, v := range more {
		c[k] = v
	}
	return event(object{"candidates": []any{c}, "modelVersion": r.Model, "responseId": "resp-1",
		"usageMetadata": object{"promptTokenCount": r.Usage.Input + r.Usage.CacheRead, "totalTokenCount": r.Usage.Input + r.Usage.CacheRead}})
}

func (f fake) Stream(r modeltest.Reply) modeltest.Stream {
	s := modeltest.Stream{ContentType: "text/event-stream"}
	for _, x := range r.Steps {
		var p object
		switch {
		case x.Call != nil:
			c := object{"name": x.Call.Name}
			if f.ids {
				c["id"] = x.Call.ID
			}
			if args := strings.Join(x.Call.Args, ""); args != "" {
				c["args"] = json.RawMessage(args)
			}
			p = object{"functionCall": c}
		case x.Reasoning != "":
			p = object{"text": x.Reasoning, "thought": true}
			if x.Signature != "" {
				p["thoughtSignature"] = x.Signature
			}
		default:
			p = object{"text": x.Text}
		}
		s.Steps = append(s.Steps, event1(r, p, nil))
	}
	if r.Fail != "" {
		_, _, body := f.Error(r.Fail)
		s.Tail = "data: " + strings.ReplaceAll(body, "\n", " ") + "\r\n\r\n"
		return s
	}
	finish := map[model.Stop]string{model.End: "STOP", model.Calls: "STOP", model.Length: "MAX_TOKENS", model.Refusal: "SAFETY"}[r.Stop]
	s.Tail = event(object{"candidates": []any{object{"index": 0, "finishReason": finish, "content": object{"role": "model", "parts": []any{object{"text": ""}}}}},
		"modelVersion": r.Model, "responseId": "resp-1", "usageMetadata": object{
			"promptTokenCount": r.Usage.Input + r.Usage.CacheRead, "cachedContentTokenCount": r.Usage.CacheRead, "candidatesTokenCount": r.Usage.Output,
			"totalTokenCount": r.Usage.Input + r.Usage.CacheRead + r.Usage.Output}})
	return s
}

func (fake) Error(f modeltest.Fault) (status int, contentType, body string) {
	type row struct {
		status       int
		kind, said   string
		reason, wait string
	}
	r := map[modeltest.Fault]row{
		modeltest.Unauthorized: {400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key. " + modeltest.Key, "API_KEY_INVALID", ""},
		modeltest.Forbidden:    {403, "PERMISSION_DENIED", "Your project has been denied access.", "", ""},
		modeltest.TooLong:      {400, "INVALID_ARGUMENT", "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).", "", ""},
		modeltest.Invalid:      {400, "INVALID_ARGUMENT", `Invalid JSON payload received. Unknown name "x": Cannot find field.`, "", ""},
		modeltest.RateLimited:  {429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", "", ""},
		modeltest.Broken:       {500, "INTERNAL", "An internal error has occurred.", "", ""},
		modeltest.Overloaded:   {503, "UNAVAILABLE", "The model is overloaded. Please try again later.", "", ""},
		modeltest.NoModel:      {404, "NOT_FOUND", "models/none is not found for API version v1beta, or is not supported for generateContent.", "", ""},
	}[f]
	e := object{"code": r.status, "message": r.said, "status": r.kind}
	if r.reason != "" {
		e["details"] = []any{object{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": r.reason, "domain": "googleapis.com"}}
	}
	b, err := json.MarshalIndent(object{"error": e}, "", "  ")
	if err != nil {
		panic(err)
	}
	return r.status, "application/json; charset=UTF-8", string(b)
}

type seenBlob struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"`
}

type seenPart struct {
	Text      *string   `json:"text"`
	Thought   bool      `json:"thought"`
	Signature string    `json:"thoughtSignature"`
	Data      *seenBlob `json:"inlineData"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string            `json:"id"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
		Parts    []struct {
			Data *seenBlob `json:"inlineData"`
		} `json:"parts"`
	} `json:"functionResponse"`
}

type seenTurn struct {
	Role  string     `json:"role"`
	Parts []seenPart `json:"parts"`
}

type seenRequest struct {
	Tools []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config *struct {
		Calling struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	System   *seenTurn  `json:"systemInstruction"`
	Contents []seenTurn `json:"contents"`
	Generate struct {
		MaxTokens   int      `json:"maxOutputTokens"`
		Temperature *float64 `json:"temperature"`
		Thinking    *struct {
			Include bool   `json:"includeThoughts"`
			Budget  *int   `json:"thinkingBudget"`
			Level   string `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

var address = regexp.MustCompile(`^/v1beta/models/([^/:]+):streamGenerateContent$`)

// Request reads a request with the strictness of the service.
func (f fake) Request(r *http.Request, body []byte) (seen modeltest.Seen, err error) {
	seen.Key = r.Header.Get("X-Goog-Api-Key")
	m := address.FindStringSubmatch(r.URL.Path)
	if r.Method != http.MethodPost || m == nil || r.URL.RawQuery != "alt=sse" {
		return seen, fmt.Errorf("asked %s %s", r.Method, r.URL)
	}
	var q seenRequest
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return seen, err
	}
	seen.Model, seen.MaxTokens, seen.Temperature = m[1], q.Generate.MaxTokens, q.Generate.Temperature
	if t := q.Generate.Thinking; t != nil && (t.Budget != nil && t.Level != "" || strings.HasPrefix(m[1], "gemini-2") && t.Level != "" || !strings.HasPrefix(m[1], "gemini-2") && t.Budget != nil) {
		return seen, fmt.Errorf("thinkingConfig %+v for %s", *t, m[1])
	}
	if q.Config != nil {
		seen.Choose = map[string]model.Choice{"ANY": model.Required, "NONE": model.None}[q.Config.Calling.Mode]
		if len(q.Tools) == 0 {
			return seen, errors.New("function calling config is set without function_declarations")
		}
	}
	for _, t := range q.Tools {
		for _, x := range t.Functions {
			seen.Tools = append(seen.Tools, model.Tool{Name: x.Name, Description: x.Description, Schema: x.Schema})
		}
	}
	if q.System != nil {
		for _, p := range q.System.Parts {
			seen.System += *p.Text
		}
	}
	if err := f.contents(q.Contents, &seen); err != nil {
		return seen, err
	}
	var raw struct {
		Tools, SystemInstruction json.RawMessage
		Contents                 []json.RawMessage
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return seen, err
	}
	seen.Prefix = []string{string(raw.Tools), string(raw.SystemInstruction)}
	for _, c := range raw.Contents {
		seen.Prefix = append(seen.Prefix, string(c))
	}
	return seen, nil
}

func (f fake) contents(contents []seenTurn, seen *modeltest.Seen) error {
	if len(contents) == 0 || contents[0].Role != "user" {
		return errors.New("contents must begin with the user")
	}
	calls := 0
	for i, c := range contents {
		m := model.Message{Role: map[string]model.Role{"user": model.User, "model": model.Assistant}[c.Role]}
		if m.Role == "" || len(c.Parts) == 0 {
			return fmt.Errorf("contents[%d]: role %q, %d parts", i, c.Role, len(c.Parts))
		}
		responses, signed := 0, false
		for j, p := range c.Parts {
			b, beside, err := readPart(p)
			if err != nil {
				return fmt.Errorf("contents[%d].parts[%d]: %w", i, j, err)
			}
			if b.Call != nil && !signed && f.ids { // newer models
				if signed = p.Signature != ""; !signed {
					return fmt.Errorf("contents[%d].parts[%d]: function call is missing a thought_signature", i, j)
				}
			}
			if b.Result != nil {
				responses++
			}
			m.Blocks = append(append(m.Blocks, b), beside...)
		}
		if calls > 0 && responses != calls {
			return fmt.Errorf("contents[%d]: %d function response parts for %d function calls", i, responses, calls)
		}
		calls = 0
		for _, b := range m.Blocks {
			if b.Call != nil {
				calls++
			}
		}
		seen.Messages = append(seen.Messages, m)
	}
	return nil
}

func readPart(p seenPart) (b model.Block, beside []model.Block, err error) {
	switch {
	case p.Signature != "" && p.Signature != unsigned && !strings.HasPrefix(p.Signature, "signature-canary"):
		if _, err := base64.StdEncoding.DecodeString(p.Signature); err != nil {
			return b, nil, fmt.Errorf("corrupted thought signature %q", p.Signature)
		}
	}
	switch {
	case p.Call != nil:
		if !bytes.HasPrefix(p.Call.Args, []byte("{")) {
			return b, nil, fmt.Errorf("args %s", p.Call.Args)
		}
		b.Call = &model.Call{ID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Args}
	case p.Response != nil:
		if p.Response.Name == "" || p.Response.Response == nil {
			return b, nil, errors.New("a function response needs a name and a response")
		}
		r := &model.Result{CallID: p.Response.ID, Name: p.Response.Name}
		if s, ok := p.Response.Response["error"]; ok {
			r.Error, r.Parts = true, []content.Part{content.TextPart(s)}
		} else {
			r.Parts = []content.Part{content.TextPart(p.Response.Response["output"])}
		}
		for _, x := range p.Response.Parts {
			r.Parts = append(r.Parts, media(x.Data))
		}
		b.Result = r
	case p.Data != nil:
		x := media(p.Data)
		b.Part = &x
	case p.Thought:
		b.Reasoning = &model.Reasoning{Text: *p.Text}
	case p.Text == nil || *p.Text == "" && p.Signature == "":
		return b, nil, errors.New("a part has no data")
	default:
		x := content.TextPart(*p.Text)
		b.Part = &x
	}
	return b, beside, nil
}

func media(d *seenBlob) content.Part {
	kind := content.Document
	switch {
	case strings.HasPrefix(d.MIME, "image/"):
		kind = content.Image
	case strings.HasPrefix(d.MIME, "audio/"):
		kind = content.Audio
	}
	return content.Part{Kind: kind, MIME: d.MIME, Data: d.Data}
}
