package ext

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/media"
)

// LibreOffice has a filter for each format and each of its programs.
var (
	writerOut  = map[string]string{"pdf": "writer_pdf_Export", "docx": "MS Word 2007 XML", "odt": "writer8", "rtf": "Rich Text Format", "doc": "MS Word 97"}
	calcOut    = map[string]string{"pdf": "calc_pdf_Export", "xlsx": "Calc MS Excel 2007 XML", "ods": "calc8", "xls": "MS Excel 97", "fods": "OpenDocument Spreadsheet Flat XML", "sylk": "SYLK", "dif": "DIF"}
	impressOut = map[string]string{"pdf": "impress_pdf_Export", "pptx": "Impress MS PowerPoint 2007 XML", "odp": "impress8", "ppt": "MS PowerPoint 97"}
	texts      = mimes("docx", "doc", "odt", "fodt", "rtf", "html", "txt")
	workbooks  = mimes("xlsx", "xlsm", "xls", "ods", "fods", "csv", "sylk", "dif", "dbf")
	decks      = mimes("pptx", "ppt", "odp")
)

func filterOf(mime, to string) string {
	switch {
	case slices.Contains(texts, mime):
		return writerOut[to]
	case slices.Contains(workbooks, mime):
		return calcOut[to]
	case slices.Contains(decks, mime):
		return impressOut[to]
	case mime == "application/pdf":
		return writerOut[to]
	}
	return ""
}

// officeLimit is how long LibreOffice may take for one file, by default.
const officeLimit = 90 * time.Second

const debianPython = "/usr/bin/python3"

// jobsOfWorker is after how many files LibreOffice is started anew.
const jobsOfWorker = 200

// office converts with LibreOffice: with one that keeps running where its interface for Python is here, else, and where that
// one fails, with one that is started for the file.
type office struct {
	f      *Finder
	path   string
	python string

	mu      sync.Mutex // one file at a time
	dir     Folder
	worker  Resident
	version string
	jobs    int
	colds   int // times in a row that the one that keeps running failed
}

func (o *office) limit() time.Duration { return cmp.Or(o.f.cfg.OfficeTime, officeLimit) }

func (f *Finder) soffice(ctx context.Context) Found {
	x, ok := f.find("soffice", "office documents in more formats, and as PDF", "on Debian: apt install libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui python3-uno", "libreoffice")
	if !ok {
		return x
	}
	o := &office{f: f, path: x.Path}
	if f.cfg.Exists(debianPython) && f.cfg.Exists("/usr/lib/python3/dist-packages/uno.py") {
		o.python = debianPython // the interface is made for this one, whatever python3 is on the PATH
	}
	f.atEnd(o.end)
	trial := func() error {
		res, err := o.convert(ctx, &media.Request{In: media.Payload{Data: []byte(probeWord), MIME: "text/plain"}, To: "pdf"})
		if err == nil && !strings.HasPrefix(string(res.Media.Data), "%PDF") {
			err = errors.New("it made no PDF of a small file")
		}
		if x.Version = "(started for each file)"; o.worker != nil {
			x.Version = strings.TrimSpace(o.version + " (kept running)")
		}
		return err
	}
	if !f.tried(ctx, &x, trial) {
		return x
	}
	var out []media.Convert
	add := func(from []string, filters map[string]string) {
		var to []string
		for t := range filters {
			if t != "pdf" {
				to = append(to, t)
			}
		}
		slices.Sort(to)
		out = append(out, media.Convert{From: from, To: []string{"pdf"}, Keep: media.Visual, Do: o.convert}, media.Convert{From: from, To: to, Keep: media.Structure, Do: o.convert})
	}
	add(texts, writerOut)
	add(workbooks, calcOut)
	add(decks, impressOut)
	out = append(out, media.Convert{From: mimes("pdf"), To: []string{"docx", "odt"}, Keep: media.Visual, Do: o.convert})
	return x.works(media.Engine{Convert: out})
}

func (o *office) convert(ctx context.Context, r *media.Request) (media.Result, error) {
	filter := filterOf(r.In.MIME, r.To)
	if filter == "" {
		return media.Result{}, media.Refusef("LibreOffice has no way from %s to %s.", r.In.MIME, r.To)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var warnings []string
	if r.In.MIME == "application/pdf" {
		warnings = append(warnings, "The result looks like the PDF; its paragraphs are boxes on pages.")
	}
	if o.python != "" && o.colds < 3 {
		b, err := o.warm(ctx, r, filter)
		var refused *media.Error
		if err == nil || errors.As(err, &refused) {
			res, _ := gave(b)
			res.Warnings = warnings
			if err != nil {
				res = media.Result{}
			}
			return res, err
		}
		if ctx.Err() != nil {
			return media.Result{}, ctx.Err()
		}
		o.colds++
	}
	b, err := o.cold(ctx, r, filter)
	if err != nil {
		return media.Result{}, err
	}
	res, err := gave(b)
	res.Warnings = warnings
	return res, err
}

// officeProfile are the settings of the profile: no macros, no links out of documents that nobody trusts, a proxy that is not
// there, nothing remembered.
const officeProfile = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>1</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetProxyType" oor:op="fuse"><value>2</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetHTTPProxyName" oor:op="fuse"><value>127.0.0.1</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetHTTPProxyPort" oor:op="fuse"><value>1</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetHTTPSProxyName" oor:op="fuse"><value>127.0.0.1</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetHTTPSProxyPort" oor:op="fuse"><value>1</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetNoProxy" oor:op="fuse"><value></value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="FirstRun" oor:op="fuse"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Setup/Office"><prop oor:name="LastCompatibilityCheckID" oor:op="fuse"><value></value></prop></item>
</oor:items>
`

// profile is where LibreOffice keeps its settings within a folder.
func profile(dir Folder) (string, error) {
	return "-env:UserInstallation=file://" + path.Join(dir.Dir(), "profile"), dir.Put("profile/user/registrymodifications.xcu", []byte(officeProfile))
}

// cold starts LibreOffice for one file.
func (o *office) cold(ctx context.Context, r *media.Request, filter string) ([]byte, error) {
	dir, err := o.f.cfg.Folder()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	user, err := profile(dir)
	if err != nil {
		return nil, err
	}
	name := inputName(&r.In)
	if err := dir.Put("doc/"+name, r.In.Data); err != nil {
		return nil, err
	}
	ext := map[string]string{"sylk": "slk"}[r.To]
	if ext == "" {
		ext = r.To
	}
	args := []string{o.path, "--headless", "--norestore", "--nologo", "--nolockcheck", user}
	if r.In.MIME == "application/pdf" {
		args = append(args, "--infilter=writer_pdf_import")
	}
	args = append(args, "--convert-to", ext+":"+filter, "--outdir", path.Join(dir.Dir(), "out"), path.Join(dir.Dir(), "doc", name))
	return o.f.in(ctx, dir, job{argv: args, sock: true, out: "out/in." + ext, time: o.limit()}, limitOf(r))
}

// warm converts with the LibreOffice that keeps running. An *media.Error is its last word; any other error means that the
// file should be tried with one of its own.
func (o *office) warm(ctx context.Context, r *media.Request, filter string) ([]byte, error) {
	if o.jobs >= jobsOfWorker {
		o.stop(Resident.Close)
	}
	if o.worker == nil {
		if err := o.start(ctx); err != nil {
			o.stop(Resident.Kill)
			return nil, err
		}
	}
	o.jobs++
	name := inputName(&r.In)
	in, out := fmt.Sprintf("doc/%d-%s", o.jobs, name), fmt.Sprintf("out/%d.%s", o.jobs, r.To)
	if err := errors.Join(o.dir.Put(in, r.In.Data), o.dir.Put("out/.keep", nil)); err != nil {
		return nil, err
	}
	ask := map[string]string{"in": path.Join(o.dir.Dir(), in), "out": path.Join(o.dir.Dir(), out), "filter": filter}
	if r.In.MIME == "application/pdf" {
		ask["infilter"] = "writer_pdf_import"
	}
	line, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	c, stop := context.WithTimeout(ctx, o.limit())
	defer stop()
	answer, err := o.worker.Ask(c, string(line))
	switch {
	case err != nil && c.Err() != nil && ctx.Err() == nil:
		o.stop(Resident.Kill)
		return nil, media.Failf("LibreOffice did not finish within %v and was ended. The file may be damaged, or too large for it.", o.limit())
	case err != nil: // it is gone: the file made it crash, or it was ended
		o.stop(Resident.Kill)
		return nil, err
	case answer != "ok":
		return nil, errors.New(answer)
	}
	b, err := o.dir.Get(out, limitOf(r))
	if err != nil {
		return nil, err
	}
	o.colds = 0
	return b, errors.Join(o.dir.Put(in, nil), o.dir.Put(out, nil))
}

// start starts LibreOffice and what talks to it.
func (o *office) start(ctx context.Context) error {
	dir, err := o.f.cfg.Folder()
	if err != nil {
		return err
	}
	o.dir, o.jobs = dir, 0
	user, err := profile(dir)
	if err != nil {
		return err
	}
	if err := dir.Put("worker.py", workerScript); err != nil {
		return err
	}
	w, err := o.f.cfg.Runner.Keep(ctx, Start{Argv: []string{o.python, "-I", path.Join(dir.Dir(), "worker.py"), o.path, user, path.Base(dir.Dir())}, Dir: dir.Dir(), Env: environment(dir.Dir()), Output: 1 << 24, FileSize: 1 << 30, Sockets: true})
	if err != nil {
		return err
	}
	o.worker = w
	c, stop := context.WithTimeout(ctx, 60*time.Second)
	defer stop()
	said, err := w.Ask(c, "")
	version, ready := strings.CutPrefix(said, "ready")
	if err == nil && !ready {
		err = errors.New(said)
	}
	o.version = strings.TrimSpace(version)
	return err
}

// stop ends the LibreOffice that keeps running.
func (o *office) stop(how func(Resident) error) {
	if o.worker != nil {
		_ = how(o.worker) // its tree is ended with this process at the latest
	}
	if o.dir != nil {
		_ = o.dir.Close() // swept when the next folder is made
	}
	o.worker, o.dir = nil, nil
}

func (o *office) end() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stop(Resident.Close)
	return nil
}

// workerScript starts LibreOffice, talks to it over a pipe of its own name, and answers each line of JSON with ok or with
// what went wrong.
//
//go:embed worker.py
var workerScript []byte
