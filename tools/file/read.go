package file

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/internal/picture"
	"github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed read.md
var readText string

// Read is the read_file tool (F1). The zero value is ready.
type Read struct {
	Pictures picture.Limits // what the face can show; zero fields mean the strictest of the large providers
}

type readInput struct {
	Path   string      `json:"path,omitempty" jsonschema:"File to read"`
	Offset int         `json:"offset,omitempty" jsonschema:"First line, from 1" schema:"min=1"`
	Limit  int         `json:"limit,omitempty" jsonschema:"Number of lines" schema:"min=1"`
	Column int         `json:"column,omitempty" jsonschema:"First character of each line, from 1" schema:"min=1"`
	Files  []readRange `json:"files,omitempty" jsonschema:"Several files or ranges instead of path"`
}

type readRange struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty" schema:"min=1"`
	Limit  int    `json:"limit,omitempty" schema:"min=1"`
	Column int    `json:"column,omitempty" schema:"min=1"`
}

// readData is what people and programs see of read_file.
type readData struct {
	Files []fileData `json:"files"`
}

type fileData struct {
	Path     string        `json:"path"`
	Bytes    int64         `json:"bytes"`
	Digest   change.Digest `json:"sha256,omitzero"`
	Encoding string        `json:"encoding,omitempty"`
	Ending   string        `json:"lineEnding,omitempty"`
	From     int           `json:"from,omitempty"` // first line shown
	To       int           `json:"to,omitempty"`   // last line shown
	Total    int           `json:"totalLines,omitempty"`
	MIME     string        `json:"mime,omitempty"` // set for what is not text
	Error    string        `json:"error,omitempty"`
}

// Tool returns the tool.
func (t Read) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "read_file", Category: "file", Title: "Read file",
		Description: tool.Describe(readText, map[string]int{"Lines": ReadLines, "KB": ReadBytes >> 10, "Clip": LineClip}),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"path": "src/main.go", "offset": 1, "limit": 200}`,
		Bounds:      tool.Bounds{Lines: ReadLines, Bytes: ReadBytes},
	}, t.plan)
}

func (t Read) plan(ctx context.Context, call *tool.Call, in readInput) (tool.Action, error) {
	ranges := in.Files
	switch {
	case in.Path == "" && len(ranges) == 0:
		return tool.Action{}, tool.Errorf(tool.MissingParameter, "read_file needs path, or files for several.").For("path", "the path of a file")
	case in.Path != "" && len(ranges) > 0:
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "path and files exclude each other.").For("files", "every path in files, or path alone")
	case in.Path != "":
		ranges = []readRange{{in.Path, in.Offset, in.Limit, in.Column}}
	}
	if len(ranges) > MaxRanges {
		return tool.Action{}, tool.Errorf(tool.LimitExceeded, "files has %d elements; one call reads up to %d.", len(ranges), MaxRanges).
			For("files", fmt.Sprintf("at most %d elements", MaxRanges)).With("Read them with several calls.")
	}
	intent := tool.Intent{Effects: []tool.Effect{tool.Read}}
	jobs := make([]readJob, len(ranges))
	for i, r := range ranges {
		jobs[i] = readJob{readRange: r}
		if id, ok := tool.ArtifactPath(r.Path); ok {
			jobs[i].spooled = id
			intent.Targets = append(intent.Targets, tool.ArtifactTo(id))
			continue
		}
		l, err := stat(ctx, call, r.Path)
		switch {
		case err != nil:
		case !l.exists():
			err = missing(ctx, call, &l, "path", r.Path)
		case l.state.Type == change.Dir:
			err = tool.PathError("path", r.Path, errIsDir)
		}
		if err != nil && (len(ranges) == 1 || tool.IsFault(err)) {
			return tool.Action{}, err
		}
		jobs[i].err, jobs[i].loaded = err, l
		if l.path.Real != "" { // what is not there is looked at too: policy decides about it, and calls that make it keep their order
			intent.Targets = append(intent.Targets, tool.PathTo(l.path, tool.Read))
		}
	}
	return tool.Action{Intent: intent, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		return t.run(ctx, call, jobs)
	}}, nil
}

// readJob is one file or range of a call.
type readJob struct {
	readRange
	loaded
	spooled string // id of the artifact that is meant
	err     error
}

func (t Read) run(ctx context.Context, call *tool.Call, jobs []readJob) (tool.Result, error) {
	page := newPage(call.Bounds.Resolve())
	res := tool.Result{Bounded: true}
	data := readData{}
	var first *tool.Error // failure
	failures := 0
	for i := range jobs {
		j := &jobs[i]
		if page.full() {
			page.skip(j.Path)
			continue
		}
		if len(jobs) > 1 {
			page.note("==> %s <==", j.Path)
		}
		d, parts, err := t.one(ctx, call, j, page)
		d.Path = j.Path
		if err != nil {
			var e *tool.Error
			if len(jobs) == 1 || !errors.As(err, &e) {
				return tool.Result{}, err
			}
			if failures++; first == nil {
				first = e
			}
			d.Error = e.Error()
			page.note("[%s: %s]", e.Code, e.Message)
		}
		data.Files = append(data.Files, d)
		res.Parts = append(res.Parts, parts...)
	}
	if failures == len(jobs) {
		return tool.Result{}, tool.Errorf(first.Code, "none of the %d files could be read:\n%s", len(jobs), page.String()).With("Find the files with glob, or list a folder with list_dir.")
	}
	res.Parts = append([]tool.Part{tool.Text(page.String())}, res.Parts...)
	res.Data = data
	res.Meta.Truncated = page.cut
	return res, nil
}

// one reads one file or range onto the page.
func (t Read) one(ctx context.Context, call *tool.Call, j *readJob, page *page) (fileData, []tool.Part, error) {
	if j.err != nil {
		return fileData{}, nil, j.err
	}
	if j.spooled != "" {
		return t.artifact(ctx, call, j, j.spooled, page)
	}
	d := fileData{Bytes: j.info.Size}
	if j.info.Size > MaxEditSize {
		return d, nil, streamFile(ctx, call, j, &d, page)
	}
	raw, err := readAll(ctx, call.Host, j.path.Real, MaxEditSize)
	if err != nil {
		return d, nil, tool.PathError("path", j.Path, err)
	}
	blob := change.NewBlob(raw)
	d.Digest, d.Bytes = blob.Digest(), blob.Size()
	parts, err := t.show(raw, j, &d, page)
	if err == nil {
		mark(call, &j.loaded, d.Digest)
	}
	return d, parts, err
}

// show puts content onto the page: text by lines, pictures and PDFs as parts, anything else described.
func (t Read) show(raw []byte, j *readJob, d *fileData, page *page) ([]tool.Part, error) {
	if mime := picture.Sniff(raw); mime != "" {
		d.MIME = mime
		return t.media(raw, mime, j, page)
	}
	decoded, err := text.Decode(raw)
	if errors.Is(err, text.ErrBinary) {
		d.MIME = "application/octet-stream"
		page.note("[%s is binary (%d bytes) and is not shown as text.]", j.Path, len(raw))
		return nil, nil
	}
	if err != nil {
		return nil, tool.Errorf(tool.OperationFailed, "%q cannot be read as text: %v.", j.Path, err)
	}
	d.Encoding = decoded.Encoding.String()
	return nil, page.lineRange(decoded, j, d)
}

// media returns a picture or document as a part, as long as the call has room for it: more than a provider takes in one
// message would make the next request fail (O9).
func (t Read) media(raw []byte, mime string, j *readJob, page *page) ([]tool.Part, error) {
	if mime == "application/pdf" {
		if problem := pdfProblem(raw); problem != "" {
			page.note("[%s is a PDF of %d bytes that cannot be shown: %s. Take text or pages out of it with a command.]", j.Path, len(raw), problem)
			return nil, nil
		}
		if !page.room(len(raw)) {
			page.note("[%s is a PDF of %d bytes; this call has no room for it, read it with a call of its own.]", j.Path, len(raw))
			return nil, nil
		}
		page.note("[%s is a PDF of %d bytes; it follows.]", j.Path, len(raw))
		return []tool.Part{{Kind: tool.DocumentKind, Data: raw, MIME: mime, Name: j.Path}}, nil
	}
	p, err := picture.Whole(raw, t.Pictures)
	if err != nil {
		page.note("[%s is a picture (%s, %d bytes) that cannot be shown: %v.]", j.Path, mime, len(raw), err)
		return nil, nil
	}
	note := fmt.Sprintf("%s, %d×%d pixels", p.MIME, p.Width, p.Height)
	if p.Note != "" {
		note = p.Note
	}
	if !page.room(len(p.Data)) {
		page.note("[%s is a picture (%s); this call has no room for it, read it with a call of its own.]", j.Path, note)
		return nil, nil
	}
	page.note("[%s is a picture; it follows: %s.]", j.Path, note)
	return []tool.Part{{Kind: tool.ImageKind, Data: p.Data, MIME: p.MIME, Name: j.Path, Width: p.Width, Height: p.Height}}, nil
}

// Limits of media in one call: of a PDF that is handed to the model as it is, and of all media together, both what a
// request of the strictest provider holds beside other content, before base64; and of their number, beyond which that
// provider takes smaller pictures only.
const (
	maxDocument = 3_700_000
	maxMedia    = 12_000_000
	maxPictures = 20
)

func (t Read) artifact(ctx context.Context, call *tool.Call, j *readJob, id string, page *page) (fileData, []tool.Part, error) {
	a, err := openArtifact(ctx, call, id)
	if err != nil {
		return fileData{}, nil, err
	}
	defer a.Close()
	d := fileData{Bytes: a.Size(), MIME: a.MIME()}
	if a.Size() > MaxEditSize {
		return d, nil, tool.Errorf(tool.LimitExceeded, "artifact %s has %d bytes; read_file takes up to %d.", id, a.Size(), MaxEditSize).With("Use the artifact tool with op=cat, head, tail or grep.")
	}
	raw := make([]byte, a.Size())
	if n, err := a.ReadAt(raw, 0); n < len(raw) {
		return d, nil, fmt.Errorf("read artifact %s: %w", id, err)
	}
	parts, err := t.show(raw, j, &d, page)
	return d, parts, err
}

// openArtifact opens an artifact that a path names.
func openArtifact(ctx context.Context, call *tool.Call, id string) (tool.ArtifactReader, error) {
	if call.Artifacts == nil {
		return nil, tool.Errorf(tool.NotFound, "this session keeps no artifacts.").For("path", "the path of a file")
	}
	a, err := call.Artifacts.Open(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, tool.Errorf(tool.NotFound, "there is no artifact %q; it may have expired.", clip.Middle(id, 100)).For("path", "artifact:ID of an artifact that exists").
			With("List the artifacts of this session with the artifact tool, op=list.")
	}
	return a, err
}
