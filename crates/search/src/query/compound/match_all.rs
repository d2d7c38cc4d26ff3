//! `match_all` and `match_none`.

use limber_mapping::{ObjectParser, RequestError};
use limber_segment::{DocId, Segment, SegmentView};
use serde_json::{Map, Value};

use crate::cache::KeyWriter;
use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::matcher::{AllDocs, BoxedMatcher, BoxedScorer, NoDocs};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, CountedFrom, Whole, boosted, constant_scorer};
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::score::Explanation;

#[derive(Debug)]
pub(in crate::query) struct MatchAll;

#[derive(Debug)]
pub(in crate::query) struct MatchNone;

/// Matches every document.
#[derive(Debug)]
pub(crate) struct EverythingNode {
    pub boost: f32,
}

/// Matches no document.
#[derive(Debug)]
pub(crate) struct NothingNode {
    /// Shown in explanations.
    pub reason: String,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    Ok(common("match_all", members)?.query(MatchAll))
}

pub(in crate::query) fn parse_none(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    Ok(common("match_none", members)?.query(MatchNone))
}

fn common(query: &str, members: &Map<String, Value>) -> Result<Common, RequestError> {
    let mut common = Common::default();
    for (key, value) in members {
        if (query, key.as_str()) == ("match_all", "_name") && !value.is_string() {
            return Err(ObjectParser::parsing(query).unsupported(key, value));
        }
        let taken = common
            .take(key, value)
            .map_err(|cause| ObjectParser::parsing(query).malformed(key).caused_by(cause))?;
        if !taken {
            return Err(ObjectParser::parsing(query).unknown(key));
        }
    }
    Ok(common)
}

impl QueryNode for MatchAll {
    fn bind(&self, boost: f32, _: &Binder<'_>) -> Result<BoundQuery, Error> {
        Ok(EverythingNode { boost }.into())
    }

    fn is_match_all(&self) -> bool {
        true
    }
}

impl QueryNode for MatchNone {
    fn bind(&self, _: f32, _: &Binder<'_>) -> Result<BoundQuery, Error> {
        Ok(BoundQuery::nothing("User requested \"match_none\" query."))
    }
}

impl BoundNode for EverythingNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        Ok(Box::new(AllDocs(segment.doc_count())))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        constant_scorer(self, self.boost, segment, is_known)
    }

    fn common_score(&self) -> Option<f32> {
        Some(self.boost)
    }

    fn is_quick(&self) -> bool {
        true
    }

    fn explain(&self, _: &Segment, _: DocId) -> Result<Explanation> {
        Ok(Explanation::leaf(self.boost, boosted("*:*", self.boost)))
    }

    fn class(&self) -> &'static str {
        "MatchAllDocsQuery"
    }

    fn text(&self) -> String {
        "*:*".to_owned()
    }

    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        Ok(Some(u64::from(view.live_count())))
    }

    fn counted_from(&self) -> Option<CountedFrom> {
        Some(CountedFrom::Documents)
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        key.tag(b'*');
        true
    }

    fn is_everything(&self) -> bool {
        true
    }

    fn whole(&self) -> Option<Whole<'_>> {
        Some(Whole::Everything)
    }
}

impl BoundNode for NothingNode {
    fn matcher<'a>(&'a self, _: &'a Segment) -> Result<BoxedMatcher<'a>> {
        Ok(Box::new(NoDocs))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        constant_scorer(self, 0.0, segment, is_known)
    }

    fn is_quick(&self) -> bool {
        true
    }

    fn explain(&self, _: &Segment, _: DocId) -> Result<Explanation> {
        Ok(Explanation::leaf(0.0, self.text()))
    }

    fn class(&self) -> &'static str {
        "MatchNoDocsQuery"
    }

    fn text(&self) -> String {
        format!("MatchNoDocsQuery(\"{}\")", self.reason)
    }

    fn can_match(&self, _: &ShardSnapshot) -> Result<bool> {
        Ok(false)
    }

    fn known_count(&self, _: &SegmentView) -> Result<Option<u64>> {
        Ok(Some(0))
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        key.tag(b'0');
        true
    }

    fn is_nothing(&self) -> bool {
        true
    }
}
