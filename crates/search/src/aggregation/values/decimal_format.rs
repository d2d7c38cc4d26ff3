//! Number patterns such as `#,##0.00`. Source: `java.text.DecimalFormat` in the ROOT locale.

use limber_mapping::RequestError;

/// A pattern's positive subpattern; negative numbers get a minus sign in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecimalFormat {
    prefix: String,
    suffix: String,
    integer_digits_min: usize,
    fraction_digits_min: usize,
    fraction_digits_max: usize,
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
        let mut format = DecimalFormat {
            prefix: String::new(),
            suffix: String::new(),
            integer_digits_min: 0,
            fraction_digits_min: 0,
            fraction_digits_max: 0,
            group_digits: 0,
            multiplier: 1,
        };
        let (before, after) = (&unquoted.chars[..first], &rest[len..]);
        for (part, is_prefix) in [(before, true), (after, false)] {
            let mut text = String::new();
            for &(char, quoted) in part {
                match char {
                    '%' if !quoted => format.multiplier = 100,
                    '‰' if !quoted => format.multiplier = 1000,
                    'E' if !quoted && !is_prefix => {
                        return Err(RequestError::unsupported(format!(
                            "the exponent in the number format [{pattern}]"
                        )));
                    }
                    _ => {}
                }
                text.push(char);
            }
            if is_prefix { format.prefix = text } else { format.suffix = text }
        }
        let (integer, fraction) = number.split_once('.').unwrap_or((&number, ""));
        if fraction.contains(['.', ',']) || fraction.contains("#0") || integer.contains("0#") {
            return Err(malformed());
        }
        if let Some(comma) = integer.rfind(',') {
            format.group_digits = integer.len() - comma - 1;
            if format.group_digits == 0 {
                return Err(malformed());
            }
        }
        format.integer_digits_min = integer.matches('0').count();
        format.fraction_digits_min = fraction.matches('0').count();
        format.fraction_digits_max = fraction.len();
        if number.len() > DIGIT_COUNT_MAX {
            return Err(malformed());
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
            ("#.##", 0.5, ".5"),
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
        assert!(DecimalFormat::parse("0E0").is_err());
    }
}
