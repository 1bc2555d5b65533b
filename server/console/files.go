package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"time"
)

//go:embed assets
var assets embed.FS

// files serves the scripts and styles. The address of a file holds a digest of all, so browsers keep them for good.
type files struct {
	version string
	content map[string][]byte
}

func loadFiles() (*files, error) {
	f := &files{content: map[string][]byte{}}
	entries, err := assets.ReadDir("assets")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, e := range entries {
		b, err := assets.ReadFile("assets/" + e.Name())
		if err != nil {
			return nil, err
		}
		f.content[e.Name()] = b
		sum.Write(b)
	}
	f.version = hex.EncodeToString(sum.Sum(nil))[:12]
	return f, nil
}

// url returns the address of a file.
func (f *files) url(name string) string { return AssetPath + f.version + "/" + name }

// types are the media types of the files: those of the machine are not asked.
var types = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8"}

// ServeHTTP implements http.Handler.
func (f *files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	b, ok := f.content[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	kind, ok := types[path.Ext(name)]
	if !ok {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	if r.PathValue("version") != f.version { // of another version of the program
		h.Set("Cache-Control", "no-cache")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}
