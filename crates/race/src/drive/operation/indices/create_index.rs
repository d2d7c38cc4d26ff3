//! `create-index`: creates the track's indices, or the one that the operation names (`runner.py`,
//! `CreateIndex`).

use serde_json::Value;

use super::merge::with_settings;
use crate::drive::operation::contract::{Operation, Plan};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::{Method, in_path};

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let named = plan.names("index")?;
    let mut indices: Vec<(String, Option<Value>)> = Vec::new();
    if plan.track.indices.is_empty() {
        let names = named.ok_or_else(|| {
            Error::parameter("Please set the property 'index' for the create-index operation")
        })?;
        let body = plan.param("body").cloned();
        indices.extend(names.into_iter().map(|name| (name, body.clone())));
    } else {
        let settings = plan.param("settings");
        for index in &plan.track.indices {
            if named.as_ref().is_none_or(|names| names.contains(&index.name)) {
                indices
                    .push((index.name.clone(), with_settings(index.body.clone(), settings, &["settings"])?));
            }
        }
    }
    let request = |(name, body): &(String, Option<Value>)| {
        let builder = plan.request_with_body(Method::Put, &format!("/{}", in_path(name)), body.as_ref())?;
        Ok(plan.with_request_params(builder)?.build())
    };
    let requests = indices.iter().map(request).collect::<Result<Vec<_>, Error>>()?;
    retried(plan, Requests::each(plan, requests)?)
}
