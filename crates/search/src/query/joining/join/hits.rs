//! The `inner_hits` of a join: documents on the other side of the join that are shown with a hit.
//!
//! Source: Elasticsearch's `ParentChildInnerHitContextBuilder`. They are found by the parent id of the hit,
//! so each hit needs a search of its own.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_segment::{DocId, Segment};
use serde_json::{Value, json};

use crate::cache::KeyWriter;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::matcher::{BoxedMatcher, BoxedScorer};
use crate::query::bound::BoundQuery;
use crate::query::bound_node::BoundNode;
use crate::query::joining::inner_hits::{InnerHitsRequest, check_window};
use crate::query::parse::{Query, QueryLimits, parse_query};
use crate::query::within;
use crate::score::Explanation;

/// The inner hits of a join.
#[derive(Debug)]
pub(crate) struct JoinedHits {
    /// The name under which they are shown.
    pub name: String,
    /// The inner search request.
    pub request: Arc<dyn InnerHitsRequest>,
    /// The query of the documents on the other side.
    query: Query,
    /// The path of the field with the parents' ids.
    ids: Arc<str>,
    /// The shard of the hits, which also has the documents of the other side.
    pub shard: ShardSnapshot,
}

impl JoinedHits {
    /// `side` has the query of the other side, its relation, and the field of the join.
    pub fn new(
        request: &Arc<dyn InnerHitsRequest>,
        (query, kind, join): (&Query, &str, &str),
        ids: &Arc<str>,
        shard: &ShardSnapshot,
    ) -> std::result::Result<JoinedHits, RequestError> {
        Ok(JoinedHits {
            name: request.name().unwrap_or(kind).to_owned(),
            request: request.clone(),
            query: among(query, &json!({"term": {join: kind}}))?,
            ids: ids.clone(),
            shard: shard.clone(),
        })
    }

    /// Returns the parent id of a hit; `None` if it is not part of the join.
    pub fn parent_of(&self, segment: &Segment, doc: DocId) -> Result<Option<String>> {
        let (Some(column), Some(terms)) = (segment.ordinals(&self.ids)?, segment.terms(&self.ids)?) else {
            return Ok(None);
        };
        let (mut ordinals, mut term) = (Vec::new(), Vec::new());
        column.values(doc, &mut ordinals)?;
        let Some(first) = ordinals.first() else { return Ok(None) };
        terms.term(u64::from(*first), &mut term)?;
        Ok(Some(String::from_utf8_lossy(&term).into_owned()))
    }

    /// Returns the query of the inner hits for a hit with this parent id.
    pub fn query_of(&self, parent: &str) -> std::result::Result<Query, RequestError> {
        among(&self.query, &json!({"term": {&*self.ids: parent}}))
    }
}

/// Returns the query of the documents of `query` that match `filter`.
fn among(query: &Query, filter: &Value) -> std::result::Result<Query, RequestError> {
    Ok(within(Some(query.clone()), parse_query(filter, &QueryLimits::default())?))
}

/// A join with inner hits. It has the name of the query that it wraps.
#[derive(Debug)]
struct JoinedNode {
    inner: BoundQuery,
    hits: Arc<JoinedHits>,
}

/// Adds inner hits to `join`.
pub(super) fn with_hits(join: BoundQuery, hits: JoinedHits) -> BoundQuery {
    JoinedNode { inner: join, hits: Arc::new(hits) }.into()
}

impl BoundQuery {
    /// Collects the inner hits of the joins in this query.
    ///
    /// # Errors
    /// Fails if two have the same name, or if one has more hits than the index's limit.
    pub(crate) fn joined_hits(
        &self,
        out: &mut Vec<Arc<JoinedHits>>,
    ) -> std::result::Result<(), RequestError> {
        if let Some(hits) = self.node.joined_hits() {
            if out.iter().any(|other| other.name == hits.name) {
                let reason = format!("[inner_hits] already contains an entry for key [{}]", hits.name);
                return Err(RequestError::illegal_argument(reason));
            }
            check_window(&*hits.request, &hits.shard)?;
            out.push(hits.clone());
        }
        self.node.parts().into_iter().try_for_each(|part| part.joined_hits(out))
    }
}

impl BoundNode for JoinedNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        self.inner.matcher(segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        self.inner.scorer(segment, is_known)
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        self.inner.explain(segment, doc)
    }

    fn class(&self) -> &'static str {
        self.inner.node.class()
    }

    fn text(&self) -> String {
        self.inner.text()
    }

    fn clause_text(&self) -> String {
        self.inner.node.clause_text()
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

    fn joined_hits(&self) -> Option<&Arc<JoinedHits>> {
        Some(&self.hits)
    }
}
