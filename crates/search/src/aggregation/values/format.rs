//! Formats values and keys. Source: Elasticsearch's `DocValueFormat`.

use std::sync::Arc;

use limber_mapping::date::{DateFormat, Zone};
use limber_mapping::number::{java_double, u64_from_sortable};
use limber_mapping::{Field, RangeKind, RequestError, TermCodec, ValueKind};
use limber_work as work;
use serde_json::{Number, Value};

use super::claimed;
use super::decimal_format::DecimalFormat;
use crate::aggregation::options::ValuesOptions;
use crate::error;

/// How a value is formatted as a string.
#[derive(Debug, Clone)]
pub enum Format {
    /// Numbers and terms as they are, without an `..._as_string`.
    Raw,
    /// The same, for stored unsigned longs.
    Unsigned,
    Boolean,
    /// Terms that encode a string.
    Coded(TermCodec),
    Date {
        format: Arc<DateFormat>,
        zone: Zone,
    },
    Decimal(Arc<DecimalFormat>),
}

impl Format {
    /// Returns the format of a field's values: that of the field type, modified by `format` and `time_zone`.
    pub fn of(field: Option<&Field>, options: &ValuesOptions) -> Result<Format, RequestError> {
        if let Some((field, codec)) = field.and_then(|field| Some((field, field.term_codec()?))) {
            return refuse(options, field.type_name()).map(|()| Format::Coded(codec));
        }
        match field.map(|field| &field.values) {
            Some(ValueKind::Date { format, .. } | ValueKind::Range(RangeKind::Date { format })) => {
                let format = match &options.format {
                    Some(own) => Arc::new(format.with_list(own)?),
                    None => format.clone(),
                };
                Ok(Format::Date { format, zone: zone(options)? })
            }
            Some(ValueKind::UnsignedLong) => match &options.format {
                None => Ok(Format::Unsigned),
                Some(_) => Err(RequestError::unsupported("[format] of an unsigned_long")),
            },
            Some(ValueKind::Bool) => refuse(options, "boolean").map(|()| Format::Boolean),
            Some(ValueKind::Range(_)) => match (field, &options.format) {
                (Some(field), Some(_)) => Err(field.without_formats()),
                _ => Ok(Format::Raw),
            },
            Some(ValueKind::Keyword | ValueKind::Text) => refuse(options, "keyword").map(|()| Format::Raw),
            _ => match &options.format {
                Some(pattern) => Ok(Format::Decimal(Arc::new(DecimalFormat::parse(pattern)?))),
                None => Ok(Format::Raw),
            },
        }
    }

    /// Returns the format of dates without a field.
    pub fn date(options: &ValuesOptions) -> Result<Format, RequestError> {
        let format = match &options.format {
            Some(own) => Arc::new(DateFormat::parse_list(own)?),
            None => limber_mapping::date::default_format(),
        };
        Ok(Format::Date { format, zone: zone(options)? })
    }

    /// Whether values are shown as they are, without `key_as_string` or `value_as_string`.
    pub fn is_raw(&self) -> bool {
        matches!(self, Format::Raw | Format::Unsigned)
    }

    /// Formats a double as a string; dates and booleans convert it as Elasticsearch's `format(double)` does.
    ///
    /// A pattern of 512 bytes at most makes texts that are too short to be claimed one by one. What was made
    /// before is measured by each call, so that neither points, buckets nor hits times the length of a format
    /// can go beyond the memory limit.
    ///
    /// # Errors
    /// Fails when there is no memory for what was made before, or when the client has disconnected.
    pub fn text(&self, value: f64) -> error::Result<String> {
        work::check_beyond_deadline()?;
        Ok(match self {
            Format::Raw | Format::Unsigned | Format::Coded(_) => java_double(value),
            Format::Boolean => (value != 0.0).to_string(),
            Format::Date { format, zone } => format.format_millis_in(value as i64, zone),
            Format::Decimal(format) => format.format(value),
        })
    }

    /// Formats a long as a string.
    ///
    /// # Errors
    /// As for [`Format::text`].
    pub fn text_of_long(&self, value: i64) -> error::Result<String> {
        work::check_beyond_deadline()?;
        Ok(match self {
            Format::Raw | Format::Coded(_) => value.to_string(),
            Format::Unsigned => u64_from_sortable(value).to_string(),
            Format::Boolean => (value != 0).to_string(),
            Format::Date { format, zone } => format.format_millis_in(value, zone),
            Format::Decimal(format) => format.format_whole(value),
        })
    }

    /// Formats a term as a string.
    ///
    /// # Errors
    /// Fails when there is no memory for it, or when the client has disconnected.
    pub fn text_of_term(&self, term: &[u8]) -> error::Result<String> {
        match self {
            Format::Coded(codec) => {
                work::claim(term.len() as u64)?;
                Ok(codec.decode(term))
            }
            _ => claimed::term(term),
        }
    }

    /// Converts a long to a JSON number.
    pub fn long(&self, value: i64) -> Value {
        match self {
            Format::Unsigned => u64_from_sortable(value).into(),
            _ => value.into(),
        }
    }

    /// Formats a statistic's `..._as_string`. As in Elasticsearch, booleans stay booleans, and dates beyond
    /// the range of a long are null.
    ///
    /// # Errors
    /// As for [`Format::text`].
    pub fn value(&self, value: f64) -> error::Result<Value> {
        Ok(match self {
            Format::Boolean => (value != 0.0).into(),
            Format::Date { .. } if value >= i64::MAX as f64 || value <= i64::MIN as f64 => Value::Null,
            _ => self.text(value)?.into(),
        })
    }
}

fn refuse(options: &ValuesOptions, kind: &str) -> Result<(), RequestError> {
    match &options.format {
        None => Ok(()),
        Some(_) => Err(RequestError::illegal_argument(format!(
            "Field [{}] of type [{kind}] doesn't support formatting with format [{}]",
            options.field,
            options.format.as_deref().unwrap_or_default()
        ))),
    }
}

/// Returns the zone of `time_zone`; the default is UTC.
pub fn zone(options: &ValuesOptions) -> Result<Zone, RequestError> {
    options.time_zone.as_deref().map_or(Ok(Zone::Utc), Zone::parse)
}

/// Converts a double to JSON. NaN and infinities become strings, as in Elasticsearch.
pub fn double(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| java_double(value).into(), Value::Number)
}
