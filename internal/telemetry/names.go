package telemetry

// Names of the GenAI conventions (open-telemetry/semantic-conventions-genai, v0.1.0), which nobody has promised to keep.
const (
	opName         = "gen_ai.operation.name"
	opExecuteTool  = "execute_tool"
	toolName       = "gen_ai.tool.name"
	toolCallID     = "gen_ai.tool.call.id"
	toolType       = "gen_ai.tool.type"
	conversationID = "gen_ai.conversation.id"
	requestModel   = "gen_ai.request.model"
	errorType      = "error.type" // of the general conventions
)

// Our own names, for what no convention knows.
const (
	mode     = "tackle.mode"
	denied   = "tackle.denied"    // a bool
	deniedBy = "tackle.denied.by" // the rule, guard or person
	files    = "tackle.files"     // how many the call changed
	artifact = "tackle.artifact"  // id of the whole output where the text was cut
)
