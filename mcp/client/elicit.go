package client

import (
	"context"
	"encoding/json"
	"regexp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/internal/clip"
)

// secretField finds fields that ask for what a server must never be told through a form.
var secretField = regexp.MustCompile(`(?i)pass(word|phrase|wd|code)|secret|token|api[ _-]?key|credential|private[ _-]?key|\bpin\b|\botp\b|cvv|ssn`)

// elicit passes a server's question to a person, with the server's name. A form that asks for a secret is declined, and
// so is one that sends the person elsewhere.
func (l *link) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	p := req.Params
	b, err := json.Marshal(p.RequestedSchema)
	if err != nil || p.URL != "" || p.Mode == "url" || secretField.Match(b) || secretField.MatchString(p.Message) {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	message := "The MCP server " + l.cfg.Name + " asks: " + clip.Middle(printable(p.Message), 2000)
	action, content, err := l.pool.opt.Elicit(ctx, l.cfg.Name, message, p.RequestedSchema)
	if err != nil {
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	return &sdk.ElicitResult{Action: action, Content: content}, nil
}
