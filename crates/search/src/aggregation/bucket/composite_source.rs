//! Sources of `composite`: the values of a document, and their order.
//!
//! Source: Elasticsearch's `TermsValuesSourceBuilder`, `HistogramValuesSourceBuilder`,
//! `DateHistogramValuesSourceBuilder`.

use std::cmp::Ordering;

use limber_mapping::RequestError;
use limber_mapping::number::{sortable_from_f64, sortable_from_u64};
use limber_segment::{DocId, SegmentView};
use serde_json::Value;

use super::super::answer::partial::Key;
use super::super::buckets::entries::Values;
use super::super::budget::Budget;
use super::super::options::{Options, ValuesOptions, unknown_field};
use super::super::source::{Accepts, KeyReader, NumberReader, Source};
use super::super::values::format::{Format, double, zone};
use super::date_buckets::{DateBuckets, Span};
use super::date_options::{calendar_or_fixed, offset_millis};
use super::grid_cells::{CellMemory, GridCells};
use super::histogram::{bucket_number, intervals_of};
use super::histogram_collector::stored_range;
use super::rounding::{Interval, Rounding};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::geo::tile_of;
use crate::values::json;

type Parsed<T> = std::result::Result<T, RequestError>;

#[derive(Debug, Clone)]
enum SourceKind {
    Terms,
    Histogram { interval: f64 },
    Dates { interval: Option<Interval>, offset_millis: i64 },
    Tiles(GridCells),
}

/// The position of documents without a value in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingOrder {
    Default,
    First,
    Last,
}

/// One source as given in the request.
#[derive(Debug, Clone)]
pub struct CompositeSource {
    pub name: String,
    pub values: ValuesOptions,
    kind: SourceKind,
    pub descending: bool,
    pub missing_bucket: bool,
    missing_order: MissingOrder,
}

/// Returns the only member of an object.
fn only_member(value: Value) -> Parsed<(String, Value)> {
    let Value::Object(map) = value else { return Err(unexpected("START_OBJECT", json::token(&value))) };
    let mut members = map.into_iter();
    match (members.next(), members.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(unexpected("FIELD_NAME", "END_OBJECT")),
        (Some(_), Some(_)) => Err(no_value("END_OBJECT")),
    }
}

fn no_value(found: &str) -> RequestError {
    RequestError::bad_request("illegal_state_exception", format!("expected value but got [{found}]"))
}

fn unexpected(wanted: &str, found: &str) -> RequestError {
    RequestError::parsing(format!(
        "Failed to parse object: expecting token of type [{wanted}] but found [{found}]"
    ))
}

impl CompositeSource {
    /// Reads `{"name": {"terms": {...}}}`.
    pub fn parse(definition: Value) -> Parsed<CompositeSource> {
        if definition.is_array() {
            return Err(no_value("START_ARRAY"));
        }
        let (name, body) = only_member(definition)?;
        let (kind, body) = only_member(body)?;
        let Value::Object(body) = body else { return Err(unexpected("START_OBJECT", json::token(&body))) };
        let kind = match kind.as_str() {
            "terms" => "terms",
            "histogram" => "histogram",
            "date_histogram" => "date_histogram",
            "geotile_grid" => "geotile_grid",
            other => return Err(RequestError::parsing(format!("invalid source type: {other}"))),
        };
        let mut options = Options::new(kind, &name, body);
        let source = CompositeSource::read(&mut options)?;
        options.finish()?;
        Ok(source)
    }

    fn read(options: &mut Options) -> Parsed<CompositeSource> {
        let kind = match options.kind {
            "terms" => SourceKind::Terms,
            "histogram" => {
                let interval = options.double("interval")?.unwrap_or(0.0);
                if interval <= 0.0 || !interval.is_finite() {
                    return Err(options
                        .refused("interval", "[interval] must be greater than 0 for [histogram] source"));
                }
                SourceKind::Histogram { interval }
            }
            "geotile_grid" => SourceKind::Tiles(GridCells::parse(options)?),
            _ => {
                let interval = calendar_or_fixed(options)?;
                SourceKind::Dates { interval, offset_millis: offset_millis(options)? }
            }
        };
        let descending = match options.text("order")?.map(|order| order.to_ascii_lowercase()).as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(other) => {
                let reason = format!("Unknown sort order [{other}]");
                return Err(options.refused("order", reason));
            }
        };
        let missing_bucket = options.boolean("missing_bucket")?.unwrap_or(false);
        let missing_order = match options.text("missing_order")?.as_deref() {
            None | Some("default") => MissingOrder::Default,
            Some("first") => MissingOrder::First,
            Some("last") => MissingOrder::Last,
            Some(other) => {
                let reason = format!("Unknown missing order [{other}]");
                return Err(options.refused("missing_order", reason));
            }
        };
        if options.has("missing") {
            return Err(unknown_field(options.kind, "missing"));
        }
        let values = ValuesOptions::parse_with_zone(options)?;
        Ok(CompositeSource {
            name: options.name.clone(),
            values,
            kind,
            descending,
            missing_bucket,
            missing_order,
        })
    }

    /// Refuses options that do not fit the kind of the source, with Elasticsearch's messages.
    pub fn check(&self) -> Parsed<()> {
        if self.missing_order != MissingOrder::Default && !self.missing_bucket {
            return Err(RequestError::illegal_argument(
                "missingOrder can only be set if missingBucket is true",
            ));
        }
        Ok(())
    }

    /// Returns which fields the source accepts, and the aggregation that the error names if a field is
    /// refused.
    pub fn accepts(&self) -> (Accepts, Option<&'static str>) {
        match self.kind {
            SourceKind::Terms => (Accepts::Anything, None),
            SourceKind::Histogram { .. } => (Accepts::Numbers, Some("histogram")),
            SourceKind::Dates { .. } => (Accepts::Dates, Some("date_histogram")),
            SourceKind::Tiles(_) => (Accepts::Places, Some("geotile_grid")),
        }
    }

    /// Whether the source's keys are dates.
    pub fn is_dates(&self) -> bool {
        matches!(self.kind, SourceKind::Dates { .. })
    }

    /// Returns how dates are rounded to keys; `None` where the values are no dates.
    pub fn rounding(&self, source: &Source) -> Result<Option<Rounding>> {
        let SourceKind::Dates { interval, offset_millis } = &self.kind else { return Ok(None) };
        let interval = interval.ok_or_else(|| {
            RequestError::illegal_argument("Invalid interval specified, must be non-null and non-empty")
        })?;
        let zone = match &source.format {
            Format::Date { zone, .. } => zone.clone(),
            _ => zone(&self.values)?,
        };
        Ok(Some(Rounding { interval, zone, offset_millis: *offset_millis }))
    }

    /// Compares two values; either may be missing, and `values` is called when neither is.
    pub fn compare(
        &self,
        left_missing: bool,
        right_missing: bool,
        values: impl FnOnce() -> Ordering,
    ) -> Ordering {
        match (left_missing, right_missing) {
            (true, true) => Ordering::Equal,
            (false, false) if self.descending => values().reverse(),
            (false, false) => values(),
            (left, _) => {
                let is_first = match self.missing_order {
                    MissingOrder::Default => !self.descending,
                    order => order == MissingOrder::First,
                };
                if left == is_first { Ordering::Less } else { Ordering::Greater }
            }
        }
    }

    /// Compares two keys in the answer, with missing values sorted as the request wants.
    pub fn compare_keys(&self, left: &Key, right: &Key) -> Ordering {
        self.compare(*left == Key::Missing, *right == Key::Missing, || left.compare(right))
    }

    /// Formats a key: dates as numbers, unless a format was given.
    pub fn show(&self, key: &Key, source: Option<&Source>) -> Result<Value> {
        if let (SourceKind::Tiles(cells), Key::Long(cell)) = (&self.kind, key) {
            return Ok(cells.grid.name(*cell as u64).into());
        }
        let format = source.map_or(&Format::Raw, |source| &source.format);
        let is_plain = match format {
            Format::Raw | Format::Unsigned => true,
            Format::Date { .. } => {
                self.values.format.is_none() && !matches!(self.kind, SourceKind::Histogram { .. })
            }
            _ => false,
        };
        Ok(match (key, format) {
            (Key::Missing, _) => Value::Null,
            (Key::Term(term), format) => format.text_of_term(term)?.into(),
            (Key::Long(value), Format::Boolean) => (*value != 0).into(),
            (Key::Long(value), format) if is_plain => format.long(*value),
            (Key::Double(value), _) if is_plain => double(*value),
            (Key::Long(value), format) => format.text_of_long(*value)?.into(),
            (Key::Double(value), format) => format.text(*value)?.into(),
        })
    }

    /// Converts a value of `after` to a key. The error is only the reason.
    pub fn key_of(&self, value: &Value, source: &Source) -> std::result::Result<Key, String> {
        if value.is_null() {
            return match self.missing_bucket {
                true => Ok(Key::Missing),
                false => Err("Expected a value but was null".to_owned()),
            };
        }
        let text =
            json::scalar_text(value).ok_or_else(|| format!("invalid value, got {}", json::token(value)))?;
        let number = || text.parse::<f64>().map_err(|_| format!("For input string: \"{text}\""));
        match &self.kind {
            SourceKind::Histogram { .. } => match &source.format {
                Format::Date { .. } if value.is_string() => {
                    instant(&text, source).map(|instant| Key::Double(instant as f64))
                }
                _ => number().map(Key::Double),
            },
            SourceKind::Tiles(_) => {
                tile_of(&text).map(|cell| Key::Long(cell as i64)).map_err(|error| error.reason)
            }
            // Keys of dates are numbers, unless the request gives a format.
            SourceKind::Dates { .. } if self.values.format.is_some() => instant(&text, source).map(Key::Long),
            SourceKind::Dates { .. } => whole(value, &text).map(Key::Long),
            SourceKind::Terms if source.is_numeric() => {
                let is_date = source.field.as_ref().is_some_and(|field| field.date().is_some());
                match (is_date, &source.format) {
                    (true, _) if self.values.format.is_some() && value.is_string() => {
                        instant(&text, source).map(Key::Long)
                    }
                    (_, Format::Boolean) => match text.as_str() {
                        "true" => Ok(Key::Long(1)),
                        "false" => Ok(Key::Long(0)),
                        _ => Err(format!("Cannot parse boolean [{text}], expected either [true] or [false]")),
                    },
                    (_, Format::Unsigned) => match text.parse() {
                        Ok(value) => Ok(Key::Long(sortable_from_u64(value))),
                        Err(_) => Err(format!("For input string: \"{text}\"")),
                    },
                    _ if source.is_floating() => number().map(Key::Double),
                    _ => whole(value, &text).map(Key::Long),
                }
            }
            SourceKind::Terms => match &source.field {
                Some(_) if !value.is_string() => Err(json::expected_string(value)),
                Some(field) => {
                    field.encode_term(&text).map(|term| Key::Term(term.into())).map_err(|error| error.reason)
                }
                None => Ok(Key::Term(text.into_bytes().into())),
            },
        }
    }
}

/// Reads a whole number as `DocValueFormat.RAW` does: a fraction is cut off. The error is only the reason.
fn whole(value: &Value, text: &str) -> std::result::Result<i64, String> {
    let whole = value.as_i64().or_else(|| text.parse().ok());
    let cut = || text.parse::<f64>().ok().map(|number| number as i64);
    whole.or_else(cut).ok_or_else(|| format!("For input string: \"{text}\""))
}

fn instant(text: &str, source: &Source) -> std::result::Result<i64, String> {
    let utc = limber_mapping::date::Zone::Utc;
    let (format, zone) = match &source.format {
        Format::Date { format, zone } => (format.clone(), zone),
        _ => (limber_mapping::date::default_format(), &utc),
    };
    format.parse_with_math(text, source.now_millis, false, zone).map_err(|error| error.reason)
}

#[derive(Debug)]
enum Reader<'s> {
    Keys(Box<KeyReader<'s>>),
    Numbers(Box<NumberReader<'s>>),
}

/// Reads one source; each value becomes an id, and ids are equal where the keys are.
#[derive(Debug)]
pub struct SourceReader<'s> {
    pub request: &'s CompositeSource,
    source: &'s Source,
    dates: Option<DateBuckets>,
    reader: Reader<'s>,
    ids: Vec<i64>,
    positions: Vec<u32>,
    memory: CellMemory,
    /// The span of the last bucket.
    span: Span,
}

impl<'s> SourceReader<'s> {
    pub(crate) fn new(
        request: &'s CompositeSource,
        source: &'s Source,
        shard: &ShardSnapshot,
        budget: &Budget,
    ) -> Result<SourceReader<'s>> {
        let reader = match request.kind {
            SourceKind::Terms => Reader::Keys(Box::new(KeyReader::new(source, None)?)),
            _ => Reader::Numbers(Box::new(NumberReader::new(source)?)),
        };
        Ok(SourceReader {
            request,
            source,
            dates: match request.rounding(source)? {
                Some(rounding) => Some(DateBuckets::new(rounding, stored_range(source, shard, None)?, 0)),
                None => None,
            },
            reader,
            ids: Vec::new(),
            positions: Vec::new(),
            memory: match &request.kind {
                SourceKind::Tiles(cells) => CellMemory::new(cells, budget)?,
                _ => CellMemory::default(),
            },
            span: Span::NONE,
        })
    }

    /// Starts a segment, whose documents come next. The memory kept for the segment's terms is charged to
    /// `budget`.
    pub fn begin(&mut self, view: &'s SegmentView, budget: &Budget) -> Result<()> {
        match &mut self.reader {
            Reader::Keys(reader) => reader.begin(view, budget),
            Reader::Numbers(reader) => reader.begin(&view.segment, self.source.is_mapped()),
        }
    }

    /// Returns an upper bound of the key indexes in the current segment; 0 if ids have no indexes.
    pub fn key_index_count(&self) -> usize {
        match (&self.reader, &self.dates) {
            (Reader::Keys(reader), _) => reader.key_index_count(),
            (Reader::Numbers(_), Some(dates)) => dates.key_index_count(),
            _ => 0,
        }
    }

    /// Replaces the contents of `out` by the key index of each document's id. Returns false if a document
    /// does not have exactly one.
    pub fn load_key_indexes(&mut self, docs: &[DocId], out: &mut Vec<u32>) -> Result<bool> {
        out.clear();
        match (&mut self.reader, &self.dates) {
            (Reader::Keys(reader), _) => reader.load_key_indexes(docs, out),
            (Reader::Numbers(reader), Some(dates)) => {
                let values = reader.load(docs)?;
                dates.key_indexes(values.values, out);
                Ok(values.positions.is_none())
            }
            _ => Ok(false),
        }
    }

    /// Returns the id of the key with this index.
    pub fn id_at(&mut self, key_index: u32, budget: &Budget) -> Result<i64> {
        match (&mut self.reader, &self.dates) {
            (Reader::Keys(reader), _) => reader.id_at(key_index, budget),
            (Reader::Numbers(_), Some(dates)) => Ok(dates.start_at(key_index)),
            _ => Ok(0),
        }
    }

    /// See [`KeyReader::key_index_of`].
    pub fn key_index_of(&self, id: i64) -> Result<Option<std::result::Result<u32, u32>>> {
        match &self.reader {
            Reader::Keys(reader) => reader.key_index_of(id),
            Reader::Numbers(_) => Ok(None),
        }
    }

    /// Returns the ids of `docs`; an id occurs once in a document.
    pub fn load(&mut self, docs: &[DocId], budget: &Budget) -> Result<Values<'_, i64>> {
        let reader = match &mut self.reader {
            Reader::Keys(reader) => return reader.load(docs, budget),
            Reader::Numbers(reader) => reader,
        };
        let values = reader.load(docs)?;
        self.ids.clear();
        self.positions.clear();
        let mut span = self.span;
        let (source, memory) = (self.source, &mut self.memory);
        let mut id_of = |stored: i64| match (&self.request.kind, &mut self.dates) {
            (SourceKind::Histogram { interval }, _) => Some(bucket_number(source.decode(stored) / interval)),
            (SourceKind::Tiles(cells), _) => cells.cell_of(stored, memory).map(|cell| cell as i64),
            (_, Some(dates)) => {
                if !span.contains(stored) {
                    span = dates.span_of(stored);
                }
                Some(span.start)
            }
            _ => Some(stored),
        };
        if values.positions.is_none() {
            self.ids.extend(values.values.iter().map_while(|&stored| id_of(stored)));
            if self.ids.len() == values.values.len() {
                self.span = span;
                return Ok(Values { values: &self.ids, positions: None });
            }
            self.ids.clear();
        }
        // Several points of a document are not sorted by tile.
        let is_ordered = !matches!(self.request.kind, SourceKind::Tiles(_));
        for (at, &stored) in values.values.iter().enumerate() {
            let position = values.positions.map_or(at as u32, |positions| positions[at]);
            let Some(id) = id_of(stored) else { continue };
            let mut of_document = self
                .positions
                .iter()
                .rev()
                .take_while(|other| **other == position)
                .zip(self.ids.iter().rev());
            let is_repeated = match is_ordered {
                true => of_document.next().is_some_and(|(_, other)| *other == id),
                false => of_document.any(|(_, other)| *other == id),
            };
            if !is_repeated {
                self.ids.push(id);
                self.positions.push(position);
            }
        }
        self.span = span;
        Ok(Values { values: &self.ids, positions: Some(&self.positions) })
    }

    /// Returns the key of an id.
    pub fn key(&self, id: i64) -> Key {
        match (&self.reader, &self.request.kind) {
            (Reader::Keys(reader), _) => reader.key(id),
            (_, SourceKind::Histogram { interval }) => Key::Double(intervals_of(id) * interval),
            _ => Key::Long(id),
        }
    }

    /// Compares two ids by their keys.
    pub fn compare(&self, left: i64, right: i64) -> Ordering {
        match &self.reader {
            Reader::Keys(reader) => reader.compare(left, right),
            Reader::Numbers(_) => left.cmp(&right),
        }
    }

    /// Returns the id of a key. Ids and keys have the same order.
    pub fn id(&mut self, key: &Key, budget: &Budget) -> Result<i64> {
        Ok(match (&mut self.reader, &self.request.kind, key) {
            (Reader::Keys(reader), _, Key::Double(value)) => {
                let stored =
                    if self.source.is_floating() { sortable_from_f64(*value) } else { *value as i64 };
                reader.id(&Key::Long(stored), budget)?.unwrap_or(0)
            }
            (Reader::Keys(reader), _, key) => reader.id(key, budget)?.unwrap_or(0),
            (_, SourceKind::Histogram { interval }, key) => {
                let exact = key.as_double() / interval;
                bucket_number(if self.request.descending { exact.ceil() } else { exact })
            }
            (_, _, Key::Long(value)) => *value,
            _ => 0,
        })
    }
}
