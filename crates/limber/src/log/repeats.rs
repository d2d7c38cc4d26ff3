//! Repeated lines: "is this one news, or the same again?"
//!
//! A full disk or a peer that is gone is met by every request. Lines of the same place in the code are
//! written up to a number in a time, and the next one that is written says how many were left out.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::Metadata;
use tracing::callsite::Identifier;
use tracing_subscriber::fmt::MakeWriter;

/// Lines of one place are counted for this long.
const SPAN: Duration = Duration::from_secs(10);
/// Lines of one place within that time: of what is wrong, and of everything else.
const WRONG_MAX: u32 = 10;
const OTHERS_MAX: u32 = 200;

/// Standard error, where each place in the code writes up to some lines in a time.
#[derive(Debug, Default, Clone)]
pub struct RateLimited {
    places: Arc<Mutex<HashMap<Identifier, Place>>>,
}

/// Lines of one place in the code.
#[derive(Debug)]
struct Place {
    since: Instant,
    written: u32,
    left_out: u64,
}

impl Place {
    /// Whether a line is written at `now`; then how many were left out before it.
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

/// Where one line goes.
pub enum Line {
    /// With how many such lines were left out before it.
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
