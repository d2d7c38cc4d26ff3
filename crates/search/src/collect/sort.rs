//! Sorts bound to a shard: "where does each key come from, and how is it shown?"

use std::sync::Arc;

use limber_mapping::date::{DateFormat, NANOS_PER_MILLI, Resolution, Zone};
use limber_mapping::number::{f64_from_sortable, sortable_from_f64, sortable_from_u64, u64_from_sortable};
use limber_mapping::{Field, NumberForm, RequestError};
use limber_script::ScriptContext;
use serde_json::Value;

use super::distance::Origins;
use super::nested::BoundNested;
use crate::context::columns::check_sortable;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::request::{Missing, NumericType, Order, SHARD_DOC, Sort};
use crate::score::float_to_json;
use crate::script::{BoundScript, RuntimeField};
use crate::values::json;
use crate::values::mode::Mode;
use crate::values::sort_key::SortKey;

/// The kind of a sort's keys; it must be the same on all shards of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Score,
    Doc,
    Long,
    Unsigned,
    Double,
    Float,
    Term,
}

impl KeyKind {
    /// Returns Lucene's name of the kind, for errors.
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::Score => "SCORE",
            KeyKind::Doc => "DOC",
            KeyKind::Long => "LONG",
            KeyKind::Unsigned => "UNSIGNED_LONG",
            KeyKind::Double => "DOUBLE",
            KeyKind::Float => "FLOAT",
            KeyKind::Term => "STRING",
        }
    }
}

/// How a column's value becomes a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Transform {
    /// Unchanged.
    None,
    /// A scaled float becomes a sortable double.
    Scaled(f64),
    /// An integer becomes a sortable double.
    ToDouble,
    /// A sortable double becomes an integer.
    ToLong,
    NanosToMillis,
    /// Only for dates in the range of nanoseconds: see [`Transform::check`].
    MillisToNanos,
    /// Nanoseconds become milliseconds as a sortable double.
    NanosToDouble,
}

impl Transform {
    /// Returns the key for a value of the column.
    #[inline]
    pub fn apply(self, value: i64) -> i64 {
        match self {
            Transform::None => value,
            Transform::Scaled(factor) => sortable_from_f64(value as f64 / factor),
            Transform::ToDouble => sortable_from_f64(value as f64),
            Transform::ToLong => f64_from_sortable(value) as i64,
            Transform::NanosToMillis => Resolution::Nanos.millis(value),
            Transform::MillisToNanos => value.saturating_mul(NANOS_PER_MILLI),
            Transform::NanosToDouble => sortable_from_f64(Resolution::Nanos.millis(value) as f64),
        }
    }

    /// Checks that all values can be transformed.
    ///
    /// # Errors
    /// A date is outside of the range of nanoseconds.
    pub fn check(self, values: &[i64]) -> Result<()> {
        const LAST: i64 = i64::MAX / NANOS_PER_MILLI;
        let beyond = |value: &&i64| !(0..=LAST).contains(*value);
        match values.iter().find(beyond) {
            Some(millis) if self == Transform::MillisToNanos => {
                let place = match *millis < 0 {
                    true => "before the epoch in 1970",
                    false => "after 2262-04-11T23:47:16.854775807",
                };
                let reason =
                    format!("milliSeconds [{millis}] are {place} and cannot be converted to nanoseconds");
                Err(RequestError::illegal_argument(reason).into())
            }
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct BoundSort {
    pub name: String,
    pub kind: KeyKind,
    pub descending: bool,
    pub mode: Mode,
    pub field: Option<Arc<Field>>,
    pub transform: Transform,
    /// Key of documents without a number.
    pub missing_number: i64,
    pub missing_terms: MissingTerms,
    /// The points that the keys are distances from.
    pub origins: Option<Arc<Origins>>,
    /// The format in which dates are shown.
    format: Option<Arc<DateFormat>>,
    /// The format of a date field itself.
    own_format: Option<Arc<DateFormat>>,
    /// The resolution of keys that are dates.
    resolution: Resolution,
    /// Number that the shard's document numbers start from in `_shard_doc`.
    pub doc_base: u64,
    /// `_script`: returns the number or string.
    pub script: Option<Arc<BoundScript>>,
    /// Set if the keys come from nested documents.
    pub nested: Option<Arc<BoundNested>>,
    /// The runtime field that the keys come from.
    pub runtime: Option<Arc<RuntimeField>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MissingTerms {
    First,
    Last,
    Term(Arc<[u8]>),
}

/// Binds the sorts of a request to a shard; empty when hits are sorted by score alone.
pub(crate) fn bind_sorts(
    sorts: &[Sort],
    shard: &ShardSnapshot,
    context: &SearchContext,
) -> Result<Vec<BoundSort>> {
    sorts.iter().map(|sort| BoundSort::bind(sort, shard, context)).collect()
}

impl BoundSort {
    fn bind(sort: &Sort, shard: &ShardSnapshot, context: &SearchContext) -> Result<BoundSort> {
        let descending = sort.order == Order::Descending;
        let mut bound = BoundSort {
            name: sort.field.clone(),
            kind: KeyKind::Doc,
            descending,
            mode: sort.mode.unwrap_or(if descending { Mode::Max } else { Mode::Min }),
            field: None,
            transform: Transform::None,
            missing_number: 0,
            missing_terms: MissingTerms::Last,
            origins: None,
            format: None,
            own_format: None,
            resolution: Resolution::Millis,
            doc_base: 0,
            script: None,
            nested: None,
            runtime: None,
        };
        let inner;
        let mut values_of = shard;
        if let Some(nested) = &sort.nested
            && let Some((nested, scope)) = BoundNested::bind(nested, shard, context)?
        {
            if sort.mode == Some(Mode::Median) {
                return Err(RequestError::illegal_argument("Unsupported sort mode: MEDIAN").into());
            }
            bound.nested = Some(Arc::new(nested));
            inner = scope;
            values_of = &inner;
        }
        if let Some(geo) = &sort.geo {
            if let (Some(field), None) = (shard.mapping.field(&geo.path), &sort.nested) {
                check_context(&field, shard)?;
            }
            let is_nearest_first = !descending && bound.mode == Mode::Min && bound.nested.is_none();
            let (origins, field) = Origins::bind(geo, is_nearest_first, shard)?;
            if let Some(field) = &field {
                bound.runtime = RuntimeField::bind(field, values_of)?;
            }
            (bound.kind, bound.field, bound.origins) = (KeyKind::Double, field, Some(Arc::new(origins)));
            // Documents without a point are the farthest, in either order.
            bound.missing_number = sortable_from_f64(f64::INFINITY);
            return Ok(bound);
        }
        if let Some(by) = &sort.script {
            let context = if by.is_text { ScriptContext::StringSort } else { ScriptContext::NumberSort };
            bound.kind = if by.is_text { KeyKind::Term } else { KeyKind::Double };
            bound.missing_number = sortable_from_f64(f64::MAX);
            bound.script = Some(Arc::new(BoundScript::bind(&by.script, context, values_of)?));
            return Ok(bound);
        }
        if sort.is_score() {
            bound.kind = KeyKind::Score;
            return Ok(bound);
        }
        if sort.is_doc() {
            return Ok(bound);
        }
        if sort.field == "_id" {
            return Err(RequestError::illegal_argument(
                "Fielddata access on the _id field is disallowed, you can re-enable it by updating the dynamic cluster setting: \
                 indices.id_field_data.enabled",
            )
            .into());
        }
        let like = match shard.mapping.field(&sort.field) {
            Some(field) => {
                if sort.nested.is_none() {
                    check_context(&field, shard)?;
                }
                check_sortable(&field, values_of)?;
                bound.runtime = RuntimeField::bind(&field, values_of)?;
                bound.field = Some(field.clone());
                field
            }
            None => unmapped_field(sort, shard)?,
        };
        bound.kind = match like.number_form() {
            None => KeyKind::Term,
            Some(NumberForm::Double) => KeyKind::Double,
            Some(NumberForm::Scaled(factor)) => {
                bound.transform = Transform::Scaled(factor);
                KeyKind::Double
            }
            Some(NumberForm::Float) => KeyKind::Float,
            Some(NumberForm::Unsigned) => KeyKind::Unsigned,
            Some(NumberForm::Whole) => KeyKind::Long,
        };
        let is_nanos = like.resolution() == Resolution::Nanos;
        if (is_nanos && sort.numeric_type.is_none()) || sort.numeric_type == Some(NumericType::DateNanos) {
            bound.resolution = Resolution::Nanos;
        }
        match (sort.numeric_type, bound.kind) {
            (None, _) => {}
            (Some(_), KeyKind::Term) => {
                return Err(RequestError::illegal_argument(format!(
                    "[numeric_type] option cannot be set on a non-numeric field, got {}",
                    like.type_name()
                ))
                .into());
            }
            (Some(_), KeyKind::Unsigned) => {
                return Err(RequestError::unsupported("[numeric_type] of a sort on an unsigned_long").into());
            }
            (Some(NumericType::DateNanos), _) if like.date().is_none() => {
                return Err(RequestError::illegal_argument(
                    "trying to convert a known date time formatter to a nanosecond one, wrong field used?",
                )
                .into());
            }
            (Some(NumericType::DateNanos), _) if !is_nanos => bound.transform = Transform::MillisToNanos,
            (Some(NumericType::Date), _) if is_nanos => bound.transform = Transform::NanosToMillis,
            (Some(NumericType::Double), _) if is_nanos => {
                (bound.kind, bound.transform) = (KeyKind::Double, Transform::NanosToDouble)
            }
            (Some(NumericType::Double), KeyKind::Long) => {
                (bound.kind, bound.transform) = (KeyKind::Double, Transform::ToDouble)
            }
            (Some(NumericType::Double), _) => bound.kind = KeyKind::Double,
            (Some(NumericType::Long | NumericType::Date), KeyKind::Double | KeyKind::Float) => {
                if bound.transform != Transform::None {
                    return Err(RequestError::unsupported("numeric_type [long] on a scaled_float").into());
                }
                (bound.kind, bound.transform) = (KeyKind::Long, Transform::ToLong);
            }
            _ => {}
        }
        if bound.kind == KeyKind::Unsigned && matches!(bound.mode, Mode::Sum | Mode::Avg | Mode::Median) {
            return Err(RequestError::unsupported(
                "a sort on an unsigned_long by a mode other than min and max",
            )
            .into());
        }
        if bound.kind == KeyKind::Term && matches!(bound.mode, Mode::Sum | Mode::Avg | Mode::Median) {
            return Err(shard
                .query_shard_exception("we only support AVG, MEDIAN and SUM on number based fields")
                .into());
        }
        bound.own_format = like.date().map(|(format, _)| format.clone());
        if let (Some(_), Some(pattern)) = (like.date(), &sort.format) {
            bound.format = Some(Arc::new(DateFormat::parse_list(pattern)?));
        } else if sort.format.is_some() {
            return Err(RequestError::unsupported("[format] of a sort on a field that is no date").into());
        }
        bound.bind_missing(&sort.missing, like.is_narrow() && sort.numeric_type.is_none())?;
        Ok(bound)
    }

    /// Returns the number that comes before or after all others. `is_narrow`: the field has at most 32
    /// bits, and its missing value is shown as the 32-bit extreme.
    fn extreme(&self, first: bool, is_narrow: bool) -> i64 {
        let (least, greatest) = match self.kind {
            KeyKind::Double | KeyKind::Float => {
                (sortable_from_f64(f64::NEG_INFINITY), sortable_from_f64(f64::INFINITY))
            }
            _ if is_narrow => (i32::MIN.into(), i32::MAX.into()),
            _ if self.resolution == Resolution::Nanos => (0, i64::MAX),
            _ => (i64::MIN, i64::MAX),
        };
        if first == self.descending { greatest } else { least }
    }

    /// Whether no number comes before (`first`) or after that of documents without a value.
    pub fn has_missing_at_end(&self, first: bool) -> bool {
        let is_narrow = self.field.as_ref().is_some_and(|field| field.is_narrow());
        self.missing_number == self.extreme(first, false)
            || is_narrow && self.missing_number == self.extreme(first, true)
    }

    fn bind_missing(&mut self, missing: &Missing, is_narrow: bool) -> Result<()> {
        match missing {
            Missing::Last => {
                self.missing_number = self.extreme(false, is_narrow);
                self.missing_terms = MissingTerms::Last;
            }
            Missing::First => {
                self.missing_number = self.extreme(true, is_narrow);
                self.missing_terms = MissingTerms::First;
            }
            Missing::Value(value) if self.kind == KeyKind::Term => {
                let text = json::scalar_text(value).unwrap_or_default();
                let term = match &self.field {
                    Some(field) => field.encode_term(&text)?,
                    None => text.into_bytes(),
                };
                self.missing_terms = MissingTerms::Term(term.into());
            }
            // Given in the form of a key, even if it is a string.
            Missing::Value(Value::String(text)) if self.date_format().is_some() => {
                self.missing_number = text.parse().map_err(|_| json::number_format(text))?;
            }
            Missing::Value(value) => self.missing_number = self.number_of(value)?,
        }
        Ok(())
    }

    /// Converts a number given in a request (`missing`, `search_after`) to a key.
    fn number_of(&self, value: &Value) -> std::result::Result<i64, RequestError> {
        let text = json::scalar_text(value).unwrap_or_default();
        match self.kind {
            KeyKind::Double | KeyKind::Float => {
                let number = limber_mapping::number::double_from_text(&text)
                    .ok_or_else(|| json::number_format(&text))?;
                let number = if self.kind == KeyKind::Float { f64::from(number as f32) } else { number };
                Ok(sortable_from_f64(number))
            }
            KeyKind::Unsigned => text.parse().map(sortable_from_u64).map_err(|_| json::number_format(&text)),
            _ => {
                if let (Some(format), Value::String(_)) = (self.date_format(), value) {
                    let instant = format.parse_instant_with_math(&text, 0, false, &Zone::Utc)?;
                    return self.resolution.stored(instant);
                }
                if let Value::Bool(flag) = value {
                    return Ok(i64::from(*flag));
                }
                let number = limber_mapping::number::integer_from_text(&text)
                    .ok_or_else(|| json::number_format(&text))?;
                i64::try_from(number.value).map_err(|_| json::number_format(&text))
            }
        }
    }

    fn date_format(&self) -> Option<Arc<DateFormat>> {
        self.format.clone().or_else(|| self.own_format.clone())
    }

    /// Makes the numbers of `_shard_doc` start from the shard's index among those that are searched.
    pub fn place_shard(&mut self, index: u32) {
        if self.name == SHARD_DOC {
            self.doc_base = u64::from(index) << 32;
        }
    }

    /// Whether the key depends on the score.
    pub fn needs_scores(&self) -> bool {
        self.kind == KeyKind::Score || self.script.as_ref().is_some_and(|script| script.uses_score())
    }

    /// Whether the keys are strings that no segment holds.
    pub fn makes_terms(&self) -> bool {
        self.kind == KeyKind::Term && (self.script.is_some() || self.runtime.is_some())
    }

    /// Whether documents without a term come before all others.
    pub fn missing_terms_first(&self) -> bool {
        self.missing_terms == MissingTerms::First
    }

    /// Converts a value of `search_after` to a key.
    pub fn key_of(&self, value: &Value) -> Result<SortKey> {
        let failed = |cause: RequestError| {
            Error::Request(
                RequestError::illegal_argument(format!(
                    "Failed to parse search_after value for field [{}].",
                    self.name
                ))
                .caused_by(cause),
            )
        };
        match self.kind {
            KeyKind::Score => {
                let text = json::scalar_text(value).unwrap_or_default();
                Ok(SortKey::Score(text.parse().map_err(|_| failed(json::number_format(&text)))?))
            }
            KeyKind::Term => {
                let Some(text) = json::scalar_text(value) else { return Ok(SortKey::Term(None)) };
                let term = match &self.field {
                    Some(field) => field.encode_term(&text).map_err(failed)?,
                    None => text.into_bytes(),
                };
                Ok(SortKey::Term(Some(term.into())))
            }
            _ if value.is_null() => Ok(SortKey::Number(self.missing_number)),
            _ => Ok(SortKey::Number(match value {
                Value::String(text) if text == "Infinity" || text == "-Infinity" => self.missing_number,
                // The error for a string that is no date says so.
                Value::String(_) if self.date_format().is_some() => self.number_of(value)?,
                other => self.number_of(other).map_err(failed)?,
            })),
        }
    }

    /// Converts a key to the value shown in a hit's `sort`.
    pub fn show(&self, key: &SortKey) -> Value {
        match key {
            SortKey::Score(score) => float_to_json(*score),
            SortKey::Term(None) => Value::Null,
            SortKey::Term(Some(term)) => match &self.field {
                Some(field) => field.decode_term(term).into(),
                None => String::from_utf8_lossy(term).into_owned().into(),
            },
            SortKey::Number(number) => match self.kind {
                KeyKind::Double | KeyKind::Float => {
                    let double = f64_from_sortable(*number);
                    match double {
                        f64::INFINITY => "Infinity".into(),
                        f64::NEG_INFINITY => "-Infinity".into(),
                        _ if self.kind == KeyKind::Float => float_to_json(double as f32),
                        _ => double.into(),
                    }
                }
                KeyKind::Unsigned => u64_from_sortable(*number).into(),
                _ => match &self.format {
                    Some(_) if *number == i64::MAX || *number == i64::MIN => Value::Null,
                    Some(format) => {
                        format.format_instant(self.resolution.instant(*number), &Zone::Utc).into()
                    }
                    None => (*number).into(),
                },
            },
        }
    }
}

/// Refuses fields of nested documents, unless the shard's documents are those nested documents or the
/// enclosing documents have the values too.
///
/// Source: `FieldSortBuilder#validateMissingNestedPath`.
fn check_context(field: &Field, shard: &ShardSnapshot) -> Result<()> {
    let scope = shard.nested.as_ref().map(|scope| scope.nested.space);
    let mut around = shard.mapping.nested_around(&field.path);
    while let Some(nested) = around.filter(|nested| Some(nested.space) != scope) {
        if !nested.include_in_root {
            return Err(shard
                .query_shard_exception(format!(
                    "it is mandatory to set the [nested] context on the nested sort field: [{}].",
                    field.path
                ))
                .into());
        }
        around = shard.mapping.nested_around(&nested.path);
    }
    Ok(())
}

/// Returns a field of the sort's `unmapped_type`, for a sort by a field that is not mapped.
fn unmapped_field(sort: &Sort, shard: &ShardSnapshot) -> Result<Arc<Field>> {
    let Some(unmapped_type) = &sort.unmapped_type else {
        return Err(shard
            .query_shard_exception(format!("No mapping found for [{}] in order to sort on", sort.field))
            .into());
    };
    let field = limber_mapping::field_of_type(&sort.field, unmapped_type)
        .filter(|field| field.doc_values && field.check_sortable().is_ok());
    let unknown = || RequestError::illegal_argument(format!("No mapper found for type [{unmapped_type}]"));
    Ok(field.map(Arc::new).ok_or_else(unknown)?)
}
