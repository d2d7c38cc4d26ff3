// What can stand at the caret of the console? The words are the server's own tables (`/_page/words`), its indices and their fields.

const METHOD_LINE = /^(GET|POST|PUT|DELETE|HEAD)\s+(\S+)/i;

/** All requests of a text: `{method, path, body, start, end}` (lines from 0). `#` and `//` begin comments before and between requests. */
function requestsOf(text) {
  const found = [];
  text.split("\n").forEach((line, number) => {
    const match = METHOD_LINE.exec(line);
    if (match) found.push({ method: match[1].toUpperCase(), path: match[2].startsWith("/") ? match[2] : `/${match[2]}`, lines: [], start: number, end: number });
    else if (found.length && !/^\s*(#|\/\/)/.test(line)) {
      const last = found.at(-1);
      last.lines.push(line);
      if (line.trim()) last.end = number;
    }
  });
  return found.map(({ lines, ...request }) => {
    const body = lines.join("\n").trim();
    return { ...request, body: body ? (isLines(request.path) ? `${lines.filter((line) => line.trim()).join("\n")}\n` : body) : undefined };
  });
}

/** Where in unfinished JSON its end is: the keys that lead there, whether a key or a value is expected, and what is typed of it. */
function placeInJson(text) {
  const stack = [];
  let [typed, isQuoted, key, expects] = ["", false, undefined, "value"];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      let end = at + 1;
      while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
      typed = text.slice(at + 1, end);
      if (end >= text.length) { isQuoted = true; break; }
      if (expects === "key") { key = typed; expects = "colon"; } else expects = "comma";
      typed = "";
      at = end;
    } else if (char === "{" || char === "[") {
      stack.push({ key, isArray: char === "[" });
      [key, typed, expects] = [undefined, "", char === "{" ? "key" : "value"];
    } else if (char === "}" || char === "]") {
      stack.pop();
      [typed, expects] = ["", "comma"];
    } else if (char === ":") [typed, expects] = ["", "value"];
    else if (char === ",") [typed, expects, key] = ["", stack.at(-1)?.isArray ? "value" : "key", stack.at(-1)?.isArray ? key : undefined];
    else if (/\s/.test(char)) typed = "";
    else typed += char;
  }
  // An element of an array goes by the key of the array.
  const path = stack.slice(1).map((level, place) => level.key ?? stack[place]?.key).filter((part) => part !== undefined);
  return { path, key: key ?? (stack.at(-1)?.isArray ? stack.at(-1).key : undefined), expects, typed, isQuoted, depth: stack.length };
}

const QUERY_PLACES = new Set(["query", "filter", "must", "should", "must_not", "post_filter", "positive", "negative", "rescore_query", "queries", "little", "big"]);
const BOOL_KEYS = ["must", "should", "must_not", "filter", "minimum_should_match", "boost"];

function segmentsOf(path) { return path.split("/").slice(1); }

const isPlaceholder = (segment) => segment.startsWith("{");

/** Whether typed segments can be those of a route; a name that begins with `_` is no index. */
function fits(route, typed) {
  return typed.every((segment, place) => route[place] !== undefined && (isPlaceholder(route[place]) ? !segment.startsWith("_") || place > 0 : route[place] === segment));
}

function pathWords(line, table, indices) {
  const [, method, typed] = /^(\w+)\s+(\S*)$/.exec(line) ?? [];
  if (method === undefined) return { typed: line.trim(), words: ["GET", "POST", "PUT", "DELETE", "HEAD"].map((word) => ({ word: `${word} /`, about: "method" })) };
  const routes = table.routes.filter((route) => route.methods.includes(method.toUpperCase()) || (method.toUpperCase() === "HEAD" && route.methods.includes("GET")));
  const [path, query] = typed.split("?");
  const segments = segmentsOf(path.startsWith("/") ? path : `/${path}`);
  if (query !== undefined) {
    const matching = routes.filter((route) => segmentsOf(route.path).length === segments.length && fits(segmentsOf(route.path), segments));
    const own = matching.flatMap((route) => route.parameters);
    return { typed: query.split("&").at(-1), words: [...new Set([...own, ...table.parameters])].map((word) => ({ word, about: own.includes(word) ? "parameter" : "any request" })) };
  }
  const last = segments.pop();
  const next = new Map();
  for (const route of routes) {
    const own = segmentsOf(route.path);
    if (own.length <= segments.length || !fits(own, segments)) continue;
    const segment = own[segments.length];
    if (!isPlaceholder(segment)) next.set(segment, own.length > segments.length + 1 ? "/…" : "endpoint");
    else if (["{index}", "{name}", "{target}"].includes(segment)) indices.forEach((name) => next.has(name) || next.set(name, "index"));
  }
  return { typed: last, words: [...next].map(([word, about]) => ({ word, about })) };
}

function bodyWords(text, path, table, fields) {
  const place = placeInJson(text);
  const { path: keys, expects, typed, isQuoted } = place;
  const fieldWords = () => fields.map((field) => ({ word: field.name, about: field.type }));
  const named = (list, about, after) => list.map((word) => ({ word, about, after }));
  let found = [];
  const [parent, last] = [keys.at(-2), keys.at(-1)];
  if (place.depth === 0) return { typed: "", words: [] };
  if (expects === "key") {
    if (place.depth === 1) found = /\/_(search|async_search|count|delete_by_query|update_by_query|explain|validate)/.test(path) ? named(table.search, "search") : [];
    else if (QUERY_PLACES.has(last)) found = named(table.queries, "query", ": {");
    else if (["aggs", "aggregations"].includes(last)) found = [];
    else if (["aggs", "aggregations"].includes(parent)) found = [...named(table.aggregations, "aggregation", ": {"), ...named(["aggs", "meta"], "aggregation", ": {")];
    else if (last === "bool") found = named(BOOL_KEYS, "bool");
    else if (last === "sort" || (QUERY_PLACES.has(parent) && table.queries.includes(last))) found = fieldWords();
    else if (table.aggregations.includes(last)) found = named(["field", "script", "missing", "size", "order", "format"], "option");
  } else if (expects === "value") {
    if (["field", "fields", "path", "sort", "_source", "docvalue_fields", "stored_fields", "default_field"].includes(place.key)) found = fieldWords();
    else if (place.key === "order") found = named(["asc", "desc"], "order");
  }
  const isKey = expects === "key";
  const words = found.map(({ word, about, after }) => {
    const end = isKey ? after ?? ": " : "";
    return { word, about, insert: `${isQuoted ? "" : '"'}${word}"${end}${end.endsWith("{") ? "}" : ""}`, back: end.endsWith("{") ? 1 : 0 };
  });
  return { typed: isQuoted ? typed : typed.replace(/^"/, ""), words };
}

/** Words for the caret: `{typed, words: [{word, about, insert, back}]}`, those that begin as typed first. */
function completions(text, caret, table, indices, fields) {
  const before = text.slice(0, caret);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.slice(lineStart);
  const above = before.slice(0, lineStart).split("\n");
  let request = above.length - 1;
  while (request >= 0 && !METHOD_LINE.test(above[request])) request -= 1;
  const isRequestLine = /^[A-Za-z]*$/.test(line) && (request < 0 || /^[}\s]*$/.test(above.slice(request + 1).at(-2) ?? "")) || /^(GET|POST|PUT|DELETE|HEAD)\s/i.test(line);
  let found;
  if (isRequestLine) found = pathWords(line, table, indices);
  else if (request >= 0) {
    const path = METHOD_LINE.exec(above[request])[2];
    const lines = [...above.slice(request + 1, -1), line];
    found = bodyWords(isLines(path) ? line : lines.join("\n"), path, table, fields);
  } else return { typed: "", words: [] };
  const typed = found.typed.toLowerCase();
  const begins = found.words.filter(({ word }) => word.toLowerCase().startsWith(typed));
  const holds = typed.length > 1 ? found.words.filter(({ word }) => !word.toLowerCase().startsWith(typed) && word.toLowerCase().includes(typed)) : [];
  return { typed: found.typed, words: [...begins, ...holds].slice(0, 60) };
}

/** The command line of a shell that sends the same request. */
function curlOf({ method, path, body }, origin) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const type = isLines(path) ? "application/x-ndjson" : "application/json";
  const data = body === undefined ? "" : ` -H ${quoted(`Content-Type: ${type}`)} --data-binary ${quoted(body)}`;
  return method === "HEAD" ? `curl -I ${quoted(origin + path)}` : `curl -X ${method} ${quoted(origin + path)}${data}`;
}
