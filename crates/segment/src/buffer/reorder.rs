//! Puts the documents of a buffer in the order of the index sort.

use limber_mapping::{Mapping, SpaceId};

use super::field_table::FieldTable;
use super::fields::{FieldBuffer, NumbersBuffer, TermsBuffer};
use super::invert::TermOrder;
use super::nested::SpaceBuffer;
use super::shapes::ShapesBuffer;
use super::text::{TextBuffer, TextEntry};
use crate::DocId;
use crate::index_sort::SortField;

/// A new order of documents.
pub struct Reordering {
    /// Old document by new document.
    old: Vec<DocId>,
    /// New document by old document.
    new: Vec<DocId>,
}

impl Reordering {
    fn of(old: Vec<DocId>) -> Reordering {
        let mut new = vec![0; old.len()];
        (0..).zip(&old).for_each(|(place, &doc)| new[doc as usize] = place);
        Reordering { old, new }
    }

    /// Computes the order by `sort`; ties keep the order in which they were added. `None` if the documents
    /// are in that order already.
    pub fn by(
        sort: &[SortField],
        fields: &mut FieldTable,
        doc_count: u32,
        mapping: &Mapping,
    ) -> Option<Reordering> {
        let keys: Vec<Vec<i64>> = sort
            .iter()
            .map(|by| match mapping.field(&by.path).and_then(|field| fields.get(field.id)) {
                Some(field) => keys_of(field, by, doc_count),
                None => vec![by.missing_key(); doc_count as usize],
            })
            .collect();
        let compare = |a: DocId, b: DocId| {
            keys.iter().map(|keys| keys[a as usize].cmp(&keys[b as usize])).find(|order| order.is_ne())
        };
        let is_after = |a: DocId, b: DocId| compare(a, b).is_some_and(|order| order.is_gt());
        if (1..doc_count).all(|doc| !is_after(doc - 1, doc)) {
            return None;
        }
        let mut old: Vec<DocId> = (0..doc_count).collect();
        old.sort_by(|&a, &b| compare(a, b).unwrap_or(std::cmp::Ordering::Equal));
        Some(Reordering::of(old))
    }

    /// Computes the order of nested documents, which follow their parents. `parents` has the parent of
    /// each, ascending.
    fn of_children(&self, parents: &[DocId]) -> Reordering {
        let mut old = Vec::with_capacity(parents.len());
        for &parent in &self.old {
            let start = parents.partition_point(|&other| other < parent) as DocId;
            let of_parent = parents[start as usize..].iter().take_while(|&&other| other == parent);
            old.extend(start..start + of_parent.count() as DocId);
        }
        Reordering::of(old)
    }

    #[inline]
    pub(crate) fn old(&self, new: DocId) -> DocId {
        self.old[new as usize]
    }

    #[inline]
    pub(crate) fn new_of(&self, old: DocId) -> DocId {
        self.new[old as usize]
    }

    /// Returns the new document of each old document.
    pub fn into_new(self) -> Vec<DocId> {
        self.new
    }

    /// Reorders the logs of a field.
    pub fn reorder(&self, field: &mut FieldBuffer) {
        match field {
            FieldBuffer::Absent => {}
            FieldBuffer::Terms(terms) => {
                terms.settle();
                let TermsBuffer { table, values, docs, .. } = std::mem::take(&mut **terms);
                let starts = docs.starts(self.new.len());
                let mut ordered = TermsBuffer::default();
                ordered.table = table;
                self.for_each_entry(&starts, |new, entry| {
                    ordered.values.push(values.get(entry));
                    ordered.docs.push(new);
                });
                **terms = ordered;
            }
            FieldBuffer::Numbers(numbers) => self.reorder_numbers(numbers),
            FieldBuffer::Shapes(shapes) => {
                let ShapesBuffer { mut cells, bytes, starts, docs, .. } = std::mem::take(&mut **shapes);
                self.reorder_numbers(&mut cells);
                let entries = docs.starts(self.new.len());
                let mut ordered = ShapesBuffer::default();
                ordered.cells = cells;
                self.for_each_entry(&entries, |new, entry| {
                    let end = match entry + 1 < starts.len() {
                        true => starts.get(entry + 1) as usize,
                        false => bytes.len(),
                    };
                    ordered.docs.push(new);
                    ordered.starts.push(ordered.bytes.len() as u32);
                    let pieces = bytes.slices(starts.get(entry) as usize, end);
                    pieces.for_each(|piece| ordered.bytes.extend_from_slice(piece));
                });
                **shapes = ordered;
            }
            FieldBuffer::Text(text) => {
                text.settle();
                let TextBuffer { table, tokens, entries, docs, .. } = std::mem::take(&mut **text);
                let starts = docs.starts(self.new.len());
                let mut ordered = TextBuffer::default();
                ordered.table = table;
                self.for_each_entry(&starts, |new, entry| {
                    let of_entry = entries.get(entry);
                    let end = match entry + 1 < entries.len() {
                        true => entries.get(entry + 1).tokens_start as usize,
                        false => tokens.len(),
                    };
                    ordered.docs.push(new);
                    let tokens_start = ordered.tokens.len() as u32;
                    ordered.entries.push(TextEntry { tokens_start, ..of_entry });
                    let pieces = tokens.slices(of_entry.tokens_start as usize, end);
                    pieces.for_each(|piece| ordered.tokens.extend_from_slice(piece));
                });
                **text = ordered;
            }
        }
    }

    fn reorder_numbers(&self, numbers: &mut NumbersBuffer) {
        let (values, docs) = std::mem::take(numbers).into_parts();
        let starts = docs.starts(self.new.len());
        let mut ordered = NumbersBuffer::default();
        self.for_each_entry(&starts, |new, entry| ordered.push(new, values[entry]));
        *numbers = ordered;
    }

    /// Calls `each(new document, entry)` in the new order. `starts` is, by old document, where its entries
    /// start, with one more element for the end.
    fn for_each_entry(&self, starts: &[u32], mut each: impl FnMut(DocId, usize)) {
        for (new, &old) in (0..).zip(&self.old) {
            let entries = starts[old as usize]..starts[old as usize + 1];
            entries.for_each(|entry| each(new, entry as usize));
        }
    }
}

/// Puts the nested documents of all spaces in the order of their parents.
pub fn reorder_nested(root: &Reordering, spaces: &mut [SpaceBuffer], mapping: &Mapping) {
    let mut orders: Vec<Option<Reordering>> = Vec::with_capacity(spaces.len());
    orders.push(None);
    for (number, space) in spaces.iter_mut().enumerate().skip(1) {
        let parent = mapping.nested_objects()[number - 1].parent;
        let of_parent = match parent {
            SpaceId::ROOT => Some(root),
            around => orders[around.0 as usize].as_ref(),
        };
        let order = of_parent.filter(|_| space.doc_count > 0).map(|of_parent| {
            let order = of_parent.of_children(&space.parents);
            space.parents =
                order.old.iter().map(|&child| of_parent.new_of(space.parents[child as usize])).collect();
            space.fields.iter_mut().for_each(|field| order.reorder(field));
            order
        });
        orders.push(order);
    }
}

/// Returns the sort key of each document.
fn keys_of(field: &mut FieldBuffer, by: &SortField, doc_count: u32) -> Vec<i64> {
    let mut keys = vec![by.missing_key(); doc_count as usize];
    // Entries of one document are adjacent.
    let mut newest = None;
    let mut offer = |doc: DocId, value: i64| {
        let key = by.key(value);
        let held = &mut keys[doc as usize];
        // In descending order, the greatest value has the smallest key.
        let wins = match by.takes_max != by.descending {
            true => key > *held,
            false => key < *held,
        };
        if newest != Some(doc) || wins {
            *held = key;
        }
        newest = Some(doc);
    };
    match field {
        FieldBuffer::Terms(terms) => {
            terms.settle();
            let order = TermOrder::of_terms(&terms.table, &mut terms.values);
            for (entry, value) in terms.values.iter().enumerate() {
                offer(terms.docs.get(entry), i64::from(order.rank(value)));
            }
        }
        FieldBuffer::Numbers(numbers) => {
            (0..numbers.docs.len()).for_each(|entry| offer(numbers.docs.get(entry), numbers.get(entry)));
        }
        FieldBuffer::Absent | FieldBuffer::Text(_) | FieldBuffer::Shapes(_) => {}
    }
    keys
}
