//! The common parts of metrics of points and shapes: each bucket has a state that they are added to.

use std::fmt::Debug;

use limber_mapping::geo::{GridBounds, GridShape, PartKind};
use limber_segment::SegmentView;
use limber_segment::columns::Batch;
use limber_segment::shapes::ShapeColumn;

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
    /// Adds a point as the column stores it.
    fn add(&mut self, stored: i64);
    fn merge(&mut self, other: &Self);
}

/// The state of one bucket's points or shapes.
pub(super) trait ShapesState: PlacesState {
    /// Adds one of the shapes of a document to the state of this document.
    fn add_shape(&mut self, shape: &GridShape);
}

/// Calls `add` with the bounding boxes, in grid coordinates, of the points, lines and polygons of a shape.
pub(super) fn spans(shape: &GridShape, mut add: impl FnMut((i64, i64), (i64, i64))) {
    for part in &shape.parts {
        match (part.kind, part.lists.first()) {
            (PartKind::Points, _) => part.lists.iter().flatten().for_each(|&(x, y)| add((x, x), (y, y))),
            // The outer ring of a polygon, or a line.
            (_, Some(outer)) => {
                let bounds = GridBounds::of(outer.iter());
                add(bounds.x, bounds.y);
            }
            (_, None) => {}
        }
    }
}

/// The smallest and the largest of some numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub least: f64,
    pub most: f64,
}

impl Ends {
    /// The ends of no numbers.
    pub const NONE: Ends = Ends { least: f64::INFINITY, most: f64::NEG_INFINITY };

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.least > self.most
    }

    /// Adds two numbers, of which `least` is not the larger one.
    #[inline]
    pub fn add(&mut self, least: f64, most: f64) {
        self.least = self.least.min(least);
        self.most = self.most.max(most);
    }
}

/// Makes the collector of the points or of the shapes of the field.
pub(super) fn of_places_or_shapes<'s, S: ShapesState + 's>(
    context: &CollectorContext<'s>,
) -> Result<Box<dyn Collector<'s> + 's>> {
    match context.bound.sources()[0].has_shapes() {
        true => Ok(Box::new(ShapesCollector::<S>::new(context))),
        false => Ok(Box::new(PlacesCollector::<S>::new(context)?)),
    }
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
            states[bucket as usize].add(place);
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

/// Adds shapes to the states of their buckets.
#[derive(Debug)]
struct ShapesCollector<'s, S> {
    path: &'s str,
    column: Option<ShapeColumn<'s>>,
    batch: Batch<i64>,
    /// The state of each document in the current batch.
    found: Vec<Option<S>>,
    states: Vec<S>,
    budget: &'s Budget,
}

impl<'s, S: ShapesState> ShapesCollector<'s, S> {
    fn new(context: &CollectorContext<'s>) -> ShapesCollector<'s, S> {
        ShapesCollector {
            path: context.bound.sources()[0].path(),
            column: None,
            batch: Batch::default(),
            found: Vec::new(),
            states: Vec::new(),
            budget: context.budget,
        }
    }
}

impl<'s, S: ShapesState> Collector<'s> for ShapesCollector<'s, S> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.column = view.segment.shapes(self.path)?;
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.states.len() {
            let more = entries.bucket_count - self.states.len();
            self.budget.spend((more * size_of::<S>()) as u64)?;
            self.states.resize(entries.bucket_count, S::default());
        }
        let Some(column) = &self.column else { return Ok(()) };
        self.found.clear();
        self.found.resize(entries.docs.len(), None);
        let found = &mut self.found;
        column.for_each(entries.docs, &mut self.batch, |position, bytes| {
            let shape = GridShape::decode(bytes).map_err(limber_segment::Error::in_section("shapes", 0))?;
            found[position].get_or_insert_default().add_shape(&shape);
            Ok(())
        })?;
        for entry in 0..entries.len() {
            if let Some(state) = &self.found[entries.position(entry)] {
                self.states[entries.bucket(entry) as usize].merge(state);
            }
        }
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let state = |bucket: &u32| self.states.get(*bucket as usize).copied().unwrap_or_default();
        Ok(buckets.iter().map(|bucket| Finding::into_partial(state(bucket))).collect())
    }
}
