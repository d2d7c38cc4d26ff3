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
    /// Whether hits show the scores of these.
    scores_named: bool,
    percolations: Vec<&'a PercolateNode>,
}

/// The parts, opened on one segment.
pub(super) struct Opened<'a> {
    /// Sorted by name: the documents that match, ascending. Several queries may share a name.
    named: Vec<NamedDocs<'a>>,
    pub percolations: Percolations<'a>,
    pub ignored: Ignored<'a>,
}

/// What a named query matches.
struct NamedDocs<'a> {
    name: &'a str,
    docs: Vec<DocId>,
    /// One for each document, where hits show them.
    scores: Option<Vec<f32>>,
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
    pub fn of(searched: Searched<'a>, scores_named: bool) -> Parts<'a> {
        let (mut named, mut percolations) = (Vec::new(), Vec::new());
        searched.queries().for_each(|query| query.named(&mut named));
        named.sort_by_key(|(name, _)| *name);
        searched.query.percolations(&mut percolations);
        Parts { named, scores_named, percolations }
    }

    /// Opens the parts for these documents of the segment, ascending.
    pub fn open(&self, segment: &'a Segment, docs: &[DocId]) -> Result<Opened<'a>> {
        let matching = |(name, query): &(&'a str, &'a BoundQuery)| {
            let docs = query.matching_docs(segment, docs)?;
            let scores = match self.scores_named {
                true => Some(query.scores_of(segment, &docs)?),
                false => None,
            };
            Ok(NamedDocs { name, docs, scores })
        };
        let named = self.named.iter().map(matching).collect::<Result<_>>()?;
        let percolations = Percolations::open(&self.percolations, segment)?;
        Ok(Opened { named, percolations, ignored: Ignored::open(segment)? })
    }
}

impl Opened<'_> {
    /// Returns the names of the queries that match a document, sorted, and their scores where hits show them.
    pub fn matched_queries(&self, doc: DocId) -> (Vec<String>, Option<Vec<f32>>) {
        let mut names: Vec<String> = Vec::new();
        let mut scores: Option<Vec<f32>> = None;
        for named in &self.named {
            let Ok(at) = named.docs.binary_search(&doc) else { continue };
            if names.last().is_some_and(|last| last == named.name) {
                continue;
            }
            names.push(named.name.to_owned());
            if let Some(of_docs) = &named.scores {
                scores.get_or_insert_default().push(of_docs[at]);
            }
        }
        (names, scores)
    }
}
