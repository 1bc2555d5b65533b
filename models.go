package tackle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/provider"
	"github.com/tackle-dev/tackle/model/script"
	"github.com/tackle-dev/tackle/tool"
)

// ErrNoModel says that nothing names a model.
var ErrNoModel = errors.New("no model is chosen: name one as PROVIDER/NAME with --model, in the variable TACKLE_MODEL, or as model in your configuration; providers are " +
	strings.Join(provider.Names(), ", ") + " and those of your configuration")

// ErrNoKey is wrapped by the errors of models whose key is missing.
var ErrNoKey = provider.ErrNoKey

// ModelName says which model is meant: the named one, else that of the environment, of the mode, of the files. Errors: ErrNoModel.
func (b *Box) ModelName(named, mode string) (string, error) {
	m, err := b.Mode(mode)
	if err != nil {
		return "", err
	}
	configured := b.merged.Config.Model
	if l := b.merged.Origins["model"].Layer; l == config.LayerEnvironment || l == config.LayerFlags {
		m.Model = ""
	}
	for _, name := range []string{named, m.Model, configured} {
		if name != "" {
			return name, nil
		}
	}
	return "", ErrNoModel
}

// Model opens a model by its name, PROVIDER/NAME, without a request: of a known provider, whose key stands in its variable of the
// environment, or of an endpoint of the configuration. "script/FILE" plays the answers of a file.
func (b *Box) Model(name string) (model.Model, error) {
	if file, ok := strings.CutPrefix(name, "script/"); ok {
		if !filepath.IsAbs(file) {
			file = filepath.Join(b.cfg.Dir, file)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", name, err)
		}
		return script.Parse(file, data)
	}
	o := provider.Options{Env: os.LookupEnv, Endpoints: map[string]provider.Endpoint{}}
	for name, p := range b.merged.Config.Providers {
		o.Endpoints[name] = provider.Endpoint{API: p.API, URL: p.URL, Key: p.Key, KeyName: "the variable of providers." + name + ".key", Window: p.Window, Output: p.Output,
			Images: p.Images, Files: p.Files, Audio: p.Audio}
	}
	return provider.Open(name, o)
}

// modelKeys returns the keys of all models that are known here, so that they are hidden whichever is used.
func (b *Box) modelKeys() []tool.Secret {
	out := provider.Keys(os.LookupEnv)
	for _, p := range b.merged.Config.Providers {
		if !p.Key.IsZero() {
			out = append(out, p.Key)
		}
	}
	return out
}
