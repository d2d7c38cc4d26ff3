const HITS_A_PAGE = 50;
/** Elasticsearch's `index.max_result_window`. */
const WINDOW = 10_000;
const BARS = 60;
const CELL_CHARS = 200;

/** Values of a document by path; arrays of values stay together. */
function flat(value, prefix = "", into = Object.create(null)) {
  if (value && typeof value === "object" && !Array.isArray(value)) {
    for (const [key, member] of Object.entries(value)) flat(member, prefix ? `${prefix}.${key}` : key, into);
  } else {
    into[prefix] = value;
  }
  return into;
}

function cell(value) {
  if (value === undefined) return "";
  const text = typeof value === "object" && value !== null ? oneLine(value) : String(value);
  return text.length > CELL_CHARS ? `${text.slice(0, CELL_CHARS)}…` : text;
}

const operators = {
  is: (field, value) => ({ term: { [field]: { value } } }),
  "is not": (field, value) => ({ bool: { must_not: [{ term: { [field]: { value } } }] } }),
  matches: (field, value) => ({ match: { [field]: { query: value, operator: "and" } } }),
  "is at least": (field, value) => ({ range: { [field]: { gte: value } } }),
  "is below": (field, value) => ({ range: { [field]: { lt: value } } }),
  exists: (field) => ({ exists: { field } }),
  "is missing": (field) => ({ bool: { must_not: [{ exists: { field } }] } }),
};

register("search", class extends View {
  static title = "Search";
  start(asked) {
    this.filters = [];
    this.columns = undefined;
    const submit = (event) => { event.preventDefault(); this.search(); };
    this.index = make("input", { list: "index-names", required: true, autocomplete: "off", value: asked.get("index") ?? "", onchange: () => this.choose() });
    this.namesList = make("datalist", { id: "index-names" });
    this.query = make("input", { type: "search", autocomplete: "off", value: asked.get("q") ?? "", placeholder: "words, or field:value AND …" });
    this.time = make("select", { onchange: () => { this.range = undefined; this.search(); } });
    this.fieldNames = make("datalist", { id: "field-names" });
    this.field = make("input", { list: "field-names", autocomplete: "off" });
    this.operator = make("select", { onchange: () => { this.value.disabled = ["exists", "is missing"].includes(this.operator.value); } }, Object.keys(operators).map((name) => make("option", {}, name)));
    this.value = make("input", { autocomplete: "off" });
    this.chips = make("div", { class: "tools", "aria-label": "Filters in effect", role: "group" });
    this.result = make("div");
    const addFilter = (event) => {
      event.preventDefault();
      if (!this.field.value) return this.field.focus();
      this.filters.push({ field: this.field.value, operator: this.operator.value, value: this.value.value });
      this.field.value = this.value.value = "";
      this.search();
    };
    this.append(this.namesList, this.fieldNames,
      make("form", { class: "tools", onsubmit: submit }, make("label", { class: "grow" }, "Index, data stream or pattern", this.index), make("label", { class: "grow" }, "Query", this.query), make("label", {}, "Time", this.time), make("button", { class: "main" }, "Search")),
      make("form", { class: "tools", onsubmit: addFilter }, make("label", {}, "Field", this.field), make("label", {}, "Filter", this.operator), make("label", {}, "Value", this.value), make("button", {}, "Add filter")),
      this.chips, this.result);
    names(this.signal).then((all) => this.namesList.append(...all.slice(0, 2000).map((name) => make("option", { value: name }))), (error) => this.fail(error));
    if (this.index.value) this.choose();
    else this.result.append(make("p", { class: "empty" }, "Choose an index to see its documents."));
  }
  get path() { return this.index.value.split(",").map((name) => inPath(name.trim())).join(","); }
  choose() {
    if (!this.index.value.trim()) return;
    this.range = this.columns = undefined;
    this.filters = [];
    return this.attempt(async () => {
      const answer = await ask(`/${this.path}/_field_caps?fields=*`, { signal: this.signal });
      this.fields = Object.entries(answer.fields).filter(([name, types]) => !name.startsWith("_") && !types.object && !types.nested).map(([name, types]) => ({ name, types: Object.keys(types) })).sort((a, b) => a.name.localeCompare(b.name));
      this.fieldNames.replaceChildren(...this.fields.slice(0, 2000).map(({ name }) => make("option", { value: name })));
      const dates = this.fields.filter(({ types }) => types.some((type) => type.startsWith("date"))).map(({ name }) => name).sort((a, b) => (b === "@timestamp") - (a === "@timestamp"));
      this.time.replaceChildren(...dates.map((name) => make("option", {}, name)), make("option", { value: "" }, "no time"));
      await this.run();
    });
  }
  search() {
    return this.attempt(() => this.run().catch((error) => {
      // What an earlier search found is no answer to this one.
      if (error.name !== "AbortError") this.result.replaceChildren();
      throw error;
    }));
  }
  body(from) {
    const query = this.query.value.trim();
    const filter = this.filters.map(({ field, operator, value }) => operators[operator](field, value));
    const time = this.time.value;
    if (this.range && time) filter.push({ range: { [time]: { gte: this.range[0], lt: this.range[1], format: "epoch_millis" } } });
    const body = {
      from, size: Math.min(HITS_A_PAGE, WINDOW - from), track_total_hits: true,
      query: { bool: { must: [query ? { query_string: { query, lenient: true } } : { match_all: {} }], filter } },
    };
    if (time) {
      body.sort = [{ [time]: { order: "desc" } }];
      if (from === 0) body.aggs = { over_time: { auto_date_histogram: { field: time, buckets: BARS } } };
    }
    return body;
  }
  async run() {
    const body = this.body(0);
    const answer = await ask(`/${this.path}/_search`, { body, signal: this.signal });
    this.hits = answer.hits.hits.map((hit) => ({ hit, values: flat(hit._source ?? {}) }));
    this.total = answer.hits.total.value;
    this.opened = new Set();
    this.showChips();
    const failed = answer._shards.failed ? `${answer._shards.failed} of ${answer._shards.total} shards failed: ${answer._shards.failures?.[0]?.reason?.reason ?? ""}` : "";
    const request = `POST /${this.path}/_search\n${pretty(body)}`;
    const told = `${count(this.total)} ${Number(this.total) === 1 ? "document" : "documents"} in ${duration(answer.took)}`;
    this.documents = make("div");
    this.result.replaceChildren(
      failed && make("p", { class: "bad" }, failed),
      make("div", { class: "row" }, make("p", {}, told), make("a", { href: `#/console?request=${inPath(request)}` }, "This search in the console")),
      this.bars(answer.aggregations?.over_time) ?? "", this.documents);
    say(told);
    this.showDocuments();
  }
  bars(histogram) {
    if (!histogram?.buckets?.length) return undefined;
    const buckets = histogram.buckets;
    const step = intervalMillis(histogram.interval);
    const element = make("time-bars");
    element.show(buckets, (place) => buckets[place + 1]?.key ?? buckets[place].key + step, (from, to) => { this.range = [from, to]; this.search(); });
    return element;
  }
  showChips() {
    const chip = (text, remove) => make("span", { class: "chip" }, text, make("button", { type: "button", "aria-label": `Remove the filter ${text}`, onclick: () => { remove(); this.search(); } }, "×"));
    this.chips.replaceChildren(
      ...this.filters.map((filter, place) => chip(`${filter.field} ${filter.operator} ${filter.value}`, () => this.filters.splice(place, 1))),
      ...(this.range ? [chip(`${moment(this.range[0])} to ${moment(this.range[1])}`, () => { this.range = undefined; })] : []));
    this.chips.hidden = !this.chips.childElementCount;
  }
  showDocuments() {
    if (this.hits.length === 0) {
      this.documents.replaceChildren(make("p", { class: "empty" }, this.total ? "No more documents." : "No document matches."));
      return;
    }
    const seen = [...new Set(this.hits.flatMap(({ values }) => Object.keys(values)))].filter(Boolean);
    const time = this.time.value;
    this.columns ??= [...new Set([...(seen.includes(time) ? [time] : []), ...seen])].slice(0, 7);
    const toggle = (row) => {
      const isOpen = this.opened.has(row);
      const button = make("button", { type: "button", class: "plain mono", "aria-expanded": String(isOpen), "data-focus": `doc-${row.hit._index}-${row.hit._id}`, onclick: () => {
        if (isOpen) this.opened.delete(row); else this.opened.add(row);
        this.shown.render();
      } }, row.hit._id);
      return button;
    };
    this.shown = table("Documents", [
      { title: "_id", show: toggle, isName: true },
      ...this.columns.map((name) => ({ title: name, show: ({ values }) => cell(values[name]), isNumber: typeof this.hits[0].values[name] === "number" })),
    ], this.hits, { isUnsorted: true, below: (row) => this.opened.has(row) && make("pre", { tabindex: "0", role: "region", "aria-label": `Document ${row.hit._id}` }, pretty(row.hit)) });
    this.documents.replaceChildren(this.chooser(seen), this.shown);
    this.shown.drawn = WINDOW;
    this.shown.render();
    const from = this.hits.length;
    if (from < Math.min(this.total, WINDOW)) {
      this.documents.append(make("p", {}, make("button", { type: "button", onclick: () => this.more(from) }, `Show ${HITS_A_PAGE} more (${count(from)} of ${count(this.total)})`)));
    } else if (this.total > WINDOW && from >= WINDOW) {
      this.documents.append(make("p", { class: "soft" }, `Only the first ${count(WINDOW)} can be shown: choose a time or add a filter.`));
    }
  }
  more(from) {
    return this.attempt(async () => {
      const answer = await ask(`/${this.path}/_search`, { body: this.body(from), signal: this.signal });
      if (answer.hits.hits.length === 0) this.total = this.hits.length;
      this.hits.push(...answer.hits.hits.map((hit) => ({ hit, values: flat(hit._source ?? {}) })));
      this.showDocuments();
      say(`${this.hits.length} documents shown`);
    });
  }
  chooser(seen) {
    const box = (name) => make("label", {}, make("input", { type: "checkbox", checked: this.columns.includes(name), onchange: (event) => {
      this.columns = event.target.checked ? [...this.columns, name] : this.columns.filter((other) => other !== name);
      this.columnsOpen = true;
      this.showDocuments();
      this.documents.querySelector(`[data-column="${CSS.escape(name)}"]`)?.focus();
    }, "data-column": name }), name);
    const all = [...new Set([...seen, ...(this.fields ?? []).map(({ name }) => name)])].slice(0, 500);
    return make("details", { open: this.columnsOpen, ontoggle: (event) => { this.columnsOpen = event.target.open; } }, make("summary", {}, `Columns: ${this.columns.length} of ${all.length}`), make("div", { class: "choices", tabindex: "0", role: "group", "aria-label": "Columns" }, all.map(box)));
  }
});

/** The length of an interval such as `30s` or `1M`, for the end of the last bar. */
function intervalMillis(text) {
  const [, number, unit] = /^(\d+)(\w+)$/.exec(text ?? "") ?? [];
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, M: 31 * 86_400_000, q: 92 * 86_400_000, y: 366 * 86_400_000 };
  return Number(number ?? 1) * (units[unit] ?? 1000);
}
