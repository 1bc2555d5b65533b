package tackle

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/media/forge"
	"github.com/tackle-dev/tackle/media/forge/shelf"
	"github.com/tackle-dev/tackle/tool"
)

// MediaItem describes media that a session can see.
type MediaItem = forge.Item

// openMedia makes the media pipeline and its tools. Making them touches nothing; engines load what is heavy when they are
// first used.
func (b *Box) openMedia() error {
	b.mediaFinder = b.mediaPrograms()
	engines := append(engine.With(engine.Config{Cache: filepath.Join(b.cfg.StateDir, "cache")}), b.mediaFinder.Quick()...)
	p, err := media.New(media.Config{Engines: engines, More: b.findMediaPrograms})
	if err != nil {
		return fmt.Errorf("media: %w", err)
	}
	b.media = p
	b.shelf = shelf.New(b.store, b.artifacts, nil)
	// The road's gate serves as the forge's, so that a person is asked once for one thing.
	b.forged, err = forge.Tools(forge.Config{Pipeline: p, Library: b.shelf, Surface: forge.Composite, Files: true})
	return err
}

func (b *Box) mediaTools() []tool.Tool { return b.forged.Tools() }

// MediaPipeline returns the pipeline behind the media tools, for programs that work on files without a session.
func (b *Box) MediaPipeline() *media.Pipeline { return b.media }

// Attach gives a file to a session as media, and returns it with its id. An empty session is the box's own; an empty mime is
// found from the bytes. Attachments have the lowest trust: what is read out of them is somebody else's words.
func (b *Box) Attach(ctx context.Context, session, name, mime string, data []byte) (MediaItem, error) {
	if session == "" {
		session = b.SessionID()
	}
	return b.shelf.Attach(ctx, session, name, mime, data)
}

// Media lists what a session can see: attachments, then results of tools. An empty session is the box's own.
func (b *Box) Media(ctx context.Context, session string) ([]MediaItem, error) {
	if session == "" {
		session = b.SessionID()
	}
	return b.shelf.List(ctx, session)
}

// OpenMedia returns media of a session with its bytes. Errors wrap fs.ErrNotExist. An empty session is the box's own.
func (b *Box) OpenMedia(ctx context.Context, session, id string) (MediaItem, []byte, error) {
	if session == "" {
		session = b.SessionID()
	}
	return b.shelf.Open(ctx, session, id)
}

// AttachParts attaches a file to a session and returns what an agent is told of it: its id, and the file itself where models take
// its type.
func (b *Box) AttachParts(ctx context.Context, session, name, mime string, data []byte) ([]tool.Part, error) {
	it, err := b.Attach(ctx, session, name, mime, data)
	if err != nil {
		return nil, err
	}
	marker := fmt.Sprintf("[media id: %s | %s]", it.ID, strings.NewReplacer("[", "(", "]", ")").Replace(it.Filename))
	p := tool.Part{MIME: it.MIMEType, Name: it.Filename, Data: data, URI: "artifact:" + it.ID, Size: it.Size}
	switch {
	case it.Kind == "image":
		p.Kind = tool.ImageKind
	case it.MIMEType == "application/pdf":
		p.Kind = tool.DocumentKind
	case it.Kind == "audio":
		p.Kind = tool.AudioKind
	default:
		return []tool.Part{tool.Text(fmt.Sprintf("%s (%s, %d bytes; media_query reads it)", marker, it.MIMEType, it.Size))}, nil
	}
	return []tool.Part{tool.Text(marker), p}, nil
}
