//! `geohash_grid`, `geotile_grid` and `geohex_grid`: documents by the grid cells of their points and shapes.
//!
//! Source: Elasticsearch's `GeoGridAggregationBuilder`, `GeoGridAggregator`, `InternalGeoGrid`.

use std::cmp::Reverse;

use limber_mapping::RequestError;
use limber_segment::SegmentView;

use super::super::answer::members::Members;
use super::super::answer::partial::{KeyedBucket, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::Entries;
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::grid_cells::{CellMemory, GridCells};
use super::grid_shapes::ShapeReader;
use crate::error::Result;

/// The options of a `geohash_grid`, `geotile_grid` or `geohex_grid`: a bucket for each cell of a grid.
#[derive(Debug, Clone)]
pub struct GeoGrid {
    values: ValuesOptions,
    cells: GridCells,
    size: usize,
    shard_size: usize,
}

/// Default of `size`.
const SIZE_DEFAULT: i32 = 10_000;

impl GeoGrid {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let cells = GridCells::parse(options)?;
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
        let values = ValuesOptions::parse_places(options, "field")?;
        Ok(Kind::own(GeoGrid { values, cells, size, shard_size }))
    }
}

impl Request for GeoGrid {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Places)]
    }
}

impl Collect for GeoGrid {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &context.bound.sources()[0];
        let shapes = source.has_shapes().then(|| ShapeReader::new(source.path(), context.budget));
        Ok(Box::new(GeoGridCollector {
            shapes,
            request: self,
            source,
            reader: NumberReader::new(source)?,
            memory: CellMemory::new(&self.cells, context.budget)?,
            buckets: KeyedBuckets::new(BucketTable::default(), context.subs, context.budget),
        }))
    }
}

impl Reduce for GeoGrid {
    type Finding = Vec<KeyedBucket>;

    /// Reduces the cells; those with the most documents come first, ties by descending cell number.
    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<Vec<KeyedBucket>>,
        reducer: &mut Reducer<'_>,
    ) -> Result<Vec<KeyedBucket>> {
        let mut all: Vec<KeyedBucket> = parts.into_iter().flatten().collect();
        // The sort is stable: results of equal keys stay in the order of the shards.
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
        made.collect()
    }
}

impl Render for GeoGrid {
    fn render(
        &self,
        buckets: &Vec<KeyedBucket>,
        renderer: &Renderer<'_>,
        out: &mut Members<'_>,
    ) -> Result<()> {
        out.bucket_list(buckets, |bucket, out| {
            out.insert("key", &self.cells.grid.name(bucket.key as u64))?;
            renderer.bucket(bucket.doc_count, &bucket.subs, out)
        })
    }
}

#[derive(Debug)]
struct GeoGridCollector<'s> {
    request: &'s GeoGrid,
    source: &'s Source,
    reader: NumberReader<'s>,
    /// Replaces `reader` where the field has shapes.
    shapes: Option<ShapeReader<'s>>,
    memory: CellMemory,
    buckets: KeyedBuckets<'s>,
}

impl<'s> Collector<'s> for GeoGridCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        match &mut self.shapes {
            Some(shapes) => shapes.begin(&view.segment)?,
            None => self.reader.begin(&view.segment, self.source.is_mapped())?,
        }
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if let Some(shapes) = &mut self.shapes {
            let cells = shapes.load(entries.docs, &self.request.cells)?;
            return self.buckets.collect(&cells, entries, |_, cell| Some(cell));
        }
        let has_one_at_most = self.reader.has_one_at_most();
        let values = self.reader.load(entries.docs)?;
        let (cells, memory) = (&self.request.cells, &mut self.memory);
        if has_one_at_most && entries.positions.is_none() {
            let cell = |_: usize, place: i64| cells.cell_of(place, memory).map(|cell| cell as i64);
            return self.buckets.collect(&values, entries, cell);
        }
        // The cells of the current entry, each of which counts once.
        let (mut seen_of, mut seen): (usize, Vec<u64>) = (usize::MAX, Vec::new());
        self.buckets.collect(&values, entries, |entry, place| {
            let cell = cells.cell_of(place, memory)?;
            if seen_of != entry {
                seen_of = entry;
                seen.clear();
            }
            if seen.contains(&cell) {
                return None;
            }
            seen.push(cell);
            Some(cell as i64)
        })
    }

    fn counts_places(&self, path: &str) -> bool {
        self.shapes.is_none()
            && self.buckets.subs.is_empty()
            && self.source.is_column()
            && !self.reader.has_missing()
            && self.source.path() == path
    }

    fn count_points(&mut self, places: &[i64]) -> Result<()> {
        let (cells, memory) = (&self.request.cells, &mut self.memory);
        // Points that are next to each other in a leaf are near each other on the map, mostly in one cell.
        let (mut cell, mut doc_count) = (None, 0);
        for place in places {
            let next = cells.cell_of(*place, memory);
            if next != cell {
                if let Some(cell) = cell {
                    self.buckets.count(cell as i64, doc_count)?;
                }
                (cell, doc_count) = (next, 0);
            }
            doc_count += 1;
        }
        match cell {
            Some(cell) => self.buckets.count(cell as i64, doc_count),
            None => Ok(()),
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
        self.buckets.take_findings()
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        self.buckets.absorb(findings, bucket_of)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        let table = &self.buckets.table;
        let mut lists = table.by_parent(parents);
        for list in &mut lists {
            let order = |bucket: &u32| Reverse((table.counts[*bucket as usize], table.key(*bucket)));
            list.sort_unstable_by_key(order);
            list.truncate(self.request.shard_size);
        }
        let kept = lists.concat();
        let mut subs = self.buckets.subs.finish(&kept)?.into_iter();
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
