package gemini

import "encoding/json"

// The format of generateContent, as its public reference describes it: what the adapter writes and reads, and no more. The tests
// hold it against the provider's own client.

type request struct {
	Tools    []tools   `json:"tools,omitempty"`
	Config   *toolMode `json:"toolConfig,omitempty"`
	System   *turn     `json:"systemInstruction,omitempty"`
	Contents []turn    `json:"contents"`
	Generate generate  `json:"generationConfig"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type toolMode struct {
	Calling struct {
		Mode string `json:"mode"`
	} `json:"functionCallingConfig"`
}

type turn struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text      *string   `json:"text,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Data      *blob     `json:"inlineData,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	ID     string          `json:"id,omitempty"`
	Name   string          `json:"name"`
	Result map[string]any  `json:"response"`
	Parts  []*responsePart `json:"parts,omitempty"`
}

type responsePart struct {
	Data *blob `json:"inlineData,omitempty"`
}

type generate struct {
	MaxTokens   int       `json:"maxOutputTokens,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"`
	Thinking    *thoughts `json:"thinkingConfig,omitempty"`
}

type thoughts struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

// chunk is one event of a stream.
type chunk struct {
	Candidates []struct {
		Content turn   `json:"content"`
		Finish  string `json:"finishReason"`
		Said    string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
		Said  string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Tools      int `json:"toolUsePromptTokenCount"`
	} `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	ID    string          `json:"responseId"`
	Error json.RawMessage `json:"error"`
}
