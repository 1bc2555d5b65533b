// Command confclient is our MCP client as the protocol's conformance runner drives it: the address of a server is the
// argument, the environment names the scenario. Every call takes the road of a toolbox. It is a test binary.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/tackle-dev/tackle/mcp/client"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "confclient:", err)
		os.Exit(1)
	}
}

// settings are what the runner tells a scenario.
type settings struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	ToolCalls    []struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	} `json:"toolCalls"`
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: confclient URL")
	}
	var set settings
	if s := os.Getenv("MCP_CONFORMANCE_CONTEXT"); s != "" {
		if err := json.Unmarshal([]byte(s), &set); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	opt := client.Options{Version: "1.0.0"}
	if strings.HasPrefix(scenario, "elicitation") || strings.HasPrefix(scenario, "sep-2322") {
		opt.Elicit = func(context.Context, string, string, any) (string, map[string]any, error) {
			if strings.HasPrefix(scenario, "elicitation") {
				return "accept", map[string]any{}, nil
			}
			return "accept", map[string]any{"confirmed": true}, nil
		}
	}
	if strings.HasPrefix(scenario, "auth/") {
		opt.OAuth = func(*client.Server) (auth.OAuthHandler, error) { return authorize(set) }
	}
	pool, err := client.New([]client.Server{{Name: "c", URL: os.Args[1]}}, opt)
	if err != nil {
		return err
	}
	defer pool.Close()
	pool.Wait(ctx)
	if s := pool.Status()[0]; s.Err != nil && len(pool.Tools()) == 0 && scenario != "request-metadata" {
		return s.Err
	}
	return calls(ctx, pool, scenario, set)
}

// calls makes the calls that the scenario is about.
func calls(ctx context.Context, pool *client.Pool, scenario string, set settings) error {
	switch {
	case scenario == "initialize", scenario == "request-metadata", scenario == "json-schema-ref-no-deref":
		return nil
	case scenario == "tools_call":
		return call(ctx, pool, "add_numbers", map[string]any{"a": 5, "b": 3})
	case scenario == "http-custom-headers":
		for _, c := range set.ToolCalls {
			if err := call(ctx, pool, c.Name, c.Arguments); err != nil {
				fmt.Fprintln(os.Stderr, "confclient:", err)
			}
		}
		return nil
	}
	args := map[string]any{}
	if scenario == "http-invalid-tool-headers" {
		args["region"] = "us-west1"
	}
	var failed error
	for _, t := range pool.Tools() {
		err := callTool(ctx, t, args)
		if err != nil && strings.HasPrefix(scenario, "auth/") {
			failed = err
		} else if err != nil { // some of the fixtures are there to be refused
			fmt.Fprintln(os.Stderr, "confclient:", err)
		}
	}
	return failed
}

// call calls a tool by the server's own name for it.
func call(ctx context.Context, pool *client.Pool, name string, args map[string]any) error {
	for _, t := range pool.Tools() {
		if strings.HasSuffix(t.Definition().Name, "__"+name) {
			return callTool(ctx, t, args)
		}
	}
	return fmt.Errorf("no tool %s", name)
}

type allow struct{}

func (allow) Decide(context.Context, toolbox.GateRequest) (tool.Decision, error) {
	return tool.Decision{Verdict: tool.Allow, By: "conformance"}, nil
}

func callTool(ctx context.Context, t tool.Tool, args map[string]any) error {
	box, err := toolbox.New(toolbox.Config{Gate: allow{}})
	if err != nil {
		return err
	}
	if err := box.Register(t, "conformance"); err != nil {
		return err
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	res, err := box.Call(ctx, toolbox.Request{Tool: t.Definition().Name, Mode: "conformance", Args: raw})
	if err != nil {
		return err
	}
	if !res.OK() {
		return errors.New(res.Text())
	}
	return nil
}

// authorize gets tokens as a person with a browser would: the runner's authorization server redirects at once.
func authorize(set settings) (auth.OAuthHandler, error) {
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:                     "http://localhost:3000/callback",
		AuthorizationCodeFetcher:        fetchCode,
		ClientIDMetadataDocumentConfig:  &auth.ClientIDMetadataDocumentConfig{URL: "https://conformance-test.local/client-metadata.json"},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{"http://localhost:3000/callback"}}},
	}
	if set.ClientID != "" && set.ClientSecret != "" {
		cfg.PreregisteredClient = &oauthex.ClientCredentials{ClientID: set.ClientID, ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: set.ClientSecret}}
	}
	return auth.NewAuthorizationCodeHandler(cfg)
}

func fetchCode(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	if err := client.CheckAuthorizationURL(args.URL); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
	if err != nil {
		return nil, err
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	res.Body.Close()
	to, err := url.Parse(res.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	q := to.Query()
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
