package ext

import (
	"cmp"
	"context"
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

// jobsOfWorker is after how many files LibreOffice is started anew.
const jobsOfWorker = 200

// office converts with LibreOffice: with one that keeps running where its interface for Python is here, else, and where that
// one fails, with one that is started for the file.
type office struct {
	f      *Finder
	path   string
	python string

	mu     sync.Mutex // one file at a time
	dir    Folder
	worker Resident
	jobs   int
	colds  int // times in a row that the one that keeps running failed
}

func (o *office) limit() time.Duration { return cmp.Or(o.f.cfg.OfficeTime, officeLimit) }

func (f *Finder) soffice(ctx context.Context) Found {
	x, ok := f.find("soffice", "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui python3-uno", "libreoffice")
	if !ok {
		return x
	}
	o := &office{f: f, path: x.Path}
	if p := f.cfg.Look("python3"); p != "" && f.cfg.Exists("/usr/lib/python3/dist-packages/uno.py") {
		o.python = p
	}
	f.atEnd(o.end)
	trial := func() error {
		res, err := o.convert(ctx, &media.Request{In: media.Payload{Data: []byte(probeWord), MIME: "text/plain"}, To: "pdf"})
		if err == nil && !strings.HasPrefix(string(res.Media.Data), "%PDF") {
			err = errors.New("it made no PDF of a small file")
		}
		if x.Version = "started for each file"; o.worker != nil {
			x.Version = "kept running"
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

// officeProfile are the settings of the profile: no macros, no links out of documents that nobody trusts, nothing remembered.
const officeProfile = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>1</value></prop></item>
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
	return o.f.in(ctx, dir, job{argv: args, out: "out/in." + ext, time: o.limit()}, limitOf(r))
}

// warm converts with the LibreOffice that keeps running. An *media.Error is its last word; any other error means that the
// file should be tried with one of its own.
func (o *office) warm(ctx context.Context, r *media.Request, filter string) ([]byte, error) {
	if o.jobs >= jobsOfWorker {
		o.stop()
	}
	if o.worker == nil {
		if err := o.start(ctx); err != nil {
			o.stop()
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
		o.stop()
		return nil, media.Failf("LibreOffice did not finish within %v and was ended. The file may be damaged, or too large for it.", o.limit())
	case err != nil: // it is gone: the file made it crash, or it was ended
		o.stop()
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
	if err := dir.Put("worker.py", []byte(workerScript)); err != nil {
		return err
	}
	w, err := o.f.cfg.Runner.Keep(ctx, Start{Argv: []string{o.python, "-I", path.Join(dir.Dir(), "worker.py"), o.path, user, path.Base(dir.Dir())}, Dir: dir.Dir(), Env: environment(dir.Dir()), Output: 1 << 24, FileSize: 1 << 30})
	if err != nil {
		return err
	}
	o.worker = w
	c, stop := context.WithTimeout(ctx, 60*time.Second)
	defer stop()
	ready, err := w.Ask(c, "")
	if err == nil && ready != "ready" {
		err = errors.New(ready)
	}
	return err
}

// stop ends the LibreOffice that keeps running.
func (o *office) stop() {
	if o.worker != nil {
		_ = o.worker.Close() // its tree is ended with this process at the latest
	}
	if o.dir != nil {
		_ = o.dir.Close() // swept when the next folder is made
	}
	o.worker, o.dir = nil, nil
}

func (o *office) end() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stop()
	return nil
}

// workerScript starts LibreOffice, talks to it over a pipe of its own name, and answers each line of JSON with ok or with
// what went wrong.
const workerScript = `import json, subprocess, sys, time
sys.path.append("/usr/lib/python3/dist-packages")
import uno
from com.sun.star.beans import PropertyValue

def value(name, v):
    p = PropertyValue()
    p.Name, p.Value = name, v
    return p

def say(s):
    sys.stdout.write(" ".join(str(s).split())[:500] + "\n")
    sys.stdout.flush()

program, user, name = sys.argv[1:4]
pipe = "pipe,name=" + name.replace("-", "") + ";urp;"
office = subprocess.Popen([program, "--headless", "--norestore", "--nologo", "--nolockcheck", user, "--accept=" + pipe],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
local = uno.getComponentContext()
resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
desktop = None
end = time.time() + 50
while desktop is None:
    try:
        ctx = resolver.resolve("uno:" + pipe + "StarOffice.ComponentContext")
        desktop = ctx.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", ctx)
    except Exception as e:
        if office.poll() is not None or time.time() > end:
            say("LibreOffice did not start: %s" % e)
            sys.exit(1)
        time.sleep(0.05)
say("ready")
for line in sys.stdin:
    try:
        job = json.loads(line)
        props = [value("Hidden", True), value("ReadOnly", True), value("MacroExecutionMode", 0), value("UpdateDocMode", 0)]
        if "infilter" in job:
            props.append(value("FilterName", job["infilter"]))
        doc = desktop.loadComponentFromURL(uno.systemPathToFileUrl(job["in"]), "_blank", 0, tuple(props))
        if doc is None:
            say("it does not open the file")
            continue
        try:
            doc.storeToURL(uno.systemPathToFileUrl(job["out"]), (value("FilterName", job["filter"]),))
            say("ok")
        finally:
            doc.close(True)
    except Exception as e:
        say("failed: %s" % e)
        if office.poll() is not None:
            sys.exit(1)
try:
    desktop.terminate()
except Exception:
    pass
office.wait(10)
`
