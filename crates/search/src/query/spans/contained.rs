//! `span_containing` and `span_within`: spans that contain others, or are contained in others.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::{SpanQuery, check_same_field, parse_inner, query, span_of};
use crate::error::Error;
use crate::primitives::SpanTree;
use crate::query::bind::Binder;
use crate::query::parse::{Common, Parser, Query, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct SpanContained {
    big: Query,
    little: Query,
    gives_big: bool,
}

pub(in crate::query) fn parse_containing(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    parse("span_containing", true, members, parser)
}

pub(in crate::query) fn parse_within(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    parse("span_within", false, members, parser)
}

fn parse(
    name: &str,
    gives_big: bool,
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let (mut common, mut big, mut little) = (Common::default(), None, None);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("big", Value::Object(_)) => big = Some(parse_inner(name, "big", value, parser)?),
            ("little", Value::Object(_)) => little = Some(parse_inner(name, "little", value, parser)?),
            ("_name", Value::Null | Value::Array(_)) => {
                json::text(value)?;
            }
            (key, Value::Object(_) | Value::Array(_)) => return Err(does_not_support(name, key)),
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support(name, key)),
        }
    }
    let missing = |what: &str| match gives_big {
        true => RequestError::illegal_argument(format!("inner clause [{what}] cannot be null.")),
        false => RequestError::parsing(format!("{name} must include [{what}]")),
    };
    let big = big.ok_or_else(|| missing("big"))?;
    let little = little.ok_or_else(|| missing("little"))?;
    Ok(query(common, SpanContained { big, little, gives_big }))
}

impl SpanQuery for SpanContained {
    fn span(&self, binder: &Binder<'_>) -> Result<SpanTree, Error> {
        let (big, little) = (span_of(&self.big, binder)?, span_of(&self.little, binder)?);
        check_same_field([&big, &little].into_iter(), "big and little not same field")?;
        Ok(SpanTree::Contained { big: Box::new(big), little: Box::new(little), gives_big: self.gives_big })
    }
}
