//! `nested`: documents with a matching nested document.
//!
//! Source: Elasticsearch's `NestedQueryBuilder`, `InnerHitBuilder`, `InnerHitContextBuilder`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use super::inner_hits::{InnerHitsRequest, check_window};
use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::matcher::{BoxedMatcher, BoxedScorer, NestedDocs, NestedScorer, NoDocs, ScoredWindow};
use crate::primitives::NestedScore;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, constant_scorer, score_of};
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::score::Explanation;
use crate::values::json;

#[derive(Debug)]
struct NestedQuery {
    path: String,
    query: Query,
    score_mode: NestedScore,
    ignore_unmapped: bool,
    inner_hits: Option<Arc<dyn InnerHitsRequest>>,
}

/// A `nested` query that is bound to a shard.
#[derive(Debug)]
pub(crate) struct NestedNode {
    /// The path of the nested documents.
    pub path: Arc<str>,
    /// The query of the nested documents.
    pub query: BoundQuery,
    /// How the scores of nested documents are combined to the score of their parent.
    pub score_mode: NestedScore,
    /// `None` if the matching nested documents are not shown.
    pub inner_hits: Option<NestedHits>,
}

/// The inner hits of a `nested` query.
#[derive(Debug)]
pub(crate) struct NestedHits {
    /// The name under which they are shown.
    pub name: String,
    /// The inner search request.
    pub request: Arc<dyn InnerHitsRequest>,
    /// The shard of the nested documents: the [`ShardSnapshot::within`] of their parents' shard.
    pub shard: ShardSnapshot,
}

/// The nested documents that a `nested` query shows with each hit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NestedMatches<'q> {
    /// The path of the nested documents.
    pub path: &'q str,
    /// The query that they match.
    pub query: &'q BoundQuery,
    /// How they are shown.
    pub hits: &'q NestedHits,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut path, mut query, mut inner_hits) = (None, None, None);
    let (mut score_mode, mut ignore_unmapped) = (NestedScore::Avg, false);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("query", Value::Object(_)) => query = Some(parser.query(value)?),
            ("inner_hits", Value::Object(body)) => {
                inner_hits = parser.inner_hits(body)?;
            }
            (key, Value::Object(_)) => return Err(does_not_support("nested", key)),
            ("query", Value::Array(_)) | (_, Value::Null) => {}
            (_, Value::Array(_)) => {
                return Err(RequestError::parsing(format!(
                    "[nested] query malformed, unexpected [{}] of [{key}]",
                    json::token(value)
                )));
            }
            ("path", _) => path = json::scalar_text(value),
            ("score_mode", _) => {
                score_mode = parse_score_mode(&json::scalar_text(value).unwrap_or_default())?
            }
            ("ignore_unmapped", _) => ignore_unmapped = json::boolean(value)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("nested", key)),
        }
    }
    let required = |name: &str| RequestError::illegal_argument(format!("[nested] requires '{name}' field"));
    let path = path.ok_or_else(|| required("path"))?;
    let query = query.ok_or_else(|| required("query"))?;
    Ok(common.query(NestedQuery { path, query, score_mode, ignore_unmapped, inner_hits }))
}

fn parse_score_mode(text: &str) -> Result<NestedScore, RequestError> {
    Ok(match text {
        "avg" => NestedScore::Avg,
        "sum" => NestedScore::Sum,
        "min" => NestedScore::Min,
        "max" => NestedScore::Max,
        "none" => NestedScore::None,
        _ => {
            return Err(RequestError::illegal_argument(format!(
                "No score mode for child query [{text}] found"
            )));
        }
    })
}

/// Returns the error for a path without a nested object.
pub(crate) fn no_nested_object(shard: &ShardSnapshot, path: &str) -> RequestError {
    shard.query_shard_exception(format!("[nested] failed to find nested object under path [{path}]"))
}

impl QueryNode for NestedQuery {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        binder.check_expensive("[joining] queries")?;
        let mapping = &binder.shard().mapping;
        let Some(nested) = mapping.nested(&self.path) else {
            let is_ignored =
                self.ignore_unmapped || self.inner_hits.as_ref().is_some_and(|hits| hits.ignores_unmapped());
            if is_ignored {
                return Ok(BoundQuery::nothing("the nested path is not mapped"));
            }
            return Err(no_nested_object(binder.shard(), &self.path).into());
        };
        let shard = binder.shard().within(nested)?;
        let mut query = binder.inside(&shard).query(&self.query, boost)?;
        crate::query::runtime::attach(&mut query, &shard)?;
        let inner_hits = self.inner_hits.clone().map(|request| NestedHits {
            name: request.name().unwrap_or(&self.path).to_owned(),
            request,
            shard,
        });
        if query.is_nothing() && inner_hits.is_none() {
            return Ok(query);
        }
        Ok(NestedNode { path: nested.path.clone(), query, score_mode: self.score_mode, inner_hits }.into())
    }
}

impl NestedHits {
    /// Validates the inner hits on their shard.
    fn check(&self) -> Result<(), RequestError> {
        if self.request.shows_sequence_numbers() {
            return Err(RequestError::bad_request(
                "unsupported_operation_exception",
                "nested documents are not assigned sequence numbers",
            ));
        }
        check_window(&*self.request, &self.shard)
    }
}

impl BoundQuery {
    /// Collects what the nested queries in this query show. Those inside a collected one are left out,
    /// because they are shown with its hits.
    ///
    /// # Errors
    /// Fails if two have the same name, or if one has more hits than the index's limit.
    pub(crate) fn inner_hits<'a>(&'a self, out: &mut Vec<NestedMatches<'a>>) -> Result<(), RequestError> {
        if let Some(node) = self.node.as_nested() {
            let Some(hits) = &node.inner_hits else { return node.query.inner_hits(out) };
            if out.iter().any(|other| other.hits.name == hits.name) {
                return Err(RequestError::illegal_argument(format!(
                    "[inner_hits] already contains an entry for key [{}]",
                    hits.name
                )));
            }
            hits.check()?;
            out.push(NestedMatches { path: &node.path, query: &node.query, hits });
            return Ok(());
        }
        self.node.parts().into_iter().try_for_each(|part| part.inner_hits(out))
    }
}

impl BoundNode for NestedNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        match segment.nested(&self.path).zip(segment.lineage(&self.path)) {
            Some((space, lineage)) => {
                let children = self.query.matcher(&space.segment)?;
                Ok(Box::new(NestedDocs::new(children, lineage, segment.doc_count())))
            }
            None => Ok(Box::new(NoDocs)),
        }
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        match segment.nested(&self.path).zip(segment.lineage(&self.path)) {
            Some((space, lineage)) if self.score_mode != NestedScore::None => Ok(Box::new(NestedScorer {
                children: self.query.matcher(&space.segment)?,
                scorer: self.query.scorer(&space.segment, true)?,
                inside: lineage.children_cursor(),
                mode: self.score_mode,
                window: ScoredWindow::default(),
            })),
            _ => constant_scorer(self, 0.0, segment, is_known),
        }
    }

    /// Explains the score with the number of matching nested documents and the best of them.
    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let score = score_of(self, segment, doc)?;
        let Some((space, lineage)) = segment.nested(&self.path).zip(segment.lineage(&self.path)) else {
            return Ok(Explanation::leaf(0.0, "Not a match"));
        };
        let range = lineage.children(doc);
        let (mut best, mut count): (Option<Explanation>, u32) = (None, 0);
        for child in range.clone() {
            if self.query.matches_doc(&space.segment, child)? {
                count += 1;
                let explanation = self.query.explain(&space.segment, child)?;
                if best.as_ref().is_none_or(|best| explanation.value > best.value) {
                    best = Some(explanation);
                }
            }
        }
        let mode = match self.score_mode {
            NestedScore::Avg => "Avg",
            NestedScore::Sum => "Total",
            NestedScore::Min => "Min",
            NestedScore::Max => "Max",
            NestedScore::None => "None",
        };
        let text = format!(
            "Score based on {count} child docs in range from {} to {}, using score mode {mode}",
            range.start,
            range.end.saturating_sub(1)
        );
        Ok(Explanation::of(score, text, best.into_iter().collect()))
    }

    fn class(&self) -> &'static str {
        "ESToParentBlockJoinQuery"
    }

    fn text(&self) -> String {
        format!("ToParentBlockJoinQuery ({})", self.query.text())
    }

    fn as_nested(&self) -> Option<&NestedNode> {
        Some(self)
    }
}
