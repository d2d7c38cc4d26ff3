//! `rare_terms`: values that occur in few documents. Source: Elasticsearch's `RareTermsAggregationBuilder`,
//! `InternalRareTerms`.
//!
//! Elasticsearch stores frequent values in cuckoo filters, which sometimes report a rare value as frequent.
//! Here shards report frequent values by 64-bit hashes, so that `precision` has no effect.

use std::collections::HashSet;

use limber_mapping::RequestError;
use limber_segment::SegmentView;

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListBucket, ListPartial, Partial};
use super::super::answer::reduce::{Reducer, check_one_type};
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Shape};
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::deferred::Deferred;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::buckets::list::{groups, push_key, render_buckets};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::metric::{hash_number, hash_term};
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, KeyReader};
use super::super::tree::{Aggregation, Kind};
use super::include::Include;
use crate::context::ShardSnapshot;
use crate::error::Result;

const DOC_COUNT_MAX: i64 = 100;

/// The options of a `rare_terms`: the field, and the largest document count of a rare term.
#[derive(Debug, Clone)]
pub struct RareTerms {
    values: ValuesOptions,
    max_doc_count: u64,
    include: Option<Include>,
    exclude: Option<Include>,
}

impl RareTerms {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let most = options.long("max_doc_count")?.unwrap_or(1);
        if most <= 0 {
            let reason =
                format!("[max_doc_count] must be greater than 0. Found [{most}] in [{}]", options.name);
            return Err(options.refused("max_doc_count", reason));
        }
        if most > DOC_COUNT_MAX {
            let reason = format!("[max_doc_count] must be smaller than {DOC_COUNT_MAX}in [{}]", options.name);
            return Err(options.refused("max_doc_count", reason));
        }
        if let Some(precision) = options.double("precision")?
            && precision < 0.00001
        {
            let reason = "[precision] must be greater than 0.00001";
            return Err(options.refused("precision", reason));
        }
        let include = Include::parse(options, "include")?;
        let exclude = Include::parse(options, "exclude")?;
        let values = ValuesOptions::parse(options)?;
        Ok(Kind::own(RareTerms { values, max_doc_count: most as u64, include, exclude }))
    }
}

fn hash(key: &Key) -> u64 {
    match key {
        Key::Missing => 0,
        Key::Long(value) => hash_number(*value),
        Key::Double(value) => hash_number(value.to_bits() as i64),
        Key::Term(term) => hash_term(term),
    }
}

impl Request for RareTerms {
    fn defers_subs(&self) -> bool {
        true
    }

    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Keys)]
    }

    fn includes(&self) -> (&Option<Include>, &Option<Include>) {
        (&self.include, &self.exclude)
    }

    fn check_on_shard(&self, bound: &Bound, _: &ShardSnapshot) -> Result<()> {
        match bound.sources()[0].is_floating() {
            true => Err(RequestError::illegal_argument(
                "RareTerms aggregation does not support floating point fields.",
            )
            .into()),
            false => Ok(()),
        }
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for RareTerms {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(RareCollector {
            max_doc_count: self.max_doc_count,
            keys: KeyReader::new(&context.bound.sources()[0], Some(&context.bound.filter))?,
            // The sub-aggregations see documents later, so the buckets have none.
            buckets: KeyedBuckets::new(
                BucketTable::default(),
                Subs::new(Vec::new(), context.budget),
                context.budget,
            ),
            deferred: Deferred::default(),
            subs: context.subs,
            emitted: Emitted::default(),
            starts: Vec::new(),
            budget: context.budget,
        }))
    }
}

impl Reduce for RareTerms {
    type Finding = ListPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let lists = parts;
        let keys = lists.iter().flat_map(|list| &list.buckets).filter_map(|bucket| bucket.keys.first());
        check_one_type(own, keys.map(|key| matches!(key, Key::Term(_))))?;
        let frequent: HashSet<u64> = lists.iter().flat_map(|list| &list.refused).copied().collect();
        let mut all = groups(lists.into_iter().flat_map(|list| list.buckets));
        all.retain(|group| {
            group.bucket.doc_count <= self.max_doc_count && !frequent.contains(&hash(&group.bucket.keys[0]))
        });
        all.sort_by_key(|group| group.bucket.doc_count);
        let buckets = reducer.buckets_of(own, all)?;
        Ok(ListPartial::of(buckets))
    }
}

impl Render for RareTerms {
    fn typed_name(&self, _: &Aggregation, finding: &ListPartial, shape: &Shape) -> String {
        let is_number = match finding.buckets.first() {
            Some(bucket) => matches!(bucket.keys[0], Key::Long(_)),
            None => shape.sources.first().is_some_and(|source| source.is_numeric()),
        };
        let name = match (shape.is_mapped, is_number) {
            // As in Elasticsearch.
            (false, _) => "sterms",
            (_, true) => "lrareterms",
            _ => "srareterms",
        };
        name.to_owned()
    }

    fn render(&self, list: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        render_buckets(list, renderer, out, |bucket, head| {
            push_key(head, &bucket.keys[0], renderer.shape.sources.first())
        })
    }
}

#[derive(Debug)]
struct RareCollector<'s> {
    max_doc_count: u64,
    keys: KeyReader<'s>,
    buckets: KeyedBuckets<'s>,
    deferred: Deferred<'s>,
    subs: Subs<'s>,
    emitted: Emitted,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for RareCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.deferred.begin_segment(view);
        self.keys.begin(view, self.budget)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let values = self.keys.load(entries.docs, self.budget)?;
        if self.subs.is_empty() {
            return match self.buckets.collect_keys(values.values, values.positions, entries, |_| true)? {
                true => Ok(()),
                false => self.buckets.collect(&values, entries, |_, id| Some(id)),
            };
        }
        self.emitted.clear();
        let (table, emitted, budget, most) =
            (&mut self.buckets.table, &mut self.emitted, self.budget, self.max_doc_count);
        values.try_join(entries, &mut self.starts, |entry, parent, id| {
            let bucket = table.bucket(parent, id, budget)?;
            let count = &mut table.counts[bucket as usize];
            *count += 1;
            // Documents of values that are already frequent are not deferred.
            if *count <= most { emitted.push(entry, bucket) } else { Ok(()) }
        })?;
        self.deferred.note(&self.emitted.batch(entries, self.buckets.table.len())?, self.budget)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.buckets.end_segment()
    }

    fn can_split(&self) -> bool {
        self.subs.is_empty()
    }

    fn takes_windows_again(&self) -> bool {
        self.subs.is_empty()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let table = std::mem::take(&mut self.buckets.table);
        Ok(Findings::Computed(Box::new((table, self.keys.take_terms())), Vec::new()))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Computed(found, _) = findings else { unreachable!("findings of another collector") };
        let ((table, pool), keys, budget) = (&*found, &mut self.keys, self.budget);
        self.buckets.table.absorb(table, bucket_of, |id| keys.absorbed_id(id, pool, budget), budget)?;
        Ok(())
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        let (table, most) = (&self.buckets.table, self.max_doc_count);
        let is_rare = |bucket: &u32| table.counts[*bucket as usize] <= most;
        let lists = table.by_parent(parents);
        self.deferred
            .replay(&mut self.subs, table.len(), self.budget, |bucket| Some(bucket).filter(is_rare))?;
        let rare: Vec<u32> = lists.iter().flatten().copied().filter(is_rare).collect();
        let mut results = self.subs.finish(&rare)?.into_iter();
        let mut partials = Vec::with_capacity(lists.len());
        for list in lists {
            let mut partial = ListPartial::default();
            for bucket in list {
                let key = self.keys.key(table.key(bucket));
                if is_rare(&bucket) {
                    let subs = results.next().unwrap_or_default();
                    partial.buckets.push(ListBucket::new([key].into(), table.counts[bucket as usize], subs));
                } else {
                    partial.refused.push(hash(&key));
                }
            }
            partials.push(Partial::List(partial));
        }
        Ok(partials)
    }
}
