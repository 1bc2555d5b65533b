// Viewers of media: sheets of any length, fetched in windows, and the slider of two pictures. Without it the pages have links
// from window to window, and the pictures stand side by side.
(() => {
  "use strict";
  document.documentElement.classList.add("scripted");

  // ── Two pictures ──────────────────────────────────────────────────────────────────────────────────────────────────

  const wipe = document.getElementById("wipe");
  if (wipe) {
    const pair = wipe.closest(".pair");
    const move = () => {
      pair.style.setProperty("--at", wipe.value + "%");
      wipe.setAttribute("aria-valuetext", wipe.value + " % before");
    };
    wipe.addEventListener("input", move);
    move();
    pair.addEventListener("change", (e) => { if (e.target.value === "slider" && e.target.name === "mode") wipe.scrollIntoView({ block: "nearest" }); });
  }

  // ── A sheet ───────────────────────────────────────────────────────────────────────────────────────────────────────
  // The rows stand in blocks. A block is either there, or a gap as high as its rows would be. What comes into sight is
  // fetched; what is far away becomes a gap again, so that a long sheet stays light.

  const sheet = document.querySelector(".sheet");
  if (!sheet) return;
  const scroll = sheet.querySelector(".gridscroll"), table = sheet.querySelector("table"), bar = document.getElementById("cellvalue"), goto = document.getElementById("goto");
  const data = sheet.dataset, size = +data.block, first = +data.first, final = +data.final;
  const columns = table.querySelectorAll("thead th").length, keep = 24;
  const high = table.tBodies[0].rows[0].getBoundingClientRect().height;
  const count = Math.ceil((final - first + 1) / size);
  const blocks = []; // { body, from, rows, state: "gap" | "asked" | "there" }

  function gap(b) {
    const row = document.createElement("tr"), cell = document.createElement("td");
    cell.colSpan = columns + 1;
    cell.style.height = b.rows * high + "px";
    row.append(cell);
    b.body.replaceChildren(row);
    b.body.className = "gap";
    b.state = "gap";
  }

  const given = table.tBodies[0], at = (+data.row - first) / size;
  for (let i = 0; i < count; i++) {
    const b = { from: first + i * size, rows: Math.min(size, final - first + 1 - i * size), body: i === at ? given : document.createElement("tbody"), state: "there" };
    if (i !== at) gap(b);
    blocks.push(b);
  }
  given.before(...blocks.slice(0, at).map((b) => b.body));
  given.after(...blocks.slice(at + 1).map((b) => b.body));

  async function load(b) {
    if (b.state === "there") return true;
    if (b.asked) return b.asked;
    b.asked = (async () => {
      try {
        const r = await fetch(`${data.source}&row=${b.from}&final=${b.from + b.rows - 1}`, { headers: { Accept: "text/html", "HX-Request": "true" } });
        const text = await r.text();
        if (!r.ok || r.redirected) throw new Error(String(r.status));
        b.body.innerHTML = text; // of our own template
        b.body.className = "";
        b.state = "there";
        return true;
      } catch {
        b.body.rows[0].cells[0].textContent = "These rows could not be fetched. Scroll away and back to try again.";
        return false;
      } finally { b.asked = null; }
    })();
    return b.asked;
  }

  const blockOf = (row) => blocks[Math.floor((row - first) / size)];
  const head = () => table.tHead.getBoundingClientRect().height;

  function look() {
    const from = Math.floor((scroll.scrollTop - 300) / high / size), to = Math.floor((scroll.scrollTop + scroll.clientHeight + 300) / high / size);
    const near = (from + to) / 2;
    for (let i = Math.max(from, 0); i <= Math.min(to, count - 1); i++) load(blocks[i]);
    const there = blocks.map((b, i) => ({ b, i })).filter((x) => x.b.state === "there");
    if (there.length <= keep) return;
    there.sort((x, y) => Math.abs(y.i - near) - Math.abs(x.i - near));
    for (const { b } of there.slice(0, there.length - keep)) if (!b.body.contains(document.activeElement)) gap(b);
  }
  let waiting = 0;
  scroll.addEventListener("scroll", () => { clearTimeout(waiting); waiting = setTimeout(look, 80); });

  // ── Going from cell to cell ───────────────────────────────────────────────────────────────────────────────────────

  const letters = [...table.querySelectorAll("thead th")].map((h) => h.textContent);
  let row = +data.row, column = 0;

  function place(cell) {
    const tr = cell.parentElement;
    return [+tr.getAttribute("aria-rowindex") - 1, cell.cellIndex - 1];
  }

  let marked = [];
  function tell(cell) {
    for (const m of marked) m.classList.remove("at");
    marked = [cell.parentElement.cells[0], table.tHead.rows[0].cells[cell.cellIndex]];
    for (const m of marked) m.classList.add("at");
    for (const c of table.querySelectorAll('td[tabindex="0"]')) c.tabIndex = -1;
    cell.tabIndex = 0;
    const name = document.createElement("b");
    name.textContent = cell.id;
    bar.replaceChildren(name, " ", cell.dataset.f ? `${cell.dataset.f}${cell.textContent === cell.dataset.f ? "   (the file holds no value; a spreadsheet program computes it)" : "   →  " + cell.textContent}` : cell.textContent || "empty");
    bar.className = "set";
    if (cell.dataset.f) cell.setAttribute("aria-describedby", "cellvalue");
    goto.value = cell.id;
  }

  async function go(r, c) {
    row = Math.min(Math.max(r, first), final);
    column = Math.min(Math.max(c, 0), columns - 1);
    const want = row, top = (row - first) * high, seen = scroll.clientHeight - head();
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + high > scroll.scrollTop + seen) scroll.scrollTop = top + high - seen;
    if (!await load(blockOf(row)) || want !== row) return;
    const b = blockOf(row), cell = b.body.rows[row - b.from].cells[column + 1], edge = table.tHead.rows[0].cells[0].getBoundingClientRect().width;
    cell.focus({ preventScroll: true });
    if (cell.offsetLeft - edge < scroll.scrollLeft) scroll.scrollLeft = cell.offsetLeft - edge;
    else if (cell.offsetLeft + cell.offsetWidth > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = cell.offsetLeft + cell.offsetWidth - scroll.clientWidth;
  }

  table.addEventListener("focusin", (e) => {
    const cell = e.target.closest('td[role="gridcell"]');
    if (!cell) return;
    [row, column] = place(cell);
    tell(cell);
  });
  table.addEventListener("pointerdown", (e) => {
    const cell = e.target.closest('td[role="gridcell"]');
    if (cell) cell.focus({ preventScroll: true });
  });
  table.addEventListener("keydown", (e) => {
    if (e.altKey || e.metaKey || !e.target.closest('td[role="gridcell"]')) return;
    const screen = Math.max(Math.floor((scroll.clientHeight - head()) / high) - 1, 1);
    const to = {
      ArrowUp: [e.ctrlKey ? first : row - 1, column], ArrowDown: [e.ctrlKey ? final : row + 1, column], ArrowLeft: [row, e.ctrlKey ? 0 : column - 1], ArrowRight: [row, e.ctrlKey ? columns - 1 : column + 1],
      PageUp: [row - screen, column], PageDown: [row + screen, column], Home: e.ctrlKey ? [first, 0] : [row, 0], End: e.ctrlKey ? [final, columns - 1] : [row, columns - 1],
    }[e.key];
    if (!to) return;
    e.preventDefault();
    go(...to);
  });
  // A cell that this page can scroll to needs no other page.
  goto.form.addEventListener("submit", (e) => {
    const m = /^\s*\$?([a-z]{1,3})\$?([0-9]{1,7})\s*$/i.exec(goto.value);
    const c = m ? letters.indexOf(m[1].toUpperCase()) : -1, r = m ? +m[2] : 0;
    if (c < 0 || r < first || r > final) return;
    e.preventDefault();
    go(r, c);
  });

  const start = given.rows[0] && given.rows[0].cells[1];
  if (start) start.tabIndex = 0;
  if (data.cell) {
    const cell = document.getElementById(data.cell);
    if (cell) go(...place(cell));
  } else scroll.scrollTop = (row - first) * high;
  look();
})();
