// The script of the console: the stream of events, keys, times, plots. Everything else works without it.
(() => {
  "use strict";
  const data = document.body.dataset;
  const $ = (q, in_ = document) => in_.querySelector(q);
  const all = (q, in_ = document) => [...in_.querySelectorAll(q)];

  // ── Events ────────────────────────────────────────────────────────────────────────────────────────────────────────
  // Of several tabs one holds the stream (a browser has six connections to a server) and tells the others.

  const types = ["call.started", "call.ended", "ask.opened", "ask.closed", "session.removed", "session.event"];
  const words = { on: "live", wait: "reconnecting", off: "not live", out: "logged out" };
  let last = data.after, state = "off", broken = false, leads = false;
  const channel = "BroadcastChannel" in window ? new BroadcastChannel("tackle" + data.events) : null;

  function show(next) {
    state = next;
    const el = $("#state");
    el.dataset.state = next;
    $("span", el).textContent = words[next];
    if (next === "out") {
      const a = document.createElement("a");
      a.href = "/login";
      a.textContent = "log in again";
      $("span", el).replaceChildren(a);
    }
  }

  function tell(message) {
    hear(message);
    if (channel) channel.postMessage(message);
  }

  function hear(m) {
    if (m.state) {
      if (m.state === "on" && state === "wait") refresh(); // the server may be another one by now
      show(m.state);
    }
    if (m.event) { last = m.event.id; happened(m.event); }
    if (m.reset) refresh();
  }

  function follow() {
    const stream = new EventSource(`${data.events}?after=${encodeURIComponent(last)}&types=${types.join(",")}`);
    stream.onopen = () => {
      if (broken) tell({ state: "wait" });
      broken = false;
      tell({ state: "on" });
    };
    stream.onerror = () => {
      broken = true;
      tell({ state: "wait" });
      if (stream.readyState === EventSource.CLOSED) {
        stream.close();
        retry();
      }
    };
    stream.addEventListener("hello", (e) => {
      if (JSON.parse(e.data).reset) tell({ reset: true });
    });
    stream.addEventListener("expired", () => {
      stream.close();
      tell({ state: "out" });
    });
    for (const type of types) {
      stream.addEventListener(type, (e) => {
        last = e.lastEventId || last;
        tell({ event: JSON.parse(e.data) });
      });
    }
    addEventListener("pagehide", () => stream.close());
  }

  // retry asks why a stream was refused before it tries again.
  function retry() {
    setTimeout(async () => {
      try {
        const r = await fetch("/api/me", { headers: { Accept: "application/json" } });
        if (r.status === 401 || r.status === 403) return tell({ state: "out" });
      } catch { /* the server is away */ }
      follow();
    }, 1500);
  }

  if (channel) {
    channel.onmessage = (e) => {
      if (e.data.who) { if (leads) channel.postMessage({ state }); } else hear(e.data);
    };
  }
  addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });
  if (channel && navigator.locks) {
    channel.postMessage({ who: true });
    navigator.locks.request("tackle" + data.events, () => {
      leads = true;
      follow();
      return new Promise(() => {}); // until the page goes
    });
  } else follow();

  // ── What is live is fetched again ─────────────────────────────────────────────────────────────────────────────────

  const live = new Set(data.live.split(" ").filter(Boolean));
  let timer = 0, fetched = 0;

  function happened(e) {
    const ours = !data.session || e.session === data.session || e.type === "session.removed";
    if (live.has(e.type) && ours) refresh();
    else if (e.type.startsWith("ask.")) recount();
    if (e.type === "ask.opened") say(`New ask: ${e.title || e.tool}`);
  }

  function refresh() {
    if (timer) return;
    timer = setTimeout(() => {
      timer = 0;
      fetched = performance.now();
      if (live.size) document.body.dispatchEvent(new CustomEvent("tackle:live"));
      else recount();
    }, Math.max(60, 400 - (performance.now() - fetched)));
  }

  function recount() {
    htmx.ajax("GET", "/keys", { target: "#askcount", select: "#askcount", swap: "outerHTML" });
  }

  function say(text) { $("#said").textContent = text; }

  document.addEventListener("htmx:after:swap", () => {
    const n = $("#askcount b");
    document.title = (n ? `(${n.textContent}) ` : "") + document.title.replace(/^\(\d+\) /, "");
    mark();
    times();
    count();
    parts();
  });

  // What costs a look into files comes after the page that it stands in.
  function parts() {
    for (const el of all("[data-part]")) {
      const from = el.dataset.part;
      el.removeAttribute("data-part");
      fetch(from, { headers: { "HX-Request": "true" } }).then(async (r) => { if (r.ok && !r.redirected) el.innerHTML = await r.text(); }).catch(() => {}); // the link below it stays
    }
  }

  // An answer that was taken takes its ask from the page.
  document.addEventListener("htmx:after:request", (e) => {
    const ctx = e.detail.ctx, ask = ctx.sourceElement && ctx.sourceElement.closest && ctx.sourceElement.closest("article.ask");
    if (!ask) return;
    const status = ctx.response && ctx.response.raw ? ctx.response.raw.status : 0;
    if (status >= 200 && status < 300) {
      ask.remove();
      mark();
      refresh();
    }
  });

  // ── Asks ──────────────────────────────────────────────────────────────────────────────────────────────────────────
  // One ask is marked; keys answer that one. A key counts when the ask was marked, and the page in front, for a moment.

  const settle = 400;
  let current = null, since = performance.now();

  function mark(next) {
    const cards = all("article.ask");
    const was = current;
    if (next) current = next;
    if (!cards.includes(current)) {
      const hash = location.hash.startsWith("#ask-") ? document.getElementById(location.hash.slice(1)) : null;
      current = cards.includes(hash) && !was ? hash : cards[0] || null;
    }
    if (current !== was) since = performance.now();
    for (const c of cards) {
      c.classList.toggle("current", c === current);
      if (c === current) c.setAttribute("aria-current", "true");
      else c.removeAttribute("aria-current");
    }
  }

  // seen reports whether enough of the marked ask is on the screen to answer it.
  function seen() {
    const r = current.getBoundingClientRect();
    const part = Math.min(r.bottom, innerHeight) - Math.max(r.top, 0);
    return part > Math.min(r.height, innerHeight) * 0.4;
  }

  function bring() {
    current.scrollIntoView({ block: "start" });
    since = performance.now();
  }

  function step(by) {
    const cards = all("article.ask");
    const i = cards.indexOf(current) + by;
    if (i < 0 || i >= cards.length) return;
    mark(cards[i]);
    current.focus({ preventScroll: true });
    bring();
  }

  function unfold(q, field) {
    const d = $(q, current);
    if (!d) return;
    d.open = true;
    const f = $(field, d);
    if (f) f.focus();
  }

  const answers = {
    y: () => press("y"), n: () => press("n"), v: () => press("v"),
    a: () => unfold(".always", "input[type=radio]:checked"),
    e: () => unfold(".hunks", "input[type=checkbox]"),
    w: () => unfold(".because", "textarea"),
  };

  function press(key) {
    let b = $(`[data-key="${key}"]`, current);
    if (b && b.disabled) b = $("button[value=some]", current);
    if (b) b.click();
  }

  for (const event of ["focus", "pageshow"]) addEventListener(event, () => { since = performance.now(); });
  document.addEventListener("visibilitychange", () => { since = performance.now(); });
  document.addEventListener("focusin", (e) => {
    const card = e.target.closest && e.target.closest("article.ask");
    if (card && card !== current) mark(card);
  });
  document.addEventListener("pointerdown", (e) => {
    const card = e.target.closest("article.ask");
    if (card && card !== current) mark(card);
  });

  function count() {
    for (const d of all(".hunks")) {
      const boxes = all("input[name=hunk]", d), ticked = boxes.filter((b) => b.checked).length;
      const b = $("button[value=some]", d);
      b.disabled = ticked === 0;
      for (const yes of all("button[value=yes], button[value=always]", d.closest("form"))) yes.disabled = ticked < boxes.length; // they are for all
      $(".some", b).textContent = `Allow ${ticked} of ${boxes.length} edits`;
    }
  }
  document.addEventListener("change", (e) => { if (e.target.name === "hunk") count(); });

  // Only one choice of an ask is open.
  document.addEventListener("toggle", (e) => {
    if (e.target.open && e.target.matches(".answers details")) {
      for (const d of all("details[open]", e.target.closest(".answers"))) if (d !== e.target) d.open = false;
    }
  }, true);

  // ── Keys ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  const places = { n: "/", a: "/asks", s: "/sessions", c: "/changes", f: "/artifacts", t: "/tools", r: "/rules", l: "/ledger", u: "/usage" };
  let leading = 0;

  const writing = (el) => el.matches("textarea, select, [contenteditable], input:not([type=checkbox]):not([type=radio])");

  document.addEventListener("keydown", (e) => {
    const el = e.target;
    if (e.isComposing || e.defaultPrevented || $("dialog[open]")) return;
    if (e.key === "Escape") return leave(el);
    if (e.key === "Enter" && sends(el, e)) return e.preventDefault();
    if (e.ctrlKey || e.metaKey || e.altKey || e.repeat || writing(el)) return;
    if (leading && performance.now() - leading < 1200) {
      leading = 0;
      if (places[e.key]) { e.preventDefault(); location.href = places[e.key]; }
      return;
    }
    leading = 0;
    if (e.key === "g") { leading = performance.now(); return; }
    if (e.key === "?") { e.preventDefault(); $("#help").showModal(); return; }
    if (!current) return;
    if (e.key === "j" || e.key === "k") { e.preventDefault(); return step(e.key === "j" ? 1 : -1); }
    if (!answers[e.key]) return;
    e.preventDefault();
    if (performance.now() - since < settle) return;
    if (!seen()) return bring();
    answers[e.key]();
  });

  // sends reports whether Enter says yes here: in the choice of how long, and in words for the model with Ctrl.
  function sends(el, e) {
    const panel = el.closest("article.ask .panel");
    if (!panel || el.matches("button")) return false;
    if (el.matches("textarea") && !(e.ctrlKey || e.metaKey)) return false;
    $("button", panel).click();
    return true;
  }

  function leave(el) {
    const d = el.closest("details[open]");
    if (d && d.closest("article.ask")) { d.open = false; d.closest("article.ask").focus({ preventScroll: true }); } else if (el.blur) el.blur();
  }

  // ── Small things ──────────────────────────────────────────────────────────────────────────────────────────────────

  function ago(t) {
    let s = (Date.now() - t) / 1000, form = (x) => x + " ago";
    if (s < 0) { s = -s; form = (x) => "in " + x; }
    if (s < 5) return "now";
    if (s < 120) return form(Math.floor(s) + " s");
    if (s < 7200) return form(Math.floor(s / 60) + " min");
    if (s < 172800) return form(Math.floor(s / 3600) + " h");
    return form(Math.floor(s / 86400) + " d");
  }
  function times() {
    for (const t of all("time")) {
      const text = ago(Date.parse(t.dateTime));
      if (t.textContent !== text) t.textContent = text;
    }
  }
  setInterval(times, 10000);

  document.addEventListener("click", (e) => {
    const a = e.target.closest && e.target.closest('article.ask [data-key="e"]');
    if (!a) return;
    e.preventDefault();
    mark(a.closest("article.ask"));
    unfold(".hunks", "input[type=checkbox]");
  });

  document.addEventListener("click", async (e) => {
    const b = e.target.closest && e.target.closest("[data-copy]");
    if (!b) return;
    try {
      await navigator.clipboard.writeText(b.dataset.copy);
      b.textContent = "Copied";
    } catch { b.textContent = "Copy it by hand"; }
  });

  // ── Plots ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  function size(v, unit) {
    if (v == null) return "–";
    if (unit === "ms") return v < 1 ? Math.round(v * 1000) + " µs" : v < 1000 ? +v.toPrecision(3) + " ms" : +(v / 1000).toPrecision(3) + " s";
    if (unit === "B") {
      let i = 0;
      while (v >= 1024 && i < 3) { v /= 1024; i++; }
      return +v.toPrecision(3) + " " + ["B", "KB", "MB", "GB"][i];
    }
    return String(v);
  }

  // Of a logarithmic axis only the powers of ten are named.
  const tens = (u, vs) => vs.map((v) => v > 0 && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v : null);

  const twos = Array.from({ length: 40 }, (_, i) => 2 ** i); // steps of an axis of bytes

  function plot(el) {
    const css = getComputedStyle(el), probe = el.appendChild(document.createElement("i"));
    const color = (n) => { probe.style.color = `var(${n})`; return getComputedStyle(probe).color; };
    const raw = JSON.parse(el.dataset.series), names = el.dataset.names.split(","), unit = el.dataset.unit, bars = el.dataset.kind === "bars";
    const colors = el.dataset.colors.split(",");
    // Lines have gaps where nothing was; bars stand on each other, the last at the bottom (the first may be the sum already).
    const from = el.dataset.sum ? 1 : 0;
    const series = raw.map((s, k) => k === 0 ? s : !bars ? s.map((v) => v || null) : s.map((v, i) => k <= from ? v : raw.slice(k).reduce((n, r) => n + r[i], 0)));
    const axis = { stroke: color("--dim"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, font: "12px " + css.fontFamily };
    const half = raw[0].length > 1 ? (raw[0][1] - raw[0][0]) / 2 : 1800; // so that the bars at the ends are whole
    const strokes = names.map((n, i) => color(colors[i]));
    probe.remove();
    const old = $(".uplot", el);
    if (old) old.remove();
    new uPlot({
      width: el.clientWidth - 24, height: 190, padding: [12, 12, 0, 0], cursor: { points: { size: 6 } },
      scales: { x: bars ? { range: (u, lo, hi) => [lo - half, hi + half] } : {}, y: bars ? { range: (u, lo, hi) => [0, Math.max(hi * 1.1, 4)] } : { distr: 3 } },
      axes: [{ ...axis, space: 64, size: 32, values: (u, ts) => ts.map((t) => stamp(t, ts)) }, { ...axis, size: 64, ...(unit === "B" ? { incrs: twos } : {}), ...(bars ? {} : { filter: tens, grid: { ...axis.grid, filter: tens } }), values: (u, vs) => vs.map((v) => v != null && (unit || Number.isInteger(v)) ? size(v, unit) : "") }],
      series: [{ label: "from", value: (u, t) => t == null ? "–" : new Date(t * 1000).toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false }) },
        ...names.map((n, i) => ({
          label: n, stroke: strokes[i], width: bars ? 0 : 2, fill: bars ? strokes[i] : undefined, spanGaps: false,
          points: { show: !bars, size: 5 }, paths: bars ? uPlot.paths.bars({ size: [0.7, 28] }) : undefined, value: (u, v, k, at) => size(at == null ? null : raw[k][at], unit),
        }))],
    }, series, el);
  }

  function stamp(t, ts) {
    const at = new Date(t * 1000), days = ts[ts.length - 1] - ts[0] > 2 * 86400;
    return days || at.getHours() + at.getMinutes() === 0 ? at.toLocaleDateString([], { month: "short", day: "numeric" }) : at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  }

  function plots() { if (window.uPlot) all(".plot").forEach(plot); }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", plots);
  let resizing = 0;
  addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(plots, 150); });

  mark();
  if (current && location.hash === "#" + current.id) bring();
  times();
  count();
  parts();
  plots();
})();
