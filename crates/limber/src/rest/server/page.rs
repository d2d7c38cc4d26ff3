//! The page for browsers, and the data it needs besides Elasticsearch's API: words of the console, slow
//! requests, races of this machine.

use limber_engine::Result;
use limber_mapping::{ErrorClass, RequestError};
use limber_race::StoreError;

use crate::http::request::{Method, Request};
use crate::http::response::{BARE, Response};
use crate::page::{document, races, words};
use crate::rest::router::{COMMON_PARAMETERS, generic, management};
use crate::rest::{App, ROUTES as ALL, Route};

/// The endpoints of this file (`_page`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    management(&[Method::Get], "/_page/words", &[], console_words),
    management(&[Method::Get], "/_page/slow_requests", &[], slow_requests),
    generic(&[Method::Get], "/_page/races", &[], list_races),
    generic(&[Method::Get], "/_page/races/{race}/report", &[], race_report),
];

/// Returns the page itself, for a browser's `GET /`.
pub(in crate::rest) fn page() -> Response {
    html(document::html().to_owned(), document::headers())
}

fn html(text: String, headers: Vec<(&'static str, String)>) -> Response {
    let mut response = Response::document("text/html; charset=utf-8", text.into_bytes());
    response.headers = headers;
    response
}

/// Returns the words of the console as JSON, from the tables of this crate and of the search crate.
pub fn words_of_routes() -> serde_json::Value {
    // Endpoints that Limber lacks are not proposed.
    let is_there = |route: &&Route| !crate::rest::absent::is_refusal(route);
    let routes = ALL.iter().flat_map(|table| table.iter()).filter(is_there);
    let of_route = |route: &'static Route| {
        let methods = route.methods.iter().map(|method| method.name()).collect();
        (methods, route.path, route.parameters)
    };
    words::words(routes.map(of_route), &COMMON_PARAMETERS)
}

fn check_enabled(app: &App, request: &Request) -> Result<()> {
    match app.config.is_page_enabled {
        true => Ok(()),
        false => {
            let reason = format!("no handler found for uri [{}] and method [GET]", request.uri);
            Err(RequestError::bad_request(BARE, reason))
        }
    }
}

fn console_words(app: &App, request: &Request) -> Result<Response> {
    check_enabled(app, request)?;
    Ok(Response::ok(words_of_routes()))
}

fn slow_requests(app: &App, request: &Request) -> Result<Response> {
    check_enabled(app, request)?;
    Ok(Response::ok(app.slow_requests.show()))
}

fn of_store(error: &StoreError) -> RequestError {
    let (class, kind) = match error {
        StoreError::NotFound(_) => (ErrorClass::NotFound, "resource_not_found_exception"),
        StoreError::InvalidId(_) => (ErrorClass::BadRequest, "illegal_argument_exception"),
        _ => (ErrorClass::Internal, "exception"),
    };
    RequestError::new(class, kind, error.to_string())
}

fn list_races(app: &App, request: &Request) -> Result<Response> {
    check_enabled(app, request)?;
    Ok(Response::ok(races::list().map_err(|error| of_store(&error))?))
}

fn race_report(app: &App, request: &Request) -> Result<Response> {
    check_enabled(app, request)?;
    let report = races::report(request.path("race")).map_err(|error| of_store(&error))?;
    Ok(html(report, document::report_headers()))
}
