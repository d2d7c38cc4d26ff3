//! `enrich-policy`: creates and executes enrich policies (`runner.py`, `EnrichPolicy`, newer than Rally
//! 2.13).
//!
//! Parameters: `policies` (name to body), `delete` (true: existing policies are deleted first).

use serde_json::Value;

use crate::drive::operation::contract::{Operation, Plan};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::Method;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let policies = plan
        .mandatory("policies")?
        .as_object()
        .ok_or_else(|| Error::parameter("parameter 'policies' must be an object"))?;
    let path = |name: &str, end: &str| format!("/_enrich/policy/{name}{end}");
    let mut requests = Vec::new();
    if plan.flag("delete")?.unwrap_or(true) {
        for name in policies.keys() {
            requests.push(plan.request(Method::Delete, &path(name, ""))?.ignore_statuses(&[404]));
        }
    }
    for (name, body) in policies {
        if !matches!(body, Value::Object(_)) {
            return Err(Error::Parameter(format!("the enrich policy [{name}] must be an object")));
        }
        requests.push(plan.request_with_body(Method::Put, &path(name, ""), Some(body))?);
    }
    requests.push(plan.request(Method::Post, "/_all/_refresh")?);
    for name in policies.keys() {
        let execute = plan.request(Method::Post, &path(name, "/_execute"))?;
        requests.push(execute.query("wait_for_completion", "true"));
    }
    let requests = requests.into_iter().map(|request| request.build()).collect();
    retried(plan, Requests::weighing(plan, policies.len() as u64, requests)?)
}
