//! State that the hits of one segment share: "which parts of the search are opened once for all of them?"

use limber_segment::columns::OrdinalColumn;
use limber_segment::terms::TermDictionary;
use limber_segment::{DocId, Segment};

use super::hit::Searched;
use super::percolated::Percolations;
use crate::error::Result;
use crate::query::{BoundQuery, PercolateNode};

/// The parts of a search that add something to hits, found once per shard.
pub(super) struct Parts<'a> {
    /// Queries with a `_name`.
    named: Vec<(&'a str, &'a BoundQuery)>,
    percolations: Vec<&'a PercolateNode>,
}

/// The parts, opened on one segment.
pub(super) struct Opened<'a> {
    /// By name, ascending: the matching documents, ascending. Several queries may share a name.
    named: Vec<(&'a str, Vec<DocId>)>,
    pub percolations: Percolations<'a>,
    pub ignored: Ignored<'a>,
}

/// The `_ignored` fields of documents, which were left out of the index.
pub(super) struct Ignored<'a>(Option<(OrdinalColumn<'a>, &'a TermDictionary)>);

impl<'a> Ignored<'a> {
    fn open(segment: &'a Segment) -> Result<Ignored<'a>> {
        Ok(Ignored(segment.ordinals("_ignored")?.zip(segment.terms("_ignored")?)))
    }

    /// Adds the paths of a document's ignored fields, sorted.
    pub fn collect(&self, doc: DocId, paths: &mut Vec<String>) -> Result<()> {
        let Some((column, terms)) = &self.0 else { return Ok(()) };
        let (mut ordinals, mut term) = (Vec::new(), Vec::new());
        column.values(doc, &mut ordinals)?;
        for ordinal in ordinals {
            terms.term(u64::from(ordinal), &mut term)?;
            paths.push(String::from_utf8_lossy(&term).into_owned());
        }
        Ok(())
    }
}

impl<'a> Parts<'a> {
    /// Finds the parts in the queries that matched the hits.
    pub fn of(searched: Searched<'a>) -> Parts<'a> {
        let (mut named, mut percolations) = (Vec::new(), Vec::new());
        searched.queries().for_each(|query| query.named(&mut named));
        named.sort_by_key(|(name, _)| *name);
        searched.query.percolations(&mut percolations);
        Parts { named, percolations }
    }

    /// Opens the parts for these documents of the segment, ascending.
    pub fn open(&self, segment: &'a Segment, docs: &[DocId]) -> Result<Opened<'a>> {
        let matching =
            |(name, query): &(&'a str, &'a BoundQuery)| Ok((*name, query.matching_docs(segment, docs)?));
        let named = self.named.iter().map(matching).collect::<Result<_>>()?;
        let percolations = Percolations::open(&self.percolations, segment)?;
        Ok(Opened { named, percolations, ignored: Ignored::open(segment)? })
    }
}

impl Opened<'_> {
    /// Returns the names of the queries that match a document, sorted.
    pub fn matched_queries(&self, doc: DocId) -> Vec<String> {
        let matching = self.named.iter().filter(|(_, docs)| docs.binary_search(&doc).is_ok());
        let mut names: Vec<String> = matching.map(|(name, _)| (*name).to_owned()).collect();
        names.dedup();
        names
    }
}
