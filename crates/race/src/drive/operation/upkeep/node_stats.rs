//! `node-stats`: reads the nodes' statistics (`runner.py`, `NodeStats`).

use crate::drive::operation::contract::{Operation, Plan, steady};
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::Method;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let builder = plan.with_request_params(plan.request(Method::Get, "/_nodes/stats/_all")?)?;
    Ok(steady(Requests::one(plan, builder)?))
}
