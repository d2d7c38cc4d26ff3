//! `_security/oauth2/token`: short-lived tokens, which Limber does not have.

use limber_engine::Result;
use limber_mapping::RequestError;

use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::App;

pub(super) fn refuse(_: &App, _: &Request) -> Result<Response> {
    Err(RequestError::unsupported("the API [/_security/oauth2/token]: make an API key instead"))
}
