//! `auto_date_histogram`: a date histogram of at most so many buckets, whatever interval that takes.
//!
//! Source: Elasticsearch's `AutoDateHistogramAggregationBuilder`, `AutoDateHistogramAggregator`, `InternalAutoDateHistogram`. A ladder of
//! roundings is climbed while there are too many buckets; on the last one consecutive buckets are merged by one of the rounding's steps.

use std::ops::RangeInclusive;

use limber_mapping::RequestError;
use limber_segment::SegmentView;
use limber_segment::points::Points;
use serde_json::{Map, Value};

use super::super::bucket_table::BucketTable;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::deferred::Deferred;
use super::super::definition::{Collect, Place, Reduce, Render, Request};
use super::super::entries::{Emitted, Entries};
use super::super::format::zone;
use super::super::list::{Group, groups, push_key, render_buckets};
use super::super::options::{Options, ValuesOptions};
use super::super::partial::{Key, ListBucket, ListPartial, Partial};
use super::super::reduce::Reducer;
use super::super::render::Renderer;
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::counting::{count_all_numbers, is_worth_counting};
use super::date_buckets::{DateBuckets, Span};
use super::histogram_collector::stored_range;
use super::rounding::{Interval, Rounding};
use crate::error::Result;

const BUCKETS: i32 = 10;

/// One rung of the ladder.
#[derive(Debug, Clone, Copy)]
struct Rung {
    interval: Interval,
    name: &'static str,
    unit: &'static str,
    /// About how long the interval is.
    millis: i64,
    /// How many consecutive buckets may be one.
    steps: &'static [i64],
}

impl Rung {
    fn step_max(&self) -> i64 {
        *self.steps.last().unwrap_or(&1)
    }
}

const LADDER: [Rung; 6] = [
    Rung { interval: Interval::Second, name: "second", unit: "s", millis: 1_000, steps: &[1, 5, 10, 30] },
    Rung { interval: Interval::Minute, name: "minute", unit: "m", millis: 60_000, steps: &[1, 5, 10, 30] },
    Rung { interval: Interval::Hour, name: "hour", unit: "h", millis: 3_600_000, steps: &[1, 3, 12] },
    Rung { interval: Interval::Day, name: "day", unit: "d", millis: 86_400_000, steps: &[1, 7] },
    // Twelfths of the mean Gregorian year, and that year.
    Rung { interval: Interval::Month, name: "month", unit: "M", millis: 2_629_746_000, steps: &[1, 3] },
    Rung {
        interval: Interval::Year,
        name: "year",
        unit: "y",
        millis: 31_556_952_000,
        steps: &[1, 5, 10, 20, 50, 100],
    },
];

#[derive(Debug, Clone)]
pub struct AutoDateHistogram {
    values: ValuesOptions,
    target: i64,
    ladder: &'static [Rung],
}

impl AutoDateHistogram {
    pub fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let target = options.int("buckets")?.unwrap_or(BUCKETS);
        if target <= 0 {
            let reason = format!("[buckets] must be greater than 0. Found [{target}] in [{}]", options.name);
            return Err(options.refused("buckets", reason));
        }
        let ladder = match options.text("minimum_interval")? {
            None => &LADDER[..],
            Some(wanted) => match LADDER.iter().position(|rung| rung.name == wanted) {
                Some(first) => &LADDER[first..],
                None => {
                    let reason = format!(
                        "minimum_interval must be one of [{}]",
                        LADDER.map(|rung| rung.name).join(", ")
                    );
                    return Err(options.refused("minimum_interval", reason));
                }
            },
        };
        let values = ValuesOptions::parse_with_zone(options)?;
        // The last rung's steps do not count, as in Elasticsearch.
        let steps = ladder[..ladder.len() - 1].iter().map(Rung::step_max);
        let most = i64::from(BUCKETS_MAX) / steps.max().unwrap_or(1);
        if i64::from(target) > most {
            return Err(RequestError::illegal_argument(format!("buckets must be less than {most}")));
        }
        Ok(Kind::own(AutoDateHistogram { values, target: i64::from(target), ladder }))
    }

    fn rounding(&self, rung: usize, source: &Source) -> Result<Rounding> {
        Ok(Rounding {
            interval: self.ladder[rung].interval,
            zone: match &source.format {
                super::super::format::Format::Date { zone, .. } => zone.clone(),
                _ => zone(&self.values)?,
            },
            offset_millis: 0,
        })
    }

    /// Whether a rung has room for so many buckets.
    fn fits(&self, rung: usize, bucket_count: usize) -> bool {
        rung + 1 >= self.ladder.len() || bucket_count as i64 <= self.target * self.ladder[rung].step_max()
    }

    /// The rung on which all buckets from `first` to `last`, empty ones included, have room.
    fn rung_of_range(&self, first: i64, last: i64, from: usize, source: &Source) -> Result<usize> {
        let count = self.ladder.len();
        let mut rung = from;
        // A guess by length saves counting very many short buckets.
        for next in from + 1..count {
            let room = self.target.saturating_mul(self.ladder[next].step_max());
            if last.saturating_sub(first) / self.ladder[next].millis < room {
                rung = next - 1;
                break;
            }
            rung = next - 1;
        }
        loop {
            let rounding = self.rounding(rung, source)?;
            let room = self.target.saturating_mul(self.ladder[rung].step_max());
            let (mut key, mut needed) = (rounding.round(first), 0);
            while key < last && needed <= room {
                needed += 1;
                key = rounding.next(key);
            }
            if needed <= room || rung + 1 >= count {
                return Ok(rung);
            }
            rung += 1;
        }
    }
}

/// Elasticsearch's default of `search.max_buckets`, which bounds the target whatever the setting is.
const BUCKETS_MAX: i32 = 65_536;

/// Groups whose keys are equal once rounded.
fn rounded(groups: Vec<Group>, rounding: &Rounding) -> Vec<Group> {
    let mut merged: Vec<Group> = Vec::new();
    for mut group in groups {
        let key = rounding.round(instant(&group));
        group.bucket.keys = [Key::Long(key)].into();
        match merged.last_mut() {
            Some(last) if instant(last) == key => absorb(last, group),
            _ => merged.push(group),
        }
    }
    merged
}

fn absorb(into: &mut Group, group: Group) {
    into.bucket.doc_count += group.bucket.doc_count;
    into.parts.extend(group.parts);
}

fn instant(group: &Group) -> i64 {
    match group.bucket.keys.first() {
        Some(Key::Long(key)) => *key,
        _ => 0,
    }
}

impl Request for AutoDateHistogram {
    fn histogram_min_doc_count(&self) -> Option<u64> {
        Some(0)
    }

    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Dates)]
    }
}

impl Collect for AutoDateHistogram {
    fn collector<'s>(&'s self, place: Place<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &place.bound.sources()[0];
        let range = stored_range(source, place.shard, None)?;
        let dates = (0..self.ladder.len())
            .map(|rung| Ok(DateBuckets::new(self.rounding(rung, source)?, range, 0)))
            .collect::<Result<_>>()?;
        Ok(Box::new(AutoDateCollector {
            request: self,
            source,
            dates,
            reader: NumberReader::new(source)?,
            rungs: Vec::new(),
            table: BucketTable::default(),
            deferred: Deferred::default(),
            subs: place.subs,
            emitted: Emitted::default(),
            starts: Vec::new(),
            budget: place.budget,
        }))
    }
}

impl Reduce for AutoDateHistogram {
    type Finding = ListPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let Some(source) = reducer.sources().first().cloned() else {
            return Ok(ListPartial::default());
        };
        let lists = parts;
        let mut rung = lists.iter().map(|list| list.background as usize).max().unwrap_or(0);
        let mut rounding = self.rounding(rung, &source)?;
        let mut all = rounded(groups(lists.into_iter().flat_map(|list| list.buckets)), &rounding);
        while !self.fits(rung, all.len()) {
            rung += 1;
            rounding = self.rounding(rung, &source)?;
            all = rounded(all, &rounding);
        }
        let mut step = 1;
        if let (Some(first), Some(last)) = (all.first().map(instant), all.last().map(instant)) {
            rung = self.rung_of_range(first, last, rung, &source)?;
            rounding = self.rounding(rung, &source)?;
            all = rounded(all, &rounding);
            let mut filled: Vec<Group> = Vec::with_capacity(all.len());
            for group in all {
                while let Some(last) = filled.last()
                    && rounding.next(instant(last)) < instant(&group)
                {
                    // What lies between buckets of the ladder's last rung is bounded only by the answer's buckets.
                    reducer.check_buckets(filled.len())?;
                    let key = rounding.next(instant(last));
                    let bucket = ListBucket::new([Key::Long(key)].into(), 0, Vec::new());
                    filled.push(Group { bucket, parts: Vec::new() });
                }
                filled.push(group);
            }
            all = filled;
            while !self.fits(rung, all.len()) {
                rung += 1;
                rounding = self.rounding(rung, &source)?;
                all = rounded(all, &rounding);
            }
            let count = all.len() as i64;
            if count > self.target {
                let steps = self.ladder[rung].steps.iter().copied();
                step = steps.into_iter().find(|step| (count + step - 1) / step <= self.target).unwrap_or(1);
            }
        }
        let mut merged: Vec<Group> = Vec::new();
        for (place, group) in all.into_iter().enumerate() {
            match merged.last_mut() {
                Some(last) if place as i64 % step != 0 => absorb(last, group),
                _ => merged.push(group),
            }
        }
        let buckets = reducer.buckets_of(own, merged)?;
        Ok(ListPartial { buckets, number: step, background: rung as u64, ..ListPartial::default() })
    }
}

impl Render for AutoDateHistogram {
    fn render(
        &self,
        list: &ListPartial,
        renderer: &Renderer<'_>,
        out: &mut Map<String, Value>,
    ) -> Result<()> {
        render_buckets(list, renderer, out, |bucket, head| {
            let mut key = Map::new();
            push_key(&mut key, &bucket.keys[0], renderer.shape.sources.first());
            head.extend(key.shift_remove_entry("key_as_string"));
            head.extend(key);
        })?;
        let rung = &self.ladder[(list.background as usize).min(self.ladder.len() - 1)];
        out.insert("interval".into(), format!("{}{}", list.number.max(1), rung.unit).into());
        Ok(())
    }
}

/// What is known of one parent.
#[derive(Debug, Clone)]
struct Climb {
    rung: usize,
    /// All buckets, those of lower rungs included.
    buckets: Vec<u32>,
    /// Buckets there would be had all been made on this rung.
    bucket_count: i64,
    min: i64,
    max: i64,
}

/// Makes buckets on the rung that the parent has reached; those made further down stay and are merged at the end.
#[derive(Debug)]
pub struct AutoDateCollector<'s> {
    request: &'s AutoDateHistogram,
    source: &'s Source,
    /// By rung.
    dates: Vec<DateBuckets>,
    reader: NumberReader<'s>,
    /// By parent.
    rungs: Vec<Climb>,
    table: BucketTable,
    deferred: Deferred<'s>,
    subs: Subs<'s>,
    emitted: Emitted,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl AutoDateCollector<'_> {
    /// Bytes of one parent's state.
    const PARENT_BYTES: u64 = size_of::<Climb>() as u64;

    /// Climbs until there is room; the buckets of `parent` are counted anew on every rung.
    fn climb(request: &AutoDateHistogram, dates: &mut [DateBuckets], table: &BucketTable, climb: &mut Climb) {
        let span_fits = |rung: usize, climb: &Climb| {
            let rung = &request.ladder[rung];
            climb.max - climb.min <= request.target * rung.millis * rung.step_max()
        };
        while climb.rung + 1 < request.ladder.len()
            && !(request.fits(climb.rung, climb.bucket_count as usize) && span_fits(climb.rung, climb))
        {
            climb.rung += 1;
            let dates = &mut dates[climb.rung];
            let own = climb.buckets.iter();
            let mut keys: Vec<i64> = own.map(|&bucket| dates.span_of(table.key(bucket)).start).collect();
            keys.sort_unstable();
            keys.dedup();
            climb.bucket_count = keys.len() as i64;
        }
    }
}

impl AutoDateCollector<'_> {
    /// The bucket of an instant, and the instants that are in it while the parent stays on its rung.
    fn bucket(
        request: &AutoDateHistogram,
        dates: &mut [DateBuckets],
        table: &mut BucketTable,
        climb: &mut Climb,
        parent: u32,
        instant: i64,
        budget: &Budget,
    ) -> Result<(u32, Span)> {
        let span = dates[climb.rung].span_of(instant);
        let count = table.len();
        let bucket = table.bucket(parent, span.start, budget)?;
        if table.len() == count {
            return Ok((bucket, span));
        }
        climb.bucket_count += 1;
        climb.buckets.push(bucket);
        (climb.min, climb.max) = (climb.min.min(span.start), climb.max.max(span.start));
        let rung = climb.rung;
        Self::climb(request, dates, table, climb);
        // After a climb the next instant is looked at anew.
        Ok((bucket, if climb.rung == rung { span } else { Span::NONE }))
    }

    fn make_parents(&mut self, count: usize) -> Result<()> {
        if count > self.rungs.len() {
            self.budget.spend((count - self.rungs.len()) as u64 * Self::PARENT_BYTES)?;
            let first = Climb { rung: 0, buckets: Vec::new(), bucket_count: 0, min: i64::MAX, max: i64::MIN };
            self.rungs.resize(count, first);
        }
        Ok(())
    }

    /// The rung that a parent needs at least to hold instants this far apart.
    fn rung_of_length(&self, length: i64) -> usize {
        let ladder = self.request.ladder;
        let holds = |rung: &Rung| length <= self.request.target * rung.millis * rung.step_max();
        ladder.iter().position(holds).unwrap_or(ladder.len() - 1)
    }
}

impl<'s> Collector<'s> for AutoDateCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.deferred.begin_segment(view);
        self.reader.begin(&view.segment, self.source.is_mapped())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.make_parents(entries.bucket_count)?;
        let values = self.reader.load(entries.docs)?;
        let has_subs = !self.subs.is_empty();
        self.emitted.clear();
        let (table, emitted, budget, rungs) =
            (&mut self.table, &mut self.emitted, self.budget, &mut self.rungs);
        let (request, dates) = (self.request, &mut self.dates);
        let mut failed = Ok(());
        // The bucket met last, under one parent.
        let (mut span, mut span_parent, mut span_bucket) = (Span::NONE, u32::MAX, 0u32);
        let mut last = (usize::MAX, u32::MAX);
        values.join(entries, &mut self.starts, |entry, parent, value| {
            if failed.is_err() {
                return;
            }
            if parent != span_parent || !span.contains(value) {
                match Self::bucket(request, dates, table, &mut rungs[parent as usize], parent, value, budget)
                {
                    Ok(found) => (span_bucket, span) = found,
                    Err(error) => {
                        failed = Err(error);
                        return;
                    }
                }
                span_parent = parent;
            }
            if (entry, span_bucket) == last {
                return;
            }
            last = (entry, span_bucket);
            table.counts[span_bucket as usize] += 1;
            if has_subs {
                emitted.push(entry, span_bucket);
            }
        });
        failed?;
        if has_subs {
            self.deferred.note(&self.emitted.batch(entries, self.table.len()), self.budget)?;
        }
        Ok(())
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        count_all_numbers(self, self.source.path(), self.reader.segment())
    }

    fn counts_numbers(&self, path: &str, points: &Points<'_>, range: &RangeInclusive<i64>) -> Result<bool> {
        if !self.subs.is_empty() || self.reader.has_missing() || self.source.path() != path {
            return Ok(false);
        }
        let Some((first, last)) = points.extremes(range.clone())? else { return Ok(true) };
        let resolution = self.source.resolution();
        let (first, last) = (resolution.millis(first), resolution.millis(last));
        let rung = self.rung_of_length(last.saturating_sub(first));
        let buckets = self.dates[rung].rounding.buckets_between(first, last);
        Ok(is_worth_counting(points.count(range.clone())?, buckets))
    }

    fn count_numbers(&mut self, points: &Points<'_>, range: RangeInclusive<i64>) -> Result<()> {
        let Some((stored_first, stored_last)) = points.extremes(range)? else { return Ok(()) };
        let resolution = self.source.resolution();
        let (first, last) = (resolution.millis(stored_first), resolution.millis(stored_last));
        self.make_parents(1)?;
        let rung = self.rung_of_length(last.saturating_sub(first));
        let climb = &mut self.rungs[0];
        if climb.rung < rung {
            // Those instants alone need this rung, whatever the buckets so far do.
            climb.rung = rung - 1;
            (climb.min, climb.max) = (climb.min.min(first), climb.max.max(last));
            Self::climb(self.request, &mut self.dates, &self.table, climb);
        }
        let mut ranks = points.ranks();
        let (mut next, mut below) = (stored_first, ranks.below(stored_first)?);
        let all = below + points.count(stored_first..=stored_last)?;
        loop {
            let instant = resolution.millis(next);
            let climb = &mut self.rungs[0];
            let span = self.dates[climb.rung].span_of(instant);
            let end = span.end.saturating_mul(resolution.per_milli());
            let is_last = end > stored_last || end == i64::MAX;
            let rank = if is_last { all } else { ranks.below(end)? };
            let count = rank - std::mem::replace(&mut below, rank);
            if count > 0 {
                let dates = &mut self.dates;
                let (bucket, _) =
                    Self::bucket(self.request, dates, &mut self.table, climb, 0, instant, self.budget)?;
                self.table.counts[bucket as usize] += count;
            }
            if is_last {
                return Ok(());
            }
            next = end;
        }
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        // Buckets of lower rungs go into those of the parent's last one.
        let mut target = vec![u32::MAX; self.table.len()];
        let mut lists: Vec<Vec<(i64, u64, u32)>> = Vec::with_capacity(parents.len());
        for (&parent, buckets) in parents.iter().zip(self.table.by_parent(parents)) {
            let rung = self.rungs.get(parent as usize).map_or(0, |climb| climb.rung);
            let mut keyed: Vec<(i64, u32)> = buckets
                .into_iter()
                .map(|bucket| (self.dates[rung].span_of(self.table.key(bucket)).start, bucket))
                .collect();
            keyed.sort_unstable();
            let mut list: Vec<(i64, u64, u32)> = Vec::new();
            for (key, bucket) in keyed {
                let count = self.table.counts[bucket as usize];
                match list.last_mut() {
                    Some(last) if last.0 == key => last.1 += count,
                    _ => list.push((key, count, bucket)),
                }
                target[bucket as usize] = list.last().map_or(bucket, |last| last.2);
            }
            lists.push(list);
        }
        let known = |bucket: u32| Some(target[bucket as usize]).filter(|&bucket| bucket != u32::MAX);
        self.deferred.replay(&mut self.subs, self.table.len(), self.budget, known)?;
        let all: Vec<u32> = lists.iter().flatten().map(|&(_, _, bucket)| bucket).collect();
        let mut results = self.subs.finish(&all)?.into_iter();
        let partial = |(list, parent): (&Vec<(i64, u64, u32)>, &u32)| {
            let buckets = list.iter().map(|&(key, count, _)| {
                ListBucket::new([Key::Long(key)].into(), count, results.next().unwrap_or_default())
            });
            Partial::List(ListPartial {
                buckets: buckets.collect(),
                background: self.rungs.get(*parent as usize).map_or(0, |climb| climb.rung) as u64,
                ..ListPartial::default()
            })
        };
        Ok(lists.iter().zip(parents).map(partial).collect())
    }
}
