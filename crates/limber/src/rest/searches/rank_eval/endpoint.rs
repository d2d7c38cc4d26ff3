//! The endpoint: runs the searches one after the other and evaluates their hits.

use std::collections::HashMap;

use limber_engine::{IndicesOptions, Placement, Result};
use limber_mapping::RequestError;
use limber_search::Rendering;
use limber_work as work;
use serde_json::{Map, Value, json};

use super::request::{RankEvalRequest, RatedRequest};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::{Response, error_body};
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::searches::search::refused;
use crate::rest::searches::search_template::stored;
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = with_indices_options!["search_type"];
const BOTH: &[Method] = &[Method::Get, Method::Post];

const fn route(path: &'static str) -> Route {
    Route { methods: BOTH, path, parameters: PARAMETERS, pool: PoolName::Search, handler: rank_eval }
}

/// The endpoints of this file (`_rank_eval`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[route("/_rank_eval"), route("/{index}/_rank_eval")];

fn rank_eval(app: &App, request: &Request) -> Result<Response> {
    let Some(body) = request.json()? else {
        return Err(RequestError::bad_request(
            "parse_exception",
            "request body or source parameter is required",
        ));
    };
    let counts_all_shards = match request.param("search_type") {
        None | Some("query_then_fetch") => false,
        Some("dfs_query_then_fetch") => true,
        Some(other) => return Err(RequestError::illegal_argument(format!("No search type for [{other}]"))),
    };
    let mut wanted = RankEvalRequest::parse(body, &|id| stored(app, id))?;
    for rated in &mut wanted.requests {
        rated.search.counts_all_shards = counts_all_shards;
    }
    let options = indices_options(request, IndicesOptions::SEARCH)?;
    let (mut details, mut failures) = (Map::new(), Map::new());
    let mut scores: Vec<f64> = Vec::new();
    for rated in &wanted.requests {
        // The details are held until the last search is done, so the deadline is checked before each.
        work::check_beyond_deadline()?;
        let index = request.param("index").unwrap_or("_all");
        let found = app.node.search(
            index,
            options,
            Placement::default(),
            &rated.search,
            None,
            request.cancelled.clone(),
        );
        match found {
            Ok((found, _)) => {
                let mut found = found.to_json(&Rendering::default()).map_err(|error| refused(&error))?;
                let hits = found["hits"]["hits"].take();
                let (score, shown) = rate(&wanted, rated, hits);
                scores.push(score);
                details.insert(rated.id.clone(), shown);
            }
            Err(error) => {
                let error = error_body(&refused(&error))["error"].take();
                failures.insert(rated.id.clone(), json!({"error": error}));
            }
        }
    }
    let score = match scores.len() {
        0 => "NaN".into(),
        count => json!(scores.iter().sum::<f64>() / count as f64),
    };
    Ok(Response::ok(json!({"metric_score": score, "details": details, "failures": failures})))
}

/// Returns the score of one search's hits, and the details of how it was computed.
fn rate(wanted: &RankEvalRequest, rated: &RatedRequest, hits: Value) -> (f64, Value) {
    let Value::Array(hits) = hits else { return (0.0, Value::Null) };
    let by_document: HashMap<(&str, &str), i64> =
        rated.ratings.iter().map(|rating| ((&*rating.index, &*rating.id), rating.rating)).collect();
    let rating_of = |hit: &Value| {
        let (index, id) = (hit["_index"].as_str()?, hit["_id"].as_str()?);
        by_document.get(&(index, id)).copied()
    };
    let ratings: Vec<Option<i64>> = hits.iter().map(rating_of).collect();
    let all: Vec<i64> = rated.ratings.iter().map(|rating| rating.rating).collect();
    let score = wanted.metric.score(&ratings, &all);
    let unrated: Vec<Value> = hits
        .iter()
        .zip(&ratings)
        .filter(|(_, rating)| rating.is_none())
        .map(|(hit, _)| json!({"_index": hit["_index"], "_id": hit["_id"]}))
        .collect();
    let shown: Vec<Value> =
        hits.into_iter().zip(ratings).map(|(hit, rating)| json!({"hit": hit, "rating": rating})).collect();
    let entry = json!({
        "metric_score": score.value,
        "unrated_docs": unrated,
        "hits": shown,
        "metric_details": score.details,
    });
    (score.value, entry)
}
