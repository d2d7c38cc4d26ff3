//! `geohash_grid`, `geotile_grid` and `geohex_grid`: documents by the cell of a grid that their places are in.
//!
//! Source: Elasticsearch's `GeoGridAggregationBuilder`, `GeoGridAggregator`, `InternalGeoGrid`.

use std::cmp::Reverse;
use std::collections::HashMap;

use limber_mapping::RequestError;
use limber_mapping::geo::{GeoPoint, Rectangle};
use limber_segment::SegmentView;
use serde_json::{Map, Value};

use super::super::bucket_table::BucketTable;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Definition, Place};
use super::super::entries::{Emitted, Entries};
use super::super::options::{Options, ValuesOptions};
use super::super::partial::{KeyedBucket, Partial};
use super::super::reduce::Reducer;
use super::super::render::Renderer;
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use crate::error::Result;
use crate::geo::{Grid, Unit, ZOOM_MAX, cell_touches, geohash_chars_of, parse_distance};
use crate::json;
use crate::query::parse_corners;

#[derive(Debug, Clone)]
pub struct GeoGrid {
    values: ValuesOptions,
    grid: Grid,
    size: usize,
    shard_size: usize,
    bounds: Option<Rectangle>,
}

/// Cells of an answer when nothing is said.
const SIZE_DEFAULT: i32 = 10_000;

impl GeoGrid {
    pub fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let precision = options.take("precision");
        let grid = match options.kind {
            "geohash_grid" => Grid::Geohash(match &precision {
                None => 5,
                Some(value) => {
                    geohash_precision(value).map_err(|cause| options.failed("precision", cause))?
                }
            }),
            "geotile_grid" => Grid::Geotile(precision_below(options, &precision, 7, ZOOM_MAX)?),
            _ => Grid::Geohex(precision_below(options, &precision, 6, 15)?),
        };
        let mut positive = |option: &str| match options.int(option)? {
            Some(size) if size <= 0 => Err(options.refused(
                option,
                format!("[{option}] must be greater than 0. Found [{size}] in [{}]", options.name),
            )),
            size => Ok(size),
        };
        let (size, shard_size) =
            (positive("size")?.unwrap_or(SIZE_DEFAULT) as usize, positive("shard_size")?);
        // As `BucketUtils#suggestShardSideQueueSize`.
        let shard_size = shard_size.map_or(size + size / 2 + 10, |shard_size| shard_size as usize).max(size);
        let bounds = match options.take("bounds") {
            None => None,
            Some(Value::Object(corners)) => {
                Some(parse_corners(&corners).map_err(|cause| options.failed("bounds", cause))?)
            }
            Some(other) => return Err(options.wrong_type("bounds", &other)),
        };
        let values = ValuesOptions::parse_places(options, "field")?;
        Ok(Kind::own(GeoGrid { values, grid, size, shard_size, bounds }))
    }
}

impl Definition for GeoGrid {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Places)]
    }

    fn collector<'s>(&'s self, place: Place<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &place.bound.sources()[0];
        Ok(Box::new(GeoGridCollector {
            request: self,
            source,
            reader: NumberReader::new(source, &self.values.field)?,
            table: BucketTable::with_range(None, place.budget)?,
            in_bounds: HashMap::default(),
            subs: place.subs,
            emitted: Emitted::default(),
            starts: Vec::new(),
            budget: place.budget,
        }))
    }

    /// Cells put together: those of most documents first, then those of the largest number.
    fn reduce(&self, own: &Aggregation, parts: Vec<Partial>, reducer: &mut Reducer<'_>) -> Result<Partial> {
        let mut all: Vec<KeyedBucket> = Vec::new();
        for part in parts {
            if let Partial::Histogram(buckets) = part {
                all.extend(buckets);
            }
        }
        // Stable: subs of equal keys stay in the order of the shards.
        all.sort_by_key(|bucket| bucket.key);
        let mut cells: Vec<(u64, i64, Vec<Vec<Partial>>)> = Vec::new();
        for bucket in all {
            match cells.last_mut() {
                Some((doc_count, key, subs)) if *key == bucket.key => {
                    *doc_count += bucket.doc_count;
                    subs.push(bucket.subs);
                }
                _ => cells.push((bucket.doc_count, bucket.key, vec![bucket.subs])),
            }
        }
        cells.sort_by_key(|(doc_count, key, _)| Reverse((*doc_count, *key)));
        cells.truncate(self.size);
        reducer.count_buckets(cells.len())?;
        let made = cells.into_iter().map(|(doc_count, key, subs)| {
            Ok(KeyedBucket { key, doc_count, subs: reducer.subs(&own.subs, subs)? })
        });
        Ok(Partial::Histogram(made.collect::<Result<_>>()?))
    }

    fn render(&self, partial: &Partial, renderer: &Renderer<'_>, out: &mut Map<String, Value>) {
        let Partial::Histogram(buckets) = partial else { return };
        let bodies = buckets.iter().map(|bucket| {
            let name = self.grid.name(bucket.key as u64);
            let head = Map::from_iter([("key".to_owned(), Value::from(name))]);
            Value::Object(renderer.bucket(head, bucket.doc_count, &bucket.subs))
        });
        out.insert("buckets".into(), bodies.collect());
    }
}

/// Characters, or a distance that a cell's sides are not longer than.
fn geohash_precision(value: &Value) -> std::result::Result<u32, RequestError> {
    let text = json::scalar_text(value).unwrap_or_default();
    let chars = match (value, text.parse::<i64>()) {
        (Value::Number(_), _) => i64::from(json::int(value)?),
        (_, Ok(chars)) => chars,
        (_, Err(_)) => i64::from(geohash_chars_of(parse_distance(&text, Unit::METERS)?)),
    };
    match chars {
        1..=12 => Ok(chars as u32),
        _ => Err(RequestError::illegal_argument(format!(
            "Invalid geohash aggregation precision of {chars}. Must be between 1 and 12."
        ))),
    }
}

fn precision_below(
    options: &Options,
    value: &Option<Value>,
    default: u32,
    most: u32,
) -> std::result::Result<u32, RequestError> {
    let Some(value) = value else { return Ok(default) };
    let precision = json::int(value).map_err(|cause| options.failed("precision", cause))?;
    if (0..=most as i32).contains(&precision) {
        return Ok(precision as u32);
    }
    Err(options.refused(
        "precision",
        format!("Invalid {} precision of {precision}. Must be between 0 and {most}.", options.kind),
    ))
}

#[derive(Debug)]
struct GeoGridCollector<'s> {
    request: &'s GeoGrid,
    source: &'s Source,
    reader: NumberReader<'s>,
    table: BucketTable,
    /// Whether cells touch the bounds, as far as asked.
    in_bounds: HashMap<u64, bool, foldhash::fast::FixedState>,
    subs: Subs<'s>,
    emitted: Emitted,
    starts: Vec<u32>,
    budget: &'s Budget,
}

/// Whether a place lies in the bounds.
fn holds(bounds: &Rectangle, point: GeoPoint) -> bool {
    let is_between = match bounds.west <= bounds.east {
        true => bounds.west < point.longitude && point.longitude < bounds.east,
        false => bounds.west < point.longitude || point.longitude < bounds.east,
    };
    is_between && bounds.south < point.latitude && point.latitude < bounds.north
}

impl<'s> Collector<'s> for GeoGridCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())?;
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let values = self.reader.load(entries.docs)?;
        let (grid, bounds) = (self.request.grid, &self.request.bounds);
        let has_subs = !self.subs.is_empty();
        self.emitted.clear();
        let (table, emitted, budget) = (&mut self.table, &mut self.emitted, self.budget);
        let in_bounds = &mut self.in_bounds;
        let mut failed = Ok(());
        // Cells of the entry at hand: each counts once.
        let (mut seen_of, mut seen): (usize, Vec<u64>) = (usize::MAX, Vec::new());
        values.join(entries, &mut self.starts, |entry, parent, place| {
            if failed.is_err() {
                return;
            }
            let cell = grid.cell_of(place);
            if let Some(bounds) = bounds
                && !holds(bounds, GeoPoint::decode(place))
                && !*in_bounds.entry(cell).or_insert_with(|| cell_touches(grid, cell, bounds))
            {
                return;
            }
            if seen_of != entry {
                seen_of = entry;
                seen.clear();
            }
            if seen.contains(&cell) {
                return;
            }
            seen.push(cell);
            match table.bucket(parent, cell as i64, budget) {
                Ok(bucket) => {
                    table.counts[bucket as usize] += 1;
                    if has_subs {
                        emitted.push(entry, bucket);
                    }
                }
                Err(error) => failed = Err(error),
            }
        });
        failed?;
        if has_subs {
            self.subs.collect(&self.emitted.batch(entries, self.table.len()))?;
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        let table = &self.table;
        let mut lists = table.by_parent(parents);
        for list in &mut lists {
            let order = |bucket: &u32| Reverse((table.counts[*bucket as usize], table.key(*bucket)));
            list.sort_unstable_by_key(order);
            list.truncate(self.request.shard_size);
        }
        let kept = lists.concat();
        let mut subs = self.subs.finish(&kept)?.into_iter();
        let mut made = |bucket: u32| KeyedBucket {
            key: table.key(bucket),
            doc_count: table.counts[bucket as usize],
            subs: subs.next().unwrap_or_default(),
        };
        Ok(lists
            .into_iter()
            .map(|list| Partial::Histogram(list.into_iter().map(&mut made).collect()))
            .collect())
    }
}
