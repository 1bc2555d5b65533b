// What a person does in the console. Usage: node scenarios.mjs NAME, with MODULES, CHROMIUM, CONTROL and BASE set.
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";

const { MODULES, CHROMIUM, CONTROL, BASE, TO } = process.env;
const { chromium } = createRequire(MODULES + "/")("playwright-core");
const patience = 45_000;

// ── The agent's side ────────────────────────────────────────────────────────────────────────────────────────────────

async function control(what, order = {}) {
  const r = await fetch(`${CONTROL}/${what}`, { method: "POST", body: JSON.stringify(order) });
  const text = await r.text();
  assert.ok(r.ok, `${what}: ${text}`);
  return JSON.parse(text);
}
let calls = 0;
async function begin(tool, args, session = "agent") {
  const Name = `call-${++calls}`;
  await control("call", { Name, Tool: tool, Args: args, Session: session });
  return { result: () => control("result", { Name }) };
}
const call = async (tool, args, session) => (await begin(tool, args, session)).result();
const read = (Name) => control("read", { Name });
const write = (Name, Content) => control("write", { Name, Content });

// ── The person's side ───────────────────────────────────────────────────────────────────────────────────────────────

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
const troubles = [];
let tolerant = false; // while the server is away

async function visit({ role = "admin", width = 1280, height = 900, dark = false, script = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", javaScriptEnabled: script });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.on("pageerror", (e) => troubles.push(`script: ${e.stack}`));
  page.on("console", (m) => { if (m.type() === "error" && !tolerant) troubles.push(`console: ${m.text()} ${m.location().url}`); });
  page.on("dialog", (d) => { troubles.push(`dialog: ${d.message()}`); d.dismiss(); });
  await page.goto(await control("login", { Role: role }));
  await page.waitForURL(BASE + "/");
  return page;
}

const live = (page) => page.locator('#state[data-state="on"]').waitFor();
const seen = (page, text) => page.getByText(text).first().waitFor();
const card = (page) => page.locator("article.ask.current");

// settled waits until keys count: the pages drop what is typed in the first moment after an ask was marked.
const settled = (page) => page.evaluate(() => new Promise((done) => setTimeout(done, 500)));

async function key(page, k) {
  await card(page).waitFor();
  await settled(page);
  await page.keyboard.press(k);
}

// pdf makes a PDF with a line of text on each of its pages.
function pdf(lines) {
  const objects = ["<</Type/Catalog/Pages 2 0 R>>", `<</Type/Pages/Count ${lines.length}/Kids[${lines.map((_, i) => `${4 + 2 * i} 0 R`).join(" ")}]>>`, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"];
  for (const [i, line] of lines.entries()) {
    const text = `BT /F 24 Tf 72 700 Td (${line}) Tj ET 72 600 300 40 re f`;
    objects.push(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>/Contents ${5 + 2 * i} 0 R>>`, `<</Length ${text.length}>>stream\n${text}\nendstream`);
  }
  let out = "%PDF-1.4\n";
  const places = objects.map((o, i) => { const at = out.length; out += `${i + 1} 0 obj\n${o}\nendobj\n`; return at; });
  const xref = out.length;
  return out + `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.map((p) => `${String(p).padStart(10, "0")} 00000 n \n`).join("")}trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${xref}\n%%EOF\n`;
}

// ── Scenarios ───────────────────────────────────────────────────────────────────────────────────────────────────────

const scenarios = {
  // An ask appears by itself, a key that comes too early counts for nothing, and y says yes.
  async approve() {
    const page = await visit();
    await page.goto(BASE + "/asks");
    await live(page);
    await seen(page, "Nothing waits for you");
    // Somebody was typing something else when the ask was marked: that y is no answer.
    await page.evaluate(() => {
      window.typed = 0;
      new MutationObserver(() => {
        if (window.typed || !document.querySelector("article.ask.current")) return;
        window.typed++;
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true, cancelable: true }));
      }).observe(document.body, { subtree: true, childList: true, attributes: true });
    });
    const answers = [];
    page.on("request", (r) => { if (r.method() === "POST") answers.push(r.url()); });
    const c = await begin("write_file", { path: "ask/../ask/a.txt", content: "hello\n" });
    await card(page).waitFor();
    await page.waitForFunction(() => window.typed === 1);
    await settled(page);
    assert.deepEqual(answers, [], "a key that was pressed at once is no answer");
    const text = await card(page).innerText();
    for (const part of ["write_file asks to change 1 file", "write-in", "look first", "ask/../ask/a.txt", "+hello"]) assert.ok(text.includes(part), `the ask shows ${part}: ${text}`);
    assert.match(await page.title(), /^\(1\) /);
    await key(page, "y");
    await seen(page, "Allowed");
    assert.equal((await c.result()).ok, true);
    assert.equal(await read("ask/a.txt"), "hello\n");
    await seen(page, "Nothing waits for you");
    assert.doesNotMatch(await page.title(), /^\(/);
  },

  // No, with words that the model reads.
  async deny() {
    const page = await visit();
    await page.goto(BASE + "/asks");
    await live(page);
    const c = await begin("write_file", { path: "ask/a.txt", content: "x" });
    await key(page, "w");
    await page.keyboard.type("put it below docs, y n a e");
    await page.keyboard.press("Control+Enter");
    await seen(page, "Denied");
    const res = await c.result();
    assert.equal(res.ok, false);
    assert.ok(res.text.includes("put it below docs, y n a e"), res.text);
    const second = await begin("write_file", { path: "ask/b.txt", content: "x" });
    await key(page, "n");
    assert.equal((await second.result()).ok, false);
    await assert.rejects(read("ask/a.txt"));
  },

  // Two of three hunks.
  async hunks() {
    await write("ask/a.txt", "one\ntwo\nthree\n");
    const page = await visit();
    await page.goto(BASE + "/asks");
    await live(page);
    const edits = ["one", "two", "three"].map((w) => ({ old_string: w, new_string: w.toUpperCase() }));
    const c = await begin("multi_edit", { path: "ask/a.txt", edits });
    await key(page, "e");
    await page.locator('input[name=hunk][value="1"]').waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space"); // the second is not ticked any more
    await seen(page, "Allow 2 of 3 edits");
    assert.equal(await page.getByRole("button", { name: "Yes, once" }).isDisabled(), true, "a yes to all while one is not ticked");
    await page.getByRole("button", { name: "Allow 2 of 3 edits" }).focus();
    await page.keyboard.press("Enter");
    await seen(page, "Allowed 2 of 3 edits");
    assert.equal((await c.result()).ok, true);
    assert.equal(await read("ask/a.txt"), "ONE\ntwo\nTHREE\n");
  },

  // Always, until the session ends, for what is like it.
  async always() {
    const page = await visit();
    await page.goto(BASE + "/asks");
    await live(page);
    const c = await begin("write_file", { path: "ask/a.txt", content: "a" });
    await key(page, "a");
    const chosen = page.locator("input[name=scope]:checked");
    await chosen.waitFor();
    assert.equal(await chosen.inputValue(), "like");
    assert.ok((await page.locator("label.offer", { has: chosen }).innerText()).includes("ask/*.txt"));
    await page.keyboard.press("Enter");
    await seen(page, "Allowed");
    assert.equal((await c.result()).ok, true);
    assert.equal((await call("write_file", { path: "ask/b.txt", content: "b" })).ok, true); // nobody is asked
    const other = await begin("write_file", { path: "ask/c.md", content: "c" }); // not like it
    await key(page, "n");
    assert.equal((await other.result()).ok, false);
    const elsewhere = await begin("write_file", { path: "ask/d.txt", content: "d" }, "another"); // not this session
    await key(page, "n");
    assert.equal((await elsewhere.result()).ok, false);
    await page.goto(BASE + "/rules");
    await seen(page, "ask/*.txt");
    await page.getByRole("button", { name: "Revoke" }).click();
    await seen(page, "Nobody has said yes for longer");
    const again = await begin("write_file", { path: "ask/e.txt", content: "e" });
    await page.goto(BASE + "/asks");
    await key(page, "n");
    assert.equal((await again.result()).ok, false);
  },

  // A change is shown before it is taken back.
  async undo() {
    await write("a.txt", "old line\n");
    const page = await visit();
    await page.goto(BASE + "/changes");
    await live(page);
    await seen(page, "Nothing was changed yet");
    await call("edit", { path: "a.txt", old_string: "old", new_string: "new" });
    await page.getByRole("button", { name: "Take it back…" }).click(); // the page has filled by itself
    await seen(page, "This would take back");
    assert.equal(await read("a.txt"), "new line\n");
    await page.getByRole("button", { name: "Take it back", exact: true }).click();
    await seen(page, "Taken back");
    assert.equal(await read("a.txt"), "old line\n");
    await page.getByText("taken back", { exact: true }).first().waitFor();
    // Where policy asks about it, it goes on when it was answered.
    const c = await begin("write_file", { path: "ask/b.txt", content: "b" });
    await page.goto(BASE + "/asks");
    await live(page);
    await key(page, "y");
    assert.equal((await c.result()).ok, true);
    await page.goto(BASE + "/changes");
    await page.getByRole("button", { name: "Take it back…" }).first().click();
    await page.getByRole("button", { name: "Take it back", exact: true }).click();
    await page.getByRole("link", { name: "Answer it" }).click();
    await key(page, "y");
    await page.goto(BASE + "/changes");
    await live(page);
    await page.locator(".timeline li.undone", { hasText: "ask/b.txt" }).waitFor();
    await assert.rejects(read("ask/b.txt"));
  },

  // A tool is tried with the form that its schema made: shown first, then run.
  async try() {
    await write("a.txt", "one\ntwo\n");
    const page = await visit();
    await page.goto(BASE + "/tools");
    await page.getByRole("link", { name: /^multi_edit/ }).click();
    await page.getByLabel("path").fill("a.txt");
    await page.getByLabel("old_string").fill("one");
    await page.getByLabel("new_string").fill("ONE");
    await page.getByRole("button", { name: "Add one" }).click();
    await page.getByLabel("old_string").nth(1).fill("two");
    assert.equal(await page.getByLabel("old_string").first().inputValue(), "one");
    await page.getByLabel("new_string").nth(1).fill("TWO");
    await page.getByRole("button", { name: "Show what it would do" }).click();
    await seen(page, "It would run");
    await seen(page, "+ONE");
    assert.equal(await read("a.txt"), "one\ntwo\n");
    await page.getByRole("button", { name: "Run it" }).click();
    await seen(page, "What changed");
    assert.equal(await read("a.txt"), "ONE\nTWO\n");
    // One that policy asks about: the page of the call holds the ask.
    await page.goto(BASE + "/tools/write_file");
    await page.getByLabel("path").fill("ask/x.txt");
    await page.getByLabel("content").fill("x");
    await page.getByRole("button", { name: "Run it" }).click();
    await key(page, "y");
    await seen(page, "What changed");
    assert.equal(await read("ask/x.txt"), "x");
    // One that only reads.
    await page.goto(BASE + "/tools/read_file");
    await page.getByLabel("path").first().fill("a.txt");
    await page.getByRole("button", { name: "Run it" }).click();
    await seen(page, "What the model saw");
    await seen(page, "ONE");
  },

  // The server is restarted under an open page: the page comes back by itself and shows what happens then.
  async restart() {
    const page = await visit();
    await page.goto(BASE + "/asks");
    await live(page);
    tolerant = true;
    await control("restart");
    const c = await begin("write_file", { path: "ask/a.txt", content: "after\n" });
    await card(page).waitFor();
    await live(page);
    await key(page, "y");
    assert.equal((await c.result()).ok, true);
    assert.equal(await read("ask/a.txt"), "after\n");
    await page.goto(BASE + "/sessions/agent");
    await page.locator(".calls").getByText("write_file").waitFor();
  },

  // Hostile text in every field: nothing runs, nothing hides.
  async hostile() {
    const evil = `<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u200b"'></textarea><svg onload=alert(3)>`;
    const page = await visit();
    await write("ask/a.txt", "one\n");
    await call("write_file", { path: "evil" + evil.replaceAll("/", "_") + ".txt", content: evil + "\n\u001b[2K\r" + " ".repeat(500) + "tail\n" }, "s" + evil);
    await call("read_file", { path: evil });
    await call("grep", { pattern: evil, literal: true, output_mode: "content" }, "s" + evil);
    await call("write_file", { path: "no/" + evil.replaceAll("/", "_"), content: "x" });
    await control("artifact", { Session: "s" + evil, Name: evil, MIME: "text/html", Content: Buffer.from(evil).toString("base64") });
    const svg = await control("artifact", { Session: "agent", Name: "pic.svg", MIME: "image/svg+xml", Content: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(4)"><script>alert(5)</script></svg>`).toString("base64") });
    const c = await begin("write_file", { path: "ask/a.txt", content: evil + " ".repeat(600) + "; touch CANARY\n" });
    for (const path of ["/", "/asks", "/sessions", "/sessions/agent", "/sessions/" + encodeURIComponent("s" + evil), "/changes", "/artifacts", "/artifacts/" + svg, "/ledger", "/usage", "/rules/dryrun?session=agent",
      "/rules/why?tool=edit&args=" + encodeURIComponent(evil), "/tools/edit?mode=" + encodeURIComponent(evil), "/nothing/" + encodeURIComponent(evil)]) {
      tolerant = true; // some of these are no pages
      await page.goto(BASE + path);
      tolerant = false;
      const found = await page.evaluate(() => ({
        foreign: [...document.querySelectorAll("img, svg, script, iframe, object")].filter((e) => !e.closest(".brand, .uplot") && !(e.src || "").startsWith(location.origin + "/a")).length,
        handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length,
        hidden: /[\u202e\u200b\u001b]/.test(document.body.innerText),
        wide: document.documentElement.scrollWidth > innerWidth,
      }));
      assert.deepEqual(found, { foreign: 0, handlers: 0, hidden: false, wide: false }, path);
    }
    await page.goto(BASE + "/asks");
    const text = await card(page).innerText();
    assert.ok(text.includes("; touch CANARY") && text.includes("\\u{202E}") && text.includes("\\u{20*600}"), text);
    // The picture that is a program comes as bytes, also where it is opened itself.
    const r = await page.request.get(`${BASE}/artifacts/${svg}/raw`);
    assert.equal(r.headers()["content-type"], "application/octet-stream");
    assert.match(r.headers()["content-disposition"], /^attachment/);
    // No other page may frame this one, and no script of a page runs.
    const framed = await visit();
    tolerant = true;
    await framed.evaluate((url) => { const f = document.createElement("iframe"); f.src = url; document.body.append(f); }, BASE + "/asks");
    await framed.evaluate(() => { const s = document.createElement("script"); s.textContent = "window.ran = true"; document.body.append(s); });
    assert.equal(await framed.evaluate(() => window.ran), undefined);
    assert.equal(framed.frames().filter((f) => f !== framed.mainFrame() && f.url().startsWith(BASE)).length, 0, "the page was framed");
    await key(page, "n");
    await c.result();
  },

  // Everything without a mouse: skip link, marks, help, places.
  async keyboard() {
    const page = await visit();
    await page.goto(BASE + "/asks");
    await live(page);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await page.keyboard.press("?");
    await page.locator("dialog[open]").waitFor();
    await page.keyboard.press("y"); // answers nothing while the help is open
    await page.keyboard.press("Escape");
    await page.locator("dialog[open]").waitFor({ state: "detached" }).catch(() => {});
    const first = await begin("write_file", { path: "ask/1.txt", content: "1" });
    await card(page).waitFor();
    const second = await begin("write_file", { path: "ask/2.txt", content: "2" });
    await page.locator("article.ask").nth(1).waitFor();
    await key(page, "j");
    assert.ok((await card(page).innerText()).includes("ask/2.txt"));
    await key(page, "y");
    assert.equal((await second.result()).ok, true);
    await key(page, "v"); // whole
    await page.waitForURL(/\/asks\/./);
    await key(page, "n");
    assert.equal((await first.result()).ok, false);
    await page.keyboard.press("g");
    await page.keyboard.press("u");
    await page.waitForURL(BASE + "/usage");
    // Everything that can be pressed has a name, and every field a label.
    for (const path of ["/", "/asks", "/sessions/agent", "/tools/multi_edit", "/changes", "/rules", "/ledger", "/usage", "/artifacts"]) {
      await page.goto(BASE + path);
      const nameless = await page.evaluate(() => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea")]
        .filter((e) => !e.disabled && !(e.innerText || "").trim() && !e.getAttribute("aria-label") && !(e.labels && [...e.labels].some((l) => l.innerText.trim()))).map((e) => e.outerHTML));
      assert.deepEqual(nameless, [], path);
      const heads = await page.evaluate(() => document.querySelectorAll("h1").length);
      assert.equal(heads, 1, `${path} has ${heads} titles`);
    }
  },

  // Who may only look sees no way to answer.
  async roles() {
    const c = await begin("write_file", { path: "ask/a.txt", content: "x" });
    const page = await visit({ role: "viewer" });
    await page.goto(BASE + "/asks");
    await card(page).waitFor();
    assert.equal(await page.locator("button[name=answer]").count(), 0);
    await key(page, "y");
    await seen(page, "an approver answers this");
    const other = await visit({ role: "approver" });
    await other.goto(BASE + "/asks");
    await key(other, "y");
    assert.equal((await c.result()).ok, true);
    await page.locator("article.ask").waitFor({ state: "detached" }); // answered elsewhere: it goes by itself
  },

  // Without a script: forms and links do.
  async plain() {
    const c = await begin("write_file", { path: "ask/a.txt", content: "x" });
    const page = await visit({ script: false });
    for (;;) { // nothing is live here
      await page.goto(BASE + "/asks");
      if (await page.locator("article.ask").count()) break;
    }
    await page.getByRole("button", { name: "Yes, once" }).click();
    assert.equal((await c.result()).ok, true);
    await call("write_file", { path: "b.txt", content: "x" });
    await page.goto(BASE + "/changes");
    await page.getByRole("button", { name: "Take it back…" }).first().click();
    await page.getByRole("button", { name: "Take it back", exact: true }).click();
    await seen(page, "Taken back");
    await assert.rejects(read("b.txt"));
    assert.equal(await read("ask/a.txt"), "x");
  },

  // Several tabs of one browser hear of everything over one stream; when that tab goes, another takes over.
  async tabs() {
    const page = await visit();
    await live(page);
    const tabs = [];
    for (let i = 0; i < 8; i++) { // more than a browser opens connections
      const tab = await page.context().newPage();
      await tab.goto(BASE + "/asks");
      tabs.push(tab);
    }
    for (const tab of tabs) await live(tab);
    await page.close();
    const c = await begin("write_file", { path: "ask/a.txt", content: "x" });
    for (const tab of tabs) await card(tab).waitFor();
    await tabs[3].bringToFront();
    await key(tabs[3], "y");
    assert.equal((await c.result()).ok, true);
    for (const tab of tabs) await tab.locator("article.ask").waitFor({ state: "detached" });
  },

  // Media: a sheet of many rows, a picture, and what a change changed, by keyboard alone.
  async media() {
    const page = await visit();
    const rows = Array.from({ length: 20_000 }, (_, i) => `order ${i + 1},${["apple", "tea", "<b>bread</b>"][i % 3]},${i % 7}`);
    const table = await control("attach", { Session: "shop", Name: "orders.csv", Content: Buffer.from("name,item,count\n" + rows.join("\n") + "\n").toString("base64") });
    const jar = await control("attach", { Session: "shop", Name: "olives.png" });
    const made = async (media_id, q) => {
      const r = await call("media_query", { media_id, q }, "shop");
      assert.ok(r.ok, r.text);
      return r.data.media[0].id;
    };
    const book = await made(table, `convert to=xlsx | sheet add_sheet name="Totals" | sheet update_cells sheet="Totals" updates='[{"address":"A1","value":"all"},{"address":"B1","value":"=SUM(orders!C2:C20001)"}]'`);
    const edited = await made(book, `sheet update_cells updates='[{"address":"C15001","value":99},{"address":"B2","value":"olives"}]'`);
    const turned = await made(jar, "image flip axis=horizontal");

    await page.goto(BASE + "/sessions/shop");
    await page.getByRole("link", { name: "Media (5)" }).click();
    await seen(page, "Attachments");
    await seen(page, "made from what is third-party-private");
    await page.waitForFunction(() => [...document.images].every((i) => i.complete && i.naturalWidth > 0));

    // A workbook: a far row by its address, then by keys; what is shown is the file's; only windows are here.
    await page.goto(`${BASE}/sessions/shop/media/${edited}`);
    const grid = page.getByRole("grid");
    await grid.waitFor();
    assert.equal(await grid.getAttribute("aria-rowcount"), "20002");
    await page.getByLabel("Go to a cell").fill("c15001");
    await page.keyboard.press("Enter");
    await page.locator("#C15001:focus").waitFor();
    assert.equal(await page.locator("#C15001").innerText(), "99");
    assert.equal(await page.locator("#A15001").innerText(), "order 15000");
    assert.equal(await page.evaluate(() => { const r = document.querySelector("#C15001").getBoundingClientRect(), s = document.querySelector(".gridscroll").getBoundingClientRect(); return r.top >= s.top && r.bottom <= s.bottom && r.left >= s.left && r.right <= s.right; }), true, "the cell is in sight");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowLeft");
    await page.locator("#B15000:focus").waitFor();
    await page.keyboard.press("Control+End");
    await page.waitForFunction(() => document.activeElement.id.endsWith("20001"));
    await page.keyboard.press("Home");
    await page.locator("#A20001:focus").waitFor();
    assert.equal(await page.locator("#A20001").innerText(), "order 20000");
    for (let i = 0; i < 15; i++) { // through the whole sheet
      await page.locator(".gridscroll").evaluate((s, i) => { s.scrollTop = s.scrollHeight * i / 15; }, i);
      await page.waitForFunction(() => { const s = document.querySelector(".gridscroll"); return !document.elementsFromPoint(s.getBoundingClientRect().left + 100, s.getBoundingClientRect().top + 200).some((e) => e.closest("tbody.gap")); });
    }
    const cells = await page.locator(".gridscroll td").count();
    assert.ok(cells < 150_000, `${cells} cells are in the page`);
    assert.equal(await page.locator(".gridscroll b").count(), 0, "a cell is text, whatever it holds");
    const bytes = await page.evaluate(() => performance.getEntriesByType("resource").filter((e) => !e.name.includes("/rows?")).reduce((n, e) => n + e.decodedBodySize, performance.getEntriesByType("navigation")[0].decodedBodySize));
    assert.ok(bytes < 250_000, `the page of a sheet needs ${bytes} bytes`);
    // A formula stands in the corner of its cell and is read out when the cell is reached.
    await page.getByRole("link", { name: "Totals" }).click();
    await page.locator("#B1").focus();
    assert.match(await page.locator("#cellvalue").innerText(), /B1\s+=SUM\(orders!C2:C20001\)/);
    assert.equal(await page.locator("#B1").getAttribute("aria-describedby"), "cellvalue");

    // Before and after of a workbook: cell by cell.
    await page.goto(`${BASE}/sessions/shop/media/${edited}`);
    await page.getByRole("link", { name: "Before and after" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/compare/);
    const changes = (await page.locator(".cellchanges tbody tr").allInnerTexts()).map((t) => t.replace(/\s+/g, " ").trim());
    assert.deepEqual(changes, ["B2 apple olives", "C15001 5 99"]);

    // A picture, and before and after of it: side by side, with the slider, by keyboard.
    await page.goto(`${BASE}/sessions/shop/media/${jar}`);
    await seen(page, "640 × 480 pixels");
    await page.getByLabel("Fit").focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.getByLabel("100 %").isChecked(), true);
    await page.goto(`${BASE}/sessions/shop/media/${turned}/compare`);
    await page.waitForFunction(() => document.images.length === 2 && [...document.images].every((i) => i.naturalWidth === 640));
    await page.getByLabel("Side by side").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Tab");
    await page.keyboard.press("End");
    assert.equal(await page.getByLabel("How much of the picture before is seen").getAttribute("aria-valuetext"), "100 % before");
    assert.match(await page.locator("img.is").evaluate((e) => getComputedStyle(e).clipPath), /100%/);

    // An ask about a file that is made of media shows the picture and what it was made of.
    const asked = await begin("copy_file", { path: "artifact:" + turned, to: "ask/olives.png" }, "shop");
    await page.goto(BASE + "/asks");
    await card(page).waitFor();
    assert.equal(await page.locator(".askfile img").count(), 2);
    await page.locator(".askfile img").last().scrollIntoViewIfNeeded();
    await page.waitForFunction(() => [...document.querySelectorAll(".askfile img")].every((i) => i.complete && i.naturalWidth > 0));
    await key(page, "n");
    await asked.result();
    const second = await begin("copy_file", { path: "artifact:" + edited, to: "ask/orders.xlsx" }, "shop");
    await card(page).waitFor();
    await page.locator(".askfile .cellchanges").getByText("olives").waitFor();
    await key(page, "n");
    await second.result();

    // Everything has a name; without a script the next window is a link.
    for (const path of ["", `/${edited}`, `/${jar}`, `/${table}?as=text`, `/${turned}/compare`]) {
      await page.goto(BASE + "/sessions/shop/media" + path);
      const nameless = await page.evaluate(() => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea")]
        .filter((e) => !e.disabled && !(e.innerText || "").trim() && !e.getAttribute("aria-label") && !(e.labels && [...e.labels].some((l) => l.innerText.trim()))).map((e) => e.outerHTML));
      assert.deepEqual(nameless, [], path);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${path} is wider than the window`);
    }
    const plain = await visit({ script: false, width: 360 });
    await plain.goto(`${BASE}/sessions/shop/media/${edited}`);
    await plain.getByRole("link", { name: "Next rows" }).click();
    await plain.getByText("order 150", { exact: true }).waitFor();
    assert.equal(await plain.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  },

  // Documents: their words, the pages of a PDF as pictures, and what a redaction changed. Nothing in them runs.
  async documents() {
    const page = await visit();
    const at = (engine, name) => new URL(`../../media/engine/${engine}/testdata/${name}`, import.meta.url);
    const attach = (Name, data) => control("attach", { Session: "desk", Name, Content: Buffer.from(data).toString("base64") });
    const ids = {};
    for (const [engine, name] of [["ooxml", "contract.docx"], ["ooxml", "gen.pptx"], ["odf", "contract.odt"], ["odf", "deck.odp"], ["legacy", "contract.epub"], ["legacy", "contract.doc"], ["legacy", "contract.rtf"]]) ids[name] = await attach(name, await readFile(at(engine, name)));
    ids["letter.eml"] = await attach("letter.eml", "From: a@example.org\r\nTo: b@example.org\r\nSubject: <b>Hello</b>\r\nDate: Mon, 2 Jun 2025 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>The offer</p><script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\">\r\n");
    ids["report.pdf"] = await attach("report.pdf", pdf(["First page of the report", "Second page <b>bold</b>", "Third page"]));
    ids["broken.pdf"] = await attach("broken.pdf", "%PDF-1.7 nothing more");
    const words = { "contract.docx": "Employment contract", "gen.pptx": "123-45-6789", "contract.odt": "Employment contract", "deck.odp": "Slide", "contract.epub": "Employment contract", "contract.doc": "Employment contract", "contract.rtf": "Employment contract", "letter.eml": "The offer" };
    for (const [name, word] of Object.entries(words)) {
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 800 });
        await page.goto(`${BASE}/sessions/desk/media/${ids[name]}`);
        await page.getByRole("region", { name: "Content" }).getByText(word).first().waitFor();
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${name} is wider than the window at ${width}`);
      }
      assert.equal(await page.locator(".numbered :is(b, img, script, table)").count(), 0, `${name}: words are words, whatever they hold`);
      assert.doesNotMatch(await page.title(), /ran/);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    // Pages of a PDF, one after the other, by keyboard. What draws them is compiled for the first.
    await page.goto(`${BASE}/sessions/desk/media/${ids["report.pdf"]}`, { waitUntil: "domcontentloaded" });
    const drawn = () => page.waitForFunction(() => document.images.length === 1 && document.images[0].complete && document.images[0].naturalWidth > 400, null, { timeout: 100_000 });
    await drawn();
    await page.getByRole("link", { name: "Next page" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("group", { name: "Page 2 of 3" }).waitFor();
    await drawn();
    await page.getByLabel("Page", { exact: true }).fill("3");
    await page.keyboard.press("Enter");
    await page.getByRole("group", { name: "Page 3 of 3" }).waitFor();
    await drawn();
    assert.equal(await page.getByRole("link", { name: "Next page" }).count(), 0);
    await page.getByRole("link", { name: "Words", exact: true }).click();
    await page.getByRole("region", { name: "Content" }).getByText("Second page <b>bold</b>").waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goBack();
    await drawn();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "a page is no wider than a narrow window");
    // One that is broken says so.
    await page.goto(`${BASE}/sessions/desk/media/${ids["broken.pdf"]}`);
    await page.getByRole("alert").waitFor();
    // What a redaction changed, line by line.
    const redacted = await call("media_query", { media_id: ids["contract.docx"], q: "redact match=/[0-9]{3}-[0-9]{2}-[0-9]{4}/" }, "desk");
    assert.ok(redacted.ok, redacted.text);
    await page.goto(`${BASE}/sessions/desk/media/${redacted.data.media[0].id}`);
    await page.getByRole("link", { name: "Before and after" }).click();
    await page.getByText("The employee with number █").first().waitFor();
    await page.getByText("The employee with number 123-45-6789").first().waitFor();
  },

  // The first paint, measured and printed; what it loads is bounded.
  async paint() {
    for (let i = 0; i < 40; i++) await call("write_file", { path: `f${i}.txt`, content: "x\n" });
    const page = await visit();
    for (const path of ["/", "/sessions/agent", "/usage", "/ledger"]) {
      const times = [], server = [];
      let bytes = 0;
      for (let i = 0; i < 5; i++) {
        await page.goto(BASE + path);
        const one = await page.evaluate(() => new Promise((done) => {
          const look = () => {
            const p = performance.getEntriesByName("first-contentful-paint")[0];
            if (!p) return requestAnimationFrame(look);
            const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
            done({ paint: p.startTime, server: performance.getEntriesByType("navigation")[0].responseEnd, bytes: all.reduce((n, e) => n + e.decodedBodySize, 0) });
          };
          look();
        }));
        times.push(one.paint);
        server.push(one.server);
        bytes = Math.max(bytes, one.bytes);
      }
      times.sort((a, b) => a - b);
      server.sort((a, b) => a - b);
      console.log(`${path}: first paint ${times[0].toFixed(0)} to ${times[4].toFixed(0)} ms, median ${times[2].toFixed(0)} ms; the page was there after ${server[0].toFixed(0)} to ${server[4].toFixed(0)} ms; ${bytes} bytes in all`);
      assert.ok(bytes > 0 && bytes < 250_000, `${path} needs ${bytes} bytes`);
    }
  },
};

const { screenshots } = await import("./screenshots.mjs").then((m) => m.default({ visit, control, begin, call, live, key, card, BASE, TO, mkdir, assert }));
const run = { ...scenarios, screenshots }[process.argv[2]];
assert.ok(run, `no scenario is named ${process.argv[2]}`);
try {
  await run();
  assert.deepEqual(troubles, []);
} catch (e) {
  console.log(troubles.join("\n"));
  throw e;
} finally {
  await browser.close();
}
