package schema

import "github.com/google/jsonschema-go/jsonschema"

// Def is what a provider is told about a tool.
type Def struct {
	Name        string
	Title       string // for people; only MCP carries it
	Description string
	Schema      *jsonschema.Schema // of the arguments
	Output      *jsonschema.Schema // of structured results, nil for none; only MCP carries it
	Annotations *Annotations       // nil for unknown; only MCP carries them
}

// Annotations are hints about what a tool does, in the sense of MCP.
type Annotations struct {
	ReadOnly    bool // changes nothing
	Destructive bool // may remove or overwrite; meaningful only where ReadOnly is false
	Idempotent  bool // a second identical call changes nothing more
	OpenWorld   bool // reaches beyond the workspace
}

// Profile names a reader of schemas with its own limits.
type Profile string

// The profiles. MCP stands for all clients of an MCP server, whatever model is behind them.
const (
	MCP              Profile = "mcp"
	OpenAI           Profile = "openai"
	OpenAIStrict     Profile = "openai-strict"
	Anthropic        Profile = "anthropic"
	AnthropicStrict  Profile = "anthropic-strict"
	Gemini           Profile = "gemini"             // the field parameters
	GeminiJSONSchema Profile = "gemini-json-schema" // the field parametersJsonSchema
	Ollama           Profile = "ollama"
)

// Profiles returns all profiles.
func Profiles() []Profile {
	return []Profile{MCP, OpenAI, OpenAIStrict, Anthropic, AnthropicStrict, Gemini, GeminiJSONSchema, Ollama}
}
