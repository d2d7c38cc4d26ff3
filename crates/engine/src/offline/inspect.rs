//! `limber inspect` measures term indices: "how large are the term indices of this data folder?" It works
//! offline and loads none of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use limber_segment::Segment;
use limber_store::Pool;
use limber_store::term_index::{Scheme, TermIndexCache};

use crate::api::Result;
use crate::node::IndexAndField;
use crate::offline::data_folder::{Found, for_each_shard};
use crate::shard::Commit;

/// One field of one index, summed over all committed segments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldTermIndex {
    /// Segments that have the field.
    pub segment_count: u64,
    /// Bytes of all FSTs of the field.
    pub index_bytes: u64,
    /// Bytes of the largest FST.
    pub largest_bytes: u64,
}

/// What an inspection found.
#[derive(Debug, Default)]
pub struct TermIndexReport {
    /// Keyed by index and field.
    pub fields: BTreeMap<IndexAndField, FieldTermIndex>,
    /// Sizes of FSTs (one per field and segment). Entry `i` counts those below `4^i` KiB that earlier entries
    /// do not count.
    pub histogram: [u64; 8],
    /// Committed segments of all shards.
    pub segment_count: u64,
    /// Documents in the segments, including deleted ones.
    pub document_count: u64,
    /// Bytes of all committed segments on disk.
    pub disk_bytes: u64,
    /// Pending metadata, folders of deleted indices, dangling indices.
    pub notes: Vec<String>,
    /// What could not be read.
    pub problems: Vec<String>,
}

impl TermIndexReport {
    /// Returns the bytes of all FSTs, which the native term index keeps in memory.
    pub fn index_bytes(&self) -> u64 {
        self.fields.values().map(|field| field.index_bytes).sum()
    }

    fn add(&mut self, index: &Arc<str>, segment: &Segment) {
        self.segment_count += 1;
        self.document_count += u64::from(segment.doc_count());
        self.disk_bytes += segment.file_bytes();
        for (_, path, bytes) in segment.term_index_sizes() {
            let field = self.fields.entry((index.clone(), path)).or_default();
            field.segment_count += 1;
            field.index_bytes += bytes;
            field.largest_bytes = field.largest_bytes.max(bytes);
            let last = self.histogram.len() - 1;
            let class = (0..last).find(|class| bytes < 1024 << (2 * class)).unwrap_or(last);
            self.histogram[class] += 1;
        }
    }
}

/// Reads the section tables of all committed segments of a data folder that no server uses. Changes nothing.
///
/// Errors: the folder cannot be read, or a running server has locked it. Damage inside is reported, not an
/// error.
pub fn inspect_data_folder(path: &Path) -> Result<TermIndexReport> {
    let cache = TermIndexCache::new(Pool::new("segment_memory", 0), Scheme::Cached);
    let mut report = TermIndexReport::default();
    for_each_shard(path, |found| match found {
        Found::Note(line) => report.notes.push(line),
        Found::Broken(problem) => report.problems.push(problem),
        Found::Shard { index, place, directory, .. } => {
            let commit = match Commit::read(&*directory) {
                Ok(commit) => commit,
                Err(error) => return report.problems.push(format!("{place}: {error}")),
            };
            for committed in &commit.segments {
                match Segment::open(&directory, &committed.meta, &cache) {
                    Ok(segment) => report.add(&index, &segment),
                    Err(error) => {
                        report.problems.push(format!("{place} segment _{}: {error}", committed.meta.id))
                    }
                }
            }
        }
    })?;
    Ok(report)
}
