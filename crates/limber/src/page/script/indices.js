/** Fields of a mapping, one a row, sub-fields with their path. */
function fieldsOf(mapping, prefix = "") {
  return Object.entries(mapping?.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix + name;
    const { type, properties, fields, ...options } = field;
    const rows = [{ path, type: type ?? "object", options }];
    const inner = Object.entries(fields ?? {}).map(([sub, { type, ...options }]) => ({ path: `${path}.${sub}`, type, options }));
    return [...rows, ...inner, ...fieldsOf(field, `${path}.`)];
  });
}

register("indices", class extends View {
  static title = "Indices and data streams";
  start(asked) {
    this.filter = make("input", { type: "search", autocomplete: "off", oninput: () => this.show() });
    this.hidden_ = make("input", { type: "checkbox", onchange: () => this.show() });
    this.list = make("div");
    this.detail = make("section", { "aria-live": "polite" });
    this.append(
      make("div", { class: "tools" }, make("label", { class: "grow" }, "Name contains", this.filter), make("label", { class: "check" }, this.hidden_, "Hidden and system ones"),
        make("button", { type: "button", onclick: () => this.load() }, "Reload")),
      this.detail, this.list);
    this.load();
    if (asked.get("name")) this.open(asked.get("name"));
  }
  load() {
    return this.attempt(async () => {
      const [indices, streams, stats] = await Promise.all([
        ask("/_cat/indices?format=json&bytes=b&expand_wildcards=all&h=index,health,status,pri,rep,docs.count,docs.deleted,store.size", { signal: this.signal }),
        askIfAllowed("/_data_stream?expand_wildcards=all", { signal: this.signal }), askIfAllowed("/_data_stream/_stats", { signal: this.signal }),
      ]);
      const sizes = new Map((stats?.data_streams ?? []).map((stream) => [stream.data_stream, stream.store_size_bytes]));
      const counts = new Map(indices.map((row) => [row.index, Number(row["docs.count"] ?? 0)]));
      this.all = [
        ...(streams?.data_streams ?? []).map((stream) => ({
          name: stream.name, kind: `data stream of ${stream.indices.length}`, health: String(stream.status ?? "").toLowerCase(), bytes: sizes.get(stream.name),
          docs: stream.indices.reduce((sum, index) => sum + (counts.get(index.index_name) ?? 0), 0), isHidden: Boolean(stream.hidden),
        })),
        ...indices.map((row) => ({
          name: row.index, kind: "index", health: row.health ?? "", status: row.status, bytes: row["store.size"], docs: row["docs.count"], deleted: row["docs.deleted"],
          shards: row.pri === undefined ? "" : `${row.pri} × ${1 + Number(row.rep)}`, isHidden: row.index.startsWith("."),
        })),
      ];
      this.show();
    });
  }
  show() {
    if (!this.all) return;
    const part = this.filter.value.toLowerCase();
    const rows = this.all.filter((row) => (this.hidden_.checked || !row.isHidden) && row.name.toLowerCase().includes(part));
    if (rows.length === 0) {
      const none = this.all.length === 0 ? ["There is no index yet. ", make("a", { href: "#/console" }, "The console"), " can make one: PUT /books/_doc/1 with a document."] : "No index has such a name.";
      this.list.replaceChildren(make("p", { class: "empty" }, none));
      return;
    }
    const open = (row) => make("button", { type: "button", class: "plain", "data-focus": `open-${row.name}`, onclick: () => this.open(row.name) }, row.name);
    this.list.replaceChildren(table("Indices and data streams", [
      { title: "Name", value: (row) => row.name, show: open, isName: true },
      { title: "Kind", value: (row) => row.kind },
      { title: "Health", value: (row) => row.health, show: (row) => make("span", { class: `health ${["green", "yellow", "red"].includes(row.health) ? row.health : ""}` }, row.status === "close" ? "closed" : row.health) },
      { title: "Documents", value: (row) => row.docs, show: (row) => count(row.docs), isNumber: true },
      { title: "Deleted", value: (row) => row.deleted, show: (row) => count(row.deleted), isNumber: true },
      { title: "Size", value: (row) => row.bytes, show: (row) => bytes(row.bytes), isNumber: true },
      { title: "Shards × copies", value: (row) => row.shards ?? "" },
      { title: "", show: (row) => make("a", { href: `#/search?index=${inPath(row.name)}`, "aria-label": `Search ${row.name}` }, "Search") },
    ], rows, { by: 0 }));
    say(`${rows.length} rows`);
  }
  open(name) {
    return this.attempt(async () => {
      const answer = await ask(`/${inPath(name)}`, { signal: this.signal });
      const [last, index] = Object.entries(answer).at(-1) ?? [name, {}];
      const fields = fieldsOf(index.mappings);
      const { properties, ...rest } = index.mappings ?? {};
      const heading = make("h2", { tabindex: "-1" }, name, last === name ? "" : ` (mapping of ${last})`);
      const aliases = Object.keys(index.aliases ?? {});
      this.detail.replaceChildren(
        make("div", { class: "row" }, heading, make("button", { type: "button", onclick: () => { this.detail.replaceChildren(); this.querySelector(`[data-focus="${CSS.escape(`open-${name}`)}"]`)?.focus(); } }, "Close")),
        make("p", { class: "soft" }, aliases.length ? `Aliases: ${aliases.join(", ")}. ` : "", make("a", { href: `#/search?index=${inPath(name)}` }, "Search it")),
        fields.length === 0 ? make("p", { class: "empty" }, "The mapping has no field yet.") : table("Fields", [
          { title: "Field", value: (row) => row.path, isName: true },
          { title: "Type", value: (row) => row.type },
          { title: "Options", value: (row) => Object.keys(row.options).length ? make("code", {}, oneLine(row.options)) : "" },
        ], fields),
        Object.keys(rest).length ? make("details", {}, make("summary", {}, "Rest of the mapping"), make("pre", { tabindex: "0", role: "region", "aria-label": "Rest of the mapping" }, pretty(rest))) : "",
        make("details", {}, make("summary", {}, "Settings"), make("pre", { tabindex: "0", role: "region", "aria-label": "Settings" }, pretty(index.settings ?? {}))));
      heading.focus();
    });
  }
});
