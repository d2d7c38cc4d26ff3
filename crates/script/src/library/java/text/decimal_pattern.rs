//! Patterns of `DecimalFormat`, such as `#,##0.00`.
//!
//! Source: the documentation of `DecimalFormat`, and what Java 25 makes of patterns without a zero.

/// Most digits before and after the point. Source: `DecimalFormat`, for doubles.
pub(super) const WHOLE_DIGITS_MAX: usize = 309;
pub(super) const FRACTION_DIGITS_MAX: usize = 340;

/// What a number looks like.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    /// The texts before and after a positive number.
    pub positive: (String, String),
    /// Those of a negative number; by default a minus before the positive ones.
    pub negative: Option<(String, String)>,
    pub whole_min: usize,
    pub whole_max: usize,
    pub fraction_min: usize,
    pub fraction_max: usize,
    /// How many digits are between two commas; 0 for none.
    pub group: usize,
    /// Whether the point is shown without digits after it.
    pub shows_point: bool,
    /// 100 for `%`, 1000 for `‰`.
    pub multiplier: i32,
}

/// One of the two parts of a pattern.
#[derive(Default)]
struct Part {
    before: String,
    number: String,
    after: String,
    multiplier: Option<i32>,
}

impl Shape {
    /// Reads a pattern.
    ///
    /// # Errors
    /// The reason why it is none, or what it has that is not supported.
    pub fn parse(pattern: &str) -> Result<Shape, String> {
        let mut letters = pattern.chars().peekable();
        let positive = Part::read(&mut letters, pattern)?;
        let negative = match letters.next() {
            Some(_) => Some(Part::read(&mut letters, pattern)?),
            None => None,
        };
        if letters.next().is_some() {
            return Err(format!("Unquoted special character ';' in pattern \"{pattern}\""));
        }
        let mut shape = Shape::of_number(&positive.number, pattern)?;
        shape.multiplier = positive.multiplier.unwrap_or(1);
        shape.positive = (positive.before, positive.after);
        // A negative part that equals the positive one counts as missing.
        let negative = negative.map(|part| (part.before, part.after));
        shape.negative = negative.filter(|part| *part != shape.positive);
        Ok(shape)
    }

    /// Reads the digits of a pattern, which begin and end with optional ones.
    fn of_number(number: &str, pattern: &str) -> Result<Shape, String> {
        let wrong = |what: &str| Err(format!("{what} in pattern \"{pattern}\""));
        let (mut left, mut zeros, mut right) = (0usize, 0usize, 0usize);
        let (mut point, mut group) = (None, None);
        for letter in number.chars() {
            match letter {
                '.' if point.is_some() => return wrong("Multiple decimal separators"),
                '.' => point = Some(left + zeros + right),
                ',' => group = Some(0usize),
                '0' if right > 0 => return wrong("Unexpected '0'"),
                '0' => zeros += 1,
                _ if zeros > 0 => right += 1,
                _ => left += 1,
            }
            if let ('0' | '#', Some(digits), None) = (letter, group.as_mut(), point) {
                *digits += 1;
            }
        }
        if zeros == 0
            && left > 0
            && let Some(point) = point
        {
            // One digit before the point is a must, or the first one after it.
            let whole = point.max(1);
            (left, zeros, right) = (whole - 1, 1, left - whole);
        }
        let is_within = point.is_none_or(|point| (left..=left + zeros).contains(&point));
        if !is_within || point.is_none() && right > 0 || group == Some(0) {
            return Err(format!("Malformed pattern \"{pattern}\""));
        }
        let total = left + zeros + right;
        let end = point.unwrap_or(total);
        Ok(Shape {
            positive: Default::default(),
            negative: None,
            whole_min: end.saturating_sub(left).min(WHOLE_DIGITS_MAX),
            whole_max: i32::MAX as usize,
            fraction_min: (left + zeros).saturating_sub(end).min(FRACTION_DIGITS_MAX),
            fraction_max: (total - end).min(FRACTION_DIGITS_MAX),
            group: group.unwrap_or(0),
            shows_point: point == Some(0) || point == Some(total),
            multiplier: 1,
        })
    }

    /// Writes the digits of a number that has as many after its point as are allowed at most.
    pub fn write(&self, is_negative: bool, digits: &str) -> String {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut fraction = fraction.to_owned();
        while fraction.len() > self.fraction_min && fraction.ends_with('0') {
            fraction.pop();
        }
        while fraction.len() < self.fraction_min {
            fraction.push('0');
        }
        let whole = whole.trim_start_matches('0');
        let whole = &whole[whole.len().saturating_sub(self.whole_max)..];
        let mut padded = "0".repeat(self.whole_min.saturating_sub(whole.len()));
        padded.push_str(whole);
        if padded.is_empty() && fraction.is_empty() {
            padded.push('0');
        }
        let mut text = String::new();
        for (place, digit) in padded.chars().enumerate() {
            if self.group > 0 && place > 0 && (padded.len() - place).is_multiple_of(self.group) {
                text.push(',');
            }
            text.push(digit);
        }
        if !fraction.is_empty() || self.shows_point {
            text.push('.');
        }
        text.push_str(&fraction);
        self.around(is_negative, &text)
    }

    /// Puts the texts before and after a number.
    pub fn around(&self, is_negative: bool, number: &str) -> String {
        let (before, after) = &self.positive;
        match &self.negative {
            Some((before, after)) if is_negative => format!("{before}{number}{after}"),
            None if is_negative => format!("-{before}{number}{after}"),
            _ => format!("{before}{number}{after}"),
        }
    }
}

impl Part {
    /// Reads up to a `;` that is not quoted, which stays.
    fn read(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, pattern: &str) -> Result<Part, String> {
        let (mut part, mut is_quoted, mut is_after) = (Part::default(), false, false);
        while let Some(letter) = letters.next_if(|letter| is_quoted || *letter != ';') {
            let is_digit = matches!(letter, '#' | '0' | ',' | '.') && !is_quoted;
            if is_digit {
                if is_after {
                    return Err(format!("Unquoted special character '{letter}' in pattern \"{pattern}\""));
                }
                part.number.push(letter);
                continue;
            }
            is_after |= !part.number.is_empty();
            let is_doubled = letter == '\'' && letters.next_if_eq(&'\'').is_some();
            match letter {
                '\'' if !is_doubled => {
                    is_quoted = !is_quoted;
                    continue;
                }
                'E' if is_after && !is_quoted => {
                    return Err("exponents in a DecimalFormat are not supported by Limber yet".to_owned());
                }
                '\u{a4}' if !is_quoted => {
                    return Err("currencies in a DecimalFormat are not supported by Limber yet".to_owned());
                }
                '%' if !is_quoted => part.multiplier = Some(100),
                '\u{2030}' if !is_quoted => part.multiplier = Some(1000),
                _ => {}
            }
            let affix = if is_after { &mut part.after } else { &mut part.before };
            affix.push(letter);
        }
        match is_quoted {
            true => Err(format!("Malformed pattern \"{pattern}\"")),
            false => Ok(part),
        }
    }
}
