// Package provider opens a model by a name of the form PROVIDER/NAME.
//
// A provider is one of those that are known (openai, anthropic, gemini, ollama, and services and local servers that speak like
// OpenAI's) or an endpoint that a configuration names. Keys come from the environment and from nowhere else; an endpoint's configuration
// only refers to them.
package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/anthropic"
	"github.com/tackle-dev/tackle/model/gemini"
	"github.com/tackle-dev/tackle/model/ollama"
	"github.com/tackle-dev/tackle/model/openai"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// Endpoint is a place that serves models.
type Endpoint struct {
	API     string // chat, responses, anthropic, gemini or ollama; default chat
	URL     string // default: that of the provider whose API it is
	Key     tool.Secret
	KeyName string // the variable that holds the key, for messages
	// Needs says that a key must be there before anything is asked.
	Needs  bool
	Window int // tokens; 0: as the adapter knows
	Output int
	// What its models take, beside what the adapter knows by their names.
	Images, Files, Audio bool
}

// apis are the values of Endpoint.API.
var apis = []string{"chat", "responses", "anthropic", "gemini", "ollama"}

// known says where the known providers are and which variables speak of them.
var known = map[string]struct {
	api     string
	keys    []string // the first that is set counts
	address string   // variable that holds another address
	needs   bool     // a key, at its own address
	url     string   // default: that of the API
}{
	"openai":    {"", []string{"OPENAI_API_KEY"}, "OPENAI_BASE_URL", true, ""},
	"anthropic": {"anthropic", []string{"ANTHROPIC_API_KEY"}, "ANTHROPIC_BASE_URL", true, ""},
	"gemini":    {"gemini", []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, "GEMINI_BASE_URL", true, ""},
	"ollama":    {"ollama", []string{"OLLAMA_API_KEY"}, "OLLAMA_HOST", false, ""},

	// Those that speak the chat completions of OpenAI.
	"cerebras":   {"chat", []string{"CEREBRAS_API_KEY"}, "", true, "https://api.cerebras.ai/v1"},
	"deepseek":   {"chat", []string{"DEEPSEEK_API_KEY"}, "", true, "https://api.deepseek.com/v1"},
	"groq":       {"chat", []string{"GROQ_API_KEY"}, "", true, "https://api.groq.com/openai/v1"},
	"mistral":    {"chat", []string{"MISTRAL_API_KEY"}, "", true, "https://api.mistral.ai/v1"},
	"moonshot":   {"chat", []string{"MOONSHOT_API_KEY"}, "", true, "https://api.moonshot.ai/v1"},
	"openrouter": {"chat", []string{"OPENROUTER_API_KEY"}, "", true, "https://openrouter.ai/api/v1"},
	"together":   {"chat", []string{"TOGETHER_API_KEY"}, "", true, "https://api.together.xyz/v1"},
	"xai":        {"chat", []string{"XAI_API_KEY"}, "", true, "https://api.x.ai/v1"},
	"llamacpp":   {"chat", []string{"LLAMACPP_API_KEY"}, "LLAMACPP_BASE_URL", false, "http://localhost:8080/v1"},
	"lmstudio":   {"chat", []string{"LMSTUDIO_API_KEY"}, "LMSTUDIO_BASE_URL", false, "http://localhost:1234/v1"},
	"vllm":       {"chat", []string{"VLLM_API_KEY"}, "VLLM_BASE_URL", false, "http://localhost:8000/v1"},
}

// Names returns the names of the known providers.
func Names() []string { return slices.Sorted(maps.Keys(known)) }

// Keys returns the keys that the environment holds for known providers, whichever is used.
func Keys(env func(name string) (string, bool)) []tool.Secret {
	var out []tool.Secret
	for _, who := range Names() {
		for _, name := range known[who].keys {
			if v, _ := env(name); strings.TrimSpace(v) != "" {
				out = append(out, tool.NewSecret(strings.TrimSpace(v)))
			}
		}
	}
	return out
}

// ErrNoKey is wrapped by the error for a model whose key is missing.
var ErrNoKey = errors.New("no key")

// Options say where models are.
type Options struct {
	Endpoints map[string]Endpoint              // by name; one of a known name counts instead of it
	Env       func(name string) (string, bool) // os.LookupEnv
}

// Open opens the model of a name. It makes no request. The error says what to set or to write instead.
func Open(name string, o Options) (model.Model, error) {
	who, which, ok := strings.Cut(name, "/")
	if !ok || who == "" || which == "" {
		return nil, fmt.Errorf("the model %q is not of the form PROVIDER/NAME%s; providers are %s", name, guess(name), strings.Join(o.names(), ", "))
	}
	e, err := o.endpoint(who)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	if e.Needs && e.Key.IsZero() {
		return nil, fmt.Errorf("model %s: %w: set %s in the environment to the key of %s", name, ErrNoKey, e.KeyName, who)
	}
	m, err := e.open(who, which)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	return m, nil
}

// guess says whose a model is whose name tells it.
func guess(name string) string {
	for _, g := range []struct{ prefix, who string }{{"claude-", "anthropic"}, {"gemini-", "gemini"}, {"gpt-", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"codex", "openai"}} {
		if strings.HasPrefix(name, g.prefix) {
			return fmt.Sprintf(": did you mean %s/%s?", g.who, name)
		}
	}
	return ""
}

func (o Options) names() []string {
	out := Names()
	for _, n := range slices.Sorted(maps.Keys(o.Endpoints)) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func (o Options) env(name string) string {
	if o.Env == nil {
		return ""
	}
	v, _ := o.Env(name)
	return strings.TrimSpace(v)
}

func (o Options) endpoint(who string) (Endpoint, error) {
	if e, ok := o.Endpoints[who]; ok {
		if e.API == "" {
			e.API = "chat"
		}
		if !slices.Contains(apis, e.API) {
			return e, fmt.Errorf("providers.%s.api: %q is none of %s", who, e.API, strings.Join(apis, ", "))
		}
		if e.URL == "" && (e.API == "chat" || e.API == "responses") && who != "openai" {
			return e, fmt.Errorf("providers.%s.url: an endpoint that speaks %s needs its address", who, e.API)
		}
		return e, nil
	}
	k, ok := known[who]
	if !ok {
		hint := ""
		if near := schema.Nearest(who, o.names()); near != "" {
			hint = fmt.Sprintf("; did you mean %s?", near)
		}
		return Endpoint{}, fmt.Errorf("no provider is named %q%s; known are %s, and others are named under providers in your configuration", who, hint, strings.Join(o.names(), ", "))
	}
	e := Endpoint{API: k.api, URL: k.url, KeyName: k.keys[0], Needs: k.needs}
	if k.address != "" {
		if v := o.env(k.address); v != "" { // a server of one's own may want no key
			e.URL, e.Needs = v, false
		}
	}
	for _, name := range k.keys {
		if v := o.env(name); v != "" {
			e.Key, e.KeyName = tool.NewSecret(v), name
			break
		}
	}
	return e, nil
}

func (e *Endpoint) open(who, which string) (model.Model, error) {
	info := model.Info{Window: e.Window, Output: e.Output, Images: e.Images, Files: e.Files, Audio: e.Audio}
	key := e.Key.Reveal()
	switch e.API {
	case "anthropic":
		return anthropic.New(anthropic.Options{Model: which, Key: key, KeyName: e.KeyName, BaseURL: e.URL, Provider: who, Info: info})
	case "gemini":
		return gemini.New(gemini.Options{Model: which, Key: key, KeyName: e.KeyName, BaseURL: e.URL, Provider: who, Info: info})
	case "ollama":
		return ollama.New(ollama.Options{Model: which, Key: key, KeyName: e.KeyName, BaseURL: e.URL, Provider: who, Info: info})
	}
	return openai.New(openai.Options{Model: which, Key: key, KeyName: e.KeyName, BaseURL: e.URL, API: openai.API(e.API), Provider: who, Info: info})
}
