// Command conformance is our real MCP stack with the fixtures that the protocol's conformance runner looks for. Tools that
// a toolbox can hold take its road; what only the protocol knows (sampling, prompts, …) is added to the SDK's server.
// It is a test binary; tests/conformance/run.sh starts it.
package main

//lint:file-ignore SA1019 The runner tries features that the protocol deprecates and still demands of a server.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

func main() {
	addr := flag.String("http", "", "serve streamable HTTP at this address; default: standard input and output")
	flag.Parse()
	if err := run(*addr); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// allow lets everything pass: the runner tests the protocol, not the policy.
type allow struct{}

func (allow) Decide(context.Context, toolbox.GateRequest) (tool.Decision, error) {
	return tool.Decision{Verdict: tool.Allow, By: "conformance"}, nil
}

const mode = "conformance"

func run(addr string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := newServer()
	if err != nil {
		return err
	}
	go touch(ctx, s.SDK())
	if addr == "" {
		return s.ServeStdio(ctx, os.Stdin, os.Stdout)
	}
	h, err := mcp.Handler(map[string]*mcp.Server{"/mcp": s}, mcp.HTTPConfig{Open: true})
	if err != nil {
		return err
	}
	l, err := mcp.Listen(addr, false)
	if err != nil {
		return err
	}
	return mcp.Serve(ctx, l, h, nil)
}

func newServer() (*mcp.Server, error) {
	box, err := toolbox.New(toolbox.Config{Gate: allow{}})
	if err != nil {
		return nil, err
	}
	for _, t := range roadTools() {
		if err := box.Register(t, mode); err != nil {
			return nil, err
		}
	}
	s, err := mcp.NewServer(box, mcp.Config{
		Name: "conformance", View: toolbox.View{Mode: mode}, TaskAfter: 300 * time.Millisecond,
		SDKOptions: func(o *sdk.ServerOptions) {
			o.Capabilities.Logging = &sdk.LoggingCapabilities{}
			o.CompletionHandler = func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
				return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
			}
			o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
			o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
		},
	})
	if err != nil {
		return nil, err
	}
	addProtocolTools(s.SDK())
	addRounds(s.SDK())
	addResources(s.SDK())
	addPrompts(s.SDK())
	return s, nil
}

// touch announces the watched resource every few seconds.
func touch(ctx context.Context, s *sdk.Server) {
	t := time.NewTicker(3 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := s.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: watched}); err != nil && !errors.Is(err, context.Canceled) {
				fmt.Fprintln(os.Stderr, "conformance:", err)
			}
		}
	}
}
