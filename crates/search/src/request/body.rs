//! The body of `_search`: parses all its keys; unknown ones are refused.

use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::{RequestError, runtime_of_derived};
use limber_work as work;
use serde_json::{Map, Value};

use super::aggregations::{AggregationsRequest, ReadAggregations};
use super::alias_filter::AliasFilter;
use super::read_query::read_query;
use super::slice::{parse_search_after, parse_slice};
use super::suggest::Suggest;
use super::{
    Collapse, FieldFormat, Fusion, Highlight, PointInTime, Rescore, ScriptField, Sort, StoredFields,
    TrackTotalHits, UrlParameters,
};
use crate::context::documents::DocumentName;
use crate::query::{Query, Slice};
use crate::source::SourceFilter;
use crate::values::json;

/// Keys of a search's body, for proposals in error messages.
pub const KEYS: &[&str] = &[
    "query",
    "aggs",
    "size",
    "from",
    "sort",
    "_source",
    "fields",
    "docvalue_fields",
    "stored_fields",
    "script_fields",
    "runtime_mappings",
    "highlight",
    "collapse",
    "rescore",
    "post_filter",
    "search_after",
    "pit",
    "slice",
    "track_total_hits",
    "track_scores",
    "min_score",
    "indices_boost",
    "explain",
    "version",
    "seq_no_primary_term",
    "timeout",
    "terminate_after",
];

/// The options of a search that shape its hits; inner hits and `top_hits` accept the same ones.
pub(crate) const HIT_OPTIONS: &[&str] = &[
    "_source",
    "docvalue_fields",
    "explain",
    "fields",
    "from",
    "highlight",
    "script_fields",
    "seq_no_primary_term",
    "size",
    "sort",
    "stored_fields",
    "track_scores",
    "version",
];

/// Keys that a retriever replaces, and which must not be used together with one.
const NOT_BESIDE_RETRIEVER: [&str; 8] =
    ["query", "knn", "search_after", "terminate_after", "sort", "rescore", "min_score", "rank"];

/// A parsed `_search`. Defaults that depend on nothing are filled in by the accessors.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The body or its beginning, for slow logs.
    pub text: Option<Arc<str>>,
    /// The query that hits match. Absent: `match_all`.
    pub query: Option<Query>,
    /// A query that hits must match but that does not affect aggregations.
    pub post_filter: Option<Query>,
    /// How many of the best hits are skipped; see [`SearchRequest::from`].
    pub from: Option<u32>,
    /// The greatest number of hits to show; see [`SearchRequest::size`].
    pub size: Option<u32>,
    /// The sorts; empty if by score.
    pub sort: Vec<Sort>,
    /// Sort values of the last hit of the page before, one for each sort.
    pub search_after: Option<Vec<Value>>,
    /// Keeps only the best hit of each value of a field.
    pub collapse: Option<Arc<Collapse>>,
    /// Rescorings of the best hits, applied one after the other.
    pub rescores: Vec<Rescore>,
    /// The number up to which hits are counted.
    pub track_total_hits: TrackTotalHits,
    /// Whether hits have scores even if they are sorted by something else.
    pub track_scores: bool,
    /// Hits with a lower score are dropped and not counted.
    pub min_score: Option<f32>,
    /// The parts of `_source` to show; `None` shows all of it, unless only stored fields are requested.
    pub source: Option<SourceFilter>,
    /// `force_synthetic_source`: a stored source is shown as a synthetic one.
    pub forces_source: bool,
    /// Whether the hits will be indexed again: then the data that their sources are read from is verified
    /// first.
    pub is_reindexed: bool,
    /// The stored fields to show besides `_source`.
    pub stored_fields: Option<StoredFields>,
    /// Fields to show with the values of their columns.
    pub docvalue_fields: Vec<FieldFormat>,
    /// Fields to show with the values of the source, as the mapping reads them.
    pub fields: Vec<FieldFormat>,
    /// Values that scripts compute for each hit.
    pub script_fields: Vec<ScriptField>,
    /// How the matches of the query are highlighted in a hit.
    pub highlight: Option<Highlight>,
    /// `runtime_mappings`: a section `runtime` for this search only; may be empty.
    pub runtime_mappings: Map<String, Value>,
    /// Whether each hit explains its score.
    pub explain: bool,
    /// Whether each hit shows its version.
    pub version: bool,
    /// Whether each hit shows the sequence number and primary term of its last write.
    pub seq_no_primary_term: bool,
    /// `include_named_queries_score`: hits show the scores of the named queries that match them.
    pub named_scores: bool,
    /// Milliseconds after which the search stops and returns the hits so far.
    pub timeout_millis: Option<u64>,
    /// `allow_partial_search_results`. `None`: the node's settings decide.
    pub allows_partial: Option<bool>,
    /// Number of documents after which a shard stops; 0: never.
    pub terminate_after: u32,
    /// The aggregations over all matching documents.
    pub aggregations: Option<Arc<dyn AggregationsRequest>>,
    /// `typed_keys`: whether the names of aggregations include their type.
    pub typed_keys: bool,
    /// `stats`: groups under which the search is counted.
    pub stats_groups: Vec<String>,
    /// Suggestions, besides the hits.
    pub suggest: Option<Arc<Suggest>>,
    /// Several rankings to fuse; the query is then the union of their queries.
    pub fusion: Option<Arc<Fusion>>,
    /// `indices_boost`: an index expression and its factor; the first that matches an index counts.
    pub indices_boost: Vec<(String, f32)>,
    /// `indices_boost` by the index's uuid; set by the caller, who knows the indices.
    pub index_boosts: HashMap<String, f32>,
    /// The only slice of the hits to return: of a scroll, a point in time, or a request by query.
    pub slice: Option<Slice>,
    /// The point in time whose snapshots are searched.
    pub pit: Option<PointInTime>,
    /// If there are more shards than this, those in which nothing can match are skipped. `None`:
    /// [`SearchRequest::PRE_FILTER_SHARDS`], or 1 for a sort by a field.
    pub pre_filter_shard_size: Option<u32>,
    /// `batched_reduce_size`: as many results of shards as Elasticsearch reduces at once. There is only one
    /// reduce here; it is counted in the answer as there.
    pub batched_reduce_size: Option<u32>,
    /// Whether the costs of its parts are measured and shown.
    pub profile: bool,
    /// `search_type: dfs_query_then_fetch`: scores use the term statistics of all shards.
    pub counts_all_shards: bool,
    /// `request_cache`; `None`: the index setting decides.
    pub request_cache: Option<bool>,
    /// Identifies this request in the request cache; `None` if its answers are not cached.
    pub cache_key: Option<Arc<[u8]>>,
    /// Documents that its answer depends on besides those of its shards. The caller must add their state to
    /// the key ([`SearchRequest::key_documents`]); otherwise its answers are not cached.
    pub named_documents: Vec<DocumentName>,
    /// `search_pipeline`: a name or a definition. The caller runs the search through the pipeline.
    pub pipeline: Option<Value>,
    /// `verbose_pipeline`: the response shows what each processor of the pipeline was given and made.
    pub verbose_pipeline: bool,
    /// The body as the first processor of a verbose pipeline is shown it; `None` otherwise.
    pub shown_body: Option<Arc<Value>>,
    /// How many lookup fields this search is made for, one within another.
    pub lookup_depth: u32,
    /// Memory that parsing the request allocated, for a caller that keeps it; 0 if allocations are not
    /// counted.
    pub held_bytes: u64,
}

impl Default for SearchRequest {
    fn default() -> SearchRequest {
        SearchRequest {
            profile: false,
            counts_all_shards: false,
            text: None,
            query: None,
            post_filter: None,
            from: None,
            size: None,
            sort: Vec::new(),
            search_after: None,
            collapse: None,
            rescores: Vec::new(),
            track_total_hits: TrackTotalHits::DEFAULT,
            track_scores: false,
            min_score: None,
            forces_source: false,
            is_reindexed: false,
            source: None,
            stored_fields: None,
            docvalue_fields: Vec::new(),
            fields: Vec::new(),
            script_fields: Vec::new(),
            highlight: None,
            runtime_mappings: Map::new(),
            explain: false,
            version: false,
            seq_no_primary_term: false,
            named_scores: false,
            timeout_millis: None,
            allows_partial: None,
            terminate_after: 0,
            aggregations: None,
            typed_keys: false,
            stats_groups: Vec::new(),
            suggest: None,
            fusion: None,
            indices_boost: Vec::new(),
            index_boosts: HashMap::new(),
            slice: None,
            pit: None,
            pre_filter_shard_size: None,
            batched_reduce_size: None,
            request_cache: None,
            cache_key: None,
            named_documents: Vec::new(),
            pipeline: None,
            verbose_pipeline: false,
            shown_body: None,
            lookup_depth: 0,
            held_bytes: 0,
        }
    }
}

impl SearchRequest {
    /// Default number of hits, Elasticsearch's `SearchService#DEFAULT_SIZE`.
    pub const SIZE_DEFAULT: u32 = 10;

    /// Whether only documents of suggestions are requested. Source: `SearchSourceBuilder#isSuggestOnly`.
    pub fn is_suggest_only(&self) -> bool {
        self.query.is_none() && self.aggregations.is_none() && self.suggest.is_some()
    }

    /// Returns how many of the best hits are skipped.
    pub fn from(&self) -> u32 {
        self.from.unwrap_or(0)
    }

    /// Returns the greatest number of hits to show.
    pub fn size(&self) -> u32 {
        self.size.unwrap_or(SearchRequest::SIZE_DEFAULT)
    }

    /// Whether hits are sorted by descending score only.
    pub fn is_by_score(&self) -> bool {
        match self.sort.as_slice() {
            [] => true,
            [only] => only.is_score() && only.order == super::Order::Descending,
            _ => false,
        }
    }

    /// Whether the rank of a hit depends on that hit only, not on collapsing or rescoring.
    pub(crate) fn ranks_hits_alone(&self) -> bool {
        self.collapse.is_none() && self.rescores.is_empty()
    }

    /// Parses a body (`{}` or `null` if there is none), overridden by the URL's parameters.
    /// `read_aggregations` is `None` where aggregations are not allowed.
    ///
    /// # Errors
    /// Those of Elasticsearch: `parsing_exception` for unknown keys, `illegal_argument_exception` for
    /// values out of range and for features that are not supported yet, by name.
    pub(crate) fn read(
        body: &Value,
        url: &UrlParameters,
        read_aggregations: Option<ReadAggregations>,
    ) -> Result<SearchRequest, RequestError> {
        let before_bytes = work::allocated_bytes();
        let mut request = SearchRequest::default();
        json::check_depth(body)?;
        match body {
            Value::Null => {}
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), read_aggregations) {
                        ("aggs" | "aggregations", Some(read)) if value.is_object() => {
                            request.aggregations = Some(read(value)?);
                        }
                        ("rescore", _) => {
                            request.rescores = Rescore::parse_list(value, members.get("query"))?;
                        }
                        _ => request.parse_key(key, value)?,
                    }
                }
                if let Some(retriever) = members.get("retriever") {
                    if let Some(other) = NOT_BESIDE_RETRIEVER.iter().find(|key| members.contains_key(**key)) {
                        return Err(RequestError::validation([format!(
                            "cannot specify [retriever] and [{other}]"
                        )]));
                    }
                    request.parse_retriever(retriever)?;
                }
            }
            other => {
                return Err(RequestError::parsing(format!(
                    "Expected [START_OBJECT] but found [{}]",
                    json::token(other)
                )));
            }
        }
        super::url::apply(&mut request, url)?;
        request.validate()?;
        // A part of a request, such as inner hits, gets its query from elsewhere.
        if read_aggregations.is_some() {
            request.note_cache_key(body, url);
        }
        if request.verbose_pipeline {
            request.shown_body = Some(Arc::new(body.clone()));
        }
        request.held_bytes = u64::try_from(work::allocated_bytes() - before_bytes).unwrap_or(0);
        Ok(request)
    }

    pub(super) fn parse_key(&mut self, key: &str, value: &Value) -> Result<(), RequestError> {
        let unknown = || json::unknown_key(key, value);
        let is_scalar = json::scalar_text(value).is_some();
        match key {
            "query" | "post_filter" => {
                if !value.is_object() {
                    return Err(unknown());
                }
                let query = Some(read_query(value)?);
                if key == "query" { self.query = query } else { self.post_filter = query }
            }
            "from" if is_scalar => self.from = Some(from(json::int(value)?)?),
            "size" if is_scalar => self.size = Some(size(json::int(value)?)?),
            "sort" => self.sort = Sort::parse_list(value)?,
            "search_after" => self.search_after = Some(parse_search_after(value)?),
            "track_total_hits" if is_scalar => {
                self.track_total_hits = match value {
                    Value::Bool(true) => TrackTotalHits::Exact,
                    Value::Bool(false) => TrackTotalHits::None,
                    Value::String(text) if text == "true" => TrackTotalHits::Exact,
                    Value::String(text) if text == "false" => TrackTotalHits::None,
                    other => TrackTotalHits::up_to(json::int(other)?)?,
                }
            }
            "track_scores" if is_scalar => self.track_scores = json::boolean(value)?,
            "min_score" if is_scalar => self.min_score = Some(json::float(value)?),
            "_source" => self.source = Some(SourceFilter::parse(value)?),
            "stored_fields" => self.stored_fields = Some(StoredFields::parse(value)?),
            "docvalue_fields" => self.docvalue_fields = FieldFormat::parse_list(key, value)?,
            "fields" => self.fields = FieldFormat::parse_list(key, value)?,
            "script_fields" => self.script_fields = ScriptField::parse_all(value)?,
            "explain" if is_scalar => self.explain = json::boolean(value)?,
            "version" if is_scalar => self.version = json::boolean(value)?,
            "seq_no_primary_term" if is_scalar => self.seq_no_primary_term = json::boolean(value)?,
            "timeout" if is_scalar => {
                self.timeout_millis =
                    json::time_millis(&json::scalar_text(value).unwrap_or_default(), "timeout")?;
            }
            "terminate_after" if is_scalar => self.terminate_after = terminate_after(json::int(value)?)?,
            "stats" => self.stats_groups = stats_groups(value)?,
            "profile" if is_scalar => self.profile = json::boolean(value)?,
            "indices_boost" => self.indices_boost = indices_boost(value)?,
            "slice" => self.slice = Some(parse_slice(value)?),
            "pit" => self.pit = Some(PointInTime::parse(value)?),
            "runtime_mappings" => self.runtime_mappings.extend(runtime_mappings(value)?),
            "derived" if value.is_object() => self.runtime_mappings.extend(runtime_of_derived(value)?),
            "highlight" => self.highlight = Some(Highlight::parse(value)?),
            "collapse" => self.collapse = Some(Arc::new(Collapse::parse(value)?)),
            "rescore" => self.rescores = Rescore::parse_list(value, None)?,
            // Parsed when all other keys are known: its default window is the size.
            "retriever" => {}
            "suggest" => self.suggest = Some(Arc::new(Suggest::parse(value)?)),
            "search_pipeline" if value.is_object() => self.pipeline = Some(value.clone()),
            "search_pipeline" if is_scalar => self.pipeline = json::scalar_text(value).map(Value::String),
            "verbose_pipeline" if is_scalar => self.verbose_pipeline = json::boolean(value)?,
            // Extensions are those of plugins, of which there are none.
            "ext" if value.as_object().is_some_and(serde_json::Map::is_empty) => {}
            "ext" | "knn" | "rank" | "sub_searches" => {
                return Err(RequestError::unsupported(format_args!("[{key}] in [search]")));
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// Changes the cache key to that of the request with an alias's filter.
    pub fn narrow_cache_key(&mut self, alias: &AliasFilter) {
        let filter = &alias.filter;
        let key = self.cache_key.take().filter(|_| super::determinism::is_deterministic(filter));
        self.cache_key = key.map(|key| {
            let text = format!("{filter}{:?}", alias.indices);
            [&*key, b"\0", text.as_bytes()].concat().into()
        });
        self.named_documents.extend(super::determinism::named_documents(filter));
    }

    /// Adds the state of the named documents to the cache key. `state` returns a string that no other state
    /// of the document has; with `None` the request's answers are not cached.
    pub fn key_documents(&mut self, mut state: impl FnMut(&DocumentName) -> Option<String>) {
        for name in std::mem::take(&mut self.named_documents) {
            let Some(key) = self.cache_key.take() else { return };
            self.cache_key = state(&name).map(|state| [&*key, b"\0", state.as_bytes()].concat().into());
        }
    }

    /// Appends the sort by [`SHARD_DOC`](super::sort::SHARD_DOC) to a search on a point in time, so that no
    /// two hits tie and pages neither repeat nor lose hits. It is not appended if `search_after` has no
    /// value for it.
    pub(crate) fn break_ties(&mut self) {
        let is_wanted = match &self.search_after {
            None => true,
            Some(values) => values.len() == self.sort.len() + 1,
        };
        let has_one = self.sort.iter().any(|sort| sort.field == super::sort::SHARD_DOC);
        if self.pit.is_some() && !self.sort.is_empty() && is_wanted && !has_one {
            self.sort.push(Sort::by(super::sort::SHARD_DOC));
        }
    }
}

/// Maximum number of stats groups of one search.
const STATS_GROUPS_MAX: usize = 100;

fn stats_groups(value: &Value) -> Result<Vec<String>, RequestError> {
    let Value::Array(items) = value else { return Err(json::unknown_key("stats", value)) };
    if items.len() > STATS_GROUPS_MAX {
        return Err(RequestError::illegal_argument(format!(
            "more than [{STATS_GROUPS_MAX}] groups in [stats]"
        )));
    }
    items.iter().map(json::text).collect()
}

fn runtime_mappings(value: &Value) -> Result<Map<String, Value>, RequestError> {
    match value {
        Value::Object(fields) => Ok(fields.clone()),
        other => Err(json::unknown_key("runtime_mappings", other)),
    }
}

/// Parses `[{"index": 2.0}, ..]`, or the old form of a single object.
fn indices_boost(value: &Value) -> Result<Vec<(String, f32)>, RequestError> {
    let malformed = |found: &Value| {
        RequestError::parsing(format!(
            "Expected [START_OBJECT] in [indices_boost] but found [{}]",
            json::token(found)
        ))
    };
    let objects: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    };
    let mut boosts = Vec::new();
    for object in objects {
        let members = object.as_object().ok_or_else(|| malformed(object))?;
        if value.is_array() && members.len() != 1 {
            return Err(malformed(object));
        }
        for (index, boost) in members {
            boosts.push((index.clone(), json::float(boost)?));
        }
    }
    Ok(boosts)
}

pub(super) fn from(value: i32) -> Result<u32, RequestError> {
    u32::try_from(value).map_err(|_| {
        RequestError::illegal_argument(format!("[from] parameter cannot be negative but was [{value}]"))
    })
}

pub(super) fn size(value: i32) -> Result<u32, RequestError> {
    u32::try_from(value).map_err(|_| {
        RequestError::illegal_argument(format!("[size] parameter cannot be negative, found [{value}]"))
    })
}

pub(super) fn terminate_after(value: i32) -> Result<u32, RequestError> {
    u32::try_from(value).map_err(|_| RequestError::illegal_argument("terminateAfter must be > 0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Reasons recorded from Elasticsearch 8.19.13.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        for (body, reason) in [
            (json!({"foo": 1}), "Unknown key for a VALUE_NUMBER in [foo]."),
            (json!({"foo": {}}), "Unknown key for a START_OBJECT in [foo]."),
            (json!({"query": []}), "Unknown key for a START_ARRAY in [query]."),
            (json!([]), "Expected [START_OBJECT] but found [START_ARRAY]"),
            (json!({"size": -1}), "[size] parameter cannot be negative, found [-1]"),
            (json!({"from": -1}), "[from] parameter cannot be negative but was [-1]"),
            (json!({"size": "abc"}), "For input string: \"abc\""),
            (json!({"size": []}), "Unknown key for a START_ARRAY in [size]."),
            (
                json!({"track_total_hits": -5}),
                "[track_total_hits] parameter must be positive or equals to -1, got -5",
            ),
            (json!({"search_after": []}), "Values must contains at least one value."),
            (json!({"search_after": 5}), "Unknown key for a VALUE_NUMBER in [search_after]."),
            (json!({"terminate_after": -1}), "terminateAfter must be > 0"),
            (json!({"explain": "yes"}), "Failed to parse value [yes] as only [true] or [false] are allowed."),
            (
                json!({"search_after": [1], "from": 1}),
                "Validation Failed: 1: [from] parameter must be set to 0 when [search_after] is used;",
            ),
        ] {
            assert_eq!(
                SearchRequest::read(&body, &UrlParameters::default(), None).unwrap_err().reason,
                reason,
                "{body}"
            );
        }
    }

    #[test]
    fn the_url_overrides_the_body() {
        let url = [("size", "3"), ("track_total_hits", "true"), ("sort", "n:desc"), ("_source", "false")]
            .into_iter()
            .collect();
        let request = SearchRequest::read(&json!({"size": 7}), &url, None).unwrap();
        assert_eq!((request.size(), request.track_total_hits), (3, TrackTotalHits::Exact));
        assert_eq!((request.sort[0].field.as_str(), request.source.unwrap().fetch), ("n", false));
    }

    #[test]
    fn a_scroll_has_its_own_rules() {
        let request =
            SearchRequest::read(&json!({"size": 0, "from": 1}), &UrlParameters::default(), None).unwrap();
        assert_eq!(
            request.validate_scroll().unwrap_err().reason,
            "Validation Failed: 1: using [from] is not allowed in a scroll context;2: [size] cannot be [0] in a scroll context;"
        );
    }
}
