//! The two sides of a join on one shard.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_mapping::{Field, Relations, RequestError};
use limber_segment::DocId;
use serde_json::json;

use crate::error::Error;
use crate::matcher::WINDOW;
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::dis_max::DisMax;
use crate::query::parse::{Query, QueryLimits, QueryNode, parse_query};
use crate::query::within;

/// How the scores of documents on the other side are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinScore {
    None,
    Min,
    Max,
    Sum,
    Average,
}

/// The documents on the other side that have the same parent id.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Parent {
    pub count: u32,
    sum: f64,
    min: f32,
    max: f32,
}

impl Parent {
    fn add(&mut self, score: f32) {
        (self.min, self.max) = match self.count {
            0 => (score, score),
            _ => (self.min.min(score), self.max.max(score)),
        };
        self.count += 1;
        self.sum += f64::from(score);
    }

    fn score(&self, how: JoinScore) -> f32 {
        match how {
            JoinScore::None => 1.0,
            JoinScore::Min => self.min,
            JoinScore::Max => self.max,
            JoinScore::Sum => self.sum as f32,
            JoinScore::Average => (self.sum / f64::from(self.count.max(1))) as f32,
        }
    }
}

/// Maximum number of distinct scores of one join; each is a clause.
const SCORES_MAX: usize = 16_384;

/// Returns the join field of an index and its relations.
pub(super) fn join_of(binder: &Binder<'_>) -> Option<(Arc<Field>, Arc<Relations>)> {
    let fields = binder.shard.mapping.fields();
    fields.iter().find_map(|field| Some((field.clone(), field.relations.clone()?)))
}

/// Returns the parent ids of the documents of the relation `kind` that match `query`.
///
/// # Errors
/// Those of the query; cancellation, no memory, corrupt data or disk errors.
pub(super) fn parents_of(
    query: &Query,
    (join, kind, ids): (&Field, &str, &str),
    with_scores: bool,
    binder: &Binder<'_>,
) -> Result<BTreeMap<Vec<u8>, Parent>, Error> {
    let of_kind = parse_query(&json!({"term": {&*join.path: kind}}), &QueryLimits::default())?;
    let among = within(Some(query.clone()), of_kind);
    let bound = binder.query(&among, 1.0)?;
    let mut parents: BTreeMap<Vec<u8>, Parent> = BTreeMap::new();
    for view in &binder.shard.segments {
        let segment = &*view.segment;
        let (Some(column), Some(dictionary)) = (segment.ordinals(ids)?, segment.terms(ids)?) else {
            continue;
        };
        let (mut ordinals, mut term) = (Vec::new(), Vec::new());
        let mut start: DocId = 0;
        while start < segment.doc_count() {
            crate::error::check_request()?;
            let end = start.saturating_add(WINDOW).min(segment.doc_count());
            let docs: Vec<DocId> = (start..end).filter(|doc| view.is_live(*doc)).collect();
            start = end;
            let found = bound.matching_docs(segment, &docs)?;
            let scores = match with_scores {
                true => bound.scores_of(segment, &found)?,
                false => vec![1.0; found.len()],
            };
            for (doc, score) in found.into_iter().zip(scores) {
                ordinals.clear();
                column.values(doc, &mut ordinals)?;
                for ordinal in &ordinals {
                    dictionary.term(u64::from(*ordinal), &mut term)?;
                    match parents.get_mut(&term) {
                        Some(parent) => parent.add(score),
                        None => parents.entry(term.clone()).or_default().add(score),
                    }
                }
            }
        }
    }
    Ok(parents)
}

/// Makes a query for the documents of the relations `kinds` that have one of these parent ids.
///
/// # Errors
/// Fails if there are too many distinct scores.
pub(super) fn named_by(
    parents: BTreeMap<Vec<u8>, Parent>,
    (join, kinds, ids): (&Field, &[&str], Arc<Field>),
    how: JoinScore,
    boost: f32,
    binder: &Binder<'_>,
) -> Result<BoundQuery, Error> {
    let mut groups: BTreeMap<u32, Vec<Box<[u8]>>> = BTreeMap::new();
    for (id, parent) in parents {
        groups.entry(parent.score(how).to_bits()).or_default().push(id.into());
    }
    if groups.len() > SCORES_MAX {
        return Err(RequestError::illegal_argument(format!(
            "a join with more than [{SCORES_MAX}] different scores"
        ))
        .into());
    }
    let queries: Vec<Query> = groups
        .into_iter()
        .map(|(bits, terms)| {
            Query::new(OfParents { ids: ids.clone(), terms: terms.into(), score: f32::from_bits(bits) })
        })
        .collect();
    if queries.is_empty() {
        return Ok(BoundQuery::nothing("no document on the other side of the join"));
    }
    let any = Query::new(DisMax { queries, tie_breaker: 0.0, is_asked: false });
    let of_kinds = parse_query(&json!({"terms": {&*join.path: kinds}}), &QueryLimits::default())?;
    binder.query(&within(Some(any), of_kinds), boost)
}

/// Documents with one of these parent ids.
#[derive(Debug)]
struct OfParents {
    ids: Arc<Field>,
    /// Sorted and distinct.
    terms: Arc<[Box<[u8]>]>,
    score: f32,
}

impl QueryNode for OfParents {
    fn bind(&self, boost: f32, _: &Binder<'_>) -> Result<BoundQuery, Error> {
        let docs = Docs::Terms { field: self.ids.clone(), terms: self.terms.clone() };
        let text = format!("{} of [{}] parents", self.ids.path, self.terms.len());
        Ok(BoundQuery::constant(docs, boost * self.score, text))
    }
}
