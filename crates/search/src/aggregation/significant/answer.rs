//! Selects the significant buckets of a shard among all that were counted.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::BuildHasher;

use super::super::answer::partial::{Key, ListBucket, ListPartial, Partial};
use super::super::buckets::bucket_table::BucketTable;
use super::super::collector::Subs;
use super::super::values::given_script::FoundScript;
use super::request::{Candidate, Significance};
use crate::error::Result;

/// The counts of the foreground and of the background.
pub(super) struct Counted<'c, H> {
    pub table: &'c BucketTable,
    /// Number of documents by parent.
    pub totals: &'c [u64],
    /// Number of background documents by key.
    pub background: &'c HashMap<i64, u64, H>,
    pub background_size: u64,
    /// The stored script that scores.
    pub script: Option<&'c FoundScript>,
}

impl<H: BuildHasher> Counted<'_, H> {
    /// Makes one list for each parent, chosen from its buckets in `lists`. `compare` compares the keys of two
    /// buckets, and `key` returns the key of one.
    pub fn answer(
        &self,
        request: &Significance,
        (parents, lists): (&[u32], Vec<Vec<u32>>),
        subs: &mut Subs<'_>,
        compare: impl Fn(u32, u32) -> Ordering,
        key: impl Fn(u32) -> Key,
    ) -> Result<Vec<Partial>> {
        let table = self.table;
        let total = |parent: u32| self.totals.get(parent as usize).copied().unwrap_or(0);
        let background = |bucket: u32| self.background.get(&table.key(bucket)).copied().unwrap_or(0);
        let mut selected: Vec<Vec<Candidate>> = Vec::with_capacity(lists.len());
        for (list, &parent) in lists.into_iter().zip(parents) {
            let found =
                list.into_iter().map(|bucket| (bucket, table.counts[bucket as usize], background(bucket)));
            selected.push(request.select(
                self.script,
                found,
                total(parent),
                self.background_size,
                &compare,
            )?);
        }
        let kept: Vec<u32> = selected.iter().flatten().map(|candidate| candidate.bucket).collect();
        let mut results = subs.finish(&kept)?.into_iter();
        let mut partials = Vec::with_capacity(selected.len());
        for (candidates, &parent) in selected.iter().zip(parents) {
            let shown = |candidate: &Candidate| ListBucket {
                background: candidate.background,
                score: candidate.score,
                ..ListBucket::new(
                    [key(candidate.bucket)].into(),
                    candidate.doc_count,
                    results.next().unwrap_or_default(),
                )
            };
            partials.push(Partial::List(ListPartial {
                buckets: candidates.iter().map(shown).collect(),
                doc_count: total(parent),
                background: self.background_size,
                ..ListPartial::default()
            }));
        }
        Ok(partials)
    }
}
