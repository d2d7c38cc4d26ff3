//! `date` and, with nanosecond resolution, `date_nanos`. Source: Elasticsearch's `DateFieldMapper`.

use std::sync::Arc;

use serde_json::Value;

use crate::RequestError;
use crate::date::{DateFormat, Instant, Locale, MILLIS_FORMAT, NANOS_FORMAT, Resolution, Zone};
use crate::field::{
    BOOST, Cause, Check, DOC_VALUES, DateContext, Field, FieldType, IGNORE_MALFORMED, INDEX, IntegerWidth,
    KEEP, LOCALE, Leaf, META, NULL_VALUE, ON_SCRIPT_ERROR, Param, RangeEnd, Reads, SCRIPT, SKIP_LIST, STORE,
    Scalar, Selection, Typed, Update, ValueKind, Wanted, number_range, numbers, param,
};

#[derive(Debug)]
pub(super) struct Dated(pub Resolution);

static MILLIS: &[Param] = &params("\"strict_date_optional_time||epoch_millis\"");

static NANOS: &[Param] = &params("\"strict_date_optional_time_nanos||epoch_millis\"");

/// Returns the parameters of the date types. `format` is the default format.
const fn params(format: &'static str) -> [Param; 13] {
    [
        INDEX,
        DOC_VALUES,
        STORE,
        param("format", Check::DateFormat, Update::Never, format),
        LOCALE,
        NULL_VALUE,
        IGNORE_MALFORMED,
        SCRIPT,
        ON_SCRIPT_ERROR,
        BOOST,
        SKIP_LIST,
        META,
        KEEP,
    ]
}

impl FieldType for Dated {
    fn name(&self) -> &'static str {
        match self.0 {
            Resolution::Millis => "date",
            Resolution::Nanos => "date_nanos",
        }
    }

    fn params(&self) -> &'static [Param] {
        match self.0 {
            Resolution::Millis => MILLIS,
            Resolution::Nanos => NANOS,
        }
    }

    fn values(&self, leaf: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Date { format: format_of(leaf)?, resolution: self.0 })
    }

    fn runtime_params(&self) -> Option<&'static [&'static str]> {
        (self.0 == Resolution::Millis).then_some(&["format", "locale"])
    }

    fn reads(&self) -> Reads {
        Reads::Date
    }

    fn read<'a>(&self, field: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        let format = own_format(field);
        let found = match (scalar, self.0) {
            (Scalar::Integer { text, value }, Resolution::Millis) => format.parse_integer(value, text),
            (other, Resolution::Millis) => format.parse_millis(other.text()),
            (Scalar::Integer { text, value }, Resolution::Nanos) => {
                return nanos_of_integer(format, value, text).map(Typed::Number);
            }
            (other, Resolution::Nanos) => match format.parse_instant(other.text()) {
                Ok(instant) => return instant.to_nanos().map(Typed::Number).map_err(Box::new),
                Err(error) => Err(error),
            },
        };
        found.map(Typed::Number).map_err(|error| unreadable(format, scalar.text(), error))
    }

    fn select_term(
        &self,
        field: &Field,
        wanted: &Wanted<'_>,
        context: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let context = &context.for_numbers(wanted.value.is_number());
        let (lower, upper) =
            (stored(field, wanted.text, false, context)?, stored(field, wanted.text, true, context)?);
        Ok(numbers(lower.into(), upper.into()))
    }

    fn select_range(
        &self,
        field: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        context: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let has_number = [lower, upper].iter().flatten().any(|end| end.value.is_number());
        let context = &context.for_numbers(has_number);
        let least = |text: &str, end: RangeEnd<'_>| {
            Ok(i128::from(stored(field, text, !end.inclusive, context)?) + i128::from(!end.inclusive))
        };
        let most = |text: &str, end: RangeEnd<'_>| {
            Ok(i128::from(stored(field, text, end.inclusive, context)?) - i128::from(!end.inclusive))
        };
        number_range((lower, upper), IntegerWidth::Long.limits(), least, most)
    }

    fn show_source(&self, field: &Field, text: String, format: Option<&DateFormat>) -> Option<Value> {
        let own = own_format(field);
        let instant = own.parse_instant(&text).ok()?;
        let instant = self.0.instant(self.0.stored(instant).ok()?);
        Some(format.unwrap_or(own).format_instant(instant, &Zone::Utc).into())
    }

    fn shown_by(&self, field: &Field, pattern: &str) -> Result<DateFormat, RequestError> {
        own_format(field).with_list(pattern)
    }

    fn sorts_indices(&self) -> bool {
        true
    }
}

/// Returns the format in the declaration, or the type's default, with names of the declared locale.
pub(super) fn format_of(leaf: &Leaf) -> Result<Arc<DateFormat>, RequestError> {
    let format = leaf.param("format");
    if let Some(locale) = leaf.param("locale").as_str().filter(|locale| *locale != Locale::english().tag()) {
        let locale = Locale::parse(locale)?;
        return DateFormat::shared_in(format.as_str().unwrap_or(MILLIS_FORMAT), &locale);
    }
    match format.as_str() {
        None | Some(MILLIS_FORMAT) => Ok(crate::date::default_format()),
        Some(NANOS_FORMAT) => Ok(crate::date::default_nanos_format()),
        Some(pattern) => DateFormat::shared(pattern),
    }
}

fn own_format(field: &Field) -> &DateFormat {
    let Some((format, _)) = field.date() else { unreachable!("of a date") };
    format
}

/// Parses a date in a query to the stored number.
fn stored(field: &Field, text: &str, round_up: bool, context: &DateContext<'_>) -> Result<i64, RequestError> {
    let format = context.format.unwrap_or(own_format(field));
    let instant = format.parse_instant_with_math(text, context.now_millis, round_up, context.zone)?;
    field.resolution().stored(instant)
}

/// Converts an integer to nanoseconds. As in Elasticsearch, a value that is too large becomes the maximum
/// under the default format.
#[cold]
fn nanos_of_integer(format: &DateFormat, value: i64, text: &str) -> Result<i64, Cause> {
    let instant = match format.parse_integer_quickly(value, text) {
        Some(millis) => Instant::of_millis(millis),
        None => format.parse_instant(text).map_err(|error| unreadable(format, text, error))?,
    };
    if instant.millis > 0 && format.pattern == NANOS_FORMAT {
        return Ok(instant.to_nanos().unwrap_or(i64::MAX));
    }
    instant.to_nanos().map_err(Box::new)
}

#[cold]
fn unreadable(format: &DateFormat, text: &str, error: RequestError) -> Cause {
    let reason = format!("failed to parse date field [{text}] with format [{}]", format.pattern);
    Box::new(RequestError::illegal_argument(reason).caused_by(error))
}
