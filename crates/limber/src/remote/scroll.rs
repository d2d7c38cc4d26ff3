//! The scroll: the remote's version, its search, the pages, and the end of the scroll.
//!
//! Source: `RemoteRequestBuilders`.

use std::sync::Arc;

use limber_engine::{BatchSource, Batches, Progress, Result, SourceBatch};
use limber_mapping::RequestError;
use limber_store::Pool;
use limber_text::url;
use serde_json::{Value, json};
use ureq::http::Method;

use super::answer::{Page, Version};
use super::exchange::{Exchange, Repeats};
use super::host::RemoteHost;
use super::settings::RemoteSettings;

/// Maximum length of a query in a task's description.
const SHOWN_CHARS_MAX: usize = 1_000;
/// How long the remote keeps the search context while a batch is written. Source:
/// `AbstractBulkByScrollRequest`, `DEFAULT_SCROLL_TIMEOUT`.
const KEEP_ALIVE_MS: u64 = 300_000;
/// Elasticsearch's default of `search.max_keep_alive`.
const KEEP_ALIVE_MAX_MS: u64 = 24 * 3_600_000;

/// The search on the other server.
#[derive(Debug, Clone)]
pub struct RemoteSearch {
    /// Comma-separated names, which the remote resolves.
    pub indices: String,
    /// Sent unchanged.
    pub query: Value,
    /// `_source` of the request.
    pub source: Option<Value>,
    /// Comma-separated `field:order`.
    pub sort: Option<String>,
    pub keep_alive_ms: Option<u64>,
}

/// The documents of another server.
#[derive(Debug)]
pub struct RemoteSource {
    host: Arc<RemoteHost>,
    search: RemoteSearch,
    exchange: Exchange,
}

impl RemoteSource {
    /// `pool` is the pool to which batches are charged.
    ///
    /// # Errors
    /// 400 for a server that the settings do not list.
    pub fn new(
        host: RemoteHost,
        search: RemoteSearch,
        settings: &RemoteSettings,
        pool: Arc<Pool>,
    ) -> Result<RemoteSource> {
        host.check_allowed(settings)?;
        let host = Arc::new(host);
        let exchange = Exchange::new(host.clone(), settings, pool);
        Ok(RemoteSource { host, search, exchange })
    }

    fn search_path(&self, version: Version, size: u32, keep_alive_ms: u64) -> String {
        let indices = url::encoded(&self.search.indices);
        let sort = url::encoded(self.search.sort.as_deref().unwrap_or("_doc"));
        let mut path =
            format!("/{indices}/_search?scroll={keep_alive_ms}ms&size={size}&version=true&sort={sort}");
        // An incomplete result must be an error. Before 6.3, failed shards are listed among the failures in
        // the response.
        if version >= (Version { major: 6, minor: 3 }) {
            path.push_str("&allow_partial_search_results=false");
        }
        path
    }

    fn search_body(&self) -> String {
        let mut body = json!({"query": self.search.query});
        if let Some(source) = &self.search.source {
            body["_source"] = source.clone();
        }
        body.to_string()
    }
}

/// Returns the keep-alive of a page: the time to write `size` documents at the request's maximum rate is
/// added.
fn keep_alive_ms(asked_ms: Option<u64>, size: u32, progress: &Progress) -> u64 {
    let pause_ms = 1000.0 * f64::from(size) / f64::from(progress.requests_per_second());
    asked_ms.unwrap_or(KEEP_ALIVE_MS).saturating_add(pause_ms as u64).min(KEEP_ALIVE_MAX_MS)
}

impl BatchSource for RemoteSource {
    fn description(&self) -> String {
        let query: String = self.search.query.to_string().chars().take(SHOWN_CHARS_MAX).collect();
        format!("{} query={query}", self.host)
    }

    fn open(&self, size: u32, progress: &Progress) -> Result<Box<dyn Batches>> {
        let mut scroll = Scroll {
            exchange: self.exchange.clone(),
            id: None,
            size,
            first: None,
            keep_alive_ms: self.search.keep_alive_ms,
        };
        let main = self.exchange.ask(Method::GET, "/", None, Repeats::OnlyWhenRefused, progress)?;
        let Some(main) = main else { return Ok(Box::new(scroll)) };
        let version = Version::parse(&main.body)?;
        drop(main);
        let path = self.search_path(version, size, keep_alive_ms(self.search.keep_alive_ms, size, progress));
        let body = self.search_body();
        scroll.first = scroll.page(&path, &body, Repeats::Always, progress)?;
        Ok(Box::new(scroll))
    }
}

/// A scroll on the other server, closed when this is dropped.
struct Scroll {
    exchange: Exchange,
    id: Option<String>,
    size: u32,
    /// The first page, which the search itself returned, until it is requested.
    first: Option<SourceBatch>,
    /// As requested, without the pauses of a throttled request.
    keep_alive_ms: Option<u64>,
}

impl Scroll {
    /// Requests a page. `None` if the task was cancelled.
    fn page(
        &mut self,
        path: &str,
        body: &str,
        repeats: Repeats,
        progress: &Progress,
    ) -> Result<Option<SourceBatch>> {
        let Some(mut answer) = self.exchange.ask(Method::POST, path, Some(body), repeats, progress)? else {
            return Ok(None);
        };
        // The documents are copied out of the response, each with its metadata.
        let bytes = answer.body.len() as u64;
        let own_bytes = bytes + u64::from(self.size) * size_of::<limber_search::SearchHit>() as u64;
        answer
            .charge
            .grow(own_bytes, "<reindex_from_remote>")
            .map_err(|error| crate::http::refusal::circuit_breaking(&error))?;
        let page = Page::parse(&answer.body, self.size as usize)?;
        drop(std::mem::take(&mut answer.body));
        answer.charge.shrink_to(own_bytes);
        if page.scroll_id.is_some() {
            self.id = page.scroll_id;
        }
        Ok(Some(SourceBatch { charge: Some(answer.charge), ..page.batch }))
    }
}

impl Batches for Scroll {
    fn next(&mut self, progress: &Progress) -> Result<SourceBatch> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        let Some(id) = &self.id else {
            if progress.is_cancelled() {
                return Ok(SourceBatch::default());
            }
            return Err(RequestError::internal(
                "exception",
                "the remote's answer is not understood: missing [_scroll_id]",
            ));
        };
        let keep_alive_ms = keep_alive_ms(self.keep_alive_ms, self.size, progress);
        let body = json!({"scroll": format!("{keep_alive_ms}ms"), "scroll_id": id}).to_string();
        let page = self.page("/_search/scroll", &body, Repeats::OnlyUnlessDone, progress)?;
        Ok(page.unwrap_or_default())
    }
}

impl Drop for Scroll {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let exchange = self.exchange.clone();
        let body = json!({"scroll_id": [id]}).to_string();
        // Nobody waits for this. If it fails, the search context expires with its keep-alive.
        let told = move || exchange.tell(Method::DELETE, "/_search/scroll", &body);
        if let Err(error) = std::thread::Builder::new().name("remote-end".to_owned()).spawn(told) {
            tracing::debug!(%error, "a scroll on a remote is left to its keep-alive");
        }
    }
}
