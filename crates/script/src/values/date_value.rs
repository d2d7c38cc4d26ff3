//! Dates of a running script, as Java's `ZonedDateTime` has them.

use std::rc::Rc;

use limber_mapping::date::{Civil, Instant, NANOS_PER_MILLI, Zone, fraction_by_threes};

/// An instant with the zone it is shown in.
#[derive(Debug, Clone, PartialEq)]
pub struct DateValue {
    /// The instant, to the nanosecond.
    pub instant: Instant,
    /// `None` is UTC.
    pub zone: Option<Rc<Zone>>,
    /// Whether it is an `Instant`, which is printed in UTC and with its seconds.
    pub is_instant: bool,
}

impl DateValue {
    /// Creates a date in UTC from an instant.
    pub fn utc(instant: Instant) -> DateValue {
        DateValue { instant, zone: None, is_instant: false }
    }

    /// Creates Java's `Instant`.
    pub fn of_instant(instant: Instant) -> DateValue {
        DateValue { is_instant: true, ..DateValue::utc(instant) }
    }

    /// Creates a date in UTC from milliseconds since 1970.
    pub fn of_millis(millis: i64) -> DateValue {
        DateValue::utc(Instant::of_millis(millis))
    }

    /// Returns the milliseconds since 1970, rounded down.
    pub fn millis(&self) -> i64 {
        self.instant.millis
    }

    /// Returns the nanoseconds since 1970-01-01T00:00Z.
    pub fn nanos(&self) -> i128 {
        i128::from(self.instant.millis) * i128::from(NANOS_PER_MILLI) + i128::from(self.instant.nanos)
    }

    /// Returns the nanoseconds since the start of its second.
    pub fn nano_of_second(&self) -> i64 {
        self.instant.millis.rem_euclid(1000) * NANOS_PER_MILLI + i64::from(self.instant.nanos)
    }

    /// Returns the milliseconds since 1970-01-01T00:00 on the date's own clock.
    pub fn local_millis(&self) -> i64 {
        self.zone.as_ref().map_or(self.millis(), |zone| zone.to_local(self.millis()))
    }

    /// Returns how many seconds the date's own clock is ahead of UTC.
    pub fn offset_seconds(&self) -> i32 {
        self.zone.as_ref().map_or(0, |zone| zone.offset_seconds_at(self.millis()))
    }

    /// Returns year to millisecond in the date's own zone.
    pub fn civil(&self) -> Civil {
        Civil::from_millis(self.millis().saturating_add(i64::from(self.offset_seconds()) * 1000))
    }

    /// Prints like `ZonedDateTime#toString`, or like that of `Instant`.
    pub fn text(&self) -> String {
        let civil = self.civil();
        let year = year_text(civil.year);
        let mut text =
            format!("{year}-{:02}-{:02}T{:02}:{:02}", civil.month, civil.day, civil.hour, civil.minute);
        let nanos = self.nano_of_second();
        if civil.second != 0 || nanos != 0 || self.is_instant {
            text.push_str(&format!(":{:02}", civil.second));
        }
        text.push_str(&fraction_by_threes(nanos));
        text.push_str(&self.offset());
        if let Some(zone @ Zone::Region(_)) = self.zone.as_deref() {
            text.push_str(&format!("[{}]", zone.id()));
        }
        text
    }

    /// Returns the date's own offset: `Z`, `+01:00`, `-05:30`.
    pub fn offset(&self) -> String {
        Zone::fixed(self.offset_seconds()).id()
    }
}

/// Returns a year as Java prints it in a date: at least four digits, and a sign if there are more.
pub(super) fn year_text(year: i64) -> String {
    match year {
        ..0 => format!("-{:04}", year.unsigned_abs()),
        0..=9999 => format!("{year:04}"),
        _ => format!("+{year}"),
    }
}
