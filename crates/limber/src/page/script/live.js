const COURSE = 120;

/** What the pools are for; pools of another server have their name alone. */
const POOLS = {
  indexing: "documents not yet in a segment", segment_writes: "segments being written and merged", segments: "tables of open segments", metadata: "state of the node and of indices", segment_memory: "cached term index",
  "queries.cache": "cached filters", "requests.cache": "cached answers", "stored_blocks.cache": "documents read often", request: "searches and aggregations under way", in_flight_requests: "bodies of requests", parent: "all breakers together", fielddata: "field data", inflight_requests: "bodies of requests", model_inference: "models", eql_sequence: "EQL",
};

register("memory", class extends View {
  static title = "Memory";
  start() {
    this.course = new Map();
    this.body = make("div");
    this.append(make("div", { class: "tools" }, this.pauser(), make("span", { class: "soft" }, "Every two seconds.")), this.body);
    this.every(2000, () => this.load());
  }
  keep(name, value) {
    const values = this.course.get(name) ?? [];
    values.push(value);
    if (values.length > COURSE) values.shift();
    this.course.set(name, values);
    return values;
  }
  async load() {
    const own = await askIfThere("/_nodes/stats/limber", { signal: this.signal });
    const stats = await ask("/_nodes/stats/breaker,jvm,process", { signal: this.signal });
    const nodes = Object.entries(stats.nodes);
    const focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
    this.body.replaceChildren(...nodes.map(([id, node]) => this.node(node, own?.nodes?.[id]?.limber, nodes.length > 1)));
    if (focused) this.body.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
  node(node, limber, isNamed) {
    const memory = limber?.memory;
    const heap = node.jvm?.mem;
    const figures = memory
      ? [["memory.limit", memory.limit_in_bytes], ["Taken (anonymous)", memory.anonymous_in_bytes, memory.limit_in_bytes], ["Resident, with mapped files", memory.resident_in_bytes], ["Explained by pools", memory.explained_in_bytes, memory.anonymous_in_bytes]]
      : [["Heap limit", heap?.heap_max_in_bytes], ["Heap used", heap?.heap_used_in_bytes, heap?.heap_max_in_bytes], ["Beside the heap", heap?.non_heap_used_in_bytes]];
    const item = ([name, value, whole]) => value === undefined ? undefined : make("li", {}, name, make("b", {}, bytes(value)), whole ? share(value, whole) : undefined, whole ? spark(this.keep(node.name + name, value), whole) : undefined);
    const pools = memory
      ? Object.entries(memory.pools).map(([name, pool]) => ({ name, used: pool.used_in_bytes, limit: pool.limit_in_bytes, trips: pool.trips }))
      : Object.entries(node.breakers ?? {}).map(([name, pool]) => ({ name, used: pool.estimated_size_in_bytes, limit: pool.limit_size_in_bytes, trips: pool.tripped }));
    const rows = table(memory ? "Pools, each the limit of its circuit breaker" : "Circuit breakers", [
      { title: "Pool", value: (row) => row.name, isName: true },
      { title: "For", value: (row) => POOLS[row.name] ?? "" },
      { title: "Taken", value: (row) => row.used, show: (row) => bytes(row.used), isNumber: true },
      { title: "Limit", value: (row) => row.limit, show: (row) => bytes(row.limit), isNumber: true },
      { title: "Share", show: (row) => share(row.used, row.limit) },
      { title: "Refused", value: (row) => row.trips, show: (row) => row.trips ? make("span", { class: "bad" }, count(row.trips)) : "0", isNumber: true },
    ], pools, { isUnsorted: true });
    return make("section", { "aria-label": `Memory of ${node.name}` }, isNamed && make("h2", {}, node.name), make("ul", { class: "figures" }, figures.map(item)), rows, memory?.term_index_cache && this.termIndex(memory.term_index_cache));
  }
  termIndex(cache) {
    const asked = cache.hit_count + cache.miss_count;
    const figure = (name, value, ...more) => make("li", {}, name, make("b", {}, value), ...more);
    return [make("h2", {}, "Term index"), make("ul", { class: "figures" },
      figure("Scheme", cache.scheme === "off_heap" ? "cached" : "all resident"),
      figure("Resident of its budget", `${bytes(cache.resident_size_in_bytes)} of ${bytes(cache.budget_in_bytes)}`, share(cache.resident_size_in_bytes, cache.budget_in_bytes), spark(this.keep("term", cache.resident_size_in_bytes), cache.budget_in_bytes)),
      figure("Look-ups served from memory", asked ? `${(cache.hit_count / asked * 100).toFixed(2)} %` : "none yet"),
      figure("Pages loaded, evicted", `${count(cache.load_count)}, ${count(cache.eviction_count)}`), figure("Time of loading", duration(cache.load_time_in_nanos / 1e6)))];
  }
});

register("tasks", class extends View {
  static title = "Tasks";
  start() {
    this.body = make("div");
    this.append(make("div", { class: "tools" }, this.pauser(), make("span", { class: "soft" }, "Every two seconds.")), this.body);
    this.every(2000, () => this.load());
  }
  async load() {
    const answer = await ask("/_tasks?detailed&group_by=none", { signal: this.signal });
    // The page's own question is no news.
    const rows = answer.tasks.filter((task) => !task.action.startsWith("cluster:monitor/tasks/lists"));
    if (rows.length === 0) { this.body.replaceChildren(make("p", { class: "empty" }, "Nothing is running.")); this.table = undefined; return; }
    const cancel = (row) => row.cancellable && !row.cancelled && make("button", { type: "button", "data-focus": `cancel-${row.node}:${row.id}`, "aria-label": `Cancel ${row.action} ${row.id}`, onclick: () => this.cancel(row) }, "Cancel");
    if (this.table) { this.table.rows = rows; return; }
    this.table = table("Tasks", [
      { title: "Action", value: (row) => row.action, isName: true },
      { title: "What", value: (row) => row.description ?? "", show: (row) => cell(row.description) },
      { title: "Progress", value: (row) => progress(row.status) },
      { title: "Since", value: (row) => row.start_time_in_millis, show: (row) => moment(row.start_time_in_millis) },
      { title: "Running", value: (row) => row.running_time_in_nanos, show: (row) => duration(row.running_time_in_nanos / 1e6), isNumber: true },
      { title: "", show: (row) => row.cancelled ? "being cancelled" : cancel(row) },
    ], rows, { by: 4, isDown: true });
    this.body.replaceChildren(this.table);
  }
  async cancel(row) {
    if (!await confirmed(`Cancel ${row.action} (${row.id})? What it has done so far stays.`, "Cancel the task")) return;
    const answer = await this.attempt(() => ask(`/_tasks/${inPath(`${row.node}:${row.id}`)}/_cancel`, { method: "POST", signal: this.signal }), "cancel");
    if (answer) say("The task is told to end");
    await this.attempt(() => this.load());
  }
});

function progress(status) {
  if (!status?.total) return "";
  const done = (status.created ?? 0) + (status.updated ?? 0) + (status.deleted ?? 0) + (status.noops ?? 0) + (status.version_conflicts ?? 0);
  return `${count(done)} of ${count(status.total)} (${Math.round(done / status.total * 100)} %)`;
}

register("slow", class extends View {
  static title = "Slow requests";
  start() {
    this.body = make("div");
    this.append(make("div", { class: "tools" }, this.pauser(), make("button", { type: "button", onclick: () => this.attempt(() => this.load()) }, "Reload")), this.body);
    this.opened = new Set();
    this.every(5000, () => this.load());
  }
  async load() {
    const answer = await askIfThere("/_page/slow_requests", { signal: this.signal });
    if (!answer) { this.body.replaceChildren(make("p", { class: "empty" }, "This server does not tell which requests were slow; its slow log does.")); return; }
    const rows = answer.requests;
    const about = make("p", { class: "soft" }, `The slowest of the last ${duration(answer.kept_millis)} that took at least ${duration(answer.threshold_millis)}, at most ${answer.count_max}.`);
    if (rows.length === 0) { this.body.replaceChildren(about, make("p", { class: "empty" }, "No request was slow.")); this.table = undefined; return; }
    if (this.table) { this.table.rows = rows; return; }
    const key = (row) => `${row.start_time_in_millis} ${row.uri} ${row.took_millis}`;
    const toggle = (row) => row.body ? make("button", { type: "button", class: "plain", "data-focus": key(row), "aria-expanded": String(this.opened.has(key(row))), "aria-label": `Body of ${row.method} ${row.uri}`, onclick: () => {
      if (!this.opened.delete(key(row))) this.opened.add(key(row));
      this.table.render();
    } }, "Body") : "";
    const again = (row) => make("a", { href: `#/console?request=${inPath(`${row.method} ${row.uri}${row.body ? `\n${row.body}` : ""}`)}`, "data-focus": `again-${key(row)}`, "aria-label": `${row.method} ${row.uri} in the console` }, "Console");
    this.table = table("Slow requests", [
      { title: "Request", value: (row) => `${row.method} ${row.uri}`, isName: true },
      { title: "Took", value: (row) => row.took_millis, show: (row) => duration(row.took_millis), isNumber: true },
      { title: "Status", value: (row) => row.status, isNumber: true },
      { title: "Begun", value: (row) => row.start_time_in_millis, show: (row) => moment(row.start_time_in_millis) },
      { title: "X-Opaque-Id", value: (row) => row.opaque_id ?? "" },
      { title: "", show: (row) => [toggle(row), " ", again(row)] },
    ], rows, { by: 1, isDown: true, below: (row) => this.opened.has(key(row)) && make("pre", { tabindex: "0", role: "region", "aria-label": "Body", "data-focus": `body-${key(row)}` }, row.body) });
    this.body.replaceChildren(about, this.table);
  }
});

register("races", class extends View {
  static title = "Races of this machine";
  start() {
    this.attempt(async () => {
      const answer = await askIfThere("/_page/races", { signal: this.signal });
      const rows = answer?.races ?? [];
      if (rows.length === 0) { this.append(make("p", { class: "empty" }, "No race is kept on the server's machine. ", make("code", {}, "limber race"), " runs one.")); return; }
      if (answer.left_out) this.append(make("p", { class: "soft" }, `${count(answer.left_out)} older races are left out.`));
      this.append(table("Races", [
        { title: "Started (UTC)", value: (row) => row.started, isName: true },
        { title: "Track", value: (row) => row.track },
        { title: "Challenge", value: (row) => row.challenge ?? "" },
        { title: "Server", value: (row) => row.server },
        { title: "Tags", value: (row) => row.tags },
        { title: "Race", value: (row) => row.race_id, show: (row) => make("code", {}, row.race_id) },
        { title: "", show: (row) => make("a", { href: `/_page/races/${inPath(row.race_id)}/report`, "aria-label": `Report of race ${row.race_id}` }, "Report") },
      ], rows, { by: 0, isDown: true }));
    });
  }
});
