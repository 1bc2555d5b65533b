package legacy

import (
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
)

// The layout of the old PowerPoint format is published as [MS-PPT]: records within records. Which records are current says
// the chain of user edits; the order of the slides says the list in the document.

// rec is a record.
type rec struct {
	kind, instance int
	container      bool
	body           []byte
}

// records cuts a stream into records.
func records(b []byte) []rec {
	var out []rec
	for len(b) >= 8 && len(out) < 1_000_000 {
		v, n := u16(b, 0), u32(b, 4)
		r := rec{kind: u16(b, 2), instance: v >> 4, container: v&0xf == 0xf, body: cut(b, 8, n)}
		out = append(out, r)
		if 8+n > len(b) || n < 0 {
			break
		}
		b = b[8+n:]
	}
	return out
}

func at(b []byte, off int) (rec, bool) {
	if off < 0 || off+8 > len(b) {
		return rec{}, false
	}
	rs := records(cut(b, off, 8+u32(b, off+4)))
	if len(rs) == 0 {
		return rec{}, false
	}
	return rs[0], true
}

const (
	pptDocument  = 1000
	pptList      = 4080
	pptPersist   = 1011
	pptHeader    = 3999
	pptChars     = 4000
	pptBytes     = 4008
	pptUserEdit  = 4085
	pptDirectory = 6002
)

// words is a text of a slide.
type words struct {
	kind int // 0 and 6 are titles, 2 are notes
	text string
}

// texts gathers the texts below records.
func texts(rs []rec, depth int, out []words) []words {
	kind := 4
	for _, r := range rs {
		switch {
		case r.kind == pptHeader:
			kind = u32(r.body, 0)
		case r.kind == pptChars:
			out = append(out, words{kind, wide(r.body)})
		case r.kind == pptBytes:
			out = append(out, words{kind, narrow(r.body)})
		case r.container && depth < 50:
			out = texts(records(r.body), depth+1, out)
		}
	}
	return out
}

func (c *cfb) ppt() (*flow.Doc, []string, error) {
	b := c.get("PowerPoint Document")
	if b == nil {
		return nil, nil, c.bad("it has no slides")
	}
	user := c.get("Current User")
	if u32(user, 12) == 0xf3d1c4df {
		return nil, nil, media.Refusef("%s is encrypted. Save it without a password first.", c.name)
	}
	d := &flow.Doc{}
	d.Title, _ = c.properties()["title"].(string)
	offsets, root := persisted(b, u32(user, 16))
	var list []int
	listed := map[int]bool{} // a slide is one slide, however often it is named
	doc, ok := at(b, offsets[root])
	if !ok || doc.kind != pptDocument {
		for _, r := range records(b) {
			if r.kind == pptDocument {
				doc, ok = r, true
			}
		}
	}
	outline := map[int][]words{}
	if ok {
		for _, r := range records(doc.body) {
			if r.kind != pptList || r.instance != 0 {
				continue
			}
			inner := records(r.body)
			for i := 0; i < len(inner); i++ {
				if inner[i].kind != pptPersist {
					continue
				}
				id := u32(inner[i].body, 0)
				if listed[id] {
					continue
				}
				listed[id] = true
				list = append(list, id)
				k := i + 1
				for k < len(inner) && inner[k].kind != pptPersist {
					k++
				}
				outline[id] = texts(inner[i+1:k], 0, nil)
			}
		}
	}
	if len(list) > c.lim.Pages {
		return nil, nil, media.Failf("%s has %d slides, more than the %d that are allowed.", c.name, len(list), c.lim.Pages)
	}
	var warnings []string
	n := 0
	if len(list) == 0 {
		warnings = append(warnings, "The list of slides cannot be read; they stand in the order of the file.")
		for _, r := range records(b) {
			if r.kind == 1006 {
				n++
				slide(d, n, texts(records(r.body), 0, nil))
			}
		}
	}
	told := map[int]bool{} // places of slides
	for _, id := range list {
		if err := c.lim.Err(); err != nil {
			return nil, nil, err
		}
		all := outline[id]
		if r, ok := at(b, offsets[id]); ok && r.kind == 1006 && !told[offsets[id]] {
			told[offsets[id]] = true
			all = append(all, texts(records(r.body), 0, nil)...)
		}
		n++
		slide(d, n, all)
	}
	for _, n := range notes(b, doc, offsets) {
		d.Blocks = append(d.Blocks, flow.Block{Kind: flow.Aside, Label: "Notes", Blocks: []flow.Block{flow.P(n)}})
	}
	return d, warnings, nil
}

// persisted follows the user edits, the newest first, to where each object stands now.
func persisted(b []byte, edit int) (offsets map[int]int, root int) {
	offsets = map[int]int{}
	seen := map[int]bool{} // edits and directories: neither comes twice
	for range 1000 {
		r, ok := at(b, edit)
		if !ok || r.kind != pptUserEdit || seen[edit] {
			return offsets, root
		}
		seen[edit] = true
		if root == 0 {
			root = u32(r.body, 16)
		}
		place := u32(r.body, 12)
		dir, ok := at(b, place)
		if ok && dir.kind == pptDirectory && !seen[place] {
			seen[place] = true
			for p := dir.body; len(p) >= 4; {
				id, n := u32(p, 0)&0xfffff, u32(p, 0)>>20
				p = p[4:]
				for k := range n {
					if _, have := offsets[id+k]; !have && 4*k+4 <= len(p) {
						offsets[id+k] = u32(p, 4*k)
					}
				}
				p = p[min(len(p), 4*n):]
			}
		}
		if edit = u32(r.body, 8); edit == 0 {
			break
		}
	}
	return offsets, root
}

// notes returns what the speaker's notes say.
func notes(b []byte, doc rec, offsets map[int]int) []string {
	var out []string
	told := map[int]bool{}
	for _, r := range records(doc.body) {
		if r.kind != pptList || r.instance != 2 {
			continue
		}
		for _, p := range records(r.body) {
			place := offsets[u32(p.body, 0)]
			if n, ok := at(b, place); p.kind == pptPersist && ok && n.kind == 1008 && !told[place] {
				told[place] = true
				for _, w := range texts(records(n.body), 0, nil) {
					if s := clean(w.text); w.kind == 2 && s != "" {
						out = append(out, s)
					}
				}
			}
		}
	}
	return out
}

func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == 0x0b:
			return '\n'
		case r < ' ' && r != '\t' && r != '\n':
			return -1
		}
		return r
	}, s))
}

// slide adds a slide with its number.
func slide(d *flow.Doc, n int, all []words) {
	title := ""
	var body []flow.Block
	seen := map[string]bool{}
	for _, w := range all {
		s := clean(w.text)
		if s == "" || s == "*" || seen[s] {
			continue
		}
		seen[s] = true
		if (w.kind == 0 || w.kind == 6) && title == "" {
			title = strings.Join(strings.Fields(s), " ")
			continue
		}
		for _, line := range strings.Split(s, "\n") {
			if strings.TrimSpace(line) != "" {
				body = append(body, flow.P(line))
			}
		}
	}
	if title == "" {
		title = "Slide " + strconv.Itoa(n)
	}
	if len(d.Blocks) > 0 {
		d.Blocks = append(d.Blocks, flow.Block{Kind: flow.Rule})
	}
	d.Blocks = append(d.Blocks, flow.Block{Kind: flow.Heading, Level: 2, Runs: []flow.Run{{Text: title}}})
	d.Blocks = append(d.Blocks, body...)
}
