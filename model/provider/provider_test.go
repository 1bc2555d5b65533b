package provider

import (
	"errors"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/tool"
)

func env(pairs ...string) func(string) (string, bool) {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

// A2: each provider is opened by its name, with the key of its variable.
func TestA2_Open(t *testing.T) {
	o := Options{Env: env("OPENAI_API_KEY", "k1", "ANTHROPIC_API_KEY", " k2\n", "GOOGLE_API_KEY", "k3", "GROQ_API_KEY", "k5"),
		Endpoints: map[string]Endpoint{"here": {URL: "http://localhost:8000/v1", Key: tool.NewSecret("k4"), Window: 1000}, "mine": {API: "anthropic", URL: "https://models.example"}}}
	for name, want := range map[string]struct {
		info model.Info
	}{
		"openai/a":    {model.Info{Provider: "openai", Name: "a"}},
		"anthropic/b": {model.Info{Provider: "anthropic", Name: "b"}},
		"gemini/c":    {model.Info{Provider: "gemini", Name: "c"}},
		"ollama/d/e":  {model.Info{Provider: "ollama", Name: "d/e"}},
		"vllm/h":      {model.Info{Provider: "vllm", Name: "h"}},
		"groq/i/j":    {model.Info{Provider: "groq", Name: "i/j"}},
		"here/org/f":  {model.Info{Provider: "here", Name: "org/f", Window: 1000}},
		"mine/g":      {model.Info{Provider: "mine", Name: "g"}},
	} {
		m, err := Open(name, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := m.Info()
		if got.Provider != want.info.Provider || got.Name != want.info.Name || want.info.Window != 0 && got.Window != want.info.Window {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestKeys(t *testing.T) {
	keys := Keys(env("OPENAI_API_KEY", "k1", "GOOGLE_API_KEY", " k3\n", "GEMINI_API_KEY", "k2", "ANTHROPIC_API_KEY", " "))
	var got []string
	for _, k := range keys {
		got = append(got, k.Reveal())
	}
	if strings.Join(got, " ") != "k2 k3 k1" {
		t.Errorf("%q", got)
	}
}

// Every mistake says what to do instead, and holds no key.
func TestOpenMistakes(t *testing.T) {
	o := Options{Env: env("OPENAI_API_KEY", "", "ANTHROPIC_API_KEY", "canary"), Endpoints: map[string]Endpoint{"odd": {API: "soap", Key: tool.NewSecret("canary")}, "lost": {}}}
	for name, want := range map[string]string{
		"openai/a":   "set OPENAI_API_KEY in the environment",
		"gemini/a":   "set GEMINI_API_KEY in the environment",
		"gpt":        `"gpt" is not of the form PROVIDER/NAME; providers are anthropic, cerebras,`,
		"/x":         "not of the form",
		"claude-x":   "PROVIDER/NAME: did you mean anthropic/claude-x?",
		"xai/a":      "set XAI_API_KEY in the environment",
		"antropic/x": "did you mean anthropic?",
		"odd/x":      `providers.odd.api: "soap" is none of chat`,
		"lost/x":     "providers.lost.url: an endpoint that speaks chat needs its address",
	} {
		_, err := Open(name, o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if errors.Is(err, ErrNoKey) != strings.Contains(want, "set ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An address of one's own may want no key.
func TestOpenElsewhere(t *testing.T) {
	m, err := Open("openai/a", Options{Env: env("OPENAI_BASE_URL", "http://localhost:9/v1")})
	if err != nil || m.Info().Name != "a" || m.Info().Images {
		t.Errorf("%v", err)
	}
	o := Options{Endpoints: map[string]Endpoint{"here": {URL: "http://localhost:9/v1", Images: true, Files: true}}}
	if m, err = Open("here/a", o); err != nil || !m.Info().Images || !m.Info().Files || m.Info().Audio {
		t.Errorf("%v", err)
	}
}
