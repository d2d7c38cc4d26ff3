//! `String.format`: Java's `Formatter`, in English.
//!
//! Source: the documentation of `java.util.Formatter`. Names of time zones (`%tZ`, `%tc`) are refused.

use super::text::time_conversion::{converted, moment};
use crate::error::{Outcome, ScriptError};
use crate::values::Value;

/// Largest width and precision.
const WIDTH_MAX: usize = 4096;

/// One `%[index$][flags][width][.precision]conversion`.
#[derive(Debug, Default)]
struct Specifier {
    index: Option<usize>,
    flags: String,
    width: usize,
    precision: Option<usize>,
    conversion: char,
    /// The letter after the conversion `t`.
    part: char,
}

impl Specifier {
    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }
}

/// Formats the arguments.
///
/// # Errors
/// A specifier is invalid, or its argument is missing or of another type.
pub(in super::super) fn format(pattern: &str, arguments: &[Value], at: u32) -> Outcome<String> {
    let mut out = String::new();
    let mut letters = pattern.chars().peekable();
    let (mut next, mut last) = (0, 0);
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let specifier = read(&mut letters, pattern, at)?;
        match specifier.conversion {
            'n' => out.push('\n'),
            '%' => pad(&mut out, "%", &specifier),
            conversion => {
                let place = match specifier.index {
                    Some(index) => index,
                    None if specifier.has('<') => last,
                    None => {
                        next += 1;
                        next - 1
                    }
                };
                last = place;
                let argument = arguments.get(place).ok_or_else(|| {
                    let reason = format!("Format specifier '%{conversion}'");
                    ScriptError::new(at, "missing_format_argument_exception", reason)
                })?;
                write(&mut out, &specifier, argument, at)?;
            }
        }
        if out.len() > WIDTH_MAX * 64 {
            return Err(ScriptError::limit(at, "The memory that a script may use has been used up."));
        }
    }
    Ok(out)
}

fn unknown(conversion: impl std::fmt::Display, at: u32) -> ScriptError {
    ScriptError::new(at, "unknown_format_conversion_exception", format!("Conversion = '{conversion}'"))
}

fn read(
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    pattern: &str,
    at: u32,
) -> Outcome<Specifier> {
    let mut specifier = Specifier::default();
    let digits = |letters: &mut std::iter::Peekable<std::str::Chars<'_>>| {
        let mut text = String::new();
        while let Some(digit) = letters.next_if(char::is_ascii_digit) {
            text.push(digit);
        }
        text
    };
    // A number before `$` is an index; it cannot begin with the flag `0`.
    if letters.peek().is_some_and(|letter| ('1'..='9').contains(letter)) {
        let number = digits(letters);
        match letters.next_if_eq(&'$') {
            Some(_) => specifier.index = number.parse::<usize>().ok().and_then(|index| index.checked_sub(1)),
            None => specifier.width = number.parse().unwrap_or(usize::MAX),
        }
    }
    if specifier.width == 0 {
        while let Some(flag) = letters.next_if(|letter| "-#+ 0,(<".contains(*letter)) {
            specifier.flags.push(flag);
        }
        specifier.width = digits(letters).parse().unwrap_or(0);
    }
    if letters.next_if_eq(&'.').is_some() {
        specifier.precision = Some(digits(letters).parse().unwrap_or(usize::MAX));
    }
    if specifier.width.max(specifier.precision.unwrap_or(0)) > WIDTH_MAX {
        return Err(ScriptError::argument(at, format!("a width of more than {WIDTH_MAX} in [{pattern}]")));
    }
    specifier.conversion = letters.next().ok_or_else(|| unknown('%', at))?;
    if let 't' | 'T' = specifier.conversion {
        specifier.part = letters.next().ok_or_else(|| unknown(specifier.conversion, at))?;
    }
    Ok(specifier)
}

fn write(out: &mut String, specifier: &Specifier, argument: &Value, at: u32) -> Outcome<()> {
    let mismatch = || {
        let reason = format!("{} != {}", specifier.conversion, argument.class());
        ScriptError::new(at, "illegal_format_conversion_exception", reason)
    };
    let is_whole = matches!(argument, Value::Int(_) | Value::Long(_)) || is_big_integer(argument);
    let text = match specifier.conversion {
        'b' | 'B' => match argument {
            Value::Bool(flag) => flag.to_string(),
            value => (!value.is_null()).to_string(),
        },
        'h' | 'H' if !argument.is_null() => format!("{:x}", argument.hash()),
        's' | 'S' | 'h' | 'H' => argument.text(),
        _ if argument.is_null() => "null".to_owned(),
        'c' | 'C' => match argument {
            Value::Char(_) => argument.text(),
            Value::Int(code) => char::from_u32(*code as u32).map(String::from).ok_or_else(mismatch)?,
            _ => return Err(mismatch()),
        },
        'd' if is_whole => {
            pad_number(out, signed(&argument.text(), specifier), specifier);
            return Ok(());
        }
        'x' | 'X' | 'o' => {
            let digits = match (argument, specifier.conversion) {
                (Value::Int(number), 'o') => format!("{number:o}"),
                (Value::Int(number), _) => format!("{number:x}"),
                (Value::Long(number), 'o') => format!("{number:o}"),
                (Value::Long(number), _) => format!("{number:x}"),
                _ => return Err(mismatch()),
            };
            let mark = match specifier.conversion {
                'o' => "0",
                _ => "0x",
            };
            let text = if specifier.has('#') { format!("{mark}{digits}") } else { digits };
            pad_number(out, cased(text, specifier.conversion), specifier);
            return Ok(());
        }
        'f' | 'e' | 'E' | 'g' | 'G' => {
            let number = match argument {
                Value::Double(_) | Value::Float(_) => argument.f64(),
                Value::Object(object) if !is_big_integer(argument) => object.number().ok_or_else(mismatch)?,
                _ => return Err(mismatch()),
            };
            let text = match number.is_finite() {
                true => signed(&decimal(number, specifier), specifier),
                false => Value::Double(number).text(),
            };
            pad_number(out, text, specifier);
            return Ok(());
        }
        'd' => return Err(mismatch()),
        't' | 'T' => {
            let date = moment(argument).ok_or_else(mismatch)?;
            let refused = || match specifier.part {
                'Z' | 'c' => ScriptError::unsupported(at, "[%tZ] and [%tc] in String.format"),
                part => unknown(format_args!("t{part}"), at),
            };
            converted(&date, specifier.part).ok_or_else(refused)?
        }
        other => return Err(unknown(other, at)),
    };
    let text = match specifier.precision {
        Some(most) => text.chars().take(most).collect(),
        None => text,
    };
    pad(out, &cased(text, specifier.conversion), specifier);
    Ok(())
}

fn is_big_integer(value: &Value) -> bool {
    value.class() == "java.math.BigInteger"
}

fn cased(text: String, conversion: char) -> String {
    if conversion.is_ascii_uppercase() { text.to_uppercase() } else { text }
}

/// Prints a number as the conversion asks. Halves are rounded up, as in Java.
fn decimal(number: f64, specifier: &Specifier) -> String {
    let places = specifier.precision.unwrap_or(6);
    let scientific = |places: usize| {
        let text = format!("{number:.places$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        cased(format!("{mantissa}e{sign}{:02}", exponent.abs()), specifier.conversion)
    };
    match specifier.conversion {
        'f' => fixed(number, places),
        'e' | 'E' => scientific(places),
        _ => {
            let digits = places.max(1);
            let size = number.abs();
            match size == 0.0 || (1e-4..10f64.powi(digits as i32)).contains(&size) {
                true => {
                    let whole = if size < 1.0 { 0 } else { size.log10().floor() as usize };
                    fixed(number, digits.saturating_sub(whole + 1))
                }
                false => scientific(digits - 1),
            }
        }
    }
}

/// Rounds the shortest decimal form of a number to `places`, halves away from zero.
fn fixed(number: f64, places: usize) -> String {
    let shortest = format!("{}", number.abs());
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let kept = whole.len() + places;
    let rounds_up = digits.get(kept).is_some_and(|digit| *digit >= b'5');
    digits.resize(kept, b'0');
    if rounds_up {
        let mut place = kept;
        loop {
            if place == 0 {
                digits.insert(0, b'1');
                break;
            }
            place -= 1;
            if digits[place] < b'9' {
                digits[place] += 1;
                break;
            }
            digits[place] = b'0';
        }
    }
    let mut text = String::from_utf8_lossy(&digits).into_owned();
    if places > 0 {
        text.insert(text.len() - places, '.');
    }
    if number.is_sign_negative() { format!("-{text}") } else { text }
}

/// Adds separators, the sign or parentheses to a decimal number.
fn signed(text: &str, specifier: &Specifier) -> String {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, rest) = digits.split_at(digits.find(['.', 'e', 'E']).unwrap_or(digits.len()));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if specifier.has(',') && place > 0 && (whole.len() - place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = match is_negative {
        true if specifier.has('(') => return format!("({grouped}{rest})"),
        true => "-",
        false if specifier.has('+') => "+",
        false if specifier.has(' ') => " ",
        false => "",
    };
    format!("{sign}{grouped}{rest}")
}

/// Appends a number; the flag `0` fills the width after the sign.
fn pad_number(out: &mut String, text: String, specifier: &Specifier) {
    let missing = specifier.width.saturating_sub(text.chars().count());
    if specifier.has('0') && missing > 0 && text.contains(|letter: char| letter.is_ascii_digit()) {
        let start = text.find(|letter: char| letter.is_ascii_hexdigit()).unwrap_or(0);
        out.push_str(&text[..start]);
        out.extend(std::iter::repeat_n('0', missing));
        out.push_str(&text[start..]);
        return;
    }
    pad(out, &text, specifier);
}

fn pad(out: &mut String, text: &str, specifier: &Specifier) {
    let missing = specifier.width.saturating_sub(text.chars().count());
    if !specifier.has('-') {
        out.extend(std::iter::repeat_n(' ', missing));
    }
    out.push_str(text);
    if specifier.has('-') {
        out.extend(std::iter::repeat_n(' ', missing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_printed_as_java_prints_them() {
        let check = |pattern: &str, arguments: &[Value], expected: &str| {
            assert_eq!(format(pattern, arguments, 0).expect("formatted"), expected, "{pattern}");
        };
        let double = Value::Double;
        // The first line was answered by OpenSearch 3.8.
        check("%05.2f %s %d", &[double(1.5), Value::str("a"), Value::Int(3)], "01.50 a 3");
        check(
            "%x|%-5s|%5s|%b",
            &[Value::Int(255), Value::str("l"), Value::str("r"), Value::Bool(true)],
            "ff|l    |    r|true",
        );
        check(
            "%,d %e %+d",
            &[Value::Int(1_234_567), double(12_345.678), Value::Int(5)],
            "1,234,567 1.234568e+04 +5",
        );
        check("%.1f %.0f %.2f", &[double(0.25), double(2.5), double(-1.005)], "0.3 3 -1.01");
        check("%2$s %1$s %<s%%%n", &[Value::str("a"), Value::str("b")], "b a a%\n");
        check(
            "%.2s %S %c %08d %(d",
            &[Value::str("abc"), Value::str("x"), Value::Char(99), Value::Int(-42), Value::Int(-1)],
            "ab X c -0000042 (1)",
        );
        check("%g", &[double(0.000_012_345)], "1.23450e-05");
        check(
            "%1$tF %1$tT.%1$tL %1$tA %1$TB|%1$5td|%1$tj %1$tI%1$tp %1$tz",
            &[Value::Long(1_700_000_000_123)],
            "2023-11-14 22:13:20.123 Tuesday NOVEMBER|   14|318 10pm +0000",
        );
    }

    #[test]
    fn wrong_arguments_are_refused() {
        let check = |pattern: &str, arguments: &[Value], kind: &str| {
            assert_eq!(format(pattern, arguments, 0).expect_err("refused").kind, kind, "{pattern}");
        };
        check("%d", &[Value::Double(1.0)], "illegal_format_conversion_exception");
        check("%s %s", &[Value::Int(1)], "missing_format_argument_exception");
        check("%q", &[Value::Int(1)], "unknown_format_conversion_exception");
        check("%tq", &[Value::Long(1)], "unknown_format_conversion_exception");
        check("%tY", &[Value::Int(1)], "illegal_format_conversion_exception");
        check("%tZ", &[Value::Long(1)], "illegal_argument_exception");
    }
}
