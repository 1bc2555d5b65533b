// Package anthropic asks the models of Anthropic, and those behind any endpoint that speaks its Messages format, through the
// official client.
//
// The client's own retries, its environment variables, profiles and telemetry are off: the key and the address come from Options
// and from nowhere else. Requests mark what the provider should keep in its prompt cache: the tools, the system prompt, and the
// conversation up to this turn and up to the last. Signed reasoning goes back unchanged, and only where the provider takes it.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
	"github.com/tackle-dev/tackle/schema"
)

// Options say which model to ask, and where. Model is needed; everything else has a default.
type Options struct {
	Model    string
	Key      string            // sent as x-api-key; may be empty where an endpoint wants none
	KeyName  string            // the variable that holds the key, for messages; default "ANTHROPIC_API_KEY"
	BaseURL  string            // with or without "/v1" at its end; default "https://api.anthropic.com"
	Provider string            // the name in Info and in errors; default "anthropic"
	Idle     time.Duration     // how long nothing may come before a stream counts as stalled; default 5 minutes
	Base     http.RoundTripper // default http.DefaultTransport
	Info     model.Info        // what is known better than by the adapter: fields that are not zero count
}

// DefaultURL is where the provider serves.
const DefaultURL = "https://api.anthropic.com"

// Model is a model.Model. It is safe for concurrent use.
type Model struct {
	info      model.Info
	traits    traits
	transport *wire.Transport
	messages  sdk.MessageService
	schemas   fit.Schemas
	refused   fit.Refused
	without   atomic.Uint32 // knobs, see learn
	most      atomic.Int64  // tokens of an answer, as the provider said; 0: it did not
}

var versioned = wire.NewPattern(`/v\d+/?$`)

// New returns the model of o. It makes no request.
func New(o Options) (*Model, error) {
	if o.Model == "" {
		return nil, errors.New("anthropic: Options.Model is empty: name a model")
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("anthropic: base URL %q is no http or https address", o.BaseURL)
	}
	u.Path = versioned().ReplaceAllString(u.Path, "")
	if o.KeyName == "" {
		o.KeyName = "ANTHROPIC_API_KEY"
	}
	if o.Provider == "" {
		o.Provider = "anthropic"
	}
	t := traitsOf(o.Model)
	m := &Model{traits: t, schemas: fit.Schemas{Profile: schema.Anthropic},
		info: fit.Info(model.Info{Provider: o.Provider, Name: o.Model, Window: t.window, Output: t.output, Images: true, Files: t.files, Price: t.price}, o.Info),
	}
	m.transport = &wire.Transport{Provider: m.info.Provider, Key: o.Key, KeyName: o.KeyName, Idle: o.Idle, Base: o.Base}
	m.messages = sdk.NewMessageService(
		option.WithHTTPClient(m.transport.Client()),
		option.WithBaseURL(u.String()),
		option.WithAPIKey(o.Key),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
	)
	return m, nil
}

// Info is described at model.Model.
func (m *Model) Info() model.Info { return m.info }

// Stream is described at model.Model. The temperature is not sent to models that refuse one, and Required is a wish to those that
// cannot be forced to call a tool. What the provider refuses by its name, or of the reasoning that is sent back, is left out from then on,
// so that a session goes on; then one call of Stream makes more than one request.
func (m *Model) Stream(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
	ctx, cancel := context.WithCancel(ctx) // a listener that fails ends the request
	defer cancel()
	for {
		answer, past, err := m.ask(ctx, req, on)
		if e, ok := err.(*model.Error); !ok || !m.learn(e, past) {
			return answer, err
		}
	}
}

func (m *Model) ask(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, *past, error) {
	params, past := m.params(req)
	c := collector{Builder: wire.Builder{On: on}, transport: m.transport, names: past.names}
	stream := m.messages.NewStreaming(ctx, params)
	err := c.collect(stream)
	_ = stream.Close() // nothing is lost: it was read to its end or is given up
	answer := c.Done()
	past.seal(m.info.Provider, &answer.Message)
	switch {
	case c.heard != nil:
		err = c.heard
	case err != nil:
		err = m.transport.Error(ctx, err)
	}
	return answer, past, err
}
