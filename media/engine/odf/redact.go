package odf

import (
	"bytes"
	"context"
	"encoding/base64"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/pack"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// redact removes words from every part that can hold them, and looks again before it gives the result out.
func redact(ctx context.Context, r *media.Request) (media.Result, error) {
	d, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	red, err := tree.NewRedaction(r)
	if err != nil {
		return media.Result{}, err
	}
	if err := d.dropCopies(); err != nil {
		return media.Result{}, err
	}
	for _, name := range d.names() {
		if err := ctx.Err(); err != nil {
			return media.Result{}, err
		}
		src, err := d.part(name)
		if err != nil {
			return media.Result{}, err
		}
		switch {
		case xmlPart(name) && len(bytes.TrimSpace(src)) > 0:
			if out, err := redactCells(name, src, red, d); err != nil {
				return media.Result{}, err
			} else if src, err = red.Part(name, out, space, grammar, wordy, r.Limits); err != nil {
				return media.Result{}, err
			}
			d.set(name, src)
		case path.Ext(name) == ".svg":
			w := &text.Words{Patterns: red.Patterns, Replacement: red.Replacement, Inline: []string{"tspan", "a", "b"}}
			out, n, which, err := w.Replace(string(src))
			if err != nil {
				return media.Result{}, err
			}
			for i := range which {
				red.Found[i] = red.Found[i] || which[i]
			}
			red.Count += n
			d.set(name, []byte(out))
		}
	}
	if red.Count == 0 {
		return media.Result{}, media.Failf("nothing in %s matches. Nothing was changed.", r.In.Name)
	}
	for _, w := range red.Unfound() {
		d.warn("%s", w)
	}
	d.counts.Modified = red.Count
	res, err := d.done()
	if err != nil {
		return res, err
	}
	if err := d.verify(res.Media.Data, red); err != nil {
		return media.Result{}, err
	}
	res.Warnings = d.warnings
	return res, nil
}

// dropCopies takes away pictures of the content, which programs draw anew: the thumbnail and the stand-ins of objects and
// tables.
func (d *doc) dropCopies() error {
	if d.zip == nil {
		return nil
	}
	var gone []string
	for _, n := range d.names() {
		if strings.HasPrefix(n, "Thumbnails/") || strings.Contains(n, "ObjectReplacements/") || strings.HasPrefix(n, "Pictures/TablePreview") {
			gone = append(gone, n)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	for _, name := range d.names() {
		if path.Base(name) != "content.xml" && name != "styles.xml" {
			continue
		}
		src, root, err := d.tree(name)
		if err != nil {
			return err
		}
		var cuts []tree.Splice
		for _, im := range root.All("draw:image") {
			target := path.Join(path.Dir(name), im.Get("xlink:href"))
			if slices.Contains(gone, target) && im.Parent.Child("draw:object", "draw:object-ole", "table:table") != nil {
				cuts = append(cuts, tree.Splice{From: im.From, To: im.To})
			}
		}
		d.set(name, tree.Apply(src, cuts))
	}
	d.warn("The thumbnail and the stored pictures of tables and objects were taken away; programs draw them anew.")
	return d.drop(gone...)
}

// redactCells makes a text of every number, date and formula in a table in which there is a match.
func redactCells(name string, src []byte, red *tree.Redaction, d *doc) ([]byte, error) {
	if !bytes.Contains(src, []byte("value-type")) {
		return src, nil
	}
	root, err := tree.Parse(name, src, space, d.r.Limits)
	if err != nil {
		return nil, err
	}
	var cuts []tree.Splice
	root.Walk(func(n *tree.Node) bool {
		if err != nil || n.Name != "table:table-cell" && n.Name != "table:covered-table-cell" {
			return err == nil
		}
		kind := n.Get("office:value-type")
		formula := n.Get("table:formula")
		if (kind == "" || kind == "string") && formula == "" {
			return true
		}
		shown := cellText(n)
		var hit string
		for _, a := range []string{shown, n.Get("office:value"), n.Get("office:date-value"), n.Get("office:time-value"), n.Get("office:boolean-value"), n.Get("office:string-value"), formula} {
			if hit == "" && err == nil && a != "" {
				hit, err = red.Hit(a)
			}
		}
		if hit == "" || err != nil {
			return err == nil
		}
		was := red.Count
		var fresh string
		if fresh, err = red.Text(shown); err != nil {
			return false
		}
		if red.Count == was { // the number behind it holds the match, or the formula
			fresh, red.Count = red.Replacement, was+1
		}
		if formula != "" {
			d.warn("Cells with formulas in which something matches are texts now.")
		}
		cuts = append(cuts, textCell(n, fresh)...)
		return false
	})
	return tree.Apply(src, cuts), err
}

// cellText is what a cell shows.
func cellText(n *tree.Node) string {
	var lines []string
	for _, k := range n.Kids {
		if k.Name == "text:p" || k.Name == "text:h" {
			var b strings.Builder
			k.Walk(func(m *tree.Node) bool {
				switch m.Name {
				case "":
					b.WriteString(m.Text)
				case "text:s", "text:tab", "text:line-break":
					b.WriteString(grammar.Sign(m))
				case "office:annotation", "text:note", "text:ruby-text":
					return false
				}
				return true
			})
			lines = append(lines, b.String())
		}
	}
	return strings.Join(lines, "\n")
}

// textCell makes a cell hold a text and nothing else but its comments and drawings.
func textCell(n *tree.Node, words string) []tree.Splice {
	var cuts []tree.Splice
	has := false
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Name {
		case "office:value-type", "calcext:value-type":
			cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: "string"})
			has = has || a.Name == "office:value-type"
		case "office:value", "office:date-value", "office:time-value", "office:boolean-value", "office:string-value", "office:currency", "table:formula",
			"table:number-matrix-columns-spanned", "table:number-matrix-rows-spanned":
			cuts = append(cuts, tree.Splice{From: a.From, To: a.To})
		}
	}
	head := n.From + 1 + len(n.Raw)
	if !has {
		cuts = append(cuts, tree.Splice{From: head, To: head, With: " " + officePrefix(n) + `value-type="string"`})
	}
	p := "<" + textPrefix(n) + "p>" + paragraph(words, textPrefix(n)) + "</" + textPrefix(n) + "p>"
	if n.Closed() {
		return append(cuts, tree.Splice{From: n.To - 2, To: n.To, With: ">" + p + "</" + n.Raw + ">"})
	}
	for _, k := range n.Kids {
		if k.Name == "text:p" || k.Name == "text:h" {
			cuts = append(cuts, tree.Splice{From: k.From, To: k.To, With: p})
			p = ""
		}
	}
	if p != "" {
		cuts = append(cuts, tree.Splice{From: n.Out, To: n.Out, With: p})
	}
	return cuts
}

// officePrefix and textPrefix are the prefixes that a file uses, with their colon, found at its root.
func officePrefix(n *tree.Node) string { return prefixOf(n, "office") }

func textPrefix(n *tree.Node) string { return prefixOf(n, "text") }

func prefixOf(n *tree.Node, usual string) string {
	for ; n != nil; n = n.Parent {
		for i := range n.Attr {
			if p, ok := strings.CutPrefix(n.Attr[i].Name, "xmlns:"); ok && space[n.Attr[i].Val] == usual {
				return p + ":"
			}
		}
	}
	return usual + ":"
}

// paragraph writes words as the content of a paragraph.
func paragraph(words, prefix string) string {
	var b strings.Builder
	spaces := 0
	flush := func() {
		if spaces == 1 && b.Len() > 0 && !strings.HasSuffix(b.String(), ">") {
			b.WriteByte(' ')
		} else if spaces > 0 {
			b.WriteString(strings.Repeat("<"+prefix+"s/>", spaces))
		}
		spaces = 0
	}
	for _, c := range strings.ReplaceAll(strings.ReplaceAll(words, "\r\n", "\n"), "\r", "\n") {
		if c == ' ' {
			spaces++
			continue
		}
		flush()
		switch c {
		case '\n':
			b.WriteString("<" + prefix + "line-break/>")
		case '\t':
			b.WriteString("<" + prefix + "tab/>")
		default:
			b.WriteString(tree.Escape(string(c)))
		}
	}
	if spaces == 1 && b.Len() > 0 {
		b.WriteByte(' ') // what follows decides whether it shows
	} else {
		flush()
	}
	return b.String()
}

// raster are pictures of dots, which hold words only for eyes.
var raster = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff", "image/bmp", "image/avif", "image/heic"}

// verify opens the result, reads every member of it and looks for what should be gone.
func (d *doc) verify(out []byte, red *tree.Redaction) error {
	v, err := open(&media.Request{In: media.Payload{Data: out, Name: d.r.In.Name, MIME: d.r.In.MIME}, Limits: d.r.Limits})
	if err != nil {
		return err
	}
	pictures := false
	for _, name := range v.names() {
		if hit, err := red.Hit(name); err != nil {
			return err
		} else if hit != "" && !strings.HasPrefix(name, "META-INF/") && !strings.HasPrefix(name, "Pictures/") {
			return tree.Left("the name of the part "+name, hit)
		}
		src, err := v.part(name)
		if err != nil {
			return err
		}
		for _, w := range red.Plain() {
			if bytes.Contains(src, []byte(w)) {
				return tree.Left("the part "+name, w)
			}
		}
		switch kind := media.Identify(media.Payload{Data: src, Name: path.Base(name)}).MIME; {
		case len(bytes.TrimSpace(src)) == 0 || name == "mimetype":
		case xmlPart(name):
			hit, err := red.Check(name, src, space, grammar, wordy, d.r.Limits)
			if err != nil {
				return err
			}
			if hit != "" {
				return tree.Left("the part "+name, hit)
			}
			if more, err := v.binaries(name, src, red); err != nil {
				return err
			} else if more {
				pictures = true
			}
		case slices.Contains(raster, kind):
			pictures = true
		default:
			if err := opaque(name, src, kind, red, d.r.Limits); err != nil {
				return err
			}
		}
	}
	if pictures {
		d.warn("The file holds pictures, which were not read.")
	}
	if d.r.In.MIME == odsMIME || d.r.In.MIME == fodsMIME {
		return nil // every cell was looked at above
	}
	words, err := v.read(false)
	if err != nil {
		return err
	}
	hit, err := red.Hit(words.Text(flow.Options{Changes: true}))
	if hit != "" && err == nil {
		err = tree.Left("the text", hit)
	}
	return err
}

// binaries looks into what stands in base64 within the XML of a flat file.
func (d *doc) binaries(name string, src []byte, red *tree.Redaction) (pictures bool, err error) {
	if !bytes.Contains(src, []byte("binary-data")) {
		return false, nil
	}
	_, root, err := d.tree(name)
	if err != nil {
		return false, err
	}
	for _, n := range root.All("office:binary-data") {
		raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Words()), ""))
		if err != nil {
			return pictures, media.Failf("%s holds embedded bytes that cannot be decoded, so it cannot be redacted with certainty. Remove them with sanitize first.", d.r.In.Name)
		}
		kind := media.Identify(media.Payload{Data: raw}).MIME
		if slices.Contains(raster, kind) {
			pictures = true
			continue
		}
		if err := opaque("an embedded file", raw, kind, red, d.r.Limits); err != nil {
			return pictures, err
		}
	}
	return pictures, nil
}

// opaque looks for words in a member that is no XML, and refuses one that it cannot look into.
func opaque(name string, src []byte, kind string, red *tree.Redaction, lim media.Limits) error {
	if strings.HasPrefix(kind, "application/zip") || strings.Contains(kind, "officedocument") || strings.Contains(kind, "opendocument") || kind == "application/epub+zip" {
		z, err := pack.Open(&media.Payload{Data: src, Name: name}, lim)
		if err != nil {
			return err
		}
		for _, m := range z.Names() {
			b, err := z.Read(m)
			if err != nil {
				return err
			}
			if err := opaque(name+", "+m, b, media.Identify(media.Payload{Data: b, Name: path.Base(m)}).MIME, red, lim); err != nil {
				return err
			}
		}
		return nil
	}
	if slices.Contains([]string{"application/pdf", "application/gzip", "application/x-7z-compressed", "application/x-ole-encrypted"}, kind) {
		return media.Failf("%s holds %s (%s), which cannot be looked into here, so it cannot be redacted with certainty. Take it out with sanitize first.", "the file", name, kind)
	}
	hit, err := red.Scan(src)
	if err == nil && hit != "" {
		err = media.Failf("%q stands in %s, which cannot be changed here. Take it out with sanitize first. Nothing was changed.", hit, name)
	}
	return err
}
