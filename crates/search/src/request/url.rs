//! Search parameters in the URL: "what does the query string add to the body, or override in it?"

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::Value;

use super::suggest::Suggest;
use super::{FieldFormat, SearchRequest, Sort, StoredFields, TrackTotalHits};
use crate::source::SourceFilter;
use crate::values::json;

/// The parameters of a `_search` URL, decoded, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UrlParameters(pub Vec<(String, String)>);

impl UrlParameters {
    /// Returns the value of a parameter; if there are several of the name, the last one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the cache key of a request: equal for requests with equal answers of a shard. `None` if the
    /// answer depends on more than the documents.
    pub(super) fn cache_key(&self, body: &Value) -> Option<Arc<[u8]>> {
        /// Parameters that only affect where to search or how to show the answer.
        const ELSEWHERE: &[&str] = &[
            "allow_no_indices",
            "allow_partial_search_results",
            "batched_reduce_size",
            "cancel_after_time_interval",
            "error_trace",
            "expand_wildcards",
            "filter_path",
            "human",
            "ignore_unavailable",
            "pre_filter_shard_size",
            "preference",
            "pretty",
            "request_cache",
            "rest_total_hits_as_int",
            "routing",
            "typed_keys",
        ];
        let mut parameters: Vec<&(String, String)> =
            self.0.iter().filter(|(name, _)| !ELSEWHERE.contains(&name.as_str())).collect();
        parameters.sort_unstable();
        if parameters.iter().any(|(_, value)| !super::determinism::is_timeless(value)) {
            return None;
        }
        // The order of the members does not matter; the order inside of them may matter to the answer.
        let members: BTreeMap<&String, &Value> = body.as_object().into_iter().flatten().collect();
        serde_json::to_vec(&(members, parameters)).ok().map(Arc::from)
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for UrlParameters {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> UrlParameters {
        UrlParameters(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

/// Lets the search fail after a time, unless it times out before.
fn cancel_after(request: &mut SearchRequest, value: &str) -> Result<(), RequestError> {
    let millis = json::time_millis(value, "cancel_after_time_interval")?.filter(|millis| *millis > 0);
    if let Some(millis) = millis
        && request.timeout_millis.is_none_or(|timeout| millis <= timeout)
    {
        (request.timeout_millis, request.allows_partial) = (Some(millis), Some(false));
    }
    Ok(())
}

fn apply_search_type(request: &mut SearchRequest, value: &str) -> Result<(), RequestError> {
    match value {
        "query_then_fetch" => {}
        "dfs_query_then_fetch" => request.counts_all_shards = true,
        other => return Err(RequestError::illegal_argument(format!("No search type for [{other}]"))),
    }
    Ok(())
}

/// Applies the URL's parameters to the request, as Elasticsearch's `RestSearchAction` does. Parameters that
/// the caller handles (`scroll`, `routing`, `preference`, `ignore_unavailable`, ...) are ignored.
pub(super) fn apply(request: &mut SearchRequest, url: &UrlParameters) -> Result<(), RequestError> {
    let mut filter: Option<SourceFilter> = None;
    for (name, value) in &url.0 {
        match name.as_str() {
            "q" => request.query = crate::query::from_url(|name| url.get(name))?,
            "from" => request.from = Some(super::body::from(int(name, value)?)?),
            "size" => request.size = Some(super::body::size(int(name, value)?)?),
            "explain" => request.explain = flag(value)?,
            "version" => request.version = flag(value)?,
            "seq_no_primary_term" => request.seq_no_primary_term = flag(value)?,
            "force_synthetic_source" => request.forces_source = flag(value)?,
            "include_named_queries_score" => request.named_scores = flag(value)?,
            "track_scores" => request.track_scores = flag(value)?,
            "pre_filter_shard_size" => {
                request.pre_filter_shard_size =
                    u32::try_from(int(name, value)?).ok().filter(|size| *size > 0);
            }
            // The caller refuses sizes that are too small.
            "batched_reduce_size" => {
                request.batched_reduce_size = u32::try_from(int(name, value)?).ok();
            }
            "request_cache" => request.request_cache = Some(flag(value)?),
            "allow_partial_search_results" => request.allows_partial = Some(flag(value)?),
            "stats" => request.stats_groups = split(value).collect(),
            "typed_keys" => request.typed_keys = flag(value)?,
            "timeout" => request.timeout_millis = json::time_millis(value, "timeout")?,
            // OpenSearch's: the search fails after this time.
            "cancel_after_time_interval" => cancel_after(request, value)?,
            "terminate_after" => request.terminate_after = super::body::terminate_after(int(name, value)?)?,
            "sort" => request.sort.extend(Sort::parse_url(value)),
            "track_total_hits" => request.track_total_hits = track_total_hits(value)?,
            "stored_fields" => {
                request.stored_fields =
                    Some(StoredFields::parse_names(value.split(',').map(str::to_owned).collect())?)
            }
            "docvalue_fields" => {
                request.docvalue_fields.extend(split(value).map(FieldFormat::of));
            }
            "_source" => {
                let filter = filter.get_or_insert_default();
                match value.as_str() {
                    "true" => filter.fetch = true,
                    "false" => filter.fetch = false,
                    patterns => filter.includes = split(patterns).collect(),
                }
            }
            "_source_includes" => filter.get_or_insert_default().includes = split(value).collect(),
            "_source_excludes" => filter.get_or_insert_default().excludes = split(value).collect(),
            // Has no effect, like `exclude_vectors` in the body: there are no vector fields.
            "_source_exclude_vectors" => drop(flag(value)?),
            "search_type" => apply_search_type(request, value)?,
            "verbose_pipeline" => request.verbose_pipeline = flag(value)?,
            "search_pipeline" => {
                if request.pipeline.as_ref().is_some_and(Value::is_object) {
                    return Err(RequestError::illegal_argument(
                        "Both named and inline search pipeline were specified. Please only specify one or the other.",
                    ));
                }
                request.pipeline = Some(value.as_str().into());
            }
            "suggest_field" => request.suggest = Some(Arc::new(suggest(value, url)?)),
            _ => {}
        }
    }
    if filter.is_some() {
        request.source = filter;
    }
    Ok(())
}

/// Builds the term suggester that the URL requests. Source: `RestSearchAction#parseSearchSource`.
fn suggest(field: &str, url: &UrlParameters) -> Result<Suggest, RequestError> {
    let text = url.get("suggest_text").or_else(|| url.get("q"));
    let size = url.get("suggest_size").map(|size| int("suggest_size", size)).transpose()?;
    let mode = url.get("suggest_mode").unwrap_or("missing");
    Suggest::parse(&serde_json::json!({
        field: {"text": text, "term": {"field": field, "size": size.unwrap_or(5), "suggest_mode": mode}}
    }))
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned)
}

fn int(name: &str, text: &str) -> Result<i32, RequestError> {
    text.parse().map_err(|_| {
        RequestError::illegal_argument(format!("Failed to parse int parameter [{name}] with value [{text}]"))
            .caused_by(json::number_format(text))
    })
}

fn flag(text: &str) -> Result<bool, RequestError> {
    if text.is_empty() { Ok(true) } else { json::boolean(&Value::String(text.to_owned())) }
}

fn track_total_hits(text: &str) -> Result<TrackTotalHits, RequestError> {
    match text {
        "true" | "" => Ok(TrackTotalHits::Exact),
        "false" => Ok(TrackTotalHits::None),
        number => TrackTotalHits::up_to(int("track_total_hits", number)?),
    }
}
