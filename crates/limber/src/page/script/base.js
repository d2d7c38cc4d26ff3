"use strict";
// Elements, words for people, and calls of the API. Whatever a server says becomes a text node: no text is ever read as HTML.

/** An element with attributes (`on…` are listeners, properties are set for booleans) and children (texts and elements). */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  fill(element, children);
  return element;
}

function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, String(value));
  element.append(...children.flat());
  return element;
}

const by = (id) => document.getElementById(id);

/** Tells it to people who listen. */
function say(text) { by("said").textContent = text; }

const grouped = new Intl.NumberFormat("en");
const count = (value) => value === undefined || value === null || value === "" ? "" : grouped.format(Number(value));

function bytes(value) {
  if (value === undefined || value === null || value === "") return "";
  let number = Number(value);
  for (const unit of ["B", "KiB", "MiB", "GiB", "TiB"]) {
    if (number < 1024 || unit === "TiB") return `${number < 10 && unit !== "B" ? number.toFixed(1) : Math.round(number)} ${unit}`;
    number /= 1024;
  }
}

function duration(millis) {
  if (!(millis >= 0)) return "";
  if (millis < 1000) return `${millis < 10 ? Number(millis.toFixed(1)) : Math.round(millis)} ms`;
  if (millis < 60_000) return `${(millis / 1000).toFixed(1)} s`;
  if (millis < 3_600_000) return `${Math.floor(millis / 60_000)} min ${Math.round(millis % 60_000 / 1000)} s`;
  return `${Math.floor(millis / 3_600_000)} h ${Math.round(millis % 3_600_000 / 60_000)} min`;
}

/** A time of the server, in UTC as documents have it. */
function moment(millis) {
  const date = new Date(millis);
  return Number.isNaN(date.getTime()) ? String(millis) : date.toISOString().replace("T", " ").replace(/\.000Z$/, "").replace("Z", "");
}

class ApiError extends Error {
  constructor(status, text, json) {
    super(ApiError.reason(status, text, json));
    this.status = status;
  }
  static reason(status, text, json) {
    const error = json?.error;
    const cause = error?.caused_by ?? error?.failed_shards?.[0]?.reason;
    const inner = cause?.caused_by?.reason ?? cause?.reason;
    const reason = typeof error === "string" ? error : error?.reason;
    const parts = [reason ?? (text.slice(0, 300) || "no answer"), inner && inner !== reason ? inner : undefined];
    return `${parts.filter(Boolean).join(": ")} (${error?.type ? `${error.type}, ` : ""}status ${status})`;
  }
}

/** JSON with whole numbers as they are: those that no double holds become BigInts. */
function parse(text) {
  return JSON.parse(text, (_key, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context.source) : value);
}

/** JSON for people, two spaces a level. */
function pretty(value, indent = "") {
  const inner = `${indent}  `;
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[\n${value.map((item) => inner + pretty(item, inner)).join(",\n")}\n${indent}]`;
  if (value && typeof value === "object") {
    const members = Object.entries(value).map(([key, member]) => `${inner}${JSON.stringify(key)}: ${pretty(member, inner)}`);
    return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n${indent}}`;
  }
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

/** The same in one line: a text has no line break of its own in JSON. */
const oneLine = (value) => pretty(value).replace(/\n\s*/g, " ");

const isLines = (path) => /\/_(bulk|msearch|msearch\/template)(\?|$)/.test(path);

/** Sends a request as it is and returns the answer as it is. A browser sends no body with GET, so that such a request goes as POST. */
async function send(method, path, body, signal) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = isLines(path) ? "application/x-ndjson" : "application/json";
  const started = performance.now();
  let response, text;
  try {
    response = await fetch(path, { method: body !== undefined && method === "GET" ? "POST" : method, headers, body, signal, cache: "no-store", redirect: "error" });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
  return { status: response.status, ok: response.ok, text, millis: performance.now() - started, type: response.headers.get("content-type") ?? "" };
}

/** The answer as JSON; a failure throws what the server says. */
async function ask(path, { body, method = body === undefined ? "GET" : "POST", signal } = {}) {
  const answer = await send(method, path, body === undefined ? undefined : JSON.stringify(body), signal);
  let json;
  try { json = parse(answer.text); } catch { json = undefined; }
  if (!answer.ok || json === undefined) throw new ApiError(answer.status, answer.text, json);
  return json;
}

/** `undefined` where the server has no such thing. */
async function askIfThere(path, options) {
  try {
    return await ask(path, options);
  } catch (error) {
    if (error instanceof ApiError && [400, 404, 405, 410, 501].includes(error.status)) return undefined;
    throw error;
  }
}

/** `undefined` also where the user may not see it: what is left out must not hide what is allowed. */
async function askIfAllowed(path, options) {
  try {
    return await askIfThere(path, options);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return undefined;
    throw error;
  }
}

const inPath = (name) => encodeURIComponent(name);

/** What the page is served with: routes, names of queries and aggregations. */
let wordsAsked;
function words() { return wordsAsked ??= ask("/_page/words").catch(() => ({ routes: [], queries: [], aggregations: [], search: [], parameters: [] })); }

/** Names of indices, aliases and data streams. */
async function names(signal) {
  const [indices, aliases, streams] = await Promise.all([
    askIfAllowed("/_cat/indices?format=json&h=index&expand_wildcards=open,hidden", { signal }), askIfAllowed("/_cat/aliases?format=json&h=alias", { signal }), askIfAllowed("/_data_stream", { signal }),
  ]);
  const all = [...(streams?.data_streams ?? []).map((stream) => stream.name), ...(aliases ?? []).map((row) => row.alias), ...(indices ?? []).map((row) => row.index)];
  return [...new Set(all)].sort((a, b) => a.startsWith(".") - b.startsWith(".") || a.localeCompare(b));
}

/** A part of the page: it is begun when it is shown, and what it waits for ends when it is left. */
class View extends HTMLElement {
  connectedCallback() {
    this.leaving = new AbortController();
    this.alert = make("div", { class: "alert", role: "alert", hidden: true });
    this.append(make("h1", { tabindex: "-1" }, this.constructor.title), this.alert);
    this.start(new URLSearchParams(location.hash.split("?")[1] ?? ""));
  }
  disconnectedCallback() {
    this.leaving.abort();
    clearTimeout(this.timer);
  }
  get signal() { return this.leaving.signal; }
  fail(error, topic = "view") {
    if (error?.name === "AbortError" || this.signal.aborted) return;
    this.topic = topic;
    const text = error?.message ?? String(error);
    // What fails again every few seconds is told once.
    if (!this.alert.hidden && this.alert.textContent === text) return;
    this.alert.hidden = false;
    this.alert.textContent = text;
    this.alert.scrollIntoView({ block: "nearest" });
  }
  /** Runs it and shows its failure, which goes when work of the same topic succeeds. */
  async attempt(work, topic = "view") {
    try {
      const value = await work();
      if (this.topic === topic) this.alert.hidden = true;
      return value;
    } catch (error) {
      this.fail(error, topic);
    }
  }
  /** Again and again while somebody looks on and has not paused it. */
  every(millis, work) {
    const turn = async () => {
      if (!document.hidden && !this.paused) await this.attempt(work);
      if (!this.signal.aborted) this.timer = setTimeout(turn, millis);
    };
    turn();
  }
  pauser() {
    const button = make("button", { type: "button", "aria-pressed": "false", onclick: () => {
      this.paused = !this.paused;
      button.setAttribute("aria-pressed", String(this.paused));
    } }, "Pause");
    return button;
  }
}

/** Question with two answers; what is done cannot be undone. */
function confirmed(question, action) {
  return new Promise((resolve) => {
    const dialog = make("dialog", { "aria-label": question },
      make("p", {}, question),
      make("div", { class: "tools" },
        make("button", { type: "button", class: "main", onclick: () => dialog.close("yes") }, action),
        make("button", { type: "button", onclick: () => dialog.close("") }, "Leave it")));
    dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue === "yes"); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    // Without a secure context there is no clipboard: the text is shown, ready to be copied by hand.
    const area = make("textarea", { class: "mono", rows: "8", cols: "70", "aria-label": "Text to copy", readonly: true }, text);
    const dialog = make("dialog", { "aria-label": "Copy" }, area, make("div", { class: "tools" }, make("button", { type: "button", onclick: () => dialog.close() }, "Close")));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    area.select();
  }
}

const views = new Map();
function register(name, view) {
  customElements.define(`limber-${name}`, view);
  views.set(name, view);
}
