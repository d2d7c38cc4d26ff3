const TITLES = { indices: "Indices", search: "Search", console: "Console", memory: "Memory", tasks: "Tasks", slow: "Slow requests", races: "Races" };

function show(isFirst) {
  const name = /^#\/(\w+)/.exec(location.hash)?.[1] ?? "indices";
  const view = views.get(name) ?? views.get("indices");
  const element = document.createElement(`limber-${views.has(name) ? name : "indices"}`);
  by("main").replaceChildren(element);
  document.title = `${view.title} – ${by("product").textContent}`;
  by("views").replaceChildren(...Object.entries(TITLES).map(([id, title]) => make("a", { href: `#/${id}`, "aria-current": views.get(id) === view && "page" }, title)));
  by("views").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (!isFirst) element.querySelector("h1").focus();
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  by("theme").textContent = name === "dark" ? "Light" : "Dark";
  by("theme").setAttribute("aria-label", name === "dark" ? "Light colours" : "Dark colours");
}

const dark = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme;
try { chosenTheme = localStorage.getItem("limber.theme"); } catch { /* Then the system decides. */ }
const systemTheme = () => theme(["dark", "light"].includes(chosenTheme) ? chosenTheme : dark.matches ? "dark" : "light");
dark.addEventListener("change", systemTheme);
by("theme").addEventListener("click", () => {
  chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("limber.theme", chosenTheme); } catch { /* It holds until the page is left. */ }
  theme(chosenTheme);
});
by("skip").addEventListener("click", (event) => { event.preventDefault(); by("main").focus(); });
systemTheme();
addEventListener("hashchange", () => show(false));
show(true);
ask("/").then((info) => {
  const isLimber = Boolean(info.version) && String(info.version.build_hash ?? "").startsWith("6c696d626572");
  by("product").textContent = isLimber ? "Limber" : info.version?.distribution === "opensearch" ? "OpenSearch" : "Elasticsearch";
  by("server").textContent = `${info.cluster_name ?? ""} · ${info.name ?? ""} · ${isLimber ? "as " : ""}${info.version?.number ?? ""}`;
  show.named = true;
  document.title = document.title.replace(/–.*$/, `– ${by("product").textContent}`);
}, (error) => { by("server").textContent = error.message; });
