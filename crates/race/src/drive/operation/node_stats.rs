//! `node-stats`: the nodes' statistics (`runner.py`, `NodeStats`).

use super::contract::{Operation, Plan, steady};
use super::requests::Requests;
use crate::http::Method;

pub fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, String> {
    let builder = plan.with_request_params(plan.request(Method::Get, "/_nodes/stats/_all")?)?;
    Ok(steady(Requests::one(plan, builder)?))
}
