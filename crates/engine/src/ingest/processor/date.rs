//! `date`: "parse this string as a date". Source: Elasticsearch's `DateProcessor` and `DateFormat`.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limber_mapping::RequestError;
use limber_mapping::date::{DateFormat, Instant, MILLIS_PER_DAY, Zone, days_from_civil};
use limber_work as work;

use super::super::date_pattern::{DatePattern, read_offset, zone};
use super::super::document::IngestDocument;
use super::super::document::node::Kind;
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::options::Options;
use super::super::template::Text;
use super::{Flow, Processor};

/// The default of `output_format`.
const OUTPUT_PATTERN: &str = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX";

/// A format in which date processors parse a string.
#[derive(Debug)]
pub enum Format {
    /// `ISO8601`.
    Iso8601,
    /// `UNIX`: seconds since 1970, with a fraction.
    Unix,
    /// `UNIX_MS`: milliseconds since 1970.
    UnixMillis,
    /// `TAI64N`: external TAI64N labels in hexadecimal.
    Tai64n,
    /// One of Elasticsearch's built-in formats.
    BuiltIn(DateFormat),
    /// A pattern and its text. An invalid pattern is reported when a document comes, as in Elasticsearch.
    Pattern(String, Result<DatePattern, String>),
}

#[derive(Debug)]
struct DateProcessor {
    field: FieldPath,
    target: FieldPath,
    formats: Vec<Format>,
    timezone: Option<Text>,
    output: Output,
}

/// The format in which the date is written.
#[derive(Debug)]
enum Output {
    BuiltIn(DateFormat),
    Pattern(DatePattern),
}

impl Output {
    fn parse(text: &str) -> Result<Output, RequestError> {
        if DateFormat::is_built_in(text) {
            return DateFormat::parse_list(text).map(Output::BuiltIn);
        }
        DatePattern::parse(text).map(Output::Pattern).map_err(|reason| {
            RequestError::illegal_argument(format!("invalid output format [{text}]: {reason}"))
        })
    }

    fn is_neutral(&self) -> bool {
        match self {
            Output::BuiltIn(_) => false,
            Output::Pattern(pattern) => pattern.is_neutral(),
        }
    }

    fn write(&self, instant: Timestamp, zone: &TimeZone) -> String {
        match self {
            Output::Pattern(pattern) => pattern.format(instant, zone),
            Output::BuiltIn(format) => format.format_instant(instant_of(instant), &zone_of(zone)),
        }
    }
}

fn instant_of(timestamp: Timestamp) -> Instant {
    let nanos = timestamp.as_nanosecond();
    Instant { millis: nanos.div_euclid(1_000_000) as i64, nanos: nanos.rem_euclid(1_000_000) as u32 }
}

fn zone_of(zone: &TimeZone) -> Zone {
    match zone.to_fixed_offset() {
        Ok(offset) => Zone::fixed(offset.seconds()),
        Err(_) => Zone::Region(zone.clone()),
    }
}

/// Compiles the processor. Options: `field` and `formats`; optional `target_field` (`@timestamp`),
/// `timezone`, `locale` and `output_format`.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let target = FieldPath::parse(&options.string_or("target_field", "@timestamp")?)?;
    let timezone = options.optional_string("timezone")?.map(|text| Text::parse(&text)).transpose()?;
    let locale = options.optional_string("locale")?.filter(|locale| !is_english(locale));
    let formats = options.strings("formats")?;
    let output = options.string_or("output_format", OUTPUT_PATTERN)?;
    let output = Output::parse(&output)?;
    let formats = formats_of(formats)?;
    if let Some(locale) = locale
        && !(output.is_neutral() && formats.iter().all(Format::is_neutral))
    {
        return Err(RequestError::unsupported(format!("the locale [{locale}] of the processor [date]")));
    }
    Ok(Box::new(DateProcessor { field, target, formats, timezone, output }))
}

/// Reads the formats of a processor. Each takes many times the size of its name.
pub(super) fn formats_of(names: Vec<String>) -> Result<Vec<Format>, RequestError> {
    let read = |name: String| -> Result<Format, RequestError> {
        work::check()?;
        Ok(format(name))
    };
    names.into_iter().map(read).collect()
}

/// Whether the locale is English; only English names of months and days are supported, so any other locale is
/// refused unless all formats consist of numbers.
pub fn is_english(locale: &str) -> bool {
    let language = locale.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    matches!(language.as_str(), "" | "en" | "english" | "root" | "und")
}

/// Makes a format from its name or pattern.
fn format(name: String) -> Format {
    match name.as_str() {
        "ISO8601"
        | "iso8601"
        | "strict_date_optional_time"
        | "date_optional_time"
        | "strict_date_optional_time_nanos" => Format::Iso8601,
        "UNIX" | "epoch_second" => Format::Unix,
        "UNIX_MS" | "epoch_millis" => Format::UnixMillis,
        "TAI64N" => Format::Tai64n,
        built_in if DateFormat::is_built_in(built_in) => match DateFormat::parse_list(built_in) {
            Ok(format) => Format::BuiltIn(format),
            Err(error) => Format::Pattern(name, Err(error.reason)),
        },
        _ => {
            let pattern = DatePattern::parse(&name);
            Format::Pattern(name, pattern)
        }
    }
}

impl Format {
    /// Whether dates are written alike in every locale.
    fn is_neutral(&self) -> bool {
        match self {
            Format::Iso8601 | Format::Unix | Format::UnixMillis | Format::Tai64n => true,
            Format::BuiltIn(_) | Format::Pattern(_, Err(_)) => false,
            Format::Pattern(_, Ok(pattern)) => pattern.is_neutral(),
        }
    }
}

impl Processor for DateProcessor {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let id = self.field.get(document)?;
        let text = match document.node(id).kind {
            Kind::Null => None,
            _ => Some(java_text(document, id)),
        };
        let zone_name = self.timezone.as_ref().map(|timezone| timezone.render(document)).transpose()?;
        let default_zone = match zone_name.as_deref() {
            None | Some("") => TimeZone::UTC,
            Some(name) => zone(name)
                .ok_or_else(|| RequestError::illegal_argument(format!("Unknown time-zone ID: {name}")))?,
        };
        let year = document.timestamp().get(..4).and_then(|year| year.parse().ok()).unwrap_or(1970);
        let instant = match &text {
            Some(text) => first_instant(&self.formats, text, year, &default_zone)?,
            None => {
                let empty = || RequestError::illegal_argument("cannot parse empty datetime");
                return Err(unreadable("null", (!self.formats.is_empty()).then(empty)));
            }
        };
        let date = self.output.write(instant, &default_zone);
        let date = document.make_string(&date)?;
        self.target.set(document, date)?;
        Ok(Flow::Continue)
    }
}

/// Parses a text in the first of these formats that fits it. A missing year is `year`, a missing zone is
/// `zone`.
///
/// # Errors
/// None of them fits, or the request must end.
pub(super) fn first_instant(
    formats: &[Format],
    text: &str,
    year: i32,
    zone: &TimeZone,
) -> Result<Timestamp, RequestError> {
    let mut last = None;
    for (place, format) in formats.iter().enumerate() {
        work::check()?;
        // Each error has the text, and only the last one is shown.
        if place + 1 < formats.len() && format.is_too_short_for(text) {
            continue;
        }
        match format.instant(text, year, zone) {
            Ok(instant) => return Ok(instant),
            Err(error) => last = Some(error),
        }
    }
    Err(unreadable(text, last))
}

fn unreadable(text: &str, cause: Option<RequestError>) -> RequestError {
    let error = RequestError::illegal_argument(format!("unable to parse date [{text}]"));
    match cause {
        Some(cause) => error.caused_by(cause),
        None => error,
    }
}

/// A date is at most this many times as long as its pattern, besides the names of zones.
const LENGTH_OF_PATTERN: usize = 4;
const NAMES_BYTES_MAX: usize = 256;

impl Format {
    /// Whether no text of this length is a date in this format.
    fn is_too_short_for(&self, text: &str) -> bool {
        let pattern_bytes = match self {
            Format::Iso8601 => 0,
            Format::BuiltIn(format) => format.pattern.len(),
            Format::Pattern(pattern, _) => pattern.len(),
            // A number may have any count of digits.
            Format::Unix | Format::UnixMillis | Format::Tai64n => return false,
        };
        text.len() > LENGTH_OF_PATTERN * pattern_bytes + NAMES_BYTES_MAX
    }

    /// Parses a string. A missing year is `year`, a missing zone is `zone`.
    pub fn instant(&self, text: &str, year: i32, zone: &TimeZone) -> Result<Timestamp, RequestError> {
        let (name, parsed) = match self {
            Format::Iso8601 => ("iso8601", iso8601(text, zone)),
            Format::Unix => return from_seconds(text),
            Format::UnixMillis => return from_millis(text),
            Format::Tai64n => return tai64n(text).ok_or_else(|| RequestError::number_format(text)),
            Format::BuiltIn(format) => (format.pattern.as_str(), built_in(format, text, year, zone)),
            Format::Pattern(name, Ok(pattern)) => (name.as_str(), pattern.instant(text, year, zone)),
            Format::Pattern(name, Err(reason)) => {
                return Err(RequestError::illegal_argument(format!("Invalid format: [{name}]: {reason}")));
            }
        };
        parsed.map_err(|reason| {
            let cause = RequestError::bad_request("date_time_parse_exception", reason);
            RequestError::illegal_argument(format!(
                "failed to parse date field [{text}] with format [{name}]"
            ))
            .caused_by(cause)
        })
    }
}

fn built_in(format: &DateFormat, text: &str, year: i32, zone: &TimeZone) -> Result<Timestamp, String> {
    let zone = zone_of(zone);
    let mut instant = format.parse_instant_in(text, &zone).map_err(|error| error.reason)?;
    let name = format.pattern.trim_start_matches("strict_").trim_start_matches("basic_");
    if ["hour", "time", "t_time"].iter().any(|start| name.starts_with(start)) {
        // A time without a date is on the first day of the year.
        let first = days_from_civil(year.into(), 1, 1) * MILLIS_PER_DAY;
        instant.millis = zone.to_utc(zone.to_local(instant.millis) + first);
    }
    let nanos = i128::from(instant.millis) * 1_000_000 + i128::from(instant.nanos);
    Timestamp::from_nanosecond(nanos).map_err(|error| error.to_string())
}

fn from_seconds(text: &str) -> Result<Timestamp, RequestError> {
    let seconds: f64 = text.trim().parse().map_err(|_| RequestError::number_format(text))?;
    Timestamp::from_millisecond((seconds * 1000.0) as i64).map_err(|_| RequestError::number_format(text))
}

fn from_millis(text: &str) -> Result<Timestamp, RequestError> {
    let millis = text.parse().map_err(|_| RequestError::number_format(text))?;
    Timestamp::from_millisecond(millis).map_err(|_| RequestError::number_format(text))
}

/// Parses a label of D. J. Bernstein's TAI64N: `@`, seconds from 2^62 in 16 hexadecimal digits, nanoseconds
/// in 8. TAI is ten seconds ahead.
fn tai64n(text: &str) -> Option<Timestamp> {
    let label = text.strip_prefix('@').unwrap_or(text);
    let seconds = i64::from_str_radix(label.get(1..16)?, 16).ok()?;
    let nanos = i64::from_str_radix(label.get(16..24)?, 16).ok()?;
    Timestamp::from_millisecond(
        seconds.checked_mul(1000)?.checked_sub(10_000)?.checked_add(nanos / 1_000_000)?,
    )
    .ok()
}

/// Parses `yyyy[-MM[-dd]]['T'HH[:mm[:ss[.S...]]]][offset]`.
fn iso8601(text: &str, default_zone: &TimeZone) -> Result<Timestamp, String> {
    let wrong = |at: usize| format!("Text '{text}' could not be parsed at index {at}");
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut parts = [0i64, 1, 1, 0, 0, 0];
    let before = [b"".as_slice(), b"-", b"-", b"T ", b":", b":"];
    for (part, separators) in parts.iter_mut().zip(before) {
        if !separators.is_empty() {
            match bytes.get(at) {
                Some(byte)
                    if separators.contains(byte) && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) =>
                {
                    at += 1
                }
                _ if separators == b"-" => continue,
                _ => break,
            }
        }
        let width = if separators.is_empty() { 4 } else { 2 };
        let digits =
            text.get(at..at + width).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        *part = digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| wrong(at))?;
        at += width;
    }
    let mut nanos = 0;
    if matches!(bytes.get(at), Some(b'.' | b',')) {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > 9 {
            return Err(wrong(at));
        }
        nanos = text[at + 1..at + 1 + digits].parse::<i64>().map_err(|_| wrong(at))?
            * 10i64.pow(9 - digits as u32);
        at += 1 + digits;
    }
    let zone = match bytes.get(at) {
        None => default_zone.clone(),
        Some(b'Z') if at + 1 == text.len() => TimeZone::UTC,
        Some(_) => {
            let (offset, end) = read_offset(text, at, None, true).ok_or_else(|| wrong(at))?;
            if end != text.len() {
                return Err(wrong(end));
            }
            TimeZone::fixed(offset)
        }
    };
    let [year, month, day, hour, minute, second] = parts;
    let date = jiff::civil::Date::new(year as i16, month as i8, day as i8);
    let time = jiff::civil::Time::new(hour as i8, minute as i8, second as i8, nanos as i32);
    let zoned =
        date.and_then(|date| time.map(|time| date.to_datetime(time))).and_then(|civil| zone.to_zoned(civil));
    zoned
        .map(|zoned| zoned.timestamp())
        .map_err(|error| format!("Text '{text}' could not be parsed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_dates() {
        for (text, expected) in [
            ("2020-01-01", Some("2020-01-01T00:00:00Z")),
            ("2020", Some("2020-01-01T00:00:00Z")),
            ("2020-02", Some("2020-02-01T00:00:00Z")),
            ("2020-01-01T10:00:00.5+01:00", Some("2020-01-01T09:00:00.5Z")),
            ("2020-01-01T10Z", Some("2020-01-01T10:00:00Z")),
            ("2020-01-01T10:00:00.123456789Z", Some("2020-01-01T10:00:00.123456789Z")),
            ("2020-13-01", None),
            ("20-13-01", None),
            ("2020-01-01T", None),
            ("2020-01-01Zx", None),
            ("", None),
        ] {
            let parsed = iso8601(text, &TimeZone::UTC).ok().map(|instant| instant.to_string());
            assert_eq!(parsed.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn tai64n_labels() {
        let instant = tai64n("@4000000050d506482dbdf024").expect("label");
        assert_eq!(instant.to_string(), "2012-12-22T01:00:46.767Z");
    }
}
