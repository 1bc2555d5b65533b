package main

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// watched is the resource that clients can subscribe to.
const watched = "test://watched-resource"

func addResources(s *sdk.Server) {
	for _, r := range []sdk.ResourceContents{
		{URI: "test://static-text", MIMEType: "text/plain", Text: "The content of the static text resource."},
		{URI: "test://static-binary", MIMEType: "image/png", Blob: bytesOf(onePixel)},
		{URI: watched, MIMEType: "text/plain", Text: "Watched."},
	} {
		s.AddResource(&sdk.Resource{URI: r.URI, Name: strings.TrimPrefix(r.URI, "test://"), Description: "A fixture.", MIMEType: r.MIMEType},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				c := r
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
			})
	}
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", Description: "A fixture.", MIMEType: "application/json"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: "application/json",
				Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}}}, nil
		})
}

func addPrompts(s *sdk.Server) {
	argument := func(names ...string) (out []*sdk.PromptArgument) {
		for _, n := range names {
			out = append(out, &sdk.PromptArgument{Name: n, Description: "A fixture.", Required: true})
		}
		return out
	}
	s.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "A fixture."}, prompted("This is a simple prompt for testing."))
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_arguments", Description: "A fixture.", Arguments: argument("arg1", "arg2")},
		prompted("Prompt with arguments: arg1='%s', arg2='%s'", "arg1", "arg2"))
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A fixture.", Arguments: argument("resourceUri")},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return message(&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded."}},
				&sdk.TextContent{Text: "Please process the resource above."}), nil
		})
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_image", Description: "A fixture."}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return message(&sdk.ImageContent{Data: bytesOf(onePixel), MIMEType: "image/png"}, &sdk.TextContent{Text: "Please look at the picture above."}), nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture."}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if c := accepted(req.Params.InputResponses, "user_context"); c != nil {
			return message(&sdk.TextContent{Text: fmt.Sprintf("Context: %v", c["context"])}), nil
		}
		return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": ask("Please give some context", "context", "string")}}, nil
	})
}
