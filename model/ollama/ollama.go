// Package ollama asks the models that an Ollama server runs, over its own interface /api/chat.
//
// The interface for OpenAI's clients, which the server has too, cannot set the window, and a window that is too small makes the
// server forget the beginning of a conversation without a word. This adapter sets the window that Options.Info names, and asks for
// an error instead. It speaks over net/http: the project's own client reads keys from the home directory, drops what a
// refusal says about waiting, and takes a stream that was cut for a whole one (docs/decisions.md).
package ollama

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
	Model    string
	Key      string            // sent as a bearer token; a server of one's own wants none
	KeyName  string            // the variable that holds the key, for messages; default "OLLAMA_API_KEY"
	BaseURL  string            // with or without "http://"; default "http://localhost:11434"
	Provider string            // the name in Info and in errors; default "ollama"
	Idle     time.Duration     // how long nothing may come before a stream counts as stalled, the loading of the model included; default 5 minutes
	Base     http.RoundTripper // default http.DefaultTransport

	// Info is what is known of the model: its window, which is asked for; that it takes pictures, where its name does not tell. The
	// default window is [DefaultWindow].
	Info model.Info
}

// DefaultWindow is the window that is asked for where none is configured, in tokens. The server's own default can be 4096, which does
// not hold the tools of an agent; a model that has less than what is asked for gets what it has. A window costs memory with the
// model: 32,768 tokens are 4 to 5 GB for one of 8 billion parameters.
const DefaultWindow = 32_768

// DefaultURL is where a server on this machine listens.
const DefaultURL = "http://localhost:11434"

// Model is a model.Model. It is safe for concurrent use.
type Model struct {
	info      model.Info
	address   string
	key       string
	transport *wire.Transport
	client    *http.Client
	schemas   fit.Schemas
	plain     atomic.Bool // the server said that this model does not think
}

var suffix = wire.NewPattern(`/(api|v1)/?$`)

// New returns the model of o. It makes no request.
func New(o Options) (*Model, error) {
	if o.Model == "" {
		return nil, errors.New("ollama: Options.Model is empty: name a model")
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	if !strings.Contains(o.BaseURL, "://") {
		o.BaseURL = "http://" + o.BaseURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("ollama: base URL %q is no http or https address", o.BaseURL)
	}
	u.Path = suffix().ReplaceAllString(u.Path, "")
	if o.KeyName == "" {
		o.KeyName = "OLLAMA_API_KEY"
	}
	if o.Provider == "" {
		o.Provider = "ollama"
	}
	m := &Model{address: u.JoinPath("api/chat").String(), key: o.Key, schemas: fit.Schemas{Profile: schema.Ollama},
		info: fit.Info(model.Info{Provider: o.Provider, Name: o.Model, Window: DefaultWindow, Images: sees(o.Model)}, o.Info),
	}
	m.info.Files, m.info.Audio = false, false // the format has no place for them
	m.transport = &wire.Transport{Provider: m.info.Provider, Key: o.Key, KeyName: o.KeyName, Idle: o.Idle, Base: o.Base}
	m.client = m.transport.Client()
	return m, nil
}

var sight = wire.NewPattern(`(?i)llava|bakllava|vision|moondream|minicpm-v|gemma3|gemma4|-?vl\b|vl[:.-]|llama4|mistral-small3\.[12]|granite3\.2-vision|internvl|pixtral`)

// sees reports whether a model takes pictures, as far as its name tells.
func sees(name string) bool {
	return sight.MatchString(name) && !strings.Contains(name, "gemma3:270m") && !strings.Contains(name, "gemma3:1b")
}

// Info is described at model.Model.
func (m *Model) Info() model.Info { return m.info }

// Stream is described at model.Model. The service cannot be told that tools must or must not be called: at None it gets no tools, and
// Required is not said. An effort is left out from the second request on where the server refuses it with the first: then one
// call of Stream makes two requests.
func (m *Model) Stream(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
	ctx, cancel := context.WithCancel(ctx) // a listener that fails ends the request
	defer cancel()
	c := collector{Builder: wire.Builder{On: on}, model: m, names: fit.NewNames(words, req.Tools)}
	err := m.ask(ctx, req, &c)
	if m.thoughtless(req, err) {
		m.plain.Store(true)
		err = m.ask(ctx, req, &c)
	}
	answer := c.Done()
	for _, b := range answer.Message.Blocks {
		if b.Reasoning != nil {
			b.Reasoning.Provider = m.info.Provider
		}
	}
	if err == nil {
		return answer, nil
	}
	if c.heard != nil {
		return answer, c.heard
	}
	e := m.transport.Error(ctx, err)
	if e.Class == model.TooLong {
		e.Message += fmt.Sprintf(", or configure more than the %d tokens that are asked for now", m.info.Window)
	}
	return answer, e
}

// thoughtless reports whether the server refused a request only because its model does not think.
func (m *Model) thoughtless(req model.Request, err error) bool {
	var e *model.Error
	return !m.plain.Load() && errors.As(err, &e) && e.Status == http.StatusBadRequest && m.think(req.Effort) != nil &&
		(strings.Contains(e.Message, "does not support thinking") || strings.Contains(e.Message, "think value"))
}

func (m *Model) ask(ctx context.Context, req model.Request, c *collector) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(m.request(req, c.names)); err != nil {
		return m.transport.Unsendable(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.address, &body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson")
	if m.key != "" {
		r.Header.Set("Authorization", "Bearer "+m.key)
	}
	res, err := m.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := wire.Lines(res.Body, c.line); err != nil && !errors.Is(err, errEnd) {
		return err
	}
	if !c.ended {
		return m.transport.Cut()
	}
	return nil
}

// collector makes an answer of the lines of a stream.
type collector struct {
	wire.Builder
	model *Model
	names *fit.Names
	heard error // of the listener
	ended bool
}

var errEnd = errors.New("end of the answer")

func (c *collector) line(data []byte) error {
	var x line
	if err := json.Unmarshal(data, &x); err != nil {
		return c.model.transport.Strange(fmt.Errorf("a line is no JSON: %w", err))
	}
	if x.Error != "" {
		return c.model.transport.Refusal(0, data)
	}
	if x.Model != "" {
		c.Answer.Model = x.Model
	}
	if c.heard = c.said(x.Message); c.heard != nil {
		return c.heard
	}
	if !x.Done {
		return nil
	}
	c.ended = true
	c.Answer.Usage = model.Usage{Input: x.Prompt, Output: x.Answer}
	switch {
	case x.Reason == "length":
		c.Answer.Stop = model.Length
	case c.Calls() > 0:
		c.Answer.Stop = model.Calls
	default:
		c.Answer.Stop = model.End
	}
	return errEnd
}

func (c *collector) said(m message) error {
	if err := c.Reasoning(m.Thinking); err != nil {
		return err
	}
	if err := c.Text(m.Content); err != nil {
		return err
	}
	for _, x := range m.Calls {
		call := model.Call{ID: x.ID, Name: c.names.Own(x.Function.Name)}
		if call.ID == "" {
			call.ID = wire.ID()
		}
		wire.Arguments(&call, wire.ArgumentText(x.Function.Arguments))
		if err := c.Call(call); err != nil {
			return err
		}
	}
	return nil
}
