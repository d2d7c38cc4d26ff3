//! The answer of a search, and its JSON in Elasticsearch's order.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use limber_mapping::RequestError;
use limber_work::{self as work, Account, CheckedBytes};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::{Result, ShardFailure, grouped};
use crate::score::{Explanation, float_to_json};
use crate::values::sort_key::SortKey;

/// The start of the next page of a scroll. Only valid with the snapshots that it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    pub(crate) keys: Box<[SortKey]>,
    /// Index of the last hit's shard among the snapshots, and the hit's document number in that shard.
    pub(crate) shard: usize,
    pub(crate) shard_doc: u64,
    /// Total hits of the scroll, counted once by its first page.
    pub(crate) total: Option<TotalHits>,
    pub(crate) max_score: Option<f32>,
}

/// `hits.total`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TotalHits {
    /// The number of hits, or a lower bound of it.
    pub value: u64,
    /// Whether the relation is `gte` instead of `eq`.
    pub is_lower_bound: bool,
}

impl TotalHits {
    /// Writes the member `total`.
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
    /// The number of shards of the search.
    pub total: u32,
    /// The number of shards that answered, including those skipped.
    pub successful: u32,
    /// The number of shards that were not searched because nothing in them could match.
    pub skipped: u32,
    /// The errors of the others.
    pub failures: Vec<ShardFailure>,
}

impl ShardsSummary {
    /// Returns `{"total", "successful", "skipped", "failed", "failures"}`.
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
    /// The name of the document's index; hits of a shard share one string.
    pub index: Arc<str>,
    /// The number of the document's shard.
    pub shard: u32,
    /// `None` under `stored_fields: _none_`.
    pub id: Option<String>,
    /// Its version, if requested.
    pub version: Option<u64>,
    /// `_seq_no`, `_primary_term`.
    pub seq_no: Option<(u64, u64)>,
    /// `None` is shown as null.
    pub score: Option<f32>,
    /// The routing that it was indexed with, if any.
    pub routing: Option<String>,
    /// `_ignored`.
    pub ignored: Vec<String>,
    /// The source as JSON.
    pub source: Option<Vec<u8>>,
    /// `fields` and `docvalue_fields`.
    pub fields: Option<Box<Value>>,
    /// Values of the source that `fields` does not show, because the field ignores them.
    pub ignored_field_values: Option<Box<Value>>,
    /// Highlighted fragments by field.
    pub highlight: Option<Box<Value>>,
    /// The values of its sort keys, one for each sort.
    pub sort: Option<Vec<Value>>,
    /// The names of the named queries that it matches.
    pub matched_queries: Vec<String>,
    /// Their scores, one for each, where the request asks for them.
    pub named_scores: Option<Vec<f32>>,
    /// How its score was computed, if requested.
    pub explanation: Option<Box<Explanation>>,
    /// `_nested`: which nested object of the document it is.
    pub nested: Option<Box<Value>>,
    /// Its inner hits: nested documents, the other side of a join, or documents of its group.
    pub inner_hits: Vec<InnerHits>,
    /// Joins whose documents have yet to be fetched, and the parent that the hit names.
    pub joined: PendingJoins,
}

/// Joins whose documents are shown with a hit, each in a form that only its query knows, and the parent that
/// the hit names.
#[derive(Debug, Clone, Default)]
pub struct PendingJoins(pub(crate) Vec<(Arc<dyn Any + Send + Sync>, Option<String>)>);

/// The nested documents of a hit that match a query, or the documents of its group.
#[derive(Debug, Clone, Default)]
pub struct InnerHits {
    pub name: String,
    pub total: TotalHits,
    /// `None` is shown as null.
    pub max_score: Option<f32>,
    /// The requested page of them.
    pub hits: Vec<SearchHit>,
}

/// The answer of [`crate::execute`].
#[derive(Debug, Clone)]
pub struct SearchResponse {
    /// Duration of the search.
    pub took_millis: u64,
    /// Duration of the phases after the query phase.
    pub fetch_time: Duration,
    /// Whether the time was over before every document had been visited.
    pub timed_out: bool,
    /// Set if `terminate_after` was given.
    pub terminated_early: Option<bool>,
    /// How often Elasticsearch reduces as many results; shown unless it is 1.
    pub reduce_phases: u32,
    /// Results of the shards.
    pub shards: ShardsSummary,
    /// `None` under `track_total_hits: false`.
    pub total: Option<TotalHits>,
    /// The best score of all hits; `None` if they have no scores or there are none.
    pub max_score: Option<f32>,
    /// The requested page of hits, best first.
    pub hits: Vec<SearchHit>,
    /// The object `aggregations` of the answer, as JSON.
    pub aggregations: Option<Vec<u8>>,
    /// The object `suggest` of the answer.
    pub suggest: Option<Value>,
    /// The object `profile` of the answer.
    pub profile: Option<Value>,
    /// What each processor of a verbose search pipeline did, as JSON.
    pub processor_results: Option<String>,
    /// For [`crate::execute_page`]: where the next page starts.
    pub cursor: Option<Cursor>,
    /// The charges for the memory of the answer, kept until it was written.
    pub charges: Vec<Arc<dyn Account>>,
}

/// How a response is written.
#[derive(Debug, Clone, Default)]
pub struct Rendering<'a> {
    /// `rest_total_hits_as_int`.
    pub total_as_int: bool,
    /// The id of the scroll, with which the next page is requested.
    pub scroll_id: Option<&'a str>,
    /// The id of the point in time that was searched.
    pub pit_id: Option<&'a str>,
    /// The node's id, shown with explanations.
    pub node_id: &'a str,
    /// `phase_took` of OpenSearch: how long the phases took.
    pub phase_took: bool,
}

impl SearchResponse {
    /// Returns the response as a JSON value. Prefer [`SearchResponse::write_json`] if bytes are needed.
    ///
    /// # Errors
    /// There is not enough memory for the value, or the client has disconnected.
    pub fn to_json(&self, rendering: &Rendering<'_>) -> Result<Value> {
        let mut text = Vec::new();
        self.write_json(&mut text, rendering)?;
        tree(&text)
    }

    /// Returns the aggregations as a JSON value; null without any.
    ///
    /// # Errors
    /// There is not enough memory for the value, or the client has disconnected.
    pub fn aggregations_to_json(&self) -> Result<Value> {
        self.aggregations.as_deref().map_or(Ok(Value::Null), tree)
    }

    /// Returns how long each phase took. Statistics of all shards, shards that are skipped and groups of hits
    /// belong to the phases query and fetch.
    fn phase_times(&self) -> Value {
        let fetch = (self.fetch_time.as_millis() as u64).min(self.took_millis);
        json!({
            "dfs_pre_query": 0,
            "query": self.took_millis - fetch,
            "fetch": fetch,
            "dfs_query": 0,
            "expand": 0,
            "can_match": 0,
        })
    }

    /// Appends the response as JSON. Sources are copied as they are stored.
    ///
    /// # Errors
    /// There is not enough memory for the JSON, or the client has disconnected.
    pub fn write_json(&self, out: &mut Vec<u8>, rendering: &Rendering<'_>) -> Result<()> {
        out.push(b'{');
        if let Some(scroll_id) = rendering.scroll_id {
            member(out, "_scroll_id", scroll_id);
        }
        if let Some(pit_id) = rendering.pit_id {
            member(out, "pit_id", pit_id);
        }
        member(out, "took", &self.took_millis);
        if rendering.phase_took {
            member(out, "phase_took", &self.phase_times());
        }
        member(out, "timed_out", &self.timed_out);
        self.terminated_early.iter().for_each(|early| member(out, "terminated_early", early));
        if self.reduce_phases != 1 {
            member(out, "num_reduce_phases", &self.reduce_phases);
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
            work::check_growth(out.len(), out.capacity(), aggregations.len())?;
            out.extend_from_slice(aggregations);
        }
        if let Some(suggest) = &self.suggest {
            key(out, "suggest");
            write_checked(out, suggest)?;
        }
        if let Some(profile) = &self.profile {
            key(out, "profile");
            write_checked(out, profile)?;
        }
        if let Some(results) = &self.processor_results {
            key(out, "processor_results");
            work::check_growth(out.len(), out.capacity(), results.len())?;
            out.extend_from_slice(results.as_bytes());
        }
        out.push(b'}');
        Ok(())
    }
}

impl SearchHit {
    /// Approximate bytes of a hit without its source: names, sort values, and these again as JSON. The
    /// source is also held twice.
    pub(crate) const HIT_BYTES: u64 = size_of::<SearchHit>() as u64 + 512;

    /// Returns the bytes of its source and of the sources of its inner hits.
    pub(crate) fn source_bytes(&self) -> u64 {
        let own = self.source.as_ref().map_or(0, |source| source.len() as u64);
        own + self.inner_hits.iter().map(InnerHits::source_bytes).sum::<u64>()
    }

    /// Returns the hit as a JSON value.
    ///
    /// # Errors
    /// There is not enough memory for the value, or the client has disconnected.
    pub fn to_json(&self, node_id: &str) -> Result<Value> {
        let mut text = Vec::new();
        self.write_json(&mut text, node_id, false)?;
        tree(&text)
    }

    /// Appends what it shows of its fields.
    fn write_fields(&self, out: &mut Vec<u8>) {
        let shown = [
            ("ignored_field_values", &self.ignored_field_values),
            ("fields", &self.fields),
            ("highlight", &self.highlight),
        ];
        for (name, value) in shown {
            value.iter().for_each(|value| member(out, name, value));
        }
    }

    /// Appends the hit as JSON.
    ///
    /// # Errors
    /// As [`SearchHit::to_json`].
    pub fn write_json(&self, out: &mut Vec<u8>, node_id: &str, total_as_int: bool) -> Result<()> {
        work::check_beyond_deadline()?;
        out.push(b'{');
        if self.explanation.is_some() {
            member(out, "_shard", &format!("[{}][{}]", self.index, self.shard));
            member(out, "_node", node_id);
        }
        member(out, "_index", &*self.index);
        self.id.iter().for_each(|id| member(out, "_id", id));
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
            // Both formatters write the same digits, but outside of this range they choose exponents
            // differently.
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
            work::check_growth(out.len(), out.capacity(), source.len())?;
            out.extend_from_slice(source);
        }
        self.write_fields(out);
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
    /// Returns the bytes of the sources of its hits.
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

/// Parses JSON that contains sources of documents.
fn tree(text: &[u8]) -> Result<Value> {
    limber_mapping::claim_parsed(text)?;
    // A source of more than 128 levels is accepted where it is only stored.
    let deep = |_| RequestError::unsupported("a document of more than 128 levels inside of another value");
    Ok(limber_mapping::parse_source(text).map_err(deep)?)
}

/// Appends a JSON tree.
fn write_checked(out: &mut Vec<u8>, value: &Value) -> Result<()> {
    let mut checked = CheckedBytes::of(std::mem::take(out));
    // Writing to memory fails only for the reasons that `finish` returns.
    let _ = serde_json::to_writer(&mut checked, value);
    *out = checked.finish()?;
    Ok(())
}

/// Writes a key that the user chose.
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
    /// The number of matching documents.
    pub count: u64,
    /// Whether counting stopped at `terminate_after`; `None` if that was not given.
    pub terminated_early: Option<bool>,
    /// Results of the shards.
    pub shards: ShardsSummary,
}

impl CountResponse {
    /// Returns `{"terminated_early", "count", "_shards"}`.
    pub fn to_json(&self) -> Value {
        let mut object = serde_json::Map::new();
        object.extend(self.terminated_early.map(|early| ("terminated_early".to_owned(), early.into())));
        object.insert("count".into(), self.count.into());
        object.insert("_shards".into(), self.shards.to_json());
        Value::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn a_hit_inside_of_something_else_is_refused_like_a_hit() {
        let hit = SearchHit { source: Some(br#"{"a":[1,2]}"#.to_vec()), ..SearchHit::default() };
        assert_eq!(hit.to_json("node").expect("no request")["_source"], json!({"a": [1, 2]}));
        let work = work::Work::default();
        work.cancelled.store(true, Ordering::Relaxed);
        let _entered = work.enter();
        assert!(hit.to_json("node").is_err());
    }
}
