// Pictures of a day at the corner shop: each page light and dark, narrow and wide.
export default ({ visit, control, begin, call, live, key, card, BASE, TO, mkdir }) => ({
  async screenshots() {
    await mkdir(TO, { recursive: true });
    // Before anything has happened; the menu; the page to log in.
    for (const width of [360, 1280]) {
      const page = await visit({ width, height: 780, dark: width === 360 });
      for (const name of ["now", "asks", "changes"]) {
        await page.goto(`${BASE}/${name === "now" ? "" : name}`);
        await live(page);
        await page.screenshot({ path: `${TO}/empty-${name}-${width}.png`, animations: "disabled" });
      }
      if (width === 360) {
        await page.getByRole("link", { name: "Menu" }).click();
        await page.screenshot({ path: `${TO}/menu-${width}.png`, animations: "disabled" });
      }
      await page.goto(BASE + "/login");
      await page.screenshot({ path: `${TO}/login-${width}.png`, animations: "disabled" });
      await page.context().close();
    }
    // A session that cleans up, with what goes wrong on the way.
    await call("list_dir", { path: "." }, "tidy-prices");
    await call("read_file", { path: "src/prices.py" }, "tidy-prices");
    await call("read_file", { path: "src/price.py" }, "tidy-prices");
    await call("grep", { pattern: "1\\.19|0\\.19", output_mode: "content" }, "tidy-prices");
    await call("write_file", { path: "docs/tax.md", content: "# Tax\n\nThe rate stands in one place: `src/prices.py`.\n" }, "tidy-prices");
    await call("edit", { path: "src/report.py", old_string: "from prices import PRICES", new_string: "from prices import PRICES, gross" }, "tidy-prices");
    await call("edit", { path: "src/report.py", old_string: "            cents = round(PRICES[row[\"item\"]] * int(row[\"count\"]) * 1.19)\n            owed", new_string: "            cents = gross(row[\"item\"], int(row[\"count\"]))\n            owed" }, "tidy-prices");
    await call("write_file", { path: "no/secret.txt", content: "x" }, "tidy-prices");
    await call("write_file", { path: "data/orders.csv", content: "customer,item,count\nnorth,apple,12\nnorth,tea,1\nsouth,bread,2\neast,cheese,1\n" }, "weekly-report");
    await call("glob", { pattern: "**/*.py" }, "weekly-report");
    await call("outline", { path: "src/report.py" }, "weekly-report");
    const { call: changed } = await call("edit", { path: "README.md", old_string: "- The tax of 19 % stands in two places.\n", new_string: "" }, "weekly-report");
    const text = Array.from({ length: 400 }, (_, i) => `2026-11-${String(1 + (i % 30)).padStart(2, "0")} order ${1000 + i} ${["apple", "bread", "cheese", "tea"][i % 4]} × ${1 + (i % 5)}`).join("\n") + "\n";
    const artifact = await control("artifact", { Session: "weekly-report", Name: "orders of november", MIME: "text/plain", Content: Buffer.from(text).toString("base64") });
    // Media: a workbook and a picture, and what changed.
    const made = async (media_id, q) => (await call("media_query", { media_id, q }, "weekly-report")).data.media[0].id;
    const rows = Array.from({ length: 3000 }, (_, i) => `2026-11-${String(1 + (i % 30)).padStart(2, "0")},${["north", "south", "east"][i % 3]},${["apple", "bread", "cheese", "tea"][i % 4]},${1 + (i % 7)}`);
    const table = await control("attach", { Session: "weekly-report", Name: "november.csv", Content: Buffer.from("day,customer,item,count\n" + rows.join("\n") + "\n").toString("base64") });
    const jar = await control("attach", { Session: "weekly-report", Name: "olives.png" });
    const book = await made(table, `convert to=xlsx | sheet add_columns columns='[{"header":"cents","values":["=D2*40","=D3*220"]}]' | sheet add_sheet name="Totals"`);
    const corrected = await made(book, `sheet update_cells updates='[{"address":"D4","value":12},{"address":"B7","value":"west"},{"address":"C9","value":"olives"}]'`);
    const turned = await made(jar, "image flip axis=vertical");
    const edits = [
      { old_string: "    \"apple\": 40,", new_string: "    \"apple\": 45," },
      { old_string: "    \"tea\": 410,\n", new_string: "    \"olives\": 380,\n    \"tea\": 410,\n" },
      { old_string: "TAX = 0.19", new_string: "TAX = 0.07" },
    ];
    const waiting = [await begin("multi_edit", { path: "src/../src/prices.py", edits }, "tidy-prices"), await begin("write_file", { path: "ask/note.txt", content: "call the supplier\n" }, "weekly-report")];

    const media = "/sessions/weekly-report/media";
    const pages = {
      media, sheet: `${media}/${corrected}?cell=E3`, cells: `${media}/${corrected}/compare`, picture: `${media}/${jar}`, pictures: `${media}/${turned}/compare`,
      now: "/", asks: "/asks", session: "/sessions/tidy-prices", call: `/sessions/weekly-report/calls/${changed}`, tools: "/tools", tool: "/tools/multi_edit?example=1", changes: "/changes",
      artifacts: "/artifacts", artifact: `/artifacts/${artifact}`, rules: "/rules/why?tool=edit&args=" + encodeURIComponent('{"path":"src/prices.py","old_string":"0.19","new_string":"0.07"}'), ledger: "/ledger/verify", usage: "/usage", keys: "/keys",
    };
    const only = (process.env.ONLY || "").split(",").filter(Boolean);
    async function draw(names) {
      for (const dark of [false, true]) {
        for (const width of [360, 1280]) {
          const page = await visit({ width, height: width < 500 ? 780 : 860, dark });
          for (const name of names) {
            if (only.length && !only.includes(name)) continue;
            await page.goto(BASE + pages[name]);
            await live(page);
            if (name === "asks") await page.locator("article.ask").nth(1).waitFor();
            await page.screenshot({ path: `${TO}/${name}-${width}-${dark ? "dark" : "light"}.png`, animations: "disabled" });
          }
          await page.context().close();
        }
      }
    }
    await draw(Object.keys(pages).filter((n) => n !== "usage"));
    const page = await visit();
    await page.goto(BASE + "/asks");
    await live(page);
    await key(page, "a");
    await page.screenshot({ path: `${TO}/always-1280-light.png`, animations: "disabled" });
    await page.keyboard.press("Escape");
    await key(page, "e");
    await page.screenshot({ path: `${TO}/some-1280-light.png`, animations: "disabled" });
    await page.keyboard.press("Escape");
    await key(page, "n");
    await waiting[0].result();
    await key(page, "n");
    await waiting[1].result();
    await control("history"); // plots want more than one hour
    await draw(["usage"]);
  },
});
