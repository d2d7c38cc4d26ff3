//! `span_not`: spans that have no excluded spans near them.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::{SpanQuery, check_same_field, parse_inner, query, span_of};
use crate::error::Error;
use crate::primitives::SpanTree;
use crate::query::bind::Binder;
use crate::query::parse::{Common, Parser, Query, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct SpanNot {
    include: Query,
    exclude: Query,
    before: i32,
    after: i32,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut include, mut exclude) = (None, None);
    let (mut around, mut before, mut after) = (None, None, None);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("include", Value::Object(_)) => {
                include = Some(parse_inner("span_not", "include", value, parser)?);
            }
            ("exclude", Value::Object(_)) => {
                exclude = Some(parse_inner("span_not", "exclude", value, parser)?);
            }
            ("_name", Value::Null | Value::Array(_)) => {
                json::text(value)?;
            }
            (key, Value::Object(_)) => return Err(does_not_support("span_not", key)),
            ("dist", value) => around = Some(json::int(value)?),
            ("pre", value) => before = Some(json::int(value)?),
            ("post", value) => after = Some(json::int(value)?),
            (key, Value::Array(_)) => return Err(does_not_support("span_not", key)),
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("span_not", key)),
        }
    }
    let missing =
        |what: &str| RequestError::parsing(format!("span_not must have [{what}] span query clause"));
    let include = include.ok_or_else(|| missing("include"))?;
    let exclude = exclude.ok_or_else(|| missing("exclude"))?;
    if around.is_some() && (before.is_some() || after.is_some()) {
        return Err(RequestError::parsing("span_not can either use [dist] or [pre] & [post] (or none)"));
    }
    let distance = |own: Option<i32>| around.or(own).unwrap_or(0).max(0);
    Ok(query(common, SpanNot { include, exclude, before: distance(before), after: distance(after) }))
}

impl SpanQuery for SpanNot {
    fn span(&self, binder: &Binder<'_>) -> Result<SpanTree, Error> {
        let include = span_of(&self.include, binder)?;
        let exclude = span_of(&self.exclude, binder)?;
        check_same_field([&include, &exclude].into_iter(), "Clauses must have same field.")?;
        let (include, exclude) = (Box::new(include), Box::new(exclude));
        Ok(SpanTree::Not { include, exclude, before: self.before, after: self.after })
    }
}
