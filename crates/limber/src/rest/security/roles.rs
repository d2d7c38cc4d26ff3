//! `_security/role`.

use limber_access::{RESERVED_ROLES, RoleDescriptor, check_name, reserved_role};
use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::App;

use super::entry_query::{Query, ROLE};

pub(super) fn get(app: &App, request: &Request) -> Result<Response> {
    let store = app.node.security();
    let asked = request.list("name");
    let names: Vec<String> = match asked.is_empty() {
        true => RESERVED_ROLES
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .chain(store.roles.keys().map(str::to_owned))
            .collect(),
        false => asked.clone(),
    };
    let mut shown = Map::new();
    for name in names {
        limber_work::check()?;
        if let Some(role) = store.role(&name) {
            shown.insert(name, role.to_json());
        }
    }
    let status = if shown.is_empty() && !asked.is_empty() { 404 } else { 200 };
    Ok(Response::json(status, Value::Object(shown)))
}

pub(super) fn put(app: &App, request: &Request) -> Result<Response> {
    let name = request.path("name");
    check_role_name(name)?;
    let role = RoleDescriptor::parse(name, &request.json_required()?)?;
    let created = app.node.change_security(|store| Ok(store.roles.insert(name, role)))?;
    Ok(Response::ok(json!({"role": {"created": created}})))
}

/// Puts several roles. Invalid ones are listed as errors; all others are stored in one step.
///
/// Source: `TransportBulkPutRolesAction`.
pub(super) fn put_many(app: &App, request: &Request) -> Result<Response> {
    let body = request.json_required()?;
    let mut members = body.as_object().into_iter().flatten();
    let (Some(("roles", Value::Object(bodies))), None) =
        (members.next().map(|(key, value)| (key.as_str(), value)), members.next())
    else {
        return Err(RequestError::parsing("expected an object with the roles by name in [roles]"));
    };
    if bodies.is_empty() {
        return Err(RequestError::validation(["Roles must not be empty".to_owned()]));
    }
    let mut roles = Vec::new();
    let mut errors = Map::new();
    for (name, body) in bodies {
        match check_role_name(name).and_then(|()| RoleDescriptor::parse(name, body)) {
            Ok(role) => roles.push((name, role)),
            Err(error) => {
                errors.insert(name.clone(), json!({"type": error.kind, "reason": error.reason}));
            }
        }
    }
    let mut outcomes = Map::new();
    app.node.change_security(|store| {
        for (name, role) in roles {
            let outcome = match store.roles.get(name) {
                None => "created",
                Some(known) if *known == role => "noop",
                Some(_) => "updated",
            };
            store.roles.insert(name, role);
            note(&mut outcomes, outcome, name);
        }
        Ok(())
    })?;
    Ok(Response::ok(with_errors(outcomes, errors)))
}

/// Deletes several roles. Reserved ones are listed as errors.
///
/// Source: `TransportBulkDeleteRolesAction`.
pub(super) fn delete_many(app: &App, request: &Request) -> Result<Response> {
    let body = request.json_required()?;
    let mut members = body.as_object().into_iter().flatten();
    let (Some(("names", Value::Array(names))), None) =
        (members.next().map(|(key, value)| (key.as_str(), value)), members.next())
    else {
        return Err(RequestError::parsing("expected an object with the names of roles in [names]"));
    };
    let names: Vec<&str> = names
        .iter()
        .map(|name| name.as_str().ok_or_else(|| RequestError::parsing("the name of a role is a text")))
        .collect::<Result<_>>()?;
    let mut errors = Map::new();
    for name in names.iter().filter(|name| reserved_role(name).is_some()) {
        let reason = format!("role [{name}] is reserved and cannot be deleted");
        errors.insert((*name).to_owned(), json!({"type": "illegal_argument_exception", "reason": reason}));
    }
    let mut outcomes = Map::new();
    app.node.change_security(|store| {
        for name in names.iter().filter(|name| reserved_role(name).is_none()) {
            let outcome = if store.roles.remove(name) { "deleted" } else { "not_found" };
            note(&mut outcomes, outcome, name);
        }
        Ok(())
    })?;
    Ok(Response::ok(with_errors(outcomes, errors)))
}

fn note(outcomes: &mut Map<String, Value>, outcome: &str, name: &str) {
    if let Value::Array(names) = outcomes.entry(outcome).or_insert_with(|| json!([])) {
        names.push(name.into());
    }
}

fn with_errors(mut outcomes: Map<String, Value>, errors: Map<String, Value>) -> Value {
    if !errors.is_empty() {
        outcomes.insert("errors".to_owned(), json!({"count": errors.len(), "details": errors}));
    }
    Value::Object(outcomes)
}

/// Queries the roles, without reserved ones. Source: `TransportQueryRoleAction`.
pub(super) fn query(app: &App, request: &Request) -> Result<Response> {
    let query = Query::parse(&request.json()?.unwrap_or_else(|| json!({})), &ROLE)?;
    let store = app.node.security();
    let shown = store.roles.iter().map(|(name, role)| {
        let mut shown = role.to_json();
        shown["name"] = name.into();
        shown
    });
    Ok(Response::ok(query.answer(shown, "roles")?))
}

pub(super) fn delete(app: &App, request: &Request) -> Result<Response> {
    let name = request.path("name");
    if reserved_role(name).is_some() {
        return Err(RequestError::illegal_argument(format!(
            "role [{name}] is reserved and cannot be deleted"
        )));
    }
    let found = app.node.change_security(|store| Ok(store.roles.remove(name)))?;
    Ok(Response::json(if found { 200 } else { 404 }, json!({"found": found})))
}

/// Checks that a role may have this name.
fn check_role_name(name: &str) -> Result<()> {
    check_name("Role", name)?;
    if reserved_role(name).is_some() {
        return Err(RequestError::validation([format!("Role [{name}] is reserved and may not be used.")]));
    }
    Ok(())
}
