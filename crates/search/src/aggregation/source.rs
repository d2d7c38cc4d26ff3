//! Where values come from: "what are the values of these documents, as numbers or as ordinals?"

use std::sync::Arc;

use limber_mapping::date::Resolution;
use limber_mapping::number::{sortable_from_f64, u64_from_sortable};
use limber_mapping::{DateContext, Field, NumberForm, RangeKind, RequestError, Selection, ValueKind};
use limber_script::ScriptContext;
use limber_segment::columns::{Batch, NumberColumn, OrdinalColumn};
use limber_segment::{DocId, Segment};
use serde_json::Value;

use super::entries::Values;
use super::format::Format;
use super::options::ValuesOptions;
use super::refused::{check_ranges, check_shapes, not_supported};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::script::{BoundScript, NumberSource, RuntimeField};

/// An aggregation's field on one shard.
#[derive(Debug, Clone)]
pub struct Source {
    /// The field's name as written.
    pub name: String,
    /// `None`: not mapped here.
    pub field: Option<Arc<Field>>,
    pub format: Format,
    /// What stands in for documents without a value.
    pub missing: Option<Value>,
    pub now_millis: i64,
    /// Makes the values, which are then doubles.
    pub(super) script: Option<ScriptSource>,
    /// Makes the values of a runtime field.
    pub(super) runtime: Option<Arc<RuntimeField>>,
}

/// A script on one shard, and the field whose values it changes as `_value`.
#[derive(Debug, Clone)]
pub(super) struct ScriptSource {
    pub script: Arc<BoundScript>,
    field: Option<Arc<Field>>,
    /// Values are texts: nothing says that they are numbers.
    gives_text: bool,
}

/// What kind of values an aggregation can work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    Anything,
    /// What has an order: anything but places.
    Keys,
    Numbers,
    /// Numbers that are no truth values; those of an unmapped field are dates.
    Dates,
    /// Numbers that are neither dates nor truth values.
    Quantities,
    Addresses,
    Places,
    Terms,
}

impl Accepts {
    fn allows(self, field: &Field) -> bool {
        match self {
            Accepts::Anything => true,
            Accepts::Keys => !field.is_point(),
            Accepts::Places => field.is_point(),
            Accepts::Numbers => field.number_form().is_some(),
            Accepts::Dates => field.number_form().is_some() && !field.is_bool(),
            Accepts::Quantities => field.is_quantity(),
            Accepts::Addresses => field.is_ip(),
            Accepts::Terms => field.has_keys(),
        }
    }
}

impl Source {
    /// Resolves the field. Errors as Elasticsearch words them: text fields, fields without doc values, the wrong type for `aggregation`.
    pub fn bind(
        options: &ValuesOptions,
        accepts: Accepts,
        aggregation: &str,
        shard: &ShardSnapshot,
        now_millis: i64,
    ) -> Result<Source> {
        let field = shard.mapping.field(&options.field);
        if let Some(field) = &field {
            match &field.values {
                ValueKind::Point => crate::columns::check_column(field, shard)?,
                ValueKind::Shape { .. } => {
                    crate::columns::check_column(field, shard)?;
                    check_shapes(field, options, aggregation)?;
                }
                ValueKind::Range(kind) => {
                    crate::columns::check_column(field, shard)?;
                    check_ranges(field, kind, options, aggregation)?;
                }
                _ if accepts == Accepts::Places => {}
                _ => crate::columns::check_sortable(field, shard)?,
            }
            let is_checked = field.is_shape() || field.range_kind().is_some();
            if !is_checked && !accepts.allows(field) {
                return Err(not_supported(field, aggregation).into());
            }
        }
        let (script, field) = match &options.script {
            None => (None, field),
            Some(script) => {
                let script = BoundScript::bind(script, ScriptContext::Aggregation, shard)?;
                if script.uses_score() {
                    return Err(RequestError::unsupported("[_score] in the script of an aggregation").into());
                }
                let gives_text = matches!(aggregation, "terms" | "cardinality");
                if gives_text && let Some(field) = &field {
                    return Err(RequestError::unsupported(format!(
                        "[script] over the values of field [{}] in the aggregation [{aggregation}]",
                        field.path
                    ))
                    .into());
                }
                (Some(ScriptSource { script: Arc::new(script), field, gives_text }), None)
            }
        };
        let format = match &field {
            None if accepts == Accepts::Dates => Format::date(options)?,
            _ => Format::of(field.as_deref(), options)?,
        };
        let runtime = match &field {
            Some(field) => RuntimeField::bind(field, shard)?,
            None => None,
        };
        Ok(Source {
            name: options.field.clone(),
            field,
            format,
            missing: options.missing.clone(),
            now_millis,
            script,
            runtime,
        })
    }

    /// A field that no mapping knows.
    pub fn unmapped(name: &str) -> Source {
        Source {
            name: name.to_owned(),
            field: None,
            format: Format::Raw,
            missing: None,
            now_millis: 0,
            script: None,
            runtime: None,
        }
    }

    /// Whether values come from the segments' columns.
    pub fn is_column(&self) -> bool {
        self.field.is_some() && self.script.is_none() && self.runtime.is_none()
    }

    /// Whether there are terms that no segment holds.
    pub fn makes_terms(&self) -> bool {
        (self.runtime.is_some() || self.script.is_some()) && !self.is_numeric()
    }

    /// Whether values are shapes.
    pub fn has_shapes(&self) -> bool {
        self.field.as_ref().is_some_and(|field| field.is_shape())
    }

    /// What the ends of its ranges are, where values are ranges.
    pub fn range_kind(&self) -> Option<&RangeKind> {
        self.field.as_ref().and_then(|field| field.range_kind())
    }

    /// The field's full name.
    pub fn path(&self) -> &str {
        self.field.as_ref().map_or(&self.name, |field| &field.path)
    }

    /// Whether the index maps the field.
    pub fn is_mapped(&self) -> bool {
        self.field.is_some() || self.script.is_some()
    }

    /// Whether the field's values are numbers in a column. An unmapped field counts as whatever `missing` is.
    pub fn is_numeric(&self) -> bool {
        match &self.script {
            Some(script) => !script.gives_text,
            None => self.field.as_ref().is_some_and(|field| field.is_numeric()),
        }
    }

    /// Whether values are doubles rather than longs.
    pub fn is_floating(&self) -> bool {
        (self.script.is_some() && self.is_numeric())
            || self.field.as_ref().is_some_and(|field| field.is_floating())
    }

    /// What the column's dates count. Aggregations take all dates in milliseconds, as Elasticsearch's do: what is read of a column is brought
    /// into them by [`Resolution::millis`], and [`Source::decode`] is of what it became.
    pub fn resolution(&self) -> Resolution {
        self.field.as_ref().map_or(Resolution::Millis, |field| field.resolution())
    }

    /// Whether values are the stored whole numbers, or those divided by one factor.
    pub fn is_linear(&self) -> bool {
        self.field.as_ref().is_some_and(|field| {
            self.is_column()
                && self.is_numeric()
                && matches!(field.number_form(), None | Some(NumberForm::Whole | NumberForm::Scaled(_)))
        })
    }

    /// What whole numbers that are [linear](Source::is_linear) are divided by.
    pub fn factor(&self) -> f64 {
        match self.field.as_ref().and_then(|field| field.number_form()) {
            Some(NumberForm::Scaled(factor)) => factor,
            _ => 1.0,
        }
    }

    /// `missing` as the column would hold it.
    pub fn missing_number(&self) -> Result<Option<i64>> {
        let Some(value) = &self.missing else { return Ok(None) };
        if self.field.as_ref().is_some_and(|field| field.is_point()) {
            return Ok(Some(limber_mapping::geo::parse_point(value, true)?.checked("")?.encode()));
        }
        let Some(field) = &self.field else {
            if let Format::Date { format, zone } = &self.format {
                let text = crate::json::scalar_text(value).unwrap_or_default();
                return Ok(Some(match value.as_i64() {
                    Some(millis) => millis,
                    None => format.parse_with_math(&text, self.now_millis, false, zone)?,
                }));
            }
            let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
            let number = number.ok_or_else(|| {
                crate::json::number_format(crate::json::scalar_text(value).unwrap_or_default())
            })?;
            return Ok(Some(limber_mapping::number::sortable_from_f64(number)));
        };
        let context = match &self.format {
            Format::Date { format, zone } => {
                DateContext { now_millis: self.now_millis, zone, format: Some(format) }
            }
            _ => DateContext::at(self.now_millis),
        };
        // The lower end: a date such as `2020` is its first millisecond.
        Ok(match field.select_term(value, &context)? {
            Selection::Number(number) | Selection::Numbers { lower: number, .. } => {
                Some(self.resolution().millis(number))
            }
            _ => None,
        })
    }

    /// `missing` as a term.
    pub fn missing_term(&self) -> Result<Option<Vec<u8>>> {
        let Some(value) = &self.missing else { return Ok(None) };
        let text = crate::json::scalar_text(value).unwrap_or_default();
        match &self.field {
            Some(field) => Ok(Some(field.encode_term(&text)?)),
            None => Ok(Some(text.into_bytes())),
        }
    }

    /// A stored number as a double; dates are in milliseconds.
    #[inline]
    pub fn decode(&self, stored: i64) -> f64 {
        match &self.field {
            Some(field) if field.date().is_some() => stored as f64,
            Some(field) => field.decode_f64(stored),
            None => limber_mapping::number::f64_from_sortable(stored),
        }
    }

    /// Stored numbers as doubles, the field's type looked at once.
    pub fn decode_all(&self, stored: &[i64], out: &mut Vec<f64>) {
        out.clear();
        let form = match &self.field {
            None => NumberForm::Double,
            Some(field) => field.number_form().unwrap_or(NumberForm::Whole),
        };
        match form {
            NumberForm::Double | NumberForm::Float => {
                out.extend(stored.iter().map(|&value| limber_mapping::number::f64_from_sortable(value)));
            }
            NumberForm::Scaled(factor) => limber_script::divided(stored, factor, out),
            NumberForm::Unsigned => out.extend(stored.iter().map(|&value| u64_from_sortable(value) as f64)),
            NumberForm::Whole => out.extend(stored.iter().map(|&value| value as f64)),
        }
    }
}

/// Values that have places are spread over no more than this.
const PLACES_MAX: u64 = 1 << 16;

/// Numbers of one segment after another.
#[derive(Debug)]
pub struct NumberReader<'s> {
    path: String,
    missing: Option<i64>,
    column: Option<NumberColumn<'s>>,
    batch: Batch<i64>,
    filled: Vec<i64>,
    filled_positions: Vec<u32>,
    source: &'s Source,
    resolution: Resolution,
    runtime: Option<NumberSource<'s>>,
    segment: Option<&'s Segment>,
}

impl<'s> NumberReader<'s> {
    pub(crate) fn new(source: &'s Source) -> Result<NumberReader<'s>> {
        Ok(NumberReader {
            path: source.path().to_owned(),
            missing: source.missing_number()?,
            column: None,
            batch: Batch::default(),
            filled: Vec::new(),
            filled_positions: Vec::new(),
            source,
            resolution: source.resolution(),
            runtime: None,
            segment: None,
        })
    }

    /// The next documents are of this segment.
    pub fn begin(&mut self, segment: &'s Segment, is_mapped: bool) -> Result<()> {
        self.segment = Some(segment);
        if self.source.runtime.is_some() {
            self.runtime = NumberSource::open(segment, &self.path, self.source.runtime.as_ref())?;
        }
        let is_column = is_mapped && self.source.is_column();
        self.column = if is_column { segment.numbers(&self.path)? } else { None };
        Ok(())
    }

    /// The begun segment.
    pub fn segment(&self) -> Option<&'s Segment> {
        self.segment
    }

    /// The column as it is stored.
    pub fn column(&self) -> Option<&NumberColumn<'s>> {
        self.column.as_ref()
    }

    /// Whether every document of the segment has exactly one value.
    pub fn is_single(&self) -> bool {
        use limber_segment::columns::Cardinality;
        self.column.as_ref().is_some_and(|column| column.cardinality() == Cardinality::Single)
    }

    /// What stands for documents without a value.
    pub fn missing(&self) -> Option<i64> {
        self.missing
    }

    /// Whether no document has several values.
    pub fn has_one_at_most(&self) -> bool {
        use limber_segment::columns::Cardinality;
        self.column.as_ref().is_some_and(|column| column.cardinality() != Cardinality::Multi)
    }

    /// The smallest value of the begun segment and the number of values up to the largest, where those are few.
    pub fn place_range(&self) -> Option<(i64, usize)> {
        let column = self.column.as_ref()?;
        let ends = [column.min()?, column.max()?].map(|end| self.resolution.millis(end));
        let first = self.missing.map_or(ends[0], |missing| missing.min(ends[0]));
        let last = self.missing.map_or(ends[1], |missing| missing.max(ends[1]));
        (last.abs_diff(first) < PLACES_MAX).then(|| (first, last.abs_diff(first) as usize + 1))
    }

    /// Numbers of the values of `docs`, where those are a run of the column as it is stored.
    pub fn run(&self, docs: &[DocId]) -> Option<std::ops::Range<u64>> {
        let (first, last) = (*docs.first()?, *docs.last()?);
        let is_run = (last - first) as usize == docs.len() - 1;
        let is_stored = self.is_single() && self.resolution == Resolution::Millis;
        (is_run && is_stored).then(|| u64::from(first)..u64::from(last) + 1)
    }

    /// Whether documents that the column leaves out may have a value.
    pub fn has_missing(&self) -> bool {
        self.missing.is_some() || self.source.script.is_some() || self.source.runtime.is_some()
    }

    /// Smallest and largest of all values of the 4,096 documents around `doc`; `None` when that is not known cheaply or a document has none.
    pub fn window_range(&self, doc: DocId) -> Result<Option<(i64, i64)>> {
        use limber_segment::columns::Cardinality;
        match &self.column {
            Some(column) if column.cardinality() == Cardinality::Single => {
                let range = column.window_range(doc as usize / 4096)?;
                Ok(range.map(|(min, max)| (self.resolution.millis(min), self.resolution.millis(max))))
            }
            _ => Ok(None),
        }
    }

    /// The values of `docs`.
    pub fn load(&mut self, docs: &[DocId]) -> Result<Values<'_, i64>> {
        if let (Some(script), Some(segment)) = (&self.source.script, self.segment) {
            return self.load_scripted(script, segment, docs);
        }
        match (&self.column, &mut self.runtime) {
            (Some(column), _) => column.gather(docs, &mut self.batch)?,
            (None, Some(runtime)) => runtime.gather(docs, &mut self.batch)?,
            (None, None) => self.batch.reset(false),
        }
        if self.resolution != Resolution::Millis {
            for value in &mut self.batch.values {
                *value = self.resolution.millis(*value);
            }
        }
        if self.batch.is_aligned() {
            return Ok(Values { values: &self.batch.values, positions: None });
        }
        let Some(missing) = self.missing else {
            return Ok(Values { values: &self.batch.values, positions: Some(&self.batch.positions) });
        };
        fill(
            &self.batch.values,
            &self.batch.positions,
            docs.len(),
            missing,
            &mut self.filled,
            &mut self.filled_positions,
        );
        Ok(Values { values: &self.filled, positions: Some(&self.filled_positions) })
    }
}

impl NumberReader<'_> {
    /// What a script makes of `docs`: one number, several as a list, or none.
    fn load_scripted(
        &mut self,
        source: &ScriptSource,
        segment: &Segment,
        docs: &[DocId],
    ) -> Result<Values<'_, i64>> {
        let (values, positions) = (&mut self.filled, &mut self.filled_positions);
        values.clear();
        positions.clear();
        let mut script = source.script.open(segment)?;
        let mut numbers = Vec::new();
        let before = match &source.field {
            Some(field) => segment.numbers(&field.path)?.map(|column| (field, column)),
            None if script.block(docs, &mut numbers) => {
                values.extend(numbers.iter().map(|number| sortable_from_f64(*number)));
                return Ok(Values { values, positions: None });
            }
            None => None,
        };
        let mut stored = Vec::new();
        for (position, doc) in docs.iter().enumerate() {
            numbers.clear();
            match &before {
                None if source.field.is_some() => {}
                None => script.values(&[*doc], &[], |value| {
                    value.numbers(&mut numbers);
                    Ok::<(), RequestError>(())
                })?,
                Some((field, column)) => {
                    column.values(*doc, &mut stored)?;
                    for stored in &stored {
                        script.value_of(*doc, field, *stored, &mut numbers)?;
                    }
                }
            }
            if numbers.is_empty()
                && let Some(missing) = self.missing
            {
                values.push(missing);
                positions.push(position as u32);
            }
            // Values of a document ascend.
            numbers.sort_by(f64::total_cmp);
            values.extend(numbers.iter().map(|number| sortable_from_f64(*number)));
            positions.extend(std::iter::repeat_n(position as u32, numbers.len()));
        }
        Ok(Values { values, positions: Some(positions) })
    }
}

/// `values` with `missing` for every document that has none.
fn fill<T: Copy>(
    values: &[T],
    owners: &[u32],
    doc_count: usize,
    missing: T,
    out: &mut Vec<T>,
    out_positions: &mut Vec<u32>,
) {
    out.clear();
    out_positions.clear();
    let mut next = 0;
    for position in 0..doc_count as u32 {
        let start = next;
        while owners.get(next) == Some(&position) {
            next += 1;
        }
        if next == start {
            out.push(missing);
            out_positions.push(position);
        } else {
            out.extend_from_slice(&values[start..next]);
            out_positions.extend_from_slice(&owners[start..next]);
        }
    }
}

/// Ordinals of one segment after another.
#[derive(Debug)]
pub struct OrdinalReader<'s> {
    path: String,
    /// Ordinal that stands for `missing`: one past the last term.
    has_missing: bool,
    missing_ordinal: u32,
    column: Option<OrdinalColumn<'s>>,
    batch: Batch<u32>,
    filled: Vec<u32>,
    filled_positions: Vec<u32>,
}

impl<'s> OrdinalReader<'s> {
    pub(crate) fn new(path: &str, has_missing: bool) -> OrdinalReader<'s> {
        OrdinalReader {
            path: path.to_owned(),
            has_missing,
            missing_ordinal: 0,
            column: None,
            batch: Batch::default(),
            filled: Vec::new(),
            filled_positions: Vec::new(),
        }
    }

    /// Opens the segment's column and gives the number of ordinals, the one for `missing` (the last) included.
    pub fn begin(&mut self, segment: &'s Segment, is_mapped: bool) -> Result<usize> {
        self.column = if is_mapped { segment.ordinals(&self.path)? } else { None };
        let terms =
            if self.column.is_some() { segment.terms(&self.path)?.map_or(0, |terms| terms.len()) } else { 0 };
        self.missing_ordinal = terms as u32;
        Ok(terms as usize + usize::from(self.has_missing))
    }

    /// The ordinal that documents without a value get: one more than the last of the segment's terms. `None`:
    /// they get none.
    pub fn missing_ordinal(&self) -> Option<u32> {
        self.has_missing.then_some(self.missing_ordinal)
    }

    /// The column of the segment that is read; `None`: no document of it has a value.
    pub fn column(&self) -> Option<&OrdinalColumn<'s>> {
        self.column.as_ref()
    }

    /// The ordinals of `docs`.
    pub fn load(&mut self, docs: &[DocId]) -> Result<Values<'_, u32>> {
        match &self.column {
            Some(column) => column.gather(docs, &mut self.batch)?,
            None => {
                self.batch.values.clear();
                self.batch.positions.clear();
            }
        }
        let is_aligned = self.column.is_some() && self.batch.is_aligned();
        if is_aligned {
            return Ok(Values { values: &self.batch.values, positions: None });
        }
        if !self.has_missing {
            return Ok(Values { values: &self.batch.values, positions: Some(&self.batch.positions) });
        }
        let missing = self.missing_ordinal;
        fill(
            &self.batch.values,
            &self.batch.positions,
            docs.len(),
            missing,
            &mut self.filled,
            &mut self.filled_positions,
        );
        Ok(Values { values: &self.filled, positions: Some(&self.filled_positions) })
    }
}
