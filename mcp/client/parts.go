package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/picture"
	"github.com/tackle-dev/tackle/tool"
)

// partsOf turns the content of a result into ours. Structured content is shown where there is no text: servers should
// repeat it as text, and some do not.
func partsOf(res *sdk.CallToolResult) []tool.Part {
	var out []tool.Part
	spoke := false
	for _, c := range res.Content {
		for _, p := range partOf(c) {
			spoke = spoke || p.Kind == content.Text && p.Text != ""
			out = append(out, p)
		}
	}
	if !spoke && res.StructuredContent != nil {
		if b, err := json.MarshalIndent(res.StructuredContent, "", " "); err == nil {
			out = append([]tool.Part{tool.Text(string(b))}, out...)
		}
	}
	return out
}

func partOf(c sdk.Content) []tool.Part {
	switch c := c.(type) {
	case *sdk.TextContent:
		return []tool.Part{tool.Text(c.Text)}
	case *sdk.ImageContent:
		return pictureParts(c.Data, c.MIMEType)
	case *sdk.AudioContent:
		return []tool.Part{{Kind: content.Audio, Data: c.Data, MIME: c.MIMEType}}
	case *sdk.ResourceLink:
		p := tool.Part{Kind: content.Link, URI: c.URI, Name: c.Name, MIME: c.MIMEType}
		if c.Size != nil {
			p.Size = *c.Size
		}
		return []tool.Part{p}
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return nil
		}
		r := c.Resource
		switch {
		case r.Blob == nil:
			return []tool.Part{tool.Text(r.Text)}
		case strings.HasPrefix(r.MIMEType, "image/"):
			return pictureParts(r.Blob, r.MIMEType)
		}
		return []tool.Part{{Kind: content.Document, Data: r.Blob, MIME: r.MIMEType, URI: r.URI, Name: r.URI[strings.LastIndexByte(r.URI, '/')+1:]}}
	}
	return []tool.Part{tool.Text(fmt.Sprintf("[content of the unknown kind %T]", c))}
}

// pictureParts makes a picture fit for every provider, or says why it cannot be shown (O9).
func pictureParts(data []byte, mime string) []tool.Part {
	p, err := picture.Whole(data, picture.Limits{})
	if err != nil {
		return []tool.Part{tool.Text(fmt.Sprintf("[picture, %s, %d bytes: not shown, %v]", mime, len(data), err))}
	}
	part := tool.Part{Kind: content.Image, Data: p.Data, MIME: p.MIME, Width: p.Width, Height: p.Height}
	if p.Note != "" {
		return []tool.Part{tool.Text("[picture " + p.Note + "]"), part}
	}
	return []tool.Part{part}
}

// textOf is what a failed call says.
func textOf(parts []tool.Part) string {
	s := content.JoinText(parts)
	if strings.TrimSpace(s) == "" {
		return "the server reported an error without saying which."
	}
	return s
}

// hidden reports whether a person does not see a character: controls, format characters (bidirectional, zero-width,
// tags). Newline and tab are seen.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}
