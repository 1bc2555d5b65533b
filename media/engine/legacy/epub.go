package legacy

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
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

var epubSpace = map[string]string{"http://www.idpf.org/2007/opf": "opf", "http://purl.org/dc/elements/1.1/": "dc", "urn:oasis:names:tc:opendocument:xmlns:container": "c"}

// book is an open e-book.
type book struct {
	zip      *pack.File
	opf      string   // name of the part that lists the others
	spine    []string // parts in the order of reading
	metadata map[string]any
	title    string
}

func openEPUB(r *media.Request) (*book, error) {
	z, err := pack.Open(&r.In, r.Limits)
	if err != nil {
		return nil, err
	}
	b := &book{zip: z, metadata: map[string]any{}}
	if z.Has("META-INF/encryption.xml") {
		src, err := z.Read("META-INF/encryption.xml")
		if err != nil {
			return nil, err
		}
		if bytes.Contains(src, []byte(".xhtml")) || bytes.Contains(src, []byte(".html")) {
			return nil, media.Refusef("%s is protected against copying; its text is encrypted.", r.In.Name)
		}
	}
	parse := func(name string) (*tree.Node, error) {
		src, err := z.Read(name)
		if err != nil {
			return nil, err
		}
		return tree.Parse(name, src, epubSpace, r.Limits)
	}
	c, err := parse("META-INF/container.xml")
	if err != nil {
		return nil, err
	}
	c.Walk(func(n *tree.Node) bool {
		if strings.HasSuffix(n.Name, "rootfile") && b.opf == "" {
			b.opf = n.Get("full-path")
		}
		return true
	})
	pkg, err := parse(b.opf)
	if err != nil {
		return nil, err
	}
	at := func(href string) string {
		if u, err := url.PathUnescape(href); err == nil {
			href = u
		}
		return path.Join(path.Dir(b.opf), href)
	}
	items := map[string]string{}
	pkg.Walk(func(n *tree.Node) bool {
		switch n.Name {
		case "opf:item":
			items[n.Get("id")] = at(n.Get("href"))
		case "opf:itemref":
			if p := items[n.Get("idref")]; p != "" && !slices.Contains(b.spine, p) && z.Has(p) {
				b.spine = append(b.spine, p)
			}
		}
		if key, ok := strings.CutPrefix(n.Name, "dc:"); ok && n.Words() != "" && b.metadata[key] == nil {
			b.metadata[key] = strings.TrimSpace(n.Words())
		}
		return true
	})
	b.title, _ = b.metadata["title"].(string)
	if len(b.spine) == 0 {
		return nil, media.Failf("%s names no parts to read.", r.In.Name)
	}
	return b, nil
}

func readEPUB(r *media.Request) (*flow.Doc, []string, error) {
	b, err := openEPUB(r)
	if err != nil {
		return nil, nil, err
	}
	out := &flow.Doc{Title: b.title}
	for _, name := range b.spine {
		if err := r.Limits.Err(); err != nil {
			return nil, nil, err
		}
		src, err := b.zip.Read(name)
		if err != nil {
			return nil, nil, err
		}
		d, err := flow.ReadHTML(string(src))
		if err != nil {
			return nil, nil, media.Failf("the part %q of %s cannot be read: %v.", name, r.In.Name, err)
		}
		shift(d.Blocks, len(out.Notes))
		for i := range d.Notes {
			shift(d.Notes[i].Blocks, len(out.Notes))
		}
		out.Blocks, out.Notes = append(out.Blocks, d.Blocks...), append(out.Notes, d.Notes...)
	}
	return out, nil, nil
}

// shift numbers the notes of a part after those of the parts before it.
func shift(blocks []flow.Block, by int) {
	if by == 0 {
		return
	}
	for i := range blocks {
		b := &blocks[i]
		for k := range b.Runs {
			if b.Runs[k].Note > 0 {
				b.Runs[k].Note += by
			}
		}
		shift(b.Blocks, by)
		for _, row := range b.Rows {
			for k := range row {
				shift(row[k].Blocks, by)
			}
		}
	}
}

var epubInline = []string{"a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "tspan", "u", "var", "wbr"}

// raster are the extensions of pictures whose metadata can be taken away.
var raster = map[string]bool{".png": true, ".jpg": true, ".jpeg": true, ".webp": true}

var tags = regexp.MustCompile(`<[/]?[A-Za-z_][^<>]*>`)

// markupPart reports whether a member is markup or a style sheet, in which words can stand.
func markupPart(name string) bool {
	return slices.Contains([]string{".xhtml", ".html", ".htm", ".xml", ".opf", ".ncx", ".svg", ".smil", ".pls"}, path.Ext(strings.ToLower(name)))
}

// redactEPUB removes words from every part of an e-book, and looks again before it gives the result out.
func redactEPUB(ctx context.Context, r *media.Request) (media.Result, error) {
	b, err := openEPUB(r)
	if err != nil {
		return media.Result{}, err
	}
	red, err := tree.NewRedaction(r)
	if err != nil {
		return media.Result{}, err
	}
	w := b.words(red)
	changed := map[string][]byte{}
	var forgot []string
	for _, name := range b.zip.Names() {
		if err := ctx.Err(); err != nil {
			return media.Result{}, err
		}
		if strings.HasPrefix(name, "META-INF/signatures") {
			changed[name] = nil
			continue
		}
		if raster[path.Ext(strings.ToLower(name))] {
			src, err := b.zip.Read(name)
			if err != nil {
				return media.Result{}, err
			}
			fresh, left, err := image.Forget(src, red.Scan)
			switch {
			case err != nil:
				return media.Result{}, err
			case left != "":
				return media.Result{}, media.Failf("%q stands in the metadata of the picture %s, which cannot be changed without drawing it anew. Replace it or take it out first. Nothing was changed.", left, name)
			case fresh != nil:
				red.Count++
				changed[name] = fresh
				forgot = append(forgot, fmt.Sprintf("The metadata of the picture %s was taken away, because something in it matches.", path.Base(name)))
			}
			continue
		}
		css := strings.HasSuffix(strings.ToLower(name), ".css") || strings.HasSuffix(strings.ToLower(name), ".txt") || strings.HasSuffix(strings.ToLower(name), ".js")
		if !markupPart(name) && !css {
			continue
		}
		src, err := b.zip.Read(name)
		if err != nil {
			return media.Result{}, err
		}
		out := string(src)
		n := 0
		if css {
			was := red.Count
			if out, err = red.Text(out); err != nil {
				return media.Result{}, err
			}
			n = red.Count - was
		} else {
			var which []bool
			if out, n, which, err = w.Replace(out); err != nil {
				return media.Result{}, err
			}
			for i := range which {
				red.Found[i] = red.Found[i] || which[i]
			}
			red.Count += n
		}
		if n > 0 {
			changed[name] = []byte(out)
		}
	}
	if red.Count == 0 {
		return media.Result{}, media.Failf("nothing in %s matches. Nothing was changed.", r.In.Name)
	}
	out, err := b.zip.Rewrite(changed)
	if err != nil {
		return media.Result{}, err
	}
	warnings := append(red.Unfound(), forgot...)
	more, err := verifyEPUB(out, red, r)
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{Media: &media.Payload{Data: out}, Warnings: append(warnings, more...), Counts: media.Counts{Modified: red.Count}}, nil
}

// words finds what is to be redacted in a part. Where an attribute names another part, or a type, it stays: the book would
// not hold together.
func (b *book) words(red *tree.Redaction) *text.Words {
	files := map[string]bool{}
	for _, name := range b.zip.Names() {
		files[path.Base(name)] = true
	}
	return &text.Words{Patterns: red.Patterns, Replacement: red.Replacement, Inline: epubInline, Leave: func(_, attr, value string) bool {
		switch attr {
		case "href", "src", "full-path", "xlink:href", "data", "poster":
			if u, err := url.PathUnescape(value); err == nil {
				value = u
			}
			return files[path.Base(value)] && !strings.Contains(value, "://")
		case "media-type", "xmlns", "version", "epub:type", "type", "rel", "properties", "property", "role":
			return true
		}
		return strings.HasPrefix(attr, "xmlns:")
	}}
}

// usual are the words of which programs make the names of parts.
var usual = strings.Fields("meta inf mimetype container oebps ops epub content package book toc ncx nav navigation text title page titlepage section sections chapter chapters part cover index styles style stylesheet css images image fonts font media misc xhtml html xml opf encryption rights")

// nameHit looks through what of the name of a part no program would have given it.
func nameHit(name string, red *tree.Redaction) (string, error) {
	hit, err := red.Hit(name)
	if err != nil || slices.Contains(usual, strings.ToLower(strings.Trim(hit, "0123456789./_-"))) {
		return "", err
	}
	return hit, nil
}

func verifyEPUB(out []byte, red *tree.Redaction, r *media.Request) (warnings []string, err error) {
	sub := &media.Request{In: media.Payload{Data: out, Name: r.In.Name, MIME: epubMIME}, Limits: r.Limits}
	b, err := openEPUB(sub)
	if err != nil {
		return nil, err
	}
	w := b.words(red)
	pictures := false
	for _, name := range b.zip.Names() {
		if hit, err := nameHit(name, red); err != nil || hit != "" {
			if err == nil {
				err = tree.Left("the name of the part "+name, hit)
			}
			return nil, err
		}
		src, err := b.zip.Read(name)
		if err != nil {
			return nil, err
		}
		plain := src
		if markupPart(name) { // whose tags are looked through below
			plain = tags.ReplaceAll(src, nil)
		}
		for _, p := range red.Plain() {
			if bytes.Contains(plain, []byte(p)) && name != "mimetype" {
				return nil, tree.Left("the part "+name, p)
			}
		}
		hit := ""
		switch kind := media.Identify(media.Payload{Data: src, Name: path.Base(name)}).MIME; {
		case markupPart(name):
			hit, err = w.Find(string(src))
		case strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "audio/"), slices.Contains([]string{".ttf", ".otf", ".woff", ".woff2"}, path.Ext(name)):
			pictures = pictures || strings.HasPrefix(kind, "image/")
			if hit, err = red.Scan(src); len(hit) < 8 { // shorter ones mean nothing in what is all but random
				hit = ""
			}
		case name == "mimetype":
		default:
			hit, err = red.Scan(src)
		}
		if err != nil {
			return nil, err
		}
		if hit != "" {
			return nil, tree.Left("the part "+name, hit)
		}
	}
	if pictures {
		warnings = append(warnings, "The e-book holds pictures, which were not read.")
	}
	d, _, err := readEPUB(sub)
	if err != nil {
		return nil, err
	}
	hit, err := red.Hit(d.Text(flow.Options{Changes: true}))
	if err == nil && hit != "" {
		err = tree.Left("the text", hit)
	}
	return warnings, err
}

// sanitizeEPUB takes scripts, handlers and remote references out of every page, and scripts out of the book.
func sanitizeEPUB(ctx context.Context, r *media.Request) (media.Result, error) {
	b, err := openEPUB(r)
	if err != nil {
		return media.Result{}, err
	}
	var clean func(context.Context, *media.Request) (media.Result, error)
	for _, e := range text.Engine().Edit {
		if slices.Contains(e.Ops, "sanitize") {
			clean = e.Do
		}
	}
	changed := map[string][]byte{}
	removed := map[string]int{}
	for _, name := range b.zip.Names() {
		ext := path.Ext(strings.ToLower(name))
		switch {
		case ext == ".js":
			changed[name] = nil
			removed["script"]++
		case ext == ".xhtml" || ext == ".html" || ext == ".htm" || ext == ".svg":
			src, err := b.zip.Read(name)
			if err != nil {
				return media.Result{}, err
			}
			mime := "text/html"
			if ext == ".svg" {
				mime = "image/svg+xml"
			}
			res, err := clean(ctx, &media.Request{In: media.Payload{Data: src, MIME: mime, Name: path.Base(name)}, Op: "sanitize", Args: map[string]any{}, Limits: r.Limits})
			if err != nil {
				return media.Result{}, err
			}
			if n := res.Counts.Removed; n > 0 {
				changed[name] = res.Media.Data
				removed["active or remote part of a page"] += n
			}
		}
	}
	if removed["script"] > 0 {
		src, err := b.zip.Read(b.opf)
		if err != nil {
			return media.Result{}, err
		}
		root, err := tree.Parse(b.opf, src, epubSpace, r.Limits)
		if err != nil {
			return media.Result{}, err
		}
		var cuts []tree.Splice
		for _, n := range root.All("opf:item") {
			if strings.HasSuffix(strings.ToLower(n.Get("href")), ".js") {
				cuts = append(cuts, tree.Splice{From: n.From, To: n.To})
			}
		}
		changed[b.opf] = tree.Apply(src, cuts)
	}
	out, err := b.zip.Rewrite(changed)
	if err != nil {
		return media.Result{}, err
	}
	res := media.Result{Media: &media.Payload{Data: out}}
	res.Warnings, res.Counts.Removed = report(removed)
	return res, nil
}

// report says what was removed.
func report(removed map[string]int) (warnings []string, total int) {
	for what, n := range removed {
		warnings = append(warnings, fmt.Sprintf("Removed %d × %s.", n, what))
		total += n
	}
	slices.Sort(warnings)
	if total == 0 {
		warnings = append(warnings, "There was nothing to remove.")
	}
	return warnings, total
}
