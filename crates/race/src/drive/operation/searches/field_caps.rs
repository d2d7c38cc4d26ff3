//! `field-caps`: reads the capabilities of fields (`runner.py`, `FieldCaps`).
//!
//! Elasticsearch 8 accepts the fields in the body, where Rally sends them. Older versions and OpenSearch
//! accept them only in the query string.

use serde_json::{Map, Value, json};

use crate::drive::operation::contract::{Operation, Plan, plain, steady};
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::Method;
use crate::protocol::Protocol;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let target = plan.names("index")?.map_or_else(|| "_all".to_owned(), |names| names.join(","));
    let mut body = match plan.param("body") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(body)) => body.clone(),
        Some(_) => return Err(Error::parameter("parameter 'body' must be an object")),
    };
    let fields = plan.param("fields").cloned().unwrap_or_else(|| json!("*"));
    let is_in_query = *plan.protocol == Protocol::plain() && !body.contains_key("fields");
    if !is_in_query {
        body.entry("fields").or_insert(fields.clone());
    }
    if let Some(filter) = plan.param("index_filter").filter(|filter| !filter.is_null()) {
        body.insert("index_filter".into(), filter.clone());
    }
    let path = format!("/{target}/_field_caps");
    let body = Some(Value::Object(body)).filter(|body| *body != Value::Object(Map::new()));
    let mut builder = plan.request_with_body(Method::Post, &path, body.as_ref())?;
    if is_in_query {
        builder = builder.query("fields", &plain(&fields));
    }
    Ok(steady(Requests::one(plan, plan.with_request_params(builder)?)?))
}
