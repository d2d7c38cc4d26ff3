//! Compiles a pattern's text to items: Java's pattern letters, and a few additional signs for built-in
//! formats.
//!
//! Source: `java.time.format.DateTimeFormatterBuilder#appendPattern`.

use super::item::{Digits, Item, Offset, Part, Sign, Unit, ZoneText};
use super::locale::Locale;
use crate::RequestError;

/// How widths are interpreted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Dialect {
    /// A user's pattern, by Java's rules.
    Java,
    /// A built-in `strict_` format: numbers have their full width.
    Strict,
    /// A built-in format: one digit is enough, and years may be long.
    Lenient,
}

/// Maximum nesting depth of optional sections.
const DEPTH_MAX: usize = 32;
/// Maximum length of a pattern in bytes.
const LENGTH_MAX: usize = 512;

/// Compiles a pattern. Additional signs, for [`Dialect::Strict`] and [`Dialect::Lenient`] only: `#` is any
/// zone or offset, `{` a fraction of one to nine digits after a point, `$` the same but printed to the
/// nanosecond, `^` the same after a point or a comma, `}` a fraction of at most three digits, `~` a year of
/// four digits, `!` a day of one or two digits.
pub(super) fn compile(pattern: &str, dialect: Dialect, locale: &Locale) -> Result<Vec<Item>, RequestError> {
    if pattern.len() > LENGTH_MAX {
        return Err(RequestError::illegal_argument(format!(
            "Invalid format: pattern of {} bytes",
            pattern.len()
        )));
    }
    let chars: Vec<char> = pattern.chars().collect();
    let mut compiler = Compiler { chars: &chars, at: 0, dialect, locale };
    let items = compiler.items(0).map_err(|reason| {
        RequestError::illegal_argument(format!("Invalid format: [{pattern}]: {reason}"))
            .caused_by(RequestError::illegal_argument(reason))
    })?;
    Ok(items)
}

struct Compiler<'a> {
    chars: &'a [char],
    at: usize,
    dialect: Dialect,
    locale: &'a Locale,
}

impl Compiler<'_> {
    fn items(&mut self, depth: usize) -> Result<Vec<Item>, String> {
        let mut items: Vec<Item> = Vec::new();
        while let Some(&c) = self.chars.get(self.at) {
            match c {
                'A'..='Z' | 'a'..='z' => {
                    let start = self.at;
                    while self.chars.get(self.at) == Some(&c) {
                        self.at += 1;
                    }
                    items.push(self.letter(c, self.at - start)?);
                }
                '\'' => items.push(Item::Literal(self.quoted()?.into())),
                '[' => {
                    self.at += 1;
                    if depth == DEPTH_MAX {
                        return Err("too many nested optional sections".to_owned());
                    }
                    items.push(Item::Optional(self.items(depth + 1)?));
                    if self.chars.get(self.at) == Some(&']') {
                        self.at += 1;
                    }
                }
                ']' if depth == 0 => {
                    return Err("Pattern invalid as it contains ] without previous [".to_owned());
                }
                ']' => break,
                '{' | '}' | '#' if self.dialect == Dialect::Java => {
                    return Err(format!("Pattern includes reserved character: '{c}'"));
                }
                '{' | '}' => {
                    self.at += 1;
                    items.push(Item::Fraction { min: 1, max: if c == '{' { 9 } else { 3 }, points: b"." });
                }
                '$' if self.dialect != Dialect::Java => {
                    self.at += 1;
                    items.push(Item::Fraction { min: 3, max: 9, points: b"." });
                }
                '^' if self.dialect != Dialect::Java => {
                    self.at += 1;
                    items.push(Item::Fraction { min: 1, max: 9, points: b".," });
                }
                '#' => {
                    self.at += 1;
                    items.push(Item::Zone(ZoneText::Any));
                }
                '~' if self.dialect != Dialect::Java => {
                    self.at += 1;
                    items.push(number(Unit::Year, 4, 4, Sign::ExceedsPad));
                }
                '!' if self.dialect != Dialect::Java => {
                    self.at += 1;
                    items.push(number(Unit::Day, 1, 2, Sign::None));
                }
                other => {
                    self.at += 1;
                    items.push(Item::Literal(other.to_string().into()));
                }
            }
        }
        reserve(&mut items);
        Ok(items)
    }

    /// Reads text in quotes, in which two quotes mean one.
    fn quoted(&mut self) -> Result<String, String> {
        let mut text = String::new();
        self.at += 1;
        loop {
            match self.chars.get(self.at) {
                Some('\'') if self.chars.get(self.at + 1) == Some(&'\'') => {
                    text.push('\'');
                    self.at += 2;
                }
                Some('\'') => {
                    self.at += 1;
                    break;
                }
                Some(&c) => {
                    text.push(c);
                    self.at += 1;
                }
                None => return Err("Pattern ends with an incomplete string literal".to_owned()),
            }
        }
        // `''` alone is a quote.
        Ok(if text.is_empty() { "'".to_owned() } else { text })
    }

    /// Returns the item of `count` letters `D`; `None` if these are too many.
    fn day_of_year(&self, count: usize) -> Option<Item> {
        match (count, self.dialect) {
            (1, Dialect::Java) => Some(number(Unit::DayOfYear, 1, 19, Sign::Negative)),
            (_, Dialect::Lenient) => Some(number(Unit::DayOfYear, 1, 3, Sign::None)),
            (2 | 3, _) => Some(number(Unit::DayOfYear, count, 3, Sign::None)),
            _ => None,
        }
    }

    fn text(&self, unit: Unit, letter: char, full: bool) -> Item {
        Item::Text { unit, names: self.locale.names(unit, full, matches!(letter, 'L' | 'q')) }
    }

    /// Returns the item of three or more letters that mean a name.
    fn named(&self, unit: Unit, letter: char, count: usize) -> Result<Item, String> {
        match count {
            3 => Ok(self.text(unit, letter, false)),
            4 => Ok(self.text(unit, letter, true)),
            5 => Err(format!("narrow text of pattern letter {letter} is not supported by Limber yet")),
            _ => Err(format!("Too many pattern letters: {letter}")),
        }
    }

    /// Refuses a letter whose meaning depends on the weeks of a locale that are not known here.
    fn check_weeks(&self, letter: char, count: usize) -> Result<(), String> {
        if !depends_on_weeks(letter, count) || self.locale.has_neutral_weeks() {
            return Ok(());
        }
        let tag = self.locale.tag();
        Err(format!("pattern letter {letter} in locale {tag} is not supported by Limber yet"))
    }

    fn letter(&self, letter: char, count: usize) -> Result<Item, String> {
        let too_many = || Err(format!("Too many pattern letters: {letter}"));
        let java = self.dialect == Dialect::Java;
        // One letter means any width. Two letters mean exactly two digits, or at most two in a lenient
        // format.
        let two = |unit: Unit| match count {
            1 => Ok(number(unit, 1, 19, Sign::Negative)),
            2 if self.dialect == Dialect::Lenient => Ok(number(unit, 1, 2, Sign::None)),
            2 => Ok(number(unit, 2, 2, Sign::None)),
            _ => Err(format!("Too many pattern letters: {letter}")),
        };
        let year = |unit: Unit| match (count, self.dialect) {
            (2, _) if unit == Unit::LocalWeekYear => Item::ShortYear(unit),
            (2, _) => Item::ShortYear(Unit::Year),
            (_, Dialect::Lenient) => number(unit, 1, 9, Sign::Negative),
            (1 | 3, _) => number(unit, count, 19, Sign::Negative),
            (_, Dialect::Strict) => number(unit, 4, 10, Sign::ExceedsPad),
            _ => number(unit, count.min(19), 19, Sign::ExceedsPad),
        };
        let text = |unit: Unit, full: bool| self.text(unit, letter, full);
        let named = |unit: Unit| self.named(unit, letter, count);
        if java {
            self.check_weeks(letter, count)?;
        }
        if java && let Some(item) = local_week(letter, count) {
            return item;
        }
        Ok(match letter {
            // In a user's pattern this week depends on the locale instead of ISO 8601.
            'Y' if java => year(Unit::LocalWeekYear),
            'e' | 'c' if java && count >= 3 => named(Unit::WeekDay)?,
            'u' => year(Unit::Year),
            'y' => year(if java { Unit::YearOfEra } else { Unit::Year }),
            'Y' => year(Unit::WeekYear),
            'M' | 'L' if count <= 2 => two(Unit::Month)?,
            'M' | 'L' => named(Unit::Month)?,
            'Q' | 'q' if count <= 2 => two(Unit::Quarter)?,
            'Q' | 'q' => named(Unit::Quarter)?,
            'd' => two(Unit::Day)?,
            'D' => self.day_of_year(count).map_or_else(too_many, Ok)?,
            'w' => two(Unit::Week)?,
            'e' => number(Unit::WeekDay, 1, 1, Sign::None),
            'E' if count < 3 => text(Unit::WeekDay, false),
            'E' => named(Unit::WeekDay)?,
            'a' if count == 1 => text(Unit::HalfDay, false),
            'G' if count <= 3 => text(Unit::Era, false),
            'G' if count == 4 => text(Unit::Era, true),
            'H' => two(Unit::Hour)?,
            'k' => two(Unit::ClockHour)?,
            'K' => two(Unit::HourOfHalf)?,
            'h' => two(Unit::ClockHourOfHalf)?,
            'm' => two(Unit::Minute)?,
            's' => two(Unit::Second)?,
            'S' if count <= 9 => Item::Fraction { min: count, max: count, points: b"" },
            'n' if count <= 19 => number(Unit::Nano, count, 19, Sign::None),
            'N' if count <= 19 => number(Unit::NanoOfDay, count, 19, Sign::None),
            'A' if count <= 19 => number(Unit::MilliOfDay, count, 19, Sign::None),
            'V' if count == 2 => Item::Zone(ZoneText::Id),
            'V' => return Err("Pattern letter count must be 2: V".to_owned()),
            'z' if count <= 3 => Item::Zone(ZoneText::ShortName),
            'v' | 'z' if count <= 4 => Item::Zone(ZoneText::Name),
            'Z' | 'O' if count == 4 => Item::LocalOffset { full: true },
            'O' if count == 1 => Item::LocalOffset { full: false },
            'X' | 'x' | 'Z' | 'O' => Item::Offset(offset(letter, count)?),
            'a' | 'G' | 'S' | 'n' | 'N' | 'A' | 'v' | 'z' | 'W' | 'F' => return too_many(),
            'g' | 'B' | 'p' => return Err(format!("pattern letter {letter} is not supported by Limber yet")),
            _ => return Err(format!("Unknown pattern letter: {letter}")),
        })
    }
}

/// Whether what a user's pattern means by a letter depends on which day begins a week, and on the first week
/// of a year.
fn depends_on_weeks(letter: char, count: usize) -> bool {
    matches!(letter, 'Y' | 'w' | 'W') || (matches!(letter, 'e' | 'c') && count < 3)
}

/// Returns the item of a letter of a user's pattern for weeks and their days that depend on the locale;
/// `None` if it is another letter.
fn local_week(letter: char, count: usize) -> Option<Result<Item, String>> {
    Some(match (letter, count) {
        ('w', 1 | 2) => Ok(number(Unit::LocalWeek, count, 2, Sign::None)),
        ('w', _) => Err(format!("Too many pattern letters: {letter}")),
        ('c', 2) => Err("Invalid pattern \"cc\"".to_owned()),
        ('e' | 'c', 1 | 2) => Ok(number(Unit::LocalWeekDay, count, count, Sign::None)),
        ('W', 1) => Ok(number(Unit::WeekOfMonth, 1, 2, Sign::None)),
        ('F', 1) => Ok(number(Unit::AlignedWeek, 1, 19, Sign::Negative)),
        _ => return None,
    })
}

fn number(unit: Unit, min: usize, max: usize, sign: Sign) -> Item {
    Item::Number { unit, digits: Digits { min, max, sign, reserve: 0 } }
}

fn offset(letter: char, count: usize) -> Result<Offset, String> {
    let zero_long = |colon: bool| if colon { "+00:00" } else { "+0000" };
    let (colon, minutes, seconds) = match (letter, count) {
        ('X' | 'x', 1) => (false, Part::Optional, Part::Never),
        ('X' | 'x', 2) => (false, Part::Always, Part::Never),
        ('X' | 'x', 3) => (true, Part::Always, Part::Never),
        ('X' | 'x', 4) => (false, Part::Always, Part::Optional),
        ('X' | 'x', 5) | ('Z', 5) => (true, Part::Always, Part::Optional),
        ('Z', 1..=3) => (false, Part::Always, Part::Never),
        ('O', _) => return Err("Pattern letter count must be 1 or 4: O".to_owned()),
        _ => return Err(format!("Too many pattern letters: {letter}")),
    };
    let zero = match (letter, count) {
        ('X', _) | ('Z', 5) => "Z",
        ('x', 1) => "+00",
        _ => zero_long(colon),
    };
    Ok(Offset { colon, minutes, seconds, zero })
}

/// Makes a number of variable width leave the digits of the fixed-width numbers directly after it
/// (`yyyyMMdd`).
fn reserve(items: &mut [Item]) {
    let mut after = 0;
    for item in items.iter_mut().rev() {
        match item {
            Item::Number { digits, .. } if digits.min == digits.max && digits.sign == Sign::None => {
                after += digits.max
            }
            Item::Fraction { min, max, points: b"" } if min == max => after += *max,
            Item::Number { digits, .. } => {
                digits.reserve = after;
                after = 0;
            }
            _ => after = 0,
        }
    }
}
