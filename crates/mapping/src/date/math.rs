//! Date math: `now-1d/d`, `2020-01-01||+1M/d`.
//!
//! Source: `JavaDateMathParser`.

use super::civil::{Civil, MILLIS_PER_DAY};
use super::instant::Instant;
use super::zone::Zone;
use crate::RequestError;

fn parse_exception(reason: String) -> RequestError {
    RequestError::bad_request("parse_exception", reason)
}

/// Applies `+1d`, `-2h`, `/M` ... to an instant, in the time zone `zone`. Rounding goes down to the unit's
/// first millisecond, or up to the beginning of its last.
pub(super) fn apply(
    math: &str,
    instant: Instant,
    round_up: bool,
    zone: &Zone,
) -> Result<Instant, RequestError> {
    let truncated = || parse_exception(format!("truncated date math [{math}]"));
    let mut local = zone.to_local(instant.millis);
    let mut nanos = instant.nanos;
    let bytes = math.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let operator = bytes[at];
        at += 1;
        let sign = match operator {
            b'+' => 1,
            b'-' => -1,
            b'/' => 0,
            _ => return Err(parse_exception(format!("operator not supported for date math [{math}]"))),
        };
        if at >= bytes.len() {
            return Err(truncated());
        }
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let count = if digits == 0 {
            1
        } else {
            let text = &math[at..at + digits];
            at += digits;
            if at >= bytes.len() {
                return Err(truncated());
            }
            text.parse::<i64>()
                .ok()
                .filter(|count| *count <= i32::MAX as i64)
                .ok_or_else(|| RequestError::number_format(text))?
        };
        if sign == 0 {
            nanos = 0;
        }
        if sign == 0 && digits > 0 && count != 1 {
            return Err(parse_exception(format!(
                "rounding `/` can only be used on single unit types [{math}]"
            )));
        }
        let unit = math[at..].chars().next().unwrap_or_default();
        at += unit.len_utf8();
        let moved = match Step::of(unit) {
            None => {
                return Err(parse_exception(format!("unit [{unit}] not supported for date math [{math}]")));
            }
            Some(step) if sign == 0 => step.floor(local).and_then(|floor| {
                if round_up { step.add(floor, 1).and_then(|next| next.checked_sub(1)) } else { Some(floor) }
            }),
            // Hours and smaller units are added in UTC, days and larger units in local time.
            Some(step) => match step {
                Step::Millis(length) => {
                    zone.to_utc(local).checked_add(sign * count * length).map(|utc| zone.to_local(utc))
                }
                _ => step.add(local, sign * count),
            },
        };
        local = moved.ok_or_else(|| parse_exception(format!("date math out of range [{math}]")))?;
        if sign == 0 || unit != 'h' {
            // A local time that does not exist is shifted before the next operator.
            local = zone.to_local(zone.to_utc(local));
        }
    }
    Ok(Instant { millis: zone.to_utc(local), nanos })
}

enum Step {
    Months(i64),
    Weeks,
    Days,
    Millis(i64),
}

impl Step {
    fn of(unit: char) -> Option<Step> {
        Some(match unit {
            'y' => Step::Months(12),
            'M' => Step::Months(1),
            'w' => Step::Weeks,
            'd' => Step::Days,
            'h' | 'H' => Step::Millis(3_600_000),
            'm' => Step::Millis(60_000),
            's' => Step::Millis(1000),
            _ => return None,
        })
    }

    fn add(&self, local: i64, count: i64) -> Option<i64> {
        match self {
            Step::Months(months) => {
                Civil::from_millis(local).plus_months(count.checked_mul(*months)?)?.to_millis()
            }
            Step::Weeks => local.checked_add(count.checked_mul(7 * MILLIS_PER_DAY)?),
            Step::Days => local.checked_add(count.checked_mul(MILLIS_PER_DAY)?),
            Step::Millis(length) => local.checked_add(count.checked_mul(*length)?),
        }
    }

    /// Returns the first millisecond of the unit that contains `local`; weeks start on Monday.
    fn floor(&self, local: i64) -> Option<i64> {
        let days = local.div_euclid(MILLIS_PER_DAY);
        match self {
            Step::Months(months) => {
                let civil = Civil::from_millis(local);
                let month = if *months == 12 { 1 } else { civil.month };
                Civil { month, day: 1, hour: 0, minute: 0, second: 0, millisecond: 0, ..civil }.to_millis()
            }
            Step::Weeks => (days - (days + 3).rem_euclid(7)).checked_mul(MILLIS_PER_DAY),
            Step::Days => days.checked_mul(MILLIS_PER_DAY),
            Step::Millis(length) => Some(local.div_euclid(*length) * length),
        }
    }
}
