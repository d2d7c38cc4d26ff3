//! Runs the stored queries of a segment on the percolated documents.

use limber_mapping::RequestError;
use limber_segment::columns::OrdinalColumn;
use limber_segment::terms::TermDictionary;
use limber_segment::{DocId, Segment, StoredReader};
use serde_json::Value;

use super::in_source::query_in_source;
use super::keys::{IN_SOURCE, MATCHES, QUERY};
use super::node::PercolateNode;
use crate::error::{Result, check_request};
use crate::matcher::{Bits, WINDOW};
use crate::query::bind;
use crate::query::bound::BoundQuery;
use crate::query::parse::{QueryLimits, parse_query};
use crate::source::read_source;

/// The stored queries of one segment. Equal ones are run once, unless they are too long for a term.
pub(crate) struct StoredQueries<'a> {
    node: &'a PercolateNode,
    segment: &'a Segment,
    ordinals: Option<OrdinalColumn<'a>>,
    terms: Option<&'a TermDictionary>,
    /// The sorted ordinals of the terms that a query is known to match; `None` until they are needed.
    exact: Option<Vec<u32>>,
    run_count: u32,
    reader: StoredReader,
    of_doc: Vec<u32>,
    term: Vec<u8>,
}

/// Number of queries that are run between two checks of the deadline. Each query can take as long as a window
/// of ordinary documents.
const RUNS_BETWEEN_CHECKS: u32 = 32;

impl<'a> StoredQueries<'a> {
    /// Opens the stored queries of a segment, which are run on the documents of `node`.
    pub fn open(node: &'a PercolateNode, segment: &'a Segment) -> Result<StoredQueries<'a>> {
        let path = &node.field.path;
        Ok(StoredQueries {
            node,
            segment,
            ordinals: segment.ordinals(path)?,
            terms: segment.terms(path)?,
            exact: None,
            run_count: 0,
            reader: StoredReader::new(),
            of_doc: Vec::new(),
            term: Vec::new(),
        })
    }

    /// Whether the query of a candidate matches one of the percolated documents.
    pub fn matches(&mut self, doc: DocId) -> Result<bool> {
        self.load(doc)?;
        Ok(self.is_known_to_match()? || self.answer(doc)?.is_some())
    }

    /// Returns the best score of a document's query; 0 if nothing matches.
    pub fn score(&mut self, doc: DocId) -> Result<f32> {
        self.load(doc)?;
        Ok(self.answer(doc)?.unwrap_or(0.0))
    }

    /// Returns the query of a document, bound to the percolated documents; `None` if it has none.
    pub fn query(&mut self, doc: DocId) -> Result<Option<BoundQuery>> {
        self.load(doc)?;
        self.bound(doc)
    }

    fn is_known_to_match(&mut self) -> Result<bool> {
        if self.exact.is_none() {
            self.exact = Some(self.exact_terms()?);
        }
        let exact = self.exact.as_deref().unwrap_or_default();
        Ok(self.of_doc.iter().any(|ordinal| exact.binary_search(ordinal).is_ok()))
    }

    fn exact_terms(&self) -> Result<Vec<u32>> {
        let mut exact = Vec::new();
        if let Some(terms) = self.terms {
            for key in self.node.keys.iter().filter(|key| key[0] == MATCHES) {
                exact.extend(terms.ordinal(key)?.ok().map(|ordinal| ordinal as u32));
            }
        }
        Ok(exact)
    }

    fn load(&mut self, doc: DocId) -> Result<()> {
        self.of_doc.clear();
        match &self.ordinals {
            Some(column) => Ok(column.values(doc, &mut self.of_doc)?),
            None => Ok(()),
        }
    }

    fn bound(&mut self, doc: DocId) -> Result<Option<BoundQuery>> {
        let (Some(&last), Some(terms)) = (self.of_doc.last(), self.terms) else { return Ok(None) };
        terms.term(u64::from(last), &mut self.term)?;
        let json: Value = match self.term.split_first() {
            Some((&QUERY, json)) => {
                limber_mapping::claim_parsed(json)?;
                serde_json::from_slice(json).map_err(|error| {
                    RequestError::internal("exception", format!("a query does not parse: {error}"))
                })?
            }
            Some((&IN_SOURCE, _)) => {
                let mapping = &self.node.mapping;
                let source = read_source(mapping, self.segment, doc, &mut self.reader)?;
                query_in_source(&source, &self.node.field.path)?
            }
            _ => return Ok(None),
        };
        let query = parse_query(&json, &QueryLimits::default())?;
        Ok(Some(bind(&query, &self.node.held, self.node.now_millis)?))
    }

    fn answer(&mut self, doc: DocId) -> Result<Option<f32>> {
        let Some(&last) = self.of_doc.last() else { return Ok(None) };
        let segment = self.segment.meta().id;
        if let Some(known) = self.node.answers.get(segment, last) {
            return Ok(known);
        }
        self.check()?;
        let best = match self.bound(doc)? {
            Some(query) => best_score(&query, &self.node.held.segments[0].segment)?,
            None => None,
        };
        // Queries that are too long for a term share one that does not identify them.
        if self.term.first() == Some(&QUERY) {
            self.node.answers.put(segment, last, best)?;
        }
        Ok(best)
    }

    /// Called once for each query that is run.
    fn check(&mut self) -> Result<()> {
        self.run_count = self.run_count.wrapping_add(1);
        match &self.node.context {
            Some(context) if self.run_count.is_multiple_of(RUNS_BETWEEN_CHECKS) => context.check(),
            None if self.run_count.is_multiple_of(RUNS_BETWEEN_CHECKS) => check_request(),
            _ => Ok(()),
        }
    }
}

/// Returns the percolated documents that match `query`, ascending.
pub(crate) fn matching_slots(query: &BoundQuery, held: &Segment) -> Result<Vec<DocId>> {
    let mut matches = query.matcher(held)?;
    let mut docs = Vec::new();
    for start in (0..held.doc_count()).step_by(WINDOW as usize) {
        let mut bits = Bits::default();
        matches.fill(start, &mut bits)?;
        bits.append_to(start, &mut docs);
    }
    Ok(docs)
}

fn best_score(query: &BoundQuery, held: &Segment) -> Result<Option<f32>> {
    let docs = matching_slots(query, held)?;
    if docs.is_empty() {
        return Ok(None);
    }
    let best = query.scores_of(held, &docs)?.into_iter().fold(0.0f32, f32::max);
    Ok(Some(best))
}
