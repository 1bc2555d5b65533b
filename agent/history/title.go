package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/store"
)

// titleSpace holds titles that somebody gave, by session.
const titleSpace = "title"

// MaxTitle is the longest title, in bytes.
const MaxTitle = 80

// Title is a title that somebody gave.
type Title struct {
	Text string `json:"text"`
	By   string `json:"by"` // "model" or "person"
}

// SetTitle gives a session a title, cut to one line of [MaxTitle]. That of a person stays when a model gives one. An empty text
// takes the title away.
func SetTitle(ctx context.Context, s store.Records, id string, t Title) error {
	t.Text = Short(t.Text)
	if t.By != "person" {
		if old, err := TitleOf(ctx, s, id); err != nil || old.By == "person" {
			return err
		}
	}
	if t.Text == "" {
		return s.Unset(ctx, titleSpace, id)
	}
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return s.Set(ctx, store.Record{Space: titleSpace, Key: id, Owner: id, Body: body})
}

// TitleOf returns the title that somebody gave, the zero Title where nobody did.
func TitleOf(ctx context.Context, s store.Records, id string) (Title, error) {
	rec, err := s.Get(ctx, titleSpace, id)
	if errors.Is(err, store.ErrNotFound) {
		return Title{}, nil
	}
	if err != nil {
		return Title{}, err
	}
	var t Title
	if err := json.Unmarshal(rec.Body, &t); err != nil {
		return Title{}, fmt.Errorf("title of session %s: %w", id, err)
	}
	return t, nil
}

// entitle sets the title: the given one, or words.
func (s *Summary) entitle(t Title, words string) {
	s.Title, s.Given = t.Text, t.By
	if s.Title == "" {
		s.Title = Short(words)
	}
	s.Title = cmp.Or(s.Title, "(nothing was said)")
}

// Short makes one line of at most [MaxTitle] of a text: its first sentence where that is short enough, else its first words.
func Short(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, " "), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	for i, r := range text {
		if i > MaxTitle {
			break
		}
		end := i + utf8.RuneLen(r)
		if strings.ContainsRune(".!?。", r) && i >= 8 && (end == len(text) || text[end] == ' ') {
			return strings.TrimRight(text[:end], ".。")
		}
	}
	if len(text) <= MaxTitle {
		return text
	}
	return cut(text, MaxTitle-len("…")) + "…"
}

// cut returns the beginning of a text, at a word where one ends near.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if at := strings.LastIndexByte(s[:n], ' '); at > n*2/3 {
		n = at
	}
	return s[:n]
}

// toolsOf names the tools that were called, the most used first.
func toolsOf(tools map[string]int) string {
	names := slices.Sorted(maps.Keys(tools))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(tools[b], tools[a]) })
	for i, n := range names {
		if i == 4 {
			names = append(names[:4], "…")
			break
		}
		if tools[n] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", n, tools[n])
		}
	}
	return strings.Join(names, ", ")
}
