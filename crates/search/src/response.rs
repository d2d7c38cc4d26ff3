//! What a search answers, and its JSON in Elasticsearch's order.

use std::any::Any;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use limber_work::Account;
use limber_work::{self as work, Stop};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::{Result, ShardFailure, grouped};
use crate::score::{Explanation, float_to_json};
use crate::sort_key::SortKey;

/// Where the next page of a scroll starts. Valid for the snapshots it was made from, and only with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    pub(crate) keys: Box<[SortKey]>,
    /// Index of the last hit's shard among the snapshots, and its number there.
    pub(crate) shard: usize,
    pub(crate) shard_doc: u64,
    /// Hits of the scroll, counted once by its first page.
    pub(crate) total: Option<TotalHits>,
    pub(crate) max_score: Option<f32>,
}

/// `hits.total`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TotalHits {
    /// How many hits there are, or at least are.
    pub value: u64,
    /// `gte` instead of `eq`.
    pub is_lower_bound: bool,
}

impl TotalHits {
    /// The member `total`.
    fn write_json(self, out: &mut Vec<u8>, as_int: bool) {
        match as_int {
            true => member(out, "total", &self.value),
            false => {
                let relation = if self.is_lower_bound { "gte" } else { "eq" };
                member(out, "total", &json!({ "value": self.value, "relation": relation }));
            }
        }
    }
}

/// `_shards`.
#[derive(Debug, Clone, Default)]
pub struct ShardsSummary {
    /// How many shards the search was for.
    pub total: u32,
    /// How many of them answered, those that were skipped included.
    pub successful: u32,
    /// How many of them were not searched, because nothing in them could match.
    pub skipped: u32,
    /// What went wrong on each of the others.
    pub failures: Vec<ShardFailure>,
}

impl ShardsSummary {
    /// `{"total", "successful", "skipped", "failed", "failures"}`.
    pub fn to_json(&self) -> Value {
        let mut object = json!({
            "total": self.total,
            "successful": self.successful,
            "skipped": self.skipped,
            "failed": self.failures.len(),
        });
        if !self.failures.is_empty() {
            object["failures"] = grouped(&self.failures).iter().map(|failure| failure.to_json()).collect();
        }
        object
    }
}

/// One hit, fetched.
#[derive(Debug, Clone, Default)]
pub struct SearchHit {
    /// The name of the index that has the document, one text for all hits of a shard.
    pub index: Arc<str>,
    /// The number of the shard that has it.
    pub shard: u32,
    /// `None` under `stored_fields: _none_`.
    pub id: Option<String>,
    /// Its version, where the request asks for it.
    pub version: Option<u64>,
    /// `_seq_no`, `_primary_term`.
    pub seq_no: Option<(u64, u64)>,
    /// `None`: shown as null.
    pub score: Option<f32>,
    /// The routing that it was indexed with, where it has one.
    pub routing: Option<String>,
    /// `_ignored`.
    pub ignored: Vec<String>,
    /// JSON text.
    pub source: Option<Vec<u8>>,
    /// `fields` and `docvalue_fields`.
    pub fields: Option<Box<Value>>,
    /// Fragments by field.
    pub highlight: Option<Box<Value>>,
    /// Its values of the request's sorts, one for each.
    pub sort: Option<Vec<Value>>,
    /// The names of the named queries that it matches.
    pub matched_queries: Vec<String>,
    /// Their scores, one for each, where the request asks for them.
    pub named_scores: Option<Vec<f32>>,
    /// How its score was computed, where the request asks for it.
    pub explanation: Option<Box<Explanation>>,
    /// `_nested`: which part of the document it is.
    pub nested: Option<Box<Value>>,
    /// What is shown of its nested documents, of the other side of a join, or of its group.
    pub inner_hits: Vec<InnerHits>,
    /// What of the other sides of joins is still to be shown, and the parent that the hit names.
    pub joined: PendingJoins,
}

/// The other sides of joins that are to be shown with a hit, each as only its query knows it, and the parent
/// that the hit names.
#[derive(Debug, Clone, Default)]
pub struct PendingJoins(pub(crate) Vec<(Arc<dyn Any + Send + Sync>, Option<String>)>);

/// The nested documents of a hit that a query names, or the documents of its group.
#[derive(Debug, Clone, Default)]
pub struct InnerHits {
    pub name: String,
    pub total: TotalHits,
    /// `None`: shown as null.
    pub max_score: Option<f32>,
    /// The page of them.
    pub hits: Vec<SearchHit>,
}

/// The answer of [`crate::execute`].
#[derive(Debug, Clone)]
pub struct SearchResponse {
    /// How long the search took.
    pub took_millis: u64,
    /// The part of it after the search for documents.
    pub fetch_time: Duration,
    /// Whether the time was over before every document had been looked at.
    pub timed_out: bool,
    /// Shown when `terminate_after` was given.
    pub terminated_early: Option<bool>,
    /// How the shards of the search fared.
    pub shards: ShardsSummary,
    /// `None` under `track_total_hits: false`.
    pub total: Option<TotalHits>,
    /// The best score of all hits; `None`: they have no scores, or there are none.
    pub max_score: Option<f32>,
    /// The page of hits that the request asked for, best first.
    pub hits: Vec<SearchHit>,
    /// The object `aggregations` of the answer.
    pub aggregations: Option<Value>,
    /// The object `suggest` of the answer.
    pub suggest: Option<Value>,
    /// The object `profile` of the answer.
    pub profile: Option<Value>,
    /// For [`crate::execute_page`]: where the next page starts.
    pub cursor: Option<Cursor>,
    /// The memory of all this, charged until the answer was written.
    pub charges: Vec<Arc<dyn Account>>,
}

/// How a response is written.
#[derive(Debug, Clone, Default)]
pub struct Rendering<'a> {
    /// `rest_total_hits_as_int`.
    pub total_as_int: bool,
    /// The id of the scroll, by which the next page is asked for.
    pub scroll_id: Option<&'a str>,
    /// The id of the point in time that was searched.
    pub pit_id: Option<&'a str>,
    /// The node's id, shown beside explanations.
    pub node_id: &'a str,
}

impl SearchResponse {
    /// The response as a JSON value; prefer [`SearchResponse::write_json`] where the text is what is wanted.
    pub fn to_json(&self, rendering: &Rendering<'_>) -> Value {
        let mut text = Vec::new();
        // Outside of a request nothing stops it.
        let _ = self.write_json(&mut text, rendering);
        serde_json::from_slice(&text).unwrap_or(Value::Null)
    }

    /// Appends the response as JSON text. Sources are copied as they are stored.
    ///
    /// # Errors
    /// There is no memory for the text, or its client is gone.
    pub fn write_json(&self, out: &mut Vec<u8>, rendering: &Rendering<'_>) -> Result<()> {
        out.push(b'{');
        if let Some(scroll_id) = rendering.scroll_id {
            member(out, "_scroll_id", scroll_id);
        }
        if let Some(pit_id) = rendering.pit_id {
            member(out, "pit_id", pit_id);
        }
        member(out, "took", &self.took_millis);
        member(out, "timed_out", &self.timed_out);
        if let Some(terminated_early) = self.terminated_early {
            member(out, "terminated_early", &terminated_early);
        }
        member(out, "_shards", &self.shards.to_json());
        key(out, "hits");
        out.push(b'{');
        if let Some(total) = &self.total {
            total.write_json(out, rendering.total_as_int);
        } else if rendering.total_as_int {
            member(out, "total", &-1);
        }
        member(out, "max_score", &self.max_score.map_or(Value::Null, float_to_json));
        key(out, "hits");
        out.push(b'[');
        for (at, hit) in self.hits.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            hit.write_json(out, rendering.node_id, rendering.total_as_int)?;
        }
        out.extend_from_slice(b"]}");
        if let Some(aggregations) = &self.aggregations {
            key(out, "aggregations");
            write_checked(out, aggregations)?;
        }
        if let Some(suggest) = &self.suggest {
            key(out, "suggest");
            write_checked(out, suggest)?;
        }
        if let Some(profile) = &self.profile {
            key(out, "profile");
            write_checked(out, profile)?;
        }
        out.push(b'}');
        Ok(())
    }
}

impl SearchHit {
    /// Of a hit beside its source: names, sort values, and the same as text in the answer. Sources are there
    /// twice too.
    pub(crate) const HIT_BYTES: u64 = size_of::<SearchHit>() as u64 + 512;

    /// Bytes of its source and of those of its inner hits.
    pub(crate) fn source_bytes(&self) -> u64 {
        let own = self.source.as_ref().map_or(0, |source| source.len() as u64);
        own + self.inner_hits.iter().map(InnerHits::source_bytes).sum::<u64>()
    }

    /// The hit as a JSON value.
    pub(crate) fn to_json(&self, node_id: &str) -> Value {
        let mut text = Vec::new();
        // Whoever shows hits inside of something else asks before each of them whether it may go on.
        let _ = self.write_json(&mut text, node_id, false);
        serde_json::from_slice(&text).unwrap_or(Value::Null)
    }

    fn write_json(&self, out: &mut Vec<u8>, node_id: &str, total_as_int: bool) -> Result<()> {
        work::check_beyond_deadline()?;
        out.push(b'{');
        if self.explanation.is_some() {
            member(out, "_shard", &format!("[{}][{}]", self.index, self.shard));
            member(out, "_node", node_id);
        }
        member(out, "_index", &*self.index);
        if let Some(id) = &self.id {
            member(out, "_id", id);
        }
        if let Some(nested) = &self.nested {
            member(out, "_nested", nested);
        }
        if let Some(version) = self.version {
            member(out, "_version", &version);
        }
        if let Some((seq_no, primary_term)) = self.seq_no {
            member(out, "_seq_no", &seq_no);
            member(out, "_primary_term", &primary_term);
        }
        match self.score {
            Some(f32::INFINITY) => member(out, "_score", "Infinity"),
            // Both ways write the same digits; outside of this range they choose exponents differently.
            Some(score @ 0.001..=1e7) => member(out, "_score", &score),
            score => member(out, "_score", &score.map_or(Value::Null, float_to_json)),
        }
        if let Some(routing) = &self.routing {
            member(out, "_routing", routing);
        }
        if !self.ignored.is_empty() {
            member(out, "_ignored", &self.ignored);
        }
        if let Some(source) = &self.source {
            key(out, "_source");
            out.extend_from_slice(source);
        }
        if let Some(fields) = &self.fields {
            member(out, "fields", fields);
        }
        if let Some(highlight) = &self.highlight {
            member(out, "highlight", highlight);
        }
        if let Some(sort) = &self.sort {
            member(out, "sort", sort);
        }
        if !self.matched_queries.is_empty() {
            match &self.named_scores {
                None => member(out, "matched_queries", &self.matched_queries),
                Some(scores) => {
                    let names = self.matched_queries.iter().cloned();
                    let scored = names.zip(scores.iter().map(|score| float_to_json(*score)));
                    member(out, "matched_queries", &scored.collect::<Map<String, Value>>());
                }
            }
        }
        if let Some(explanation) = &self.explanation {
            member(out, "_explanation", &explanation.to_json());
        }
        if !self.inner_hits.is_empty() {
            key(out, "inner_hits");
            out.push(b'{');
            self.inner_hits.iter().try_for_each(|inner| inner.write_json(out, node_id, total_as_int))?;
            out.push(b'}');
        }
        out.push(b'}');
        Ok(())
    }
}

impl InnerHits {
    /// Bytes of the sources of its hits.
    pub(crate) fn source_bytes(&self) -> u64 {
        self.hits.iter().map(SearchHit::source_bytes).sum()
    }

    fn write_json(&self, out: &mut Vec<u8>, node_id: &str, total_as_int: bool) -> Result<()> {
        member_start(out, &self.name);
        out.extend_from_slice(b"{\"hits\":{");
        self.total.write_json(out, total_as_int);
        member(out, "max_score", &self.max_score.map_or(Value::Null, float_to_json));
        key(out, "hits");
        out.push(b'[');
        for (at, hit) in self.hits.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            hit.write_json(out, node_id, total_as_int)?;
        }
        out.extend_from_slice(b"]}}");
        Ok(())
    }
}

/// Text that is asked about as it grows.
struct Checked<'o> {
    out: &'o mut Vec<u8>,
    checked_bytes: usize,
    stop: Option<Stop>,
}

/// Bytes of text that are written between two questions.
const CHECK_EVERY_BYTES: usize = 256 << 10;

impl Checked<'_> {
    fn check(&mut self, more_bytes: usize) -> std::result::Result<(), Stop> {
        work::check_growth(self.out.len(), self.out.capacity(), more_bytes)?;
        if self.out.len() - self.checked_bytes < CHECK_EVERY_BYTES {
            return Ok(());
        }
        self.checked_bytes = self.out.len();
        work::check_beyond_deadline()
    }
}

impl Write for Checked<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Err(stop) = self.check(bytes.len()) {
            self.stop = Some(stop);
            return Err(std::io::ErrorKind::OutOfMemory.into());
        }
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Appends a tree as text.
fn write_checked(out: &mut Vec<u8>, value: &Value) -> Result<()> {
    let mut checked = Checked { checked_bytes: out.len(), out, stop: None };
    // Writing to memory cannot fail otherwise.
    let _ = serde_json::to_writer(&mut checked, value);
    checked.stop.map_or(Ok(()), |stop| Err(stop.into()))
}

/// A key that the user chose.
fn member_start(out: &mut Vec<u8>, name: &str) {
    if !matches!(out.last(), None | Some(b'{')) {
        out.push(b',');
    }
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, name);
    out.push(b':');
}

fn key(out: &mut Vec<u8>, name: &str) {
    if !matches!(out.last(), None | Some(b'{')) {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn member<T: Serialize + ?Sized>(out: &mut Vec<u8>, name: &str, value: &T) {
    key(out, name);
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, value);
}

/// The answer of [`crate::count`].
#[derive(Debug, Clone)]
pub struct CountResponse {
    /// How many documents match.
    pub count: u64,
    /// Whether counting stopped at `terminate_after`; `None`: it was not given.
    pub terminated_early: Option<bool>,
    /// How the shards fared.
    pub shards: ShardsSummary,
}

impl CountResponse {
    /// `{"terminated_early", "count", "_shards"}`.
    pub fn to_json(&self) -> Value {
        let mut object = serde_json::Map::new();
        if let Some(terminated_early) = self.terminated_early {
            object.insert("terminated_early".into(), terminated_early.into());
        }
        object.insert("count".into(), self.count.into());
        object.insert("_shards".into(), self.shards.to_json());
        Value::Object(object)
    }
}
