//! Modifies the scores of a query by functions of its documents (Elasticsearch's `FunctionScoreQuery`).

use limber_mapping::RequestError;
use limber_mapping::number::java_float;
use limber_segment::{DocId, Segment};

use super::FunctionReader;
use super::node::{FunctionScoreNode, ScoredFunction};
use crate::error::{Result, check_request};
use crate::matcher::{BoxedMatcher, BoxedScorer, Scorer, SegmentBits, contenders, each_match};
use crate::query::compound::function_score::{BoostMode, ScoreMode};

/// One function opened on a segment.
struct OpenFunction<'a> {
    filter: Option<BoxedMatcher<'a>>,
    weight: Option<f32>,
    reader: Option<Box<dyn FunctionReader + 'a>>,
}

/// The combined values of a node's functions for documents.
pub(super) struct Factors<'a> {
    node: &'a FunctionScoreNode,
    functions: Vec<OpenFunction<'a>>,
    /// For the current function: the indexes of the documents that it applies to, the documents, their scores
    /// and its values.
    at: Vec<usize>,
    docs: Vec<DocId>,
    scores: Vec<f32>,
    values: Vec<f64>,
    /// For each document, the factor so far and the sum of weights, which is NaN before the first function.
    factors: Vec<(f64, f64)>,
    /// Whether `values` are the factors, because there is only one function, which applies to all documents.
    is_plain: bool,
}

impl<'a> Factors<'a> {
    /// Opens the functions and their filters on a segment.
    pub fn open(node: &'a FunctionScoreNode, segment: &'a Segment) -> Result<Factors<'a>> {
        let open = |function: &'a ScoredFunction| {
            Ok(OpenFunction {
                filter: match &function.filter {
                    Some(filter) => Some(filter.matcher(segment)?),
                    None => None,
                },
                weight: function.weight,
                reader: match &function.function {
                    Some(function) => Some(function.open(segment)?),
                    None => None,
                },
            })
        };
        Ok(Factors {
            node,
            functions: node.functions.iter().map(open).collect::<Result<_>>()?,
            at: Vec::new(),
            docs: Vec::new(),
            scores: Vec::new(),
            values: Vec::new(),
            factors: Vec::new(),
            is_plain: matches!(node.functions.as_slice(), [only] if only.filter.is_none())
                && !matches!(node.score_mode, ScoreMode::Min | ScoreMode::Avg),
        })
    }

    /// Computes the factor of each document of one window, for [`Factors::of`].
    pub fn compute(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        if self.is_plain {
            return self.compute_plain(docs, scores);
        }
        self.factors.clear();
        self.factors.resize(docs.len(), (1.0, f64::NAN));
        let mode = self.node.score_mode;
        for function in &mut self.functions {
            // Each has read the values of these documents, which may be many.
            check_request()?;
            self.at.clear();
            self.docs.clear();
            self.scores.clear();
            match &mut function.filter {
                // In the mode `first`, later functions are not evaluated for documents that already have one.
                None if mode != ScoreMode::First => self.at.extend(0..docs.len()),
                None => {
                    let open = |at: &usize| self.factors[*at].1.is_nan();
                    self.at.extend((0..docs.len()).filter(open));
                }
                Some(filter) => {
                    let (at, factors) = (&mut self.at, &self.factors);
                    each_match(filter, docs, |index| {
                        if mode != ScoreMode::First || factors[index].1.is_nan() {
                            at.push(index);
                        }
                    })?;
                }
            }
            self.docs.extend(self.at.iter().map(|at| docs[*at]));
            self.scores.extend(self.at.iter().map(|at| scores[*at]));
            self.values.clear();
            self.values.resize(self.docs.len(), 1.0);
            if let Some(reader) = &mut function.reader {
                reader.read(&self.docs, &self.scores, &mut self.values)?;
            }
            let weight = f64::from(function.weight.unwrap_or(1.0));
            for (at, value) in self.at.iter().zip(&self.values) {
                add(mode, &mut self.factors[*at], value * weight, weight);
            }
        }
        if mode == ScoreMode::Min {
            // Elasticsearch starts with infinity and treats that as no function.
            for (factor, _) in self.factors.iter_mut().filter(|(factor, _)| *factor == f64::INFINITY) {
                *factor = 1.0;
            }
        }
        if mode == ScoreMode::Avg {
            for (factor, weights) in &mut self.factors {
                if !weights.is_nan() {
                    *factor = if *weights == 0.0 { 1.0 } else { *factor / *weights };
                }
            }
        }
        Ok(())
    }

    /// Computes the factors of the only function.
    fn compute_plain(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        self.values.clear();
        self.values.resize(docs.len(), 1.0);
        for function in &mut self.functions {
            check_request()?;
            if let Some(reader) = &mut function.reader {
                reader.read(docs, scores, &mut self.values)?;
            }
            if let Some(weight) = function.weight {
                self.values.iter_mut().for_each(|value| *value *= f64::from(weight));
            }
        }
        Ok(())
    }

    /// Returns the factor of the document at this index of the batch.
    #[inline]
    pub fn of(&self, at: usize) -> f64 {
        if self.is_plain { self.values[at] } else { self.factors[at].0 }
    }

    /// Returns the factors of the batch, if they are a list.
    fn plain(&self) -> Option<&[f64]> {
        self.is_plain.then_some(self.values.as_slice())
    }
}

/// Combines another function's value with a document's factor.
#[inline]
fn add(mode: ScoreMode, (factor, weights): &mut (f64, f64), value: f64, weight: f64) {
    if weights.is_nan() {
        (*factor, *weights) = (value, weight);
        return;
    }
    *weights += weight;
    match mode {
        ScoreMode::Multiply => *factor *= value,
        ScoreMode::Sum | ScoreMode::Avg => *factor += value,
        ScoreMode::First => {}
        ScoreMode::Max => *factor = factor.max(value),
        ScoreMode::Min => *factor = factor.min(value),
    }
}

/// The scores of a query, modified by its functions.
pub(super) struct FunctionScorer<'a> {
    node: &'a FunctionScoreNode,
    /// `None` if the query's scores are not needed.
    query: Option<BoxedScorer<'a>>,
    factors: Factors<'a>,
    sums: Vec<f64>,
    scores: Vec<f32>,
}

impl<'a> FunctionScorer<'a> {
    /// Opens the query and its functions on a segment.
    pub fn open(node: &'a FunctionScoreNode, segment: &'a Segment) -> Result<FunctionScorer<'a>> {
        let is_replaced = node.boost_mode == BoostMode::Replace && !node.functions.is_empty();
        let needs_scores = !is_replaced
            || node
                .functions
                .iter()
                .any(|function| function.function.as_ref().is_some_and(|inner| inner.needs_scores()));
        let query = match needs_scores {
            true => Some(node.query.scorer(segment, true)?),
            false => None,
        };
        let factors = Factors::open(node, segment)?;
        Ok(FunctionScorer { node, query, factors, sums: Vec::new(), scores: Vec::new() })
    }

    /// Returns the query's scores of documents that it matches.
    fn scores(&mut self, docs: &[DocId]) -> Result<&[f32]> {
        self.scores.clear();
        match &mut self.query {
            Some(query) => {
                self.sums.clear();
                self.sums.resize(docs.len(), 0.0);
                query.score(docs, &mut self.sums)?;
                self.scores.extend(self.sums.iter().map(|sum| *sum as f32));
            }
            None => self.scores.resize(docs.len(), 1.0),
        }
        if self.node.functions.is_empty() {
            return Ok(&self.scores);
        }
        self.factors.compute(docs, &self.scores)?;
        let (mode, max_boost) = (self.node.boost_mode, self.node.max_boost);
        let mut is_valid = true;
        match self.factors.plain() {
            Some(factors) => {
                // One test of the mode for all documents.
                mode.combine_all(&mut self.scores, factors, max_boost);
                self.scores.iter().for_each(|score| is_valid &= *score >= 0.0);
            }
            None => {
                for (at, score) in self.scores.iter_mut().enumerate() {
                    *score = mode.combine(*score, self.factors.of(at), max_boost);
                    is_valid &= *score >= 0.0;
                }
            }
        }
        if !is_valid && let Some(at) = self.scores.iter().position(|score| score.is_nan() || *score < 0.0) {
            return Err(RequestError::bad_request(
                "exception",
                format!(
                    "function score query returned an invalid score: {} for doc: {}",
                    java_float(self.scores[at]),
                    docs[at]
                ),
            )
            .into());
        }
        Ok(&self.scores)
    }
}

impl Scorer for FunctionScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (sum, score) in sums.iter_mut().zip(self.scores(docs)?) {
            *sum += f64::from(*score);
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        Ok(f32::INFINITY)
    }

    fn contenders(&self, score: f32, segment: &Segment) -> Result<Option<SegmentBits>> {
        let Some(only) = self.node.functions.first().filter(|_| self.node.is_single()) else {
            return Ok(None);
        };
        let max_scores = only.function.as_ref().and_then(|function| function.max_scores());
        let Some(max_scores) = max_scores else { return Ok(None) };
        let query_most = match self.query {
            Some(_) => self.node.query.scorer(segment, true)?.max_score(0, segment.doc_count())?,
            None => 1.0,
        };
        let (node, weight) = (self.node, f64::from(only.weight.unwrap_or(1.0)));
        if weight < 0.0 || query_most.is_nan() {
            return Ok(None);
        }
        let beats = |most: f64| {
            let reached = node.boost_mode.combine(query_most, most * weight, node.max_boost);
            reached.is_nan() || reached.next_up() >= score
        };
        contenders(&*max_scores, segment, beats)
    }
}
