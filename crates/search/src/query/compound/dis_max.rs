//! `dis_max`: documents that match any clause, scored by the best clause.

use limber_mapping::RequestError;
use limber_mapping::number::java_float;
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use crate::cache::KeyWriter;
use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::matcher::{BoxedMatcher, BoxedScorer, DisMaxScorer, Union};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, score_of};
use crate::query::cached::FREQUENCY_OF_COMBINED;
use crate::query::extract::asked::{AskedVisitor, Occur, show_clauses};
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::score::Explanation;
use crate::values::json;

#[derive(Debug)]
pub(in crate::query) struct DisMax {
    pub queries: Vec<Query>,
    /// The scores of the other clauses are multiplied by this factor and added to the best one.
    pub tie_breaker: f32,
    /// Whether it is the request's own `dis_max`, which Lucene makes even of a single clause.
    pub is_asked: bool,
}

/// At least two clauses, of which the best one determines the score.
#[derive(Debug)]
pub(crate) struct DisMaxNode {
    pub queries: Vec<BoundQuery>,
    pub tie_breaker: f32,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut node = DisMax { queries: Vec::new(), tie_breaker: 0.0, is_asked: true };
    for (key, value) in members {
        match (key.as_str(), value) {
            ("queries", Value::Array(items)) => {
                for item in items {
                    node.queries.push(parser.query(item)?);
                }
            }
            ("queries", one @ Value::Object(_)) => node.queries.push(parser.query(one)?),
            (key, Value::Array(_) | Value::Object(_)) => return Err(does_not_support("dis_max", key)),
            ("tie_breaker", value) => node.tie_breaker = json::float(value)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("dis_max", key)),
        }
    }
    if node.queries.is_empty() {
        return Err(RequestError::parsing("[dis_max] requires 'queries' field with at least one clause"));
    }
    Ok(common.query(node))
}

/// Refuses a factor that Lucene's `DisjunctionMaxQuery` does not accept.
pub(in crate::query) fn check_tie_breaker(factor: f32) -> Result<(), RequestError> {
    match (0.0..=1.0).contains(&factor) {
        true => Ok(()),
        false => Err(RequestError::illegal_argument("tieBreakerMultiplier must be in [0, 1]")),
    }
}

impl QueryNode for DisMax {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        if self.is_asked || self.queries.len() > 1 {
            check_tie_breaker(self.tie_breaker)?;
        }
        let mut queries = Vec::with_capacity(self.queries.len());
        for query in &self.queries {
            let bound = binder.query(query, boost)?;
            if !binder.is_idle(&bound) || self.queries.len() == 1 {
                queries.push(bound);
            }
        }
        Ok(match queries.len() {
            0 => BoundQuery::nothing("no clause of a disjunction can match"),
            1 => queries.remove(0),
            _ => DisMaxNode { queries, tie_breaker: self.tie_breaker }.into(),
        })
    }

    fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        show_clauses(&self.queries, Occur::Optional, visitor);
    }
}

impl BoundNode for DisMaxNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let parts = self.queries.iter().map(|query| query.matcher(segment)).collect::<Result<_>>()?;
        Ok(Box::new(Union { parts }))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, _: bool) -> Result<BoxedScorer<'a>> {
        let parts = self.queries.iter().map(|query| query.scorer(segment, false)).collect::<Result<_>>()?;
        Ok(Box::new(DisMaxScorer { parts, tie_breaker: self.tie_breaker, scores: Vec::new() }))
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let mut details = Vec::new();
        for clause in &self.queries {
            if clause.matches_doc(segment, doc)? {
                details.push(clause.explain(segment, doc)?);
            }
        }
        let text = match self.tie_breaker {
            0.0 => "max of:".to_owned(),
            tie => format!("max plus {} times others of:", java_float(tie)),
        };
        Ok(Explanation::of(score_of(self, segment, doc)?, text, details))
    }

    fn has_unbounded_scores(&self) -> bool {
        self.queries.iter().any(|clause| clause.node.has_unbounded_scores())
    }

    fn class(&self) -> &'static str {
        "DisjunctionMaxQuery"
    }

    fn text(&self) -> String {
        let clauses: Vec<String> = self.queries.iter().map(|query| query.node.clause_text()).collect();
        let tie = match self.tie_breaker {
            0.0 => String::new(),
            tie => format!("~{}", java_float(tie)),
        };
        format!("({}){tie}", clauses.join(" | "))
    }

    fn parts(&self) -> Vec<&BoundQuery> {
        self.queries.iter().collect()
    }

    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        self.queries.iter_mut().collect()
    }

    fn can_match(&self, shard: &ShardSnapshot) -> Result<bool> {
        any_can_match(&self.queries, shard)
    }

    fn required_terms(&self) -> RequiredTerms {
        RequiredTerms::any_of(&self.queries)
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        key.tag(b'd');
        key.number(self.queries.len() as u64);
        self.queries.iter().all(|query| query.node.write_key(key))
    }

    fn uses_before_kept(&self) -> Option<u32> {
        Some(FREQUENCY_OF_COMBINED)
    }
}

/// Whether any of several queries can match in the shard.
pub(in crate::query) fn any_can_match(queries: &[BoundQuery], shard: &ShardSnapshot) -> Result<bool> {
    for query in queries {
        if query.node.can_match(shard)? {
            return Ok(true);
        }
    }
    Ok(false)
}
