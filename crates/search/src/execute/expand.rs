//! The documents of each hit's group: "what else has the same value as this hit?"
//!
//! Source: Elasticsearch's `ExpandSearchPhase`: each group is searched separately, within the search's
//! query.

use limber_mapping::RequestError;
use limber_work as work;
use serde_json::{Value, json};

use super::execute;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::query::{JoinedHits, Query, within};
use crate::request::{self, SearchRequest, read_query};
use crate::response::{InnerHits, SearchHit, SearchResponse};

/// Adds the inner hits of `collapse` to the hits of the response.
///
/// # Errors
/// One of the searches failed: `failed to expand hits`.
pub(crate) fn expand(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    response: &mut SearchResponse,
    context: &SearchContext,
) -> Result<()> {
    let (Some(collapse), Some(field)) = (&request.collapse, request.collapse_field()) else {
        return Ok(());
    };
    for hit in &mut response.hits {
        for wanted in &collapse.inner_hits {
            work::check_beyond_deadline()?;
            let query = of_group(request.query.clone(), field, hit)?;
            let group = SearchRequest {
                query: Some(query),
                post_filter: request.post_filter.clone(),
                allows_partial: request.allows_partial,
                ..wanted.request.clone()
            };
            let found = execute(shards, &group, context).map_err(failed)?;
            response.timed_out |= found.timed_out;
            response.charges.extend(found.charges);
            let inner = InnerHits {
                name: wanted.name.clone().unwrap_or_default(),
                total: found.total.unwrap_or_default(),
                max_score: found.max_score,
                hits: found.hits,
            };
            // If several inner hits have the same name, the last one is shown.
            hit.inner_hits.retain(|other| other.name != inner.name);
            hit.inner_hits.push(inner);
        }
    }
    Ok(())
}

/// Adds the joined documents (parents or children) to the hits that refer to them.
///
/// # Errors
/// One of the searches failed.
pub(crate) fn add_joined(response: &mut SearchResponse, context: &SearchContext) -> Result<()> {
    for hit in &mut response.hits {
        for (wanted, parent) in std::mem::take(&mut hit.joined.0) {
            work::check_beyond_deadline()?;
            let Ok(wanted) = wanted.downcast::<JoinedHits>() else { continue };
            let mut inner = InnerHits { name: wanted.name.clone(), ..InnerHits::default() };
            if let Some(parent) = parent {
                let shown = &request::InnerHits::kept_in(&*wanted.request).request;
                let request = SearchRequest { query: Some(wanted.query_of(&parent)?), ..shown.clone() };
                let found = execute(std::slice::from_ref(&wanted.shard), &request, context)?;
                response.timed_out |= found.timed_out;
                response.charges.extend(found.charges);
                inner.total = found.total.unwrap_or_default();
                inner.max_score = found.max_score.filter(|_| inner.total.value > 0);
                inner.hits = found.hits;
            }
            hit.inner_hits.push(inner);
        }
    }
    Ok(())
}

/// Builds the query for the documents of a hit's group among those of `query`; without a query, none has a
/// score.
fn of_group(query: Option<Query>, field: &str, hit: &SearchHit) -> Result<Query> {
    let value = hit.fields.as_ref().and_then(|fields| fields.get(field)?.get(0));
    let filter = match value {
        Some(value) => json!({"match": {field: {"query": value}}}),
        None => json!({"bool": {"must_not": {"exists": {"field": field}}}}),
    };
    Ok(match query {
        Some(query) => within(Some(query), read_query(&filter)?),
        None => read_query(&json!({"bool": {"filter": filter}}))?,
    })
}

fn failed(error: Error) -> Error {
    match error {
        Error::Request(_) | Error::AllShardsFailed { .. } | Error::SomeShardsFailed { .. } => {
            let cause = error.to_request_error();
            RequestError::new(cause.class, "search_phase_execution_exception", "failed to expand hits")
                .with("phase", "expand")
                .with("grouped", true)
                .with("failed_shards", Value::Array(Vec::new()))
                .caused_by(cause)
                .into()
        }
        other => other,
    }
}
