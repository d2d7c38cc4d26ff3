//! Dates on the clock of their text: "which day and hour does this text show, and in which zone?"

use super::civil::Civil;
use super::format::{Alternative, DateFormat, unparsable};
use super::instant::Instant;
use super::read::{Reading, read, resolve};
use super::zone::Zone;
use crate::RequestError;

impl DateFormat {
    /// Parses a date to what its text shows, before an offset is applied: `2023-12-31T23:30:00+02:00` is in
    /// the last hour of 2023. An epoch is in UTC.
    ///
    /// # Errors
    /// `illegal_argument_exception` "failed to parse date field [...] with format [...]".
    pub fn parse_local(&self, text: &str) -> Result<Civil, RequestError> {
        let mut stopped_at = 0;
        for alternative in &self.alternatives {
            match shown(alternative, text) {
                Ok(millis) => return Ok(Civil::from_millis(millis)),
                Err(index) => stopped_at = index,
            }
        }
        let cause = unparsable(text, self.alternatives.len(), stopped_at, &self.alternatives[0]);
        let reason = format!("failed to parse date field [{text}] with format [{}]", self.pattern);
        Err(RequestError::illegal_argument(reason).caused_by(cause))
    }

    /// Parses a date to its instant and the zone that its text names. A date without a zone is in `zone`.
    ///
    /// # Errors
    /// `date_time_parse_exception`.
    pub fn parse_instant_and_zone(
        &self,
        text: &str,
        zone: &Zone,
    ) -> Result<(Instant, Option<Zone>), RequestError> {
        let mut stopped_at = 0;
        for alternative in &self.alternatives {
            match zoned(alternative, text, zone) {
                Ok(found) => return Ok(found),
                Err(index) => stopped_at = index,
            }
        }
        Err(unparsable(text, self.alternatives.len(), stopped_at, &self.alternatives[0]))
    }
}

fn zoned(alternative: &Alternative, text: &str, zone: &Zone) -> Result<(Instant, Option<Zone>), usize> {
    match alternative {
        Alternative::Epoch(_) => Ok((alternative.read(text, false, &Zone::Utc)?, None)),
        Alternative::Items { read: items, is_lenient, .. } => {
            let fields = read(items, text)?;
            let how = Reading { round_up: false, is_lenient: *is_lenient, zone };
            let instant = resolve(&fields, how).ok_or(0usize)?;
            Ok((instant, fields.into_zone()))
        }
    }
}

/// Returns the milliseconds since 1970 on the clock of the text.
fn shown(alternative: &Alternative, text: &str) -> Result<i64, usize> {
    match alternative {
        Alternative::Epoch(_) => Ok(alternative.read(text, false, &Zone::Utc)?.millis),
        Alternative::Items { read: items, is_lenient, .. } => {
            let fields = read(items, text)?.without_zone();
            let how = Reading { round_up: false, is_lenient: *is_lenient, zone: &Zone::Utc };
            Ok(resolve(&fields, how).ok_or(0usize)?.millis)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_do_not_move_what_a_text_shows() {
        let format = DateFormat::parse_list("strict_date_optional_time||epoch_millis").expect("a format");
        for (text, expected) in [
            ("2023-12-31T23:30:00+02:00", (2023, 12, 31, 23)),
            ("2023-12-31T23:30:00Z", (2023, 12, 31, 23)),
            ("2024-02", (2024, 2, 1, 0)),
            ("1704067200000", (2024, 1, 1, 0)),
        ] {
            let Civil { year, month, day, hour, .. } = format.parse_local(text).expect("a date");
            assert_eq!((year, month, day, hour), expected, "{text}");
        }
        assert!(format.parse_local("x").is_err());
    }

    #[test]
    fn the_zone_of_a_text_is_told() {
        let check = |pattern: &str, text: &str, expected: (i64, Option<&str>)| {
            let format = DateFormat::parse_list(pattern).expect("a format");
            let zone = Zone::parse("+02:00").expect("a zone");
            let (instant, zone) = format.parse_instant_and_zone(text, &zone).expect("a date");
            assert_eq!((instant.millis, zone.map(|zone| zone.id()).as_deref()), expected, "{text}");
        };
        check("uuuu-MM-dd HH:mm Z", "1970-01-01 01:00 +0100", (0, Some("+01:00")));
        check("uuuu-MM-dd HH:mm VV", "1970-01-01 01:00 Europe/Berlin", (0, Some("Europe/Berlin")));
        check("uuuu-MM-dd HH:mm", "1970-01-01 02:00", (0, None));
        check("epoch_millis", "5", (5, None));
    }
}
