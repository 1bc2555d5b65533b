package shell

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/tool"
)

// Data is what people and programs see of a command.
type Data struct {
	Command     string     `json:"command"`
	Dir         string     `json:"dir"`
	Description string     `json:"description,omitempty"`
	Looks       bool       `json:"looks,omitempty"`       // the line only looks
	Confinement string     `json:"confinement,omitempty"` // what held it: "unconfined; trees end by …"
	Exit        *host.Exit `json:"exit,omitempty"`        // nil while it runs
	Output      int64      `json:"output"`                // bytes written so far
	Artifact    string     `json:"artifact,omitempty"`    // id of the whole output
	Task        string     `json:"task,omitempty"`        // id of the task that goes on
}

// shown is output as a model sees it.
type shown struct {
	text     string // without its last newline
	notes    []string
	artifact string
	cut      bool
}

// binarySample is how much of the output is looked at to tell text from noise, in bytes.
const binarySample = 4 << 10

// fewBroken is how many bytes that are no UTF-8 make no noise of even the shortest text.
const fewBroken = 16

// What stands beside the output takes at most this: status lines, hints, the frame of an error.
const (
	notesBytes = 1500
	notesLines = 20
)

// limits returns how much output one result may show: the tool's own limit and those of toolbox and face together, with
// room for what stands beside it.
func (c Config) limits(call *tool.Call) clip.Limits {
	lim := call.Bounds.Resolve()
	if n := lim.Bytes; n > 0 {
		lim.Bytes = max(n-notesBytes, n/2, 1)
	}
	if n := lim.Lines; n > 0 {
		lim.Lines = max(n-notesLines, n/2, 1)
	}
	if c.MaxBytes > 0 && (lim.Bytes < 0 || c.MaxBytes < lim.Bytes) {
		lim.Bytes = c.MaxBytes
	}
	return lim
}

// show reads the output of a command that has ended, cuts it to what a result may hold, and keeps the whole as an artifact
// where something of it is missing.
func (j *job) show(ctx context.Context, o host.Output) (shown, error) {
	res, err := host.ClipOutput(o, j.limits(j.call), j.keep)
	if err != nil {
		return shown{}, err
	}
	s := shown{cut: res.Cut.Truncated()}
	if s.cut {
		res.Cut.Unit = clip.UnitBytes // whichever limit it was: bytes are what the rest can be compared with
	}
	s.text = res.Text()
	st, err := o.Stat()
	if err != nil {
		return s, err
	}
	broken := 0
	s.text, broken = readable(s.text)
	switch {
	case broken < 0:
		s.text = fmt.Sprintf("(binary output, %d bytes)", st.Total)
	case broken > 0:
		s.notes = append(s.notes, fmt.Sprintf("[%d %s no UTF-8 text and shown as %c.]", broken, plural(broken, "byte of the output is", "bytes of the output are"), utf8.RuneError))
	}
	s.text = strings.TrimSuffix(s.text, "\n")
	if s.cut || broken != 0 {
		s.keepWhole(ctx, j, o, st, broken != 0)
	}
	return s, nil
}

// readable makes text of bytes: each byte that is no UTF-8 becomes U+FFFD, and their number is returned; -1 for output
// that is not text at all.
func readable(s string) (string, int) {
	sample := s[:min(len(s), binarySample)]
	if strings.ContainsRune(sample, 0) {
		return "", -1
	}
	if utf8.ValidString(s) {
		return s, 0
	}
	var b strings.Builder
	broken, early := 0, 0
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			broken++
			if i < len(sample) {
				early++
			}
		}
		b.WriteRune(r)
	}
	if early > max(len(sample)/4, fewBroken) {
		return "", -1
	}
	return b.String(), broken
}

// keepWhole stores the output, as far as it was kept, and says how to get at it (O3).
func (s *shown) keepWhole(ctx context.Context, j *job, o host.Output, st host.OutputStat, raw bool) {
	if j.call.Artifacts == nil {
		s.notes = append(s.notes, "[This toolbox keeps no artifacts, so the rest is gone; narrow the command, or write its output into a file.]")
		return
	}
	whole := reading(o)
	id, err := j.call.Artifacts.Put(context.WithoutCancel(ctx), j.call.Session, "shell output", "text/plain", whole)
	whole.Close()
	if err != nil {
		j.call.Log.ErrorContext(ctx, "artifact not stored", "call", j.call.ID, "err", err)
		s.notes = append(s.notes, fmt.Sprintf("[The rest could not be kept (%v); narrow the command, or write its output into a file.]", err))
		return
	}
	s.artifact = id
	what := fmt.Sprintf("The whole output (%d bytes) is artifact:%s", st.Total, id)
	if st.Kept < st.Total {
		what = fmt.Sprintf("Start and end of the output (%d of %d bytes) are artifact:%s", st.Kept, st.Total, id)
	}
	switch {
	case raw && !s.cut:
		s.notes = append(s.notes, fmt.Sprintf("[%s; copy_file makes a file of it with the bytes as they are.]", what))
	case j.call.Options.Spawns:
		s.notes = append(s.notes, fmt.Sprintf("[%s; let a subagent search it, so that it does not fill this conversation.]", what))
	default:
		s.notes = append(s.notes, fmt.Sprintf("[%s; search it with the artifact tool, or read it with read_file path=artifact:%s.]", what, id))
	}
}

// reading returns what is kept of an output as a stream, to be closed.
func reading(o host.Output) io.ReadCloser {
	r, w := io.Pipe()
	go func() { // ends when all is read, or the stream is closed
		_, err := host.CopyOutput(w, o, 0)
		w.CloseWithError(err)
	}()
	return r
}

// withStatus is the result of a command that ended by itself: its output, then what else there is to say.
func (s *shown) withStatus(status string) string {
	lines := make([]string, 0, 2+len(s.notes))
	if s.text != "" {
		lines = append(lines, s.text)
	}
	if status != "" {
		lines = append(lines, "["+status+"]")
	}
	lines = append(lines, s.notes...)
	if len(lines) == 0 {
		return "(no output)"
	}
	return strings.Join(lines, "\n")
}

// failure is the result of a command that was ended: what happened, then its output until then.
func (j *job) failure(code tool.Code, fact, hint string, s shown, d *Data) tool.Result {
	message := fact
	if s.text != "" {
		message += "\nIts output until then:\n" + s.text
	}
	if len(s.notes) > 0 {
		message += "\n" + strings.Join(s.notes, "\n")
	}
	d.Artifact = s.artifact
	return tool.Result{Err: &tool.Error{Code: code, Message: message, Hint: hint}, Data: d, Meta: tool.Meta{Artifact: s.artifact, Truncated: s.cut}}
}

// result is the result of a command that was not ended by anybody else.
func (s *shown) result(status string, d *Data) tool.Result {
	d.Artifact = s.artifact
	return tool.Result{Parts: []tool.Part{tool.Text(s.withStatus(status))}, Data: d, Bounded: true, Meta: tool.Meta{Artifact: s.artifact, Truncated: s.cut}}
}
