//! Sort keys from nested documents: "which of them count, and which key do they give together?"
//!
//! Source: Elasticsearch's `XFieldComparatorSource.Nested`, `MultiValueMode`.

use std::sync::Arc;

use limber_segment::nested::Lineage;
use limber_segment::{DocId, Segment};

use super::reader::KeyReader;
use super::sort::BoundSort;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::matcher::{Bits, SegmentBits, WINDOW};
use crate::query::{self, BoundQuery, no_nested_object};
use crate::request::NestedSort;
use crate::values::sort_key::SortKey;

/// A bound `nested` of a sort: its levels, outermost first.
#[derive(Debug)]
pub(crate) struct BoundNested {
    levels: Vec<Level>,
    max_children: usize,
}

#[derive(Debug)]
struct Level {
    path: Arc<str>,
    filter: Option<BoundQuery>,
}

impl BoundNested {
    /// Binds the `nested` of a sort; `None` where it names no path. The second result is the innermost
    /// scope.
    pub fn bind(
        sort: &NestedSort,
        shard: &ShardSnapshot,
        context: &SearchContext,
    ) -> Result<Option<(BoundNested, ShardSnapshot)>> {
        let mut scope = shard.clone();
        let mut levels = Vec::new();
        let mut next = Some(sort);
        while let Some(sort) = next {
            next = sort.nested.as_deref();
            let Some(path) = &sort.path else { continue };
            let nested = shard.mapping.nested(path).ok_or_else(|| no_nested_object(shard, path))?;
            scope = scope.within(nested)?;
            let filter = match &sort.filter {
                Some((_, filter)) => Some(query::bind_in(filter, &scope, context)?),
                None => None,
            };
            levels.push(Level { path: nested.path.clone(), filter });
        }
        let max_children = sort.max_children.map_or(usize::MAX, |count| count as usize);
        Ok((!levels.is_empty()).then_some((BoundNested { levels, max_children }, scope)))
    }

    /// Whether any of its levels has a filter.
    pub fn has_filters(&self) -> bool {
        self.levels.iter().any(|level| level.filter.is_some())
    }

    /// Returns the bytes of the bit sets of its filters on a segment.
    pub fn filter_bytes(&self, segment: &Segment) -> u64 {
        let with_filter = self.levels.iter().skip_while(|level| level.filter.is_none());
        let spaces = with_filter.filter_map(|level| segment.nested(&level.path));
        spaces.map(|space| u64::from(space.segment.doc_count()).div_ceil(8)).sum()
    }
}

/// Computes keys of documents from the keys of their nested documents.
pub(crate) struct NestedReader<'a> {
    inner: KeyReader<'a>,
    /// `None` if the segment has no such nested documents.
    lineage: Option<Lineage<'a>>,
    /// One bit per nested document, set if it counts. `None` if all count.
    allowed: Option<SegmentBits>,
    max_children: usize,
    children: Vec<DocId>,
    owners: Vec<u32>,
}

impl<'a> NestedReader<'a> {
    /// Opens the keys of `sort` on a segment of the documents that contain the nested ones.
    pub fn open(sort: &BoundSort, nested: &BoundNested, segment: &'a Segment) -> Result<NestedReader<'a>> {
        let path = &nested.levels.last().expect("a level at least").path;
        let space = segment.nested(path).map(|space| &*space.segment);
        let mut allowed: Option<SegmentBits> = None;
        let mut around = segment;
        for level in nested.levels.iter().filter(|_| space.is_some()) {
            let Some((space, lineage)) = around.nested(&level.path).zip(around.lineage(&level.path)) else {
                break;
            };
            let inside = &*space.segment;
            if allowed.is_some() || level.filter.is_some() {
                let mut kept = match &level.filter {
                    Some(filter) => matching(filter, inside)?,
                    None => SegmentBits::all_of(inside.doc_count()),
                };
                if let Some(outer) = &allowed {
                    let mut parents = lineage.cursor();
                    for child in 0..inside.doc_count() {
                        if !outer.contains(parents.parent(child)) {
                            kept.clear(child);
                        }
                    }
                }
                allowed = Some(kept);
            }
            around = inside;
        }
        Ok(NestedReader {
            inner: KeyReader::open_plain(sort, space.unwrap_or(segment), 0)?,
            lineage: segment.lineage(path),
            allowed,
            max_children: nested.max_children,
            children: Vec::new(),
            owners: Vec::new(),
        })
    }

    /// Fills the empty `out` with one key for each of `docs`, which ascend.
    pub fn read(&mut self, docs: &[DocId], out: &mut Vec<i64>) -> Result<()> {
        self.children.clear();
        self.owners.clear();
        if let Some(lineage) = &self.lineage {
            let mut inside = lineage.children_cursor();
            for (owner, doc) in (0u32..).zip(docs) {
                let allowed = self.allowed.as_ref();
                let children =
                    inside.children(*doc).filter(|&child| allowed.is_none_or(|bits| bits.contains(child)));
                self.children.extend(children);
                self.owners.resize(self.children.len(), owner);
            }
            if self.max_children < usize::MAX {
                self.keep_first()?;
            }
        }
        self.inner.read_together(&self.children, &self.owners, docs.len(), out)
    }

    /// Keeps of each owner only the first children that have a value, as many as `max_children`.
    fn keep_first(&mut self) -> Result<()> {
        let Some(valued) = self.inner.valued(&self.children)? else { return Ok(()) };
        let mut last = (u32::MAX, 0);
        let mut kept = 0;
        for position in valued {
            let (child, owner) = (self.children[position], self.owners[position]);
            last = if last.0 == owner { (owner, last.1 + 1) } else { (owner, 1) };
            if last.1 <= self.max_children {
                (self.children[kept], self.owners[kept]) = (child, owner);
                kept += 1;
            }
        }
        self.children.truncate(kept);
        self.owners.truncate(kept);
        Ok(())
    }

    /// Converts a key of the shard to a key of this segment.
    pub fn local(&self, key: &SortKey) -> Result<i64> {
        self.inner.local(key)
    }

    /// Converts a key of this segment to a key of the shard.
    pub fn global(&self, key: i64) -> Result<SortKey> {
        self.inner.global(key)
    }
}

/// Returns the documents of a segment that match, one bit each.
fn matching(query: &BoundQuery, segment: &Segment) -> Result<SegmentBits> {
    let mut matcher = query.matcher(segment)?;
    let mut found = SegmentBits::none_of(segment.doc_count());
    let mut bits = Bits::default();
    for (start, words) in (0..).step_by(WINDOW as usize).zip(found.windows_mut()) {
        bits.clear();
        matcher.fill(start, &mut bits)?;
        words.copy_from_slice(&bits.0);
    }
    Ok(found)
}
