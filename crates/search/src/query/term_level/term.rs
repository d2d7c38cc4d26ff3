//! `term`: documents with exactly this value.

use limber_mapping::RequestError;
use limber_segment::postings::{KnownBounds, Want};
use limber_segment::{DocId, Segment, SegmentView};
use serde_json::{Map, Value};

use crate::cache::KeyWriter;
use crate::error::{Error, Result};
use crate::matcher::{self, BoxedMatcher, BoxedScorer, TermScorer};
use crate::primitives::TermNode;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, CountedFrom, Part, WeightedPart, constant_scorer};
use crate::query::extract::asked::{Asked, AskedVisitor};
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support, no_field, single_field};
use crate::query::scoring::norm_of;
use crate::score::Explanation;
use crate::values::json;

#[derive(Debug)]
struct Term {
    field: String,
    value: Value,
    case_insensitive: bool,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("term", members, &mut common)?.ok_or_else(no_field)?;
    let mut term = Term { field: field.to_owned(), value: Value::Null, case_insensitive: false };
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                match key.as_str() {
                    "value" | "term" => term.value = value.clone(),
                    "case_insensitive" => term.case_insensitive = json::boolean(value)?,
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support("term", key)),
                }
            }
        }
        Value::Array(_) => {
            return Err(RequestError::parsing("[term] query does not support array of values"));
        }
        Value::Null => return Err(no_field()),
        scalar => term.value = scalar.clone(),
    }
    match term.value {
        Value::Null => Err(RequestError::illegal_argument("value cannot be null")),
        Value::Array(_) | Value::Object(_) => {
            Err(RequestError::parsing("[term] query does not support array of values"))
        }
        _ => Ok(common.query(term)),
    }
}

impl QueryNode for Term {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        if self.case_insensitive {
            let text = json::scalar_text(&self.value).unwrap_or_default();
            return super::wildcard::bind_literal(binder, &self.field, &text, boost);
        }
        binder.term(&self.field, &self.value, boost)
    }

    fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        visitor.take(&self.field, Asked::Values(std::slice::from_ref(&self.value)));
    }
}

impl BoundNode for TermNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        matcher::term(segment, &self.field, &self.term)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        match matcher::open_postings(segment, &self.field, &self.term, Want::Freqs)? {
            None => constant_scorer(self, 0.0, segment, is_known),
            Some(postings) => {
                let norms = segment.norms(&self.field.path)?;
                let (known, bm25) = (KnownBounds::default(), &self.scorer);
                Ok(Box::new(TermScorer { postings, known, norms, bm25 }))
            }
        }
    }

    fn is_quick(&self) -> bool {
        true
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let mut freq = 0;
        if let Some(mut postings) = matcher::open_postings(segment, &self.field, &self.term, Want::Freqs)?
            && postings.advance(doc) == doc
        {
            freq = postings.freq();
        }
        let freq = Explanation::leaf(freq as f32, "freq, occurrences of term within document");
        let norm = norm_of(segment, &self.field.path, doc)?;
        Ok(self.scorer.explain_weight(&self.text(), freq, norm, doc))
    }

    fn class(&self) -> &'static str {
        "TermQuery"
    }

    fn text(&self) -> String {
        format!("{}:{}", self.field.path, String::from_utf8_lossy(&self.term))
    }

    fn counted_from(&self) -> Option<CountedFrom> {
        Some(CountedFrom::Term)
    }

    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        if view.deleted_count() > 0 {
            return Ok(None);
        }
        Ok(match view.segment.terms(&self.field.path)? {
            Some(terms) => {
                terms.get_recent(&self.term)?.map_or(Some(0), |info| Some(u64::from(info.doc_freq)))
            }
            None => Some(0),
        })
    }

    fn required_terms(&self) -> RequiredTerms {
        match &self.field.flattened {
            // The terms of a flattened field's key are indexed in another field, with the key as a prefix.
            Some(_) => RequiredTerms::Unknown,
            None => RequiredTerms::exactly(vec![(self.field.path.clone(), self.term.clone())]),
        }
    }

    fn word_parts(&self) -> Vec<WeightedPart<'_>> {
        let (part, boost) = (Part::Term(&self.term), self.scorer.boost());
        vec![WeightedPart { part, boost, field: &self.field }]
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        key.tag(b't');
        key.text(self.field.path.as_bytes());
        key.text(&self.term);
        true
    }

    fn as_term(&self) -> Option<&TermNode> {
        Some(self)
    }
}
