//! `put-pipeline`: creates an ingest pipeline (`runner.py`, `PutPipeline`).

use crate::drive::operation::contract::{Operation, Plan};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::Method;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let id = plan.mandatory_text("id")?;
    let body = plan.mandatory("body")?;
    let mut builder = plan.request_with_body(Method::Put, &format!("/_ingest/pipeline/{id}"), Some(body))?;
    for (param, name) in [("master-timeout", "master_timeout"), ("timeout", "timeout")] {
        if let Some(value) = plan.text(param)? {
            builder = builder.query(name, value);
        }
    }
    retried(plan, Requests::one(plan, plan.with_request_params(builder)?)?)
}
