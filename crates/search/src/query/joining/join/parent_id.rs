//! `parent_id`: the children of one parent.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::joined::join_of;
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::query::{QueryLimits, parse_query, within};
use crate::values::json;

#[derive(Debug)]
struct ParentId {
    kind: Arc<str>,
    id: String,
    ignores_unmapped: bool,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut kind, mut id, mut ignores_unmapped) = (None, None, false);
    for (key, value) in members {
        match key.as_str() {
            "type" => kind = Some(json::text(value)?),
            "id" => id = json::scalar_text(value),
            "ignore_unmapped" => ignores_unmapped = json::boolean(value)?,
            key if common.take(key, value)? => {}
            key => return Err(does_not_support("parent_id", key)),
        }
    }
    let refuse = |reason: &str| Err(RequestError::illegal_argument(reason));
    let Some(kind) = kind else { return refuse("[parent_id] requires 'type' field") };
    let Some(id) = id else { return refuse("[parent_id] requires 'id' field") };
    Ok(common.query(ParentId { kind: kind.into(), id, ignores_unmapped }))
}

impl QueryNode for ParentId {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let unmapped = |reason: String| match self.ignores_unmapped {
            true => Ok(BoundQuery::nothing(reason)),
            false => Err(binder.shard.query_shard_exception(reason).into()),
        };
        let Some((join, relations)) = join_of(binder) else {
            return unmapped("[parent_id] no join field found for index".to_owned());
        };
        let Some(parent) = relations.parent_of(&self.kind) else {
            return unmapped(format!("[parent_id] no relation found for child [{}]", self.kind));
        };
        let path = relations.ids_path(&join.path, parent);
        let term =
            |path: &str, value: &str| parse_query(&json!({"term": {path: value}}), &QueryLimits::default());
        let children = within(Some(term(&path, &self.id)?), term(&join.path, &self.kind)?);
        binder.query(&children, boost)
    }
}
