package ollama

import "encoding/json"

// The format of /api/chat, as its public reference describes it: what the adapter writes and reads, and no more. The tests hold it
// against the project's own client.

type request struct {
	Model    string    `json:"model"`
	Tools    []tool    `json:"tools,omitempty"`
	Messages []message `json:"messages"`
	Stream   bool      `json:"stream"`
	Think    any       `json:"think,omitempty"` // a bool, or a level for models that have levels
	Truncate bool      `json:"truncate"`        // false: the service says that the request is too long instead of forgetting its beginning
	Shift    bool      `json:"shift"`           // false: likewise while it answers
	Options  options   `json:"options"`
}

type options struct {
	Window      int      `json:"num_ctx,omitempty"`
	MaxTokens   int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type message struct {
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Thinking string   `json:"thinking,omitempty"`
	Images   [][]byte `json:"images,omitempty"`
	Calls    []call   `json:"tool_calls,omitempty"`
	ToolName string   `json:"tool_name,omitempty"`
	CallID   string   `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// line is one line of a stream.
type line struct {
	Model   string  `json:"model"`
	Message message `json:"message"`
	Done    bool    `json:"done"`
	Reason  string  `json:"done_reason"`
	Prompt  int     `json:"prompt_eval_count"`
	Answer  int     `json:"eval_count"`
	Error   string  `json:"error"`
}
