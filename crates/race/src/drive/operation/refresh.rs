//! `refresh`: make everything written so far visible (`runner.py`, `Refresh`).

use super::contract::{Operation, Plan};
use super::requests::Requests;
use super::retry::retried;
use crate::error::Error;
use crate::http::Method;

pub(super) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let path = match plan.names("index")? {
        Some(names) => format!("/{}/_refresh", names.join(",")),
        None => "/_refresh".to_owned(),
    };
    let builder = plan.with_request_params(plan.request(Method::Post, &path)?)?;
    retried(plan, Requests::one(plan, builder)?)
}
