//! A list of date formats.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use super::instant::{Instant, NANOS_PER_MILLI};
use super::item::{Digits, Item, Sign, Unit};
use super::locale::Locale;
use super::math;
use super::names;
use super::pattern::{Dialect, compile};
use super::quick::{iso_utc, iso_utc_nanos, plain};
use super::read::{Reading, read, resolve};
use super::write::write;
use super::zone::Zone;
use crate::RequestError;

thread_local! {
    /// The list that this thread parsed last, because many fields of a mapping use the same one.
    static READ_LAST: RefCell<Weak<DateFormat>> = const { RefCell::new(Weak::new()) };
}

/// The length from which a list is checked while it is parsed.
const CHECKED_MIN: usize = 64;

/// A parsed `format` list such as `strict_date_optional_time||epoch_millis`.
#[derive(Debug, Clone, PartialEq)]
pub struct DateFormat {
    /// The list as written.
    pub pattern: String,
    /// The language of names in texts.
    locale: Arc<Locale>,
    pub(super) alternatives: Vec<Alternative>,
    /// The separators of the layout `yyyy?MM?dd?HH?mm?ss`, if the first alternative is exactly that, without
    /// a zone.
    plain: Option<[u8; 5]>,
    /// Whether an alternative accepts `yyyy-MM-ddTHH:mm:ssZ` with or without milliseconds, and no earlier one
    /// does.
    takes_iso: bool,
    /// The unit of integers, and the number of digits from which integers are read that way.
    integers: Option<(Epoch, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Epoch {
    Seconds,
    Millis,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Alternative {
    Epoch(Epoch),
    Items { read: Vec<Item>, written: Vec<Item>, is_lenient: bool },
}

impl DateFormat {
    /// Like [`DateFormat::parse_list`], but returns the previous result if it is still in use and has the
    /// same list.
    ///
    /// # Errors
    /// Those of [`DateFormat::parse_list`].
    pub fn shared(list: &str) -> Result<Arc<DateFormat>, RequestError> {
        DateFormat::shared_in(list, Locale::english())
    }

    /// Like [`DateFormat::shared`], with names in the language of `locale`.
    ///
    /// # Errors
    /// Those of [`DateFormat::parse_list`].
    pub fn shared_in(list: &str, locale: &Arc<Locale>) -> Result<Arc<DateFormat>, RequestError> {
        let is_same = |known: &Arc<DateFormat>| known.pattern == list && known.locale == *locale;
        if let Some(format) = READ_LAST.with_borrow(Weak::upgrade).filter(is_same) {
            return Ok(format);
        }
        let format = Arc::new(DateFormat::parse_list_in(list, locale)?);
        READ_LAST.set(Arc::downgrade(&format));
        Ok(format)
    }

    /// Parses a `||` list of built-in names and `java.time` patterns.
    ///
    /// Error: `illegal_argument_exception` "Invalid format: [...]: ...".
    pub fn parse_list(list: &str) -> Result<DateFormat, RequestError> {
        DateFormat::parse_list_in(list, Locale::english())
    }

    /// Parses another list, with names in the same language.
    ///
    /// # Errors
    /// Those of [`DateFormat::parse_list`].
    pub fn with_list(&self, list: &str) -> Result<DateFormat, RequestError> {
        DateFormat::parse_list_in(list, &self.locale)
    }

    /// Like [`DateFormat::parse_list`], with names in the language of `locale`.
    ///
    /// # Errors
    /// Those of [`DateFormat::parse_list`].
    pub fn parse_list_in(list: &str, locale: &Arc<Locale>) -> Result<DateFormat, RequestError> {
        if list.is_empty() {
            return Err(RequestError::illegal_argument("No date pattern provided"));
        }
        limber_work::claim_pieces(list, "||")?;
        let names: Vec<&str> = list.split("||").collect();
        if names.iter().any(|name| name.is_empty()) {
            return Err(RequestError::illegal_argument(format!(
                "Cannot have empty element in multi date format pattern: {list}"
            )));
        }
        let alternative = |name: &&str| {
            // A pattern of one letter takes hundreds of bytes. The built-in lists, which are short and made
            // once for all requests, must not fail because of the one that first needs them.
            if names.len() > CHECKED_MIN {
                limber_work::check_beyond_deadline()?;
            }
            Alternative::parse(name, locale)
        };
        let alternatives = names.iter().map(alternative).collect::<Result<Vec<_>, RequestError>>()?;
        let mut format = DateFormat {
            pattern: list.to_owned(),
            locale: locale.clone(),
            plain: alternatives.first().and_then(Alternative::plain),
            takes_iso: false,
            integers: None,
            alternatives,
        };
        format.find_shortcuts(&names);
        Ok(format)
    }

    fn find_shortcuts(&mut self, names: &[&str]) {
        let is_iso = |name: &str| {
            let name = name.strip_prefix("strict_").unwrap_or(name);
            matches!(name, "date_optional_time" | "iso8601" | "date_optional_time_nanos")
        };
        // An epoch never accepts a text with dashes, so it does not matter whether it comes first.
        let before = names.iter().take_while(|name| name.starts_with("epoch_")).count();
        self.takes_iso = names.get(before).is_some_and(|name| is_iso(name));
        for (place, alternative) in self.alternatives.iter().enumerate() {
            if let Alternative::Epoch(epoch) = alternative {
                // A strict ISO date accepts integers of four digits as years, and no others.
                let shortest = if place == 0 { 1 } else { 5 };
                self.integers = Some((*epoch, shortest));
                break;
            }
            if !matches!(
                names[place],
                "strict_date_optional_time" | "strict_date_optional_time_nanos" | "iso8601"
            ) {
                break;
            }
        }
    }

    /// Parses a date to milliseconds since 1970-01-01T00:00Z. A date without a zone is in UTC.
    ///
    /// Error: `date_time_parse_exception`.
    #[inline]
    pub fn parse_millis(&self, text: &str) -> Result<i64, RequestError> {
        match self.parse_quickly(text) {
            Some(millis) => Ok(millis),
            None => self.parse_slowly(text, false, &Zone::Utc).map(|instant| instant.millis),
        }
    }

    /// Parses a date to nanosecond precision. A date without a zone is in UTC.
    ///
    /// Error: `date_time_parse_exception`.
    #[inline]
    pub fn parse_instant(&self, text: &str) -> Result<Instant, RequestError> {
        match self.parse_instant_quickly(text) {
            Some(instant) => Ok(instant),
            None => self.parse_slowly(text, false, &Zone::Utc),
        }
    }

    #[inline(always)]
    pub(crate) fn parse_instant_quickly(&self, text: &str) -> Option<Instant> {
        match self.parse_quickly(text) {
            Some(millis) => Some(Instant::of_millis(millis)),
            None if self.takes_iso => iso_utc_nanos(text.as_bytes()),
            None => None,
        }
    }

    /// Like [`DateFormat::parse_instant`], but a date without a zone is in `zone`.
    pub fn parse_instant_in(&self, text: &str, zone: &Zone) -> Result<Instant, RequestError> {
        self.parse_slowly(text, false, zone)
    }

    /// Whether Elasticsearch has a built-in format with this name, which is not a pattern then.
    pub fn is_built_in(name: &str) -> bool {
        matches!(name, "epoch_millis" | "epoch_second") || names::find(name).is_some()
    }

    /// Parses common layouts without interpreting the pattern. `None` means that the general path must be
    /// taken.
    #[inline(always)]
    pub(crate) fn parse_quickly(&self, text: &str) -> Option<i64> {
        if self.takes_iso
            && let Some(millis) = iso_utc(text.as_bytes())
        {
            return Some(millis);
        }
        plain(text.as_bytes(), self.plain.as_ref()?)
    }

    /// Converts a JSON integer, whose text is `text`, to an instant.
    #[inline]
    pub fn parse_integer(&self, value: i64, text: &str) -> Result<i64, RequestError> {
        match self.parse_integer_quickly(value, text) {
            Some(millis) => Ok(millis),
            None => self.parse_slowly(text, false, &Zone::Utc).map(|instant| instant.millis),
        }
    }

    #[inline(always)]
    pub(crate) fn parse_integer_quickly(&self, value: i64, text: &str) -> Option<i64> {
        let (epoch, shortest) = self.integers?;
        if text.len() < shortest || (shortest > 1 && value < 0) {
            return None;
        }
        match epoch {
            Epoch::Millis => Some(value),
            Epoch::Seconds => value.checked_mul(1000),
        }
    }

    /// Tries the alternatives in order.
    #[inline(never)]
    fn parse_slowly(&self, text: &str, round_up: bool, zone: &Zone) -> Result<Instant, RequestError> {
        let mut stopped_at = 0;
        for alternative in &self.alternatives {
            match alternative.read(text, round_up, zone) {
                Ok(instant) => return Ok(instant),
                Err(index) => stopped_at = index,
            }
        }
        Err(unparsable(text, self.alternatives.len(), stopped_at, &self.alternatives[0]))
    }

    /// Parses a date of a query: date math (`now-1d/d`, `2020-01-01||+1M/d`) is applied, an upper bound is
    /// rounded up to the last millisecond (`round_up`), and a date without a zone is in `zone`.
    ///
    /// Error: `parse_exception` "failed to parse date field [...] with format [...]".
    pub fn parse_with_math(
        &self,
        text: &str,
        now_millis: i64,
        round_up: bool,
        zone: &Zone,
    ) -> Result<i64, RequestError> {
        self.parse_instant_with_math(text, now_millis, round_up, zone).map(|instant| instant.millis)
    }

    /// Like [`DateFormat::parse_with_math`], to nanosecond precision. As in Elasticsearch, missing parts are
    /// rounded up to the last nanosecond, but date math only to the beginning of the last millisecond.
    pub fn parse_instant_with_math(
        &self,
        text: &str,
        now_millis: i64,
        round_up: bool,
        zone: &Zone,
    ) -> Result<Instant, RequestError> {
        if let Some(math) = text.strip_prefix("now") {
            return math::apply(math, Instant::of_millis(now_millis), round_up, zone);
        }
        let read = |date: &str, round_up: bool| {
            self.parse_slowly(date, round_up, zone).map_err(|cause| {
                let reason = format!("failed to parse date field [{date}] with format [{}]", self.pattern);
                let outer = format!("{reason}: [{reason}]");
                RequestError::bad_request("parse_exception", outer)
                    .caused_by(RequestError::illegal_argument(reason).caused_by(cause))
            })
        };
        match text.split_once("||") {
            None => read(text, round_up),
            Some((date, math)) => math::apply(math, read(date, false)?, round_up, zone),
        }
    }

    /// Formats an instant in the list's first format, in UTC.
    pub fn format_millis(&self, millis: i64) -> String {
        self.format_millis_in(millis, &Zone::Utc)
    }

    /// Formats an instant in the list's first format, in the time zone `zone`.
    pub fn format_millis_in(&self, millis: i64, zone: &Zone) -> String {
        self.format_instant(Instant::of_millis(millis), zone)
    }

    /// Formats an instant in the list's first format, in the time zone `zone`, with nanoseconds if the format
    /// has them.
    pub fn format_instant(&self, instant: Instant, zone: &Zone) -> String {
        // As long as `2026-12-01T00:00:00.000Z`.
        let mut out = String::with_capacity(24);
        match &self.alternatives[0] {
            Alternative::Epoch(epoch) => write_epoch(instant, *epoch, &mut out),
            Alternative::Items { written, .. } => write(written, instant, zone, &mut out),
        }
        out
    }
}

#[cold]
pub(super) fn unparsable(
    text: &str,
    alternatives: usize,
    stopped_at: usize,
    only: &Alternative,
) -> RequestError {
    let reason = if alternatives > 1 {
        "Failed to parse with all enclosed parsers".to_owned()
    } else if stopped_at > 0 && stopped_at < text.len() && matches!(only, Alternative::Items { .. }) {
        format!("Text '{text}' could not be parsed, unparsed text found at index {stopped_at}")
    } else {
        format!("Text '{text}' could not be parsed at index 0")
    };
    RequestError::bad_request("date_time_parse_exception", reason)
}

impl Alternative {
    fn parse(name: &str, locale: &Locale) -> Result<Alternative, RequestError> {
        match name {
            "epoch_millis" => return Ok(Alternative::Epoch(Epoch::Millis)),
            "epoch_second" => return Ok(Alternative::Epoch(Epoch::Seconds)),
            _ => {}
        }
        let Some((pattern, dialect)) = names::find(name) else {
            let items = compile(name, Dialect::Java, locale)?;
            return Ok(Alternative::Items { written: items.clone(), read: items, is_lenient: false });
        };
        let items = compile(pattern, dialect, locale)?;
        let written = match names::printed(name) {
            Some(pattern) => compile(pattern, Dialect::Strict, locale)?,
            None => items.clone(),
        };
        Ok(Alternative::Items { read: items, written, is_lenient: name == "strict_date" })
    }

    /// Parses a date. The error is the index at which parsing stopped.
    pub(super) fn read(&self, text: &str, round_up: bool, zone: &Zone) -> Result<Instant, usize> {
        match self {
            // As in Elasticsearch, a query's zone even shifts an epoch.
            Alternative::Epoch(epoch) => {
                let instant = read_epoch(text, *epoch, round_up).ok_or(0usize)?;
                Ok(Instant { millis: zone.to_utc(instant.millis), ..instant })
            }
            Alternative::Items { read: items, is_lenient, .. } => {
                let fields = read(items, text)?;
                resolve(&fields, Reading { round_up, is_lenient: *is_lenient, zone }).ok_or(0)
            }
        }
    }

    /// Returns the separators if the pattern is `yyyy?MM?dd?HH?mm?ss`.
    fn plain(&self) -> Option<[u8; 5]> {
        let Alternative::Items { read, .. } = self else { return None };
        let units = [Unit::Month, Unit::Day, Unit::Hour, Unit::Minute, Unit::Second];
        let (Some(Item::Number { unit: Unit::Year | Unit::YearOfEra, digits }), 11) =
            (read.first(), read.len())
        else {
            return None;
        };
        if digits.min != 4 || digits.sign != Sign::ExceedsPad {
            return None;
        }
        let mut separators = [0; 5];
        for (place, pair) in read[1..].chunks_exact(2).enumerate() {
            let two = Digits { min: 2, max: 2, sign: Sign::None, reserve: 0 };
            match pair {
                [Item::Literal(literal), Item::Number { unit, digits }]
                    if literal.len() == 1 && *unit == units[place] && *digits == two =>
                {
                    separators[place] = literal.as_bytes()[0];
                }
                _ => return None,
            }
        }
        Some(separators)
    }
}

/// Parses digits with an optional sign and fraction, in seconds or milliseconds.
fn read_epoch(text: &str, epoch: Epoch, round_up: bool) -> Option<Instant> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty()
        || whole.len() > 19
        || fraction.len() > (if epoch == Epoch::Millis { 6 } else { 9 })
        || !all_digits(whole)
        || !all_digits(fraction)
    {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let mut nanos: i64 = 0;
    for place in 0..9 {
        nanos = nanos * 10 + fraction.as_bytes().get(place).map_or(0, |byte| (byte - b'0') as i64);
    }
    // `nanos` is now the fraction of the unit in billionths.
    let is_open = round_up && !digits.contains('.');
    let (per_unit, last) = match epoch {
        Epoch::Millis => (1, i128::from(NANOS_PER_MILLI) - 1),
        Epoch::Seconds => (1000, 1000 * i128::from(NANOS_PER_MILLI) - 1),
    };
    let fraction = match epoch {
        Epoch::Millis => i128::from(nanos) / 1000,
        Epoch::Seconds => i128::from(nanos),
    };
    let whole = i128::from(whole) * per_unit * i128::from(NANOS_PER_MILLI);
    // Away from zero into the past, unless the last instant of the unit is wanted.
    let total = match (negative, is_open) {
        (true, true) => -whole + last,
        (true, false) => -whole - fraction,
        (false, true) => whole + last,
        (false, false) => whole + fraction,
    };
    Some(Instant {
        millis: i64::try_from(total.div_euclid(NANOS_PER_MILLI.into())).ok()?,
        nanos: total.rem_euclid(NANOS_PER_MILLI.into()) as u32,
    })
}

/// Writes seconds or milliseconds, with the fraction after a point.
fn write_epoch(instant: Instant, epoch: Epoch, out: &mut String) {
    let (per_unit, width) = match epoch {
        Epoch::Millis => (NANOS_PER_MILLI, 6),
        Epoch::Seconds => (1000 * NANOS_PER_MILLI, 9),
    };
    let nanos = i128::from(instant.millis) * i128::from(NANOS_PER_MILLI) + i128::from(instant.nanos);
    let (whole, rest) = (nanos / i128::from(per_unit), (nanos % i128::from(per_unit)).unsigned_abs());
    if nanos < 0 && whole == 0 {
        out.push('-');
    }
    out.push_str(&whole.to_string());
    if rest != 0 {
        out.push_str(format!(".{rest:0width$}").trim_end_matches('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_quickly_is_read_the_same_slowly() {
        let format = DateFormat::parse_list("strict_date_optional_time").expect("built in");
        let texts = [
            "2025-11-22T10:38:49Z",
            "2024-02-29T23:59:59.999Z",
            "0001-01-01T00:00:00Z",
            "9999-12-31T10:20:30.040Z",
            "2018-10-29T12:12:12.123456789Z",
            "2018-10-29T12:12:12.1Z",
        ];
        for text in texts {
            assert!(format.parse_instant_quickly(text).is_some(), "{text}");
            for at in 0..text.len() {
                for byte in 0..128u8 {
                    let mut changed = text.as_bytes().to_vec();
                    changed[at] = byte;
                    let changed = String::from_utf8(changed).expect("ASCII");
                    if let Some(instant) = format.parse_instant_quickly(&changed) {
                        assert_eq!(
                            format.parse_slowly(&changed, false, &Zone::Utc).ok(),
                            Some(instant),
                            "{changed}"
                        );
                    }
                }
            }
        }
    }
}
