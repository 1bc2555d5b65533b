// Package gemini asks the models of Google's Gemini API.
//
// It speaks generateContent as a stream, over net/http: the provider's own client would bring gRPC and three milliseconds to each
// start of a command that asks no model (docs/decisions.md). The key comes from Options and travels in a header. Caching is the
// provider's, by the beginning of a request, which stays the same from turn to turn. Signatures of thoughts go back on the very
// parts on which they came.
package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
	"github.com/tackle-dev/tackle/schema"
)

// Options say which model to ask, and where. Model is needed; everything else has a default.
type Options struct {
	Model    string            // with or without "models/" before it
	Key      string            // sent as x-goog-api-key; may be empty where an endpoint wants none
	KeyName  string            // the variable that holds the key, for messages; default "GEMINI_API_KEY"
	BaseURL  string            // with or without "/v1beta" at its end; default "https://generativelanguage.googleapis.com"
	Provider string            // the name in Info and in errors; default "gemini"
	Idle     time.Duration     // how long nothing may come before a stream counts as stalled; default 5 minutes
	Base     http.RoundTripper // default http.DefaultTransport
	Info     model.Info        // what is known better than by the adapter: fields that are not zero count
}

// DefaultURL is where the provider serves.
const DefaultURL = "https://generativelanguage.googleapis.com"

// Model is a model.Model. It is safe for concurrent use.
type Model struct {
	info      model.Info
	traits    traits
	address   string
	key       string
	transport *wire.Transport
	client    *http.Client
	schemas   fit.Schemas
	refused   fit.Refused
	plain     atomic.Bool // the model takes no thinkingConfig
}

var versioned = wire.NewPattern(`/v\d+(alpha|beta)?\d*/?$`)

// New returns the model of o. It makes no request.
func New(o Options) (*Model, error) {
	if o.Model == "" {
		return nil, errors.New("gemini: Options.Model is empty: name a model")
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("gemini: base URL %q is no http or https address", o.BaseURL)
	}
	if !versioned.MatchString(u.Path) {
		u = u.JoinPath("v1beta")
	}
	name := o.Model
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	u = u.JoinPath(name + ":streamGenerateContent")
	u.RawQuery = "alt=sse"
	if o.KeyName == "" {
		o.KeyName = "GEMINI_API_KEY"
	}
	if o.Provider == "" {
		o.Provider = "gemini"
	}
	t := traitsOf(o.Model)
	m := &Model{traits: t, address: u.String(), key: o.Key, schemas: fit.Schemas{Profile: schema.GeminiJSONSchema},
		info: fit.Info(model.Info{Provider: o.Provider, Name: o.Model, Window: t.window, Output: t.output, Images: true, Files: true, Audio: true, Price: t.price}, o.Info),
	}
	m.transport = &wire.Transport{Provider: m.info.Provider, Key: o.Key, KeyName: o.KeyName, Idle: o.Idle, Base: o.Base}
	m.client = m.transport.Client()
	return m, nil
}

// Info is described at model.Model.
func (m *Model) Info() model.Info { return m.info }

// Stream is described at model.Model. Models that cannot be kept from thinking think as little as they can at Off. Signatures that the
// provider does not take back, and an effort that the model does not know, are left out from then on, so that a session goes on;
// then one call of Stream makes more than one request.
func (m *Model) Stream(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
	ctx, cancel := context.WithCancel(ctx) // a listener that fails ends the request
	defer cancel()
	c := collector{Builder: wire.Builder{On: on}, model: m, names: fit.NewNames(words, req.Tools)}
	sent, err := m.ask(ctx, req, &c)
	for err != nil && m.learn(err, req, sent) {
		sent, err = m.ask(ctx, req, &c)
	}
	switch {
	case err == nil:
	case c.heard != nil:
		err = c.heard
	default:
		err = m.transport.Error(ctx, err)
	}
	return c.Done(), err
}

// learn remembers what a refusal is about, and reports whether the request can be written in another way now. Nothing was done for
// it, so this is no retry of the kind that the loop's driver decides about.
func (m *Model) learn(err error, req model.Request, sent [][]byte) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest || e.Class != model.Invalid {
		return false
	}
	said := strings.ToLower(e.Message)
	switch {
	case strings.Contains(said, "thought signature"):
		m.refused.Add(sent)
		return len(sent) > 0
	case strings.Contains(said, "thinking") && m.think(req.Effort) != nil:
		m.plain.Store(true)
		return true
	}
	return false
}

// ask returns the opaque forms that it sent.
func (m *Model) ask(ctx context.Context, req model.Request, c *collector) (sent [][]byte, err error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	q, sent := m.request(req, c.names)
	if err := e.Encode(q); err != nil {
		return sent, m.transport.Unsendable(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.address, &body)
	if err != nil {
		return sent, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if m.key != "" {
		r.Header.Set("X-Goog-Api-Key", m.key)
	}
	res, err := m.client.Do(r)
	if err != nil {
		return sent, err
	}
	defer res.Body.Close()
	if err := wire.Events(res.Body, c.chunk); err != nil {
		return sent, err
	}
	return sent, c.finish()
}
