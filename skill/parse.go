package skill

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/internal/front"
	"github.com/tackle-dev/tackle/internal/text"
)

// Parse reads a SKILL.md. folder is the name of its folder, which is the name of a skill that does not give one.
// Errors say why the file cannot be a skill, and what to do; what could be mended is in the notes of the skill.
func Parse(folder string, data []byte) (Skill, error) {
	var s Skill
	if len(data) > MaxFile {
		return s, fmt.Errorf("it has %d bytes and may have %d: move what is long into files beside it", len(data), MaxFile)
	}
	doc, err := text.Decode(data)
	if err != nil {
		return s, fmt.Errorf("it is no text (%w): save it as UTF-8", err)
	}
	if doc.Encoding.Charset == text.UTF16LE || doc.Encoding.Charset == text.UTF16BE {
		s.note("it is encoded as %s: save it as UTF-8", doc.Encoding)
	}
	content := strings.ToValidUTF8(string(doc.Content), "\uFFFD")
	if strings.Contains(content, "\r") {
		content = strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\r", "\n")
	}
	content = strings.TrimPrefix(content, "\uFEFF") // of programs that write two of them
	head, body, err := divide(content)
	if err != nil {
		return s, err
	}
	fields := s.fields(head)
	s.Body = strings.Trim(body, "\n")
	if head == "" {
		s.note("it has no front matter: begin the file with ---, name: and description: lines, and ---")
	}
	s.take(fields)
	return s, s.settle(folder)
}

func (s *Skill) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// divide splits a file into front matter and body. A file without front matter is all body.
func divide(content string) (head, body string, err error) {
	m, err := front.Split([]byte(strings.TrimLeft(content, " \t\n")))
	switch {
	case err != nil:
		return "", "", errors.New("its front matter does not end: add a line --- below name and description")
	case len(m.Head) > maxFront:
		return "", "", fmt.Errorf("its front matter has %d bytes and may have %d: move the text below it", len(m.Head), maxFront)
	}
	return string(m.Head), string(m.Body), nil
}

// fields reads front matter as YAML, and where it is none line by line.
func (s *Skill) fields(head string) []field {
	if head == "" {
		return nil
	}
	var doc yaml.Node
	err := yaml.Unmarshal([]byte(head), &doc)
	switch {
	case err == nil && len(doc.Content) == 0:
		return nil
	case err == nil && doc.Content[0].Kind == yaml.MappingNode:
		return mapping(doc.Content[0])
	case err == nil:
		s.note("its front matter is no list of names and values; it was read line by line")
	default:
		s.note("its front matter is no YAML (%s); it was read line by line: put quotes around values that have a colon or # in them",
			strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "yaml: "))
	}
	return lines(head)
}

// field is one value of the front matter; list is set where the value is a list.
type field struct {
	key, value string
	list       []string
}

func mapping(m *yaml.Node) []field {
	var out []field
	for i := 0; i+1 < len(m.Content); i += 2 {
		f := field{key: m.Content[i].Value}
		switch v := m.Content[i+1]; v.Kind {
		case yaml.ScalarNode:
			f.value = v.Value
		case yaml.SequenceNode:
			f.list = []string{}
			for _, e := range v.Content {
				if e.Kind == yaml.ScalarNode {
					f.list = append(f.list, e.Value)
				}
			}
		case yaml.MappingNode:
			for _, sub := range mapping(v) {
				out = append(out, field{key: f.key + "." + sub.key, value: sub.value, list: sub.list})
			}
			continue
		default: // an alias says what stands elsewhere, and no field of a skill needs one
			continue
		}
		out = append(out, f)
	}
	return out
}

// lines reads "key: value" lines, with the text of deeper lines below them.
func lines(head string) []field {
	var out []field
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, " \t\n")
		word := strings.TrimLeft(line, " \t")
		switch {
		case word == "" || strings.HasPrefix(word, "#"):
			continue
		case len(word) == len(line):
			if key, value, ok := strings.Cut(line, ":"); ok && plainKey(key) {
				value = strings.TrimSpace(value)
				if strings.Trim(value, "|>+-0123456789") == "" && strings.ContainsAny(value, "|>") {
					value = ""
				}
				out = append(out, field{key: key, value: unquote(value)})
				continue
			}
			fallthrough
		default:
			if len(out) == 0 {
				continue
			}
			last := &out[len(out)-1]
			if item, ok := strings.CutPrefix(word, "- "); ok && last.value == "" {
				last.list = append(last.list, unquote(strings.TrimSpace(item)))
			} else {
				last.value = strings.TrimSpace(last.value + " " + word)
			}
		}
	}
	return out
}

func plainKey(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// take sets the fields of the skill. The first of two values of a name counts.
func (s *Skill) take(fields []field) {
	seen := map[string]bool{}
	for _, f := range fields {
		key := plain(f.key)
		if seen[key] {
			s.note("%q stands there twice; the first counts", f.key)
			continue
		}
		seen[key] = true
		switch key {
		case "name":
			s.Name = f.value
		case "description":
			s.Description = f.value
			if f.list != nil {
				s.Description = strings.Join(f.list, " ")
			}
		case "allowed-tools", "tools":
			if s.Tools = f.list; f.list == nil {
				s.Tools = names(f.value)
			}
		case "argument-hint":
			s.Hint = f.value
		case "disable-model-invocation":
			s.Manual = strings.EqualFold(f.value, "true") || strings.EqualFold(f.value, "yes")
		default:
			if f.list == nil && len(s.Meta) < 32 && len(f.value) <= 512 {
				if s.Meta == nil {
					s.Meta = map[string]string{}
				}
				s.Meta[f.key] = f.value
			}
		}
	}
}

// names splits a list of tools as people write it: by commas, and by blanks outside of brackets.
func names(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth <= 0 || unicode.IsSpace(r) && depth <= 0
	})
}

// settle gives the skill its name and description.
func (s *Skill) settle(folder string) error {
	s.Description = oneLine(s.Description)
	s.Hint = oneLine(s.Hint)
	said, given := oneLine(s.Name), plain(oneLine(folder))
	s.Name = plain(said)
	switch {
	case s.Name == "":
		s.Name = given
		s.note("it has no name; that of its folder is taken: add name: %s", given)
	case s.Name != said:
		s.note("its name %q is written %s: names are lower case with hyphens", said, s.Name)
	}
	if bad := strings.IndexFunc(s.Name, func(r rune) bool { return r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); bad >= 0 {
		r, _ := utf8.DecodeRuneInString(s.Name[bad:])
		return fmt.Errorf("its name %q has %q in it: names have letters, digits and hyphens", s.Name, r)
	}
	if n := utf8.RuneCountInString(s.Name); n > MaxName || n == 0 {
		return fmt.Errorf("its name has %d characters: names have 1 to %d", n, MaxName)
	}
	if s.Name != given && given != "" {
		s.note("it is named %s in a folder named %s", s.Name, folder)
	}
	if s.Description == "" {
		if s.Description = oneLine(paragraph(s.Body)); s.Description == "" {
			return errors.New("it has neither description nor text: add a description that says when to use it")
		}
		s.note("it has no description; its first paragraph is taken: add description: with what it is for and when to use it")
	}
	if n := utf8.RuneCountInString(s.Description); n > MaxDescription {
		s.note("its description has %d characters; readers of skills show the first %d", n, MaxDescription)
	}
	return nil
}

// oneLine joins the words of a text by single blanks and drops what cannot be seen, which only hides words from people.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// paragraph is the first paragraph of a Markdown text that is no heading.
func paragraph(body string) string {
	for p := range strings.SplitSeq(body, "\n\n") {
		var keep []string
		for line := range strings.Lines(p) {
			if l := strings.TrimSpace(line); l != "" && !strings.HasPrefix(l, "#") {
				keep = append(keep, l)
			}
		}
		if keep != nil {
			return strings.Join(keep, " ")
		}
	}
	return ""
}
