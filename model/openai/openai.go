// Package openai asks the models of OpenAI, over chat completions or the responses API, and those behind any endpoint that speaks one
// of these, of which there are many: local servers, routers, other providers.
//
// OpenAI itself is asked over the responses API, through the official client, without storing anything there: reasoning comes back
// encrypted and goes with the conversation. Other endpoints are asked over chat completions, read by the official client's reader of
// events into structures of our own, because what those endpoints send differs from the official types in ways that are listed at the
// type delta. The client's own retries and its environment variables are off: key and address come from Options and from nowhere else.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
	"github.com/tackle-dev/tackle/schema"
)

// API is one of the two ways to ask.
type API string

// The ways.
const (
	Chat      API = "chat"      // chat completions
	Responses API = "responses" // the responses API
)

// Options say which model to ask, and where. Model is needed; everything else has a default.
type Options struct {
	Model    string
	Key      string            // sent as a bearer token; may be empty where an endpoint wants none
	KeyName  string            // the variable that holds the key, for messages; default "OPENAI_API_KEY"
	BaseURL  string            // with its version; default "https://api.openai.com/v1"
	API      API               // default Responses for OpenAI and Azure, Chat for other endpoints
	Provider string            // the name in Info and in errors; default "openai"
	Idle     time.Duration     // how long nothing may come before a stream counts as stalled; default 5 minutes
	Base     http.RoundTripper // default http.DefaultTransport
	Info     model.Info        // what is known better than by the adapter: fields that are not zero count
	// Official says that the endpoint knows all that OpenAI's own knows, such as a key for its prompt cache. It is so for the hosts
	// of OpenAI and Azure in any case; others may refuse what they do not know.
	Official bool
}

// DefaultURL is where the provider serves.
const DefaultURL = "https://api.openai.com/v1"

// Model is a model.Model. It is safe for concurrent use.
type Model struct {
	info      model.Info
	traits    traits
	api       API
	official  bool
	base, key string
	transport *wire.Transport
	http      *http.Client
	responses responses.ResponseService
	schemas   fit.Schemas
	refused   atomic.Uint32 // fields, see learn
}

// New returns the model of o. It makes no request.
func New(o Options) (*Model, error) {
	if o.Model == "" {
		return nil, errors.New("openai: Options.Model is empty: name a model")
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("openai: base URL %q is no http or https address", o.BaseURL)
	}
	if o.KeyName == "" {
		o.KeyName = "OPENAI_API_KEY"
	}
	if o.Provider == "" {
		o.Provider = "openai"
	}
	m := &Model{official: o.Official || isOfficial(u.Hostname()), api: o.API, key: o.Key,
		base: strings.TrimRight(o.BaseURL, "/"), schemas: fit.Schemas{Profile: schema.OpenAI}}
	switch m.api {
	case Chat, Responses:
	case "":
		m.api = Chat
		if m.official {
			m.api = Responses
		}
	default:
		return nil, fmt.Errorf("openai: API %q: want %q or %q", o.API, Chat, Responses)
	}
	m.traits = traitsOf(o.Model, m.official)
	m.info = fit.Info(model.Info{Provider: o.Provider, Name: o.Model, Window: m.traits.window, Output: m.traits.output,
		Images: m.traits.images, Files: m.traits.files, Price: m.traits.price}, o.Info)
	m.transport = &wire.Transport{Provider: m.info.Provider, Key: o.Key, KeyName: o.KeyName, Idle: o.Idle, Base: o.Base}
	m.http = m.transport.Client()
	m.responses = responses.NewResponseService(
		option.WithHTTPClient(m.http),
		option.WithBaseURL(m.base+"/"),
		option.WithMaxRetries(0),
	)
	if m.key != "" {
		m.responses.Options = append(m.responses.Options, option.WithAPIKey(m.key))
	}
	return m, nil
}

func isOfficial(host string) bool {
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com") || strings.HasSuffix(host, ".openai.azure.com") || strings.HasSuffix(host, ".services.ai.azure.com")
}

// Info is described at model.Model.
func (m *Model) Info() model.Info { return m.info }

// Stream is described at model.Model. A field that an endpoint refuses by its name is left out, see learn. The temperature is not sent to models of OpenAI that reason, unless they are told not to: they
// refuse it.
func (m *Model) Stream(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
	inner, cancel := context.WithCancel(ctx) // a listener that fails ends the request
	defer cancel()
	b := &builder{Builder: wire.Builder{On: on}}
	ask := m.askChat
	if m.api == Responses {
		ask = m.askResponses
	}
	err := ask(inner, req, b)
	for err != nil && b.heard == nil && m.learn(err) {
		err = ask(inner, req, b)
	}
	answer := b.Done()
	switch {
	case b.heard != nil:
		return answer, b.heard
	case err != nil:
		return answer, m.transport.Error(ctx, err)
	}
	return answer, nil
}

// builder keeps errors of the listener apart.
type builder struct {
	wire.Builder
	heard error
}

// pass hands on, and remembers what the listener said. Its error only says that it is over.
func (b *builder) pass(err error) error {
	if err != nil {
		b.heard = err
	}
	return err
}

// stop sets why an answer ended, in the words of package model.
func (b *builder) stop(s model.Stop) {
	if s == model.End && b.Calls() > 0 {
		s = model.Calls
	}
	b.Answer.Stop = s
}
