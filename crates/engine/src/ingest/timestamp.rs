//! Formats `_ingest.timestamp`.

use jiff::Timestamp;

/// Formats an instant as `ZonedDateTime.toString` does in UTC: `2025-10-16T10:00:00.123456789Z`, with three,
/// six or nine fractional digits as needed, or none.
///
/// The same string is used for all documents of a request.
pub fn timestamp(nanos_since_epoch: i128) -> String {
    let instant = Timestamp::from_nanosecond(nanos_since_epoch).unwrap_or(Timestamp::UNIX_EPOCH);
    let nanos = instant.subsec_nanosecond();
    let seconds = instant.strftime("%Y-%m-%dT%H:%M:%S");
    match nanos {
        0 => format!("{seconds}Z"),
        _ if nanos % 1_000_000 == 0 => format!("{seconds}.{:03}Z", nanos / 1_000_000),
        _ if nanos % 1_000 == 0 => format!("{seconds}.{:06}Z", nanos / 1_000),
        _ => format!("{seconds}.{nanos:09}Z"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_as_java_prints_them() {
        for (nanos, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_000_000, "1970-01-01T00:00:00.001Z"),
            (1_001_000, "1970-01-01T00:00:00.001001Z"),
            (1_000_000_001, "1970-01-01T00:00:01.000000001Z"),
            (1_760_608_800_123_000_000, "2025-10-16T10:00:00.123Z"),
        ] {
            assert_eq!(timestamp(nanos), expected);
        }
    }
}
