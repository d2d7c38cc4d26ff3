//! `create-snapshot-repository`, `delete-snapshot-repository` (`runner.py`, `CreateSnapshotRepository`,
//! `DeleteSnapshotRepository`).

use super::contract::{Operation, Plan};
use super::requests::Requests;
use super::retry::retried;
use crate::error::Error;
use crate::http::Method;

pub(super) fn plan_create(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let path = format!("/_snapshot/{}", plan.mandatory_text("repository")?);
    let body = plan.mandatory("body")?;
    let builder = plan.with_request_params(plan.request_with_body(Method::Put, &path, Some(body))?)?;
    retried(plan, Requests::one(plan, builder)?)
}

/// A repository that is not there is no error.
pub(super) fn plan_delete(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let path = format!("/_snapshot/{}", plan.mandatory_text("repository")?);
    let builder = plan.with_request_params(plan.request(Method::Delete, &path)?)?.ignore_statuses(&[404]);
    retried(plan, Requests::one(plan, builder)?)
}
