package odf

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/image"
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
		case picture(name, src):
			if fresh, err := d.forget(name, src, red); err != nil {
				return media.Result{}, err
			} else if fresh != nil {
				d.set(name, fresh)
			}
		case xmlPart(name) && len(bytes.TrimSpace(src)) > 0:
			if src, err = d.forgetBinaries(name, src, red); err != nil {
				return media.Result{}, err
			}
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
	if err := d.verify(ctx, res.Media.Data, red); err != nil {
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
	versions := false
	for _, n := range d.names() {
		switch {
		case strings.HasPrefix(n, "Thumbnails/") || strings.Contains(n, "ObjectReplacements/") || strings.HasPrefix(n, "Pictures/TablePreview"):
			gone = append(gone, n)
		case oldVersion(n):
			gone, versions = append(gone, n), true
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
	if versions {
		d.warn("The older versions that the file keeps were taken away.")
	}
	if slices.ContainsFunc(gone, func(n string) bool { return !oldVersion(n) }) {
		d.warn("The thumbnail and the stored pictures of tables and objects were taken away; programs draw them anew.")
	}
	return d.drop(gone...)
}

// oldVersion reports whether a member belongs to the versions that a file keeps of itself.
func oldVersion(name string) bool {
	return strings.HasPrefix(name, "Versions/") || name == "VersionList.xml"
}

// redactCells makes a text of every number, date and formula in a table in which there is a match.
func redactCells(name string, src []byte, red *tree.Redaction, d *doc) ([]byte, error) {
	if !bytes.Contains(src, []byte("value-type")) {
		return src, nil
	}
	_, root, err := d.tree(name)
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
					sign := grammar.Sign(m)
					if b.Len() > 1<<20 {
						sign = sign[:1]
					}
					b.WriteString(sign)
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

// customary are the names of parts that the format gives, and those that programs make up of digits.
var customary = regexp.MustCompile(`^(((Object |Chart)[0-9]+/)?(mimetype|content\.xml|styles\.xml|meta\.xml|settings\.xml|manifest\.rdf|layout-cache)|META-INF/(manifest|documentsignatures|macrosignatures)\.xml|Thumbnails/thumbnail\.png|Configurations2/[A-Za-z/.]*|(Pictures|ObjectReplacements|media)/(Object )?[0-9A-Fa-f]*\.?[a-z]*|Object [0-9]+)$`)

// raster are pictures of dots, which hold words only for eyes.
var raster = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff", "image/bmp", "image/avif", "image/heic"}

// picture reports whether a member is a picture of dots.
func picture(name string, src []byte) bool {
	return slices.Contains(raster, media.Identify(media.Payload{Data: src, Name: path.Base(name)}).MIME)
}

// forget returns a picture without what it says beside its dots, where something in that matches; else nil.
func (d *doc) forget(name string, src []byte, red *tree.Redaction) ([]byte, error) {
	fresh, left, err := image.Forget(src, red.Scan)
	switch {
	case err != nil:
		return nil, err
	case left != "":
		return nil, media.Failf("%q stands in the metadata of the picture %s, which cannot be changed without drawing it anew. Replace it or take it out first. Nothing was changed.", left, name)
	case fresh != nil:
		red.Count++
		d.warn("The metadata of the picture %s was taken away, because something in it matches.", path.Base(name))
	}
	return fresh, nil
}

// forgetBinaries does the same for pictures that stand in base64 within the XML of a flat file.
func (d *doc) forgetBinaries(name string, src []byte, red *tree.Redaction) ([]byte, error) {
	if !bytes.Contains(src, []byte("binary-data")) {
		return src, nil
	}
	root, err := tree.Parse(name, src, space, d.r.Limits)
	if err != nil {
		return nil, err
	}
	var cuts []tree.Splice
	for _, n := range root.All("office:binary-data") {
		raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Words()), ""))
		if err != nil || !picture("", raw) {
			continue // verify looks at it
		}
		fresh, err := d.forget("in the file", raw, red)
		if err != nil {
			return nil, err
		}
		if fresh != nil {
			cuts = append(cuts, tree.Splice{From: n.In, To: n.Out, With: base64.StdEncoding.EncodeToString(fresh)})
		}
	}
	return tree.Apply(src, cuts), nil
}

// dots looks for words in the bytes of a picture. They are all but random, so short matches mean nothing.
func dots(src []byte, red *tree.Redaction) (string, error) {
	hit, err := red.Scan(src)
	if len(hit) < 8 {
		hit = ""
	}
	return hit, err
}

var tags = regexp.MustCompile(`<[/]?[A-Za-z_][^<>]*>`)

// spelled returns a word that is left in the source of a part, in places where nobody reads it too. What the format itself
// spells with it (the names of elements, of parts, of types) is not that word.
func (d *doc) spelled(name string, src []byte, red *tree.Redaction) (string, error) {
	var left []string
	for _, w := range red.Plain() {
		if bytes.Contains(src, []byte(w)) {
			left = append(left, w)
		}
	}
	if len(left) == 0 || name == "mimetype" {
		return "", nil
	}
	if !xmlPart(name) {
		return left[0], nil
	}
	bare := tags.ReplaceAll(src, nil)
	for _, w := range left {
		if bytes.Contains(bare, []byte(w)) {
			return w, nil
		}
	}
	root, err := tree.Parse(name, src, space, d.r.Limits)
	if err != nil {
		return "", err
	}
	var own strings.Builder
	own.WriteString("content.xml styles.xml settings.xml meta.xml manifest.rdf mimetype application/vnd.oasis.opendocument. text/xml image/png image/svg+xml " +
		"paragraph ruby chart graphic presentation page standard heading footnote endnote header footer left right center justify normal bold italic none solid auto true false simple string float date " +
		"body list caption index contents subtitle quotations signature sender addressee frame graphics numbering bullet symbols internet link line indent marginalia preformatted default ")
	root.Walk(func(n *tree.Node) bool {
		own.WriteString(n.Name + " ")
		for i := range n.Attr {
			own.WriteString(n.Attr[i].Name + " ")
		}
		return own.Len() < 1<<20
	})
	format, hit := strings.ToLower(own.String()), ""
	root.Walk(func(n *tree.Node) bool {
		for i := range n.Attr {
			a := &n.Attr[i]
			for _, w := range left {
				if !strings.HasPrefix(a.Name, "xmlns") && a.Name != "config:name" && strings.Contains(a.Val, w) && !strings.Contains(format, strings.ToLower(w)) {
					hit = w
				}
			}
		}
		return hit == ""
	})
	return hit, nil
}

// verify opens the result, reads every member of it and looks for what should be gone.
func (d *doc) verify(ctx context.Context, out []byte, red *tree.Redaction) error {
	v, err := open(&media.Request{In: media.Payload{Data: out, Name: d.r.In.Name, MIME: d.r.In.MIME}, Limits: d.r.Limits, ReadText: d.r.ReadText})
	if err != nil {
		return err
	}
	pictures := false
	for _, name := range v.names() {
		if customary.MatchString(name) {
			// every file of the format has it
		} else if hit, err := red.Hit(name); err != nil {
			return err
		} else if hit != "" {
			return tree.Left("the name of the part "+name, hit)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		src, err := v.part(name)
		if err != nil {
			return err
		}
		if hit, err := v.spelled(name, src, red); err != nil {
			return err
		} else if hit != "" {
			return tree.Left("the part "+name, hit)
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
			if more, err := v.binaries(ctx, name, src, red); err != nil {
				return err
			} else if more {
				pictures = true
			}
		case slices.Contains(raster, kind):
			pictures = true
			hit, err := dots(src, red)
			if err != nil {
				return err
			}
			if hit != "" {
				return tree.Left("the picture "+name, hit)
			}
		default:
			if err := v.opaque(ctx, name, src, kind, red, 0); err != nil {
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
func (d *doc) binaries(ctx context.Context, name string, src []byte, red *tree.Redaction) (pictures bool, err error) {
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
			hit, err := dots(raw, red)
			if err != nil {
				return pictures, err
			}
			if hit != "" {
				return pictures, tree.Left("a picture in the file", hit)
			}
			continue
		}
		if err := d.opaque(ctx, "an embedded file", raw, kind, red, 0); err != nil {
			return pictures, err
		}
	}
	return pictures, nil
}

// opaque looks for words in a member that is no XML, and refuses one that it cannot look into.
func (d *doc) opaque(ctx context.Context, name string, src []byte, kind string, red *tree.Redaction, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	unsure := func(why string) error {
		return media.Failf("%s holds %s (%s), which %s, so it cannot be redacted with certainty. Take it out with sanitize first.", d.r.In.Name, name, kind, why)
	}
	if slices.Contains([]string{"application/pdf", "application/gzip", "application/x-7z-compressed", "application/x-ole-encrypted"}, kind) {
		return unsure("cannot be looked into here")
	}
	hit, err := red.Scan(src)
	if err == nil && hit == "" && (strings.HasSuffix(kind, "xml") || strings.HasSuffix(kind, "html")) {
		hit, err = red.Hit(tree.Bare(src))
	}
	if err == nil && hit == "" && d.r.ReadText != nil && !media.Textual(kind) && slices.Contains([]media.Family{media.Document, media.Spreadsheet, media.Presentation}, media.FamilyOf(kind)) {
		words, e := d.r.ReadText(ctx, media.Payload{Data: src, MIME: kind, Name: path.Base(name)})
		if e == nil { // what nothing reads as a document is searched as bytes
			hit, err = red.Hit(words)
		}
	}
	if err != nil {
		return err
	}
	if hit != "" {
		return media.Failf("%q stands in %s, which cannot be changed here. Take it out with sanitize first. Nothing was changed.", hit, name)
	}
	if !bytes.HasPrefix(src, []byte("PK\x03\x04")) {
		return nil
	}
	if depth >= deepestEmbedding {
		return unsure(fmt.Sprintf("lies more than %d files deep", deepestEmbedding))
	}
	z, err := pack.Open(&media.Payload{Data: src, Name: name}, d.r.Limits)
	if err != nil {
		return err
	}
	for _, m := range z.Names() {
		b, err := z.Read(m)
		if err != nil {
			return err
		}
		if err := d.opaque(ctx, name+", "+m, b, media.Identify(media.Payload{Data: b, Name: path.Base(m)}).MIME, red, depth+1); err != nil {
			return err
		}
	}
	return nil
}
