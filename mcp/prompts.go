package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Prompt is something that a person can start from a client's menu, such as a skill.
type Prompt struct {
	Name        string // unique on the server
	Title       string
	Description string
	Argument    string // what may be said with it, for people; "" means that it takes nothing
	// Text returns what the model is told, as words of the person.
	Text func(ctx context.Context, argument string) (string, error)
}

// promptArgument is the name of the one argument of a prompt.
const promptArgument = "arguments"

// addPrompts offers the prompts of the configuration. Without one the server does not speak of prompts at all.
func (s *Server) addPrompts() error {
	seen := map[string]bool{}
	for _, p := range s.cfg.Prompts {
		if p.Name == "" || p.Text == nil || seen[p.Name] {
			return fmt.Errorf("mcp: prompt %q: want a name that no other has, and a text", p.Name)
		}
		seen[p.Name] = true
		def := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		if p.Argument != "" {
			def.Arguments = []*sdk.PromptArgument{{Name: promptArgument, Description: p.Argument}}
		}
		s.sdk.AddPrompt(def, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text, err := p.Text(ctx, req.Params.Arguments[promptArgument])
			if err != nil {
				return nil, fmt.Errorf("prompt %s: %w", p.Name, err)
			}
			return &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
		})
	}
	return nil
}
