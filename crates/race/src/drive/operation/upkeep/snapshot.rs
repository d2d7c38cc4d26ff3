//! `create-snapshot`, `restore-snapshot` (`runner.py`, `CreateSnapshot`, `RestoreSnapshot`). Neither is
//! retried.

use serde_json::{Value, json};

use crate::drive::operation::contract::{Operation, Plan, plain, steady};
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::Method;

pub(in crate::drive::operation) fn plan_create(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let body = plan.mandatory("body")?;
    let body = Some(body).filter(|body| body.as_object().is_none_or(|body| !body.is_empty()));
    request(plan, Method::Put, "", body)
}

pub(in crate::drive::operation) fn plan_restore(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let empty = json!({});
    let body = plan.param("body").filter(|body| !body.is_null()).unwrap_or(&empty);
    request(plan, Method::Post, "/_restore", Some(body))
}

fn request(
    plan: &Plan<'_>,
    method: Method,
    path_end: &str,
    body: Option<&Value>,
) -> Result<Box<dyn Operation>, Error> {
    let (repository, snapshot) = (plan.mandatory_text("repository")?, plan.mandatory_text("snapshot")?);
    let waits = plan.param("wait-for-completion").map_or_else(|| "false".to_owned(), plain);
    let path = format!("/_snapshot/{repository}/{snapshot}{path_end}");
    let builder = plan.request_with_body(method, &path, body)?;
    let builder = plan.with_request_params(builder)?.query("wait_for_completion", &waits.to_lowercase());
    Ok(steady(Requests::one(plan, builder)?))
}
