//! Which parts of a query match which documents: "which of them may be found in this document's texts?"
//!
//! A clause that does not match a document is not highlighted in it, even if its words occur. Documents of
//! a segment are handled together, so that each clause is opened once for all of them.

use std::collections::HashSet;

use limber_mapping::Field;
use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::query::{BoundQuery, MoreLikeThisTerms};
pub(crate) use crate::query::{Part, WeightedPart};

/// How the terms of a `more_like_this` query are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// As the shard chose them when it found the document.
    OfShard,
    /// From the highlighted text, as if it were the whole shard.
    OfText,
    /// No terms are used.
    Nothing,
}

struct FieldPart<'q> {
    field: &'q Field,
    part: Part<'q>,
    boost: f32,
    /// The requested documents that the part matches, ascending.
    docs: Vec<DocId>,
    /// For the parts of a `more_like_this` query: the choice with which they are used; `None` for always.
    choice: Option<Choice>,
}

/// The parts of a query, and which of some documents they match.
pub(crate) struct QueryParts<'q>(Vec<FieldPart<'q>>);

impl<'q> QueryParts<'q> {
    /// Finds the parts of a query that match `docs` of `segment`, which ascend.
    pub fn of(query: &'q BoundQuery, segment: &Segment, docs: &[DocId]) -> Result<QueryParts<'q>> {
        let mut parts = QueryParts(Vec::new());
        parts.add(query, Some(segment), docs)?;
        Ok(parts)
    }

    /// Adds the parts of a query. Without a segment, it is not checked which documents match.
    fn add(&mut self, query: &'q BoundQuery, segment: Option<&Segment>, docs: &[DocId]) -> Result<()> {
        if let Some(more_like_this) = &query.more_like_this {
            let first = self.0.len();
            self.add_node(query, segment, docs)?;
            self.0[first..].iter_mut().for_each(|part| part.choice = Some(Choice::OfShard));
            self.add_more_like_this(more_like_this, docs);
            return Ok(());
        }
        self.add_node(query, segment, docs)
    }

    fn add_node(&mut self, query: &'q BoundQuery, segment: Option<&Segment>, docs: &[DocId]) -> Result<()> {
        let docs = match segment {
            Some(segment) => query.matching_docs(segment, docs)?,
            None => docs.to_vec(),
        };
        self.0.extend(query.node.word_parts().into_iter().map(|WeightedPart { part, boost, field }| {
            FieldPart { field, part, boost, docs: docs.clone(), choice: None }
        }));
        if let Some(node) = query.node.as_nested() {
            // These parts match nested documents, which are not checked one by one.
            self.add(&node.query, None, &docs)?;
        }
        query.node.highlighted_parts().into_iter().try_for_each(|part| self.add(part, segment, &docs))
    }

    /// Adds one part per field. It matches a text that has one of its terms, whatever the shard chose.
    fn add_more_like_this(&mut self, more_like_this: &'q MoreLikeThisTerms, docs: &[DocId]) {
        let mut paths = HashSet::new();
        let distinct = more_like_this.fields().filter(|field| paths.insert(&*field.path));
        self.0.extend(distinct.map(|field| FieldPart {
            field,
            part: Part::MoreLikeThis(more_like_this),
            boost: more_like_this.boost(),
            docs: docs.to_vec(),
            choice: Some(Choice::OfText),
        }));
    }

    /// Whether there is a part about `field` (any part if `None`), whatever it matches.
    pub fn has_any(&self, field: Option<&Field>) -> bool {
        self.about(field).next().is_some()
    }

    /// Returns the parts about `field` (all if `None`) that match `doc`.
    pub fn matching(&self, doc: DocId, field: Option<&Field>, choice: Choice) -> Vec<Part<'q>> {
        let matching = self.chosen(field, choice).filter(|part| part.docs.binary_search(&doc).is_ok());
        matching.map(|part| part.part).collect()
    }

    /// Returns the parts about `field` (all if `None`), in the order of the query, whichever documents they
    /// match.
    pub fn all(&self, field: Option<&Field>, choice: Choice) -> Vec<WeightedPart<'q>> {
        self.chosen(field, choice)
            .map(|part| WeightedPart { part: part.part, boost: part.boost, field: part.field })
            .collect()
    }

    fn chosen(&self, field: Option<&Field>, choice: Choice) -> impl Iterator<Item = &FieldPart<'q>> {
        self.about(field).filter(move |part| part.choice.is_none_or(|wanted| wanted == choice))
    }

    /// Returns the parts about a field. Fields are compared by path, because the keys of a flattened field
    /// share an id.
    fn about(&self, field: Option<&Field>) -> impl Iterator<Item = &FieldPart<'q>> {
        self.0.iter().filter(move |part| field.is_none_or(|field| field.path == part.field.path))
    }
}
