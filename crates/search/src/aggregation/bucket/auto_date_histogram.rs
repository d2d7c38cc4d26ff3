//! `auto_date_histogram`: a date histogram with a target number of buckets, from which the interval follows.
//!
//! Source: Elasticsearch's `AutoDateHistogramAggregationBuilder`, `AutoDateHistogramAggregator`,
//! `InternalAutoDateHistogram`. While there are too many buckets, the next coarser rounding of a ladder is
//! taken; on the final one, consecutive buckets are merged by one of the steps of the rounding.

use limber_mapping::RequestError;

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListBucket, ListPartial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::list::{Group, groups_of, is_formatted, key_json, key_text, render_buckets};
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::{Format, zone};
use super::auto_date_collector::AutoDateCollector;
use super::rounding::{Interval, Rounding};
use crate::error::Result;

const BUCKETS: i32 = 10;

/// One rung of the ladder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rung {
    interval: Interval,
    name: &'static str,
    unit: &'static str,
    /// The approximate length of the interval in milliseconds.
    pub millis: i64,
    /// How many consecutive buckets can be merged into one.
    steps: &'static [i64],
}

impl Rung {
    /// Returns the largest number of consecutive buckets that are merged into one.
    pub fn step_max(&self) -> i64 {
        *self.steps.last().unwrap_or(&1)
    }
}

const LADDER: [Rung; 6] = [
    Rung { interval: Interval::Second, name: "second", unit: "s", millis: 1_000, steps: &[1, 5, 10, 30] },
    Rung { interval: Interval::Minute, name: "minute", unit: "m", millis: 60_000, steps: &[1, 5, 10, 30] },
    Rung { interval: Interval::Hour, name: "hour", unit: "h", millis: 3_600_000, steps: &[1, 3, 12] },
    Rung { interval: Interval::Day, name: "day", unit: "d", millis: 86_400_000, steps: &[1, 7] },
    // A twelfth of the mean Gregorian year, and that year.
    Rung { interval: Interval::Month, name: "month", unit: "M", millis: 2_629_746_000, steps: &[1, 3] },
    Rung {
        interval: Interval::Year,
        name: "year",
        unit: "y",
        millis: 31_556_952_000,
        steps: &[1, 5, 10, 20, 50, 100],
    },
];

/// The options of an `auto_date_histogram`: the target number of buckets determines the interval.
#[derive(Debug, Clone)]
pub struct AutoDateHistogram {
    values: ValuesOptions,
    pub(super) target: i64,
    pub(super) ladder: &'static [Rung],
}

impl AutoDateHistogram {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
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
        // The steps of the last rung do not count, as in Elasticsearch.
        let steps = ladder[..ladder.len() - 1].iter().map(Rung::step_max);
        let most = i64::from(BUCKETS_MAX) / steps.max().unwrap_or(1);
        if i64::from(target) > most {
            return Err(RequestError::illegal_argument(format!("buckets must be less than {most}")));
        }
        Ok(Kind::own(AutoDateHistogram { values, target: i64::from(target), ladder }))
    }

    pub(super) fn rounding(&self, rung: usize, source: &Source) -> Result<Rounding> {
        Ok(Rounding {
            interval: self.ladder[rung].interval,
            zone: match &source.format {
                super::super::values::format::Format::Date { zone, .. } => zone.clone(),
                _ => zone(&self.values)?,
            },
            offset_millis: 0,
        })
    }

    /// Whether this many buckets fit on a rung.
    pub(super) fn fits(&self, rung: usize, bucket_count: usize) -> bool {
        rung + 1 >= self.ladder.len() || bucket_count as i64 <= self.target * self.ladder[rung].step_max()
    }

    /// Returns the lowest rung, from `from` on, that fits all buckets between `first` and `last`, empty ones
    /// included.
    fn rung_of_range(&self, first: i64, last: i64, from: usize, source: &Source) -> Result<usize> {
        let count = self.ladder.len();
        let mut rung = from;
        // Starting from an estimate by length avoids counting a great number of short buckets.
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

/// Elasticsearch's default of `search.max_buckets`, which limits the target whatever the actual setting is.
const BUCKETS_MAX: i32 = 65_536;

/// Rounds the keys of the groups, and merges groups whose keys become equal.
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
    fn defers_subs(&self) -> bool {
        true
    }

    fn histogram_min_doc_count(&self) -> Option<u64> {
        Some(0)
    }

    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Dates)]
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for AutoDateHistogram {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(AutoDateCollector::new(self, context)?))
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
        let mut rung = parts.iter().map(|list| list.background as usize).max().unwrap_or(0);
        let mut rounding = self.rounding(rung, &source)?;
        let mut all = rounded(groups_of(parts), &rounding);
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
                    // On the last rung the number of gaps is limited only by the number of buckets in an
                    // answer.
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
    fn render(&self, list: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let format = renderer.shape.sources.first().map_or(&Format::Raw, |source| &source.format);
        render_buckets(list, renderer, out, |bucket, out| {
            let key = &bucket.keys[0];
            if is_formatted(key, format) {
                out.insert("key_as_string", &key_text(key, format)?)?;
            }
            out.insert("key", &key_json(key, format)?)
        })?;
        let rung = &self.ladder[(list.background as usize).min(self.ladder.len() - 1)];
        out.insert("interval", &format!("{}{}", list.number.max(1), rung.unit))
    }
}
