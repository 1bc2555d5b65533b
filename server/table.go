package server

import (
	"context"
	"net/http"

	"github.com/tackle-dev/tackle/server/internal/core"
)

// Parameters of paths.
type (
	noQuery   struct{}
	sessionID struct {
		Session string `json:"session" jsonschema:"id of the session"`
	}
	callID struct {
		Session string `json:"session" jsonschema:"id of the session"`
		Call    string `json:"call" jsonschema:"id of the call"`
	}
	askID struct {
		Ask string `json:"ask" jsonschema:"id of the ask"`
	}
	artifactID struct {
		Artifact string `json:"artifact" jsonschema:"id of the artifact"`
	}
	toolName struct {
		Tool string `json:"tool" jsonschema:"name of the tool"`
		Mode string `json:"mode,omitempty" jsonschema:"default: the mode of the box"`
	}
	mode struct {
		Mode string `json:"mode,omitempty" jsonschema:"default: the mode of the box"`
	}
	limit struct {
		Limit int `json:"limit,omitempty" jsonschema:"at most so many; default 50, most 500"`
	}
)

// table lists the operations of the API.
func (s *Server) table() []route {
	c := s.core
	out := []route{
		read("/api/info", "info", "server", "What runs here", func(ctx context.Context, _ noQuery) (core.Info, error) { return c.Info(ctx) }),
		{method: http.MethodGet, path: "/api/me", id: "me", about: "server", summary: "Who asks", role: "", out: typeOf[Identity](), serve: s.me},

		read("/api/sessions", "sessions", "sessions", "Sessions, the most recently used first", c.Sessions),
		read("/api/sessions/{session}", "session", "sessions", "One session", func(ctx context.Context, q sessionID) (core.Session, error) { return c.Session(ctx, q.Session) }),
		read("/api/sessions/{session}/calls", "calls", "calls", "Calls of a session, oldest first: the newest page, unless after or before say otherwise", c.Calls),
		read("/api/sessions/{session}/calls/{call}", "call", "calls", "One call whole: arguments, intent, decisions, asks, result",
			func(ctx context.Context, q callID) (core.CallDetail, error) {
				return c.CallByID(ctx, q.Session, q.Call)
			}),
		read("/api/sessions/{session}/dryrun", "dryrun", "rules", "What the policy of now would say to the calls of a session; nothing runs",
			func(ctx context.Context, q sessionID) (core.DryRun, error) { return c.DryRun(ctx, q.Session) }),
		read("/api/calls", "recent", "calls", "The newest calls over all sessions, newest first", func(ctx context.Context, q limit) (core.Calls, error) { return c.Recent(ctx, q.Limit) }),
		s.calling(),

		read("/api/tools", "tools", "tools", "The tools that models see in a mode", func(_ context.Context, q mode) (core.Tools, error) { return c.Tools(q.Mode) }),
		read("/api/tools/{tool}", "tool", "tools", "One tool", func(_ context.Context, q toolName) (core.Tool, error) { return c.Tool(q.Tool, q.Mode) }),

		read("/api/asks", "asks", "asks", "What waits for a person, oldest first, and tickets of calls that have ended", func(ctx context.Context, _ noQuery) (core.Asks, error) { return c.Asks(ctx) }),
		read("/api/asks/{ask}", "ask", "asks", "One ask", func(ctx context.Context, q askID) (core.Ask, error) { return c.Ask(ctx, q.Ask) }),
		act(http.MethodPost, "/api/asks/{ask}/answer", "answer", "asks", "Answer an ask; the first answer wins", Approver,
			func(r *http.Request, who Identity, b core.Answer) (core.Answered, error) {
				return c.Answer(r.Context(), who, r.PathValue("ask"), b)
			}),

		read("/api/changes", "changes", "changes", "Committed changes, newest first", c.Changes),
		act(http.MethodPost, "/api/undo", "undo", "changes", "Take changes back, or show what that would do", Approver,
			func(r *http.Request, who Identity, b core.UndoInput) (core.Tried, error) {
				return c.Undo(r.Context(), who, b)
			}),

		read("/api/artifacts", "artifacts", "artifacts", "Outputs that were too long to show, newest first", c.Artifacts),
		read("/api/media", "media", "artifacts", "Artifacts that are pictures, sound, film or PDF", func(ctx context.Context, q core.ArtifactQuery) (core.Artifacts, error) {
			q.Media = true
			return c.Artifacts(ctx, q)
		}),
		read("/api/artifacts/{artifact}", "artifact", "artifacts", "One artifact", func(ctx context.Context, q artifactID) (core.Artifact, error) { return c.Artifact(ctx, q.Artifact) }),
		{method: http.MethodGet, path: "/api/artifacts/{artifact}/content", id: "content", about: "artifacts", summary: "Its bytes, always as a download or as a picture, never as a page",
			role: Viewer, query: typeOf[artifactID](), media: "application/octet-stream", serve: s.content},

		read("/api/rules", "rules", "rules", "The policy in force: posture, rules, grants", func(ctx context.Context, _ noQuery) (core.Rules, error) { return c.Rules(ctx) }),
		act(http.MethodPost, "/api/why", "why", "rules", "Why a tool is visible or not, and what a call would get", Viewer,
			func(r *http.Request, _ Identity, b core.WhyInput) (core.Why, error) { return c.Why(r.Context(), b) }),
		act(http.MethodPost, "/api/policy/reload", "reload", "rules", "Read the person's configuration again", Admin,
			func(r *http.Request, who Identity, _ none) (core.Rules, error) { return c.Reload(r.Context(), who) }),
		act(http.MethodDelete, "/api/grants/{grant}", "revokeGrant", "rules", "Take a grant back", Admin,
			func(r *http.Request, who Identity, _ none) (Done, error) {
				return Done{true}, c.Revoke(r.Context(), who, r.PathValue("grant"))
			}),

		read("/api/ledger", "ledger", "ledger", "Entries of the ledger, oldest first: the newest page, unless after or before say otherwise", c.Ledger),
		read("/api/ledger/verify", "verify", "ledger", "Whether the ledger is whole", func(ctx context.Context, _ noQuery) (core.Verified, error) { return c.VerifyLedger(ctx) }),
		{method: http.MethodGet, path: "/api/ledger/export", id: "export", about: "ledger", summary: "The ledger as JSON lines, each exactly as it is stored",
			role: Viewer, query: typeOf[exportQuery](), media: "application/x-ndjson", serve: s.export},

		read("/api/usage", "usage", "usage", "Calls, failures, durations, bytes and asks over time", c.Usage),
		{method: http.MethodGet, path: "/api/events", id: "events", about: "events", summary: "What happens, as server-sent events; Last-Event-ID goes on behind an event",
			role: Viewer, query: typeOf[eventsQuery](), media: "text/event-stream", serve: s.events},
		{method: http.MethodGet, path: "/metrics", id: "metrics", about: "usage", summary: "Figures in the text format of Prometheus", role: Viewer, media: metricsType, serve: s.serveMetrics},
		{method: http.MethodGet, path: "/api/openapi.json", id: "openapi", about: "server", summary: "This description", role: Viewer, out: typeOf[map[string]any](), serve: s.openapi},
	}
	return append(append(out, s.mediaRoutes()...), s.administration()...)
}

// calling is the operation that makes a call. It may wait for a person, so that only the caller ends it.
func (s *Server) calling() route {
	rt := act(http.MethodPost, "/api/calls", "try", "calls", "Make a call: it takes the road like any other", Agent,
		func(r *http.Request, who Identity, b core.CallInput) (core.Tried, error) {
			return s.core.Try(r.Context(), who, b)
		})
	rt.most = 16 << 20
	return rt
}

type exportQuery struct {
	After int64 `json:"after,omitempty" jsonschema:"behind this number"`
}

type eventsQuery struct {
	After   string `json:"after,omitempty" jsonschema:"behind this id; default: from now on. The header Last-Event-ID counts more"`
	Session string `json:"session,omitempty" jsonschema:"of this session only"`
	Types   string `json:"types,omitempty" jsonschema:"of these types only, separated by commas; default: all but ledger"`
}
