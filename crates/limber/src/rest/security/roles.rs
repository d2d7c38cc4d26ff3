//! `_security/role`.

use limber_access::{RESERVED_ROLES, RoleDescriptor, reserved_role};
use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::App;

const NAME_LENGTH_MAX: usize = 507;

pub(super) fn get(app: &App, request: &Request) -> Result<Response> {
    let store = app.node.security();
    let asked = request.list("name");
    let names: Vec<String> = match asked.is_empty() {
        true => RESERVED_ROLES
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .chain(store.roles.keys().cloned())
            .collect(),
        false => asked.clone(),
    };
    let shown: Map<String, Value> =
        names.into_iter().filter_map(|name| Some((name.clone(), store.role(&name)?.to_json()))).collect();
    let status = if shown.is_empty() && !asked.is_empty() { 404 } else { 200 };
    Ok(Response::json(status, Value::Object(shown)))
}

pub(super) fn put(app: &App, request: &Request) -> Result<Response> {
    let name = request.path("name");
    check_name(name)?;
    let role = RoleDescriptor::parse(name, &request.json_required()?)?;
    let created =
        app.node.change_security(|store| Ok(store.roles.insert(name.to_owned(), role).is_none()))?;
    Ok(Response::ok(json!({"role": {"created": created}})))
}

pub(super) fn delete(app: &App, request: &Request) -> Result<Response> {
    let name = request.path("name");
    if reserved_role(name).is_some() {
        return Err(RequestError::illegal_argument(format!(
            "role [{name}] is reserved and cannot be deleted"
        )));
    }
    let found = app.node.change_security(|store| Ok(store.roles.remove(name).is_some()))?;
    Ok(Response::json(if found { 200 } else { 404 }, json!({"found": found})))
}

fn check_name(name: &str) -> Result<()> {
    let is_valid = name.len() <= NAME_LENGTH_MAX
        && name.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && name.trim() == name;
    if reserved_role(name).is_some() {
        return Err(RequestError::validation([format!("role [{name}] is reserved and may not be used.")]));
    }
    match is_valid && !name.is_empty() {
        true => Ok(()),
        false => Err(RequestError::validation([format!(
            "Role names must be at least 1 and no more than {NAME_LENGTH_MAX} characters. They can contain alphanumeric characters (a-z, \
             A-Z, 0-9), spaces, punctuation, and printable symbols in the Basic Latin (ASCII) block. Leading or trailing whitespace is not \
             allowed."
        )])),
    }
}
