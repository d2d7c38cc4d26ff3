//! Who the caller is, and what the caller may do.

use limber_access::{Rights, RoleDescriptor};
use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::caller::{caller, check_may};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::App;

/// Maximum number of names in one request.
const NAMES_MAX: usize = 10_000;
/// Maximum length of a name, privilege or resource that `_has_privileges` is asked for.
const NAME_BYTES_MAX: usize = 1_000;

pub(super) fn authenticate(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(caller()?.identity.to_json()))
}

/// Does nothing: there are no caches that could be stale.
pub(super) fn clear_cache(app: &App, _: &Request) -> Result<Response> {
    let node = json!({app.node.node_id(): {"name": app.node.config().node_name}});
    Ok(Response::ok(json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": app.node.config().cluster_name,
        "nodes": node,
    })))
}

pub(super) fn privileges(app: &App, _: &Request) -> Result<Response> {
    let access = caller()?;
    if access.identity.is_api_key() {
        return Err(RequestError::illegal_argument(
            "Cannot retrieve privileges for API keys with assigned role descriptors. Please use the Get API key information API",
        ));
    }
    let roles: Vec<RoleDescriptor> =
        app.node.security().limiting_roles(&access.identity)?.into_iter().map(|(_, role)| role).collect();
    let texts = |of: fn(&RoleDescriptor) -> &Vec<String>| {
        let mut all: Vec<String> = roles.iter().flat_map(of).cloned().collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let indices: Vec<Value> = roles.iter().flat_map(|role| &role.indices).map(shown_entry).collect();
    let applications: Vec<&Value> = roles.iter().flat_map(|role| &role.applications).collect();
    Ok(Response::ok(json!({
        "cluster": texts(|role| &role.cluster),
        "global": [],
        "indices": indices,
        "applications": applications,
        "run_as": texts(|role| &role.run_as),
    })))
}

/// Renders an entry like `GetUserPrivilegesResponse`: field rules and queries are lists, because several
/// roles may contribute to them.
fn shown_entry(entry: &limber_access::IndexEntry) -> Value {
    let mut shown = json!({"names": entry.names, "privileges": entry.privileges});
    if let Some(rule) = &entry.fields {
        shown["field_security"] = match rule.except.is_empty() {
            true => json!([{"grant": rule.grant}]),
            false => json!([{"grant": rule.grant, "except": rule.except}]),
        };
    }
    if let Some(query) = &entry.query {
        shown["query"] = json!([query]);
    }
    shown["allow_restricted_indices"] = entry.allow_restricted_indices.into();
    shown
}

pub(super) fn has_privileges(_: &App, request: &Request) -> Result<Response> {
    let access = caller()?;
    if let Some(name) = request.param("username").filter(|name| *name != access.identity.username) {
        check_may(&access, "cluster:admin/xpack/security/user/put")?;
        return Err(RequestError::unsupported(format_args!(
            "the privileges of another user [{name}]: act as that user by [es-security-runas-user]"
        )));
    }
    let body = request.json_required()?;
    if let Some(unknown) = body
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key)
        .find(|key| !["cluster", "index", "application"].contains(&key.as_str()))
    {
        return Err(RequestError::parsing(format!(
            "failed to parse privilege check. unexpected field [{unknown}]"
        )));
    }
    let rights = &access.rights;
    let mut cluster = Map::new();
    for privilege in texts(&body["cluster"])? {
        limber_work::check()?;
        let has = rights.has_cluster_privilege(&privilege);
        cluster.insert(privilege, has.into());
    }
    let index = index_checks(rights, &body["index"])?;
    let application = application_checks(rights, &body["application"])?;
    if cluster.is_empty() && index.is_empty() && application.is_empty() {
        return Err(RequestError::validation(["must specify at least one privilege"]));
    }
    let has_all = [&cluster, &index, &application].into_iter().all(has_all);
    let mut answer = json!({"username": access.identity.username, "has_all_requested": has_all});
    // Moved, because the macro would copy these trees.
    for (name, checks) in [("cluster", cluster), ("index", index), ("application", application)] {
        answer[name] = Value::Object(checks);
    }
    Ok(Response::ok(answer))
}

fn has_all(answers: &Map<String, Value>) -> bool {
    answers.values().all(|answer| match answer {
        Value::Object(inner) => has_all(inner),
        other => *other == true,
    })
}

fn index_checks(rights: &Rights, asked: &Value) -> Result<Map<String, Value>> {
    let mut answers = Map::new();
    for check in asked.as_array().into_iter().flatten() {
        let allow_restricted = check["allow_restricted_indices"] == true;
        for name in texts(&check["names"])? {
            let answer = answers.entry(name.clone()).or_insert_with(|| json!({}));
            for privilege in texts(&check["privileges"])? {
                limber_work::check()?;
                answer[&privilege] = rights.has_index_privilege(&privilege, &name, allow_restricted).into();
            }
        }
    }
    Ok(answers)
}

fn application_checks(rights: &Rights, asked: &Value) -> Result<Map<String, Value>> {
    let mut answers = Map::new();
    for check in asked.as_array().into_iter().flatten() {
        let Some(application) = check["application"].as_str() else {
            return Err(RequestError::parsing("[application] must be a string"));
        };
        let of_application = answers.entry(application.to_owned()).or_insert_with(|| json!({}));
        for resource in texts(&check["resources"])? {
            if of_application.get(&resource).is_none() {
                of_application[&resource] = json!({});
            }
            for privilege in texts(&check["privileges"])? {
                limber_work::check()?;
                let has = rights.has_application_privilege(application, &privilege, &resource);
                of_application[&resource][&privilege] = has.into();
            }
        }
    }
    Ok(answers)
}

fn texts(value: &Value) -> Result<Vec<String>> {
    let bad = || RequestError::parsing(format!("expected a list of at most [{NAMES_MAX}] strings"));
    // Each is compared with the patterns of all roles.
    let text = |item: &Value| match item.as_str() {
        Some(text) if text.len() > NAME_BYTES_MAX => Err(RequestError::illegal_argument(format!(
            "a name of [{}] bytes is longer than the maximum of [{NAME_BYTES_MAX}]",
            text.len()
        ))),
        Some(text) => Ok(text.to_owned()),
        None => Err(bad()),
    };
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(_) => Ok(vec![text(value)?]),
        Value::Array(items) if items.len() <= NAMES_MAX => items.iter().map(text).collect(),
        _ => Err(bad()),
    }
}
