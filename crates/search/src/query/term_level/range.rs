//! `range`: documents with a value between two ends.

use limber_mapping::date::{DateFormat, Zone};
use limber_mapping::{DateContext, Field, RangeEnd, RangeRelation, RequestError, Selection};
use limber_work as work;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::match_all::EverythingNode;
use crate::query::convert;
use crate::query::extract::asked::{Asked, AskedVisitor};
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support, no_field, single_field};
use crate::query::spans::{Expansion, MultiTermQuery};
use crate::values::json;

#[derive(Debug)]
struct Range {
    field: String,
    lower: Option<(Value, bool)>,
    upper: Option<(Value, bool)>,
    format: Option<String>,
    time_zone: Option<String>,
    /// The relation to ranges; on a field with single values it has no effect.
    relation: RangeRelation,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("range", members, &mut common)?.ok_or_else(no_field)?;
    let options = match body {
        Value::Object(options) => options,
        Value::Array(_) | Value::Null => return Err(no_field()),
        _ => return Err(does_not_support("range", field)),
    };
    let mut range = Range {
        field: field.to_owned(),
        lower: None,
        upper: None,
        format: None,
        time_zone: None,
        relation: RangeRelation::default(),
    };
    let (mut include_lower, mut include_upper) = (true, true);
    for (key, value) in options {
        let end = || match value {
            Value::Null => Ok(None),
            Value::Array(_) | Value::Object(_) => Err(does_not_support("range", key)),
            scalar => Ok(Some(scalar.clone())),
        };
        if matches!(key.as_str(), "from" | "to" | "include_lower" | "include_upper") {
            work::warn_unused(key);
        }
        match key.as_str() {
            "gte" | "from" => range.lower = end()?.map(|value| (value, true)),
            "gt" => {
                range.lower = end()?.map(|value| (value, false));
                include_lower = false;
            }
            "lte" | "to" => range.upper = end()?.map(|value| (value, true)),
            "lt" => {
                range.upper = end()?.map(|value| (value, false));
                include_upper = false;
            }
            "include_lower" => include_lower = json::boolean(value)?,
            "include_upper" => include_upper = json::boolean(value)?,
            "format" => range.format = Some(json::text(value)?),
            "time_zone" => range.time_zone = Some(json::text(value)?),
            "relation" => range.relation = parse_relation(&json::text(value)?)?,
            key if common.take(key, value)? => {}
            key => return Err(does_not_support("range", key)),
        }
    }
    if let Some(lower) = &mut range.lower {
        lower.1 &= include_lower;
    }
    if let Some(upper) = &mut range.upper {
        upper.1 &= include_upper;
    }
    Ok(common.query(range))
}

fn parse_relation(name: &str) -> Result<RangeRelation, RequestError> {
    match name.to_uppercase().as_str() {
        "INTERSECTS" => Ok(RangeRelation::Intersects),
        "WITHIN" => Ok(RangeRelation::Within),
        "CONTAINS" => Ok(RangeRelation::Contains),
        "DISJOINT" => {
            Err(RequestError::illegal_argument("[range] query does not support relation [disjoint]"))
        }
        _ => Err(RequestError::illegal_argument(format!("{name} is not a valid relation"))),
    }
}

impl QueryNode for Range {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(field) = binder.searchable_field(&self.field)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        if matches!(&*field.path, "_id" | "_index" | "_version") {
            // A range without bounds asks for the documents with the field, which are all.
            if self.lower.is_none() && self.upper.is_none() {
                return Ok(EverythingNode { boost }.into());
            }
            let reason = format!("Field [{0}] of type [{0}] does not support range queries", self.field);
            return Err(RequestError::illegal_argument(reason).into());
        }
        if field.has_texts() {
            binder.check_expensive("[range] queries on [text] or [keyword] fields")?;
        }
        if self.lower.is_none() && self.upper.is_none() {
            let text = format!("ConstantScore(FieldExistsQuery [field={}])", self.field);
            return Ok(BoundQuery::constant(Docs::Exists { path: field.path.clone() }, boost, text));
        }
        let selection = self.select(&field, binder)?;
        Ok(convert::constant(&field, selection, boost))
    }

    fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        let lower = self.lower.as_ref().map(|(value, _)| value);
        let upper = self.upper.as_ref().map(|(value, _)| value);
        visitor.take(&self.field, Asked::Between(lower, upper));
    }

    fn as_multi_term(&self) -> Option<&dyn MultiTermQuery> {
        Some(self)
    }
}

impl MultiTermQuery for Range {
    fn expand(&self, binder: &Binder<'_>) -> Result<Expansion, Error> {
        let mut bound = self.bind(1.0, binder)?;
        if bound.is_nothing() {
            return Ok(Expansion::Unmapped);
        }
        let set =
            bound.node.as_docs_mut().map(|node| std::mem::replace(&mut node.docs, Docs::AnyOf(Vec::new())));
        match set {
            Some(docs @ (Docs::TermRange { .. } | Docs::Terms { .. })) => {
                let Some(field) = binder.field(&self.field) else { return Ok(Expansion::Unmapped) };
                Ok(Expansion::All(field, docs))
            }
            Some(Docs::Exists { .. }) => {
                Ok(Expansion::NoTerms("org.apache.lucene.search.ConstantScoreQuery"))
            }
            _ => Ok(Expansion::NoTerms("org.apache.lucene.search.IndexOrDocValuesQuery")),
        }
    }
}

impl Range {
    fn select(&self, field: &Field, binder: &Binder<'_>) -> Result<Selection, Error> {
        let zone = match &self.time_zone {
            Some(zone) => Zone::parse(zone)?,
            None => Zone::Utc,
        };
        let format = match &self.format {
            Some(pattern) => Some(DateFormat::parse_list(pattern)?),
            None => None,
        };
        let context = DateContext { zone: &zone, format: format.as_ref(), ..binder.dates() };
        let lower = self.lower.as_ref().map(|(value, inclusive)| RangeEnd { value, inclusive: *inclusive });
        let upper = self.upper.as_ref().map(|(value, inclusive)| RangeEnd { value, inclusive: *inclusive });
        if field.range_kind().is_some() {
            let wanted = field.select_ranges(lower, upper, self.relation, &context)?;
            return Ok(wanted.map_or(Selection::Nothing, Selection::Ranges));
        }
        if field.is_key_of_terms() && [lower, upper].iter().any(Option::is_none) {
            return Err(RequestError::illegal_argument(
                "[range] queries on keyed [flattened] fields must include both an upper and a lower bound.",
            )
            .into());
        }
        Ok(field.select_range(lower, upper, &context)?)
    }
}
