//! Which documents of a `percolate` query a hit's query matches.
//!
//! Source: Elasticsearch's `PercolatorMatchedSlotSubFetchPhase`.

use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use crate::error::Result;
use crate::query::{PercolateNode, StoredQueries, matching_slots};

/// The queries of one segment, for each `percolate` of a search.
pub(super) struct Percolations<'a>(Vec<(&'a PercolateNode, StoredQueries<'a>)>);

impl<'a> Percolations<'a> {
    /// Opens the percolating queries on a segment whose documents are stored queries.
    pub fn open(nodes: &[&'a PercolateNode], segment: &'a Segment) -> Result<Percolations<'a>> {
        let open = |node: &&'a PercolateNode| Ok((*node, StoredQueries::open(node, segment)?));
        Ok(Percolations(nodes.iter().map(open).collect::<Result<_>>()?))
    }

    /// Iterates over the queries, each with the name that distinguishes it if there are several.
    pub fn iter(
        &mut self,
    ) -> impl Iterator<Item = (Option<&'a str>, &'a PercolateNode, &mut StoredQueries<'a>)> {
        let is_alone = self.0.len() == 1;
        self.0.iter_mut().map(move |(node, queries)| {
            let node: &'a PercolateNode = node;
            let name = (!is_alone).then(|| node.name.as_deref().unwrap_or("null"));
            (name, node, queries)
        })
    }

    /// Adds a field for each `percolate`: the documents that the query of `doc` matches.
    pub fn add_slots(&mut self, doc: DocId, fields: &mut Option<Box<Value>>) -> Result<()> {
        const SLOTS: &str = "_percolator_document_slot";
        for (name, node, queries) in self.iter() {
            let Some(stored) = queries.query(doc)? else { continue };
            let slots = matching_slots(&stored, &node.held.segments[0].segment)?;
            if slots.is_empty() {
                continue;
            }
            let field = name.map_or_else(|| SLOTS.to_owned(), |name| format!("{SLOTS}_{name}"));
            if let Value::Object(fields) =
                &mut **fields.get_or_insert_with(|| Box::new(Value::Object(Map::new())))
            {
                fields.insert(field, slots.into());
            }
        }
        Ok(())
    }
}
