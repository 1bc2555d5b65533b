package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// Box is what a Server serves. *toolbox.Box is one.
type Box interface {
	Tools(v toolbox.View) []tool.Definition
	Call(ctx context.Context, req toolbox.Request) (tool.Result, error)
}

// The defaults of Config.
const (
	DefaultBudget    = 50 * time.Second
	DefaultRetention = 10 * time.Minute
	DefaultAskTime   = 10 * time.Minute
	DefaultTaskAfter = 2 * time.Second
	DefaultInFlight  = 64
	// MaxMessage bounds one message from a client, in bytes.
	MaxMessage = 16 << 20
)

// Config configures a Server. The zero value works. It is copied.
type Config struct {
	Name         string       // of the server, default "tackle"; at most 16 bytes, because clients prefix tool names with it
	Title        string       // for people, default "Tackle"
	Version      string       // default "dev"
	Instructions string       // what the model should know first; the list of tools is added (see Server.Instructions)
	View         toolbox.View // which tools are served; its mode is the mode of every call
	Dir          string       // working directory of calls; "" means the host's first root
	Roots        []Root       // workspace roots to name in the instructions
	Options      tool.Options // of every call

	// Bounds says what a client can show of one result; nil means BoundsFor.
	Bounds func(Client) tool.Bounds
	// Session names the toolbox session of a call; nil means one for each process, MCP session or token.
	Session func(Origin) string
	// Ended is told that a session is over, so that what belongs to it can end too: a session of the older era over HTTP that
	// was closed or left, and that of a token which paused too long. Stdio has one session, the process. May be nil.
	Ended func(session string)
	// Artifacts are served as resources artifact://ID; nil serves none.
	Artifacts tool.Artifacts
	// Prompts are offered for people to start; none means that the server does not speak of prompts.
	Prompts []Prompt

	// Budget is how long a call is held before it answers with a handle (H6); 0 means 50 s, negative for ever.
	Budget time.Duration
	// Retention is how long the result of a call that outlived its request is kept; 0 means 10 minutes.
	Retention time.Duration
	// AskTime is how long a question to a person stays open; 0 means 10 minutes.
	AskTime time.Duration
	// TaskAfter is how long a call of a client that speaks the tasks extension is held before it becomes a task; 0 means
	// 2 seconds.
	TaskAfter time.Duration
	// InFlight bounds the calls that run at once for one connection or token, and as many more may wait behind them;
	// 0 means 64.
	InFlight int
	// StateKey signs what a client carries between the rounds of a call (32 bytes); nil makes a random one, good for
	// the life of the process.
	StateKey []byte

	Log *slog.Logger // default: discards

	// SDKOptions may change the options of the MCP SDK's server before it is made, for programs that add features of
	// their own (completion, subscriptions); see also Server.SDK. May be nil.
	SDKOptions func(*sdk.ServerOptions)
}

// Root is a workspace root, for the instructions.
type Root struct{ Name, Path string }

// Client is what is known about the client of a call.
type Client struct {
	Name     string // as it calls itself
	Version  string
	Protocol string // revision of the protocol, "2025-06-18"
}

// Origin says where a call comes from.
type Origin struct {
	Client    Client
	SessionID string // of the older era over HTTP, else ""
	Principal string // who holds the token, or "" (stdio, no authentication)
	Endpoint  string // path of the HTTP endpoint; "" for stdio
}

func (c *Config) complete() error {
	if c.Name == "" {
		c.Name = "tackle"
	}
	if len(c.Name) > 16 {
		return fmt.Errorf("mcp: server name %q: want at most 16 bytes, clients prefix tool names with it", c.Name)
	}
	if c.Title == "" {
		c.Title = "Tackle"
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Bounds == nil {
		c.Bounds = BoundsFor
	}
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&c.Budget, DefaultBudget}, {&c.Retention, DefaultRetention}, {&c.AskTime, DefaultAskTime}, {&c.TaskAfter, DefaultTaskAfter}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if c.Retention < 0 || c.AskTime < 0 || c.TaskAfter < 0 || c.InFlight < 0 {
		return fmt.Errorf("mcp: retention %v, ask time %v, task after %v and in-flight %d must not be negative", c.Retention, c.AskTime, c.TaskAfter, c.InFlight)
	}
	if c.InFlight == 0 {
		c.InFlight = DefaultInFlight
	}
	if n := len(c.StateKey); n != 0 && n < 32 {
		return fmt.Errorf("mcp: state key of %d bytes: want 32", n)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
