//! `composite`: a bucket for every combination of values, page by page in the order of the combinations.
//!
//! Source: Elasticsearch's `CompositeAggregationBuilder`, `CompositeAggregator`, `InternalComposite`. Combinations are numbered as they are
//! met; once there are many more than the page holds, those that cannot be on it any more are dropped, and so is whatever comes behind.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use limber_mapping::RequestError;
use limber_segment::SegmentView;
use serde_json::{Map, Value};

use super::super::bind::{Bound, Shape, Width};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, Place, Reduce, Render, Request};
use super::super::entries::{Emitted, Entries, IdColumn};
use super::super::list::{groups, render_buckets};
use super::super::options::{Options, ValuesOptions};
use super::super::partial::{Key, ListBucket, ListPartial, Partial};
use super::super::reduce::{Reducer, too_many_composite_buckets};
use super::super::render::Renderer;
use super::super::source::{Accepts, Source};
use super::super::tree::{Aggregation, Kind};
use super::composite_source::{CompositeSource, SourceReader};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::json;

const SIZE: i32 = 10;

/// Sources of one aggregation.
const SOURCE_COUNT_MAX: usize = 64;

/// Combinations that one document may make.
const COMBINATIONS_MAX: usize = 1 << 20;

/// Combinations beyond the page that are kept before those that cannot be on it are dropped.
const SPARE_COUNT: usize = 1 << 15;

#[derive(Debug, Clone)]
pub struct Composite {
    name: String,
    sources: Vec<CompositeSource>,
    size: usize,
    after: Option<Map<String, Value>>,
}

impl Composite {
    pub fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let list = match options.take_typed("sources")? {
            None => return Err(RequestError::illegal_argument("Required [sources]")),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(options.wrong_type("sources", &other)),
        };
        if list.is_empty() {
            return Err(options.refused("sources", "Composite [sources] cannot be null or empty"));
        }
        if list.len() > SOURCE_COUNT_MAX {
            return Err(options.refused("sources", format!("more than {SOURCE_COUNT_MAX} sources")));
        }
        let mut sources: Vec<CompositeSource> = Vec::with_capacity(list.len());
        for definition in list {
            let source =
                CompositeSource::parse(definition).map_err(|cause| options.failed("sources", cause))?;
            if sources.iter().any(|other| other.name == source.name) {
                let reason =
                    format!("Composite source names must be unique, found duplicates: [{}]", source.name);
                return Err(options.refused("sources", reason));
            }
            sources.push(source);
        }
        let size = options.int("size")?.unwrap_or(SIZE);
        let size = usize::try_from(size).ok().filter(|&size| size > 0).ok_or_else(|| {
            let reason = format!("[size] must be greater than 0. Found [{size}] in [{}]", options.name);
            options.refused("size", reason)
        })?;
        let after = match options.take_typed("after")? {
            None => None,
            Some(Value::Object(after)) => Some(after),
            Some(other) => return Err(options.wrong_type("after", &other)),
        };
        Ok(Kind::own(Composite { name: options.name.clone(), sources, size, after }))
    }

    /// `after` as keys.
    fn after_keys(&self, sources: &[Source]) -> Result<Option<Vec<Key>>> {
        let Some(after) = &self.after else { return Ok(None) };
        if after.len() != self.sources.len() {
            let (given, needed) = (after.len(), self.sources.len());
            return Err(RequestError::illegal_argument(format!(
                "[after] has {given} value(s) but [sources] has {needed}"
            ))
            .into());
        }
        let mut keys = Vec::with_capacity(self.sources.len());
        for (place, (own, source)) in self.sources.iter().zip(sources).enumerate() {
            let value = after.get(&own.name).ok_or_else(|| {
                RequestError::illegal_argument(format!("Missing value for [after.{}]", own.name))
            })?;
            let incomparable = match value {
                Value::Null if !own.missing_bucket => Some("null"),
                Value::Array(_) => Some("ArrayList"),
                Value::Object(_) => Some("HashMap"),
                _ => None,
            };
            if let Some(found) = incomparable {
                return Err(RequestError::illegal_argument(format!(
                    "Invalid value for [after.{}], expected comparable, got [{found}]",
                    own.name
                ))
                .into());
            }
            let key = own.key_of(value, source).map_err(|reason| {
                let cause = match json::scalar_text(value) {
                    Some(text) => json::number_format(text),
                    None => RequestError::illegal_argument(reason.clone()),
                };
                RequestError::new(
                    400,
                    "parse_exception",
                    format!(
                        "Cannot set after key in the composite aggregation [{}] - incompatible value in the position {place}: {reason}",
                        self.name
                    ),
                )
                .caused_by(cause)
            })?;
            keys.push(key);
        }
        Ok(Some(keys))
    }

    fn compare(&self, left: &[Key], right: &[Key]) -> Ordering {
        self.sources
            .iter()
            .zip(left.iter().zip(right))
            .map(|(source, (left, right))| source.compare_keys(left, right))
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn key_json(&self, keys: &[Key], sources: &[Source]) -> Value {
        let shown = self.sources.iter().zip(keys).enumerate();
        shown.map(|(place, (own, key))| (own.name.clone(), own.show(key, sources.get(place)))).collect()
    }
}

impl Request for Composite {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        self.sources.iter().map(|source| (&source.values, source.accepts().0)).collect()
    }

    fn type_name_of(&self, place: usize) -> Option<&'static str> {
        self.sources[place].accepts().1
    }

    fn check_place(
        &self,
        _: &Aggregation,
        parents: &[&Aggregation],
    ) -> std::result::Result<(), RequestError> {
        let is_allowed = |parent: &&&Aggregation| {
            matches!(parent.type_name, "filter" | "nested" | "reverse_nested" | "random_sampler")
        };
        match parents.iter().rev().find(|parent| !is_allowed(parent)) {
            None => Ok(()),
            Some(parent) => Err(RequestError::illegal_argument(format!(
                "[composite] aggregation cannot be used with a parent aggregation of type: [{}]",
                factory_name(parent.type_name)
            ))),
        }
    }

    /// As Elasticsearch has it, a page does not count.
    fn has_several_buckets(&self) -> bool {
        false
    }

    fn width(&self, own: &Aggregation, shape: &Shape) -> Result<Option<Width>> {
        let mut dated = self.sources.iter().zip(&shape.sources).filter(|(source, _)| source.is_dates());
        if let (Some((request, source)), None) = (dated.next(), dated.next()) {
            return Ok(request.rounding(source)?.map(Width::Dates));
        }
        Ok(Some(Width::Unknown(RequestError::illegal_argument(format!(
            "aggregation [{}] does not have exactly one date_histogram value source; exactly one is required when using with rate aggregation",
            own.name
        )))))
    }

    fn check_on_shard(&self, bound: &Bound, _: &ShardSnapshot) -> Result<()> {
        for (own, source) in self.sources.iter().zip(bound.sources()) {
            own.check()?;
            own.rounding(source)?;
        }
        self.after_keys(bound.sources()).map(drop)
    }
}

impl Collect for Composite {
    fn collector<'s>(&'s self, place: Place<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let Place { bound, subs, shard, budget } = place;
        let max_buckets = budget.context.max_buckets as usize;
        if self.size > max_buckets {
            return Err(too_many_composite_buckets(max_buckets as u64, self.size as u64).into());
        }
        let mut readers = Vec::with_capacity(self.sources.len());
        for (own, source) in self.sources.iter().zip(bound.sources()) {
            readers.push(SourceReader::new(own, source, shard, budget)?);
        }
        let mut after = None;
        if let Some(keys) = self.after_keys(bound.sources())? {
            let mut combination = vec![0; readers.len() + 1];
            for (place, (reader, key)) in readers.iter_mut().zip(&keys).enumerate() {
                match key {
                    Key::Missing => combination[0] |= 1 << place,
                    key => combination[place + 1] = reader.id(key, budget)?,
                }
            }
            after = Some(combination);
        }
        Ok(Box::new(CompositeCollector {
            size: self.size,
            columns: readers.iter().map(|_| IdColumn::default()).collect(),
            width: readers.len() + 1,
            readers,
            after,
            worst: None,
            cells: Vec::new(),
            counts: Vec::new(),
            table: HashTable::new(),
            kept_count: 0,
            recent: vec![None; 1 << RECENT_BITS],
            hasher: FixedState::default(),
            subs,
            emitted: Emitted::default(),
            budget,
        }))
    }
}

impl Reduce for Composite {
    type Finding = ListPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let mut all = groups(parts.into_iter().flat_map(|list| list.buckets));
        all.sort_by(|left, right| self.compare(&left.bucket.keys, &right.bucket.keys));
        all.truncate(self.size);
        let buckets = reducer.buckets_of(own, all)?;
        Ok(ListPartial { buckets, ..ListPartial::default() })
    }
}

impl Render for Composite {
    fn render(
        &self,
        list: &ListPartial,
        renderer: &Renderer<'_>,
        out: &mut Map<String, Value>,
    ) -> Result<()> {
        let sources = &renderer.shape.sources;
        if let Some(last) = list.buckets.last() {
            out.insert("after_key".into(), self.key_json(&last.keys, sources));
        }
        render_buckets(list, renderer, out, |bucket, head| {
            head.insert("key".into(), self.key_json(&bucket.keys, sources));
        })
    }
}

/// The name of the Java class that makes an aggregation of this type.
fn factory_name(type_name: &str) -> String {
    let mut name: String = type_name
        .split('_')
        .map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_ascii_uppercase() + rest
        })
        .collect();
    name.push_str("AggregatorFactory");
    name
}

/// 2^this combinations are remembered.
const RECENT_BITS: u32 = 10;

#[derive(Debug)]
struct CompositeCollector<'s> {
    size: usize,
    readers: Vec<SourceReader<'s>>,
    columns: Vec<IdColumn>,
    /// Cells of a combination: a bit for each source without a value, then an id for each source.
    width: usize,
    after: Option<Vec<i64>>,
    /// The last combination that can be on the page, once there are enough.
    worst: Option<Vec<i64>>,
    /// Combinations by number.
    cells: Vec<i64>,
    counts: Vec<u64>,
    /// Numbers of the combinations that can be on the page.
    table: HashTable<u32>,
    kept_count: usize,
    /// Numbers of combinations without missing values that were met lately, by their ids mixed.
    recent: Vec<Option<u32>>,
    hasher: FixedState,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

impl<'s> CompositeCollector<'s> {
    fn compare(&self, left: &[i64], right: &[i64]) -> Ordering {
        for (place, reader) in self.readers.iter().enumerate() {
            let is_missing = |cells: &[i64]| cells[0] >> place & 1 == 1;
            let (left_id, right_id) = (left[place + 1], right[place + 1]);
            let ordering = reader
                .request
                .compare(is_missing(left), is_missing(right), || reader.compare(left_id, right_id));
            if ordering.is_ne() {
                return ordering;
            }
        }
        Ordering::Equal
    }

    fn combination(&self, number: u32) -> &[i64] {
        &self.cells[number as usize * self.width..(number as usize + 1) * self.width]
    }

    /// The number of a combination; `None`: it is not on the page.
    fn number(&mut self, wanted: &[i64]) -> Result<Option<u32>> {
        let hash = self.hasher.hash_one(wanted);
        let (cells, width) = (&self.cells, self.width);
        // A few cells: faster one by one than by a call.
        let is_it = |number: &u32| {
            let found = &cells[*number as usize * width..(*number as usize + 1) * width];
            found.iter().zip(wanted).all(|(found, wanted)| found == wanted)
        };
        if let Some(&number) = self.table.find(hash, is_it) {
            return Ok(Some(number));
        }
        if self.after.as_ref().is_some_and(|after| self.compare(wanted, after).is_le())
            || self.worst.as_ref().is_some_and(|worst| self.compare(wanted, worst).is_gt())
        {
            return Ok(None);
        }
        self.budget.spend(width as u64 * 8 + 24)?;
        let number = self.counts.len() as u32;
        self.cells.extend_from_slice(wanted);
        self.counts.push(0);
        let (cells, hasher) = (&self.cells, &self.hasher);
        self.table.insert_unique(hash, number, |&number| {
            hasher.hash_one(&cells[number as usize * width..(number as usize + 1) * width])
        });
        self.kept_count += 1;
        Ok(Some(number))
    }

    /// Takes documents that have one value of every source.
    fn collect_single(&mut self, entries: &Entries<'_>) -> Result<()> {
        let columns = std::mem::take(&mut self.columns);
        let mut combination = vec![0i64; self.width];
        for entry in 0..entries.len() {
            let is_here = |ids: &[i64]| columns.iter().zip(ids).all(|(column, id)| column.ids[entry] == *id);
            let mixed = columns.iter().fold(0u64, |mixed, column| {
                (mixed ^ column.ids[entry] as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            });
            let recent = (mixed >> (64 - RECENT_BITS)) as usize;
            // Most documents repeat a combination that was met a moment ago.
            let known = self.recent[recent].filter(|number| is_here(&self.combination(*number)[1..]));
            let number = match known {
                Some(number) => Some(number),
                None => {
                    for (cell, column) in combination[1..].iter_mut().zip(&columns) {
                        *cell = column.ids[entry];
                    }
                    let number = self.number(&combination)?;
                    self.recent[recent] = number.or(self.recent[recent]);
                    number
                }
            };
            if let Some(number) = number {
                self.counts[number as usize] += 1;
                self.emitted.push(entry, number);
            }
        }
        self.columns = columns;
        self.collect_subs(entries)
    }

    fn collect_subs(&mut self, entries: &Entries<'_>) -> Result<()> {
        if self.subs.is_empty() || self.counts.is_empty() {
            return Ok(());
        }
        self.subs.collect(&self.emitted.batch(entries, self.counts.len()))
    }

    /// Combinations of the page so far, in order.
    fn best(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.table.iter().copied().collect();
        let compare =
            |left: &u32, right: &u32| self.compare(self.combination(*left), self.combination(*right));
        if numbers.len() > self.size {
            numbers.select_nth_unstable_by(self.size - 1, compare);
            numbers.truncate(self.size);
        }
        numbers.sort_unstable_by(compare);
        numbers
    }

    /// Forgets what cannot be on the page any more.
    fn drop_rest(&mut self) {
        if self.kept_count < 2 * self.size + SPARE_COUNT {
            return;
        }
        let best = self.best();
        self.worst = best.last().map(|&last| self.combination(last).to_vec());
        let mut table = HashTable::with_capacity(best.len() * 2);
        let (cells, width, hasher) = (&self.cells, self.width, &self.hasher);
        let hash =
            |number: u32| hasher.hash_one(&cells[number as usize * width..(number as usize + 1) * width]);
        for &number in &best {
            table.insert_unique(hash(number), number, |&number| hash(number));
        }
        self.kept_count = best.len();
        self.table = table;
        self.recent.fill(None);
    }
}

impl<'s> Collector<'s> for CompositeCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.readers.iter_mut().try_for_each(|reader| reader.begin(view, self.budget))?;
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let mut is_single = entries.positions.is_none();
        for (reader, column) in self.readers.iter_mut().zip(&mut self.columns) {
            let values = reader.load(entries.docs, self.budget)?;
            is_single &= values.positions.is_none();
            column.fill(&values, entries.docs.len());
        }
        self.emitted.clear();
        if is_single {
            self.collect_single(entries)?;
            self.drop_rest();
            return Ok(());
        }
        let mut combination = vec![0i64; self.width];
        let mut places = vec![0usize; self.readers.len()];
        // Neighbours often repeat a combination.
        let (mut last, mut last_number) = (Vec::new(), None);
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            let mut combinations = 1usize;
            combination[0] = 0;
            for (place, column) in self.columns.iter().enumerate() {
                let count = (column.starts[position + 1] - column.starts[position]) as usize;
                places[place] = column.starts[position] as usize;
                if count == 0 {
                    if !self.readers[place].request.missing_bucket {
                        combinations = 0;
                        break;
                    }
                    combination[0] |= 1 << place;
                    combination[place + 1] = 0;
                } else {
                    combinations = combinations.saturating_mul(count);
                    combination[place + 1] = column.ids[places[place]];
                }
            }
            if combinations > COMBINATIONS_MAX {
                return Err(RequestError::illegal_argument(format!(
                    "a document has more than {COMBINATIONS_MAX} combinations of values in a [composite] aggregation"
                ))
                .into());
            }
            for _ in 0..combinations {
                let number = if last == combination {
                    last_number
                } else {
                    last.clone_from(&combination);
                    last_number = self.number(&combination)?;
                    last_number
                };
                if let Some(number) = number {
                    self.counts[number as usize] += 1;
                    self.emitted.push(entry, number);
                }
                // The next combination: the last source turns fastest.
                for (place, column) in self.columns.iter().enumerate().rev() {
                    let (start, end) =
                        (column.starts[position] as usize, column.starts[position + 1] as usize);
                    if start == end {
                        continue;
                    }
                    places[place] += 1;
                    if places[place] < end {
                        combination[place + 1] = column.ids[places[place]];
                        break;
                    }
                    places[place] = start;
                    combination[place + 1] = column.ids[start];
                }
            }
        }
        self.collect_subs(entries)?;
        self.drop_rest();
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        // Only single buckets may be above: there is one parent.
        let best = self.best();
        let (cells, width) = (&self.cells, self.width);
        let subs = match self.readers.iter().position(|reader| reader.request.is_dates()) {
            Some(place) => {
                self.subs.finish_keyed(&best, |number| cells[number as usize * width + place + 1])?
            }
            None => self.subs.finish(&best)?,
        };
        let bucket = |(&number, subs): (&u32, Vec<Partial>)| {
            let combination = self.combination(number);
            let key = |(place, reader): (usize, &SourceReader<'_>)| match combination[0] >> place & 1 {
                1 => Key::Missing,
                _ => reader.key(combination[place + 1]),
            };
            let keys = self.readers.iter().enumerate().map(key).collect();
            ListBucket::new(keys, self.counts[number as usize], subs)
        };
        let buckets = best.iter().zip(subs).map(bucket).collect();
        let mut partials = vec![Partial::List(ListPartial { buckets, ..ListPartial::default() })];
        partials.resize_with(parents.len(), || Partial::List(ListPartial::default()));
        Ok(partials)
    }
}
