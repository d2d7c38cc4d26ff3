//! Dates on the clock of their text: "which day and hour does this text show, wherever it was written?"

use super::civil::Civil;
use super::format::{Alternative, DateFormat, unparsable};
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
}
