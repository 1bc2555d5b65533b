package diff

import (
	"bytes"
	"strconv"
)

// AppendUnified appends the changes of a into b as hunks of a unified diff with the given lines of context, without file
// headers. The changes are those of Compare(a, b).
func AppendUnified(dst, a, b []byte, changes []Change, context int) []byte {
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].A.Line-changes[n-1].A.End <= 2*context {
			n++
		}
		dst = appendHunk(dst, a, b, changes[:n], context)
		changes = changes[n:]
	}
	return dst
}

func appendHunk(dst, a, b []byte, changes []Change, context int) []byte {
	first, last := changes[0], changes[len(changes)-1]
	from, before := back(a, first.A.Off, context)
	to, after := ahead(a, last.A.OffEnd, context)
	dst = append(dst, "@@ -"...)
	dst = appendSpan(dst, first.A.Line-before, last.A.End+after)
	dst = append(dst, " +"...)
	dst = appendSpan(dst, first.B.Line-before, last.B.End+after)
	dst = append(dst, " @@\n"...)
	for _, c := range changes {
		dst = appendLines(dst, ' ', a[from:c.A.Off])
		dst = appendLines(dst, '-', a[c.A.Off:c.A.OffEnd])
		dst = appendLines(dst, '+', b[c.B.Off:c.B.OffEnd])
		from = c.A.OffEnd
	}
	return appendLines(dst, ' ', a[from:to])
}

// appendSpan prints the lines [line, end) as a hunk header counts them: from 1, the line before for an empty range,
// and a count of 1 left out.
func appendSpan(dst []byte, line, end int) []byte {
	n := end - line
	if n > 0 {
		line++
	}
	dst = strconv.AppendInt(dst, int64(line), 10)
	if n != 1 {
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return dst
}

func appendLines(dst []byte, sign byte, text []byte) []byte {
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		dst = append(dst, sign)
		if n == 0 {
			dst = append(dst, text...)
			return append(dst, "\n\\ No newline at end of file\n"...)
		}
		dst = append(dst, text[:n]...)
		text = text[n:]
	}
	return dst
}

// back returns the start of the line that stands n lines before off, and how many lines there were.
func back(text []byte, off, n int) (start, lines int) {
	for lines < n && off > 0 {
		off = bytes.LastIndexByte(text[:off-1], '\n') + 1
		lines++
	}
	return off, lines
}

// ahead returns the end of the line that stands n lines after off, and how many lines there were.
func ahead(text []byte, off, n int) (end, lines int) {
	for lines < n && off < len(text) {
		i := bytes.IndexByte(text[off:], '\n')
		if i < 0 {
			off = len(text)
		} else {
			off += i + 1
		}
		lines++
	}
	return off, lines
}
