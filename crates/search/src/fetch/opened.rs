//! What the hits of one segment share: "what of the search is opened once for all of them?"

use limber_segment::{DocId, Segment};

use super::hit::Searched;
use super::percolated::Percolations;
use crate::error::Result;
use crate::query::{BoundQuery, PercolateNode};

/// The parts of a search that say something about hits, found once a shard.
pub(super) struct Parts<'a> {
    /// Queries with a `_name`.
    named: Vec<(&'a str, &'a BoundQuery)>,
    percolations: Vec<&'a PercolateNode>,
}

/// The parts on one segment.
pub(super) struct Opened<'a> {
    /// By name, ascending: the documents that match, ascending. Several queries may share a name.
    named: Vec<(&'a str, Vec<DocId>)>,
    pub percolations: Percolations<'a>,
}

impl<'a> Parts<'a> {
    /// What is to be opened of the queries by which hits were found.
    pub fn of(searched: Searched<'a>) -> Parts<'a> {
        let (mut named, mut percolations) = (Vec::new(), Vec::new());
        searched.queries().for_each(|query| query.named(&mut named));
        named.sort_by_key(|(name, _)| *name);
        searched.query.percolations(&mut percolations);
        Parts { named, percolations }
    }

    /// For these documents of the segment, ascending.
    pub fn open(&self, segment: &'a Segment, docs: &[DocId]) -> Result<Opened<'a>> {
        let matching =
            |(name, query): &(&'a str, &'a BoundQuery)| Ok((*name, query.matching_docs(segment, docs)?));
        let named = self.named.iter().map(matching).collect::<Result<_>>()?;
        Ok(Opened { named, percolations: Percolations::open(&self.percolations, segment)? })
    }
}

impl Opened<'_> {
    /// The names of the queries that match a document, sorted.
    pub fn matched_queries(&self, doc: DocId) -> Vec<String> {
        let matching = self.named.iter().filter(|(_, docs)| docs.binary_search(&doc).is_ok());
        let mut names: Vec<String> = matching.map(|(name, _)| (*name).to_owned()).collect();
        names.dedup();
        names
    }
}
