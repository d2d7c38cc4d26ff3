//! `range` and `date_range` at work.

use limber_mapping::geo::DistanceKind;
use limber_segment::SegmentView;
use limber_segment::points::SpatialPoints;

use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::entries::{Emitted, Entries, Values};
use super::super::partial::Partial;
use super::super::source::{NumberReader, Source};
use super::filter::fixed_partials;
use super::range::{Origin, Ranges, ShownRange};
use crate::error::Result;
use crate::geo::Ring;

#[derive(Debug)]
pub struct RangeCollector<'s> {
    ranges: &'s [ShownRange],
    origin: Option<Origin>,
    /// The segment's index of places, for distances.
    places: Option<SpatialPoints<'s>>,
    path: String,
    source: &'s Source,
    reader: NumberReader<'s>,
    counts: Vec<u64>,
    /// By range: the entry counted last, plus one; a document counts once in a range.
    counted: Vec<usize>,
    /// Ranges do not overlap: a value is found by bisection.
    is_disjoint: bool,
    subs: Subs<'s>,
    emitted: Emitted,
    doubles: Vec<f64>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> RangeCollector<'s> {
    pub fn new(
        request: &Ranges,
        ranges: &'s [ShownRange],
        source: &'s Source,
        subs: Subs<'s>,
        budget: &'s Budget,
    ) -> Result<RangeCollector<'s>> {
        Ok(RangeCollector {
            ranges,
            origin: request.origin,
            places: None,
            path: source.path().to_owned(),
            source,
            reader: NumberReader::new(source)?,
            counts: Vec::new(),
            counted: vec![0; ranges.len()],
            is_disjoint: ranges.windows(2).all(|pair| pair[0].stored_to <= pair[1].stored_from),
            subs,
            emitted: Emitted::default(),
            doubles: Vec::new(),
            starts: Vec::new(),
            budget,
        })
    }
}

impl<'s> Collector<'s> for RangeCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())?;
        if self.origin.is_some() && self.source.is_column() {
            self.places = view.segment.spatial_points(&self.path)?;
        }
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let width = self.ranges.len();
        let bucket_count = entries.bucket_count * width;
        if bucket_count > self.counts.len() {
            self.budget.spend((bucket_count - self.counts.len()) as u64 * 8)?;
            self.counts.resize(bucket_count, 0);
        }
        let stored = self.reader.load(entries.docs)?;
        match &self.origin {
            Some(origin) => origin.distances(stored.values, &mut self.doubles),
            None => self.source.decode_all(stored.values, &mut self.doubles),
        }
        let values = Values { values: self.doubles.as_slice(), positions: stored.positions };
        let has_subs = !self.subs.is_empty();
        self.emitted.clear();
        self.counted.fill(0);
        let (ranges, counts, counted, emitted) =
            (self.ranges, &mut self.counts, &mut self.counted, &mut self.emitted);
        let is_disjoint = self.is_disjoint;
        if !has_subs
            && is_disjoint
            && values.positions.is_none()
            && entries.is_single_bucket()
            && ranges.len() <= 16
        {
            for &value in values.values {
                let end = ranges.iter().map(|range| usize::from(range.stored_from <= value)).sum::<usize>();
                if end > 0 && value < ranges[end - 1].stored_to {
                    counts[end - 1] += 1;
                }
            }
            return Ok(());
        }
        values.join(entries, &mut self.starts, |entry, parent, value| {
            let end = ranges.partition_point(|range| range.stored_from <= value);
            let start = if is_disjoint { end.saturating_sub(1) } else { 0 };
            for range in start..end {
                if value < ranges[range].stored_to && counted[range] != entry + 1 {
                    counted[range] = entry + 1;
                    let bucket = parent as usize * width + range;
                    counts[bucket] += 1;
                    if has_subs {
                        emitted.push(entry, bucket as u32);
                    }
                }
            }
        });
        if has_subs {
            self.subs.collect(&self.emitted.batch(entries, bucket_count))?;
        }
        Ok(())
    }

    /// Distances from the index of places: only leaves that an edge of a range goes through are read.
    fn collect_whole_segment(&mut self) -> Result<bool> {
        let (Some(origin), Some(places)) = (&self.origin, &self.places) else { return Ok(false) };
        let is_countable = self.subs.is_empty() && places.is_single_valued() && !self.reader.has_missing();
        let is_on_map = origin.from.latitude().abs() <= 90.0 && origin.from.longitude().abs() <= 180.0;
        if !is_countable || origin.kind != DistanceKind::Arc || !is_on_map {
            return Ok(false);
        }
        if self.counts.is_empty() {
            self.budget.spend(self.ranges.len() as u64 * 8)?;
            self.counts.resize(self.ranges.len(), 0);
        }
        for (range, count) in self.ranges.iter().zip(&mut self.counts) {
            let ring = Ring::new(origin.from, range.stored_from, range.stored_to, origin.unit);
            let cover = places.cover(|cell| ring.overlap(cell));
            *count += places.count(&cover, |place| ring.contains(place))?;
        }
        Ok(true)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        fixed_partials(&self.counts, self.ranges.len(), &mut self.subs, buckets)
    }
}
