//! `put-settings`: change the cluster's settings (`runner.py`, `PutSettings`).

use super::contract::{Operation, Plan};
use super::requests::Requests;
use super::retry::retried;
use crate::error::Error;
use crate::http::Method;

pub(super) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let body = plan.mandatory("body")?;
    let builder = plan.request_with_body(Method::Put, "/_cluster/settings", Some(body))?;
    retried(plan, Requests::one(plan, plan.with_request_params(builder)?)?)
}
