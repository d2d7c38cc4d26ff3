//! Repeated lines: "is this line news, or a repetition?"
//!
//! Every request runs into a full disk or an unreachable peer. Lines from the same place in the code are
//! written up to a maximum number per time span. The next line that is written says how many were left out.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::Metadata;
use tracing::callsite::Identifier;
use tracing_subscriber::fmt::MakeWriter;

/// The time span in which the lines of one place are counted.
const SPAN: Duration = Duration::from_secs(10);
/// Maximum number of lines of one place within the span: for warnings and errors, and for all other levels.
const WRONG_MAX: u32 = 10;
const OTHERS_MAX: u32 = 200;

/// Standard error with a rate limit for each place in the code.
#[derive(Debug, Default, Clone)]
pub struct RateLimited {
    places: Arc<Mutex<HashMap<Identifier, Place>>>,
}

/// The counters of one place in the code.
#[derive(Debug)]
struct Place {
    since: Instant,
    written: u32,
    left_out: u64,
}

impl Place {
    /// Returns `None` if a line at `now` is to be left out, else the number of lines left out before it.
    fn admit(&mut self, now: Instant, most: u32) -> Option<u64> {
        if now.duration_since(self.since) >= SPAN {
            (self.since, self.written) = (now, 0);
        }
        if self.written >= most {
            self.left_out += 1;
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

/// What happens to a line.
pub enum Line {
    /// Written, after this many lines of the same place were left out.
    Written(u64),
    LeftOut,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Line::Written(left_out) = self else { return Ok(bytes.len()) };
        let mut out = io::stderr().lock();
        match std::mem::take(left_out) {
            0 => out.write_all(bytes)?,
            count => {
                let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
                out.write_all(line)?;
                writeln!(out, " ({count} more such lines were left out before)")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'w> MakeWriter<'w> for RateLimited {
    type Writer = Line;

    fn make_writer(&'w self) -> Line {
        Line::Written(0)
    }

    fn make_writer_for(&'w self, metadata: &Metadata<'_>) -> Line {
        let most = match *metadata.level() <= tracing::Level::WARN {
            true => WRONG_MAX,
            false => OTHERS_MAX,
        };
        let now = Instant::now();
        let mut places = self.places.lock();
        let place =
            places.entry(metadata.callsite()).or_insert(Place { since: now, written: 0, left_out: 0 });
        place.admit(now, most).map_or(Line::LeftOut, Line::Written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_left_out_and_counted() {
        let start = Instant::now();
        let mut place = Place { since: start, written: 0, left_out: 0 };
        assert_eq!([place.admit(start, 2), place.admit(start, 2)], [Some(0), Some(0)]);
        for _ in 0..40 {
            assert_eq!(place.admit(start + Duration::from_secs(1), 2), None);
        }
        assert_eq!(place.admit(start + SPAN, 2), Some(40));
        assert_eq!(place.admit(start + SPAN, 2), Some(0));
        assert_eq!(place.admit(start + SPAN, 2), None);
    }
}
