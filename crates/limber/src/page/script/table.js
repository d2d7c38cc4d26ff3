/** Rows that are drawn at once; a button draws as many more. */
const ROWS_DRAWN = 100;

/**
 * A table that sorts by its heads; on a narrow screen its rows are cards.
 * `columns`: `{title, value(row), show(row), isNumber, isName, isWide}`. Elements that `show` makes are drawn only for rows on the page.
 */
class DataTable extends HTMLElement {
  set columns(columns) { this.all = columns; }
  set rows(rows) { this.data = rows; this.render(); }
  connectedCallback() {
    this.drawn = ROWS_DRAWN;
    this.render();
  }
  sorted() {
    const column = this.all[this.by];
    if (!column) return this.data;
    const value = column.value ?? column.show;
    const sign = this.isDown ? -1 : 1;
    const compare = column.isNumber ? (a, b) => Number(a ?? -1) - Number(b ?? -1) : (a, b) => String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
    return this.data.toSorted((a, b) => sign * compare(value(a), value(b)));
  }
  render() {
    if (!this.isConnected || !this.all || !this.data) return;
    const focused = this.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
    const heads = this.all.map((column, place) => {
      const state = this.by === place ? (this.isDown ? "descending" : "ascending") : undefined;
      const sort = () => {
        this.isDown = this.by === place ? !this.isDown : Boolean(column.isNumber);
        this.by = place;
        this.render();
      };
      const mark = state ? make("span", { "aria-hidden": "true" }, this.isDown ? " ↓" : " ↑") : undefined;
      const content = this.hasAttribute("unsorted") ? column.title || make("span", { class: "unseen" }, "Actions")
        : column.title ? make("button", { type: "button", onclick: sort, "data-focus": `head-${place}` }, column.title, mark) : make("span", { class: "unseen" }, "Actions");
      return make("th", { scope: "col", "aria-sort": state, class: column.isNumber && "number" }, content);
    });
    const shown = this.sorted().slice(0, this.drawn);
    const body = make("tbody", {}, shown.flatMap((row) => this.drawRow(row)));
    const more = this.data.length - shown.length;
    this.replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "region", "data-focus": "region", "aria-label": this.getAttribute("caption") },
      make("table", { class: "cards" }, make("caption", {}, this.getAttribute("caption"), this.data.length ? `: ${count(this.data.length)}` : ""), make("thead", {}, make("tr", {}, heads)), body)));
    if (more > 0) {
      this.append(make("p", {}, make("button", { type: "button", "data-focus": "more", onclick: () => { this.drawn += ROWS_DRAWN; this.render(); } }, `Show ${count(Math.min(more, ROWS_DRAWN))} more of ${count(more)}`)));
    }
    if (focused) this.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
  drawRow(row) {
    const cells = this.all.map((column) => {
      const content = (column.show ?? column.value)(row);
      if (column.isName) return make("th", { scope: "row" }, content);
      return make("td", { "data-title": column.title || undefined, class: [column.isNumber && "number", column.isWide && "wide"].filter(Boolean).join(" ") || undefined }, make("span", {}, content));
    });
    const line = make("tr", {}, cells);
    const below = this.below?.(row);
    return below ? [line, make("tr", {}, make("td", { colspan: this.all.length, class: "wide" }, below))] : [line];
  }
}
customElements.define("data-table", DataTable);

function table(caption, columns, rows, options = {}) {
  const element = make("data-table", { caption, unsorted: options.isUnsorted });
  Object.assign(element, { all: columns, data: rows, by: options.by, isDown: options.isDown, below: options.below });
  return element;
}

/** How much of a whole is taken, as a bar; the figures stand beside it. */
function share(part, whole) {
  const of = whole > 0 ? Math.min(1, part / whole) : 0;
  return draw("svg", { class: "track", viewBox: "0 0 100 7", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: "back", width: 100, height: 7 }), draw("rect", { class: of > 0.9 ? "part full" : "part", width: of * 100, height: 7 }));
}

/** A course of values as a line. */
function spark(values, whole) {
  const top = Math.max(whole ?? 0, ...values, 1);
  const points = values.map((value, place) => `${(place / Math.max(1, values.length - 1)) * 300},${58 - value / top * 56}`);
  return draw("svg", { class: "spark", viewBox: "0 0 300 60", preserveAspectRatio: "none", "aria-hidden": "true" }, draw("polyline", { points: points.join(" ") }));
}

/** Counts over time as bars: arrow keys walk, Enter or a drag chooses a time. `buckets`: `{key, doc_count}`. */
class TimeBars extends HTMLElement {
  show(buckets, endOf, choose) {
    Object.assign(this, { buckets, endOf, choose, at: undefined });
    this.classList.add("histogram");
    const top = Math.max(1, ...buckets.map((bucket) => bucket.doc_count));
    const wide = 1000 / Math.max(1, buckets.length);
    const bars = buckets.map((bucket, place) => {
      const height = bucket.doc_count / top * 96;
      return draw("rect", { x: place * wide, width: Math.max(wide * 0.9, wide - 4), y: 100 - height, height });
    });
    this.svg = draw("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", "aria-hidden": "true" }, ...bars);
    this.bars = bars;
    this.tip = make("div", { class: "soft tip" });
    this.slider = make("div", { role: "slider", tabindex: "0", "aria-label": "Documents over time; arrow keys walk, Enter shows this time alone", "aria-valuemin": "0", "aria-valuemax": String(Math.max(0, buckets.length - 1)),
      "aria-valuenow": "0", "aria-valuetext": this.words(0), onkeydown: (event) => this.key(event), onpointermove: (event) => this.point(event), onpointerdown: (event) => this.press(event), onpointerup: (event) => this.release(event) }, this.svg);
    this.replaceChildren(this.slider, make("div", { class: "ends soft" }, make("span", {}, moment(buckets[0].key)), make("span", {}, moment(endOf(buckets.length - 1)))), this.tip);
    this.tip.textContent = `Most in one bar: ${count(top)}. Drag, or walk with arrow keys and press Enter, to choose a time.`;
  }
  words(place) {
    const bucket = this.buckets[place];
    return `${moment(bucket.key)} to ${moment(this.endOf(place))}: ${count(bucket.doc_count)} documents`;
  }
  walk(place) {
    this.at = Math.max(0, Math.min(this.buckets.length - 1, place));
    const [from, to] = [Math.min(this.at, this.from ?? this.at), Math.max(this.at, this.from ?? this.at)];
    this.bars.forEach((bar, at) => bar.setAttribute("class", at >= from && at <= to ? "at" : ""));
    this.slider.setAttribute("aria-valuenow", String(this.at));
    this.slider.setAttribute("aria-valuetext", this.words(this.at));
    this.tip.textContent = this.words(this.at);
  }
  placeOf(event) {
    const box = this.svg.getBoundingClientRect();
    return Math.floor((event.clientX - box.left) / box.width * this.buckets.length);
  }
  point(event) { this.walk(this.placeOf(event)); }
  press(event) {
    this.slider.setPointerCapture(event.pointerId);
    this.from = Math.max(0, Math.min(this.buckets.length - 1, this.placeOf(event)));
  }
  release(event) {
    if (this.from === undefined) return;
    this.walk(this.placeOf(event));
    const [from, to] = [Math.min(this.from, this.at), Math.max(this.from, this.at)];
    this.from = undefined;
    this.choose(this.buckets[from].key, this.endOf(to));
  }
  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    const at = this.at ?? -1;
    if (event.key in steps) this.walk(at + steps[event.key]);
    else if (event.key === "Home") this.walk(0);
    else if (event.key === "End") this.walk(this.buckets.length - 1);
    else if (event.key === "Enter" && this.at !== undefined) this.choose(this.buckets[this.at].key, this.endOf(this.at));
    else return;
    event.preventDefault();
  }
}
customElements.define("time-bars", TimeBars);
