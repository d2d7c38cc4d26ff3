//! `_security/role_mapping`.

use limber_access::RoleMapping;
use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::App;

pub(super) fn get(app: &App, request: &Request) -> Result<Response> {
    let store = app.node.security();
    let asked = request.list("name");
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|one| one == name);
    let mut shown = Map::new();
    for (name, mapping) in store.role_mappings.iter().filter(|(name, _)| is_asked(name)) {
        limber_work::check()?;
        shown.insert(name.to_owned(), mapping.to_json());
    }
    let status = if shown.is_empty() && !asked.is_empty() { 404 } else { 200 };
    Ok(Response::json(status, Value::Object(shown)))
}

/// Validates the mapping and then refuses it: mappings give roles to users of other realms, such as LDAP or
/// SAML, and there are none. Mappings stored by an earlier build are shown and can be deleted.
pub(super) fn put(_: &App, request: &Request) -> Result<Response> {
    RoleMapping::parse(request.path("name"), &request.json_required()?)?;
    let what = "[role_mapping]: it gives roles to users of other realms, and there is none but [native]; name the roles in the user";
    Err(RequestError::unsupported(what))
}

pub(super) fn delete(app: &App, request: &Request) -> Result<Response> {
    let name = request.path("name");
    let found = app.node.change_security(|store| Ok(store.role_mappings.remove(name)))?;
    Ok(Response::json(if found { 200 } else { 404 }, json!({"found": found})))
}
