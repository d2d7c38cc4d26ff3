//! `boosting`: documents of one query, whose scores are lowered if they match another one.

use limber_mapping::RequestError;
use limber_mapping::number::java_float;
use limber_segment::{DocId, Segment, SegmentView};
use serde_json::{Map, Value};

use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::matcher::{BoxedMatcher, BoxedScorer, Scorer, each_match};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, only_matching};
use crate::query::extract::asked::{AskedVisitor, Occur, show_clauses};
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::score::Explanation;
use crate::values::json;

#[derive(Debug)]
struct Boosting {
    positive: Query,
    negative: Query,
    negative_boost: f32,
}

/// Documents of one query, whose scores are lowered if they match another one.
#[derive(Debug)]
pub(crate) struct BoostingNode {
    pub positive: BoundQuery,
    pub negative: BoundQuery,
    pub negative_boost: f32,
    pub boost: f32,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut positive, mut negative, mut negative_boost) = (None, None, -1.0);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("positive", Value::Object(_)) => positive = Some(parser.query(value)?),
            ("negative", Value::Object(_)) => negative = Some(parser.query(value)?),
            ("negative_boost", value) if !value.is_object() => negative_boost = json::float(value)?,
            (key, value) if !value.is_object() && common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("boosting", key)),
        }
    }
    let missing = |what: &str| RequestError::parsing(format!("[boosting] query requires {what}'"));
    let positive = positive.ok_or_else(|| missing("'positive' query to be set"))?;
    let negative = negative.ok_or_else(|| missing("'negative' query to be set"))?;
    if negative_boost < 0.0 {
        return Err(missing("'negative_boost' to be set to be a positive value"));
    }
    Ok(common.query(Boosting { positive, negative, negative_boost }))
}

impl QueryNode for Boosting {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let positive = binder.query(&self.positive, 1.0)?;
        if positive.is_nothing() {
            return Ok(positive);
        }
        let negative = binder.query(&self.negative, 1.0)?;
        let node = BoostingNode { positive, negative, negative_boost: self.negative_boost, boost };
        Ok(node.into())
    }

    fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        show_clauses([&self.positive], Occur::Required, visitor);
        show_clauses([&self.negative], Occur::Optional, visitor);
    }
}

impl BoundNode for BoostingNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        self.positive.matcher(segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        let scorer = BoostingScorer {
            positive: self.positive.scorer(segment, true)?,
            negative: self.negative.matcher(segment)?,
            negative_boost: self.negative_boost,
            boost: self.boost,
            sums: Vec::new(),
            lowered: Vec::new(),
        };
        only_matching(Box::new(scorer), self, segment, is_known)
    }

    fn has_unbounded_scores(&self) -> bool {
        self.positive.node.has_unbounded_scores()
    }

    /// Source: Lucene's `FunctionScoreQuery` and its `MultiplicativeBoostValuesSource`.
    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let inner = self.positive.explain(segment, doc)?;
        let inner = match self.negative.matches_doc(segment, doc)? {
            false => inner,
            true => {
                let value = f64::from(inner.value) * f64::from(self.negative_boost);
                let factor = Explanation::leaf(
                    self.negative_boost,
                    format!("Matched boosting query score({})", self.negative.text()),
                );
                let mut product = Explanation::of(value as f32, "product of:", vec![inner, factor]);
                product.double = Some(value);
                product
            }
        };
        let source = self.text();
        let exact = inner.double.unwrap_or(f64::from(inner.value));
        if self.boost == 1.0 {
            let mut whole =
                Explanation::of(inner.value, format!("weight({source}), result of:"), vec![inner]);
            whole.double = whole.details[0].double;
            return Ok(whole);
        }
        let boost = Explanation::leaf(self.boost, "boost");
        let value = (exact * f64::from(self.boost)) as f32;
        Ok(Explanation::of(value, format!("weight({source}), product of:"), vec![boost, inner]))
    }

    fn class(&self) -> &'static str {
        "FunctionScoreQuery"
    }

    fn text(&self) -> String {
        format!(
            "FunctionScoreQuery({}, scored by boost(queryboost(score({}))^{}))",
            self.positive.text(),
            self.negative.text(),
            java_float(self.negative_boost)
        )
    }

    fn parts(&self) -> Vec<&BoundQuery> {
        vec![&self.positive, &self.negative]
    }

    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        vec![&mut self.positive, &mut self.negative]
    }

    fn highlighted_parts(&self) -> Vec<&BoundQuery> {
        vec![&self.positive]
    }

    fn bit_set_count(&self) -> u64 {
        2 * self.positive.node.bit_set_count() + self.negative.node.bit_set_count()
    }

    fn can_match(&self, shard: &ShardSnapshot) -> Result<bool> {
        self.positive.node.can_match(shard)
    }

    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        self.positive.node.known_count(view)
    }

    fn required_terms(&self) -> RequiredTerms {
        self.positive.node.required_terms()
    }
}

/// Multiplies scores by a factor if another query matches.
struct BoostingScorer<'a> {
    positive: BoxedScorer<'a>,
    negative: BoxedMatcher<'a>,
    negative_boost: f32,
    boost: f32,
    sums: Vec<f64>,
    lowered: Vec<bool>,
}

impl Scorer for BoostingScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        self.sums.clear();
        self.sums.resize(docs.len(), 0.0);
        self.positive.score(docs, &mut self.sums)?;
        self.lowered.clear();
        self.lowered.resize(docs.len(), false);
        let lowered = &mut self.lowered;
        each_match(&mut self.negative, docs, |at| lowered[at] = true)?;
        let (boost, negative_boost) = (f64::from(self.boost), f64::from(self.negative_boost));
        for ((sum, own), lowered) in sums.iter_mut().zip(&self.sums).zip(&self.lowered) {
            let factor = if *lowered { negative_boost } else { 1.0 };
            let score = f64::from(*own as f32) * factor;
            *sum += f64::from((score * boost) as f32);
        }
        Ok(())
    }

    fn max_score(&mut self, start: DocId, end: DocId) -> Result<f32> {
        let most = self.positive.max_score(start, end)? * self.boost * self.negative_boost.max(1.0);
        Ok(most.next_up())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::query::parse::{QueryLimits, parse_query};

    /// Error messages recorded from Elasticsearch 8.19.13.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        let all = json!({"match_all": {}});
        for (body, reason) in [
            (json!({}), "[boosting] query requires 'positive' query to be set'"),
            (json!({"positive": all}), "[boosting] query requires 'negative' query to be set'"),
            (
                json!({"positive": all, "negative": all, "negative_boost": -1}),
                "[boosting] query requires 'negative_boost' to be set to be a positive value'",
            ),
            (json!({"x": 1}), "[boosting] query does not support [x]"),
        ] {
            let error = parse_query(&json!({"boosting": body}), &QueryLimits::default()).unwrap_err();
            assert_eq!(error.reason, reason);
        }
    }
}
