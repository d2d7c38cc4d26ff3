//! Options of date histograms: instants, intervals and offsets. Source: Elasticsearch's
//! `DateIntervalWrapper`, `LongBounds`.

use limber_mapping::RequestError;
use serde_json::Value;

use super::super::options::Options;
use super::super::source::Source;
use super::super::values::format::Format;
use super::rounding::Interval;
use crate::error::Result;
use crate::values::json;

/// Reads an instant, given as milliseconds or as a string with date math.
pub(super) fn instant(value: &Option<Value>, source: &Source) -> Result<Option<i64>> {
    let Some(value) = value else { return Ok(None) };
    if let Some(number) = value.as_i64() {
        return Ok(Some(number));
    }
    if let Some(number) = value.as_f64() {
        return Ok(Some(number as i64));
    }
    let text = json::scalar_text(value).unwrap_or_default();
    match &source.format {
        Format::Date { format, zone } => {
            Ok(Some(format.parse_with_math(&text, source.now_millis, false, zone)?))
        }
        _ => {
            let format = limber_mapping::date::default_format();
            Ok(Some(format.parse_with_math(
                &text,
                source.now_millis,
                false,
                &limber_mapping::date::Zone::Utc,
            )?))
        }
    }
}

/// Reads the interval of `calendar_interval` or `fixed_interval`; `None` if neither is given.
pub(super) fn calendar_or_fixed(
    options: &mut Options,
) -> std::result::Result<Option<Interval>, RequestError> {
    let calendar = options.text("calendar_interval")?;
    let fixed = options.text("fixed_interval")?;
    if let Some(interval) = options.take("interval") {
        if calendar.is_some() || fixed.is_some() {
            let reason =
                "Cannot use [interval] with [fixed_interval] or [calendar_interval] configuration options.";
            return Err(options.refused("interval", reason));
        }
        return legacy_interval(options, &interval).map(Some);
    }
    Ok(match (&calendar, &fixed) {
        (Some(_), Some(_)) => {
            let reason = "Cannot use [calendar_interval] with [fixed_interval] configuration option.";
            return Err(options.refused("calendar_interval", reason));
        }
        (Some(text), None) => Some(Interval::calendar(text).ok_or_else(|| {
            let reason =
                format!("The supplied interval [{text}] could not be parsed as a calendar interval.");
            options.refused("calendar_interval", reason)
        })?),
        (None, Some(text)) => Some(fixed_interval(options, text)?),
        (None, None) => None,
    })
}

/// Reads `interval` of Elasticsearch 7 and OpenSearch: a calendar unit, or else a fixed length, which may be
/// a number of milliseconds.
fn legacy_interval(options: &Options, interval: &Value) -> std::result::Result<Interval, RequestError> {
    let text = match interval {
        Value::Number(millis) => format!("{millis}ms"),
        Value::String(text) => text.clone(),
        other => return Err(options.wrong_type("interval", other)),
    };
    match Interval::calendar(&text) {
        Some(calendar) => Ok(calendar),
        None => fixed_interval(options, &text),
    }
}

/// Reads `offset`, a duration that may have a sign.
pub(super) fn offset_millis(options: &mut Options) -> std::result::Result<i64, RequestError> {
    Ok(match options.take_typed("offset")? {
        None => 0,
        Some(Value::Number(number)) => number.as_i64().unwrap_or(0),
        Some(value) => {
            let text = json::scalar_text(&value).unwrap_or_default();
            let (sign, rest) = match text.strip_prefix('-') {
                Some(rest) => (-1, rest),
                None => (1, text.strip_prefix('+').unwrap_or(&text)),
            };
            let millis = json::time_millis(rest, "DateHistogramAggregationBuilder.parseOffset");
            let millis = millis.map_err(|cause| options.failed("offset", cause))?.unwrap_or(0);
            sign * i64::try_from(millis).unwrap_or(i64::MAX)
        }
    })
}

fn fixed_interval(options: &Options, text: &str) -> std::result::Result<Interval, RequestError> {
    // An upper-case M means months, which are not a fixed interval.
    let millis = match text.ends_with('M') {
        true => Err(RequestError::illegal_argument(format!(
            "failed to parse setting [date_histogram.fixedInterval] with value [{text}] as a time value: unit is missing or unrecognized"
        ))),
        false => json::time_millis(text, "date_histogram.fixedInterval"),
    };
    let millis = millis.map_err(|cause| options.failed("fixed_interval", cause))?;
    match millis.and_then(|millis| i64::try_from(millis).ok()).filter(|&millis| millis > 0) {
        Some(millis) => Ok(Interval::FixedMillis(millis)),
        None => Err(options.refused("fixed_interval", "Zero or negative time interval not supported")),
    }
}
