//! `bool`: all of `must` and `filter`, none of `must_not`, and enough of `should`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::{BoolNode, BoundQuery, Node};
use super::minimum_should_match;
use super::parse::{Common, Parser, Query, QueryNode};
use crate::error::Error;
use crate::json;

#[derive(Debug, Default)]
pub(super) struct Bool {
    pub must: Vec<Query>,
    pub should: Vec<Query>,
    pub filter: Vec<Query>,
    pub must_not: Vec<Query>,
    pub minimum_should_match: Option<String>,
    pub adjust_pure_negative: bool,
}

pub(super) fn parse(members: &Map<String, Value>, parser: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut node = Bool { adjust_pure_negative: true, ..Bool::default() };
    for (key, value) in members {
        let failed =
            |cause: RequestError| malformed(format!("failed to parse field [{key}]")).caused_by(cause);
        let clauses = match key.as_str() {
            "must" => &mut node.must,
            "should" => &mut node.should,
            "filter" => &mut node.filter,
            "must_not" | "mustNot" => &mut node.must_not,
            "minimum_should_match" => {
                node.minimum_should_match = Some(json::scalar_text(value).ok_or_else(|| {
                    malformed(format!("{key} doesn't support values of type: {}", json::token(value)))
                })?);
                continue;
            }
            "adjust_pure_negative" => {
                node.adjust_pure_negative = json::boolean(value).map_err(failed)?;
                continue;
            }
            _ if common.take(key, value).map_err(failed)? => continue,
            _ => return Err(malformed(format!("unknown field [{key}]"))),
        };
        match value {
            Value::Object(_) => clauses.push(parser.query(value).map_err(failed)?),
            Value::Array(items) => {
                for item in items {
                    clauses.push(parser.query(item).map_err(failed)?);
                }
            }
            Value::Null => {}
            other => {
                return Err(malformed(format!(
                    "{key} doesn't support values of type: {}",
                    json::token(other)
                )));
            }
        }
    }
    Ok(common.query(node))
}

fn malformed(what: String) -> RequestError {
    RequestError::new(400, "x_content_parse_exception", format!("[bool] {what}"))
}

impl QueryNode for Bool {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let bind = |queries: &[Query], boost: f32| -> Result<Vec<BoundQuery>, Error> {
            queries.iter().map(|query| binder.query(query, boost)).collect()
        };
        let mut node = BoolNode {
            must: bind(&self.must, boost)?,
            should: bind(&self.should, boost)?,
            filter: bind(&self.filter, 1.0)?,
            must_not: bind(&self.must_not, 1.0)?,
            min_should_match: 0,
        };
        if node.must.is_empty() && node.should.is_empty() && node.filter.is_empty() {
            if node.must_not.is_empty() {
                return Ok(Node::Everything { boost }.into());
            }
            if !self.adjust_pure_negative {
                return Ok(BoundQuery::nothing("pure negative BooleanQuery"));
            }
            node.filter.push(Node::Everything { boost: 1.0 }.into());
        }
        node.min_should_match = match &self.minimum_should_match {
            Some(spec) => minimum_should_match::required(spec, node.should.len())?,
            None => 0,
        };
        if node.must.is_empty() && node.filter.is_empty() {
            node.min_should_match = node.min_should_match.max(1);
        }
        Ok(BoundQuery::from_bool(node))
    }
}
