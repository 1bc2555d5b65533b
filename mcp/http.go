package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/mcp/internal/wire"
)

// DefaultSessionTimeout is the default of HTTPConfig.SessionTimeout.
const DefaultSessionTimeout = 30 * time.Minute

// HTTPConfig configures a Handler.
type HTTPConfig struct {
	// Tokens are those that may call; a request carries one as a bearer token.
	Tokens []Token
	// Verify looks up who else may call: it returns the holder of a secret, "" where there is none. An error is a failure of
	// the look-up, and refuses the request. Optional.
	Verify func(ctx context.Context, secret string) (holder string, err error)
	// Open lets everybody call who can reach the address. Without it, no tokens is an error.
	Open bool
	// Hosts are the names, without port, under which the server may be addressed, besides localhost and the loopback
	// addresses. A request for any other name is refused: it may be a web page that rebinds a name of its own.
	Hosts []string
	// Origins are web origins, as browsers send them, whose pages may call besides those of the server's own host.
	// No answer carries headers that would let a page of another origin read it.
	Origins []string
	// SessionTimeout ends a session of the older era that is not used; 0 means 30 minutes.
	SessionTimeout time.Duration
	// MaxBody bounds one request's body in bytes; 0 means MaxMessage.
	MaxBody int64
}

// Handler serves each server at its path, both eras at one endpoint. A mode, or another set of roots, is another path:
// the list of tools does not depend on the connection.
//
// Every request passes the checks of Host, Origin and token, in this order, before anything of it is read. A request
// that ends cancels its call in the newer era; in the older one a client may come back for the answer, so it does not.
func Handler(endpoints map[string]*Server, cfg HTTPConfig) (http.Handler, error) {
	if len(endpoints) == 0 {
		return nil, errors.New("mcp: no endpoints")
	}
	if cfg.SessionTimeout == 0 {
		cfg.SessionTimeout = DefaultSessionTimeout
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = MaxMessage
	}
	if cfg.SessionTimeout < 0 || cfg.MaxBody < 0 {
		return nil, fmt.Errorf("mcp: session timeout %v and body limit %d must not be negative", cfg.SessionTimeout, cfg.MaxBody)
	}
	mux := http.NewServeMux()
	for path, s := range endpoints {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "{} ") || s == nil {
			return nil, fmt.Errorf("mcp: endpoint %q: want a path that begins with /, and a server", path)
		}
		pattern := path
		if strings.HasSuffix(path, "/") {
			pattern += "{$}"
		}
		mux.Handle(pattern, s.endpoint(path, &cfg))
	}
	return guarded(&cfg, mux)
}

// endpoint dispatches between the eras. The SDK has one handler for each.
type endpoint struct {
	srv      *Server
	path     string
	maxBody  int64
	timeout  time.Duration // of idle sessions
	sessions http.Handler  // older era
	rounds   http.Handler  // newer era
	clients  clientCache
}

func (s *Server) endpoint(path string, cfg *HTTPConfig) http.Handler {
	get := func(*http.Request) *sdk.Server { return s.sdk }
	// The host is checked by the guard, for every listener and not only for loopback ones.
	opts := sdk.StreamableHTTPOptions{Logger: s.cfg.Log, DisableLocalhostProtection: true, MaxRequestBodyBytes: cfg.MaxBody}
	older, newer := opts, opts
	older.SessionTimeout = cfg.SessionTimeout
	newer.Stateless, newer.PropagateRequestCancellation = true, true
	return &endpoint{srv: s, path: path, maxBody: cfg.MaxBody, timeout: cfg.SessionTimeout,
		sessions: sdk.NewStreamableHTTPHandler(get, &older), rounds: sdk.NewStreamableHTTPHandler(get, &newer)}
}

const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
)

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = r.WithContext(context.WithValue(r.Context(), endpointKey{}, e.path))
	session := r.Header.Get(sessionHeader)
	modern := r.Header.Get(versionHeader) >= modernVersion
	if r.Method != http.MethodPost {
		if r.Method == http.MethodDelete && session != "" {
			e.end(r, session)
		}
		e.pick(modern).ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, e.maxBody))
	if err != nil {
		status := http.StatusBadRequest
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, err.Error(), status)
		return
	}
	frame, err := wire.ParseFrame(body)
	var twice *wire.DuplicateError
	if errors.As(err, &twice) { // the SDK would take the last of the two
		writeJSON(w, http.StatusBadRequest, wire.AppendError(nil, nil, codeInvalid, err.Error(), nil))
		return
	}
	if err == nil && session != "" && !modern && e.inSession(w, r, session, &frame) {
		return
	}
	params, ok := parseCall(frame.Params)
	modern = modern || session == "" && declaresModern(&frame, &params)
	if err == nil && modern && frame.Method == "tools/call" && ok && e.call(w, r, &frame, &params) {
		return
	}
	if err == nil && modern && !taskHeader(r.Header, &frame) {
		writeJSON(w, http.StatusBadRequest, wire.AppendError(nil, frame.ID, sdk.CodeHeaderMismatch, "Mcp-Name must be the taskId of the params", nil))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	e.pick(modern).ServeHTTP(w, r)
}

func (e *endpoint) pick(modern bool) http.Handler {
	if modern {
		return e.rounds
	}
	return e.sessions
}

// declaresModern reports whether a message without the header says in its _meta that it is of the newer era. A client
// that finds out what the server speaks sends it so.
func declaresModern(f *wire.Frame, call *callParams) bool {
	if call.version != "" {
		return call.version >= modernVersion
	}
	if f.Params == nil || f.Params[0] != '{' {
		return false
	}
	var p callParams
	_ = wire.Members(f.Params, func(key string, value []byte) error { // what is wrong with it the SDK will say
		if key == "_meta" {
			return p.parseMeta(value)
		}
		return nil
	})
	return p.version >= modernVersion
}

// taskHeader reports whether a request about a task names it in its header, too, where routers look. The SDK checks the
// headers of every other method.
func taskHeader(h http.Header, f *wire.Frame) bool {
	switch f.Method {
	case "tasks/get", "tasks/update", "tasks/cancel":
	default:
		return true
	}
	if f.Params == nil || f.Params[0] != '{' {
		return true
	}
	id := ""
	_ = wire.Members(f.Params, func(key string, value []byte) error { // what is wrong with it the SDK will say
		if key == "taskId" && value[0] == '"' {
			id = wire.Unquote(value)
		}
		return nil
	})
	return id == "" || h.Get("Mcp-Name") == id
}

// end cancels the calls of a session that its client ends, before the SDK waits for them.
func (e *endpoint) end(r *http.Request, session string) {
	o := Origin{SessionID: session, Principal: principal(r.Context()), Endpoint: e.path}
	e.srv.slots.endAll(e.srv.ownerOf(o), errGone)
}

// principal is the holder of the token, or "".
func principal(ctx context.Context) string {
	if t := auth.TokenInfoFromContext(ctx); t != nil {
		return t.UserID
	}
	return ""
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away reads nothing
}

// acceptsBoth reports whether the headers are those that the transport asks of a client.
func acceptsBoth(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return false
	}
	accept := strings.Join(h.Values("Accept"), ",")
	return strings.Contains(accept, "*/*") || strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}
