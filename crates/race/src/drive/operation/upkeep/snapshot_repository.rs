//! `create-snapshot-repository`, `delete-snapshot-repository` (`runner.py`, `CreateSnapshotRepository`,
//! `DeleteSnapshotRepository`).

use crate::drive::operation::contract::{Operation, Plan};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::Method;

pub(in crate::drive::operation) fn plan_create(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let path = format!("/_snapshot/{}", plan.mandatory_text("repository")?);
    let body = plan.mandatory("body")?;
    let builder = plan.with_request_params(plan.request_with_body(Method::Put, &path, Some(body))?)?;
    retried(plan, Requests::one(plan, builder)?)
}

/// Deleting a repository that does not exist is no error.
pub(in crate::drive::operation) fn plan_delete(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let path = format!("/_snapshot/{}", plan.mandatory_text("repository")?);
    let builder = plan.with_request_params(plan.request(Method::Delete, &path)?)?.ignore_statuses(&[404]);
    retried(plan, Requests::one(plan, builder)?)
}
