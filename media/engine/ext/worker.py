import json, subprocess, sys, threading, time
sys.path.append("/usr/lib/python3/dist-packages")
import uno, unohelper
from com.sun.star.awt import XCallback
from com.sun.star.beans import NamedValue, PropertyValue

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
make = None
end = time.time() + 50
while make is None:
    try:
        ctx = resolver.resolve("uno:" + pipe + "StarOffice.ComponentContext")
        manager = ctx.ServiceManager
        make = lambda service: manager.createInstanceWithContext(service, ctx)
        desktop = make("com.sun.star.frame.Desktop")
    except Exception as e:
        if office.poll() is not None or time.time() > end:
            say("LibreOffice did not start: %s" % e)
            sys.exit(1)
        time.sleep(0.02)

# A call from outside runs in a thread of its own, in which some documents make LibreOffice crash. What runs in the callback
# runs in the first thread, as it does for a person.
class Callback(unohelper.Base, XCallback):
    def __init__(self, do):
        self.do, self.done, self.error = do, threading.Event(), None
    def notify(self, data):
        try:
            self.do()
        except Exception as e:
            self.error = e
        self.done.set()

first = make("com.sun.star.awt.AsyncCallback")
def inside(do):
    c = Callback(do)
    first.addCallback(c, None)
    while not c.done.wait(1):
        if office.poll() is not None:
            raise Exception("LibreOffice is gone")
    if c.error:
        raise c.error

# A window without menus and bars, made before it is needed. LibreOffice has to make it: one that was made by hand makes it
# crash on some documents, and so does one that had another document before.
tasks = make("com.sun.star.frame.TaskCreator")
def window():
    f = tasks.createInstanceWithArguments(tuple(NamedValue(n, v) for n, v in (("ParentFrame", desktop), ("TopWindow", True),
        ("MakeVisible", False), ("SupportPersistentWindowState", False), ("EnableTitleBarUpdate", False))))
    f.LayoutManager = None
    return f

state = {}
def ready():
    state["frame"] = window()

# A document is closed before LibreOffice comes to its other work, in which some make it crash. Nobody waits for that.
def convert():
    job, frame, doc = state["job"], state["frame"], None
    props = [value("Hidden", True), value("ReadOnly", True), value("MacroExecutionMode", 0), value("UpdateDocMode", 0)]
    if "infilter" in job:
        props.append(value("FilterName", job["infilter"]))
    try:
        doc = frame.loadComponentFromURL(uno.systemPathToFileUrl(job["in"]), "_self", 0, tuple(props))
        if doc is None:
            raise Exception("it does not open the file")
        doc.storeToURL(uno.systemPathToFileUrl(job["out"]), (value("FilterName", job["filter"]),))
        say("ok")
    except Exception as e:
        say("failed: %s" % e)
    if doc is None:
        frame.close(True)
    else:
        doc.close(True)
    ready()

try:
    inside(ready)
except Exception as e:
    say("LibreOffice did not start: %s" % e)
    sys.exit(1)
def version():
    try:
        product = make("com.sun.star.configuration.ConfigurationProvider").createInstanceWithArguments(
            "com.sun.star.configuration.ConfigurationAccess", (value("nodepath", "/org.openoffice.Setup/Product"),))
        return product.getByName("ooSetupVersionAboutBox")
    except Exception:
        return ""

say("ready " + version())
for line in sys.stdin:
    state["job"] = json.loads(line)
    try:
        inside(convert)
    except Exception: # it is gone, or in a state that nobody knows: the next file gets another
        break
try:
    desktop.terminate()
except Exception:
    pass
office.wait(10)
