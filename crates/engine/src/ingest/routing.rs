//! Routings by contents: "which routing do documents with this path, of this group or of this time have?"
//! Processors of ingest pipelines set them, and processors of search pipelines search only their shards.
//!
//! Source: OpenSearch's `HierarchicalRoutingProcessor`, `AclRoutingProcessor` and `TemporalRoutingProcessor`,
//! with their hashes.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limber_mapping::{RequestError, date};

use super::Options;

/// The anchor of a path without parts.
const ROOT: &str = "_root";
const FORMAT: &str = "strict_date_optional_time";

/// Reads `anchor_depth` and `path_separator`.
pub(crate) fn path_options(options: &mut Options) -> Result<(usize, String), RequestError> {
    let depth = options.optional_int("anchor_depth")?.unwrap_or(2);
    let depth = usize::try_from(depth).ok().filter(|&depth| depth > 0);
    let depth = depth.ok_or_else(|| options.error("anchor_depth", "must be greater than 0"))?;
    let separator = options.string_or("path_separator", "/")?;
    match separator.is_empty() {
        true => Err(options.error("path_separator", "cannot be null or empty")),
        false => Ok((depth, separator)),
    }
}

/// Returns the routing of the first `anchor_depth` parts of a path.
pub(crate) fn of_path(path: &str, separator: &str, anchor_depth: usize) -> Result<String, RequestError> {
    let parts = path.split(separator).map(str::trim).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.take(anchor_depth).collect();
    let anchor = if parts.is_empty() { ROOT.to_owned() } else { parts.join(separator) };
    number(&anchor)
}

/// Returns the routing of a group that may read a document.
pub(crate) fn of_group(group: &str) -> Result<String, RequestError> {
    let halves = hash(group)?.map(u64::to_be_bytes);
    Ok(URL_SAFE_NO_PAD.encode(halves.concat()))
}

fn number(text: &str) -> Result<String, RequestError> {
    let [first, _] = hash(text)?;
    Ok(match i64::from_ne_bytes(first.to_ne_bytes()) {
        i64::MIN => "0".to_owned(),
        first => first.abs().to_string(),
    })
}

/// Returns the two halves of Murmur3's 128 bits.
fn hash(text: &str) -> Result<[u64; 2], RequestError> {
    let hash = murmur3::murmur3_x64_128(&mut Cursor::new(text.as_bytes()), 0)
        .map_err(|error| RequestError::internal("exception", error.to_string()))?;
    Ok([hash as u64, (hash >> 64) as u64])
}

#[derive(Debug, Clone, Copy)]
enum Granularity {
    Hour,
    Day,
    Week,
    Month,
}

/// Documents whose times are in the same hour, day, week or month have the same routing.
#[derive(Debug)]
pub(crate) struct TimeBuckets {
    granularity: Granularity,
    format: std::sync::Arc<date::DateFormat>,
    is_hashed: bool,
}

impl TimeBuckets {
    /// Reads the options `timestamp_field`, which is returned, `granularity`, `format` and `hash_bucket`.
    pub(crate) fn parse(options: &mut Options) -> Result<(String, TimeBuckets), RequestError> {
        let field = options.string("timestamp_field")?;
        let granularity = options.string("granularity")?;
        let format = options.string_or("format", FORMAT)?;
        let is_hashed = options.bool_or("hash_bucket", false)?;
        if field.is_empty() {
            return Err(options.error("timestamp_field", "cannot be null or empty"));
        }
        let granularity = match granularity.to_lowercase().as_str() {
            "" => return Err(options.error("granularity", "cannot be null or empty")),
            "hour" => Granularity::Hour,
            "day" => Granularity::Day,
            "week" => Granularity::Week,
            "month" => Granularity::Month,
            _ => {
                let reason = format!(
                    "Invalid granularity: {granularity}. Supported values are: hour, day, week, month"
                );
                return Err(options.error("granularity", &reason));
            }
        };
        let invalid =
            |error: RequestError| options.error("format", &format!("invalid date format: {}", error.reason));
        let format = date::DateFormat::shared(&format).map_err(invalid)?;
        Ok((field, TimeBuckets { granularity, format, is_hashed }))
    }

    /// Returns the routing of a time.
    ///
    /// # Errors
    /// It does not have the format.
    pub(crate) fn of_text(&self, text: &str) -> Result<String, RequestError> {
        self.routing(self.format.parse_local(text)?)
    }

    /// Returns the routings of the times from `from` to `to`: at most `count_max`, the first ones.
    ///
    /// # Errors
    /// One of the times does not have the format.
    pub(crate) fn within(&self, from: &str, to: &str, count_max: usize) -> Result<Vec<String>, RequestError> {
        let end = self.start(self.format.parse_local(to)?);
        let mut at = Some(self.start(self.format.parse_local(from)?));
        let mut found = Vec::new();
        while let Some(start) = at.filter(|start| start.to_millis() <= end.to_millis())
            && found.len() < count_max
        {
            found.push(self.routing(start)?);
            at = self.next(start);
        }
        Ok(found)
    }

    /// Returns the beginning of the bucket.
    fn start(&self, time: date::Civil) -> date::Civil {
        let midnight = date::Civil { hour: 0, minute: 0, second: 0, millisecond: 0, ..time };
        match self.granularity {
            Granularity::Hour => date::Civil { hour: time.hour, ..midnight },
            Granularity::Day => midnight,
            Granularity::Week => {
                let days = days(midnight);
                days_later(midnight, -(days + 3).rem_euclid(7))
            }
            Granularity::Month => date::Civil { day: 1, ..midnight },
        }
    }

    fn next(&self, start: date::Civil) -> Option<date::Civil> {
        match self.granularity {
            Granularity::Hour if start.hour < 23 => Some(date::Civil { hour: start.hour + 1, ..start }),
            Granularity::Hour => Some(date::Civil { hour: 0, ..days_later(start, 1) }),
            Granularity::Day => Some(days_later(start, 1)),
            Granularity::Week => Some(days_later(start, 7)),
            Granularity::Month => start.plus_months(1),
        }
    }

    fn routing(&self, time: date::Civil) -> Result<String, RequestError> {
        let date::Civil { year, month, day, hour, .. } = time;
        let bucket = match self.granularity {
            Granularity::Hour => format!("{year}-{month:02}-{day:02}T{hour:02}"),
            Granularity::Day => format!("{year}-{month:02}-{day:02}"),
            Granularity::Week => {
                // The week belongs to the year of its Thursday (ISO 8601).
                let thursday = days_later(self.start(time), 3);
                let week = (days(thursday) - date::days_from_civil(thursday.year, 1, 1)) / 7 + 1;
                format!("{}-W{week:02}", thursday.year)
            }
            Granularity::Month => format!("{year}-{month:02}"),
        };
        if self.is_hashed { number(&bucket) } else { Ok(bucket) }
    }
}

fn days(time: date::Civil) -> i64 {
    date::days_from_civil(time.year, time.month, time.day)
}

fn days_later(time: date::Civil, count: i64) -> date::Civil {
    let (year, month, day) = date::civil_from_days(days(time) + count);
    date::Civil { year, month, day, ..time }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    fn buckets(granularity: &str, is_hashed: bool) -> TimeBuckets {
        let options = json!({"timestamp_field": "t", "granularity": granularity, "hash_bucket": is_hashed});
        let options: Map<_, _> = options.as_object().expect("an object").clone();
        TimeBuckets::parse(&mut Options::new(options, "temporal_routing")).expect("parsed").1
    }

    #[test]
    fn routings_are_those_of_opensearch() {
        // Recorded from OpenSearch 3.8.0.
        for (path, expected) in [
            ("/a/b/c", "3798723486112599867"),
            ("a//b", "3798723486112599867"),
            ("/", "8073684288746627228"),
            ("5", "958005880272148645"),
            ("a", "8839064797231613815"),
        ] {
            assert_eq!(of_path(path, "/", 2).expect("a routing"), expected, "{path}");
        }
        assert_eq!(of_group("team-a").expect("a routing"), "LOvt6OpwHegf8MrKX7yrYQ");
        for (granularity, plain, hashed) in [
            ("hour", "2023-12-31T23", "5227750539017558233"),
            ("DAY", "2023-12-31", "4570184016453944816"),
            ("week", "2023-W52", "3022457073558917198"),
            ("month", "2023-12", "6508577419033554505"),
        ] {
            let time = "2023-12-31T23:30:00+02:00";
            assert_eq!(buckets(granularity, false).of_text(time).expect("a routing"), plain);
            assert_eq!(buckets(granularity, true).of_text(time).expect("a routing"), hashed);
        }
    }

    #[test]
    fn a_span_of_time_has_the_routings_of_its_buckets() {
        let within = |granularity: &str, from: &str, to: &str| {
            buckets(granularity, false).within(from, to, 100).expect("routings")
        };
        assert_eq!(
            within("hour", "2023-12-31T22:59", "2024-01-01T00:01"),
            ["2023-12-31T22", "2023-12-31T23", "2024-01-01T00"]
        );
        assert_eq!(within("week", "2024-12-29", "2025-01-06"), ["2024-W52", "2025-W01", "2025-W02"]);
        assert_eq!(within("month", "2023-12-31", "2024-02-01"), ["2023-12", "2024-01", "2024-02"]);
        assert_eq!(within("day", "2024-01-02", "2024-01-01"), Vec::<String>::new());
        assert_eq!(within("hour", "2023-01-01", "2024-01-01").len(), 100);
    }
}
