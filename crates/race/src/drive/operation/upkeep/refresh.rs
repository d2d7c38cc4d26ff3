//! `refresh`: makes everything written so far visible to searches (`runner.py`, `Refresh`).

use crate::drive::operation::contract::{Operation, Plan};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::{Method, in_path};

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let path = match plan.names("index")? {
        Some(names) => format!("/{}/_refresh", in_path(&names.join(","))),
        None => "/_refresh".to_owned(),
    };
    let builder = plan.with_request_params(plan.request(Method::Post, &path)?)?;
    retried(plan, Requests::one(plan, builder)?)
}
