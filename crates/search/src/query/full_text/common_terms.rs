//! `common`, and the `cutoff_frequency` of `match`: frequent terms only matter where a rare one matches.
//!
//! Source: Lucene's `CommonTermsQuery`, `CommonTermsQueryBuilder` of Elasticsearch 7.x and OpenSearch.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use super::match_text::{Match, Operator, operator};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::bool_query::BoolNode;
use crate::query::compound::minimum_should_match;
use crate::query::parse::{Common, Parser, Query, does_not_support, single_field};
use crate::values::json;

/// Which terms are frequent, and how the terms of each group are joined.
#[derive(Debug, Clone)]
pub(super) struct Cutoff {
    /// The number of documents that a frequent term exceeds; below 1 the part of all documents.
    pub frequency: f32,
    pub rare: Group,
    pub frequent: Group,
}

/// How the terms of a group are joined.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub operator: Operator,
    pub minimum: Option<String>,
}

impl Cutoff {
    /// Makes the cutoff of a `match`, whose options apply to both groups.
    pub fn of_match(frequency: f32, operator: Operator, minimum: Option<String>) -> Cutoff {
        let frequent = Group { operator, minimum: None };
        Cutoff { frequency, rare: Group { operator, minimum }, frequent }
    }

    /// Joins the terms. Frequent terms are all required if there are no others.
    pub fn bind(
        &self,
        field: &Arc<Field>,
        terms: Vec<Box<[u8]>>,
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        let doc_count = binder.doc_count() as f32;
        let most = match self.frequency >= 1.0 {
            true => f64::from(self.frequency),
            false => f64::from((self.frequency * doc_count).ceil()),
        };
        let (mut rare, mut frequent) = (Vec::new(), Vec::new());
        for term in &terms {
            let bound = binder.scored_term(field, term, boost)?;
            match binder.doc_freq(field, term)? as f64 > most {
                true => frequent.push(bound),
                false => rare.push(bound),
            }
        }
        if rare.is_empty() {
            let is_loose = self.frequent.operator == Operator::Or && self.frequent.minimum.is_none();
            let operator = if is_loose { Operator::And } else { self.frequent.operator };
            return Group { operator, minimum: self.frequent.minimum.clone() }.join(frequent);
        }
        let rare = self.rare.join(rare)?;
        if frequent.is_empty() {
            return Ok(rare);
        }
        let should = vec![self.frequent.join(frequent)?];
        Ok(BoolNode { must: vec![rare], should, ..BoolNode::default() }.simplified())
    }
}

impl Group {
    fn join(&self, mut terms: Vec<BoundQuery>) -> Result<BoundQuery, Error> {
        if terms.len() == 1
            && let Some(only) = terms.pop()
        {
            return Ok(only);
        }
        let mut node = BoolNode::default();
        match self.operator {
            Operator::And => node.must = terms,
            Operator::Or => {
                let minimum = self.minimum.as_deref();
                let needed =
                    minimum.map_or(Ok(0), |spec| minimum_should_match::required(spec, terms.len()))?;
                node.min_should_match = needed.max(1);
                node.should = terms;
            }
        }
        Ok(node.simplified())
    }
}

/// Parses the query `common` of Elasticsearch 7.x and OpenSearch.
pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let no_text = || RequestError::parsing("No text specified for text query");
    let mut common = Common::default();
    let (field, body) = single_field("common", members, &mut common)?.ok_or_else(no_text)?;
    let mut node = Match::of_common(field);
    let mut cutoff = Cutoff::of_match(0.01, Operator::Or, None);
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                match (key.as_str(), value) {
                    ("minimum_should_match", Value::Object(minimums)) => {
                        for (group, value) in minimums {
                            let minimum = json::scalar_text(value);
                            match group.as_str() {
                                "low_freq" => cutoff.rare.minimum = minimum,
                                "high_freq" => cutoff.frequent.minimum = minimum,
                                other => return Err(does_not_support("common", other)),
                            }
                        }
                    }
                    ("minimum_should_match", value) => cutoff.rare.minimum = json::scalar_text(value),
                    ("query", value) => node.set_text(value),
                    ("analyzer", value) => node.set_analyzer(json::scalar_text(value)),
                    ("cutoff_frequency", value) => cutoff.frequency = json::float(value)?,
                    ("low_freq_operator", value) => cutoff.rare.operator = operator(value)?,
                    ("high_freq_operator", value) => cutoff.frequent.operator = operator(value)?,
                    (key, value) if common.take(key, value)? => {}
                    (key, _) => return Err(does_not_support("common", key)),
                }
            }
        }
        scalar => node.set_text(scalar),
    }
    if !node.has_text() {
        return Err(no_text());
    }
    Ok(common.query(node.with_cutoff(cutoff)))
}
