//! Imports indices of a running Elasticsearch or OpenSearch: settings, mappings, aliases, templates, and
//! documents in slices.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use limber_text::url;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::cluster::{Answer, Cluster};
use super::pack::{Origin, Packer, action};
use super::sink::Sink;

/// Number of documents on the first page. Later pages are as large as [`PAGE_BYTES`] allows.
const PAGE_FIRST: usize = 100;
const PAGE_MAX: usize = 5_000;
/// Approximate bytes per page. A slice holds a page and the request that is packed from it, and nothing else.
const PAGE_BYTES: usize = 4 << 20;
const KEEP_ALIVE: &str = "10m";
/// Settings that a server sets itself, or that depend on the cluster in which the index was.
const OWN_SETTINGS: &[&str] = &[
    "uuid",
    "creation_date",
    "creation_date_string",
    "provided_name",
    "version",
    "resize",
    "shrink",
    "history",
    "routing",
    "lifecycle",
    "soft_deletes",
    "verified_before_close",
    "blocks",
    "replication",
    "store",
    "allocation",
    "remote_store",
    "hidden",
];

/// An import from another server.
pub struct ServerImport {
    pub source: Cluster,
    pub target: Cluster,
    pub sink: Arc<Sink>,
    pub slices: usize,
    /// Number of documents read so far.
    pub read: Arc<AtomicU64>,
    has_point_in_time: bool,
}

/// An index or data stream of the source.
#[derive(Debug, Clone)]
pub struct Unit {
    pub name: String,
    pub is_stream: bool,
    pub count: u64,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default, alias = "pit_id")]
    pit_id: Option<String>,
    #[serde(default, rename = "_scroll_id")]
    scroll_id: Option<String>,
    hits: Hits,
    #[serde(default, rename = "_shards")]
    shards: Value,
    #[serde(default)]
    timed_out: bool,
}

#[derive(Deserialize)]
struct Hits {
    /// Absent if it was not asked for.
    total: Option<Total>,
    hits: Vec<Hit>,
}

#[derive(Deserialize)]
struct Total {
    value: u64,
}

#[derive(Deserialize)]
struct Hit {
    #[serde(rename = "_id")]
    id: String,
    #[serde(rename = "_routing")]
    routing: Option<String>,
    #[serde(rename = "_source")]
    source: Option<Box<RawValue>>,
    sort: Option<Box<RawValue>>,
}

impl ServerImport {
    /// Connects to the source.
    ///
    /// # Errors
    /// The source does not respond, or is neither Elasticsearch nor OpenSearch.
    pub fn new(
        source: Cluster,
        target: Cluster,
        sink: Arc<Sink>,
        slices: usize,
        read: Arc<AtomicU64>,
    ) -> Result<ServerImport> {
        let info = source.info()?;
        let number = info["version"]["number"].as_str().with_context(|| {
            format!("{} is not an Elasticsearch or OpenSearch: its answer has no version", source.url)
        })?;
        let parts: Vec<u32> = number.split(['.', '-']).map_while(|part| part.parse().ok()).collect();
        let is_opensearch = info["version"]["distribution"] == "opensearch";
        if !is_opensearch && parts.first().is_some_and(|major| *major < 7) {
            bail!(
                "{} runs Elasticsearch {number}; indices with types are not imported, only those of 7 and newer",
                source.url
            );
        }
        // Sorting by `_shard_doc`, which ensures that pages neither repeat nor miss a document, exists since
        // 7.12.
        let has_point_in_time = !is_opensearch && parts >= vec![7, 12];
        Ok(ServerImport { source, target, sink, slices, read, has_point_in_time })
    }

    /// Returns the data streams and indices that match the patterns, sorted by name. Backing indices are
    /// covered by their data stream.
    ///
    /// # Errors
    /// The source reports an error.
    pub fn units(&self, patterns: &str) -> Result<Vec<Unit>> {
        let path = patterns.split(',').map(url::encoded).collect::<Vec<_>>().join(",");
        let wants_hidden = patterns.split(',').any(|pattern| pattern.starts_with('.'));
        let streams = self.source.ask_if_there("GET", &format!("/_data_stream/{path}"))?.unwrap_or_default();
        let mut units = Vec::new();
        let mut behind = Vec::new();
        for stream in streams["data_streams"].as_array().into_iter().flatten() {
            let name = stream["name"].as_str().unwrap_or_default();
            if !name.starts_with('.') || wants_hidden {
                units.push((name.to_owned(), true));
            }
            let indices = stream["indices"].as_array().into_iter().flatten();
            behind.extend(indices.filter_map(|index| index["index_name"].as_str().map(str::to_owned)));
        }
        let rows = self.source.ask(
            "GET",
            &format!("/{path}/_settings?filter_path=*.settings.index.uuid&expand_wildcards=open"),
            None,
        );
        let rows = match (rows, units.is_empty()) {
            (Ok(rows), _) => rows,
            (Err(_), false) => json!({}),
            (Err(error), true) => return Err(error),
        };
        for name in rows.as_object().into_iter().flat_map(Map::keys) {
            if (!name.starts_with('.') || wants_hidden) && !behind.contains(name) {
                units.push((name.clone(), false));
            }
        }
        units.sort();
        let counted = |(name, is_stream): (String, bool)| {
            self.refresh(&name);
            let count = self.source.ask("GET", &format!("/{}/_count", url::encoded(&name)), None)?;
            Ok(Unit { count: count["count"].as_u64().unwrap_or(0), name, is_stream })
        };
        units.into_iter().map(counted).collect()
    }

    /// Returns the patterns that match nothing in the source, not even an alias.
    pub fn unmatched<'a>(&self, patterns: &'a str, units: &[Unit]) -> Vec<&'a str> {
        let is_nothing = |pattern: &&str| {
            let is_named = units.iter().any(|unit| limber_text::wildcard::matches(pattern, &unit.name));
            if pattern.is_empty() || pattern.starts_with('-') || is_named || *pattern == "_all" {
                return false;
            }
            match self.source.ask_if_there("GET", &format!("/_resolve/index/{}", url::encoded(pattern))) {
                Ok(None) => true,
                Ok(Some(found)) => ["indices", "aliases", "data_streams"]
                    .iter()
                    .all(|kind| found[kind].as_array().is_none_or(Vec::is_empty)),
                // A server before 7.9 does not have this endpoint.
                Err(_) => false,
            }
        };
        patterns.split(',').map(str::trim).filter(is_nothing).collect()
    }

    /// Refreshes the source, so that the search finds all acknowledged documents.
    fn refresh(&self, name: &str) {
        if let Err(error) = self.source.ask("POST", &format!("/{}/_refresh", url::encoded(name)), None) {
            eprintln!(
                "[{name}] was not refreshed ({error}): documents that a search does not find yet are not imported"
            );
        }
    }

    /// Creates the index or data stream in the target if it does not exist. Returns whether it was created.
    ///
    /// # Errors
    /// The target reports an error, such as an unknown setting.
    pub fn make(&self, unit: &Unit, name: &str, has_settings: bool) -> Result<bool> {
        let path = format!("/{}", url::encoded(name));
        if unit.is_stream {
            let path = format!("/_data_stream{path}");
            if self.target.ask_if_there("GET", &path)?.is_some() {
                return Ok(false);
            }
            let made = self.target.ask("PUT", &path, None).map(|_| true);
            return made
                .context("a data stream needs an index template on the target: --templates copies them");
        }
        let answer = self.target.send("HEAD", &path, b"", "")?;
        if answer.status == 200 {
            return Ok(false);
        }
        let found = self.source.ask("GET", &format!("/{}", url::encoded(&unit.name)), None)?;
        let index = found.as_object().and_then(|all| all.values().next()).cloned().unwrap_or_default();
        let mut settings = index["settings"]["index"].as_object().cloned().unwrap_or_default();
        settings.retain(|key, _| !OWN_SETTINGS.contains(&key.as_str()));
        if !has_settings {
            // Mappings refer to analyzers, so these are kept.
            settings.retain(|key, _| key == "analysis");
        }
        let settings = json!({ "index": settings });
        let body = json!({"settings": settings, "mappings": index["mappings"], "aliases": index["aliases"]});
        let made = self.target.ask("PUT", &path, Some(&body)).map(|_| true);
        made.with_context(|| {
            format!("cannot create the index [{name}] with the settings of the source (--no-settings leaves them out)")
        })
    }

    /// Copies component templates, index templates and legacy templates that are not built in. Returns their
    /// number.
    ///
    /// # Errors
    /// Either server reports an error.
    pub fn templates(&self) -> Result<usize> {
        let mut count = 0;
        for (kind, list, body) in [
            ("_component_template", "component_templates", "component_template"),
            ("_index_template", "index_templates", "index_template"),
        ] {
            let found = self.source.ask_if_there("GET", &format!("/{kind}"))?.unwrap_or_default();
            for template in found[list].as_array().into_iter().flatten() {
                let name = template["name"].as_str().unwrap_or_default();
                let content = &template[body];
                if !is_own(name, content) {
                    self.put_template(kind, name, content)?;
                    count += 1;
                }
            }
        }
        let found = self.source.ask_if_there("GET", "/_template")?.unwrap_or_default();
        for (name, content) in
            found.as_object().into_iter().flatten().filter(|(name, content)| !is_own(name, content))
        {
            self.put_template("_template", name, content)?;
            count += 1;
        }
        Ok(count)
    }

    fn put_template(&self, kind: &str, name: &str, content: &Value) -> Result<()> {
        let mut content = content.clone();
        if let Some(members) = content.as_object_mut() {
            for key in ["created_date", "created_date_millis", "modified_date", "modified_date_millis"] {
                members.shift_remove(key);
            }
        }
        let put = self.target.ask("PUT", &format!("/{kind}/{}", url::encoded(name)), Some(&content));
        put.map(drop).with_context(|| format!("cannot create the template [{name}]"))
    }

    /// Reads all documents, in parallel slices. When this returns, all of them have been submitted, but some
    /// may still be in flight.
    ///
    /// # Errors
    /// Either server reports an error.
    pub fn documents(&self, unit: &Unit, number: u32, target: &str) -> Result<()> {
        let slices = if unit.count < 10_000 { 1 } else { self.slices };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..slices)
                .map(|slice| scope.spawn(move || self.slice(unit, number, target, slice, slices)))
                .collect();
            let ended = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a slice panicked"))));
            // All slices end before the first failure is reported.
            ended.collect::<Vec<_>>().into_iter().collect::<Result<Vec<()>>>()
        })?;
        Ok(())
    }

    fn slice(&self, unit: &Unit, number: u32, target: &str, slice: usize, slices: usize) -> Result<()> {
        let mut pages = Pages::new(self, &unit.name, (slice, slices));
        let mut packer = Packer::new(self.sink.clone());
        let operation = if unit.is_stream { "create" } else { "index" };
        let outcome = loop {
            let page = match pages.next_page() {
                Ok(page) if page.is_empty() => break packer.flush(),
                Ok(page) => page,
                Err(error) => break Err(error),
            };
            for hit in page {
                let record = self.read.fetch_add(1, Ordering::Relaxed) + 1;
                let origin = Origin { unit: number, record };
                let Some(source) = hit.source else {
                    self.sink.refuse(origin, &format!("document [{}] has no _source there", hit.id));
                    continue;
                };
                // A document may contain line breaks, which are not allowed within a line of a bulk request.
                let source = one_line(source.get())?;
                let action = action(operation, target, Some(&hit.id), hit.routing.as_deref());
                packer.add(&action, Some(&source), origin, None)?;
            }
        };
        pages.close();
        outcome
    }
}

fn is_own(name: &str, content: &Value) -> bool {
    let meta = content.get("_meta").or_else(|| content["template"].get("_meta"));
    name.starts_with('.') || meta.is_some_and(|meta| meta["managed"] == true)
}

fn one_line(source: &str) -> Result<std::borrow::Cow<'_, [u8]>> {
    if !source.contains(['\n', '\r']) {
        return Ok(source.as_bytes().into());
    }
    // In JSON, line breaks only occur between tokens.
    Ok(source.replace(['\n', '\r'], " ").into_bytes().into())
}

/// The pages of one slice: read with a point in time if the server supports it, else with a scroll.
struct Pages<'a> {
    import: &'a ServerImport,
    index: String,
    slice: (usize, usize),
    size: usize,
    /// The id of the point in time or of the scroll.
    context: Option<String>,
    after: Option<Box<RawValue>>,
    /// How many documents a scroll has, and how many of them came.
    total: u64,
    came: u64,
}

impl<'a> Pages<'a> {
    fn new(import: &'a ServerImport, index: &str, slice: (usize, usize)) -> Pages<'a> {
        Pages {
            import,
            index: url::encoded(index),
            slice,
            size: PAGE_FIRST,
            context: None,
            after: None,
            total: 0,
            came: 0,
        }
    }

    fn next_page(&mut self) -> Result<Vec<Hit>> {
        let (answer, bytes) = match self.import.has_point_in_time {
            true => self.by_point_in_time()?,
            false => self.by_scroll()?,
        };
        let failed = answer.shards["failed"].as_u64().unwrap_or(0);
        if failed > 0 || answer.timed_out {
            let reason = &answer.shards["failures"][0]["reason"]["reason"];
            bail!("{failed} shards of [{}] failed to read a page: {reason}", self.index);
        }
        self.total = answer.hits.total.map_or(self.total, |total| total.value);
        let hits = answer.hits.hits;
        self.came += hits.len() as u64;
        if hits.is_empty() && self.came < self.total {
            bail!("[{}] has {} documents, but only {} were handed out", self.index, self.total, self.came);
        }
        if let Some(last) = hits.last() {
            self.after = last.sort.clone();
            self.size = (PAGE_BYTES / (bytes / hits.len()).max(1)).clamp(10, PAGE_MAX);
        }
        Ok(hits)
    }

    fn slice_json(&self) -> Option<Value> {
        (self.slice.1 > 1).then(|| json!({"id": self.slice.0, "max": self.slice.1}))
    }

    fn by_point_in_time(&mut self) -> Result<(Page, usize)> {
        let source = &self.import.source;
        if self.context.is_none() {
            let opened =
                source.ask("POST", &format!("/{}/_pit?keep_alive={KEEP_ALIVE}", self.index), None)?;
            self.context = opened["id"].as_str().map(str::to_owned);
        }
        let mut body = json!({
            "size": self.size, "track_total_hits": false, "sort": [{"_shard_doc": "asc"}],
            "pit": {"id": self.context, "keep_alive": KEEP_ALIVE},
        });
        if let Some(slice) = self.slice_json() {
            body["slice"] = slice;
        }
        if let Some(after) = &self.after {
            body["search_after"] = serde_json::from_str(after.get())?;
        }
        let (page, bytes) = self.read("/_search", &body)?;
        if page.pit_id.is_some() {
            self.context.clone_from(&page.pit_id);
        }
        Ok((page, bytes))
    }

    fn by_scroll(&mut self) -> Result<(Page, usize)> {
        let (page, bytes) = match &self.context {
            // If the response to a page is lost, the scroll has moved past it.
            Some(id) => {
                let body = json!({"scroll": KEEP_ALIVE, "scroll_id": id}).to_string();
                self.page(self.import.source.send_once_only("/_search/scroll", body.as_bytes())?)?
            }
            None => {
                // A scroll keeps the size of its first page, so it is small enough for documents of about 20
                // KB.
                let mut body = json!({"size": 200, "sort": ["_doc"], "track_total_hits": true});
                if let Some(slice) = self.slice_json() {
                    body["slice"] = slice;
                }
                self.read(&format!("/{}/_search?scroll={KEEP_ALIVE}", self.index), &body)?
            }
        };
        self.context.clone_from(&page.scroll_id);
        Ok((page, bytes))
    }

    fn read(&self, path: &str, body: &Value) -> Result<(Page, usize)> {
        let text = body.to_string();
        self.page(self.import.source.send("POST", path, text.as_bytes(), "application/json")?)
    }

    fn page(&self, answer: Answer) -> Result<(Page, usize)> {
        if answer.status != 200 {
            bail!("reading [{}] of {}: {}", self.index, self.import.source.url, answer.reason());
        }
        let page =
            serde_json::from_slice(&answer.body).context("a page of documents has an unexpected form")?;
        Ok((page, answer.body.len()))
    }

    /// Closes the point in time or scroll, which the server would otherwise do after the keep-alive.
    fn close(self) {
        let Some(id) = self.context else { return };
        let (path, body) = match self.import.has_point_in_time {
            true => ("/_pit", json!({ "id": id })),
            false => ("/_search/scroll", json!({ "scroll_id": id })),
        };
        let _ = self.import.source.ask("DELETE", path, Some(&body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_keep_documents_as_they_are() {
        let text = r#"{"pit_id": "p", "hits": {"hits": [{"_index": "i", "_id": "1", "_routing": "r", "_source": {"n": 1.50,
            "big": 12345678901234567890123}, "sort": [4294967297]}]}, "_shards": {"failed": 0}}"#;
        let page: Page = serde_json::from_str(text).expect("a page");
        let hit = &page.hits.hits[0];
        assert_eq!(
            (hit.id.as_str(), hit.routing.as_deref(), page.pit_id.as_deref()),
            ("1", Some("r"), Some("p"))
        );
        let source = one_line(hit.source.as_ref().expect("a source").get()).expect("one line");
        assert!(!source.contains(&b'\n') && source.starts_with(br#"{"n": 1.50,"#), "{source:?}");
    }
}
