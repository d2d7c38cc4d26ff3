//! The field or script of an aggregation on one shard: its values, and how they are formatted.

use std::sync::Arc;

use limber_mapping::date::Resolution;
use limber_mapping::geo::{Surface, encode_on_plane, parse_point, read_position};
use limber_mapping::number::{sortable_from_f64, u64_from_sortable};
use limber_mapping::{
    DateContext, Field, Mapping, NumberForm, RangeKind, RequestError, Selection, SummaryColumn, ValueKind,
};
use limber_script::{GivenValue, ScriptContext};
use serde_json::{Value, json};

use super::super::options::{SCORED, ValuesOptions};
use super::super::values::format::Format;
use super::super::values::refused::{check_cartesian_points, check_ranges, check_shapes, not_supported};
use super::super::values::value_type::ValueType;
use super::accepts::Accepts;
use crate::context::{ShardSnapshot, columns};
use crate::error::Result;
use crate::script::{BoundScript, RuntimeField, field_or_id};

/// An aggregation's field on one shard.
#[derive(Debug, Clone)]
pub struct Source {
    /// The field's name as given in the request.
    pub name: String,
    /// `None` if the field is not mapped on this shard.
    pub field: Option<Arc<Field>>,
    /// How values are shown.
    pub format: Format,
    /// The value of documents without a value.
    pub missing: Option<Value>,
    /// The time of `now` in date math, in milliseconds since 1970.
    pub now_millis: i64,
    /// Computes the values, which are then doubles.
    pub(in crate::aggregation) script: Option<ScriptSource>,
    /// Computes the values of a runtime field.
    pub(in crate::aggregation) runtime: Option<Arc<RuntimeField>>,
    /// Whether the whole numbers of the field are turned into doubles, because `missing` is a fraction.
    pub(in crate::aggregation) is_widened: bool,
    /// The numbers that it reads, if the field's values are summaries.
    pub(in crate::aggregation) summary: Option<SummaryColumn>,
    /// The surface of the points, if values are points.
    pub(in crate::aggregation) surface: Option<Surface>,
}

/// A script on one shard, and the field whose values it gets as `_value`.
#[derive(Debug, Clone)]
pub(in crate::aggregation) struct ScriptSource {
    /// Computes the values of a document.
    pub script: Arc<BoundScript>,
    /// The field whose values it transforms; `None` if it computes values without one.
    pub field: Option<Arc<Field>>,
    /// The type in which it gets them.
    pub given: GivenValue,
    pub gives: Gives,
}

/// The type that a script's values are converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::aggregation) enum Gives {
    /// Terms.
    Texts,
    /// Doubles.
    Numbers,
    /// Integers, such as the milliseconds of dates.
    Whole,
}

impl Gives {
    /// Returns how a column would store a number that a script returned.
    pub fn stored(self, number: f64) -> i64 {
        match self {
            Gives::Whole => number as i64,
            _ => sortable_from_f64(number),
        }
    }

    /// Returns the type that an aggregation expects from a script, unless a field or `value_type` says
    /// otherwise. Source: `defaultValueSourceType` of Elasticsearch's aggregation builders.
    fn of(
        options: &ValuesOptions,
        accepts: Accepts,
        aggregation: &str,
        field: Option<&Field>,
    ) -> Result<Gives> {
        let takes_texts = matches!(
            aggregation,
            "terms"
                | "cardinality"
                | "composite"
                | "diversified_sampler"
                | "missing"
                | "multi_terms"
                | "rare_terms"
                | "value_count"
        );
        let wanted = match (accepts, field) {
            (Accepts::Dates, _) => Gives::Whole,
            (Accepts::Terms, _) => Gives::Texts,
            (_, Some(field)) if field.is_numeric() => Gives::Numbers,
            _ if takes_texts => Gives::Texts,
            _ => Gives::Numbers,
        };
        match (options.value_type, wanted) {
            (None, _) => Ok(wanted),
            (Some(ValueType::Whole | ValueType::Date), Gives::Texts | Gives::Whole) if field.is_none() => {
                Ok(Gives::Whole)
            }
            (Some(ValueType::Truth), Gives::Texts) if field.is_none() => Ok(Gives::Whole),
            (Some(ValueType::Floating), Gives::Texts) => Ok(Gives::Numbers),
            (Some(ValueType::Whole | ValueType::Unsigned | ValueType::Floating), Gives::Numbers)
            | (Some(ValueType::Text), Gives::Texts) => Ok(wanted),
            (Some(ValueType::Text), _) if aggregation == "value_count" => Ok(wanted),
            (Some(value_type), _) => Err(RequestError::unsupported(format!(
                "[value_type: {}] of a script in the aggregation [{aggregation}]",
                value_type.name()
            ))
            .into()),
        }
    }
}

/// Converts `missing` of a boolean field to 0 or 1. Source: `DocValueFormat.BOOLEAN`.
fn truth(value: &Value) -> Result<i64> {
    match value {
        Value::Bool(truth) => Ok(i64::from(*truth)),
        Value::Number(number) => Ok(number.as_f64().unwrap_or(0.0) as i64),
        other => match crate::values::json::scalar_text(other).unwrap_or_default().as_str() {
            "true" => Ok(1),
            "false" => Ok(0),
            text => Err(RequestError::illegal_argument(format!(
                "Cannot parse boolean [{text}], expected either [true] or [false]"
            ))
            .into()),
        },
    }
}

/// Returns the number that a value is, or the text of.
fn number_in(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Whether `missing` is a fraction and the field holds whole numbers. Source: Elasticsearch's
/// `MissingValues#replaceMissing`.
fn is_fraction(options: &ValuesOptions, field: &Field) -> bool {
    let Some(missing) = &options.missing else { return false };
    let is_read_as_number = missing.is_number() || field.is_quantity();
    let is_whole = matches!(field.number_form(), Some(NumberForm::Whole));
    is_whole && is_read_as_number && number_in(missing).is_some_and(|number| number.fract() != 0.0)
}

/// Returns the named field, or a substitute if it is not mapped and `value_type` is given.
fn field_of(
    options: &ValuesOptions,
    accepts: Accepts,
    aggregation: &str,
    shard: &ShardSnapshot,
) -> Result<Option<Arc<Field>>> {
    columns::check_name(&options.field)?;
    match (field_or_id(&shard.mapping, &options.field), options.value_type) {
        (Some(field), Some(value_type)) if !value_type.fits(&field) => {
            let (own, given) = (field.type_name(), value_type.name());
            let reason = format!("Field type [{own}] is incompatible with specified value_type [{given}]");
            Err(RequestError::illegal_argument(reason).into())
        }
        (None, Some(value_type)) if options.script.is_none() && aggregation != "significant_terms" => {
            stand_in(&options.field, value_type, accepts, aggregation, shard).map(Some)
        }
        (field, _) => Ok(field),
    }
}

/// Makes a field without values for a name that is not mapped, of the type that the request gives.
fn stand_in(
    name: &str,
    value_type: ValueType,
    accepts: Accepts,
    aggregation: &str,
    shard: &ShardSnapshot,
) -> Result<Arc<Field>> {
    let definition = json!({"properties": {name: {"type": value_type.field_type()}}});
    let mapping = Mapping::restore(&definition, shard.mapping.settings())?;
    let field = mapping.field(name).ok_or_else(|| RequestError::illegal_argument("a name of a field"))?;
    match accepts.allows(&field) {
        true => Ok(field),
        false => Err(RequestError::illegal_argument(format!(
            "unmapped field with value source type [{}] is not supported for aggregation [{aggregation}]",
            value_type.field_type()
        ))
        .into()),
    }
}

impl ScriptSource {
    /// Takes values of a script, which gets those of `field` if there is one.
    fn over(
        field: Option<Arc<Field>>,
        script: BoundScript,
        gives: Gives,
        aggregation: &str,
    ) -> Result<ScriptSource> {
        if script.uses_score() && !SCORED.contains(&aggregation) {
            return Err(RequestError::unsupported("[_score] in the script of an aggregation").into());
        }
        let texts = field.as_ref().filter(|field| gives == Gives::Texts && field.term_codec().is_some());
        if let Some(Field { path, .. }) = texts.map(|field| &**field) {
            let what =
                format!("[script] over the values of field [{path}] in the aggregation [{aggregation}]");
            return Err(RequestError::unsupported(what).into());
        }
        let is_whole = gives == Gives::Whole && aggregation != "date_range";
        let given = if is_whole { GivenValue::Long } else { GivenValue::Double };
        Ok(ScriptSource { script: Arc::new(script), field, given, gives })
    }
}

impl Source {
    /// Resolves the field. Fails with Elasticsearch's messages for text fields, fields without doc values,
    /// and types that `aggregation` does not accept.
    pub fn bind(
        options: &ValuesOptions,
        accepts: Accepts,
        aggregation: &str,
        shard: &ShardSnapshot,
        now_millis: i64,
    ) -> Result<Source> {
        let field = field_of(options, accepts, aggregation, shard)?;
        if let Some(field) = &field {
            match &field.values {
                ValueKind::Point => columns::check_column(field, shard)?,
                ValueKind::CartesianPoint => {
                    columns::check_column(field, shard)?;
                    check_cartesian_points(field, options, aggregation)?;
                }
                ValueKind::Shape { .. } | ValueKind::CartesianShape { .. } => {
                    columns::check_column(field, shard)?;
                    check_shapes(field, options, aggregation)?;
                }
                ValueKind::Range(kind) => {
                    columns::check_column(field, shard)?;
                    check_ranges(field, kind, options, aggregation)?;
                }
                _ if matches!(accepts, Accepts::Places | Accepts::CartesianPlaces) => {}
                _ => columns::check_sortable(field, shard)?,
            }
            let is_checked = field.has_shapes() || field.range_kind().is_some();
            if !is_checked && !accepts.allows(field) {
                return Err(not_supported(field, aggregation).into());
            }
        }
        let (script, field) = match &options.script {
            None => (None, field),
            Some(script) => {
                let script = BoundScript::bind(script, ScriptContext::Aggregation, shard)?;
                let gives = Gives::of(options, accepts, aggregation, field.as_deref())?;
                (Some(ScriptSource::over(field, script, gives, aggregation)?), None)
            }
        };
        let shown_as = field.as_ref().or(script.as_ref().and_then(|source| source.field.as_ref()));
        let format = match shown_as {
            None if accepts == Accepts::Dates => Format::date(options)?,
            None if script.is_some() && options.value_type == Some(ValueType::Date) => Format::date(options)?,
            None if script.is_some() && options.value_type == Some(ValueType::Truth) => Format::Boolean,
            _ => Format::of(shown_as.map(|field| &**field), options)?,
        };
        let runtime = match &field {
            Some(field) => RuntimeField::bind(field, shard)?,
            None => None,
        };
        let is_widened =
            accepts != Accepts::Dates && field.as_deref().is_some_and(|field| is_fraction(options, field));
        let source = Source {
            surface: accepts.surface_of(field.as_deref()),
            field,
            format,
            missing: options.missing.clone(),
            now_millis,
            script,
            runtime,
            is_widened,
            ..Source::unmapped(&options.field)
        };
        source.check_missing()?;
        Ok(source)
    }

    /// Refuses a `missing` that the field cannot read, also for aggregations that only ask whether there is
    /// one.
    fn check_missing(&self) -> Result<()> {
        match &self.field {
            Some(field) if field.has_shapes() || field.range_kind().is_some() => Ok(()),
            Some(_) if self.is_numeric() => self.missing_number().map(drop),
            Some(_) => self.missing_term().map(drop),
            None => Ok(()),
        }
    }

    /// Makes the source of a field that is not mapped.
    pub fn unmapped(name: &str) -> Source {
        Source {
            name: name.to_owned(),
            field: None,
            format: Format::Raw,
            missing: None,
            now_millis: 0,
            script: None,
            runtime: None,
            is_widened: false,
            summary: None,
            surface: None,
        }
    }

    /// Whether values are read from the segments' columns as they are.
    pub fn is_column(&self) -> bool {
        self.reads_column() && !self.is_widened
    }

    /// Whether values come from the segments' columns.
    pub(super) fn reads_column(&self) -> bool {
        self.field.is_some() && self.script.is_none() && self.runtime.is_none()
    }

    /// Whether the values are terms that are not in any segment's dictionary.
    pub fn computes_terms(&self) -> bool {
        (self.runtime.is_some() || self.script.is_some()) && !self.is_numeric()
    }

    /// Whether a script computes integers.
    fn makes_whole(&self) -> bool {
        self.script.as_ref().is_some_and(|script| script.gives == Gives::Whole)
    }

    /// Whether the values are shapes.
    pub fn has_shapes(&self) -> bool {
        self.field.as_ref().is_some_and(|field| field.has_shapes())
    }

    /// Returns the type of the ranges' ends, if the values are ranges.
    pub fn range_kind(&self) -> Option<&RangeKind> {
        self.field.as_ref().and_then(|field| field.range_kind())
    }

    /// Returns the full name of the field.
    pub fn path(&self) -> &str {
        self.field.as_ref().map_or(&self.name, |field| &field.path)
    }

    /// Whether the field is mapped, or there is a script.
    pub fn is_mapped(&self) -> bool {
        self.field.is_some() || self.script.is_some()
    }

    /// Whether the values are numbers in a column. An unmapped field counts as a number if `missing` is one.
    pub fn is_numeric(&self) -> bool {
        match &self.script {
            Some(script) => script.gives != Gives::Texts,
            None => self.field.as_ref().is_some_and(|field| field.is_numeric()),
        }
    }

    /// Whether the values are doubles rather than longs.
    pub fn is_floating(&self) -> bool {
        self.script.as_ref().is_some_and(|script| script.gives == Gives::Numbers)
            || self.field.as_ref().is_some_and(|field| field.is_floating())
            || self.is_widened
    }

    /// Returns the resolution of the column's dates. Aggregations use milliseconds for all dates, as in
    /// Elasticsearch: values of a column are converted by [`Resolution::millis`], and [`Source::decode`]
    /// expects the converted values.
    pub fn resolution(&self) -> Resolution {
        self.field.as_ref().map_or(Resolution::Millis, |field| field.resolution())
    }

    /// Whether the values are the stored integers, or these divided by a constant factor.
    pub fn is_linear(&self) -> bool {
        self.field.as_ref().is_some_and(|field| {
            self.is_column()
                && self.is_numeric()
                && matches!(field.number_form(), None | Some(NumberForm::Whole | NumberForm::Scaled(_)))
        })
    }

    /// Returns the factor that stored integers are divided by, if they are [linear](Source::is_linear).
    pub fn factor(&self) -> f64 {
        match self.field.as_ref().and_then(|field| field.number_form()) {
            Some(NumberForm::Scaled(factor)) => factor,
            _ => 1.0,
        }
    }

    /// Returns `missing` as the column would store it.
    pub fn missing_number(&self) -> Result<Option<i64>> {
        let Some(value) = &self.missing else { return Ok(None) };
        if self.is_widened {
            return Ok(number_in(value).map(sortable_from_f64));
        }
        match self.surface {
            Some(Surface::Globe) => return Ok(Some(parse_point(value, true)?.checked("")?.encode())),
            Some(Surface::Plane) => return Ok(Some(encode_on_plane(read_position(value, "", true)?)?)),
            None => {}
        }
        let Some(field) = &self.field else {
            if let Format::Date { format, zone } = &self.format {
                let text = crate::values::json::scalar_text(value).unwrap_or_default();
                return Ok(Some(match value.as_i64() {
                    Some(millis) => millis,
                    None => format.parse_with_math(&text, self.now_millis, false, zone)?,
                }));
            }
            let number = number_in(value).ok_or_else(|| {
                crate::values::json::number_format(
                    crate::values::json::scalar_text(value).unwrap_or_default(),
                )
            })?;
            return Ok(Some(limber_mapping::number::sortable_from_f64(number)));
        };
        if field.is_bool() {
            return truth(value).map(Some);
        }
        let context = match &self.format {
            Format::Date { format, zone } => {
                DateContext { now_millis: self.now_millis, zone, format: Some(format) }
            }
            _ => DateContext::at(self.now_millis),
        };
        // The lower end of a range of numbers: a date such as `2020` stands for its first millisecond.
        Ok(match field.select_term(value, &context)? {
            Selection::Number(number) | Selection::Numbers { lower: number, .. } => {
                Some(self.resolution().millis(number))
            }
            _ => None,
        })
    }

    /// Returns `missing` as a term.
    pub fn missing_term(&self) -> Result<Option<Vec<u8>>> {
        let Some(value) = &self.missing else { return Ok(None) };
        let text = crate::values::json::scalar_text(value).unwrap_or_default();
        match &self.field {
            Some(field) => Ok(Some(field.encode_term(&text)?)),
            None => Ok(Some(text.into_bytes())),
        }
    }

    /// Converts a stored number to a double; dates are in milliseconds.
    #[inline]
    pub fn decode(&self, stored: i64) -> f64 {
        match &self.field {
            None if self.makes_whole() => stored as f64,
            Some(_) if self.is_widened => limber_mapping::number::f64_from_sortable(stored),
            Some(field) if field.date().is_some() => stored as f64,
            Some(field) => field.decode_f64(stored),
            None => limber_mapping::number::f64_from_sortable(stored),
        }
    }

    /// Converts stored numbers to doubles, with a single test of the field's type.
    pub fn decode_all(&self, stored: &[i64], out: &mut Vec<f64>) {
        out.clear();
        let form = match &self.field {
            None if self.makes_whole() => NumberForm::Whole,
            None => NumberForm::Double,
            Some(_) if self.is_widened => NumberForm::Double,
            Some(field) => field.number_form().unwrap_or(NumberForm::Whole),
        };
        match form {
            NumberForm::Double | NumberForm::Float => {
                out.extend(stored.iter().map(|&value| limber_mapping::number::f64_from_sortable(value)));
            }
            NumberForm::Scaled(factor) => limber_codec::decimal::divided(stored, factor, out),
            NumberForm::Unsigned => out.extend(stored.iter().map(|&value| u64_from_sortable(value) as f64)),
            NumberForm::Whole => out.extend(stored.iter().map(|&value| value as f64)),
        }
    }
}
