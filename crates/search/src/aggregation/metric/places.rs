//! The common parts of metrics of geo points: each bucket has a state that points are added to.

use std::fmt::Debug;

use limber_mapping::geo::GeoPoint;
use limber_segment::SegmentView;

use super::super::answer::partial::{Finding, OwnFinding, Partial};
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::CollectorContext;
use super::super::findings::Findings;
use super::super::source::{NumberReader, Source};
use crate::error::Result;

/// The state of one bucket's points.
pub trait PlacesState: OwnFinding + Copy + Default {
    fn add(&mut self, place: GeoPoint);
    fn merge(&mut self, other: &Self);
}

/// Merges the states of the shards.
pub(super) fn merged<S: PlacesState>(parts: &[S]) -> S {
    let mut merged = S::default();
    parts.iter().for_each(|state| merged.merge(state));
    merged
}

#[derive(Debug)]
pub(super) struct PlacesCollector<'s, S> {
    source: &'s Source,
    reader: NumberReader<'s>,
    states: Vec<S>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s, S: PlacesState> PlacesCollector<'s, S> {
    pub(crate) fn new(context: &CollectorContext<'s>) -> Result<PlacesCollector<'s, S>> {
        let source = &context.bound.sources()[0];
        let reader = NumberReader::new(source)?;
        Ok(PlacesCollector { source, reader, states: Vec::new(), starts: Vec::new(), budget: context.budget })
    }
}

impl<'s, S: PlacesState> Collector<'s> for PlacesCollector<'s, S> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.states.len() {
            let more = entries.bucket_count - self.states.len();
            self.budget.spend((more * size_of::<S>()) as u64)?;
            self.states.resize(entries.bucket_count, S::default());
        }
        let places = self.reader.load(entries.docs)?;
        let states = &mut self.states;
        places.join(entries, &mut self.starts, |_, bucket, place| {
            states[bucket as usize].add(GeoPoint::decode(place));
        })
    }

    fn can_split(&self) -> bool {
        true
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Own(std::mem::take(&mut self.states).into_iter().map(Finding::into_partial).collect()))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Own(found) = findings else { unreachable!("findings of another collector") };
        let most = bucket_of[..found.len()].iter().max().map_or(0, |most| *most as usize + 1);
        if most > self.states.len() {
            self.budget.spend(((most - self.states.len()) * size_of::<S>()) as u64)?;
            self.states.resize(most, S::default());
        }
        for (found, &bucket) in found.iter().zip(bucket_of) {
            if let Some(state) = S::in_partial(found) {
                self.states[bucket as usize].merge(state);
            }
        }
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let state = |bucket: &u32| self.states.get(*bucket as usize).copied().unwrap_or_default();
        Ok(buckets.iter().map(|bucket| Finding::into_partial(state(bucket))).collect())
    }
}
