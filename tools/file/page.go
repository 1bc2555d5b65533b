package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/tool"
)

var errIsDir = host.ErrIsDir

// page is the text that one read_file call shows, within its budget of lines and bytes. Everything counts, with some bytes
// set aside for what is said at the end.
type page struct {
	strings.Builder
	lines, bytes int // left; negative means without limit
	rows         int // of content
	cut          bool
	skipped      []string
	media        int // bytes of media
	pictures     int
}

// endBytes is about what the end of a page takes: how to read on, and what was not read.
const endBytes = 400

func newPage(b tool.Bounds) *page {
	p := &page{lines: b.Lines, bytes: b.Bytes}
	if p.bytes > 0 {
		p.bytes -= min(endBytes, p.bytes/2)
	}
	return p
}

func (p *page) full() bool { return p.lines == 0 || p.bytes == 0 }

// spend takes bytes off the budget.
func (p *page) spend(n int) {
	if p.bytes > 0 {
		p.bytes = max(p.bytes-n, 0)
	}
}

// room takes the bytes of media off theirs, where they fit.
func (p *page) room(n int) bool {
	if p.media+n > maxMedia || p.pictures == maxPictures {
		return false
	}
	p.media, p.pictures = p.media+n, p.pictures+1
	return true
}

// note adds a line that is not content.
func (p *page) note(format string, args ...any) {
	before := p.Len()
	if before > 0 {
		p.WriteByte('\n')
	}
	fmt.Fprintf(p, format, args...)
	p.spend(p.Len() - before)
}

func (p *page) skip(path string) {
	p.cut = true
	p.skipped = append(p.skipped, path)
}

// String ends the page with the files that found no room.
func (p *page) String() string {
	s := p.Builder.String()
	if len(p.skipped) == 0 {
		return s
	}
	names, n := "", 0
	for ; n < len(p.skipped) && (n == 0 || len(names)+len(p.skipped[n]) < endBytes/2); n++ {
		if n > 0 {
			names += ", "
		}
		names += clip.Middle(p.skipped[n], endBytes/2)
	}
	if rest := len(p.skipped) - n; rest > 0 {
		names += fmt.Sprintf(" and %d more", rest)
	}
	return s + fmt.Sprintf("\n[Not read, because this call is full: %s. Read them with another call.]", names)
}

// add shows one numbered line and reports whether there was room. The first line of a page is shown as far as it fits.
func (p *page) add(number int, line []byte, column int) bool {
	if p.full() {
		return false
	}
	if column <= 1 && len(line) <= LineClip && utf8.Valid(line) { // nearly all lines: shown as they are
		var buf [20]byte
		digits := strconv.AppendInt(buf[:0], int64(number), 10)
		size := len(digits) + 1 + len(line) + 1
		if p.bytes < 0 || size <= p.bytes {
			p.row(size, digits, line)
			return true
		}
	}
	row := numbered(number, string(line), column, LineClip)
	for width := LineClip; p.bytes >= 0 && len(row)+1 > p.bytes; row = numbered(number, string(line), column, width) {
		if p.rows > 0 || width == 1 {
			p.bytes = 0
			return false
		}
		width = max(1, min(width-1, width*p.bytes/(len(row)+1)))
	}
	digits, shown, _ := strings.Cut(row, "\t")
	p.row(len(row)+1, []byte(digits), []byte(shown))
	return true
}

// row writes a row of content that takes size bytes.
func (p *page) row(size int, number, shown []byte) {
	p.spend(size)
	if p.lines > 0 {
		p.lines--
	}
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.Write(number)
	p.WriteByte('\t')
	p.Write(shown)
	p.rows++
}

// numbered returns a line as it is shown: its number, the asked characters, and how to go on inside it.
func numbered(number int, line string, column, width int) string {
	piece := clip.Columns(line, column, width)
	shown := strings.ToValidUTF8(piece.Text, "\uFFFD")
	switch {
	case piece.After() > 0:
		shown += fmt.Sprintf(" …[characters %d–%d of %d; continue with offset=%d limit=1 column=%d]", piece.From, piece.To, piece.Total, number, piece.To+1)
	case column > 1 && piece.Text == "":
		shown = fmt.Sprintf("[this line has %d characters]", piece.Total)
	}
	return strconv.Itoa(number) + "\t" + shown
}

// lineRange shows the asked lines of a decoded file and a footer that says how to go on.
func (p *page) lineRange(t text.Text, j *readJob, d *fileData) error {
	index := text.Index(t.Content)
	ending := text.DetectEnding(t.Content)
	d.Ending, d.Total = ending.String(), index.Len()
	from := max(j.Offset, 1)
	if from > max(index.Len(), 1) {
		return tool.Errorf(tool.InvalidParameter, "offset %d is past the end of %q, which has %d lines.", from, j.Path, index.Len()).
			For("offset", fmt.Sprintf("a line from 1 to %d", max(index.Len(), 1)))
	}
	if index.Len() == 0 {
		p.note("[%s is empty.]", j.Path)
		return nil
	}
	if unusual := describeFormat(t.Encoding, ending); unusual != "" {
		p.note("[%s: %s]", j.Path, unusual)
	}
	last := index.Len()
	if j.Limit > 0 {
		last = min(last, from-1+j.Limit)
	}
	n := from
	size := index.Start(last) - index.Start(from-1) + 8*(last-from+1)
	if p.bytes >= 0 {
		size = min(size, p.bytes)
	}
	p.Grow(size)
	for ; n <= last; n++ {
		if !p.add(n, index.Body(n-1), j.Column) {
			break
		}
	}
	d.From, d.To = from, n-1
	p.footer(j, n, index.Len(), n <= last)
	return nil
}

// footer says what follows behind the shown lines. next is the first line that is not shown, total -1 where unknown.
func (p *page) footer(j *readJob, next, total int, cut bool) {
	p.cut = p.cut || cut
	if next > total && total >= 0 {
		return
	}
	of := ""
	if total >= 0 {
		of = fmt.Sprintf(" of %d", total)
	}
	first := max(j.Offset, 1)
	if next == first {
		p.note("[Line %d does not fit here; read on with offset=%d.]", next, next)
		return
	}
	p.note("[Lines %d–%d%s; read on with offset=%d.]", first, next-1, of, next)
}

// describeFormat names what is unusual about a file: "" for UTF-8 with LF.
func describeFormat(e text.Encoding, ending text.Ending) string {
	var parts []string
	if e != (text.Encoding{}) {
		parts = append(parts, e.String())
	}
	switch ending {
	case text.CRLF, text.CR:
		parts = append(parts, ending.String()+" line endings")
	case text.Mixed:
		parts = append(parts, "mixed line endings")
	}
	return strings.Join(parts, ", ")
}

// streamFile shows lines of a file that is too large to hold. Only plain text can be read so; the end of the file is
// not looked for.
func streamFile(ctx context.Context, call *tool.Call, j *readJob, d *fileData, p *page) error {
	f, err := call.Host.Open(ctx, j.path.Real)
	if err != nil {
		return tool.PathError("path", j.Path, err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 256<<10)
	head, err := r.Peek(64 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return tool.PathError("path", j.Path, err)
	}
	enc := text.Detect(head, false)
	d.Encoding = enc.String()
	if enc.Charset == text.Binary {
		p.note("[%s is binary (%d bytes) and is not shown as text.]", j.Path, d.Bytes)
		return nil
	}
	if enc.Charset != text.UTF8 && enc.Charset != text.Broken {
		return tool.Errorf(tool.LimitExceeded, "%q is %s text of %d bytes; files of more than %d bytes are read only as UTF-8.", j.Path, enc, d.Bytes, MaxEditSize).
			With("Convert it with a command first.")
	}
	return p.stream(ctx, r, enc.BOM, j, d)
}

func (p *page) stream(ctx context.Context, r *bufio.Reader, bom bool, j *readJob, d *fileData) error {
	if bom {
		if _, err := r.Discard(3); err != nil {
			return err
		}
	}
	from := max(j.Offset, 1)
	for n := 1; ; n++ {
		line, err := longLine(ctx, r, n >= from)
		switch {
		case err == io.EOF && n <= from && n > 1:
			return tool.Errorf(tool.InvalidParameter, "offset %d is past the end of %q, which has %d lines.", from, j.Path, n-1).
				For("offset", fmt.Sprintf("a line from 1 to %d", n-1))
		case err == io.EOF:
			d.From, d.To, d.Total = from, n-1, n-1
			return nil
		case err != nil:
			return tool.PathError("path", j.Path, err)
		case ctx.Err() != nil:
			return ctx.Err()
		case n < from:
			continue
		}
		if j.Limit > 0 && n >= from+j.Limit || !p.add(n, bytes.TrimSuffix(line, []byte{'\r'}), j.Column) {
			d.From, d.To = from, n-1
			p.footer(j, n, -1, p.full())
			return nil
		}
	}
}

// longLine reads one line without its ending, of any length; where it is not wanted it is only skipped. Of a line that is
// too long to hold, the rest is skipped.
func longLine(ctx context.Context, r *bufio.Reader, want bool) ([]byte, error) {
	var line []byte
	for some := false; ; some = true {
		part, err := r.ReadSlice('\n')
		if want && len(line) < MaxEditSize {
			line = append(line, part...)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte{'\n'}), nil
		case err == bufio.ErrBufferFull && ctx.Err() == nil:
			continue
		case err == bufio.ErrBufferFull:
			return nil, ctx.Err()
		case err == io.EOF && (some || len(part) > 0):
			return line, nil
		}
		return nil, err
	}
}
