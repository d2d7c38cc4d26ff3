//! `highlight` of a hit, and of the documents that a percolator query matches.
//!
//! Source: Elasticsearch's `HighlightPhase` and `PercolatorHighlightSubFetchPhase`.

use limber_mapping::{Field, Mapping, RequestError};
use limber_segment::{DocId, Segment, StoredReader};
use limber_work as work;
use serde_json::{Map, Value};

use super::percolated::Percolations;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::fetch::highlight::{Choice, FieldHighlight, MatchedField, OtherField, QueryParts, content_length};
use crate::primitives::java_order::in_java_order;
use crate::query::{BoundQuery, PercolateNode, bind_in, matching_slots};
use crate::request::{Highlight, HighlightField, Highlighter};
use crate::source::read_source;
use crate::values::gather::gather;
use crate::values::json;

/// The highlighting of a request on one shard.
pub(super) struct BoundHighlight<'r> {
    request: &'r Highlight,
    shard: &'r ShardSnapshot,
    /// `highlight_query` of each field; `None` for the search's query.
    queries: Vec<Option<BoundQuery>>,
}

/// Documents of one segment, and which parts of the queries match which of them.
pub(super) struct SegmentHighlight<'h> {
    bound: &'h BoundHighlight<'h>,
    matching: Matching<'h>,
}

/// Which parts of the queries match which documents.
struct Matching<'q> {
    searched: QueryParts<'q>,
    /// Parts of each field's own `highlight_query`.
    own: Vec<Option<QueryParts<'q>>>,
}

/// The document that is highlighted.
struct Document<'d> {
    mapping: &'d Mapping,
    source: &'d Value,
    doc: DocId,
    /// Prefix of the names of its fields.
    prefix: &'d str,
    /// The path of the nested object that the source is; empty for a whole document.
    within: &'d str,
}

impl<'r> BoundHighlight<'r> {
    /// Binds the queries and fields of a request's `highlight` to a shard.
    pub fn bind(
        request: &'r Highlight,
        shard: &'r ShardSnapshot,
        context: &SearchContext,
    ) -> Result<BoundHighlight<'r>> {
        let queries = request.fields.iter().map(|field| match &field.query {
            Some(query) => bind_in(query, shard, context).map(Some).map_err(unwrapped),
            None => Ok(None),
        });
        Ok(BoundHighlight { request, shard, queries: queries.collect::<Result<_>>()? })
    }

    /// Opens the highlighting for documents of one segment, ascending, that `query` matches.
    pub fn open<'h>(
        &'h self,
        query: &'h BoundQuery,
        segment: u32,
        docs: &[DocId],
    ) -> Result<SegmentHighlight<'h>> {
        let segment = &*self.shard.segments[segment as usize].segment;
        Ok(SegmentHighlight { bound: self, matching: self.matching(query, segment, docs)? })
    }

    fn matching<'q>(
        &'q self,
        query: &'q BoundQuery,
        segment: &Segment,
        docs: &[DocId],
    ) -> Result<Matching<'q>> {
        let own = self.queries.iter().map(|own| match own {
            Some(query) => QueryParts::of(query, segment, docs).map(Some),
            None => Ok(None),
        });
        Ok(Matching { searched: QueryParts::of(query, segment, docs)?, own: own.collect::<Result<_>>()? })
    }

    /// Adds the highlighted fields of a document.
    fn show(
        &self,
        document: &Document<'_>,
        matching: &Matching<'_>,
        shown: &mut Map<String, Value>,
    ) -> Result<()> {
        for (options, own) in self.request.fields.iter().zip(&matching.own) {
            let parts = own.as_ref().unwrap_or(&matching.searched);
            let is_pattern = options.pattern.contains('*');
            for (name, field) in document.mapping.matching_names(&options.pattern) {
                work::check_beyond_deadline()?;
                let has_vectors = options.highlighter != Highlighter::FastVector || field.has_vector_offsets;
                if field.runtime.is_some() || is_pattern && !(field.has_texts() && has_vectors) {
                    continue;
                }
                if let Some(fault) = &options.fault {
                    return Err(fault.error(&name).into());
                }
                let fragments = self.fragments(document, options, &field, parts)?;
                if !fragments.is_empty() {
                    shown.insert(format!("{}{name}", document.prefix), fragments.into());
                }
            }
        }
        Ok(())
    }

    fn fragments(
        &self,
        document: &Document<'_>,
        options: &HighlightField,
        field: &Field,
        parts: &QueryParts<'_>,
    ) -> Result<Vec<String>> {
        let wanted = options.require_field_match.then_some(field);
        if wanted.is_none()
            && options.highlighter == Highlighter::Unified
            && !options.matched_fields.is_empty()
        {
            let reason = "Matched fields are not supported when [require_field_match] is set to [false]";
            return Err(RequestError::illegal_argument(reason).into());
        }
        let is_unified = options.highlighter == Highlighter::Unified;
        let has_others = options.highlighter == Highlighter::FastVector
            || is_unified && !options.matched_fields.is_empty();
        if options.no_match_size == 0 && !has_others && !parts.has_any(wanted) {
            return Ok(Vec::new());
        }
        let values = values_of(document, field);
        let start_max = self.start_max(document, options, field, &values)?;
        let others = match is_unified {
            true => others(document, options, parts),
            false => Vec::new(),
        };
        let highlight = FieldHighlight { options, escapes: self.request.escapes, field, start_max, others };
        match options.highlighter {
            Highlighter::Unified if wanted.is_none() => {
                // Words are marked wherever they occur, whichever field's clause makes them match.
                let all: Vec<_> =
                    parts.all(None, Choice::Nothing).into_iter().map(|part| part.part).collect();
                highlight.fragments(&values, &all)
            }
            Highlighter::Unified => {
                highlight.fragments(&values, &parts.matching(document.doc, wanted, Choice::OfText))
            }
            Highlighter::Plain => highlight.plain_fragments(&values, &parts.all(wanted, Choice::OfText)),
            Highlighter::FastVector => self.vector_fragments(document, &highlight, &values, parts),
        }
    }

    fn vector_fragments(
        &self,
        document: &Document<'_>,
        highlight: &FieldHighlight<'_>,
        values: &[String],
        parts: &QueryParts<'_>,
    ) -> Result<Vec<String>> {
        if !highlight.field.has_vector_offsets {
            return Err(RequestError::illegal_argument(format!(
                "the field [{}] should be indexed with term vector with position offsets to be used with fast vector highlighter",
                highlight.field.path
            ))
            .into());
        }
        let names = &highlight.options.matched_fields;
        let others: Vec<_> = names
            .iter()
            .filter_map(|name| document.mapping.field(name))
            .filter(|field| field.has_vector_offsets)
            .map(|field| (values_of(document, &field), field))
            .collect();
        let matched: Vec<MatchedField<'_>> = match names.is_empty() {
            true => vec![MatchedField { field: highlight.field, values }],
            false => others.iter().map(|(values, field)| MatchedField { field, values }).collect(),
        };
        highlight.vector_fragments(values, &matched, &parts.all(None, Choice::OfShard))
    }

    /// Returns the UTF-16 offset in the values after which no token is analyzed; `None` if there is no
    /// limit.
    ///
    /// # Errors
    /// The values are longer than the index allows, and the request does not limit the analyzed part.
    fn start_max(
        &self,
        document: &Document<'_>,
        options: &HighlightField,
        field: &Field,
        values: &[String],
    ) -> Result<Option<usize>> {
        let limit = self.shard.settings.highlight_offset_max;
        let start_max = options.offset_max.start_max(limit);
        let length = match options.highlighter {
            // Indexed offsets need no analysis, so only the request's own limit applies.
            Highlighter::Unified if field.has_offsets => return Ok(start_max),
            Highlighter::FastVector => return Ok(None),
            Highlighter::Unified => content_length(values),
            Highlighter::Plain => values.iter().map(|value| value.encode_utf16().count()).max().unwrap_or(0),
        };
        if length <= limit || start_max.is_some_and(|most| most <= limit) {
            return Ok(start_max);
        }
        let reason = format!(
            "The length [{length}] of field [{}] in doc[{}]/index[{}] exceeds the [index.highlight.max_analyzed_offset] limit \
             [{limit}]. To avoid this error, set the query parameter [max_analyzed_offset] to a value less than index setting \
             [{limit}] and this will tolerate long field values by truncating them.",
            field.path, document.doc, self.shard.index.name
        );
        Err(RequestError::illegal_argument(reason).into())
    }

    /// Adds the documents of a `percolate` query that `stored`, the hit's query, matches.
    fn show_percolated(
        &self,
        node: &PercolateNode,
        stored: &BoundQuery,
        name: Option<&str>,
        reader: &mut StoredReader,
        shown: &mut Map<String, Value>,
    ) -> Result<()> {
        let held = &*node.held.segments[0].segment;
        let name = name.map_or_else(String::new, |name| format!("{name}_"));
        let slots = matching_slots(stored, held)?;
        let matching = self.matching(stored, held, &slots)?;
        for slot in slots {
            let source = read_source(&node.held.mapping, held, slot, reader)?;
            limber_mapping::claim_parsed(&source)?;
            let source: Value = limber_mapping::parse_source(&source).unwrap_or(Value::Null);
            let number = if held.doc_count() == 1 { String::new() } else { format!("{slot}_") };
            let prefix = format!("{name}{number}");
            let document = Document {
                mapping: &node.held.mapping,
                source: &source,
                doc: slot,
                prefix: &prefix,
                within: "",
            };
            self.show(&document, &matching, shown)?;
        }
        Ok(())
    }
}

/// Returns the fields of `matched_fields`, each with the parts of the query that match in it.
fn others<'q>(
    document: &Document<'_>,
    options: &HighlightField,
    parts: &'q QueryParts<'_>,
) -> Vec<OtherField<'q>> {
    let fields = options.matched_fields.iter().filter_map(|name| document.mapping.field(name));
    let with_parts = fields.map(|field| {
        let parts = parts.matching(document.doc, Some(&*field), Choice::OfText);
        OtherField { field, parts }
    });
    with_parts.collect()
}

impl SegmentHighlight<'_> {
    /// Returns the member `highlight` of a hit; `None` if there is nothing to show.
    pub fn collect(
        &self,
        doc: DocId,
        source: &Value,
        percolations: &mut Percolations<'_>,
        reader: &mut StoredReader,
    ) -> Result<Option<Value>> {
        let bound = self.bound;
        let mut shown = Map::new();
        let within = bound.shard.nested.as_ref().map_or("", |scope| &*scope.nested.path);
        let document = Document { mapping: &bound.shard.mapping, source, doc, prefix: "", within };
        bound.show(&document, &self.matching, &mut shown)?;
        for (name, node, queries) in percolations.iter() {
            if let Some(stored) = queries.query(doc)? {
                bound.show_percolated(node, &stored, name, reader, &mut shown)?;
            }
        }
        Ok((!shown.is_empty()).then_some(Value::Object(shown)))
    }
}

/// Returns only the cause: the message around it is for the search's own query.
fn unwrapped(error: Error) -> Error {
    match error {
        Error::Request(RequestError { caused_by: Some(cause), reason, .. })
            if reason.starts_with("failed to create query: ") =>
        {
            (*cause).into()
        }
        other => other,
    }
}

/// Returns the field's values in the source: those of its own path (of its parent's for a multi-field), and
/// those that are copied to it. Values of a keyword are normalized.
fn values_of(document: &Document<'_>, field: &Field) -> Vec<String> {
    let mut found = Vec::new();
    for path in in_java_order(document.mapping.source_paths(field), |path| path) {
        // Fields outside of a nested object have no values in it.
        let below = match document.within {
            "" => Some(path),
            within => path.strip_prefix(within).and_then(|rest| rest.strip_prefix('.')),
        };
        if let Some(path) = below {
            gather(document.source, path, &mut found);
        }
    }
    let limit = field.ignore_above.map_or(usize::MAX, |limit| limit as usize);
    let texts = found.into_iter().filter_map(json::scalar_text);
    let kept = texts.filter(|text| text.len() <= limit || text.encode_utf16().count() <= limit);
    match field.normalizer.is_some() {
        true => kept.map(|text| field.normalize(&text).into_owned()).collect(),
        false => kept.collect(),
    }
}
