//! The date filters of Rally's templates.
//!
//! They follow `esrally/time.py`: a date is seconds since the epoch (the template's `now`) or a string in a
//! given `strptime` format. Times without a zone are UTC.

use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use minijinja::value::Kwargs;
use minijinja::{Error, ErrorKind, Value};

const DAY_NS: i128 = 86_400_000_000_000;

/// Returns the whole days from `start` to `end` (rounded down, negative when `start` is later). `date_format`
/// (default `%d-%m-%Y`) parses dates that are strings.
pub(crate) fn days_ago(
    start: &Value,
    end: &Value,
    date_format: Option<String>,
    named: Kwargs,
) -> Result<i64, Error> {
    let format = argument(date_format, &named, "date_format")?.unwrap_or_else(|| "%d-%m-%Y".to_owned());
    named.assert_all_used()?;
    let start = moment(start, Some(&format))?;
    let end = moment(end, Some(&format))?;
    let elapsed_ns = end.timestamp().as_nanosecond() - start.timestamp().as_nanosecond();
    Ok(elapsed_ns.div_euclid(DAY_NS) as i64)
}

/// Formats `date` in `date_format` (default `%Y-%m-%d`).
pub(crate) fn get_start_date(
    date: &Value,
    date_format: Option<String>,
    named: Kwargs,
) -> Result<String, Error> {
    let format = argument(date_format, &named, "date_format")?.unwrap_or_else(|| "%Y-%m-%d".to_owned());
    named.assert_all_used()?;
    print(&moment(date, None)?, &format)
}

/// Formats the day `duration_days` (default 1) after `start`, in `date_format` (default `%Y-%m-%d`).
pub(crate) fn get_end_date(
    start: &Value,
    duration_days: Option<i64>,
    date_format: Option<String>,
    named: Kwargs,
) -> Result<String, Error> {
    let days = argument(duration_days, &named, "duration_days")?.unwrap_or(1);
    let format = argument(date_format, &named, "date_format")?.unwrap_or_else(|| "%Y-%m-%d".to_owned());
    named.assert_all_used()?;
    let span = Span::new().try_days(days).map_err(refused)?;
    print(&moment(start, None)?.checked_add(span).map_err(refused)?, &format)
}

fn argument<T>(positional: Option<T>, named: &Kwargs, name: &str) -> Result<Option<T>, Error>
where
    T: for<'a> minijinja::value::ArgType<'a, Output = T>,
    Option<T>: for<'a> minijinja::value::ArgType<'a, Output = Option<T>>,
{
    match positional {
        Some(value) => Ok(Some(value)),
        None => named.get::<Option<T>>(name),
    }
}

fn moment(value: &Value, format: Option<&str>) -> Result<Zoned, Error> {
    if let Some(text) = value.as_str() {
        let Some(format) = format else {
            return Err(refused(format!("[{text}] is a string, expected a timestamp")));
        };
        let parsed = strtime::parse(format, text).map_err(refused)?;
        if let Ok(zoned) = parsed.to_zoned() {
            return Ok(zoned);
        }
        let day = parsed.to_date().map_err(refused)?;
        let time = parsed.to_time().unwrap_or_default();
        return day.to_datetime(time).to_zoned(TimeZone::UTC).map_err(refused);
    }
    let seconds =
        f64::try_from(value.clone()).map_err(|_| refused(format!("Cannot convert [{value}] to a date")))?;
    let micros = (seconds * 1e6).round();
    if !micros.is_finite() || micros.abs() > 1e18 {
        return Err(refused(format!("Cannot convert [{value}] to a date")));
    }
    Ok(Timestamp::from_microsecond(micros as i64).map_err(refused)?.to_zoned(TimeZone::UTC))
}

fn print(date: &Zoned, format: &str) -> Result<String, Error> {
    strtime::format(format, date).map_err(refused)
}

fn refused(reason: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason.to_string())
}
