//! `has_parent`: children whose parents match a query.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::hits::{JoinedHits, with_hits};
use super::joined::{JoinScore, join_of, named_by, parents_of};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::joining::inner_hits::InnerHitsRequest;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct HasParent {
    kind: String,
    query: Query,
    /// Whether children have the scores of their parents.
    scores: bool,
    ignores_unmapped: bool,
    inner_hits: Option<Arc<dyn InnerHitsRequest>>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let (mut common, mut inner_hits) = (Common::default(), None);
    let (mut kind, mut query, mut scores, mut ignores_unmapped) = (None, None, false, false);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("parent_type", value) => kind = Some(json::text(value)?),
            ("query", Value::Object(_)) => query = Some(parser.query(value)?),
            ("score", value) => scores = json::boolean(value)?,
            ("ignore_unmapped", value) => ignores_unmapped = json::boolean(value)?,
            ("inner_hits", Value::Object(body)) => inner_hits = parser.inner_hits(body)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("has_parent", key)),
        }
    }
    let refuse = |reason: &str| Err(RequestError::illegal_argument(reason));
    let Some(kind) = kind else { return refuse("[has_parent] requires 'parent_type' field") };
    let Some(query) = query else { return refuse("[has_parent] requires 'query' field") };
    Ok(common.query(HasParent { kind, query, scores, ignores_unmapped, inner_hits }))
}

impl QueryNode for HasParent {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let unmapped = |reason: String| match self.ignores_unmapped {
            true => Ok(BoundQuery::nothing(reason)),
            false => Err(binder.shard.query_shard_exception(reason).into()),
        };
        let Some((join, relations)) = join_of(binder) else {
            return unmapped("[has_parent] no join field has been configured".to_owned());
        };
        let children = relations.children_of(&self.kind);
        if children.is_empty() {
            return unmapped(format!(
                "[has_parent] join field [{}] doesn't hold [{}] as a parent",
                join.path, self.kind
            ));
        }
        let path: Arc<str> = relations.ids_path(&join.path, &self.kind).into();
        let Some(ids) = binder.shard.mapping.field(&path) else {
            return unmapped(format!("[has_parent] no field [{path}]"));
        };
        let parents = parents_of(&self.query, (&join, &self.kind, &path), self.scores, binder)?;
        let how = if self.scores { JoinScore::Max } else { JoinScore::None };
        let bound = named_by(parents, (&join, &children, ids), how, boost, binder)?;
        let Some(wanted) = &self.inner_hits else { return Ok(bound) };
        let side = (&self.query, self.kind.as_str(), &*join.path);
        Ok(with_hits(bound, JoinedHits::new(wanted, side, &path, binder.shard)?))
    }
}
