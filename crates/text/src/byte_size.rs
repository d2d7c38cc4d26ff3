//! Sizes with a unit (`512mb`): "how many bytes is this?"
//!
//! Source: `org.elasticsearch.common.unit.ByteSizeValue`.

/// Units by their suffixes, longest first, each with its power of two.
const UNITS: [(&str, u32); 11] = [
    ("kb", 10),
    ("mb", 20),
    ("gb", 30),
    ("tb", 40),
    ("pb", 50),
    ("k", 10),
    ("m", 20),
    ("g", 30),
    ("t", 40),
    ("p", 50),
    ("b", 0),
];

/// Why a string is no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotASize {
    /// There is no unit.
    #[error("unit is missing or unrecognized")]
    NoUnit,
    /// What precedes the unit is no number, a negative fraction, or a fraction of a byte.
    #[error("it does not begin with a number")]
    NotANumber,
    /// The size is negative, or too large.
    #[error("value is out of range")]
    OutOfRange,
}

impl NotASize {
    /// Returns Elasticsearch's message about the value `text` of the setting `key`.
    pub fn of_setting(self, key: &str, text: &str) -> String {
        let what = match self {
            NotASize::NoUnit => " as a size in bytes: unit is missing or unrecognized",
            NotASize::NotANumber => "",
            NotASize::OutOfRange => " as a size in bytes",
        };
        format!("failed to parse setting [{key}] with value [{text}]{what}")
    }
}

/// Splits a size in lower case into the number and the unit as a power of two; `None` if there is no unit.
fn split_unit(lower: &str) -> Option<(&str, u32)> {
    UNITS.into_iter().find_map(|(unit, shift)| Some((lower.strip_suffix(unit)?.trim(), shift)))
}

/// Returns the bytes of a unit in lower case (`mb`, or `m`); `None` if there is no such unit.
pub fn unit_bytes(name: &str) -> Option<u64> {
    UNITS.into_iter().find(|(unit, _)| *unit == name).map(|(_, shift)| 1 << shift)
}

/// Shows a size as `ByteSizeValue#toString` does: in the largest unit of which it has one, with one decimal
/// unless that is zero.
pub fn show(bytes: u64) -> String {
    let units = UNITS.into_iter().filter(|(unit, shift)| unit.len() == 2 && bytes >= 1 << shift);
    match units.max_by_key(|(_, shift)| *shift) {
        Some((unit, shift)) => one_decimal(bytes as f64 / (1u64 << shift) as f64, unit),
        None => format!("{bytes}b"),
    }
}

/// Shows a number with one decimal, cut off, unless that is zero.
fn one_decimal(value: f64, unit: &str) -> String {
    let tenths = (value * 10.0).floor() as u64;
    match tenths % 10 {
        0 => format!("{}{unit}", tenths / 10),
        tenth => format!("{}.{tenth}{unit}", tenths / 10),
    }
}

/// Parses `512mb`, `1kb`, `10b` or `0`, with fractions (`1.5gb`); `-1` and `-1b` are `None`.
///
/// Elasticsearch refuses more than two decimals; here they are accepted, as stored settings may have them.
///
/// # Errors
/// [`NotASize`].
pub fn parse(text: &str) -> Result<Option<i64>, NotASize> {
    let lower = text.trim().to_ascii_lowercase();
    match lower.as_str() {
        "-1" | "-1b" => return Ok(None),
        "0" => return Ok(Some(0)),
        _ => {}
    }
    let (number, shift) = split_unit(&lower).ok_or(NotASize::NoUnit)?;
    if shift == 0 && number.parse::<i64>().is_err() {
        return Err(NotASize::NotANumber);
    }
    bytes(number, shift).map(Some)
}

/// Parses a field of a document as Elasticsearch's ingest processor `bytes` does; `-1` and `-1b` are -1.
///
/// # Errors
/// Elasticsearch's message.
pub fn of_ingest_field(text: &str) -> Result<i64, String> {
    match parse(text) {
        Ok(bytes) => Ok(bytes.unwrap_or(-1)),
        Err(why) => Err(why.of_setting("Ingest Field", text)),
    }
}

/// Like [`parse`], but a number without a unit is in bytes, and `-1` is out of range.
///
/// # Errors
/// [`NotASize`].
pub fn parse_with_default_unit(text: &str) -> Result<i64, NotASize> {
    let lower = text.trim().to_ascii_lowercase();
    let (number, shift) = split_unit(&lower).unwrap_or((&lower, 0));
    bytes(number, shift)
}

/// Parses a percentage (`10%`) of `whole_bytes`; `None` if the string does not end with `%`.
///
/// # Errors
/// [`NotASize::OutOfRange`] if it is not from 0 to 100.
pub fn share(text: &str, whole_bytes: u64) -> Option<Result<u64, NotASize>> {
    let percent = text.trim().strip_suffix('%')?;
    Some(match percent.trim().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok((whole_bytes as f64 * percent / 100.0) as u64),
        _ => Err(NotASize::OutOfRange),
    })
}

fn bytes(number: &str, shift: u32) -> Result<i64, NotASize> {
    if let Ok(whole) = number.parse::<i64>() {
        return whole.checked_mul(1 << shift).filter(|bytes| *bytes >= 0).ok_or(NotASize::OutOfRange);
    }
    let number: f64 = number.parse().map_err(|_| NotASize::NotANumber)?;
    if !(number.is_finite() && number >= 0.0) {
        return Err(NotASize::NotANumber);
    }
    // A part of a byte counts as a byte, so that nobody gets less than was asked for.
    let bytes = (number * (1u64 << shift) as f64).ceil();
    if bytes < i64::MAX as f64 { Ok(bytes as i64) } else { Err(NotASize::OutOfRange) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_every_unit() {
        let check =
            |text: &str, expected: Result<Option<i64>, NotASize>| assert_eq!(parse(text), expected, "{text}");
        check("512mb", Ok(Some(512 << 20)));
        check("1.5kb", Ok(Some(1536)));
        check("10b", Ok(Some(10)));
        check("2G", Ok(Some(2 << 30)));
        check("0", Ok(Some(0)));
        check("-1", Ok(None));
        check("-1b", Ok(None));
        check("1.1kb", Ok(Some(1127)));
        check("9007199254740993b", Ok(Some(9_007_199_254_740_993)));
        check("10", Err(NotASize::NoUnit));
        check("mb", Err(NotASize::NotANumber));
        check("infkb", Err(NotASize::NotANumber));
        check("1.5b", Err(NotASize::NotANumber));
        check("-1.5kb", Err(NotASize::NotANumber));
        check("1e30pb", Err(NotASize::OutOfRange));
        check("-2kb", Err(NotASize::OutOfRange));
        check("-2b", Err(NotASize::OutOfRange));
    }

    #[test]
    fn a_size_in_a_field_may_be_minus_one() {
        assert_eq!(of_ingest_field("1.5KB"), Ok(1536));
        assert_eq!(of_ingest_field("-1"), Ok(-1));
        assert_eq!(
            of_ingest_field("MB"),
            Err("failed to parse setting [Ingest Field] with value [MB]".to_owned())
        );
    }

    #[test]
    fn a_refusal_has_the_words_of_elasticsearch() {
        let message = |why: NotASize| why.of_setting("k", "x");
        assert_eq!(message(NotASize::NotANumber), "failed to parse setting [k] with value [x]");
        assert_eq!(
            message(NotASize::OutOfRange),
            "failed to parse setting [k] with value [x] as a size in bytes"
        );
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit() {
        for (bytes, shown) in
            [(0, "0b"), (1023, "1023b"), (1536, "1.5kb"), (2 << 30, "2gb"), (u64::MAX, "16384pb")]
        {
            assert_eq!(show(bytes), shown);
        }
        assert_eq!((unit_bytes("b"), unit_bytes("kb"), unit_bytes("k")), (Some(1), Some(1024), Some(1024)));
        assert_eq!(unit_bytes("KB"), None);
    }

    #[test]
    fn a_number_alone_may_be_bytes() {
        assert_eq!(parse_with_default_unit("77"), Ok(77));
        assert_eq!(parse_with_default_unit("1.5k"), Ok(1536));
        assert_eq!(parse_with_default_unit("-1"), Err(NotASize::OutOfRange));
        assert_eq!(parse_with_default_unit("2 apples"), Err(NotASize::NotANumber));
    }

    #[test]
    fn shares_lie_between_none_and_all() {
        assert_eq!(share("10%", 1000), Some(Ok(100)));
        assert_eq!(share("110%", 1000), Some(Err(NotASize::OutOfRange)));
        assert_eq!(share("x%", 1000), Some(Err(NotASize::OutOfRange)));
        assert_eq!(share("10mb", 1000), None);
    }
}
