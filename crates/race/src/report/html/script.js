"use strict";
// What the page draws is in it; this moves a cursor through the plots' tables, zooms, and chooses what is shown. Plots of one
// group share cursor and zoom. A view is [from, to] in the marks' coordinates, 0 to WIDTH.
(() => {
  const WIDTH = 10000, NARROWEST = 50;
  const charts = [...document.querySelectorAll(".chart")].map((figure) => ({
    figure,
    group: figure.dataset.group,
    end: figure.dataset.end === undefined ? null : Number(figure.dataset.end),
    area: figure.querySelector(".area"),
    svg: figure.querySelector(".area svg"),
    slider: figure.querySelector(".cursor"),
    rows: null,
  }));
  const views = new Map(charts.map((chart) => [chart.group, [0, WIDTH]]));
  const inGroup = (group) => charts.filter((chart) => chart.group === group);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const make = (name, kind, text) => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // Rows of all tables of a plot, by place. Read when first needed: a page holds many that nobody asks for.
  function rows(chart) {
    if (chart.rows) return chart.rows;
    const byPlace = new Map();
    const tables = chart.figure.dataset.tables.split(" ").filter((text) => text !== "");
    for (const text of tables) {
      const [id, numbers] = text.split(":");
      const table = document.getElementById(id);
      if (!table) continue;
      const columns = numbers.split(",").map(Number);
      const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
      for (const row of table.tBodies[0].rows) {
        const place = Number(row.dataset.x);
        if (!byPlace.has(place)) byPlace.set(place, { place, name: row.cells[0].textContent, pairs: [] });
        for (const column of columns) {
          const title = tables.length > 1 ? `${table.dataset.name}${columns.length > 1 ? ", " + titles[column] : ""}` : titles[column];
          byPlace.get(place).pairs.push([title, row.cells[column].textContent]);
        }
      }
    }
    chart.rows = [...byPlace.values()].sort((a, b) => a.place - b.place);
    chart.slider.setAttribute("aria-valuemax", String(Math.max(chart.rows.length - 1, 0)));
    return chart.rows;
  }

  function nearest(list, place) {
    let low = 0, high = list.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle].place < place) low = middle + 1; else high = middle;
    }
    return low > 0 && place - list[low - 1].place < list[low].place - place ? low - 1 : low;
  }

  function hideCursor(group) {
    for (const chart of inGroup(group)) {
      chart.figure.classList.remove("on");
      chart.figure.querySelector(".tip")?.remove();
    }
  }

  function showCursor(chart, index) {
    const list = rows(chart);
    if (!list.length) return;
    index = clamp(index, 0, list.length - 1);
    chart.index = index;
    const row = list[index];
    let [from, to] = views.get(chart.group);
    if (row.place < from || row.place > to) {
      const half = (to - from) / 2;
      look(chart.group, row.place - half, row.place + half);
      [from, to] = views.get(chart.group);
    }
    const share = (row.place - from) / (to - from);
    for (const other of inGroup(chart.group)) {
      other.figure.classList.add("on");
      other.slider.style.setProperty("--at", `${share * 100}%`);
      if (other !== chart) other.figure.querySelector(".tip")?.remove();
    }
    const title = chart.end === null ? row.name : `${row.name} s`;
    chart.slider.setAttribute("aria-valuenow", String(index));
    chart.slider.setAttribute("aria-valuetext", `${title}: ${row.pairs.map(([name, text]) => `${name} ${text}`).join(", ")}`);
    const tip = chart.figure.querySelector(".tip") || make("div", "tip");
    tip.setAttribute("aria-hidden", "true");
    tip.replaceChildren(make("b", "", title), ...row.pairs.map(([name, text]) => {
      const pair = make("span", "pair");
      pair.append(make("span", "soft", name), make("span", "", text));
      return pair;
    }));
    if (share < 0.5) { tip.style.left = `calc(${share * 100}% + .6rem)`; tip.style.right = ""; }
    else { tip.style.right = `calc(${(1 - share) * 100}% + .6rem)`; tip.style.left = ""; }
    if (!tip.parentNode) chart.area.append(tip);
  }

  // Labels of the time axis, round in the part that is shown.
  function label(chart, from, to) {
    const axis = chart.figure.querySelector(".x");
    const [start, end] = [from / WIDTH * chart.end, to / WIDTH * chart.end];
    const most = clamp(Math.floor(axis.clientWidth / 70), 2, 8);
    const step = [.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400].find((step) => (end - start) / step <= most) || 28800;
    const pad = (part) => String(part).padStart(2, "0");
    const text = (at) => {
      if (step < 1) return `${at.toFixed(step < .1 ? 2 : 1)} s`;
      if (end < 120) return `${Math.round(at)} s`;
      const whole = Math.round(at), minutes = Math.floor(whole / 60);
      return minutes < 60 ? `${minutes}:${pad(whole % 60)}` : `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(whole % 60)}`;
    };
    const ticks = [];
    for (let at = Math.ceil(start / step - 1e-9) * step; at <= end + 1e-9; at += step) {
      const tick = make("span", "", text(at));
      tick.style.left = `${(at - start) / (end - start) * 100}%`;
      ticks.push(tick);
    }
    axis.replaceChildren(...ticks);
  }

  function look(group, from, to) {
    const width = clamp(to - from, NARROWEST, WIDTH);
    from = clamp((from + to - width) / 2, 0, WIDTH - width);
    views.set(group, [from, from + width]);
    for (const chart of inGroup(group)) {
      chart.svg.setAttribute("viewBox", `${from} 0 ${width} 1000`);
      if (chart.end !== null) label(chart, from, from + width);
    }
    if (group !== "whole") return;
    const end = inGroup(group).find((chart) => chart.end !== null)?.end;
    if (!end) return;
    for (const lane of document.querySelectorAll(".lane")) {
      const place = (at) => (Number(at) / end * WIDTH - from) / width * 100;
      const [left, right] = [place(lane.dataset.from), place(lane.dataset.to)];
      lane.style.left = `${clamp(left, -1, 101)}%`;
      lane.style.width = `${clamp(right, -1, 101) - clamp(left, -1, 101)}%`;
      lane.style.visibility = right < 0 || left > 100 ? "hidden" : "";
    }
  }

  function zoom(group, act, middle) {
    const [from, to] = views.get(group);
    const width = to - from;
    const at = middle === undefined ? (from + to) / 2 : middle;
    hideCursor(group);
    if (act === "in") look(group, at - width / 4, at + width / 4);
    if (act === "out") look(group, at - width, at + width);
    if (act === "back") look(group, from - width / 2, to - width / 2);
    if (act === "forth") look(group, from + width / 2, to + width / 2);
    if (act === "whole") look(group, 0, WIDTH);
  }

  function keys(chart, event) {
    const list = rows(chart);
    const index = chart.index === undefined ? -1 : chart.index;
    const leap = Math.max(1, Math.round(list.length / 10));
    const to = { ArrowLeft: index - 1, ArrowDown: index - 1, ArrowRight: index + 1, ArrowUp: index + 1, PageDown: index - leap, PageUp: index + leap, Home: 0, End: list.length - 1 }[event.key];
    const middle = list[chart.index]?.place;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (to !== undefined) showCursor(chart, to);
    else if (event.key === "+" && chart.end !== null) zoom(chart.group, "in", middle);
    else if (event.key === "-" && chart.end !== null) zoom(chart.group, "out", middle);
    else if (event.key === "0" && chart.end !== null) zoom(chart.group, "whole");
    else if (event.key === "Escape") hideCursor(chart.group);
    else return;
    event.preventDefault();
  }

  function listen(chart) {
    const { slider, area } = chart;
    const place = (event) => {
      const box = area.getBoundingClientRect();
      const [from, to] = views.get(chart.group);
      return from + clamp((event.clientX - box.left) / box.width, 0, 1) * (to - from);
    };
    let start = null, shade = null;
    slider.hidden = false;
    slider.addEventListener("keydown", (event) => keys(chart, event));
    slider.addEventListener("focus", () => {
      if (slider.matches(":focus-visible")) showCursor(chart, chart.index || 0);
    });
    slider.addEventListener("blur", () => hideCursor(chart.group));
    slider.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || chart.end === null || event.pointerType === "touch") return;
      start = place(event);
      slider.setPointerCapture(event.pointerId);
    });
    slider.addEventListener("pointermove", (event) => {
      if (start === null) {
        showCursor(chart, nearest(rows(chart), place(event)));
        return;
      }
      const [from, to] = views.get(chart.group);
      const [left, right] = [start, place(event)].sort((a, b) => a - b);
      if (!shade) area.append(shade = make("div", "drag"));
      shade.style.left = `${(left - from) / (to - from) * 100}%`;
      shade.style.width = `${(right - left) / (to - from) * 100}%`;
    });
    slider.addEventListener("pointerup", (event) => {
      const [from, to] = views.get(chart.group);
      const ends = start === null ? null : [start, place(event)].sort((a, b) => a - b);
      start = null;
      shade?.remove();
      shade = null;
      if (ends && ends[1] - ends[0] > (to - from) / 50) {
        hideCursor(chart.group);
        look(chart.group, ends[0], ends[1]);
      }
    });
    slider.addEventListener("pointercancel", () => { start = null; shade?.remove(); shade = null; });
    slider.addEventListener("pointerleave", () => { if (start === null && document.activeElement !== slider) hideCursor(chart.group); });
    slider.addEventListener("dblclick", () => { if (chart.end !== null) zoom(chart.group, "whole"); });
  }

  function choose(id) {
    for (const task of document.querySelectorAll(".task")) task.hidden = id !== "" && task.id !== id;
    // What was hidden had no width to fit labels into.
    for (const [group, [from, to]] of views) look(group, from, to);
  }

  charts.forEach(listen);
  for (const bar of document.querySelectorAll("[data-zoom]")) {
    bar.hidden = false;
    bar.addEventListener("click", (event) => {
      const act = event.target.closest("button")?.dataset.act;
      if (act) zoom(bar.dataset.zoom, act);
    });
  }
  for (const chooser of document.querySelectorAll(".chooser")) chooser.hidden = false;

  const choice = document.getElementById("task-choice");
  function followHash() {
    let id;
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    if (!choice || ![...choice.options].some((option) => option.value === id && id !== "")) return;
    choice.value = id;
    choose(id);
    const title = document.getElementById(id + "-title");
    title.focus();
    title.scrollIntoView({ block: "start" });
  }
  if (choice) {
    choice.addEventListener("change", () => {
      choose(choice.value);
      document.getElementById("said").textContent = choice.value ? `Shows ${choice.selectedOptions[0].textContent}` : "Shows all tasks";
    });
    choose(choice.value);
    addEventListener("hashchange", followHash);
    followHash();
  }

  const least = document.getElementById("least");
  least?.addEventListener("change", () => {
    let shown = 0;
    for (const body of document.querySelectorAll(".changes tbody")) {
      let any = false;
      for (const row of body.rows) {
        if (row.dataset.change === undefined) continue;
        row.hidden = least.value === "verdict" ? row.dataset.verdict === undefined : Number(row.dataset.change) < Number(least.value);
        if (!row.hidden) { any = true; shown += 1; }
      }
      body.hidden = !any;
    }
    document.getElementById("said").textContent = `Shows ${shown} rows`;
  });

  const theme = document.getElementById("theme");
  const isDark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`); };
  theme.hidden = false;
  nameTheme();
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);

  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => { for (const [group, [from, to]] of views) look(group, from, to); });
  });
})();
