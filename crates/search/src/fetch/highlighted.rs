//! `highlight` of a hit, and of the documents that its query matches.
//!
//! Source: Elasticsearch's `HighlightPhase` and `PercolatorHighlightSubFetchPhase`.

use std::sync::Arc;

use limber_mapping::{Field, FieldType, Mapping};
use limber_segment::{DocId, Segment, StoredReader};
use serde_json::{Map, Value};

use super::fields::gather;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::highlight::highlight;
use crate::json;
use crate::percolator::{StoredQueries, slots_of};
use crate::query::{BoundQuery, PercolateNode, bind};
use crate::request::Highlight;
use crate::source::read_source;

/// What one shard highlights by.
pub(super) struct BoundHighlight<'r> {
    request: &'r Highlight,
    mapping: Arc<Mapping>,
    /// `highlight_query` of each field; `None`: the search's.
    queries: Vec<Option<BoundQuery>>,
}

/// A document and where it is.
struct Document<'d> {
    mapping: &'d Mapping,
    source: &'d Value,
    segment: &'d Segment,
    doc: DocId,
}

impl<'r> BoundHighlight<'r> {
    pub fn bind(
        request: &'r Highlight,
        shard: &ShardSnapshot,
        now_millis: i64,
    ) -> Result<BoundHighlight<'r>> {
        let queries = request.fields.iter().map(|field| match &field.query {
            Some(query) => bind(query, shard, now_millis).map(Some),
            None => Ok(None),
        });
        Ok(BoundHighlight {
            request,
            mapping: shard.mapping.clone(),
            queries: queries.collect::<Result<_>>()?,
        })
    }

    /// The member `highlight` of a hit; `None` where there is nothing to show.
    pub fn collect(
        &self,
        query: &BoundQuery,
        segment: &Segment,
        doc: DocId,
        source: &Value,
        reader: &mut StoredReader,
    ) -> Result<Option<Value>> {
        let mut shown = Map::new();
        self.of_document(query, &Document { mapping: &self.mapping, source, segment, doc }, "", &mut shown)?;
        let mut percolations = Vec::new();
        query.percolations(&mut percolations);
        let is_alone = percolations.len() == 1;
        for node in percolations {
            self.of_percolated(node, is_alone, segment, doc, reader, &mut shown)?;
        }
        Ok((!shown.is_empty()).then_some(Value::Object(shown)))
    }

    /// The documents of a `percolate` query by the query of the hit.
    fn of_percolated(
        &self,
        node: &PercolateNode,
        is_alone: bool,
        segment: &Segment,
        doc: DocId,
        reader: &mut StoredReader,
        shown: &mut Map<String, Value>,
    ) -> Result<()> {
        let Some(stored) = StoredQueries::open(node, segment)?.query(doc)? else { return Ok(()) };
        let held = &node.held.segments[0].segment;
        let name = match is_alone {
            true => String::new(),
            false => format!("{}_", node.name.as_deref().unwrap_or("null")),
        };
        for slot in slots_of(&stored, held)? {
            let source = read_source(&node.held.mapping, held, slot, reader)?;
            let source: Value = serde_json::from_slice(&source).unwrap_or(Value::Null);
            let number = if held.doc_count() == 1 { String::new() } else { format!("{slot}_") };
            let document =
                Document { mapping: &node.held.mapping, source: &source, segment: held, doc: slot };
            self.of_document(&stored, &document, &format!("{name}{number}"), shown)?;
        }
        Ok(())
    }

    fn of_document(
        &self,
        query: &BoundQuery,
        document: &Document<'_>,
        prefix: &str,
        shown: &mut Map<String, Value>,
    ) -> Result<()> {
        for (options, own) in self.request.fields.iter().zip(&self.queries) {
            let is_pattern = options.pattern.contains('*');
            for (name, field) in document.mapping.matching_names(&options.pattern) {
                if field.runtime.is_some() || is_pattern && !is_text(&field) {
                    continue;
                }
                let values = values_of(document, &field);
                let query = own.as_ref().unwrap_or(query);
                let place = (document.segment, document.doc);
                let found = highlight(options, self.request.escapes, &field, &values, query, place)?;
                if !found.is_empty() {
                    shown.insert(format!("{prefix}{name}"), found.into());
                }
            }
        }
        Ok(())
    }
}

/// What a pattern stands for.
fn is_text(field: &Field) -> bool {
    matches!(field.kind, FieldType::Text | FieldType::Keyword)
}

/// The field's values in the source, those of a multi-field under the name of the field that it belongs to.
fn values_of(document: &Document<'_>, field: &Field) -> Vec<String> {
    let mut found = Vec::new();
    let mut path = &*field.path;
    let is_sub = |parent: &str| {
        let parent = document.mapping.field(parent);
        parent.is_some_and(|parent| parent.multi_fields.contains(&field.id))
    };
    if let Some((parent, _)) = path.rsplit_once('.').filter(|(parent, _)| is_sub(parent)) {
        path = parent;
    }
    gather(document.source, path, &mut found);
    let limit = field.ignore_above.map_or(usize::MAX, |limit| limit as usize);
    let texts = found.into_iter().filter_map(json::scalar_text);
    texts.filter(|text| text.len() <= limit || text.encode_utf16().count() <= limit).collect()
}
