//! Date math in names: "which index is `<logs-{now/d}>` today?"
//!
//! Source: Elasticsearch's `IndexNameExpressionResolver.DateMathExpressionResolver`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_mapping::date::{DateFormat, Zone};

use super::Catalog;
use super::names::check_part_count;
use crate::api::Result;
use crate::environment::Clock;

const FORMAT: &str = "uuuu.MM.dd";

/// The clock that date math in names reads. Without a clock it is 1970.
#[derive(Clone, Default)]
pub(crate) struct NameClock(pub Option<Arc<dyn Clock>>);

impl fmt::Debug for NameClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("NameClock")
    }
}

impl Catalog {
    /// Returns the name that date math stands for today; any other name is returned unchanged.
    ///
    /// # Errors
    /// Fails like [`resolve`].
    pub(crate) fn resolve_date_math<'n>(&self, name: &'n str) -> Result<Cow<'n, str>> {
        if !name.starts_with('<') {
            return Ok(Cow::Borrowed(name));
        }
        let now_millis = self.clock.0.as_ref().map_or(0, |clock| clock.now_millis() as i64);
        resolve(name, now_millis).map(Cow::Owned)
    }
}

impl Catalog {
    /// Resolves the date math in a list of names and patterns.
    ///
    /// # Errors
    /// Fails like [`resolve`], and for too many names.
    pub(crate) fn dated_list<'n>(&self, expression: &'n str) -> Result<Cow<'n, str>> {
        check_part_count(expression)?;
        if !expression.contains('<') {
            return Ok(Cow::Borrowed(expression));
        }
        let parts = expression.split(',').map(str::trim).map(|part| match part.strip_prefix('-') {
            Some(excluded) => Ok(Cow::Owned(format!("-{}", self.resolve_date_math(excluded)?))),
            None => self.resolve_date_math(part),
        });
        Ok(Cow::Owned(parts.collect::<Result<Vec<_>>>()?.join(",")))
    }
}

/// Returns the name that an expression between `<` and `>` stands for; any other name is returned unchanged.
///
/// # Errors
/// `parse_exception` for unbalanced braces, an unreadable date or an unknown time zone.
pub fn resolve(name: &str, now_millis: i64) -> Result<String> {
    let Some(inside) = name.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else {
        return Ok(name.to_owned());
    };
    let invalid = |why: &str| {
        RequestError::bad_request(
            "parse_exception",
            // The message includes the closing `>`, as in Elasticsearch.
            format!("invalid dynamic name expression [{inside}>]. {why}"),
        )
    };
    let mut out = String::new();
    let mut rest = inside.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => out.extend(rest.next()),
            '}' => {
                return Err(invalid(
                    "invalid character at position. `{` and `}` are reserved characters and should be escaped when used as part of the index name using `\\` (e.g. `\\{text\\}`)",
                ));
            }
            '{' => {
                let math =
                    placeholder(&mut rest).ok_or_else(|| invalid("date math placeholder is open ended"))?;
                out.push_str(&date_of(&math, now_millis)?);
            }
            other => out.push(other),
        }
    }
    match out.is_empty() {
        true => Err(invalid("nothing captured")),
        false => Ok(out),
    }
}

/// Returns what stands before the brace that closes the placeholder.
fn placeholder(rest: &mut std::str::Chars<'_>) -> Option<String> {
    let (mut depth, mut math) = (1, String::new());
    for character in rest {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(math);
        }
        math.push(character);
    }
    None
}

/// Formats `now/d{yyyy.MM|+01:00}` as a date.
fn date_of(math: &str, now_millis: i64) -> Result<String> {
    let (expression, written) = match math.split_once('{') {
        Some((expression, written)) => (expression, written.strip_suffix('}').unwrap_or(written)),
        None => (math, FORMAT),
    };
    let (pattern, zone) = match written.split_once('|') {
        Some((pattern, zone)) => (pattern, Zone::parse(zone)?),
        None => (written, Zone::Utc),
    };
    if expression.is_empty() || pattern.is_empty() {
        return Err(RequestError::bad_request("parse_exception", "cannot parse empty datetime"));
    }
    let format = DateFormat::parse_list(pattern)?;
    let millis = format.parse_with_math(expression, now_millis, false, &zone)?;
    Ok(format.format_millis_in(millis, &zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dates() {
        // 2024-03-22T23:30:00Z
        let now = 1_711_150_200_000;
        for (name, expected) in [
            ("plain", Some("plain")),
            ("<logs-{now/d}>", Some("logs-2024.03.22")),
            ("<logs-{now/M}-x>", Some("logs-2024.03.01-x")),
            ("<logs-{now/d{yyyy_MM_dd|+12:00}}>", Some("logs-2024_03_23")),
            ("<i-{2016-04-25||/M{yyyy-MM-dd|UTC}}>", Some("i-2016-04-01")),
            ("<i-{2016-04-25||/y{yyyy-MM-dd|UTC}}>", Some("i-2016-01-01")),
            (r"<a\{b\}-{now{yyyy}}>", Some("a{b}-2024")),
            ("<a-{now/d>", None),
            ("<a}>", None),
            ("<>", None),
            ("<{now/q!}>", None),
            ("<{now{yyyy|Nowhere/Town}}>", None),
        ] {
            assert_eq!(resolve(name, now).ok().as_deref(), expected, "{name}");
        }
    }
}
