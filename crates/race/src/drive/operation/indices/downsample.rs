//! `downsample`: aggregates a time series index into a coarser one (`runner.py`, `Downsample`).

use serde_json::json;

use crate::drive::operation::contract::{Operation, Plan, steady};
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::{Method, in_path};

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let interval = plan.text("fixed-interval")?.unwrap_or("1h");
    let source = match plan.text("source-index")?.filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None => plan.target()?.ok_or_else(|| Error::missing("source-index"))?,
    };
    let target = plan.text("target-index")?.map_or_else(|| format!("{source}-{interval}"), str::to_owned);
    let mut body = json!({ "fixed_interval": interval });
    if let Some(method) = plan.text("sampling-method")?.filter(|method| !method.is_empty()) {
        body["sampling_method"] = json!(method);
    }
    let path = format!("/{}/_downsample/{}", in_path(&source), in_path(&target));
    let builder = plan.request_with_body(Method::Post, &path, Some(&body))?;
    Ok(steady(Requests::one(plan, plan.with_request_params(builder)?)?))
}
