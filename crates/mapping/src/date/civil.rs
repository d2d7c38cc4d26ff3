//! The proleptic Gregorian calendar in plain integers.

/// Milliseconds in a day, without leap seconds.
pub const MILLIS_PER_DAY: i64 = 86_400_000;

/// Returns the days from 1970-01-01 to a date. `month` and `day` count from 1; a day beyond the end of the
/// month continues into the next one.
///
/// Source: the usual era arithmetic on years that start in March; exact for every `i32` year.
#[inline]
pub fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = year - (month <= 2) as i64;
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month as i64 + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day as i64 - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Like [`days_from_civil`] for the years 1 to 9999, in a third of the instructions.
#[inline(always)]
pub(super) fn days_from_common_era(year: u32, month: u32, day: u32) -> i64 {
    let (year, month_from_march) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    i64::from(year * 365 + year / 4 - year / 100 + year / 400 + day_of_year) - 719_468
}

/// Inverse of [`days_from_civil`]: returns (year, month, day).
pub fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 } as u32;
    (era * 400 + year_of_era + (month <= 2) as i64, month, day)
}

/// Whether the year has a 29th of February.
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Returns the number of days in a month, which counts from 1.
#[inline]
pub fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A local date and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    /// Year of the proleptic Gregorian calendar; 0 is the year before 1.
    pub year: i64,
    /// From 1.
    pub month: u32,
    /// Day of the month, from 1.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
    /// 0 to 999.
    pub millisecond: u32,
}

impl Civil {
    /// Returns the date and time `millis` after 1970-01-01T00:00 on the same clock.
    pub fn from_millis(millis: i64) -> Civil {
        let (year, month, day) = civil_from_days(millis.div_euclid(MILLIS_PER_DAY));
        let of_day = millis.rem_euclid(MILLIS_PER_DAY) as u32;
        Civil {
            year,
            month,
            day,
            hour: of_day / 3_600_000,
            minute: of_day / 60_000 % 60,
            second: of_day / 1000 % 60,
            millisecond: of_day % 1000,
        }
    }

    /// Returns the milliseconds since 1970-01-01T00:00 on the same clock; `None` outside of `i64`.
    pub fn to_millis(self) -> Option<i64> {
        let of_day = ((self.hour as i64 * 60 + self.minute as i64) * 60 + self.second as i64) * 1000
            + self.millisecond as i64;
        days_from_civil(self.year, self.month, self.day).checked_mul(MILLIS_PER_DAY)?.checked_add(of_day)
    }

    /// Returns the same day `months` later, or the last day of a shorter month (`java.time`'s `plusMonths`).
    pub fn plus_months(self, months: i64) -> Option<Civil> {
        let total = self.year.checked_mul(12)?.checked_add(self.month as i64 - 1)?.checked_add(months)?;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
        if year.abs() > 300_000_000 {
            return None;
        }
        Some(Civil { year, month, day: self.day.min(days_in_month(year, month)), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_round_trip() {
        assert_eq!(days_from_civil(1970, 1, 1), 0);
        assert_eq!(days_from_civil(2000, 2, 29), 11_016);
        assert_eq!(days_from_civil(1969, 12, 31), -1);
        for days in (-1_000_000..1_000_000).step_by(37) {
            let (year, month, day) = civil_from_days(days);
            assert!((1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day));
            assert_eq!(days_from_civil(year, month, day), days);
        }
    }

    #[test]
    fn the_common_era_is_the_same_in_fewer_instructions() {
        for days in days_from_civil(1, 1, 1)..=days_from_civil(9999, 12, 31) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_common_era(year as u32, month, day), days, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn months_stop_at_the_end() {
        let end_of_january =
            Civil { year: 2023, month: 1, day: 31, hour: 1, minute: 2, second: 3, millisecond: 4 };
        assert_eq!(end_of_january.plus_months(1).unwrap().day, 28);
        assert_eq!(end_of_january.plus_months(13).unwrap().day, 29);
        assert_eq!(end_of_january.plus_months(-2).unwrap().month, 11);
    }
}
