//! `terms` of runtime fields and scripts, whose terms are not in any segment's dictionary.

use limber_segment::SegmentView;

use super::super::answer::partial::{Key, Partial, TermKey};
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::Entries;
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::findings::Findings;
use super::super::source::{KeyReader, Source};
use super::include::TermFilter;
use super::request::Terms;
use super::select::{finish_kept, select_all, terms_partials};
use crate::error::Result;

/// Counts the terms of runtime fields and scripts.
#[derive(Debug)]
pub struct ComputedTermsCollector<'s> {
    request: &'s Terms,
    keys: KeyReader<'s>,
    buckets: KeyedBuckets<'s>,
    budget: &'s Budget,
}

impl<'s> ComputedTermsCollector<'s> {
    pub(crate) fn new(
        request: &'s Terms,
        filter: &'s TermFilter,
        source: &'s Source,
        subs: Subs<'s>,
        budget: &'s Budget,
    ) -> Result<ComputedTermsCollector<'s>> {
        Ok(ComputedTermsCollector {
            request,
            keys: KeyReader::new(source, Some(filter))?,
            buckets: KeyedBuckets::new(BucketTable::default(), subs, budget),
            budget,
        })
    }
}

impl<'s> Collector<'s> for ComputedTermsCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.keys.begin(view, self.budget)?;
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let values = self.keys.load(entries.docs, self.budget)?;
        match self.buckets.collect_keys(values.values, values.positions, entries, |_| true)? {
            true => Ok(()),
            false => self.buckets.collect(&values, entries, |_, id| Some(id)),
        }
    }

    fn end_segment(&mut self) -> Result<()> {
        self.buckets.end_segment()
    }

    fn can_split(&self) -> bool {
        self.buckets.subs.can_split()
    }

    fn takes_windows_again(&self) -> bool {
        self.buckets.subs.takes_windows_again()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let table = std::mem::take(&mut self.buckets.table);
        let below = self.buckets.subs.take_findings()?;
        Ok(Findings::Computed(Box::new((table, self.keys.take_terms())), below))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Computed(found, below) = findings else {
            unreachable!("findings of another collector")
        };
        let ((table, pool), keys, budget) = (&*found, &mut self.keys, self.budget);
        let id_of = |id: i64| keys.absorbed_id(id, pool, budget);
        let buckets = self.buckets.table.absorb(table, bucket_of, id_of, budget)?;
        self.buckets.subs.absorb(below, &buckets)
    }

    fn bucket_count(&self) -> Option<u64> {
        Some(self.buckets.table.len() as u64)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        self.buckets.subs.settle()?;
        let (table, keys) = (&self.buckets.table, &self.keys);
        let selected =
            select_all(&self.buckets.table, parents, self.request, &self.buckets.subs, |left, right| {
                keys.compare(table.key(left), table.key(right))
            });
        let below = finish_kept(&mut self.buckets.subs, &selected)?;
        let key = |bucket: u32| match keys.key(table.key(bucket)) {
            Key::Term(term) => TermKey::Term(term),
            Key::Double(value) => TermKey::Double(value),
            Key::Long(value) => TermKey::Long(value),
            Key::Missing => TermKey::Term(Default::default()),
        };
        terms_partials(selected, key, below)
    }
}
