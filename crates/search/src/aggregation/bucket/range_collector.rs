//! The collector of `range`, `date_range` and `geo_distance`.

use limber_mapping::geo::DistanceKind;
use limber_segment::SegmentView;
use limber_segment::points::SpatialPoints;

use super::super::answer::partial::Partial;
use super::super::buckets::entries::{Emitted, Entries, Pace, Values};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::findings::Findings;
use super::super::source::{NumberReader, Source};
use super::filter::fixed_partials;
use super::range::{Origin, Ranges, ShownRange};
use crate::error::Result;
use crate::geo::Ring;

/// Collects documents in each range that contains one of their values.
#[derive(Debug)]
pub struct RangeCollector<'s> {
    ranges: &'s [ShownRange],
    origin: Option<Origin>,
    /// The segment's spatial index, for distances.
    places: Option<SpatialPoints<'s>>,
    path: String,
    source: &'s Source,
    reader: NumberReader<'s>,
    counts: Vec<u64>,
    /// For each range, the last counted entry plus one: a document counts once in a range.
    counted: Vec<usize>,
    /// Whether no ranges overlap, so that a value is in at most one of them.
    is_disjoint: bool,
    subs: Subs<'s>,
    emitted: Emitted,
    doubles: Vec<f64>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

/// Up to this many disjoint ranges are each compared with a value; more of them are searched.
const COMPARED_MAX: usize = 16;

/// Stands for a value that is in no range.
const OUTSIDE: u32 = u32::MAX;

/// Replaces the contents of `out` by the range of each value, or [`OUTSIDE`]. Ranges must not overlap.
fn place_all(
    ranges: &[ShownRange],
    values: &[f64],
    positions: Option<&[u32]>,
    entries: &Entries<'_>,
    out: &mut Vec<u32>,
) {
    out.clear();
    out.resize(values.len(), 0);
    for range in ranges {
        out.iter_mut().zip(values).for_each(|(end, value)| *end += u32::from(range.stored_from <= *value));
    }
    for (at, (place, value)) in out.iter_mut().zip(values).enumerate() {
        let range = (*place as usize).checked_sub(1).filter(|range| *value < ranges[*range].stored_to);
        let parent = || entries.bucket(positions.map_or(at, |positions| positions[at] as usize)) as usize;
        *place = range.map_or(OUTSIDE, |range| (parent() * ranges.len() + range) as u32);
    }
}

impl<'s> RangeCollector<'s> {
    pub(crate) fn new(
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
        let has_one_at_most = self.reader.has_one_at_most() && !self.reader.has_missing();
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
        let has_one_at_most = values.positions.is_none() || has_one_at_most;
        if is_disjoint && has_one_at_most && entries.positions.is_none() && width <= COMPARED_MAX {
            let fill = |out: &mut Vec<u32>| {
                place_all(ranges, values.values, values.positions, entries, out);
                Ok(out.iter().fold(false, |any, bucket| any | (*bucket == OUTSIDE)))
            };
            emitted.fill(values.positions, fill, OUTSIDE)?;
            emitted.buckets().iter().for_each(|&bucket| counts[bucket as usize] += 1);
            return match has_subs {
                true => self.subs.collect(&self.emitted.batch(entries, bucket_count)?),
                false => Ok(()),
            };
        }
        let mut pace = Pace::default();
        values.try_join(entries, &mut self.starts, |entry, parent, value| {
            let end = ranges.partition_point(|range| range.stored_from <= value);
            let start = if is_disjoint { end.saturating_sub(1) } else { 0 };
            pace.step(end - start)?;
            for range in start..end {
                if value < ranges[range].stored_to && counted[range] != entry + 1 {
                    counted[range] = entry + 1;
                    let bucket = parent as usize * width + range;
                    counts[bucket] += 1;
                    if has_subs {
                        emitted.push(entry, bucket as u32)?;
                    }
                }
            }
            Ok(())
        })?;
        if has_subs {
            self.subs.collect(&self.emitted.batch(entries, bucket_count)?)?;
        }
        Ok(())
    }

    /// Counts distances from the spatial index: only leaves that the edge of a range crosses are read.
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

    fn can_split(&self) -> bool {
        self.subs.can_split()
    }

    fn takes_windows_again(&self) -> bool {
        self.subs.takes_windows_again()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        self.subs.take_fixed(&mut self.counts)
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        self.subs.absorb_fixed(&mut self.counts, findings, self.ranges.len(), bucket_of, self.budget)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        fixed_partials(&self.counts, self.ranges.len(), &mut self.subs, buckets)
    }
}
