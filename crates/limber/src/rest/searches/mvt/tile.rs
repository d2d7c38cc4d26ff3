//! The endpoint `_mvt`: turns the request into a search, and the search's response into a tile.

use limber_engine::{IndicesOptions, Result};
use limber_search::{SearchRequest, UrlParameters};
use serde_json::Value;

use super::asked::Asked;
use super::layers::tile_of;
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::searches::search::{beginning, placement, refused};
use crate::rest::{App, Route};

/// The endpoint of this folder (`_mvt`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[Route {
    methods: &[Method::Get, Method::Post],
    path: "/{index}/_mvt/{field}/{zoom}/{x}/{y}",
    parameters: &[
        "buffer",
        "exact_bounds",
        "extent",
        "grid_agg",
        "grid_precision",
        "grid_type",
        "size",
        "track_total_hits",
        "with_labels",
    ],
    pool: PoolName::Search,
    handler: tile,
}];

fn tile(app: &App, request: &Request) -> Result<Response> {
    let given = request.json()?.unwrap_or(Value::Null);
    let asked = Asked::parse(request, &given)?;
    let body = asked.search_body()?;
    let parsed = SearchRequest {
        text: Some(beginning(&request.body)),
        ..SearchRequest::parse(&body, &UrlParameters(Vec::new()))?
    };
    app.search_usage.note(&body);
    let index = request.path("index");
    let cancelled = request.cancelled.clone();
    let options = IndicesOptions::SEARCH;
    let (found, _) = app
        .node
        .search(index, options, placement(request), &parsed, None, cancelled)
        .map_err(|error| refused(&error))?;
    Ok(Response::document("application/vnd.mapbox-vector-tile", tile_of(&asked, found)?))
}
