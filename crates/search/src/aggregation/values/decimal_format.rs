//! Number patterns such as `#,##0.00`. Source: `java.text.DecimalFormat` in the ROOT locale.

use limber_mapping::RequestError;

/// A pattern's positive subpattern; negative numbers get a minus sign in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecimalFormat {
    prefix: String,
    suffix: String,
    integer_digits_min: usize,
    /// With an exponent: the digits in front of the point, of which the exponent is a multiple.
    integer_digits_max: usize,
    fraction_digits_min: usize,
    fraction_digits_max: usize,
    /// 0 for numbers without exponents.
    exponent_digits_min: usize,
    /// Digits between grouping separators; 0 for no separators.
    group_digits: usize,
    /// 1, 100 (`%`) or 1000 (`‰`).
    multiplier: u32,
}

/// Largest number of digits on either side of the decimal point.
const DIGIT_COUNT_MAX: usize = 340;
/// Maximum length of a pattern in bytes: that of a date's pattern. A request repeats a pattern's texts for
/// every value that it shows.
const LENGTH_MAX: usize = 512;

impl DecimalFormat {
    /// Parses a pattern such as `#,##0.00`.
    pub fn parse(pattern: &str) -> Result<DecimalFormat, RequestError> {
        if pattern.len() > LENGTH_MAX {
            return Err(RequestError::illegal_argument(format!(
                "Invalid format: pattern of {} bytes",
                pattern.len()
            )));
        }
        let malformed = || RequestError::illegal_argument(format!("Malformed pattern \"{pattern}\""));
        let positive = pattern.split(';').next().unwrap_or_default();
        let is_number = |char: char| matches!(char, '0' | '#' | ',' | '.');
        let unquoted = Unquoted::of(positive);
        // As in Java, a pattern without digits is a prefix of whole numbers.
        let first = unquoted.chars.iter().position(|&(char, quoted)| !quoted && is_number(char));
        let first = first.unwrap_or(unquoted.chars.len());
        let rest = &unquoted.chars[first..];
        let len = rest.iter().take_while(|&&(char, quoted)| !quoted && is_number(char)).count();
        let number: String = rest[..len].iter().map(|&(char, _)| char).collect();
        let Some((exponent_digits_min, after)) = exponent(&number, &rest[len..]) else {
            let reason = format!("Malformed exponential pattern \"{pattern}\"");
            return Err(RequestError::illegal_argument(reason));
        };
        let (prefix, before_multiplier) = affix(&unquoted.chars[..first]);
        let (suffix, after_multiplier) = affix(after);
        let (integer, fraction) = number.split_once('.').unwrap_or((&number, ""));
        if fraction.contains(['.', ',']) || fraction.contains("#0") || integer.contains("0#") {
            return Err(malformed());
        }
        let group_digits = integer.rfind(',').map(|comma| integer.len() - comma - 1);
        if group_digits == Some(0) || number.len() > DIGIT_COUNT_MAX {
            return Err(malformed());
        }
        let mut format = DecimalFormat {
            prefix,
            suffix,
            integer_digits_min: integer.matches('0').count(),
            integer_digits_max: integer.matches(['0', '#']).count(),
            fraction_digits_min: fraction.matches('0').count(),
            fraction_digits_max: fraction.len(),
            exponent_digits_min,
            group_digits: group_digits.unwrap_or(0),
            multiplier: after_multiplier.or(before_multiplier).unwrap_or(1),
        };
        // As in Java, `#.##` stands for `0.##`, and `.##` for `.0#`.
        if number.contains('.') && number.contains('#') && !number.contains('0') {
            match format.integer_digits_max {
                0 => format.fraction_digits_min = 1,
                _ => format.integer_digits_min = 1,
            }
        }
        Ok(format)
    }

    /// Formats a number. Rounds half to even, as `DecimalFormat` does. It shows the digits that tell the
    /// number from its neighbours (those of Java's `Double.toString`), then zeros.
    pub fn format(&self, value: f64) -> String {
        if value.is_nan() {
            return "NaN".to_owned();
        }
        if value.is_infinite() {
            return self.enclosed(value.is_sign_negative(), |out| out.push('∞'));
        }
        let scaled = (value * f64::from(self.multiplier)).abs();
        if self.exponent_digits_min > 0 {
            return self.enclosed(value.is_sign_negative(), |out| self.push_exponential(scaled, out));
        }
        let shortest = scaled.to_string();
        let fraction_digits = shortest.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        // Rust also rounds the exact decimal expansion half to even.
        let digits = match fraction_digits > self.fraction_digits_max {
            true => format!("{scaled:.*}", self.fraction_digits_max),
            false => shortest,
        };
        self.enclosed(value.is_sign_negative(), |out| self.push_digits(&digits, out))
    }

    /// Formats an integer, with all its digits.
    pub fn format_whole(&self, value: i64) -> String {
        if self.exponent_digits_min > 0 {
            return self.format(value as f64);
        }
        let digits = (i128::from(value) * i128::from(self.multiplier)).unsigned_abs().to_string();
        self.enclosed(value < 0, |out| self.push_digits(&digits, out))
    }

    fn enclosed(&self, is_negative: bool, push: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        if is_negative {
            out.push('-');
        }
        out.push_str(&self.prefix);
        push(&mut out);
        out.push_str(&self.suffix);
        out
    }

    fn push_digits(&self, digits: &str, out: &mut String) {
        let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        self.push_integer(integer, out);
        let kept = fraction.trim_end_matches('0');
        if kept.len().max(self.fraction_digits_min) > 0 {
            out.push('.');
            out.push_str(kept);
            out.extend(std::iter::repeat_n('0', self.fraction_digits_min.saturating_sub(kept.len())));
        }
    }

    /// Writes a number with an exponent. Source: `DecimalFormat#subformatNumber`.
    fn push_exponential(&self, scaled: f64, out: &mut String) {
        let shortest = format!("{scaled:e}");
        let significant = (self.integer_digits_max + self.fraction_digits_max).max(1);
        let (mantissa, _) = shortest.split_once('e').unwrap_or((&shortest, "0"));
        let rounded = match mantissa.len() > significant + 1 {
            true => format!("{scaled:.*e}", significant - 1),
            false => shortest,
        };
        let (mantissa, power) = rounded.split_once('e').unwrap_or((&rounded, "0"));
        let digits = mantissa.replace('.', "");
        let digits = digits.trim_end_matches('0');
        // The place of the point in front of the first digit, and the exponent that stays beside the digits.
        let point = power.parse::<i64>().unwrap_or(0) + 1;
        let (integer_min, integer_max) = (self.integer_digits_min as i64, self.integer_digits_max as i64);
        let (mut exponent, integer_digits) = match integer_max > 1 && integer_max > integer_min {
            true => {
                let exponent = (point - 1).div_euclid(integer_max) * integer_max;
                (exponent, if digits.is_empty() { 1 } else { point - exponent })
            }
            false => (point - integer_min, integer_min),
        };
        if digits.is_empty() {
            exponent = 0;
        }
        let integer_digits = integer_digits as usize;
        let count_min = (self.integer_digits_min + self.fraction_digits_min).max(integer_digits);
        let padded = format!("{digits:0<count_min$}");
        let (integer, fraction) = padded.split_at(integer_digits);
        out.push_str(integer);
        if !fraction.is_empty() {
            out.push('.');
            out.push_str(fraction);
        }
        let sign = if exponent < 0 { "-" } else { "" };
        out.push_str(&format!("E{sign}{:0>width$}", exponent.abs(), width = self.exponent_digits_min));
    }

    fn push_integer(&self, integer: &str, out: &mut String) {
        let integer = if integer == "0" && self.integer_digits_min == 0 && self.fraction_digits_max > 0 {
            ""
        } else {
            integer
        };
        let padded = format!("{integer:0>width$}", width = self.integer_digits_min);
        for (at, digit) in padded.chars().enumerate() {
            let left = padded.len() - at;
            if at > 0 && self.group_digits > 0 && left % self.group_digits == 0 {
                out.push(',');
            }
            out.push(digit);
        }
    }
}

/// Returns how many digits an exponent has, which begins directly after `number`, and what follows it; 0 if
/// there is none. `None` if it is malformed.
fn exponent<'p>(number: &str, after: &'p [(char, bool)]) -> Option<(usize, &'p [(char, bool)])> {
    let Some((('E', false), rest)) = after.split_first() else { return Some((0, after)) };
    let count = rest.iter().take_while(|found| **found == ('0', false)).count();
    (count > 0 && number.contains(['0', '#'])).then(|| (count, &rest[count..]))
}

/// Returns the text before or after a number, and the factor that it asks for.
fn affix(part: &[(char, bool)]) -> (String, Option<u32>) {
    let factor = |&(char, quoted): &(char, bool)| match char {
        '%' if !quoted => Some(100),
        '‰' if !quoted => Some(1000),
        _ => None,
    };
    (part.iter().map(|(char, _)| *char).collect(), part.iter().rev().find_map(factor))
}

/// The characters of a pattern, each with whether it was quoted.
struct Unquoted {
    chars: Vec<(char, bool)>,
}

impl Unquoted {
    fn of(pattern: &str) -> Unquoted {
        let mut chars = Vec::new();
        let mut quoted = false;
        let mut rest = pattern.chars().peekable();
        while let Some(char) = rest.next() {
            match char {
                '\'' if rest.peek() == Some(&'\'') => {
                    rest.next();
                    chars.push(('\'', true));
                }
                '\'' => quoted = !quoted,
                other => chars.push((other, quoted)),
            }
        }
        Unquoted { chars }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_numbers_as_java_does() {
        for (pattern, value, expected) in [
            ("0.00", -5.0, "-5.00"),
            ("000.0", 7.0, "007.0"),
            ("#,##0.00", 1234567.895, "1,234,567.90"),
            ("#.##", 0.5, "0.5"),
            ("#,###.##", 0.23, "0.23"),
            ("#.00", 0.5, ".50"),
            (".##", 0.0, ".0"),
            ("0.00 EUR", 3.0, "3.00 EUR"),
            ("0.###E0", 1234.5, "1.234E3"),
            ("00.###E0", 0.00123, "12.3E-4"),
            ("##0.#####E0", 12345.0, "12.345E3"),
            ("##0.#####E0", 0.00012345, "123.45E-6"),
            ("0.00E00", 10.0, "1.00E01"),
            ("0.###E0", 0.0, "0E0"),
            ("0.0E0", -99.96, "-1.0E2"),
            ("#", 2.5, "2"),
            ("#", 3.5, "4"),
            ("0.##", 3.0, "3"),
            ("$#,##0.00 'a'", 3.0, "$3.00 a"),
            ("0%", 0.256, "26%"),
            ("abc", 3.0, "abc3"),
            ("yyyy-MM-dd", -0.25, "-yyyy-MM-dd0"),
        ] {
            assert_eq!(DecimalFormat::parse(pattern).expect("pattern").format(value), expected, "{pattern}");
        }
        // Recorded from Elasticsearch 9.4.3.
        for (pattern, value, expected) in [
            ("#,##0.###", 1234567890123456789012.0, "1,234,567,890,123,456,800,000"),
            ("0.00", 1e23, "100000000000000000000000.00"),
            ("0.00", 1.005, "1.00"),
            ("0.0", 0.15, "0.1"),
            ("0.0", 0.25, "0.2"),
        ] {
            assert_eq!(DecimalFormat::parse(pattern).expect("pattern").format(value), expected, "{pattern}");
        }
        for (pattern, value, expected) in [
            ("0.0", i64::MIN, "-9223372036854775808.0"),
            ("#,##0", i64::MAX, "9,223,372,036,854,775,807"),
            ("0%", i64::MIN, "-922337203685477580800%"),
            ("00000", 5, "00005"),
        ] {
            let format = DecimalFormat::parse(pattern).expect("pattern");
            assert_eq!(format.format_whole(value), expected, "{pattern}");
        }
        assert!(DecimalFormat::parse(&format!("0'{}'", "x".repeat(509))).is_ok());
        assert!(DecimalFormat::parse(&format!("0'{}'", "x".repeat(510))).is_err());
        for malformed in ["0E", "0.0Ex", ".E0"] {
            assert!(DecimalFormat::parse(malformed).is_err(), "{malformed}");
        }
        assert_eq!(DecimalFormat::parse("0.#E0").expect("pattern").format_whole(-1500), "-1.5E3");
    }
}
