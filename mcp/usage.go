package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/toolbox"
)

// usageURI is the resource of the usage figures of the tools (T13).
const usageURI = "usage://tools"

// figurer is a box that counts; a toolbox.Box does.
type figurer interface{ Figures() []toolbox.Figures }

func (s *Server) addUsage(box figurer) {
	s.sdk.AddResource(&sdk.Resource{
		Name: "usage", Title: "Usage of the tools", URI: usageURI, MIMEType: "application/json",
		Description: "Calls, failures, durations and bytes of each tool since this server was started.",
	}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		b, err := json.Marshal(box.Figures())
		if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: usageURI, MIMEType: "application/json", Text: string(b)}}}, nil
	})
}
