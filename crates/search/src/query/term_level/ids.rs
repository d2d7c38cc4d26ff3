//! `ids`: documents by `_id`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::values::json;

/// Largest number of ids in a query, as for `terms` (`index.max_terms_count`).
const IDS_COUNT_MAX: usize = 65_536;

#[derive(Debug)]
struct Ids {
    values: Vec<String>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut values = Vec::new();
    for (key, value) in members {
        match (key.as_str(), value) {
            ("values", Value::Array(items)) => {
                if items.len() > IDS_COUNT_MAX {
                    return Err(RequestError::illegal_argument(format!(
                        "The number of ids [{}] used in the [ids] query has exceeded the allowed maximum of [{IDS_COUNT_MAX}]",
                        items.len()
                    )));
                }
                for item in items {
                    values.push(json::scalar_text(item).ok_or_else(|| {
                        RequestError::parsing(
                            "Illegal value for id, expecting a string or number, got: ".to_owned()
                                + json::token(item),
                        )
                    })?);
                }
            }
            ("values", Value::String(id)) => values.push(id.clone()),
            ("values", other) => return Err(wrong_type(key, other)),
            ("boost", other) if !(other.is_number() || other.is_string()) => {
                return Err(wrong_type(key, other));
            }
            ("boost", value) => {
                common
                    .take(key, value)
                    .map_err(|cause| ObjectParser::parsing("ids").malformed("boost").caused_by(cause))?;
            }
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(ObjectParser::parsing("ids").unknown(key)),
        }
    }
    Ok(common.query(Ids { values }))
}

fn wrong_type(option: &str, value: &Value) -> RequestError {
    let cause = ObjectParser::new("ids").unsupported(option, value);
    RequestError::parsing(cause.reason.clone()).caused_by(cause)
}

impl QueryNode for Ids {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        bind_ids(self.values.clone(), boost, binder)
    }
}

pub(in crate::query) fn bind_ids(
    mut ids: Vec<String>,
    boost: f32,
    binder: &Binder<'_>,
) -> Result<BoundQuery, Error> {
    if binder.shard().nested.is_some() {
        return Err(RequestError::unsupported("a query for [_id] on nested documents").into());
    }
    if ids.is_empty() {
        return Ok(BoundQuery::nothing("Missing ids in \"ids\" query."));
    }
    if ids.iter().any(String::is_empty) {
        return Err(RequestError::illegal_argument("Ids can't be empty").into());
    }
    ids.sort_unstable();
    ids.dedup();
    let text = format!("_id:({})", ids.join(" "));
    Ok(BoundQuery::constant(Docs::Ids(ids), boost, text))
}
