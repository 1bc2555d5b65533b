package odf

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// acting are the elements that run something, fetch something, or hold a file that no program of this kind wrote.
var acting = map[string]string{
	"office:scripts": "macro", "office:script": "macro", "office:event-listeners": "event listener", "presentation:event-listener": "event listener",
	"script:event-listener": "event listener", "script:event": "event listener", "text:script": "script", "text:execute-macro": "macro",
	"draw:object-ole": "embedded object", "draw:plugin": "plugin", "draw:applet": "applet", "draw:floating-frame": "frame that fetches",
	"text:dde-connection": "DDE link", "text:dde-connection-decls": "DDE link", "table:dde-links": "DDE link", "office:dde-source": "DDE link",
	"table:table-source": "link to another file", "table:cell-range-source": "link to another file",
	"text:section-source": "link to another file", "form:connection-resource": "data connection", "xforms:submission": "form that sends",
	"table:database-source-sql": "data connection", "table:database-source-query": "data connection", "table:database-source-table": "data connection",
	"anim:command": "command in an animation",
}

// privateItems are settings that tell about the machine on which a file was made.
var privateItems = []string{"PrinterSetup", "PrinterName", "PrinterPaperFromSetup"}

// sanitize removes what acts, what reaches out, and what tells of the machine.
func sanitize(ctx context.Context, r *media.Request) (media.Result, error) {
	d, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	removed := map[string]int{}
	if err := d.dropMembers(removed); err != nil {
		return media.Result{}, err
	}
	var orphans []string
	for _, name := range d.names() {
		if err := ctx.Err(); err != nil {
			return media.Result{}, err
		}
		src, err := d.part(name)
		if err != nil {
			return media.Result{}, err
		}
		switch {
		case path.Ext(name) == ".svg":
			out, n, err := safeSVG(ctx, r, src)
			if err != nil {
				return media.Result{}, err
			}
			removed["active or remote part of an SVG picture"] += n
			d.set(name, out)
		case xmlPart(name) && name != manifest && len(bytes.TrimSpace(src)) > 0:
			_, root, err := d.tree(name)
			if err != nil {
				return media.Result{}, err
			}
			d.set(name, tree.Apply(src, unsafe(root, removed, &orphans)))
		}
	}
	delete(removed, "")
	var gone []string
	for _, o := range orphans {
		for _, n := range d.names() {
			if n == o || strings.HasPrefix(n, o+"/") || n == "ObjectReplacements/"+path.Base(o) {
				gone = append(gone, n)
			}
		}
	}
	if err := d.drop(gone...); err != nil {
		return media.Result{}, err
	}
	for _, what := range sorted(removed) {
		if removed[what] > 0 {
			d.warn("Removed %d × %s.", removed[what], what)
			d.counts.Removed += removed[what]
		}
	}
	if d.counts.Removed == 0 {
		d.warn("There was nothing to remove.")
	}
	return d.done()
}

func sorted(m map[string]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// dropMembers removes the members that hold macros, dialogs, their signatures and toolbars with commands.
func (d *doc) dropMembers(removed map[string]int) error {
	var gone []string
	for _, n := range d.names() {
		what := ""
		switch {
		case strings.HasPrefix(n, "Basic/"), strings.HasPrefix(n, "Scripts/"), strings.HasPrefix(n, "Dialogs/"):
			what = "macro or dialog"
		case oldVersion(n):
			what = "older version of the file"
		case strings.HasPrefix(n, "META-INF/") && strings.Contains(n, "signatures"):
			what = "signature of macros"
		case strings.HasPrefix(n, "Configurations2/") && !strings.HasSuffix(n, "/"):
			src, err := d.part(n)
			if err != nil {
				return err
			}
			if bytes.Contains(src, []byte("script:")) || bytes.Contains(src, []byte("macro:")) {
				what = "toolbar or key that starts a macro"
			}
		}
		if what != "" {
			gone = append(gone, n)
			if !strings.HasSuffix(n, "/") {
				removed[what]++
			}
		}
	}
	return d.drop(gone...)
}

// unsafe returns the splices that take away what acts or reaches out. It adds the members that nothing names any more.
func unsafe(root *tree.Node, removed map[string]int, orphans *[]string) []tree.Splice {
	var cuts []tree.Splice
	root.Walk(func(n *tree.Node) bool {
		what := acting[n.Name]
		if what == "macro" && len(strings.TrimSpace(n.Words())) == 0 && len(n.All("script:event-listener")) == 0 && len(n.Kids) == 0 {
			what = "" // an empty frame for macros, as every file has
		}
		if n.Name == "config:config-item" && slices.Contains(privateItems, n.Get("config:name")) && n.Words() != "" {
			what = "setting of a printer"
		}
		if what != "" {
			removed[what]++
			cuts = append(cuts, tree.Splice{From: n.From, To: n.To})
			if n.Name == "draw:object-ole" {
				if href := strings.TrimPrefix(n.Get("xlink:href"), "./"); href != "" {
					*orphans = append(*orphans, href)
				}
			}
			return false
		}
		if a := n.Find("xlink:href"); a != nil {
			if why := reaching(n, a.Val); why != "" {
				removed[why]++
				cuts = append(cuts, tree.Splice{From: a.From, To: a.To})
			}
		}
		if f := n.Find("table:formula"); f != nil && strings.Contains(strings.ToUpper(f.Val), "DDE(") {
			removed["formula that starts a program (now its value)"]++
			cuts = append(cuts, tree.Splice{From: f.From, To: f.To})
		}
		return true
	})
	return cuts
}

// reaching says why an address must go, or "".
func reaching(n *tree.Node, href string) string {
	low := strings.ToLower(strings.TrimSpace(href))
	remote := strings.Contains(low, "://") || strings.HasPrefix(low, "//") || strings.HasPrefix(low, `\\`) || strings.HasPrefix(low, "../")
	switch n.Name {
	case "text:a", "draw:a", "form:button", "draw:area-rectangle", "draw:area-circle", "draw:area-polygon", "text:bibliography-mark":
		if !strings.HasPrefix(low, "#") && flow.SafeLink(href) == "" || strings.HasPrefix(low, "file:") {
			return "link that starts something"
		}
		return ""
	}
	if remote || strings.HasPrefix(low, "file:") || strings.HasPrefix(low, "vnd.sun.star.script:") || strings.HasPrefix(low, "macro:") || strings.HasPrefix(low, "javascript:") {
		return "remote reference"
	}
	return ""
}

// safeSVG sanitises a picture within the file with the engine for markup.
func safeSVG(ctx context.Context, r *media.Request, src []byte) ([]byte, int, error) {
	for _, e := range text.Engine().Edit {
		if slices.Contains(e.Ops, "sanitize") {
			res, err := e.Do(ctx, &media.Request{In: media.Payload{Data: src, MIME: "image/svg+xml", Name: "picture.svg"}, Op: "sanitize", Args: map[string]any{}, Limits: r.Limits})
			if err != nil {
				return nil, 0, err
			}
			return res.Media.Data, res.Counts.Removed, nil
		}
	}
	return src, 0, nil
}
