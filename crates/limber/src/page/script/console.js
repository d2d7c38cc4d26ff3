const HISTORY_KEY = "limber.history";
const HISTORY_MAX = 50;
const HISTORY_CHARS_MAX = 20_000;
/** Members that hold secrets, such as the password of a remote server in a reindex. */
const SECRET = /"([^"]*(password|passphrase|secret|api_key|access_key|authorization)[^"]*|(access_|refresh_)?token)"\s*:/i;
/** Longer answers are shown in part: a browser gets slow with them. */
const ANSWER_CHARS = 1_000_000;
/** Longer answers are shown as they came: reading them as JSON would stop the page for seconds. */
const READ_CHARS = 8_000_000;
const FIRST_TEXT = `# A request is a line with method and path, and a body below it.
GET /

GET /_cat/indices?v&s=index

GET /_search
{
  "query": {
    "match_all": {}
  },
  "size": 5
}
`;

/** What was sent before; not what has secrets in it. */
const history_ = {
  all() {
    try { return JSON.parse(localStorage.getItem(HISTORY_KEY) ?? "[]").filter((item) => typeof item?.path === "string"); } catch { return []; }
  },
  add(request) {
    if (/\/_(security|snapshot|ssl)\b/.test(request.path) || SECRET.test(request.body ?? "") || (request.body?.length ?? 0) > HISTORY_CHARS_MAX) return;
    const { method, path, body } = request;
    const rest = this.all().filter((item) => item.method !== method || item.path !== path || item.body !== body);
    this.keep([{ method, path, body }, ...rest].slice(0, HISTORY_MAX));
  },
  keep(items) {
    try { localStorage.setItem(HISTORY_KEY, JSON.stringify(items)); } catch { /* A browser that keeps nothing has no history. */ }
  },
};

register("console", class extends View {
  static title = "Console";
  start(asked) {
    this.indices = [];
    this.fields = [];
    let kept;
    try { kept = sessionStorage.getItem("limber.console"); } catch { /* Then it begins with the first text. */ }
    this.editor = make("textarea", { class: "editor", id: "editor", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "Requests", "aria-controls": "words", "aria-autocomplete": "list", "aria-haspopup": "listbox",
      oninput: () => this.propose(false), onkeydown: (event) => this.key(event), onblur: () => setTimeout(() => this.hideWords(), 150), onclick: () => this.hideWords(), onscroll: () => this.hideWords() });
    this.editor.value = asked.get("request") ?? kept ?? FIRST_TEXT;
    this.list = make("ul", { id: "words", class: "words", role: "listbox", "aria-label": "Words", hidden: true });
    this.status = make("p", { class: "soft", role: "status" }, "No answer yet.");
    this.answer = make("pre", { tabindex: "0", role: "region", "aria-label": "Answer", id: "answer" });
    this.past = make("select", { "aria-label": "Requests sent before", onchange: () => this.recall() });
    this.append(
      make("div", { class: "tools" },
        make("button", { type: "button", class: "main", onclick: () => this.send() }, "Send"), make("button", { type: "button", onclick: () => this.copyCurl() }, "Copy as curl"),
        make("button", { type: "button", onclick: () => this.tidy() }, "Format"), this.past, make("button", { type: "button", onclick: () => { history_.keep([]); this.showHistory(); say("The history is empty"); } }, "Forget history")),
      make("p", { class: "soft" }, make("kbd", {}, "Ctrl"), "+", make("kbd", {}, "Enter"), " sends, ", make("kbd", {}, "Ctrl"), "+", make("kbd", {}, "Space"), " proposes words, ", make("kbd", {}, "Esc"), " closes them; ", make("kbd", {}, "Tab"), " leaves the editor."),
      make("div", { class: "halves" }, make("div", { class: "editor-room" }, this.editor, this.list), make("div", {}, this.status, this.answer)));
    this.showHistory();
    words().then((table) => { this.table = table; });
    names(this.signal).then((all) => { this.indices = all; }, () => {});
  }
  disconnectedCallback() {
    super.disconnectedCallback();
    try { sessionStorage.setItem("limber.console", this.editor.value); } catch { /* Then it is forgotten. */ }
  }
  /** The request of the caret, or all that the selection touches. */
  chosen() {
    const text = this.editor.value;
    const lineOf = (at) => text.slice(0, at).split("\n").length - 1;
    const [from, to] = [lineOf(this.editor.selectionStart), lineOf(this.editor.selectionEnd)];
    const all = requestsOf(text);
    if (from === to) return all.findLast(({ start }) => start <= from) ?? all[0] ? [all.findLast(({ start }) => start <= from) ?? all[0]] : [];
    return all.filter(({ start, end }) => end >= from && start <= to);
  }
  async send() {
    this.hideWords();
    const requests = this.chosen();
    if (requests.length === 0) { this.status.textContent = "There is no request: begin a line with a method and a path, such as GET /_cat/indices?v"; return; }
    this.sending?.abort();
    const sending = this.sending = new AbortController();
    this.signal.addEventListener("abort", () => sending.abort());
    this.status.textContent = "Waiting …";
    const told = [];
    for (const request of requests) {
      try {
        const answer = await send(request.method, request.path, request.body, sending.signal);
        history_.add(request);
        told.push({ request, answer });
        this.tell(told);
      } catch (error) {
        if (error.name === "AbortError") return;
        this.status.textContent = error.message;
        this.answer.textContent = "";
      }
    }
    this.showHistory();
  }
  tell(told) {
    const { answer } = told.at(-1);
    const size = new Blob([answer.text]).size;
    this.status.replaceChildren(make("span", { class: answer.ok ? undefined : "bad" }, `Status ${answer.status}`), ` in ${duration(answer.millis)}, ${bytes(size)}`);
    const text = told.map(({ request, answer }) => {
      let body = answer.text;
      if (answer.type.includes("json") && body.length <= READ_CHARS) { try { body = pretty(parse(body)); } catch { /* It is shown as it came. */ } }
      return told.length > 1 ? `# ${request.method} ${request.path}: status ${answer.status}\n${body}` : body;
    }).join("\n\n");
    this.answer.textContent = text.length > ANSWER_CHARS ? `${text.slice(0, ANSWER_CHARS)}\n… ${count(text.length - ANSWER_CHARS)} more characters are not shown` : text;
    this.answer.scrollTop = 0;
  }
  copyCurl() {
    const requests = this.chosen();
    if (requests.length) copy(requests.map((request) => curlOf(request, location.origin)).join("\n"));
  }
  /** Indents the bodies of the chosen requests. */
  tidy() {
    const lines = this.editor.value.split("\n");
    for (const request of this.chosen().reverse()) {
      if (request.body === undefined || isLines(request.path)) continue;
      try {
        lines.splice(request.start + 1, request.end - request.start, ...pretty(parse(request.body)).split("\n"));
      } catch (error) {
        this.status.textContent = `The body is no JSON: ${error.message}`;
        return;
      }
    }
    this.editor.value = lines.join("\n");
    say("Formatted");
  }
  showHistory() {
    const items = history_.all();
    this.past.replaceChildren(make("option", { value: "" }, items.length ? "History …" : "No history"), ...items.map(({ method, path }, place) => make("option", { value: place }, `${method} ${path}`.slice(0, 80))));
    this.past.disabled = items.length === 0;
  }
  recall() {
    const item = history_.all()[Number(this.past.value)];
    if (this.past.value === "" || !item) return;
    const text = this.editor.value.trimEnd();
    const request = `${item.method} ${item.path}${item.body === undefined ? "" : `\n${item.body.trimEnd()}`}`;
    this.editor.value = `${text ? `${text}\n\n` : ""}${request}\n`;
    this.past.value = "";
    const at = this.editor.value.length - request.length - 1;
    this.editor.focus();
    this.editor.setSelectionRange(at, at);
    this.editor.scrollTop = this.editor.scrollHeight;
  }
  async propose(isAsked) {
    if (!this.table) this.table = await words();
    await this.learnFields();
    // Meanwhile the user may have typed on: what counts is what stands there now.
    const { value, selectionStart: caret, selectionEnd } = this.editor;
    if (caret !== selectionEnd || this.signal.aborted) return this.hideWords();
    const { typed, words: found } = completions(value, caret, this.table, this.indices, this.fields);
    const isDone = found.length === 1 && found[0].word === typed;
    if (found.length === 0 || (!isAsked && (!typed || isDone))) return this.hideWords();
    Object.assign(this, { typed, found, at: 0 });
    this.list.replaceChildren(...found.map(({ word, about }, place) => make("li", { role: "option", id: `word-${place}`, "aria-selected": String(place === 0), onpointerdown: (event) => { event.preventDefault(); this.accept(place); } }, word, make("small", {}, about))));
    const style = getComputedStyle(this.editor);
    const lines = value.slice(0, caret).split("\n");
    const lineHeight = parseFloat(style.lineHeight);
    const columns = (lines.at(-1).length - typed.length) * parseFloat(style.fontSize) * 0.6 - this.editor.scrollLeft + 10;
    this.list.hidden = false;
    this.list.style.top = `${lines.length * lineHeight - this.editor.scrollTop + 10}px`;
    this.list.style.left = `${Math.max(0, Math.min(columns, this.editor.clientWidth - this.list.offsetWidth))}px`;
    this.move(0);
    say(`${found.length} words: arrow keys choose, Enter takes one`);
  }
  /** The fields of the index that the request at the caret names. */
  async learnFields() {
    const line = this.editor.value.slice(0, this.editor.selectionStart).split("\n").length - 1;
    const request = requestsOf(this.editor.value).findLast(({ start }) => start <= line);
    const first = request ? segmentsOf(request.path.split("?")[0])[0] : "";
    const index = first && !first.startsWith("_") ? first : "_all";
    if (!request || this.fieldsOf === index) return;
    this.fieldsOf = index;
    const answer = await askIfThere(`/${index}/_field_caps?fields=*&ignore_unavailable=true`, { signal: this.signal }).catch(() => undefined);
    this.fields = Object.entries(answer?.fields ?? {}).filter(([name]) => !name.startsWith("_")).map(([name, types]) => ({ name, type: Object.keys(types).join(", ") }));
  }
  hideWords() {
    this.list.hidden = true;
    this.editor.removeAttribute("aria-activedescendant");
  }
  move(by) {
    this.at = (this.at + by + this.found.length) % this.found.length;
    [...this.list.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === this.at)));
    this.list.children[this.at].scrollIntoView({ block: "nearest" });
    this.editor.setAttribute("aria-activedescendant", `word-${this.at}`);
  }
  accept(place) {
    const { word, insert = word, back = 0 } = this.found[place];
    const caret = this.editor.selectionStart;
    // A quote that is there already is not written again.
    const after = this.editor.value[caret] === '"' && insert.startsWith(word) && insert.length > word.length ? 1 : 0;
    this.editor.setRangeText(insert, caret - this.typed.length, caret + after, "end");
    const at = this.editor.selectionStart - back;
    this.editor.setSelectionRange(at, at);
    this.hideWords();
  }
  key(event) {
    const isOpen = !this.list.hidden;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && isCommand) this.send();
    else if (event.key === " " && event.ctrlKey) this.propose(true);
    else if (isOpen && event.key === "Escape") this.hideWords();
    else if (isOpen && (event.key === "ArrowDown" || event.key === "ArrowUp")) this.move(event.key === "ArrowDown" ? 1 : -1);
    else if (isOpen && (event.key === "Enter" || event.key === "Tab")) this.accept(this.at);
    else if (event.key === "Enter" && !event.shiftKey && !event.altKey) this.indent();
    else return;
    event.preventDefault();
  }
  /** A new line, as deep as the one before; deeper after a brace. */
  indent() {
    const { value, selectionStart: at, selectionEnd } = this.editor;
    const line = value.slice(value.lastIndexOf("\n", at - 1) + 1, at);
    const opens = /[{[]\s*$/.test(line);
    const depth = /^\s*/.exec(line)[0];
    const closes = opens && /^\s*[}\]]/.test(value.slice(selectionEnd));
    this.editor.setRangeText(`\n${depth}${opens ? "  " : ""}${closes ? `\n${depth}` : ""}`, at, selectionEnd, "end");
    const back = closes ? depth.length + 1 : 0;
    this.editor.setSelectionRange(this.editor.selectionStart - back, this.editor.selectionStart - back);
  }
});
