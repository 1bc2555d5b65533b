package artifact

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrNoPath says that the store was given no folder for files.
var ErrNoPath = errors.New("this store of artifacts has no files")

// Path returns a file with the content of an artifact: DIR/SESSION/ID.ext. Where the blobs are files it is a hard link
// to one and costs no space; it must not be changed, and its mode says so. Errors: *NotFoundError, ErrNoPath.
func (s *Store) Path(ctx context.Context, id string) (string, error) {
	if s.opt.Dir == "" {
		return "", ErrNoPath
	}
	r, err := s.Open(ctx, id)
	if err != nil {
		return "", err
	}
	defer r.Close()
	file := s.file(r.Artifact)
	if fi, err := os.Stat(file); err == nil && fi.Size() == r.Artifact.Size {
		return file, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", fmt.Errorf("artifact %s: %w", r.Artifact.ID, err)
	}
	if local, ok := s.blobs.(interface{ File(digest string) string }); ok {
		err := os.Link(local.File(r.Artifact.Digest), file)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return file, nil
		}
	}
	if err := copyTo(file, r); err != nil {
		return "", fmt.Errorf("artifact %s: %w", r.Artifact.ID, err)
	}
	return file, nil
}

// SessionDir returns the folder that holds the files of a session's artifacts, whether it exists or not.
func (s *Store) SessionDir(session string) string {
	return filepath.Join(s.opt.Dir, dirName(session))
}

func (s *Store) file(a Artifact) string {
	return filepath.Join(s.SessionDir(a.Session), a.ID+extension(a))
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// dirName returns a folder name for a session: the session where that is a plain word, else a digest of it.
func dirName(session string) string {
	if plainName.MatchString(session) {
		return session
	}
	return fmt.Sprintf("_%x", sha256.Sum256([]byte(session)))[:17]
}

var plainExt = regexp.MustCompile(`^\.[A-Za-z0-9]{1,8}$`)

// extension returns that of the name, or the usual one of the media type.
func extension(a Artifact) string {
	if ext := path.Ext(a.Name); plainExt.MatchString(ext) {
		return strings.ToLower(ext)
	}
	kind, _, _ := strings.Cut(a.MIME, ";")
	for _, t := range types {
		if t.mime == strings.TrimSpace(kind) {
			return t.ext
		}
	}
	if strings.HasPrefix(kind, "text/") {
		return ".txt"
	}
	return ".bin"
}

// copyTo writes a file that appears when it is whole.
func copyTo(file string, r io.Reader) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, r)
	if err = errors.Join(err, tmp.Chmod(0o400), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
