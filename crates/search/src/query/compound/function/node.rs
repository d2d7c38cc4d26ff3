//! A `function_score` query that is bound to a shard.

use limber_segment::{DocId, Segment, SegmentView};

use super::BoundFunction;
use super::scorer::{Factors, FunctionScorer};
use crate::context::ShardSnapshot;
use crate::context::seen::SeenDocs;
use crate::error::Result;
use crate::matcher::{BoxedMatcher, BoxedScorer, ScoredEnough};
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, only_matching};
use crate::query::compound::function_score::{BoostMode, ScoreMode};
use crate::query::extract::required_terms::RequiredTerms;
use crate::score::Explanation;

/// A query and the functions that modify its scores.
#[derive(Debug)]
pub(crate) struct FunctionScoreNode {
    pub query: BoundQuery,
    pub functions: Vec<ScoredFunction>,
    pub score_mode: ScoreMode,
    pub boost_mode: BoostMode,
    /// Upper limit of the factor.
    pub max_boost: f32,
    /// The minimum score of a matching document.
    pub min_score: Option<f32>,
    /// The documents that scripts may read.
    pub seen: SeenDocs,
}

impl FunctionScoreNode {
    /// Whether there is only one function, without a filter, so that no mode is needed.
    pub fn is_single(&self) -> bool {
        matches!(self.functions.as_slice(), [only] if only.filter.is_none())
    }
}

#[derive(Debug)]
pub(crate) struct ScoredFunction {
    /// `None` if the function applies to every document.
    pub filter: Option<BoundQuery>,
    pub weight: Option<f32>,
    /// `None` if there is only the weight.
    pub function: Option<Box<dyn BoundFunction>>,
}

impl BoundNode for FunctionScoreNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let query = self.query.matcher(segment)?;
        match self.min_score {
            None => Ok(query),
            Some(least) => {
                let scorer = Box::new(FunctionScorer::open(self, segment)?);
                Ok(Box::new(ScoredEnough::new(query, scorer, least, self.seen.within(segment))))
            }
        }
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        only_matching(Box::new(FunctionScorer::open(self, segment)?), self, segment, is_known)
    }

    /// Source: `FunctionScoreQuery.CustomBoostFactorWeight#explain`, `CombineFunction#explain`.
    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let score = self.query.explain(segment, doc)?;
        if self.functions.is_empty() {
            return Ok(score);
        }
        let mut functions = Vec::new();
        for function in &self.functions {
            functions.extend(one(function, segment, doc, &score)?);
        }
        let factor = if functions.is_empty() {
            Explanation::leaf(1.0, "No function matched")
        } else if self.is_single() {
            functions.swap_remove(0)
        } else {
            let mut factors = Factors::open(self, segment)?;
            factors.compute(&[doc], &[score.value])?;
            let text = format!("function score, score mode [{}]", self.score_mode.name());
            Explanation::of(factors.of(0) as f32, text, functions)
        };
        Ok(combined(self, score, factor))
    }

    /// Only the scores of a single function without a filter have bounds: see the scorer's `contenders`.
    fn has_unbounded_scores(&self) -> bool {
        let only = self.functions.first().filter(|_| self.is_single());
        only.and_then(|only| only.function.as_ref()).is_none_or(|function| function.max_scores().is_none())
    }

    fn class(&self) -> &'static str {
        "FunctionScoreQuery"
    }

    /// Elasticsearch prints the query as `function score (query, functions: [...])`.
    fn text(&self) -> String {
        let functions: Vec<String> = self
            .functions
            .iter()
            .map(|function| match (&function.filter, function.weight) {
                (Some(filter), weight) => {
                    format!("{{filter({}), weight={}}}", filter.text(), weight.unwrap_or(1.0))
                }
                (None, weight) => format!("{{weight={}}}", weight.unwrap_or(1.0)),
            })
            .collect();
        format!("function score ({}, functions: [{}])", self.query.text(), functions.join(""))
    }

    fn parts(&self) -> Vec<&BoundQuery> {
        let filters = self.functions.iter().filter_map(|function| function.filter.as_ref());
        std::iter::once(&self.query).chain(filters).collect()
    }

    /// The filters of functions say what a hit is worth, not what it matches.
    fn highlighted_parts(&self) -> Vec<&BoundQuery> {
        vec![&self.query]
    }

    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        let filters = self.functions.iter_mut().filter_map(|function| function.filter.as_mut());
        std::iter::once(&mut self.query).chain(filters).collect()
    }

    fn bit_set_count(&self) -> u64 {
        let own = self.parts().into_iter().map(|query| query.node.bit_set_count()).sum::<u64>();
        // A minimum score opens everything once more.
        if self.min_score.is_some() { 3 * own } else { 2 * own }
    }

    fn can_match(&self, shard: &ShardSnapshot) -> Result<bool> {
        self.query.node.can_match(shard)
    }

    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        if self.min_score.is_some() { Ok(None) } else { self.query.node.known_count(view) }
    }

    fn required_terms(&self) -> RequiredTerms {
        match self.min_score {
            None => self.query.node.required_terms(),
            Some(_) => RequiredTerms::Unknown,
        }
    }
}

/// Explains one function; `None` if its filter does not match.
fn one(
    function: &ScoredFunction,
    segment: &Segment,
    doc: DocId,
    score: &Explanation,
) -> Result<Option<Explanation>> {
    if let Some(filter) = &function.filter
        && !filter.matches_doc(segment, doc)?
    {
        return Ok(None);
    }
    let own = match &function.function {
        Some(function) => function.explain(segment, doc, score)?,
        None => Explanation::leaf(1.0, "constant score 1.0 - no function provided"),
    };
    let weighted = match function.weight {
        Some(weight) => {
            Explanation::of(own.value * weight, "product of:", vec![own, Explanation::leaf(weight, "weight")])
        }
        None => own,
    };
    Ok(Some(match &function.filter {
        Some(filter) => Explanation::of(
            weighted.value,
            "function score, product of:",
            vec![Explanation::leaf(1.0, format!("match filter: {}", filter.text())), weighted],
        ),
        None => weighted,
    }))
}

fn combined(node: &FunctionScoreNode, score: Explanation, factor: Explanation) -> Explanation {
    let max_boost = Explanation::leaf(node.max_boost, "maxBoost");
    let least = Explanation::of(factor.value.min(node.max_boost), "min of:", vec![factor, max_boost]);
    let (left, right) = (score.value, least.value);
    let (value, text) = match node.boost_mode {
        BoostMode::Replace => return least,
        BoostMode::Multiply => (left * right, "function score, product of:"),
        BoostMode::Sum => (left + right, "sum of"),
        BoostMode::Avg => (((f64::from(left) + f64::from(right)) / 2.0) as f32, "avg of"),
        BoostMode::Max => (left.max(right), "max of:"),
        BoostMode::Min => (left.min(right), "min of"),
    };
    Explanation::of(value, text, vec![score, least])
}
