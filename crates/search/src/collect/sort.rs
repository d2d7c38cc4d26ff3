//! A sort bound to a shard: "what is the key of this value, and how is it shown?"

use std::sync::Arc;

use limber_mapping::date::{DateFormat, NANOS_PER_MILLI, Resolution, Zone};
use limber_mapping::number::{f64_from_sortable, sortable_from_f64, sortable_from_u64, u64_from_sortable};
use limber_mapping::{Field, IntegerWidth, RequestError, ValueKind};
use serde_json::Value;

use super::distance::Origins;
use super::nested::BoundNested;
use crate::error::{Error, Result};
use crate::request::{Missing, SHARD_DOC};
use crate::score::float_to_json;
use crate::script::{BoundScript, RuntimeField};
use crate::values::json;
use crate::values::mode::MultiValueMode;
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
    pub mode: MultiValueMode,
    pub field: Option<Arc<Field>>,
    pub transform: Transform,
    /// Key of documents without a number.
    pub missing_number: i64,
    pub missing_terms: MissingTerms,
    /// The points that the keys are distances from.
    pub origins: Option<Arc<Origins>>,
    /// The format in which dates are shown.
    pub(super) format: Option<Arc<DateFormat>>,
    /// The format of a date field itself.
    pub(super) own_format: Option<Arc<DateFormat>>,
    /// The resolution of keys that are dates.
    pub(super) resolution: Resolution,
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

impl BoundSort {
    /// Returns the number that comes before or after all others. `is_narrow`: the field has at most 32
    /// bits, and its missing value is shown as the 32-bit extreme.
    fn extreme(&self, first: bool, is_narrow: bool) -> i64 {
        self.extreme_of(self.kind, first, is_narrow)
    }

    /// Gives documents without a value the key that they have among whole numbers, as a double.
    pub(super) fn place_missing_as_whole(&mut self, missing: &Missing, is_narrow: bool) {
        let is_first = match missing {
            Missing::First => true,
            Missing::Last => false,
            Missing::Value(_) => return,
        };
        let whole = self.extreme_of(KeyKind::Long, is_first, is_narrow);
        self.missing_number = sortable_from_f64(whole as f64);
    }

    fn extreme_of(&self, kind: KeyKind, first: bool, is_narrow: bool) -> i64 {
        let (least, greatest) = match kind {
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

    pub(super) fn bind_missing(&mut self, missing: &Missing, is_narrow: bool) -> Result<()> {
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
                if let (true, Value::Bool(flag)) = (self.has_booleans(), value) {
                    return Ok(i64::from(*flag));
                }
                let number = limber_mapping::number::integer_from_text(&text)
                    .ok_or_else(|| json::number_format(&text))?;
                i64::try_from(number.value).map_err(|_| json::number_format(&text))
            }
        }
    }

    fn has_booleans(&self) -> bool {
        self.field.as_ref().is_some_and(|field| field.is_bool())
    }

    /// Converts a value of `search_after` to the key of a number. Source: Elasticsearch's
    /// `SearchAfterBuilder#convertValueFromSortType`.
    fn number_after(&self, value: &Value) -> std::result::Result<i64, RequestError> {
        let is_whole = !matches!(self.kind, KeyKind::Double | KeyKind::Float | KeyKind::Unsigned);
        let width = self.field.as_ref().map(|field| &field.values);
        match value {
            // Java's casts: a number that is beyond all keys comes after or before them.
            Value::Number(number) if is_whole => Ok(match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => whole,
                (None, double) => double.unwrap_or(0.0) as i64,
            }),
            Value::String(text) if self.has_booleans() => match text.as_str() {
                "true" => Ok(1),
                "false" => Ok(0),
                _ => Err(RequestError::illegal_argument(format!(
                    "Cannot parse boolean [{text}], expected either [true] or [false]"
                ))),
            },
            // Only keys of 64 bits are also read as doubles.
            Value::String(text)
                if matches!(width, Some(ValueKind::Long(width)) if *width != IntegerWidth::Long)
                    && text.parse::<i64>().is_err() =>
            {
                Err(json::number_format(text))
            }
            other => self.number_of(other),
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
    pub fn computes_terms(&self) -> bool {
        self.kind == KeyKind::Term && (self.script.is_some() || self.runtime.is_some())
    }

    /// Whether nothing is known about the keys before they are read, so that no document can be skipped. Keys
    /// from filtered nested documents do not count: each thread would evaluate the filters for all of these.
    pub fn has_unbounded_keys(&self) -> bool {
        match &self.nested {
            Some(nested) => !nested.has_filters(),
            None => {
                let is_computed = self.script.is_some() || self.runtime.is_some() || self.origins.is_some();
                is_computed || self.kind == KeyKind::Score
            }
        }
    }

    /// Whether documents without a term come before all others.
    pub fn missing_terms_first(&self) -> bool {
        self.missing_terms == MissingTerms::First
    }

    /// Converts a value of `search_after` to a key.
    pub fn key_of(&self, value: &Value) -> Result<SortKey> {
        let failed = |cause: RequestError| {
            // Lucene's sorts by score and by document have no field.
            let name = if matches!(&*self.name, "_doc" | "_score") { "null" } else { &*self.name };
            Error::Request(
                RequestError::illegal_argument(format!(
                    "Failed to parse search_after value for field [{name}]."
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
                Value::Bool(flag) if self.date_format().is_some() => {
                    self.number_of(&flag.to_string().into())?
                }
                other => self.number_after(other).map_err(failed)?,
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
                        _ if double.is_nan() => "NaN".into(),
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
