//! `exists`: documents that have any value of a field, or of any field under an object.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::match_all::EverythingNode;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct Exists {
    field: String,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut field = None;
    for (key, value) in members {
        match key.as_str() {
            "field" if json::scalar_text(value).is_some() => field = json::scalar_text(value),
            key if common.take(key, value)? => {}
            key => return Err(does_not_support("exists", key)),
        }
    }
    let field = field.ok_or_else(|| RequestError::parsing("[exists] must be provided with a [field]"))?;
    Ok(common.query(Exists { field }))
}

impl QueryNode for Exists {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        match self.field.as_str() {
            // Every document has these fields.
            "_index" | "_id" | "_seq_no" | "_primary_term" | "_version" => {
                return Ok(EverythingNode { boost }.into());
            }
            "_source" => {
                return Err(binder.query_shard("The _source field is not searchable").into());
            }
            "_doc_count" => {
                let reason = "Field [_doc_count] of type [_doc_count] does not support exists queries";
                return Err(binder.query_shard(reason).into());
            }
            "_field_names" => {
                let cause = RequestError::illegal_argument("Cannot run exists query on _field_names");
                return Err(binder.wrapped(cause).into());
            }
            "_nested_path" => {
                let cause =
                    RequestError::illegal_argument("Cannot run exists() query against the nested field path");
                return Err(binder.wrapped(cause).into());
            }
            _ => {}
        }
        if let Some(field) = binder.shard().mapping.field(&self.field) {
            binder.check_runtime_field(&field)?;
            field.check_exists()?;
        }
        let paths = binder.paths_with_values(&self.field);
        let text = |path: &str| format!("ConstantScore(FieldExistsQuery [field={path}])");
        Ok(match paths.as_slice() {
            [] => BoundQuery::nothing(format!("No field \"{}\" exists in mappings.", self.field)),
            [only] => BoundQuery::constant(Docs::Exists { path: only.clone() }, boost, text(only)),
            several => {
                let shown: Vec<String> = several.iter().map(|path| text(path)).collect();
                let docs = several.iter().map(|path| Docs::Exists { path: path.clone() }).collect();
                BoundQuery::constant(Docs::AnyOf(docs), boost, format!("ConstantScore({})", shown.join(" ")))
            }
        })
    }
}
