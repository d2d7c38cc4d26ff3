//! `bool`: all of `must` and `filter`, none of `must_not`, and enough of `should`.

use limber_mapping::{ObjectParser, RequestError};
use limber_segment::{DocId, Segment, SegmentView};
use serde_json::{Map, Value};

use super::match_all::EverythingNode;
use super::minimum_should_match;
use crate::cache::KeyWriter;
use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::matcher::{BoolDocs, BoolScorer, BoxedMatcher, BoxedScorer};
use crate::primitives::TermNode;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, ByScore, CountedFrom, Scored, score_of};
use crate::query::cached::{FREQUENCY_OF_COMBINED, conjunction};
use crate::query::extract::asked::{AskedVisitor, Occur, show_clauses};
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::score::Explanation;
use crate::values::json;

#[derive(Debug, Default)]
pub(in crate::query) struct Bool {
    pub must: Vec<Query>,
    pub should: Vec<Query>,
    pub filter: Vec<Query>,
    pub must_not: Vec<Query>,
    pub minimum_should_match: Option<String>,
    pub adjust_pure_negative: bool,
}

/// The largest number of optional terms, besides required ones, whose bounds are added for each block: with
/// more of them hardly any block can be skipped.
const OPTIONAL_MAX: usize = 16;

/// Clauses that documents must, should or must not match.
#[derive(Debug, Default)]
pub(crate) struct BoolNode {
    pub must: Vec<BoundQuery>,
    pub should: Vec<BoundQuery>,
    pub filter: Vec<BoundQuery>,
    pub must_not: Vec<BoundQuery>,
    /// How many of `should` must match at least; 0 if they only add to the score.
    pub min_should_match: usize,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut node = Bool { adjust_pure_negative: true, ..Bool::default() };
    for (key, value) in members {
        let failed = |cause: RequestError| PARSER.failed(key, cause);
        let clauses = match key.as_str() {
            "must" => &mut node.must,
            "should" => &mut node.should,
            "filter" => &mut node.filter,
            "must_not" | "mustNot" => &mut node.must_not,
            "minimum_should_match" => {
                node.minimum_should_match =
                    Some(json::scalar_text(value).ok_or_else(|| PARSER.unsupported(key, value))?);
                continue;
            }
            "adjust_pure_negative" => {
                node.adjust_pure_negative = json::boolean(value).map_err(failed)?;
                continue;
            }
            _ if common.take(key, value).map_err(failed)? => continue,
            _ => return Err(PARSER.unknown_among(key, &NAMES)),
        };
        match value {
            Value::Object(_) => clauses.push(parser.query(value).map_err(failed)?),
            Value::Array(items) => {
                for item in items {
                    clauses.push(parser.query(item).map_err(failed)?);
                }
            }
            Value::Null => {}
            other => {
                return Err(PARSER.unsupported(key, other));
            }
        }
    }
    Ok(common.query(node))
}

const PARSER: ObjectParser<'_> = ObjectParser::new("bool");

/// The members of the query.
const NAMES: [&str; 8] = [
    "must",
    "should",
    "filter",
    "must_not",
    "minimum_should_match",
    "adjust_pure_negative",
    "boost",
    "_name",
];

impl QueryNode for Bool {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let bind = |queries: &[Query], boost: f32| -> Result<Vec<BoundQuery>, Error> {
            queries.iter().map(|query| binder.query(query, boost)).collect()
        };
        let mut node = BoolNode {
            must: bind(&self.must, boost)?,
            should: bind(&self.should, boost)?,
            filter: bind(&self.filter, 1.0)?,
            must_not: bind(&self.must_not, 1.0)?,
            min_should_match: 0,
        };
        if node.must.is_empty() && node.should.is_empty() && node.filter.is_empty() {
            if node.must_not.is_empty() {
                return Ok(EverythingNode { boost }.into());
            }
            if !self.adjust_pure_negative {
                return Ok(BoundQuery::nothing("pure negative BooleanQuery"));
            }
            node.filter.push(EverythingNode { boost: 1.0 }.into());
        }
        node.min_should_match = match &self.minimum_should_match {
            Some(spec) => minimum_should_match::required(spec, node.should.len())?,
            None => 0,
        };
        if node.must.is_empty() && node.filter.is_empty() {
            node.min_should_match = node.min_should_match.max(1);
        }
        Ok(node.simplified())
    }

    fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        show_clauses(self.must.iter().chain(&self.filter), Occur::Required, visitor);
        show_clauses(&self.should, Occur::Optional, visitor);
        show_clauses(&self.must_not, Occur::Excluded, visitor);
    }
}

impl BoolNode {
    /// Returns the clause that alone decides which documents match, if there is one: clauses that only add to
    /// the score do not.
    fn only_required(&self) -> Option<&BoundQuery> {
        let mut required = self.must.iter().chain(&self.filter);
        match (required.next(), required.next()) {
            (Some(only), None) if self.must_not.is_empty() && self.min_should_match == 0 => Some(only),
            _ => None,
        }
    }

    /// Returns a query that matches nothing if the clauses can never match together, otherwise the query
    /// itself. Single clauses are never dropped, so that their names can be reported.
    pub fn simplified(self) -> BoundQuery {
        let impossible = self.must.iter().chain(&self.filter).any(BoundQuery::is_nothing)
            || self.min_should_match > self.should.len();
        if impossible {
            return BoundQuery::nothing("Failure to meet condition(s) of required/prohibited clause(s)");
        }
        let possible = self.should.iter().filter(|clause| !clause.is_nothing()).count();
        if self.min_should_match > possible {
            return BoundQuery::nothing("no matching clauses");
        }
        self.into()
    }

    /// Whether there are only optional clauses, of which one is sufficient.
    fn is_disjunction(&self) -> bool {
        self.must.is_empty()
            && self.filter.is_empty()
            && self.must_not.is_empty()
            && self.min_should_match <= 1
    }
}

impl BoundNode for BoolNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let open = |queries: &'a [BoundQuery]| {
            queries.iter().map(|query| query.matcher(segment)).collect::<Result<Vec<_>>>()
        };
        let required = conjunction(self.must.iter().chain(&self.filter), segment)?;
        let should = if self.min_should_match > 0 { open(&self.should)? } else { Vec::new() };
        let (least, must_not) = (self.min_should_match, open(&self.must_not)?);
        Ok(Box::new(BoolDocs::new(required, should, least, must_not, segment.doc_count())))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        // A document that matches one of several optional clauses need not match the others.
        let all_optional = self.min_should_match == self.should.len();
        let open = |clauses: &'a [BoundQuery], is_known: bool| {
            clauses.iter().map(|clause| clause.scorer(segment, is_known)).collect::<Result<Vec<_>>>()
        };
        let (must, should) = (open(&self.must, true)?, open(&self.should, all_optional)?);
        let matcher = match is_known || (self.is_disjunction() && !all_optional) {
            true => None,
            false => Some(self.matcher(segment)?),
        };
        Ok(Box::new(BoolScorer { must, should, matcher, sums: Vec::new(), hits: Vec::new(), at: Vec::new() }))
    }

    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        self.only_required().map_or(Ok(None), |only| only.node.known_count(view))
    }

    fn counted_from(&self) -> Option<CountedFrom> {
        self.only_required().and_then(|only| only.node.counted_from())
    }

    fn is_quick(&self) -> bool {
        self.parts().into_iter().chain(self.prohibited()).all(|part| part.node.is_quick())
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let only_filters = self.must.is_empty() && self.should.is_empty();
        if only_filters
            && let [filter] = self.filter.as_slice()
            && self.must_not.is_empty()
        {
            return Ok(Explanation::leaf(0.0, format!("ConstantScore({})^0.0", filter.text())));
        }
        if self.must.len() + self.should.len() == 1 && self.filter.is_empty() && self.must_not.is_empty() {
            return self.must.first().unwrap_or_else(|| &self.should[0]).explain(segment, doc);
        }
        let mut details = Vec::new();
        for clause in &self.must {
            details.push(clause.explain(segment, doc)?);
        }
        for clause in &self.should {
            if clause.matches_doc(segment, doc)? {
                details.push(clause.explain(segment, doc)?);
            }
        }
        for clause in &self.filter {
            // A filter is not scored; its own score is always 1.
            let inner = Explanation::leaf(1.0, clause.text());
            details.push(Explanation::of(
                0.0,
                "match on required clause, product of:",
                vec![Explanation::leaf(0.0, "# clause"), inner],
            ));
        }
        Ok(Explanation::of(score_of(self, segment, doc)?, "sum of:", details))
    }

    fn class(&self) -> &'static str {
        "BooleanQuery"
    }

    fn text(&self) -> String {
        let kinds = [("+", &self.must), ("#", &self.filter), ("", &self.should), ("-", &self.must_not)];
        let clauses: Vec<String> = kinds
            .into_iter()
            .flat_map(|(sign, queries)| {
                queries.iter().map(move |query| format!("{sign}{}", query.node.clause_text()))
            })
            .collect();
        clauses.join(" ")
    }

    fn clause_text(&self) -> String {
        format!("({})", self.text())
    }

    fn parts(&self) -> Vec<&BoundQuery> {
        self.must.iter().chain(&self.should).chain(&self.filter).collect()
    }

    fn prohibited(&self) -> &[BoundQuery] {
        &self.must_not
    }

    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        let (required, others) = (self.must.iter_mut(), self.should.iter_mut());
        required.chain(others).chain(&mut self.filter).chain(&mut self.must_not).collect()
    }

    fn bit_set_count(&self) -> u64 {
        let sum =
            |queries: &[BoundQuery]| queries.iter().map(|query| query.node.bit_set_count()).sum::<u64>();
        // Optional clauses are opened twice, for documents and for scores.
        sum(&self.must) + 2 * sum(&self.should) + sum(&self.filter) + sum(&self.must_not)
    }

    fn can_match(&self, shard: &ShardSnapshot) -> Result<bool> {
        for clause in self.must.iter().chain(&self.filter) {
            if !clause.node.can_match(shard)? {
                return Ok(false);
            }
        }
        let mut possible = 0;
        for clause in &self.should {
            possible += usize::from(clause.node.can_match(shard)?);
        }
        Ok(possible >= self.min_should_match)
    }

    fn required_terms(&self) -> RequiredTerms {
        if self.must.is_empty() && self.filter.is_empty() {
            return match RequiredTerms::any_of(&self.should) {
                terms if self.is_disjunction() => terms,
                // Without a required clause, a document matches as long as no prohibited clause does,
                // whatever terms it has.
                _ if self.should.is_empty() || self.min_should_match == 0 => RequiredTerms::Unknown,
                terms => terms.inexact(),
            };
        }
        let required = self.must.iter().chain(&self.filter);
        let terms = RequiredTerms::longest(required.map(|query| query.node.required_terms()));
        let is_alone = self.must.len() + self.filter.len() == 1
            && self.must_not.is_empty()
            && self.min_should_match == 0;
        if is_alone { terms } else { terms.inexact() }
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        key.tag(b'b');
        key.number(self.min_should_match as u64);
        let should: &[BoundQuery] = if self.min_should_match > 0 { &self.should } else { &[] };
        [&*self.must, &*self.filter, &*self.must_not, should].into_iter().all(|clauses| {
            key.number(clauses.len() as u64);
            clauses.iter().all(|clause| clause.node.write_key(key))
        })
    }

    fn uses_before_kept(&self) -> Option<u32> {
        Some(FREQUENCY_OF_COMBINED)
    }

    fn cacheable_parts(&mut self, is_filter: bool) -> Vec<(&mut BoundQuery, bool)> {
        let filters = self.filter.iter_mut().chain(&mut self.must_not).map(|clause| (clause, true));
        let scored = self.must.iter_mut().chain(&mut self.should).map(|clause| (clause, is_filter));
        filters.chain(scored).collect()
    }

    fn has_unbounded_scores(&self) -> bool {
        self.must.iter().chain(&self.should).any(|clause| clause.node.has_unbounded_scores())
    }

    fn by_score(&self) -> Option<ByScore<'_>> {
        let mut guards = self.filter.iter().chain(&self.must_not);
        if !guards.all(|query| query.node.is_quick()) {
            return None;
        }
        let should = || self.should.iter().filter(|clause| !clause.is_nothing());
        let is_optional = self.min_should_match == 0;
        let mut by_score = match (&self.must[..], should().count()) {
            // The only clause determines the score.
            ([only], 0) if is_optional => only.node.by_score()?,
            ([], 1) if self.min_should_match == 1 => should().next()?.node.by_score()?,
            (must, _) => {
                if self.min_should_match != usize::from(must.is_empty()) {
                    return None;
                }
                fn term(clause: &BoundQuery) -> Option<&TermNode> {
                    clause.node.as_term()
                }
                let required = must.iter().map(term).collect::<Option<Vec<_>>>()?;
                let optional = should().map(term).collect::<Option<Vec<_>>>()?;
                if !required.is_empty() && optional.len() > OPTIONAL_MAX {
                    return None;
                }
                let scored = Scored::Terms { required, optional };
                ByScore { scored, filters: Vec::new(), prohibited: Vec::new() }
            }
        };
        by_score.filters.extend(&self.filter);
        by_score.prohibited.extend(&self.must_not);
        Some(by_score)
    }
}
