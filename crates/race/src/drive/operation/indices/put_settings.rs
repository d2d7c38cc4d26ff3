//! `put-settings`: changes the cluster's settings (`runner.py`, `PutSettings`).

use crate::drive::operation::contract::{Operation, Plan};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::Method;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let body = plan.mandatory("body")?;
    let builder = plan.request_with_body(Method::Put, "/_cluster/settings", Some(body))?;
    retried(plan, Requests::one(plan, plan.with_request_params(builder)?)?)
}
