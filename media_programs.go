package tackle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tackle-dev/tackle/host/local/confine"
	"github.com/tackle-dev/tackle/host/local/scratch"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/ext"
	"github.com/tackle-dev/tackle/media/forge/programs"
)

// mediaPrograms makes the finder of programs that serve as engines for media. It starts none: those that worked the last time
// and have not changed are there at once, others are tried at the first use of media.
func (b *Box) mediaPrograms() *ext.Finder {
	conf := &b.merged.Config.Media
	cfg := ext.Config{
		Folder: func() (ext.Folder, error) { return scratch.New(filepath.Join(b.cfg.StateDir, "work")) },
		Look:   b.machineProgram,
		Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
		Stamp: func(path string) string {
			if info, err := os.Stat(path); err == nil {
				return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
			}
			return ""
		},
		Model: conf.Speech.ModelFile,
	}
	if b.commands.runner != nil && (conf.Programs == nil || *conf.Programs) {
		cfg.Runner = programs.OnHost{Runner: b.commands.runner, Confine: b.confinement()}
	}
	if s := conf.Speech; s.URL != "" {
		cfg.Speech = &ext.Speech{URL: s.URL, Model: s.Model, Key: s.APIKey.Reveal(), Post: postSpeech}
	}
	if raw, err := os.ReadFile(b.knownPrograms()); err == nil {
		_ = json.Unmarshal(raw, &cfg.Known) // what cannot be read is found anew
	}
	return ext.New(cfg)
}

// machineProgram finds a program in the folders of PATH that do not lie in a root: what lies there is the project's.
func (b *Box) machineProgram(name string) string {
	p, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(p) {
		return ""
	}
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return ""
	}
	for _, root := range b.cfg.Roots {
		for _, q := range []string{p, real} {
			if rel, err := filepath.Rel(root, q); err == nil && filepath.IsLocal(rel) {
				return ""
			}
		}
	}
	return p
}

func (b *Box) knownPrograms() string { return filepath.Join(b.cfg.StateDir, "media-programs.json") }

// findMediaPrograms tries the programs and remembers which of them work.
func (b *Box) findMediaPrograms(ctx context.Context) ([]media.Engine, error) {
	engines, err := b.mediaFinder.Engines(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(b.mediaFinder.Known())
	if err == nil {
		tmp := b.knownPrograms() + ".new"
		if err = os.WriteFile(tmp, raw, 0o600); err == nil {
			err = os.Rename(tmp, b.knownPrograms())
		}
	}
	if err != nil { // then they are tried again the next time
		b.logger().Warn("the programs that were found for media cannot be remembered", "err", err)
	}
	return engines, nil
}

// MediaProgram says what is known of a program, or of a service, that can serve as an engine for media.
type MediaProgram = ext.Found

// MediaPrograms tries the programs that serve as engines for media, where that has not been done, and says what was found.
func (b *Box) MediaPrograms(ctx context.Context) ([]MediaProgram, error) {
	if err := b.media.Find(ctx); err != nil {
		return nil, err
	}
	return b.mediaFinder.Find(ctx)
}

// MediaConfinement says, in a sentence for a person, what the programs for media are kept from on this machine.
func (b *Box) MediaConfinement() string { return b.confinement().String() }

func (b *Box) confinement() confine.Holds {
	if b.cfg.Host != nil {
		return confine.Holds{Reason: "the program that opened this host runs them"}
	}
	return confine.Here()
}

// speechTime is how long a speech service may take for one request.
const speechTime = 10 * time.Minute

// postSpeech sends sound to the service that the person's own configuration names. It follows no redirects, which could lead
// the sound, and the key, elsewhere.
func postSpeech(ctx context.Context, url string, header map[string]string, body []byte) (int, []byte, error) {
	ctx, stop := context.WithTimeout(ctx, speechTime)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	return res.StatusCode, answer, err
}
