//! `create-ilm-policy`, `delete-ilm-policy` (`runner.py`, `CreateIlmPolicy`, `DeleteIlmPolicy`).

use serde_json::{Value, json};

use crate::drive::operation::contract::{Operation, Plan, plain};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::{Method, RequestBuilder};

/// The `request-params` that Rally passes on.
const REQUEST_PARAMS: [&str; 4] = ["error_trace", "filter_path", "master_timeout", "timeout"];

pub(in crate::drive::operation) fn plan_create(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let policy = plan.mandatory("body")?.get("policy");
    let is_empty = |policy: &Value| policy.as_object().is_none_or(|policy| policy.is_empty());
    let policy = policy.filter(|policy| !is_empty(policy)).ok_or_else(|| Error::parameter("Request body does not contain the expected root field [policy]. Please ensure that the request body contains a \
         top-level 'policy' field and try again."))?;
    request(plan, plan.request_with_body(Method::Put, &path(plan)?, Some(&json!({ "policy": policy })))?)
}

/// Deleting a policy that does not exist is no error.
pub(in crate::drive::operation) fn plan_delete(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    request(plan, plan.request(Method::Delete, &path(plan)?)?.ignore_statuses(&[404]))
}

fn path(plan: &Plan<'_>) -> Result<String, Error> {
    Ok(format!("/_ilm/policy/{}", plan.mandatory_text("policy-name")?))
}

fn request(plan: &Plan<'_>, mut builder: RequestBuilder) -> Result<Box<dyn Operation>, Error> {
    for (name, value) in plan.request_params()? {
        if REQUEST_PARAMS.contains(&name) && !value.is_null() {
            builder = builder.query(name, &plain(value));
        } else {
            plan.warn(format!("Request parameter [{name}] has no effect on [{}].", plan.task.operation.kind));
        }
    }
    retried(plan, Requests::one(plan, builder)?)
}
