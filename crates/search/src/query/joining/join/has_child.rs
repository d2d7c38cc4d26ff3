//! `has_child`: parents with children that match a query.

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
struct HasChild {
    kind: String,
    query: Query,
    score: JoinScore,
    children_min: u32,
    children_max: u32,
    ignores_unmapped: bool,
    inner_hits: Option<Arc<dyn InnerHitsRequest>>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let (mut common, mut inner_hits) = (Common::default(), None);
    let (mut kind, mut query, mut score) = (None, None, JoinScore::None);
    let (mut least, mut most, mut ignores_unmapped) = (1, i32::MAX, false);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("type", value) => kind = Some(json::text(value)?),
            ("query", Value::Object(_)) => query = Some(parser.query(value)?),
            ("score_mode", value) => score = score_mode(&json::text(value)?)?,
            ("min_children", value) => least = json::int(value)?,
            ("max_children", value) => most = json::int(value)?,
            ("ignore_unmapped", value) => ignores_unmapped = json::boolean(value)?,
            ("inner_hits", Value::Object(body)) => inner_hits = parser.inner_hits(body)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("has_child", key)),
        }
    }
    let refuse = |reason: &str| Err(RequestError::illegal_argument(reason));
    if least <= 0 {
        return refuse("[has_child] requires positive 'min_children' field");
    }
    if most <= 0 {
        return refuse("[has_child] requires positive 'max_children' field");
    }
    if most < least {
        return refuse("[has_child] 'max_children' is less than 'min_children'");
    }
    let Some(kind) = kind else { return refuse("[has_child] requires 'type' field") };
    let Some(query) = query else { return refuse("[has_child] requires 'query' field") };
    Ok(common.query(HasChild {
        kind,
        query,
        score,
        children_min: least as u32,
        children_max: most as u32,
        ignores_unmapped,
        inner_hits,
    }))
}

fn score_mode(name: &str) -> Result<JoinScore, RequestError> {
    match name {
        "none" => Ok(JoinScore::None),
        "min" => Ok(JoinScore::Min),
        "max" => Ok(JoinScore::Max),
        "avg" => Ok(JoinScore::Average),
        "sum" => Ok(JoinScore::Sum),
        other => {
            Err(RequestError::illegal_argument(format!("No score mode for child query [{other}] found")))
        }
    }
}

impl QueryNode for HasChild {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let unmapped = |reason: String| match self.ignores_unmapped {
            true => Ok(BoundQuery::nothing(reason)),
            false => Err(binder.shard.query_shard_exception(reason).into()),
        };
        let Some((join, relations)) = join_of(binder) else {
            return unmapped("[has_child] no join field has been configured".to_owned());
        };
        let Some(parent) = relations.parent_of(&self.kind) else {
            return unmapped(format!(
                "[has_child] join field [{}] doesn't hold [{}] as a child",
                join.path, self.kind
            ));
        };
        let path: Arc<str> = relations.ids_path(&join.path, parent).into();
        let Some(ids) = binder.shard.mapping.field(&path) else {
            return unmapped(format!("[has_child] no field [{path}]"));
        };
        let with_scores = self.score != JoinScore::None;
        let mut parents = parents_of(&self.query, (&join, &self.kind, &path), with_scores, binder)?;
        parents.retain(|_, parent| (self.children_min..=self.children_max).contains(&parent.count));
        let bound = named_by(parents, (&join, &[parent], ids), self.score, boost, binder)?;
        let Some(wanted) = &self.inner_hits else { return Ok(bound) };
        let side = (&self.query, self.kind.as_str(), &*join.path);
        Ok(with_hits(bound, JoinedHits::new(wanted, side, &path, binder.shard)?))
    }
}
