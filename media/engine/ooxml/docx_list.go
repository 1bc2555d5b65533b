package ooxml

import (
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// style is what a style of a document says about the shape of text.
type style struct {
	name, based string
	heading     int // 1 to 9
	num         string
	level       int
	coded       bool
	quote       bool
}

// list is a level of a numbering.
type list struct {
	format string
	start  int
}

func val(n *tree.Node, child string) string {
	if k := n.Child(child); k != nil {
		return k.Get("w:val")
	}
	return ""
}

// on reports whether a switch such as w:b is on.
func on(n *tree.Node, child string) bool {
	k := n.Child(child)
	if k == nil {
		return false
	}
	switch k.Get("w:val") {
	case "0", "false", "off", "none":
		return false
	}
	return true
}

func (d *docReader) readStyles() error {
	d.styles = map[string]*style{}
	for _, part := range d.f.to(d.f.main, "styles") {
		root, err := d.f.tree(part)
		if err != nil {
			return err
		}
		for _, k := range root.Kids {
			if k.Name != "w:style" {
				continue
			}
			s := &style{name: strings.ToLower(val(k, "w:name")), based: val(k, "w:basedOn")}
			if pr := k.Child("w:pPr"); pr != nil {
				if o := pr.Child("w:outlineLvl"); o != nil {
					if n, err := strconv.Atoi(o.Get("w:val")); err == nil && n >= 0 && n < 9 {
						s.heading = n + 1
					}
				}
				if num := pr.Child("w:numPr"); num != nil {
					s.num = val(num, "w:numId")
					s.level, _ = strconv.Atoi(val(num, "w:ilvl"))
				}
			}
			if rest, ok := strings.CutPrefix(s.name, "heading "); ok {
				if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil && n > 0 && n < 10 {
					s.heading = n
				}
			}
			switch s.name {
			case "title":
				s.heading = 1
			case "source code", "html preformatted", "preformatted text", "code", "plain text", "verbatim char", "html code", "source text", "html typewriter":
				s.coded = true
			case "quote", "intense quote", "block text", "quotations":
				s.quote = true
			}
			d.styles[k.Get("w:styleId")] = s
		}
	}
	for _, s := range d.styles { // what a style is based on, a few steps up
		for b, n := d.styles[s.based], 0; b != nil && n < 10; b, n = d.styles[b.based], n+1 {
			if s.heading == 0 {
				s.heading = b.heading
			}
			if s.num == "" {
				s.num, s.level = b.num, b.level
			}
			s.coded, s.quote = s.coded || b.coded, s.quote || b.quote
		}
	}
	return nil
}

func (d *docReader) readNumbering() error {
	d.nums, d.levels, d.override = map[string]string{}, map[string]map[int]list{}, map[string]map[int]int{}
	for _, part := range d.f.to(d.f.main, "numbering") {
		root, err := d.f.tree(part)
		if err != nil {
			return err
		}
		for _, k := range root.Kids {
			switch k.Name {
			case "w:abstractNum":
				m := map[int]list{}
				for _, l := range k.Kids {
					if l.Name == "w:lvl" {
						n, _ := strconv.Atoi(l.Get("w:ilvl"))
						start, err := strconv.Atoi(val(l, "w:start"))
						if err != nil {
							start = 1
						}
						m[n] = list{val(l, "w:numFmt"), start}
					}
				}
				d.levels[k.Get("w:abstractNumId")] = m
			case "w:num":
				id := k.Get("w:numId")
				d.nums[id] = val(k, "w:abstractNumId")
				for _, o := range k.Kids {
					if o.Name == "w:lvlOverride" {
						n, _ := strconv.Atoi(o.Get("w:ilvl"))
						if start, err := strconv.Atoi(val(o, "w:startOverride")); err == nil {
							if d.override[id] == nil {
								d.override[id] = map[int]int{}
							}
							d.override[id][n] = start
						}
					}
				}
			}
		}
	}
	return nil
}

// shape returns the style of a paragraph, its level as a heading (0 is none), and its list with the level there.
func (d *docReader) shape(n *tree.Node) (s *style, heading int, num string, level int) {
	s = &style{}
	pr := n.Child("w:pPr")
	if pr == nil {
		return s, 0, "", 0
	}
	if st := d.styles[val(pr, "w:pStyle")]; st != nil {
		s = st
	}
	heading, num, level = s.heading, s.num, s.level
	if np := pr.Child("w:numPr"); np != nil {
		if id := val(np, "w:numId"); id != "" {
			num = id
		}
		if l := val(np, "w:ilvl"); l != "" {
			level, _ = strconv.Atoi(l)
		}
	}
	if o := pr.Child("w:outlineLvl"); o != nil {
		if k, err := strconv.Atoi(o.Get("w:val")); err == nil && k >= 0 {
			heading = (k + 1) % 10
		}
	}
	return s, heading, num, level
}

// listed makes an item of a paragraph that is numbered.
func (d *docReader) listed(b *flow.Block, num string, level int) {
	abstract, ok := d.nums[num]
	if !ok || level < 0 || level > 8 || flow.Blank(b.Runs) {
		return
	}
	l, ok := d.levels[abstract][level]
	if !ok || l.format == "none" {
		return
	}
	b.Kind, b.Level = flow.Item, level+1
	b.Ordered = l.format != "bullet"
	key := abstract
	if d.override[num] != nil {
		key = num + "/" + abstract
	}
	c := d.counts[key]
	if c == nil {
		c = make([]int, 9)
		for i := range c {
			c[i] = -1 << 30
		}
		d.counts[key] = c
	}
	start := l.start
	if o, ok := d.override[num][level]; ok {
		start = o
	}
	if c[level] < -1<<29 {
		c[level] = start - 1
	}
	c[level]++
	for i := level + 1; i < len(c); i++ {
		c[i] = -1 << 30
	}
	if b.Ordered {
		b.Number = max(1, c[level])
	}
}
