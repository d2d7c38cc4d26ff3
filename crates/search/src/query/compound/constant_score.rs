//! `constant_score`: a filter whose matches all have the boost as their score.

use limber_mapping::RequestError;
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use crate::cache::KeyWriter;
use crate::error::{Error, Result};
use crate::matcher::{BoxedMatcher, BoxedScorer};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, Whole, boosted, constant_scorer};
use crate::query::extract::asked::{AskedVisitor, Occur, show_clauses};
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::score::Explanation;
use crate::values::json;

#[derive(Debug)]
struct ConstantScore {
    filter: Query,
}

/// Documents that match `inner`, with a constant score.
#[derive(Debug)]
pub(crate) struct ConstantNode {
    pub inner: BoundQuery,
    pub boost: f32,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut filter = None;
    for (key, value) in members {
        match (key.as_str(), value) {
            ("filter", Value::Object(_)) if filter.is_some() => {
                return Err(RequestError::parsing("[constant_score] accepts only one 'filter' element."));
            }
            ("filter", Value::Object(_)) => filter = Some(parser.query(value)?),
            (_, Value::Array(_)) => {
                return Err(RequestError::parsing(format!("unexpected token [{}]", json::token(value))));
            }
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("constant_score", key)),
        }
    }
    let filter =
        filter.ok_or_else(|| RequestError::parsing("[constant_score] requires a 'filter' element"))?;
    Ok(common.query(ConstantScore { filter }))
}

impl QueryNode for ConstantScore {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let inner = binder.query(&self.filter, 1.0)?;
        if inner.is_nothing() {
            return Ok(inner);
        }
        Ok(ConstantNode { inner, boost }.into())
    }

    fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        show_clauses([&self.filter], Occur::Required, visitor);
    }
}

impl BoundNode for ConstantNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        self.inner.matcher(segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        constant_scorer(self, self.boost, segment, is_known)
    }

    fn common_score(&self) -> Option<f32> {
        Some(self.boost)
    }

    fn is_quick(&self) -> bool {
        self.parts().iter().all(|part| part.node.is_quick())
    }

    fn explain(&self, _: &Segment, _: DocId) -> Result<Explanation> {
        Ok(Explanation::leaf(self.boost, self.text()))
    }

    fn class(&self) -> &'static str {
        "ConstantScoreQuery"
    }

    fn text(&self) -> String {
        boosted(&format!("ConstantScore({})", self.inner.text()), self.boost)
    }

    fn matches_as(&self) -> Option<&BoundQuery> {
        Some(&self.inner)
    }

    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        vec![&mut self.inner]
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        self.inner.node.write_key(key)
    }

    fn cacheable_parts(&mut self, _: bool) -> Vec<(&mut BoundQuery, bool)> {
        vec![(&mut self.inner, true)]
    }

    fn whole(&self) -> Option<Whole<'_>> {
        self.inner.node.whole()
    }
}
