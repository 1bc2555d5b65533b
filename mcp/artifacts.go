package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// artifactScheme is the URI scheme of artifacts: artifact://ID.
const artifactScheme = "artifact://"

// maxResource bounds what one resources/read returns, in bytes. A client reads resources whole.
const maxResource = 4 << 20

func (s *Server) addArtifacts() {
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "artifact", Title: "Output that was too long to show", URITemplate: artifactScheme + "{id}",
		Description: "The whole output of a call whose result was cut; the result names the id.",
	}, s.readArtifact)
}

func (s *Server) readArtifact(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	id := strings.TrimPrefix(uri, artifactScheme)
	a, err := s.cfg.Artifacts.Open(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, fmt.Errorf("open artifact %s: %w", id, err)
	}
	defer a.Close()
	if a.Size() > maxResource {
		return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("artifact %s has %d bytes, more than the %d of one read; use the artifact tool to search it, or read_file with path artifact:%s, offset and limit", id, a.Size(), maxResource, id)}
	}
	data := make([]byte, a.Size())
	if _, err := io.ReadFull(io.NewSectionReader(a, 0, a.Size()), data); err != nil {
		return nil, fmt.Errorf("read artifact %s: %w", id, err)
	}
	c := &sdk.ResourceContents{URI: uri, MIMEType: a.MIME()}
	if textual(a.MIME()) && utf8.Valid(data) {
		c.Text = string(data)
	} else {
		c.Blob = data
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
}

func textual(mime string) bool {
	return mime == "" || strings.HasPrefix(mime, "text/") || strings.HasPrefix(mime, "application/json") || strings.HasSuffix(mime, "+json")
}
