//! `combined_fields`: searches several text fields as if they were one field with the words of all of them.
//!
//! The frequencies and lengths of the fields are added with the weights of the fields (BM25F). Source:
//! Elasticsearch's `CombinedFieldsQueryBuilder`, Lucene's `CombinedFieldQuery`.

use std::sync::Arc;

use limber_codec::norm;
use limber_mapping::number::java_float;
use limber_mapping::{Field, ObjectParser, RequestError, Similarity};
use limber_segment::norms::Norms;
use limber_segment::postings::{Postings, Want};
use limber_segment::{DocId, NO_MORE_DOCS, Segment};
use serde_json::{Map, Value};

use super::analysed::analyse;
use super::cross_fields::analysis_of;
use super::match_text::{joined, no_terms, zero_terms};
use super::multi_match::parse_fields;
use super::query_string::parse_operator;
use crate::error::{Error, Result};
use crate::matcher::{self, BoxedMatcher, BoxedScorer, Scorer, Union};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, Part, WeightedPart};
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::score::{Bm25, Explanation, FieldStatistics};
use crate::values::json;

#[derive(Debug)]
struct CombinedFields {
    text: String,
    /// Names or patterns, with weights.
    fields: Vec<(String, f32)>,
    is_and: bool,
    minimum_should_match: Option<String>,
    zero_terms_all: bool,
}

/// Documents with a term in any of the fields.
#[derive(Debug)]
pub(crate) struct CombinedNode {
    /// The fields with their weights, sorted by path.
    pub fields: Arc<[(Arc<Field>, f32)]>,
    pub term: Box<[u8]>,
    pub scorer: Bm25,
}

impl CombinedNode {
    /// Returns the combined norm of a document, given the norm of each field.
    pub fn norm(&self, norms: impl Iterator<Item = Option<u8>>) -> u8 {
        let lengths = norms.map(|norm| norm.map_or(0.0, |norm| norm::decode(norm) as f32));
        let sum: f32 = self.fields.iter().zip(lengths).map(|((_, weight), length)| weight * length).sum();
        norm::encode(sum.round() as u32)
    }
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut text, mut fields) = (None, Vec::new());
    let (mut is_and, mut minimum_should_match, mut zero_terms_all) = (false, None, false);
    for (key, value) in members {
        let failed = |cause: RequestError| PARSER.failed(key, cause);
        match (key.as_str(), value) {
            ("fields", Value::Array(_) | Value::String(_)) => fields = weights(value).map_err(failed)?,
            ("query" | "_name", other @ (Value::Bool(_) | Value::Number(_)))
            | ("fields", other)
            | (_, other @ (Value::Array(_) | Value::Object(_) | Value::Null)) => {
                return Err(PARSER.unsupported(key, other));
            }
            ("query", _) => text = json::scalar_text(value),
            ("operator", _) => is_and = parse_operator(value).map_err(failed)?,
            ("minimum_should_match", _) => minimum_should_match = json::scalar_text(value),
            ("zero_terms_query", _) => zero_terms_all = zero_terms(value).map_err(failed)?,
            // Ignored: synonyms of several words are not searched as phrases.
            ("auto_generate_synonyms_phrase_query", _) => {
                json::boolean(value).map_err(failed)?;
            }
            (key, value) if common.take(key, value).map_err(failed)? => {}
            _ => return Err(PARSER.unknown(key)),
        }
    }
    let text = text.ok_or_else(|| ObjectParser::required("query"))?;
    Ok(common.query(CombinedFields { text, fields, is_and, minimum_should_match, zero_terms_all }))
}

fn weights(value: &Value) -> Result<Vec<(String, f32)>, RequestError> {
    let fields = parse_fields("combined_fields", value)?;
    match fields.iter().all(|(_, weight)| *weight >= 1.0) {
        true => Ok(fields),
        false => Err(RequestError::illegal_argument("[combined_fields] requires field boosts to be >= 1.0")),
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("combined_fields");

impl CombinedFields {
    /// Returns the mapped fields, sorted by path.
    fn mapped(&self, binder: &Binder<'_>) -> Result<Vec<(Arc<Field>, f32)>, Error> {
        let refused = |reason: String| Err(RequestError::illegal_argument(reason).into());
        if self.fields.is_empty() {
            return refused("In [combined_fields] query, at least one field must be provided".to_owned());
        }
        let mut mapped: Vec<(Arc<Field>, f32)> = Vec::new();
        for (path, weight) in binder.expand_fields(&self.fields)? {
            let Some(field) = binder.field(&path) else { continue };
            if !field.is_analyzed() {
                return refused(format!(
                    "Field [{path}] of type [{}] does not support [combined_fields] queries",
                    field.type_name()
                ));
            }
            if field.match_only {
                let what = format!("[combined_fields] on field [{path}] of type [match_only_text]");
                return Err(RequestError::unsupported(what).into());
            }
            if field.similarity != Similarity::default() {
                let reason = "[combined_fields] queries cannot be used with per-field similarities";
                return refused(reason.to_owned());
            }
            match mapped.iter_mut().find(|(known, _)| known.path == field.path) {
                Some((_, known)) => *known *= weight,
                None => mapped.push((field, weight)),
            }
        }
        let is_same = |(field, _): &(Arc<Field>, f32)| analysis_of(field) == analysis_of(&mapped[0].0);
        if !mapped.iter().all(is_same) {
            let reason = "All fields in [combined_fields] query must have the same search analyzer";
            return refused(reason.to_owned());
        }
        mapped.sort_by(|left, right| left.0.path.cmp(&right.0.path));
        Ok(mapped)
    }
}

impl QueryNode for CombinedFields {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let fields: Arc<[(Arc<Field>, f32)]> = self.mapped(binder)?.into();
        let Some((first, _)) = fields.first() else {
            return Ok(BoundQuery::nothing("no mapped field"));
        };
        let terms = analyse("combined_fields", first, None, &self.text, true, binder)?;
        let words = terms.into_iter().map(|(term, _)| word(&fields, term, boost, binder));
        let words = words.collect::<Result<Vec<BoundQuery>, Error>>()?;
        let found = joined(words, self.is_and, self.minimum_should_match.as_deref())?;
        Ok(found.unwrap_or_else(|| no_terms(self.zero_terms_all, boost)))
    }
}

fn word(
    fields: &Arc<[(Arc<Field>, f32)]>,
    term: Box<[u8]>,
    boost: f32,
    binder: &Binder<'_>,
) -> Result<BoundQuery, Error> {
    let (mut doc_freq, mut doc_count, mut occurrences) = (0, 0, 0.0);
    for (field, weight) in fields.iter() {
        let statistics = binder.statistics(field)?;
        doc_freq = binder.doc_freq(field, &term)?.max(doc_freq);
        doc_count = statistics.doc_count.max(doc_count);
        occurrences += f64::from(*weight) * statistics.sum_total_term_freq as f64;
    }
    let statistics = FieldStatistics { doc_count, sum_total_term_freq: occurrences as u64, sum_doc_freq: 0 };
    let scorer = binder.combined_scorer(&term, fields.len(), doc_freq, statistics, boost)?;
    Ok(CombinedNode { fields: fields.clone(), term, scorer }.into())
}

impl BoundNode for CombinedNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let parts = self.fields.iter().map(|(field, _)| matcher::term(segment, field, &self.term));
        Ok(Box::new(Union { parts: parts.collect::<Result<_>>()? }))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, _: bool) -> Result<BoxedScorer<'a>> {
        Ok(Box::new(CombinedScorer::open(self, segment)?))
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let mut opened = CombinedScorer::open(self, segment)?;
        let (freq, norm) = (opened.freq(doc), opened.norm(doc));
        let freq = Explanation::leaf(freq, format!("termFreq={}", java_float(freq)));
        let score = self.scorer.explain(freq, norm);
        let text = format!("weight({} in {doc}), result of:", self.text());
        Ok(Explanation::of(score.value, text, vec![score]))
    }

    fn class(&self) -> &'static str {
        "CombinedFieldQuery"
    }

    fn text(&self) -> String {
        let fields: Vec<String> = self
            .fields
            .iter()
            .map(|(field, weight)| match *weight {
                1.0 => field.path.to_string(),
                weight => format!("{}^{}", field.path, java_float(weight)),
            })
            .collect();
        format!("CombinedFieldQuery(({})({}))", fields.join(" "), String::from_utf8_lossy(&self.term))
    }

    fn required_terms(&self) -> RequiredTerms {
        let terms = self.fields.iter().map(|(field, _)| (field.path.clone(), self.term.clone()));
        RequiredTerms::exactly(terms.collect())
    }

    fn word_parts(&self) -> Vec<WeightedPart<'_>> {
        let (part, boost) = (Part::Term(&self.term), self.scorer.boost());
        self.fields.iter().map(|(field, _)| WeightedPart { part, boost, field }).collect()
    }
}

/// Scores a term by its combined frequency and norm in all fields.
struct CombinedScorer<'a> {
    node: &'a CombinedNode,
    /// Indexed by field; `None` if the segment does not have the term there.
    postings: Vec<Option<Postings>>,
    norms: Vec<Option<&'a Norms>>,
}

impl<'a> CombinedScorer<'a> {
    fn open(node: &'a CombinedNode, segment: &'a Segment) -> Result<CombinedScorer<'a>> {
        let (mut postings, mut norms) = (Vec::new(), Vec::new());
        for (field, _) in node.fields.iter() {
            postings.push(matcher::open_postings(segment, field, &node.term, Want::Freqs)?);
            norms.push(segment.norms(&field.path)?);
        }
        Ok(CombinedScorer { node, postings, norms })
    }

    /// Returns the weighted frequency of the term in a document. Documents must ascend from call to call.
    fn freq(&mut self, doc: DocId) -> f32 {
        let mut sum = 0.0;
        for (postings, (_, weight)) in self.postings.iter_mut().zip(self.node.fields.iter()) {
            let Some(postings) = postings else { continue };
            if postings.doc() < doc {
                postings.advance(doc);
            }
            if postings.doc() == doc {
                sum += weight * postings.freq() as f32;
            }
        }
        sum
    }

    fn norm(&self, doc: DocId) -> u8 {
        self.node.norm(self.norms.iter().map(|norms| norms.map(|norms| norms.get(doc))))
    }
}

impl Scorer for CombinedScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (doc, sum) in docs.iter().zip(sums) {
            let freq = self.freq(*doc);
            if freq > 0.0 {
                *sum += f64::from(self.node.scorer.score(freq, self.norm(*doc)));
            }
        }
        for postings in self.postings.iter().flatten() {
            postings.status()?;
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, end: DocId) -> Result<f32> {
        let is_over = |postings: &Option<Postings>| {
            postings.as_ref().is_none_or(|postings| postings.doc() == NO_MORE_DOCS || postings.doc() >= end)
        };
        match self.postings.iter().all(is_over) {
            true => Ok(0.0),
            false => Ok(self.node.scorer.max_score()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::query::parse::{QueryLimits, parse_query};
    use serde_json::json;

    /// Error messages recorded from Elasticsearch 9.4.3.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        for (body, reason, cause) in [
            (json!({}), "Required [query]", ""),
            (json!({"query": "a", "slop": 2}), "[combined_fields] unknown field [slop]", ""),
            (
                json!({"query": "a", "fields": 5}),
                "[combined_fields] fields doesn't support values of type: VALUE_NUMBER",
                "",
            ),
            (
                json!({"query": "a", "fields": ["b^0.5"]}),
                "[combined_fields] failed to parse field [fields]",
                "[combined_fields] requires field boosts to be >= 1.0",
            ),
            (
                json!({"query": "a", "operator": "xor"}),
                "[combined_fields] failed to parse field [operator]",
                "No enum constant org.elasticsearch.index.query.Operator.XOR",
            ),
        ] {
            let query = json!({"combined_fields": body});
            let error = parse_query(&query, &QueryLimits::default()).unwrap_err();
            assert_eq!(error.reason, reason, "{body}");
            assert_eq!(error.caused_by.map_or(String::new(), |cause| cause.reason), cause);
        }
    }
}
