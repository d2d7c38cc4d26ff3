//! `GET /_cat`: the list of tables.

use limber_engine::Result;

use super::{App, ROUTES};
use crate::http::request::Request;
use crate::http::response::Response;

/// Answers `GET _cat`: the list of tables.
pub fn help(_app: &App, _request: &Request) -> Result<Response> {
    let mut out = String::from("=^.^=\n");
    for route in ROUTES.iter().skip(1) {
        out.push_str(route.path);
        out.push('\n');
    }
    Ok(Response::text(out))
}
