//! Groups of documents with the same value of a field: "which group does a document belong to?"
//!
//! Source: Elasticsearch's `CollapseBuilder#build`, Lucene's `GroupSelector`.

use std::sync::Arc;

use limber_mapping::{Field, Representation, RequestError, reserved};
use limber_segment::columns::{Batch, NumberColumn, OrdinalColumn};
use limber_segment::terms::TermDictionary;
use limber_segment::{DocId, Segment};
use limber_work as work;

use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::request::{Collapse, SearchRequest};

/// A group, identified in the same way on all shards.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum GroupKey {
    /// The group of all documents without a value.
    Missing,
    /// The number as the column stores it.
    Number(i64),
    Term(Arc<[u8]>),
}

/// A group within one segment: a number, or the ordinal of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LocalGroup {
    Missing,
    Value(i64),
    /// The document has several values, and belongs to no group.
    Several,
}

/// The field of a shard that documents are grouped on.
#[derive(Debug)]
pub(crate) struct BoundCollapse(Arc<Field>);

impl BoundCollapse {
    /// Binds a request's `collapse` to a shard.
    ///
    /// # Errors
    /// `illegal_argument_exception`: the field does not exist or does not support `collapse`, or
    /// `search_after` is used with a sort that is not by this field alone.
    pub fn bind(
        collapse: &Collapse,
        request: &SearchRequest,
        shard: &ShardSnapshot,
    ) -> Result<BoundCollapse> {
        let refused = |reason: String| Err(RequestError::illegal_argument(reason).into());
        let Some(path) = &collapse.field else {
            return refused("no collapse field specified".to_owned());
        };
        let Some(field) = shard.mapping.field(path) else {
            return refused(format!("no mapping found for `{path}` in order to collapse on"));
        };
        if !is_groupable(&field) {
            let is_own_type = is_reserved(&field) || &*field.path == "_index";
            let type_name = if is_own_type { &*field.path } else { field.type_name() };
            return refused(format!(
                "collapse is not supported for the field [{path}] of the type [{type_name}]"
            ));
        }
        if !field.doc_values {
            return refused(format!("cannot collapse on field `{path}` without `doc_values`"));
        }
        if !field.index && !collapse.inner_hits.is_empty() {
            return refused(format!(
                "cannot expand `inner_hits` for collapse field `{path}`, only indexed field can retrieve `inner_hits`"
            ));
        }
        if request.search_after.is_some() && request.is_by_score() {
            return refused("Sort must contain at least one field.".to_owned());
        }
        let is_sorted_by_it = matches!(request.sort.as_slice(), [only] if only.field == *path);
        if request.search_after.is_some() && !is_sorted_by_it {
            return refused(
                "Cannot use [collapse] in conjunction with [search_after] unless the search is sorted on the same field. Multiple sort \
                 fields are not allowed."
                    .to_owned(),
            );
        }
        Ok(BoundCollapse(field))
    }

    pub(super) fn open<'a>(&self, segment: &'a Segment) -> Result<GroupReader<'a>> {
        let path = &self.0.path;
        Ok(match self.0.representation() {
            Representation::Terms => match segment.ordinals(path)?.zip(segment.terms(path)?) {
                Some((column, terms)) => GroupReader::Terms { column, terms, batch: Batch::default() },
                None => GroupReader::Nothing,
            },
            _ => match segment.numbers(path)? {
                Some(column) => GroupReader::Numbers { column, batch: Batch::default() },
                None => GroupReader::Nothing,
            },
        })
    }
}

fn is_reserved(field: &Field) -> bool {
    (field.id.0 as usize) < reserved::COUNT
}

fn is_groupable(field: &Field) -> bool {
    field.runtime.is_none() && !is_reserved(field) && field.collapses()
}

/// Reads the groups of a segment's documents.
pub(super) enum GroupReader<'a> {
    /// No document has a value.
    Nothing,
    Numbers {
        column: NumberColumn<'a>,
        batch: Batch<i64>,
    },
    Terms {
        column: OrdinalColumn<'a>,
        terms: &'a TermDictionary,
        batch: Batch<u32>,
    },
}

/// Largest number of groups that have indexes.
const INDEXED_MAX: u64 = 1 << 16;

impl GroupReader<'_> {
    /// Returns the number of groups that the segment can have, without the one of documents without a value,
    /// if these are few. Each group then has an index, see [`GroupReader::first_value`].
    pub fn index_count(&self) -> usize {
        let count = match self {
            GroupReader::Nothing => 0,
            GroupReader::Numbers { column, .. } => match column.min().zip(column.max()) {
                Some((min, max)) => max.abs_diff(min).saturating_add(1),
                None => 0,
            },
            GroupReader::Terms { terms, .. } => terms.len(),
        };
        if count <= INDEXED_MAX { count as usize } else { 0 }
    }

    /// Returns the value of the group with index 0; the others follow.
    pub fn first_value(&self) -> i64 {
        match self {
            GroupReader::Numbers { column, .. } => column.min().unwrap_or(0),
            _ => 0,
        }
    }

    /// Replaces `out` by the value of each of `docs`, which ascend. Returns false if a document does not have
    /// exactly one.
    pub fn read_values(&mut self, docs: &[DocId], out: &mut Vec<i64>) -> Result<bool> {
        out.clear();
        match self {
            GroupReader::Nothing => Ok(false),
            GroupReader::Numbers { column, batch } => {
                column.gather(docs, batch)?;
                out.extend_from_slice(&batch.values);
                Ok(batch.is_aligned())
            }
            GroupReader::Terms { column, batch, .. } => {
                column.gather(docs, batch)?;
                out.extend(batch.values.iter().map(|ordinal| i64::from(*ordinal)));
                Ok(batch.is_aligned())
            }
        }
    }

    /// Reads one group for each of `docs`, which ascend.
    pub fn read(&mut self, docs: &[DocId], out: &mut Vec<LocalGroup>) -> Result<()> {
        out.clear();
        out.resize(docs.len(), LocalGroup::Missing);
        let mut add = |position: usize, value: i64| {
            out[position] = match out[position] {
                LocalGroup::Missing => LocalGroup::Value(value),
                _ => LocalGroup::Several,
            };
        };
        match self {
            GroupReader::Nothing => {}
            GroupReader::Numbers { column, batch } => {
                column.gather(docs, batch)?;
                batch.iter().for_each(|(position, number)| add(position, number));
            }
            GroupReader::Terms { column, batch, .. } => {
                column.gather(docs, batch)?;
                batch.iter().for_each(|(position, ordinal)| add(position, ordinal.into()));
            }
        }
        Ok(())
    }

    /// Returns the group as all shards identify it.
    pub fn global(&self, group: LocalGroup) -> Result<GroupKey> {
        let LocalGroup::Value(value) = group else { return Ok(GroupKey::Missing) };
        match self {
            GroupReader::Terms { terms, .. } => {
                let mut term = Vec::new();
                terms.term(value as u64, &mut term)?;
                work::claim(term.len() as u64)?;
                Ok(GroupKey::Term(term.into()))
            }
            _ => Ok(GroupKey::Number(value)),
        }
    }
}
