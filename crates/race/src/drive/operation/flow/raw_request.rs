//! `raw-request`: sends any request as the track writes it (`runner.py`, `RawRequest`).

use serde_json::Value;

use crate::drive::operation::contract::{Operation, Plan, steady};
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::{Method, RequestBuilder};

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    Ok(steady(Requests::one(plan, request(plan)?)?))
}

/// Builds the request that `method`, `path`, `body`, `request-params` and `ignore` describe.
pub(in crate::drive::operation) fn request(plan: &Plan<'_>) -> Result<RequestBuilder, Error> {
    let path = plan.mandatory_text("path")?;
    if !path.starts_with('/') {
        return Err(Error::Parameter(format!(
            "RawRequest [{path}] failed. Path parameter must begin with a '/'."
        )));
    }
    let name = plan.text("method")?.unwrap_or("GET");
    let method = Method::from_name(name)
        .ok_or_else(|| Error::Parameter(format!("method [{name}] is not supported")))?;
    let mut builder = plan.request_with_body(method, path, plan.param("body"))?;
    if plan.param("headers").and_then(Value::as_object).is_none_or(|own| own.is_empty()) {
        builder = builder.header("accept", "*/*");
    }
    Ok(plan.with_request_params(builder)?.ignore_statuses(&ignored(plan)?))
}

/// Reads `ignore`, which may also be inside `request-params`: one status or a list.
fn ignored(plan: &Plan<'_>) -> Result<Vec<u16>, Error> {
    let wrong = || Error::parameter("parameter 'ignore' must be a status or a list of statuses");
    let status = |value: &Value| match value {
        Value::String(text) => text.parse().map_err(|_| wrong()),
        other => other.as_u64().and_then(|status| u16::try_from(status).ok()).ok_or_else(wrong),
    };
    let of_params = plan.request_params()?.find(|(name, _)| *name == "ignore").map(|(_, value)| value);
    match of_params.or(plan.param("ignore")) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(status).collect(),
        Some(one) => Ok(vec![status(one)?]),
    }
}
