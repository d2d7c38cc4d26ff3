//! `_security/privilege`: privileges of applications, which Limber stores and compares without knowing their
//! meaning; and the list of the built-in privileges.

use limber_access::{CLUSTER_PRIVILEGES, INDEX_PRIVILEGES, privilege_key};
use limber_engine::Result;
use limber_mapping::{RequestError, claim_tree};
use serde_json::{Map, Value, json};

use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::App;

/// Maximum number of actions of a privilege.
const ACTIONS_MAX: usize = 1_000;

pub(super) fn builtin(_: &App, _: &Request) -> Result<Response> {
    let cluster: Vec<&str> = CLUSTER_PRIVILEGES.iter().map(|privilege| privilege.name).collect();
    let index: Vec<&str> = INDEX_PRIVILEGES.iter().map(|privilege| privilege.name).collect();
    // Roles cannot have privileges on remote clusters.
    Ok(Response::ok(json!({"cluster": cluster, "index": index, "remote_cluster": []})))
}

pub(super) fn get(app: &App, request: &Request) -> Result<Response> {
    let store = app.node.security();
    let (applications, names) = (request.list("application"), request.list("privilege"));
    let is_in = |list: &[String], name: &str| list.is_empty() || list.iter().any(|one| one == name);
    let mut shown = Map::new();
    for (_, body) in store.privileges.iter() {
        limber_work::check()?;
        let text = |member: &str| body[member].as_str().unwrap_or_default();
        let (application, name) = (text("application"), text("name"));
        if is_in(&applications, application) && is_in(&names, name) {
            claim_tree(body)?;
            let found = shown.entry(application).or_insert_with(|| json!({}));
            found[name] = body.clone();
        }
    }
    let status = if shown.is_empty() && !(applications.is_empty() && names.is_empty()) { 404 } else { 200 };
    Ok(Response::json(status, Value::Object(shown)))
}

pub(super) fn put(app: &App, request: &Request) -> Result<Response> {
    let body = request.json_required()?;
    let mut given = Vec::new();
    for (application, privileges) in body.as_object().into_iter().flatten() {
        for (name, privilege) in privileges.as_object().into_iter().flatten() {
            claim_tree(privilege)?;
            given.push((application.clone(), name.clone(), checked(application, name, privilege)?));
        }
    }
    if given.is_empty() {
        return Err(RequestError::validation(["At least one application privilege must be provided"]));
    }
    let created = app.node.change_security(|store| {
        let mut created = Map::new();
        for (application, name, privilege) in given {
            let is_new = store.privileges.insert(&privilege_key(&application, &name), privilege);
            created.entry(application).or_insert_with(|| json!({}))[&name] = json!({"created": is_new});
        }
        Ok(created)
    })?;
    Ok(Response::ok(Value::Object(created)))
}

fn checked(application: &str, name: &str, privilege: &Value) -> Result<Value> {
    let bad = |why: &str| {
        RequestError::parsing(format!("failed to parse privilege [{name}] of [{application}]: {why}"))
    };
    let object = privilege.as_object().ok_or_else(|| bad("expected an object"))?;
    if let Some(unknown) =
        object.keys().find(|key| !["actions", "metadata", "application", "name"].contains(&key.as_str()))
    {
        return Err(bad(&format!("unexpected field [{unknown}]")));
    }
    let actions = object.get("actions").and_then(Value::as_array).filter(|actions| !actions.is_empty());
    let actions = actions.filter(|actions| actions.iter().all(Value::is_string));
    let actions = actions
        .ok_or_else(|| RequestError::validation(["Application privileges must have at least one action"]))?;
    if actions.len() > ACTIONS_MAX {
        return Err(RequestError::illegal_argument(format!(
            "privilege [{name}] of [{application}] has more than the maximum of [{ACTIONS_MAX}] actions"
        )));
    }
    let metadata = match object.get("metadata") {
        None => Map::new(),
        Some(Value::Object(metadata)) => metadata.clone(),
        Some(_) => return Err(bad("[metadata] must be an object")),
    };
    limber_access::check_metadata_size(&metadata)?;
    Ok(json!({"application": application, "name": name, "actions": actions, "metadata": metadata}))
}

pub(super) fn delete(app: &App, request: &Request) -> Result<Response> {
    let (application, names) = (request.path("application"), request.list("privilege"));
    let found = app.node.change_security(|store| {
        let mut found = Map::new();
        for name in names {
            let is_there = store.privileges.remove(&privilege_key(application, &name));
            found.insert(name, json!({"found": is_there}));
        }
        Ok(found)
    })?;
    let is_any = found.values().any(|one| one["found"] == true);
    Ok(Response::json(if is_any { 200 } else { 404 }, json!({application: found})))
}
