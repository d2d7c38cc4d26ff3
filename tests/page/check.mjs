// Does the page work in a browser, over a server with hostile and ordinary documents? See `run`.
import { join } from "node:path";
import { chromium } from "playwright-core";
import { slip, violations } from "./axe.mjs";

const [origin, room, executablePath, server] = process.argv.slice(2);
const failures = [];
const expect = (holds, what) => { if (!holds) failures.push(what); };
// A node opens no more than a thousand shards by default.
const SMALL = server === "peer" ? 30 : 900;

async function api(method, path, body) {
  const headers = { "content-type": path.includes("_bulk") ? "application/x-ndjson" : "application/json" };
  const answer = await fetch(origin + path, { method, headers, body: typeof body === "string" ? body : body && JSON.stringify(body) });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

const browser = await chromium.launch({
  executablePath, headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function open(context, hash, { scheme = "light", width = 1440 } = {}) {
  const page = await context.newPage();
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: 900 });
  page.on("console", (message) => {
    // What the server lacks and the page asks for is a line of the browser's own.
    if (message.type() === "error" && !/Failed to load resource|requires .TrustedHTML. assignment/.test(message.text())) expect(false, `console: ${message.text()}`);
  });
  page.on("pageerror", (error) => expect(false, `script: ${error.message}`));
  page.on("dialog", (dialog) => { expect(false, `a document ran: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => expect(request.url().startsWith(origin) || request.url().startsWith("data:"), `asks for ${request.url()}`));
  await page.goto(`${origin}/${hash}`);
  await page.waitForLoadState("networkidle", { timeout: 15000 }).catch(() => {});
  return page;
}

async function picture(page, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wide <= 0, `${name}: ${wide} pixels too wide`);
  const word = await slip(page);
  expect(!word, `${name}: a word of the program stands on the page: ${word}`);
  await page.screenshot({ path: join(room, `${server}-${name}.png`), fullPage: false });
}

async function checkAxe(page, name) {
  (await violations(page, room)).forEach((violation) => expect(false, `${name}: ${violation}`));
}

const HOSTILE = `<img src=x onerror="alert('cell')"><script>alert('script')</script>{{7*7}}"'\u202e`;

// The page's own protection.
const plain = await fetch(`${origin}/`, { headers: { accept: "*/*" } });
expect((plain.headers.get("content-type") ?? "").includes("json"), "a program gets no JSON");
const asBrowser = await fetch(`${origin}/`, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
const policy = asBrowser.headers.get("content-security-policy") ?? "";
for (const part of ["default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "require-trusted-types-for 'script'", "frame-ancestors 'none'"]) expect(policy.includes(part), `the policy lacks ${part}`);
expect(!policy.includes("unsafe"), "the policy has something unsafe");
expect((await asBrowser.text()).length < 300 * 1024, "the page is too long");

// Empty at first.
const context = await browser.newContext({ permissions: [] });
if (server === "limber") {
  for (const view of ["indices", "search", "memory", "tasks", "slow", "races"]) {
    const page = await open(context, `#/${view}`);
    await picture(page, `empty-${view}`);
    await checkAxe(page, `empty ${view}`);
    await page.close();
  }
}

// Documents: hostile ones, and enough of them.
await api("DELETE", "/page-logs,page-hostile?ignore_unavailable=true");
await api("PUT", "/page-logs", { settings: { number_of_shards: 1, number_of_replicas: 0 }, mappings: { properties: { "@timestamp": { type: "date" }, status: { type: "integer" }, request: { type: "text", fields: { raw: { type: "keyword" } } }, size: { type: "long" }, geo: { properties: { country: { type: "keyword" } } } } } });
const lines = [];
const start = Date.parse("2026-03-01T00:00:00Z");
for (let number = 0; number < 3000; number++) {
  lines.push(JSON.stringify({ index: { _id: `log-${number}` } }), `{"@timestamp":"${new Date(start + number * 97_000 + (number % 7) * 500_000).toISOString()}","status":${[200, 200, 200, 304, 404][number % 5]},"request":"GET /page/${number % 40}.html HTTP/1.1","size":${number === 1 ? "9007199254740993" : number * 37},"geo":{"country":"${["NZ", "PE", "IS"][number % 3]}"}}`);
}
expect((await api("POST", "/page-logs/_bulk?refresh=true", `${lines.join("\n")}\n`)).text.includes('"errors":false'), "documents are refused");
const taken = await api("PUT", `/page-hostile/_doc/${encodeURIComponent(HOSTILE)}?refresh=true`, { text: HOSTILE, [`key <b onclick=alert(1)>`]: HOSTILE, nested: { list: [HOSTILE, null], objects: [{ deep: HOSTILE }] } });
expect(taken.status === 201, `the hostile document is refused: ${taken.text}`);
await api("PUT", "/page-hostile/_alias/page-alias", undefined);

const sizes = [["light", "light", 1440], ["dark", "dark", 1440], ["phone-light", "light", 390], ["phone-dark", "dark", 390]];
const all = { indices: "#/indices", detail: "#/indices?name=page-logs", search: "#/search?index=page-logs", hostile: "#/search?index=page-hostile", console: "#/console", memory: "#/memory", tasks: "#/tasks", slow: "#/slow", races: "#/races" };
for (const [name, scheme, width] of sizes) {
  for (const [view, hash] of Object.entries(all)) {
    const page = await open(context, hash, { scheme, width });
    await picture(page, `${view}-${name}`);
    if (name !== "phone-dark") await checkAxe(page, `${view} ${name}`);
    await page.close();
  }
}

// Hostile documents are texts, in the table, in the row that opens, and in the mapping.
{
  const page = await open(context, all.hostile);
  expect((await page.locator("limber-search").textContent()).includes("<img src=x onerror="), "the hostile text is not shown as it is");
  await page.locator("data-table button[aria-expanded]").first().click();
  expect(await page.locator("data-table pre").count() === 1, "a document does not open");
  await page.goto(`${origin}/#/indices?name=page-hostile`);
  await page.waitForTimeout(500);
  expect(await page.locator("img, b[onclick]").count() === 0, "a text became HTML");
  expect(!(await page.evaluate(() => { try { document.body.innerHTML += "<i></i>"; return true; } catch { return false; } })), "the policy lets texts become HTML");
  await page.close();
}

// Search: query, filter, a time by keyboard, an error, more documents.
{
  const page = await open(context, all.search);
  const told = () => page.locator("limber-search .row p").first().textContent();
  expect((await told()).startsWith("3,000 documents"), `the search says ${await told()}`);
  await page.getByLabel("Query").fill("status:404");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.waitForFunction(() => document.querySelector("limber-search .row p")?.textContent.startsWith("600 "), undefined, { timeout: 5000 }).catch(() => expect(false, "the query finds not 600"));
  await page.getByLabel("Field").fill("geo.country");
  await page.getByLabel("Value").fill("NZ");
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.waitForFunction(() => document.querySelector("limber-search .row p")?.textContent.startsWith("200 "), undefined, { timeout: 5000 }).catch(() => expect(false, "the filter finds not 200"));
  await page.getByRole("slider").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  expect(/documents$/.test(await page.getByRole("slider").getAttribute("aria-valuetext")), "the histogram says nothing");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("limber-search .chip").length === 2, undefined, { timeout: 5000 }).catch(() => expect(false, "no time is chosen"));
  await page.getByRole("button", { name: /Remove the filter 20/ }).click();
  await page.getByRole("button", { name: /Remove the filter geo/ }).click();
  await page.getByLabel("Query").fill("");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.waitForFunction(() => document.querySelector("limber-search .row p")?.textContent.startsWith("3,000"), undefined, { timeout: 5000 }).catch(() => expect(false, "not all again"));
  await page.getByRole("button", { name: /Show 50 more/ }).click();
  await page.waitForFunction(() => document.querySelectorAll("data-table tbody tr").length === 100, undefined, { timeout: 5000 }).catch(() => expect(false, "no more documents"));
  await page.getByLabel("Query").fill("size:[1 TO");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.locator("[role=alert]:visible").waitFor({ timeout: 5000 }).catch(() => expect(false, "no error is shown"));
  await picture(page, "error-search");
  await checkAxe(page, "error");
  await page.getByLabel("Query").fill("size:9007199254740993");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.waitForFunction(() => document.querySelector("limber-search").textContent.includes("9007199254740993"), undefined, { timeout: 5000 }).catch(() => expect(false, "a long number is rounded"));
  await page.getByRole("link", { name: "This search in the console" }).click();
  await page.waitForFunction(() => document.querySelector("#editor")?.value.includes("9007199254740993"), undefined, { timeout: 5000 }).catch(() => expect(false, "the search does not reach the console"));
  await page.close();
}

// Console: completion of methods, paths, parameters, queries, fields; sending; history; curl.
{
  const page = await open(context, "#/console");
  const editor = page.locator("#editor");
  const proposals = async (text, back = 0) => {
    await editor.fill(text);
    await editor.evaluate((element, at) => element.setSelectionRange(at, at), text.length - back);
    await editor.press("Control+Space");
    await page.waitForTimeout(300);
    return page.locator("#words:visible li").evaluateAll((items) => items.map((item) => item.firstChild.textContent));
  };
  const check = async (text, word, back) => { const found = await proposals(text, back); expect(found.includes(word), `after ${JSON.stringify(text)} ${word} is not among ${found.slice(0, 8)}`); };
  await check("PO", "POST /");
  await check("GET /_ca", "_cat");
  await check("GET /_cat/ind", "indices");
  await check("GET /page-l", "page-logs");
  await check("POST /page-logs/_sea", "_search");
  await check("GET /_cat/indices?expand", "expand_wildcards");
  await check('POST /page-logs/_search\n{\n  "que', "query");
  await check('POST /page-logs/_search\n{"query": {"', "match");
  await check('POST /page-logs/_search\n{"query": {"bool": {"filter": [{"ran', "range");
  await check('POST /page-logs/_search\n{"query": {"term": {"geo', "geo.country");
  await check('POST /page-logs/_search\n{"aggs": {"mine": {"da', "date_histogram");
  await check('POST /page-logs/_search\n{"aggs": {"mine": {"terms": {"field": "sta', "status");
  await check('POST /page-logs/_search\n{"query": {"te}}\n\nGET /', "term", 9);
  await picture(page, "console-words");
  await proposals("GET /page-logs/_cou");
  await editor.press("Enter");
  expect((await editor.inputValue()).endsWith("/_count"), `a word is taken as ${await editor.inputValue()}`);
  expect(await page.locator("#words:visible").count() === 0, "the list stays open");
  await editor.press("Control+Enter");
  await page.waitForFunction(() => document.querySelector("#answer").textContent.includes('"count": 3000'), undefined, { timeout: 5000 }).catch(() => expect(false, "the console shows no answer"));
  await editor.fill('GET /page-logs/_search\n{"query": {"term": {"_id": {"value": "log-1"}}}}\n\nGET /_cat/health\n');
  await editor.evaluate((element) => element.setSelectionRange(0, 0));
  await editor.press("Control+Enter");
  await page.waitForFunction(() => document.querySelector("#answer").textContent.includes("9007199254740993"), undefined, { timeout: 5000 }).catch(() => expect(false, "the body of a GET is lost, or its number rounded"));
  await page.getByRole("button", { name: "Format" }).click();
  expect((await editor.inputValue()).includes('\n  "query": {\n    "term"'), "the body is not formatted");
  await picture(page, "console-answer");
  await checkAxe(page, "console with an answer");
  await editor.fill("GET /no-such-index/_search");
  await editor.press("Control+Enter");
  await page.waitForFunction(() => document.querySelector("limber-console .bad")?.textContent === "Status 404", undefined, { timeout: 5000 }).catch(() => expect(false, "a failure is no failure"));
  await picture(page, "console-error");
  expect(await page.getByLabel("Requests sent before").locator("option").count() === 4, "the history is not of three requests");
  await editor.fill('POST /no-such-index/_search\n{"query": {"term": {"password": "secret word"}}}');
  await editor.press("Control+Enter");
  await page.waitForTimeout(500);
  expect(!(await page.evaluate(() => localStorage.getItem("limber.history"))).includes("secret word"), "the history keeps a password");
  await editor.fill("");
  await page.getByLabel("Requests sent before").selectOption({ index: 3 });
  expect((await editor.inputValue()).includes("_count"), "the history does not come back");
  await editor.fill(`POST /page-logs/_search\n{"query": {"match": {"request": "it's"}}}`);
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  await page.getByRole("button", { name: "Copy as curl" }).click();
  const curl = await page.evaluate(() => navigator.clipboard.readText());
  expect(curl === `curl -X POST '${origin}/page-logs/_search' -H 'Content-Type: application/json' --data-binary '{"query": {"match": {"request": "it'\\''s"}}}'`, `curl: ${curl}`);
  await page.keyboard.press("Escape");
  await editor.focus();
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement.id !== "editor"), "Tab does not leave the editor");
  await page.close();
}

// Keyboard and names, from the top of the page on.
{
  const page = await open(context, "#/indices");
  const seen = new Set();
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => document.activeElement.id || document.activeElement.textContent.slice(0, 30) || document.activeElement.tagName));
  }
  for (const name of ["skip", "theme", "Search", "Console", "Memory", "page-logs"]) expect(seen.has(name), `Tab does not reach ${name}`);
  const tree = await (await context.newCDPSession(page)).send("Accessibility.getFullAXTree");
  const nameless = tree.nodes.filter((node) => !node.ignored && ["button", "link", "slider", "combobox", "img", "image", "table", "searchbox", "textbox", "checkbox", "region"].includes(node.role?.value) && !node.name?.value);
  expect(nameless.length === 0, `without a name: ${nameless.map((node) => node.role.value)}`);
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await ground();
  await page.locator("#theme").click();
  expect(await ground() !== before, "the button does not change the colours");
  await page.locator("#theme").click();
  await page.getByRole("link", { name: "Tasks" }).press("Enter");
  await page.waitForFunction(() => document.activeElement.tagName === "H1" && document.title.startsWith("Tasks"), undefined, { timeout: 5000 }).catch(() => expect(false, "a view does not take the focus"));
  await page.close();
}

// Tasks: one that runs is shown and can be cancelled.
{
  const asked = await api("POST", "/_reindex?wait_for_completion=false&requests_per_second=10", { source: { index: "page-logs", size: 10 }, dest: { index: "page-copy" } });
  const task = JSON.parse(asked.text).task;
  const page = await open(context, "#/tasks");
  await page.getByRole("button", { name: /Cancel indices:data\/write\/reindex/ }).first().waitFor({ timeout: 8000 }).catch(() => expect(false, "the task is not shown"));
  await picture(page, "tasks-running");
  await checkAxe(page, "tasks");
  await page.getByRole("button", { name: /Cancel indices:data\/write\/reindex/ }).first().click();
  await page.getByRole("button", { name: "Cancel the task" }).click();
  await page.waitForTimeout(3000);
  const ended = JSON.parse((await api("GET", `/_tasks/${task}`)).text);
  expect(ended.completed || ended.task?.cancelled, "the task goes on");
  await page.close();
}

// What the user may not see hides nothing else; a refusal stays on the page; a server that has gone away is named once.
{
  const page = await context.newPage();
  await page.setViewportSize({ width: 1440, height: 900 });
  const refusal = { status: 403, contentType: "application/json", body: JSON.stringify({ error: { type: "security_exception", reason: "action is unauthorized" }, status: 403 }) };
  await page.route("**/_data_stream**", (route) => route.fulfill(refusal));
  await page.route("**/_cat/aliases**", (route) => route.fulfill(refusal));
  await page.goto(`${origin}/#/indices`);
  await page.getByRole("button", { name: "page-logs", exact: true }).waitFor({ timeout: 5000 }).catch(() => expect(false, "a refusal of data streams hides the indices"));
  await page.goto(`${origin}/#/search?index=page-logs`);
  await page.locator("limber-search .row p").first().waitFor({ timeout: 5000 }).catch(() => expect(false, "a refusal of aliases hides the search"));
  await page.getByLabel("Index, data stream or pattern").fill("no-such-index");
  await page.getByLabel("Index, data stream or pattern").press("Tab");
  await page.locator("[role=alert]:visible", { hasText: "no such index" }).waitFor({ timeout: 5000 }).catch(() => expect(false, "an index that is not there is no error"));
  const fake = { nodes: {}, tasks: [{ node: "n", id: 7, action: "fake", cancellable: true, start_time_in_millis: 0, running_time_in_nanos: 1 }] };
  await page.route("**/_tasks?**", (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify(fake) }));
  await page.route("**/_cancel", (route) => route.fulfill(refusal));
  await page.goto(`${origin}/#/tasks`);
  await page.getByRole("button", { name: "Cancel fake 7" }).click();
  await page.getByRole("button", { name: "Cancel the task" }).click();
  await page.waitForTimeout(2500);
  expect((await page.locator("[role=alert]:visible").textContent().catch(() => "")).includes("unauthorized"), "a refused cancel is not told");
  await page.route("**/_nodes/stats/**", (route) => route.abort());
  await page.goto(`${origin}/#/memory`);
  await page.locator("[role=alert]:visible", { hasText: "does not answer" }).waitFor({ timeout: 5000 }).catch(() => expect(false, "a server that has gone away is not named"));
  await picture(page, "error-away");
  await page.close();
}

// Slow requests.
if (server === "limber") {
  await api("POST", "/page-logs/_search", { query: { match_all: {} }, size: 0, aggs: { slow: { scripted_metric: { init_script: "state.n = 0", map_script: "for (int i = 0; i < 20000; i++) { state.n += i % 7 }", combine_script: "return state.n", reduce_script: "return 0" } } } });
  const page = await open(context, "#/slow");
  await page.locator("limber-slow table").waitFor({ timeout: 5000 }).catch(() => expect(false, "no slow request is shown"));
  await picture(page, "slow-shown");
  await checkAxe(page, "slow");
  await page.close();
}

// Thousands of rows.
for (let from = 0; from < SMALL; from += 50) {
  await Promise.all(Array.from({ length: 50 }, (_, at) => from + at).filter((number) => number < SMALL).map((number) => api("PUT", `/page-many-${number}`, { settings: { number_of_shards: 1, number_of_replicas: 0 } })));
}
{
  const page = await open(context, "#/indices");
  await page.getByRole("button", { name: "page-many-1", exact: true }).first().waitFor({ timeout: 20000 }).catch(() => expect(false, "many indices are not shown"));
  await picture(page, "indices-many");
  const took = await page.evaluate(() => { const at = performance.now(); document.querySelector("data-table thead button").click(); return performance.now() - at; });
  console.log(`${server}: sorting ${SMALL} rows took ${took.toFixed(0)} ms`);
  await page.getByLabel("Name contains").fill(`page-many-${SMALL - 1}`);
  expect(await page.locator("data-table tbody tr").count() === 1, "the filter finds not one");
  await page.close();
  const phone = await open(context, "#/indices", { width: 390 });
  await picture(phone, "indices-many-phone");
  await phone.close();
}
for (let from = 0; from < SMALL; from += 50) await api("DELETE", `/${Array.from({ length: Math.min(50, SMALL - from) }, (_, at) => `page-many-${from + at}`).join(",")}`);
await api("DELETE", "/page-logs,page-hostile,page-copy?ignore_unavailable=true");
await browser.close();
failures.forEach((failure) => console.error(`${server}: ${failure}`));
console.log(`${server}: ${failures.length === 0 ? "fine" : `${failures.length} failures`}; pictures in ${room}`);
process.exit(failures.length === 0 ? 0 : 1);
