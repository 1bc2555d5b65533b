package core

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/artifact"
)

// ArtifactQuery selects artifacts, newest first.
type ArtifactQuery struct {
	Session string    `json:"session,omitempty" jsonschema:"of this session only"`
	Media   bool      `json:"media,omitempty" jsonschema:"only pictures, sound, film and PDF"`
	Before  time.Time `json:"before,omitzero" jsonschema:"made before this time: the next page"`
	Limit   int       `json:"limit,omitempty" jsonschema:"at most so many; default 100, most 1000"`
}

// Artifacts is a page of artifacts.
type Artifacts struct {
	Artifacts []Artifact `json:"artifacts"`
	More      bool       `json:"more"`
}

// Artifact is output that was too long to show, or media.
type Artifact struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Name    string    `json:"name"`
	MIME    string    `json:"mime"`
	Media   bool      `json:"media" jsonschema:"a picture, sound, film or PDF"`
	Size    int64     `json:"size"`
	Lines   int64     `json:"lines"`
	Digest  string    `json:"digest" jsonschema:"SHA-256"`
	Created time.Time `json:"created"`
}

func artifactOf(a *artifact.Artifact) Artifact {
	return Artifact{ID: a.ID, Session: a.Session, Name: a.Name, MIME: a.MIME, Media: IsMedia(a.MIME), Size: a.Size, Lines: a.Lines, Digest: a.Digest, Created: a.Created.UTC()}
}

// IsMedia reports whether a media type is something to look at or to listen to. SVG is not: it is a program's text.
func IsMedia(mime string) bool {
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	switch {
	case mime == "image/svg+xml":
		return false
	case mime == "application/pdf":
		return true
	}
	kind, _, _ := strings.Cut(mime, "/")
	return kind == "image" || kind == "audio" || kind == "video"
}

// Artifacts lists artifacts.
func (c *Core) Artifacts(ctx context.Context, q ArtifactQuery) (Artifacts, error) {
	all, err := c.box.ArtifactStore().List(ctx, q.Session)
	if err != nil {
		return Artifacts{}, Mistake(err)
	}
	out := Artifacts{Artifacts: []Artifact{}}
	for i := range all {
		if a := artifactOf(&all[i]); (!q.Media || a.Media) && (q.Before.IsZero() || a.Created.Before(q.Before)) {
			out.Artifacts = append(out.Artifacts, a)
		}
	}
	slices.SortStableFunc(out.Artifacts, func(a, b Artifact) int { return b.Created.Compare(a.Created) })
	if limit := page(q.Limit, 100, 1000); len(out.Artifacts) > limit {
		out.Artifacts, out.More = out.Artifacts[:limit], true
	}
	return out, nil
}

// Artifact describes one. Errors: NotFound.
func (c *Core) Artifact(ctx context.Context, id string) (Artifact, error) {
	a, err := c.box.ArtifactStore().Get(ctx, id)
	if err != nil {
		return Artifact{}, Mistake(err)
	}
	return artifactOf(&a), nil
}

// OpenArtifact opens the bytes of one. Errors: NotFound.
func (c *Core) OpenArtifact(ctx context.Context, id string) (*artifact.Reader, error) {
	r, err := c.box.ArtifactStore().Open(ctx, id)
	if err != nil {
		return nil, Mistake(err)
	}
	return r, nil
}
