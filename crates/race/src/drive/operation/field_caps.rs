//! `field-caps`: what fields can do (`runner.py`, `FieldCaps`).

use serde_json::{Map, Value, json};

use super::contract::{Operation, Plan, steady};
use super::requests::Requests;
use crate::drive::http::Method;

pub fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, String> {
    let target = plan.names("index")?.map_or_else(|| "_all".to_owned(), |names| names.join(","));
    let mut body = match plan.param("body") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(body)) => body.clone(),
        Some(_) => return Err("parameter 'body' must be an object".into()),
    };
    let fields = plan.param("fields").cloned().unwrap_or_else(|| json!("*"));
    body.entry("fields").or_insert(fields);
    if let Some(filter) = plan.param("index_filter").filter(|filter| !filter.is_null()) {
        body.insert("index_filter".into(), filter.clone());
    }
    let path = format!("/{target}/_field_caps");
    let builder = plan.request_with_body(Method::Post, &path, Some(&Value::Object(body)))?;
    Ok(steady(Requests::one(plan, plan.with_request_params(builder)?)?))
}
