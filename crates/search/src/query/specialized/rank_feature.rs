//! `rank_feature`: scores that increase with the value of a feature.
//!
//! Source: Elasticsearch's `RankFeatureQueryBuilder`, Lucene's `FeatureField` and `FeatureQuery`.

use std::sync::Arc;

use limber_mapping::number::java_float;
use limber_mapping::{Field, ObjectParser, RankFeature, RequestError};
use limber_segment::postings::{Postings, Want};
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use crate::cache::KeyWriter;
use crate::error::{Error, Result};
use crate::matcher::{self, BoxedMatcher, BoxedScorer, Scorer, SegmentBits, WINDOW, each_term};
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, only_matching, score_of};
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::query::term_level::prefix::successor;
use crate::score::Explanation;
use crate::values::json;

/// The name of Elasticsearch's parser in its errors.
const PARSER: ObjectParser<'_> = ObjectParser::new("feature");

#[derive(Debug)]
struct RankFeatureQuery {
    field: String,
    function: Function,
}

/// How a score is computed from a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    /// `None` stands for the approximate mean of the feature's values.
    Saturation(Option<f32>),
    Log(f32),
    Sigmoid {
        pivot: f32,
        exponent: f32,
    },
    Linear,
}

/// The bound query: documents with a feature, scored by its value.
#[derive(Debug)]
struct RankFeatureNode {
    docs: Docs,
    /// The field and the term that Elasticsearch indexes the feature under.
    place: (String, String),
    function: Function,
    boost: f32,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut field = None;
    let mut functions = Vec::new();
    for (key, value) in members {
        match (key.as_str(), value) {
            ("field", value) => {
                let unread = || PARSER.unsupported("field", value);
                field = Some(json::scalar_text(value).ok_or_else(unread)?);
            }
            (name @ ("log" | "saturation" | "sigmoid" | "linear"), Value::Object(options)) => {
                let function = parse_function(name, options);
                functions.push(function.map_err(|cause| PARSER.failed(name, cause))?);
            }
            (name @ ("log" | "saturation" | "sigmoid" | "linear"), value) => {
                return Err(PARSER.unsupported(name, value));
            }
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(PARSER.unknown(key)),
        }
    }
    let field = field.ok_or_else(|| ObjectParser::required("field"))?;
    if functions.len() > 1 {
        let cause = "Can only specify one of [log], [saturation], [sigmoid] and [linear]";
        return Err(ObjectParser::new("feature").failed_to_build(RequestError::illegal_argument(cause)));
    }
    let function = functions.pop().unwrap_or(Function::Saturation(None));
    Ok(common.query(RankFeatureQuery { field, function }))
}

fn parse_function(name: &str, options: &Map<String, Value>) -> Result<Function, RequestError> {
    let known: &[&str] = match name {
        "log" => &["scaling_factor"],
        "saturation" => &["pivot"],
        "sigmoid" => &["pivot", "exponent"],
        _ => &[],
    };
    if let Some(unknown) = options.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(ObjectParser::new(name).unknown(unknown));
    }
    let option = |key: &str| -> Result<Option<f32>, RequestError> {
        let Some(value) = options.get(key) else { return Ok(None) };
        json::float(value).map(Some).map_err(|cause| ObjectParser::new(name).failed(key, cause))
    };
    let required = |key: &str| option(key)?.ok_or_else(|| ObjectParser::required(key));
    Ok(match name {
        "log" => Function::Log(required("scaling_factor")?),
        "saturation" => Function::Saturation(option("pivot")?),
        "sigmoid" => Function::Sigmoid { pivot: required("pivot")?, exponent: required("exponent")? },
        _ => Function::Linear,
    })
}

impl QueryNode for RankFeatureQuery {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(Feature { field, kind, name }) = self.feature(binder)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        self.function.check(kind)?;
        let docs = match &name {
            None => Docs::term_range(&field, None, None),
            Some(name) => {
                let prefix = RankFeature::prefix(name);
                let upper = successor(&prefix).map(|upper| (upper, false));
                Docs::term_range(&field, Some((prefix, true)), upper)
            }
        };
        let function = match self.function {
            Function::Saturation(None) => Function::Saturation(Some(mean_value(&field, &docs, binder)?)),
            given => given,
        };
        let place = match name {
            None => ("_feature".to_owned(), field.path.to_string()),
            Some(name) => (field.path.to_string(), name),
        };
        Ok(RankFeatureNode { docs, place, function, boost }.into())
    }
}

/// A feature on a shard.
struct Feature {
    field: Arc<Field>,
    kind: RankFeature,
    /// The name of the feature, if the field has several.
    name: Option<String>,
}

impl RankFeatureQuery {
    /// Returns the feature on a shard; `None` if it is not mapped.
    fn feature(&self, binder: &Binder<'_>) -> Result<Option<Feature>, Error> {
        if let Some(field) = binder.field(&self.field) {
            return match field.feature {
                Some(kind) if !kind.is_named => Ok(Some(Feature { field, kind, name: None })),
                _ => Err(RequestError::illegal_argument(format!(
                    "[rank_feature] query only works on [rank_feature] fields and features of [rank_features] fields, not [{}]",
                    binder.type_name(&field)
                ))
                .into()),
            };
        }
        let Some((parent, name)) = self.field.rsplit_once('.') else { return Ok(None) };
        let Some(field) = binder.field(parent) else { return Ok(None) };
        let named = field.feature.filter(|feature| feature.is_named);
        Ok(named.map(|kind| Feature { field, kind, name: Some(name.to_owned()) }))
    }
}

/// Returns the value that corresponds to the mean of the feature's frequencies in the shard (Lucene's
/// `FeatureField#computePivotFeatureValue`). The terms are values; those of hidden documents do not count.
fn mean_value(field: &Field, docs: &Docs, binder: &Binder<'_>) -> Result<f32, Error> {
    let (mut sum, mut count) = (0u64, 0u64);
    binder.expand_set(field, docs, |cursor| {
        let doc_freq = u64::from(cursor.info()?.doc_freq);
        sum += u64::from(RankFeature::frequency(cursor.term())) * doc_freq;
        count += doc_freq;
        Ok(())
    })?;
    Ok(if count == 0 { 1.0 } else { RankFeature::value((sum as f64 / count as f64) as f32) })
}

impl Function {
    fn check(self, feature: RankFeature) -> Result<(), RequestError> {
        let positive = |name: &str, value: f32| match value > 0.0 {
            true => Ok(()),
            false => {
                Err(RequestError::illegal_argument(format!("{name} must be > 0, got: {}", java_float(value))))
            }
        };
        match self {
            Function::Log(_) if !feature.is_positive && !feature.is_named => {
                Err(RequestError::illegal_argument(
                    "Cannot use the [log] function with a field that has a negative score impact as it would trigger negative scores",
                ))
            }
            Function::Log(scaling) if scaling.is_nan() || scaling < 1.0 => {
                Err(RequestError::illegal_argument(format!(
                    "scalingFactor must be >= 1, got: {}",
                    java_float(scaling)
                )))
            }
            Function::Saturation(Some(pivot)) => positive("pivot", pivot),
            Function::Sigmoid { pivot, exponent } => positive("pivot", pivot).and(positive("exp", exponent)),
            _ => Ok(()),
        }
    }

    /// Computes the score of a value. Source: `score` of the functions in Lucene's `FeatureField`.
    fn score(self, weight: f32, value: f32) -> f32 {
        match self {
            Function::Saturation(pivot) => {
                let pivot = pivot.unwrap_or(1.0);
                weight * (1.0 - pivot / (value + pivot))
            }
            Function::Log(scaling) => (f64::from(weight) * f64::from(scaling + value).ln()) as f32,
            Function::Sigmoid { pivot, exponent } => {
                let (pivot, exponent) = (f64::from(pivot), f64::from(exponent));
                let raised = pivot.powf(exponent);
                (f64::from(weight) * (1.0 - raised / (f64::from(value).powf(exponent) + raised))) as f32
            }
            Function::Linear => weight * value,
        }
    }

    fn text(self) -> String {
        match self {
            Function::Saturation(pivot) => {
                format!("SaturationFunction(pivot={})", java_float(pivot.unwrap_or(1.0)))
            }
            Function::Log(scaling) => format!("LogFunction(scalingFactor={})", java_float(scaling)),
            Function::Sigmoid { pivot, exponent } => {
                format!("SigmoidFunction(pivot={}, a={})", java_float(pivot), java_float(exponent))
            }
            Function::Linear => "LinearFunction".to_owned(),
        }
    }

    /// Returns name, formula and parameters as in Lucene's explanations.
    fn explained(self) -> (&'static str, &'static str, Vec<Explanation>) {
        let pivot_text = "k, pivot feature value that would give a score contribution equal to w/2";
        match self {
            Function::Saturation(pivot) => {
                ("Saturation", "w * S / (S + k)", vec![Explanation::leaf(pivot.unwrap_or(1.0), pivot_text)])
            }
            Function::Log(scaling) => {
                ("Log", "w * log(a + S)", vec![Explanation::leaf(scaling, "a, scaling factor")])
            }
            // Lucene shows the pivot instead of the exponent.
            Function::Sigmoid { pivot, .. } => (
                "Sigmoid",
                "w * S^a / (S^a + k^a)",
                vec![
                    Explanation::leaf(pivot, pivot_text),
                    Explanation::leaf(
                        pivot,
                        "a, exponent, higher values make the function grow slower before k and faster after k",
                    ),
                ],
            ),
            Function::Linear => ("Linear", "w * S", Vec::new()),
        }
    }
}

impl RankFeatureNode {
    fn score(&self, frequency: u16) -> f32 {
        self.function.score(self.boost, RankFeature::value(frequency.into()))
    }

    fn open<'a>(&'a self, segment: &'a Segment) -> Result<FeatureScorer<'a>> {
        let mut scorer = FeatureScorer { node: self, terms: Vec::new(), scores: Vec::new() };
        let Docs::TermRange { field, .. } = &self.docs else { return Ok(scorer) };
        let Some(reader) = segment.postings_reader(&field.path)? else { return Ok(scorer) };
        each_term(&self.docs, segment, |cursor| {
            let postings = reader.postings(&cursor.info()?, Want::Docs)?;
            scorer.terms.push((postings.doc(), RankFeature::frequency(cursor.term()), postings));
            Ok(())
        })?;
        Ok(scorer)
    }
}

impl BoundNode for RankFeatureNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        matcher::set(&self.docs, segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        only_matching(Box::new(self.open(segment)?), self, segment, is_known)
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let value = self.open(segment)?.value_of(doc)?;
        let (name, formula, parameters) = self.function.explained();
        let (field, feature) = &self.place;
        let text = format!(
            "{name} function on the {field} field for the {feature} feature, computed as {formula} from:"
        );
        let mut details = vec![Explanation::leaf(self.boost, "w, weight of this function")];
        details.extend(parameters);
        details.push(Explanation::leaf(value, "S, feature value"));
        Ok(Explanation::of(score_of(self, segment, doc)?, text, details))
    }

    fn class(&self) -> &'static str {
        "FeatureQuery"
    }

    fn text(&self) -> String {
        let (field, feature) = &self.place;
        format!("FeatureQuery(field={field}, feature={feature}, function={})", self.function.text())
    }

    fn bit_set_count(&self) -> u64 {
        2
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        crate::query::docs::write_key(&self.docs, key)
    }
}

/// Scores a feature by the postings of its terms.
struct FeatureScorer<'a> {
    node: &'a RankFeatureNode,
    /// The current document of each term, and the frequency that the term encodes.
    terms: Vec<(DocId, u16, Postings)>,
    /// The scores of the documents in a window.
    scores: Vec<f32>,
}

impl FeatureScorer<'_> {
    fn value_of(&mut self, doc: DocId) -> Result<f32> {
        let mut value = 0.0;
        for (_, frequency, postings) in &mut self.terms {
            if postings.advance(doc) == doc {
                value = RankFeature::value((*frequency).into());
            }
            postings.status()?;
        }
        Ok(value)
    }
}

impl Scorer for FeatureScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        let (Some(&first), Some(&last)) = (docs.first(), docs.last()) else { return Ok(()) };
        let start = first / WINDOW * WINDOW;
        self.scores.clear();
        self.scores.resize((last - start) as usize + 1, 0.0);
        for (doc, frequency, postings) in &mut self.terms {
            if *doc > last {
                continue;
            }
            let score = self.node.score(*frequency);
            let mut at = if *doc < first { postings.advance(first) } else { *doc };
            while at <= last {
                self.scores[(at - start) as usize] = score;
                at = postings.next();
            }
            *doc = at;
            postings.status()?;
        }
        for (doc, sum) in docs.iter().zip(sums) {
            *sum += f64::from(self.scores[(doc - start) as usize]);
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        // Terms ascend with their values, and scores ascend with values.
        Ok(self.terms.last().map_or(0.0, |(_, frequency, _)| self.node.score(*frequency)))
    }

    fn contenders(&self, score: f32, segment: &Segment) -> Result<Option<SegmentBits>> {
        let Docs::TermRange { field, .. } = &self.node.docs else { return Ok(None) };
        let mut bits = SegmentBits::none_of(segment.doc_count());
        let Some(reader) = segment.postings_reader(&field.path)? else { return Ok(Some(bits)) };
        each_term(&self.node.docs, segment, |cursor| {
            if self.node.score(RankFeature::frequency(cursor.term())) < score {
                return Ok(());
            }
            let mut postings = reader.postings(&cursor.info()?, Want::Docs)?;
            let words = bits.words_mut();
            while !postings.block_docs().is_empty() {
                postings.block_docs().iter().for_each(|doc| words[*doc as usize / 64] |= 1 << (doc % 64));
                postings.next_block();
            }
            Ok(postings.status()?)
        })?;
        Ok(Some(bits))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::query::parse::{QueryLimits, parse_query};

    /// Error messages and causes recorded from Elasticsearch 7.17.15.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        for (body, reason, cause) in [
            (json!({}), "Required [field]", ""),
            (json!({"field": "pr", "x": 1}), "[feature] unknown field [x]", ""),
            (
                json!({"field": "pr", "saturation": {}, "log": {"scaling_factor": 1}}),
                "Failed to build [feature] after last required field arrived",
                "Can only specify one of [log], [saturation], [sigmoid] and [linear]",
            ),
            (
                json!({"field": "pr", "log": {}}),
                "[feature] failed to parse field [log]",
                "Required [scaling_factor]",
            ),
            (
                json!({"field": "pr", "sigmoid": {"pivot": 1}}),
                "[feature] failed to parse field [sigmoid]",
                "Required [exponent]",
            ),
            (
                json!({"field": "pr", "log": {"scaling_factor": 1, "y": 2}}),
                "[feature] failed to parse field [log]",
                "[log] unknown field [y]",
            ),
        ] {
            let error = parse_query(&json!({"rank_feature": body}), &QueryLimits::default()).unwrap_err();
            assert_eq!(error.reason, reason);
            assert_eq!(error.caused_by.map(|cause| cause.reason).unwrap_or_default(), cause);
        }
    }

    /// Scores recorded from Elasticsearch 7.17.15 for the values 12.75, 8 and 0.1.
    #[test]
    fn scores_are_those_of_lucene() {
        for (function, weight, scores) in [
            (Function::Saturation(Some(2.125)), 1.0, [0.85714287, 0.79012346, 0.044880927]),
            (Function::Saturation(Some(8.0)), 1.0, [0.61445785, 0.5, 0.01232779]),
            (Function::Log(4.0), 2.0, [5.6367965, 4.9698133, 2.8219025]),
            (Function::Sigmoid { pivot: 7.0, exponent: 0.6 }, 1.0, [0.5889854, 0.520019, 0.07242805]),
            (Function::Linear, 0.5, [6.375, 4.0, 0.049926758]),
        ] {
            for (value, score) in [12.75, 8.0, 0.099853516].into_iter().zip(scores) {
                assert_eq!(function.score(weight, value), score, "{function:?}");
            }
        }
    }
}
