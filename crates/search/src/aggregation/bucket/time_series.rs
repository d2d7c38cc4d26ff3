//! `time_series`: documents by their series, in an index of the mode `time_series`.
//!
//! Source: Elasticsearch's `TimeSeriesAggregationBuilder`, `TimeSeriesAggregator`, `InternalTimeSeries`.

use limber_mapping::{Field, Flattened, KEY_END, Mapping, Representation, RequestError, TSID, keyed_path};
use limber_segment::{DocId, Segment, SegmentView};
use serde_json::{Map, Value};

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListPartial, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::{Entries, Values};
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::buckets::list::groups_of;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, KeyReader};
use super::super::tree::{Aggregation, Kind};
use super::super::values::claimed;
use super::super::values::format::Format;
use crate::error::Result;

/// Most series of an answer by default (Elasticsearch's `MultiBucketConsumerService.DEFAULT_MAX_BUCKETS`).
const SIZE: i32 = 65_536;

/// The options of a `time_series`.
#[derive(Debug, Clone)]
pub struct TimeSeries {
    series: ValuesOptions,
    keyed: bool,
    size: usize,
}

impl TimeSeries {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let keyed = options.boolean("keyed")?.unwrap_or(false);
        let size = options.int("size")?.unwrap_or(SIZE);
        if size <= 0 {
            return Err(options.refused("size", format!("[size] must be greater than 0. Found [{size}]")));
        }
        Ok(Kind::own(TimeSeries { series: ValuesOptions::of_field(TSID), keyed, size: size as usize }))
    }
}

impl Request for TimeSeries {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.series, Accepts::Terms)]
    }
}

impl Collect for TimeSeries {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(TimeSeriesCollector {
            series: KeyReader::new(&context.bound.sources()[0], None)?,
            dimensions: Dimensions::of(&context.shard.mapping)?,
            segment: None,
            shown: Vec::new(),
            ids: Vec::new(),
            positions: Vec::new(),
            buckets: KeyedBuckets::new(BucketTable::default(), context.subs, context.budget),
            budget: context.budget,
        }))
    }
}

impl Reduce for TimeSeries {
    type Finding = ListPartial;

    /// Reduces the series by their ids.
    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let mut all = groups_of(parts);
        all.truncate(self.size);
        Ok(ListPartial::of(reducer.buckets_of(own, all)?))
    }
}

impl Render for TimeSeries {
    fn render(&self, list: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.buckets(self.keyed, |buckets| {
            for bucket in &list.buckets {
                let dimensions: Map<String, Value> = match &bucket.keys[1] {
                    Key::Term(json) => serde_json::from_slice(json).unwrap_or_default(),
                    _ => Map::new(),
                };
                let texts: Vec<String> = dimensions.iter().map(|(name, value)| named(name, value)).collect();
                let name = format!("{{{}}}", claimed::joined(&texts, ", ")?);
                buckets.add(&name, |out| {
                    out.insert("key", &dimensions)?;
                    renderer.bucket(bucket.doc_count, &bucket.subs, out)
                })?;
            }
            Ok(())
        })
    }
}

/// Writes an entry as Java's `Map#toString` does.
fn named(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    }
}

#[derive(Debug)]
struct TimeSeriesCollector<'s> {
    series: KeyReader<'s>,
    dimensions: Dimensions,
    segment: Option<&'s Segment>,
    /// The dimensions of each series, as JSON, by its id in `series`; empty if they were not read yet.
    shown: Vec<Box<[u8]>>,
    /// The current batch: ids of series, and their positions among the documents.
    ids: Vec<i64>,
    positions: Vec<u32>,
    buckets: KeyedBuckets<'s>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for TimeSeriesCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.series.begin(view, self.budget)?;
        self.segment = Some(&view.segment);
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let values = self.series.load(entries.docs, self.budget)?;
        self.ids.clear();
        self.ids.extend_from_slice(values.values);
        self.positions.clear();
        self.positions.extend(values.positions.into_iter().flatten());
        let is_single = values.positions.is_none();
        for (at, &id) in self.ids.iter().enumerate() {
            let id = id as usize;
            if id >= self.shown.len() {
                self.budget.spend(((id + 1 - self.shown.len()) * size_of::<Box<[u8]>>()) as u64)?;
                self.shown.resize(id + 1, Box::default());
            }
            if self.shown[id].is_empty()
                && let Some(segment) = self.segment
            {
                let position = if is_single { at } else { self.positions[at] as usize };
                let shown = self.dimensions.read(segment, entries.docs[position])?;
                self.budget.spend(shown.len() as u64)?;
                self.shown[id] = shown.into_bytes().into();
            }
        }
        let positions = (!is_single).then_some(&self.positions[..]);
        self.buckets.collect(&Values { values: &self.ids[..], positions }, entries, |_, id| Some(id))
    }

    fn end_segment(&mut self) -> Result<()> {
        self.buckets.end_segment()
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        self.buckets.finish_lists(parents, |id| {
            [self.series.key(id), Key::Term(self.shown[id as usize].clone())].into()
        })
    }
}

/// Reads the dimensions of documents.
#[derive(Debug)]
struct Dimensions(Vec<Dimension>);

#[derive(Debug)]
struct Dimension {
    /// The path under which it is shown.
    path: String,
    /// The path of its column.
    column: String,
    /// What its terms begin with, if they are those of a flattened field.
    prefix: Vec<u8>,
    format: Format,
    is_number: bool,
    is_address: bool,
}

impl Dimensions {
    fn of(mapping: &Mapping) -> Result<Dimensions> {
        let mut found = Vec::new();
        for path in mapping.dimensions() {
            if let Some(field) = mapping.field(&path) {
                found.push(Dimension::of(mapping, &field)?);
            }
        }
        Ok(Dimensions(found))
    }

    /// Returns the dimensions of a document as a JSON object.
    fn read(&self, segment: &Segment, doc: DocId) -> Result<String> {
        let mut shown = Map::new();
        for dimension in &self.0 {
            if let Some(value) = dimension.read(segment, doc)? {
                shown.insert(dimension.path.clone(), value);
            }
        }
        Ok(Value::Object(shown).to_string())
    }
}

impl Dimension {
    fn of(mapping: &Mapping, field: &Field) -> Result<Dimension> {
        let mut column = field.path.to_string();
        let mut prefix = Vec::new();
        if field.flattened == Some(Flattened::Key) {
            let roots = field.path.match_indices('.').map(|(dot, _)| field.path.split_at(dot));
            let is_root = |path: &str| {
                let root = mapping.field(path);
                root.is_some_and(|root| matches!(root.flattened, Some(Flattened::Root { .. })))
            };
            if let Some((root, key)) = roots.into_iter().find(|(root, _)| is_root(root)) {
                column = keyed_path(root);
                prefix = key.as_bytes()[1..].to_vec();
                prefix.push(KEY_END);
            }
        }
        Ok(Dimension {
            path: field.path.to_string(),
            column,
            prefix,
            format: Format::of(Some(field), &ValuesOptions::of_field(&field.path))?,
            is_number: field.representation() == Representation::Number,
            is_address: field.is_ip(),
        })
    }

    /// Returns the smallest value of a document.
    fn read(&self, segment: &Segment, doc: DocId) -> Result<Option<Value>> {
        if self.is_number {
            let Some(column) = segment.numbers(&self.column)? else { return Ok(None) };
            let mut numbers = Vec::new();
            column.values(doc, &mut numbers)?;
            return Ok(numbers.first().map(|number| match &self.format {
                Format::Boolean => (*number != 0).into(),
                format => format.long(*number),
            }));
        }
        let (Some(column), Some(terms)) = (segment.ordinals(&self.column)?, segment.terms(&self.column)?)
        else {
            return Ok(None);
        };
        let (mut ordinals, mut term) = (Vec::new(), Vec::new());
        column.values(doc, &mut ordinals)?;
        for ordinal in ordinals {
            terms.term(u64::from(ordinal), &mut term)?;
            if let Some(value) = term.strip_prefix(&self.prefix[..]) {
                let address = limber_mapping::ip::IpBytes::try_from(value).ok().filter(|_| self.is_address);
                return Ok(Some(match address {
                    Some(address) => limber_mapping::ip::format(&address).into(),
                    None => self.format.text_of_term(value)?.into(),
                }));
            }
        }
        Ok(None)
    }
}
