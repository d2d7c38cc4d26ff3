//! `_tasks`: lists running tasks, waits for them and cancels them.

use std::sync::Arc;

use limber_engine::{Result, Task};
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::nodes::{ROLES, attributes};
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::human::with_words;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const LIST: &[&str] =
    &["actions", "detailed", "group_by", "nodes", "parent_task_id", "timeout", "wait_for_completion"];

/// The action of the list request itself.
const LIST_ACTION: &str = "cluster:monitor/tasks/lists";

/// The endpoints of this file (`_tasks`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_tasks", LIST, list),
    route(&[Method::Get], "/_tasks/{task}", &["timeout", "wait_for_completion"], get),
    route(
        &[Method::Post],
        "/_tasks/_cancel",
        &["actions", "nodes", "parent_task_id", "wait_for_completion"],
        cancel,
    ),
    route(
        &[Method::Post],
        "/_tasks/{task}/_cancel",
        &["actions", "nodes", "parent_task_id", "wait_for_completion"],
        cancel,
    ),
];

fn selected(actions: &[String], action: &str) -> bool {
    actions.is_empty() || actions.iter().any(|pattern| limber_text::wildcard::matches(pattern, action))
}

/// Whether `nodes` and `parent_task_id` leave any task of this node. No task here has a parent.
fn may_select(app: &App, request: &Request) -> Result<bool> {
    let is_here =
        request.param("nodes").is_none_or(|nodes| nodes.is_empty() || super::nodes::selects(app, nodes));
    let has_parent = match request.param("parent_task_id").filter(|parent| !parent.is_empty()) {
        Some(parent) => parse_task_id(app, parent).map(|_| true)?,
        None => false,
    };
    Ok(is_here && !has_parent)
}

/// Returns the tasks that a list shows: those of this node with one of the requested actions. The list
/// request itself is included, as in Elasticsearch. `wait_for_completion` waits until no other task is left
/// or the time is up.
pub(in crate::rest) fn listed(app: &App, request: &Request) -> Result<Vec<Arc<Task>>> {
    let actions = request.list("actions");
    if !may_select(app, request)? {
        return Ok(Vec::new());
    }
    let own = app.node.tasks().register(LIST_ACTION, "", false);
    let chosen = || -> Vec<Arc<Task>> {
        let all = app.node.tasks().list().into_iter();
        all.filter(|task| selected(&actions, task.action)).collect()
    };
    if request.flag_or("wait_for_completion", false)? {
        let timeout_ms = request.time_ms("timeout")?.unwrap_or(30_000);
        app.node.tasks().wait(timeout_ms, || chosen().iter().all(|task| task.id == own.task.id))?;
    }
    Ok(chosen())
}

fn list(app: &App, request: &Request) -> Result<Response> {
    let tasks = listed(app, request)?.into_iter();
    let detailed = request.flag_or("detailed", false)?;
    let node_id = app.node.node_id();
    let rendered: Vec<(String, Value)> = tasks
        .map(|task| (format!("{node_id}:{}", task.id), app.node.tasks().show(&task, node_id, detailed)))
        .collect();
    answer(app, request, request.param("group_by").unwrap_or("nodes"), rendered)
}

pub(in crate::rest) fn answer(
    app: &App,
    request: &Request,
    group_by: &str,
    tasks: Vec<(String, Value)>,
) -> Result<Response> {
    let by_id = || Value::Object(tasks.iter().cloned().collect::<Map<_, _>>());
    let shown = match group_by {
        "none" => json!({"tasks": tasks.iter().map(|(_, task)| task).collect::<Vec<_>>()}),
        "parents" => json!({"tasks": by_id()}),
        "nodes" => {
            if tasks.is_empty() {
                json!({"nodes": {}})
            } else {
                let node = json!({
                    "name": app.node.config().node_name,
                    "transport_address": app.config.http_address,
                    "host": app.config.http_address.rsplit_once(':').map_or("", |(host, _)| host),
                    "ip": app.config.http_address,
                    "roles": ROLES,
                    "attributes": attributes(app),
                    "tasks": by_id(),
                });
                json!({"nodes": {app.node.node_id(): node}})
            }
        }
        other => {
            return Err(RequestError::illegal_argument(format!(
                "[group_by] must be one of [nodes], [parents] or [none] but was [{other}]"
            )));
        }
    };
    Ok(Response::ok(with_words(request, shown)?))
}

pub(in crate::rest) fn parse_task_id(app: &App, text: &str) -> Result<Option<u64>> {
    let Some((node, id)) = text.rsplit_once(':') else {
        return Err(RequestError::illegal_argument(format!("malformed task id {text}")));
    };
    // -1 is never a task: clients send it to say that there is no parent.
    let id: i64 =
        id.parse().map_err(|_| RequestError::illegal_argument(format!("malformed task id {text}")))?;
    Ok(u64::try_from(id).ok().filter(|_| node == app.node.node_id()))
}

fn missing(text: &str) -> RequestError {
    RequestError::not_found(
        "resource_not_found_exception",
        format!("task [{text}] isn't running and hasn't stored its results"),
    )
}

/// Returns the error about a task of a node that does not exist.
fn of_no_node(task: &str) -> RequestError {
    let node = task.rsplit_once(':').map_or(task, |(node, _)| node);
    let reason = format!(
        "task [{task}] belongs to the node [{node}] which isn't part of the cluster and there is no record of the task"
    );
    RequestError::not_found("resource_not_found_exception", reason).caused_by(missing(task))
}

/// Returns the response about a task of an unknown node.
fn of_another_node(task: &str) -> Response {
    Response::ok(json!({"node_failures": [node_failure(task, no_such_node(task))], "nodes": {}}))
}

/// Returns the response of a change to a task that does not run, which is one without tasks.
pub(in crate::rest) fn not_running(app: &App, group_by: &str, task: &str) -> Result<Response> {
    let cause = match parse_task_id(app, task)? {
        Some(_) => {
            json!({"type": "resource_not_found_exception", "reason": format!("task [{task}] is missing")})
        }
        None => no_such_node(task),
    };
    let failures = json!([node_failure(task, cause)]);
    Ok(Response::ok(match group_by {
        "none" => json!({"node_failures": failures, "tasks": []}),
        "parents" => json!({"node_failures": failures, "tasks": {}}),
        _ => json!({"node_failures": failures, "nodes": {}}),
    }))
}

fn node_of(task: &str) -> &str {
    task.rsplit_once(':').map_or(task, |(node, _)| node)
}

fn no_such_node(task: &str) -> Value {
    let node = node_of(task);
    json!({"type": "no_such_node_exception", "reason": format!("No such node [{node}]"), "node_id": node})
}

fn node_failure(task: &str, cause: Value) -> Value {
    let node = node_of(task);
    let reason = format!("Failed node [{node}]");
    json!({"type": "failed_node_exception", "reason": reason, "node_id": node, "caused_by": cause})
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let text = request.path("task");
    let id = parse_task_id(app, text)?.ok_or_else(|| of_no_node(text))?;
    let timeout_ms = match request.flag_or("wait_for_completion", false)? {
        true => request.time_ms("timeout")?.unwrap_or(30_000),
        false => 0,
    };
    let body = app.node.tasks().get(id, timeout_ms, app.node.node_id())?.ok_or_else(|| missing(text))?;
    Ok(Response::ok(with_words(request, body)?))
}

fn cancel(app: &App, request: &Request) -> Result<Response> {
    let actions = request.list("actions");
    let only = match request.param("task") {
        Some(text) => match parse_task_id(app, text)? {
            Some(id) => Some(id),
            None => return Ok(of_another_node(text)),
        },
        None => None,
    };
    let node_id = app.node.node_id();
    let mut cancelled = Vec::new();
    if !may_select(app, request)? {
        return answer(app, request, "nodes", cancelled);
    }
    for task in app.node.tasks().list() {
        if only.is_none_or(|id| id == task.id) && selected(&actions, task.action) && task.cancel() {
            cancelled.push((format!("{node_id}:{}", task.id), app.node.tasks().show(&task, node_id, false)));
        }
    }
    answer(app, request, "nodes", cancelled)
}
