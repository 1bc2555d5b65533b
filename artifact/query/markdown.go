package query

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Heading is one heading of a Markdown document. Data of sections is a list of them, Data of section a [LineRange].
type Heading struct {
	Number string `json:"number"` // place in the outline, such as "2.1"
	Level  int    `json:"level"`  // 1 to 6
	Title  string `json:"title"`
	From   int64  `json:"from"` // first line, the heading
	To     int64  `json:"to"`   // last line, subsections included
}

// outline reads the headings in constant memory (beside the headings): "# …" and underlined ones, outside of fenced
// code. Headings in lists and quotes are no sections.
func (d *document) outline(ctx context.Context) (list []Heading, total int64, err error) {
	r := d.linesFrom(ctx, 0, 1)
	fence := ""
	front := false  // within front matter, which is no Markdown
	paragraph := "" // the line before, where it could be underlined
	for {
		ln, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		total = ln.n
		text := string(bytes.TrimRight(ln.text, " \t"))
		if front || (ln.n == 1 && text == "---") {
			front = ln.n == 1 || (text != "---" && text != "...")
			continue
		}
		bare := strings.TrimLeft(text, " ")
		if len(text)-len(bare) > 3 || strings.HasPrefix(bare, "\t") { // indented code, or the middle of a paragraph
			continue
		}
		if mark := fenceMark(bare); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.Trim(bare, mark[:1]) == "":
				fence = ""
			}
			paragraph = ""
			continue
		}
		if fence != "" {
			continue
		}
		if level, title := atx(bare); level > 0 {
			list = append(list, Heading{Level: level, Title: title, From: ln.n})
			paragraph = ""
			continue
		}
		if level := underline(bare); level > 0 && paragraph != "" {
			list = append(list, Heading{Level: level, Title: paragraph, From: ln.n - 1})
			paragraph = ""
			continue
		}
		paragraph = bare
		if strings.HasPrefix(bare, ">") || strings.HasPrefix(bare, "- ") || strings.HasPrefix(bare, "* ") || strings.HasPrefix(bare, "|") {
			paragraph = ""
		}
	}
	finishOutline(list, total)
	return list, total, nil
}

// fenceMark returns the run of ` or ~ that opens or closes fenced code.
func fenceMark(s string) string {
	for _, c := range []string{"`", "~"} {
		n := len(s) - len(strings.TrimLeft(s, c))
		if n >= 3 && (c == "~" || !strings.Contains(s[n:], "`")) {
			return s[:n]
		}
	}
	return ""
}

func atx(s string) (level int, title string) {
	rest := strings.TrimLeft(s, "#")
	level = len(s) - len(rest)
	if level == 0 || level > 6 || (rest != "" && rest[0] != ' ' && rest[0] != '\t') {
		return 0, ""
	}
	title = strings.TrimSpace(rest)
	if body := strings.TrimRight(title, "#"); body == "" || strings.HasSuffix(body, " ") {
		title = strings.TrimSpace(body)
	}
	return level, title
}

func underline(s string) int {
	switch {
	case s == "":
		return 0
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

// finishOutline numbers the headings and finds where each section ends.
func finishOutline(list []Heading, total int64) {
	var counts [7]int
	top := 6
	for _, h := range list {
		top = min(top, h.Level)
	}
	for i := range list {
		h := &list[i]
		counts[h.Level]++
		clear(counts[h.Level+1:])
		var num []string
		for l := top; l <= h.Level; l++ {
			num = append(num, fmt.Sprint(counts[l]))
		}
		h.Number = strings.Join(num, ".")
		h.To = total
		for _, next := range list[i+1:] {
			if next.Level <= h.Level {
				h.To = next.From - 1
				break
			}
		}
	}
}

func sections(ctx context.Context, d *document, q Query) (Answer, error) {
	list, total, err := d.outline(ctx)
	if err != nil {
		return Answer{}, err
	}
	if len(list) == 0 {
		return Answer{Text: fmt.Sprintf("No headings in %d lines.", total), Data: list}, nil
	}
	var b strings.Builder
	shown := 0
	for _, h := range list {
		line := fmt.Sprintf("%s%s %s (lines %d–%d)", strings.Repeat("  ", h.Level-1), h.Number, h.Title, h.From, h.To)
		if shown > 0 && !fits(q.Limits, shown, b.Len(), len(line)+1) {
			break
		}
		b.WriteString(line + "\n")
		shown++
	}
	a := Answer{Text: strings.TrimSuffix(b.String(), "\n"), Data: list[:shown]}
	if shown < len(list) {
		a.Truncated = true
		a.Text += fmt.Sprintf("\n[%d of %d headings; find others with op=grep pattern=\"^#\".]", shown, len(list))
	}
	return a, nil
}

func section(ctx context.Context, d *document, q Query) (Answer, error) {
	list, _, err := d.outline(ctx)
	if err != nil {
		return Answer{}, err
	}
	if q.Section == "" {
		return Answer{}, &Error{Code: CodeInvalid, Field: "section", Message: "section needs a title or number", Exists: titles(list)}
	}
	found := findSection(list, q.Section)
	switch len(found) {
	case 1:
		h := found[0]
		q.Op, q.From, q.To = Cat, h.From, h.To
		return d.showLines(ctx, q, h.From, h.To)
	case 0:
		return Answer{}, &Error{Code: CodeNotFound, Field: "section", Message: fmt.Sprintf("no section is called %s", quote(q.Section)), Exists: titles(list)}
	}
	return Answer{}, &Error{Code: CodeInvalid, Field: "section", Message: fmt.Sprintf("%d sections are called %s", len(found), quote(q.Section)), Exists: titles(found), Hint: "give the number, or parent > title"}
}

func titles(list []Heading) []string {
	out := make([]string, len(list))
	for i, h := range list {
		out[i] = h.Number + " " + h.Title
	}
	return out
}

// findSection returns the headings that a name means: by number, by title, by title without regard to case, or by the
// start of the title; the first of these ways that finds any counts. "a > b" is b below a.
func findSection(list []Heading, name string) []Heading {
	steps := strings.Split(name, ">")
	for i := range steps {
		steps[i] = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(steps[i]), "#"))
	}
	last := steps[len(steps)-1]
	for _, match := range []func(Heading) bool{
		func(h Heading) bool { return h.Number == last },
		func(h Heading) bool { return h.Title == last },
		func(h Heading) bool { return h.Number+" "+h.Title == last },
		func(h Heading) bool { return strings.EqualFold(h.Title, last) },
		func(h Heading) bool {
			return last != "" && strings.HasPrefix(strings.ToLower(h.Title), strings.ToLower(last))
		},
	} {
		var found []Heading
		for i, h := range list {
			if match(h) && below(list, i, steps[:len(steps)-1]) {
				found = append(found, h)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// below reports whether heading i stands below headings with the given titles, the innermost last.
func below(list []Heading, i int, parents []string) bool {
	level := list[i].Level
	for j := i - 1; j >= 0 && len(parents) > 0; j-- {
		if list[j].Level >= level {
			continue
		}
		level = list[j].Level
		if want := parents[len(parents)-1]; strings.EqualFold(list[j].Title, want) || list[j].Number == want {
			parents = parents[:len(parents)-1]
		}
	}
	return len(parents) == 0
}
