//! The outside world: clock, randomness and disk. They can be replaced so that tests are repeatable.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limber_store::sync::Mutex;
use limber_store::{Directory, Disk, DiskPart, DiskSpace, random};

/// Two clocks. Times that are displayed or survive a restart come from the wall clock. Intervals, deadlines
/// and ages within this process come from the monotonic clock, so that setting the wall clock neither stops
/// anything nor ends it early.
pub trait Clock: Send + Sync {
    /// Returns the wall clock in milliseconds since 1970. It can jump in both directions.
    fn now_millis(&self) -> u64;
    /// Returns nanoseconds since some moment of this process. Never goes back and never jumps.
    fn monotonic_nanos(&self) -> u64;
    /// Returns [`Clock::monotonic_nanos`] in milliseconds.
    fn monotonic_millis(&self) -> u64 {
        self.monotonic_nanos() / 1_000_000
    }
}

/// The source of random bytes, for ids and jitter.
pub trait Randomness: Send + Sync {
    /// Fills `bytes` with unpredictable bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// Everything the node depends on besides its requests.
#[derive(Clone)]
pub struct Environment {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub randomness: Arc<dyn Randomness>,
    /// The data folder.
    pub disk: Arc<dyn Disk>,
}

impl Environment {
    /// Uses the system's clock and random bytes.
    pub fn system(disk: Arc<dyn Disk>) -> Environment {
        Environment { clock: Arc::new(SystemClock::default()), randomness: Arc::new(SystemRandomness), disk }
    }

    /// Returns the clock and the random numbers of scripts.
    pub(crate) fn of_scripts(&self) -> Arc<dyn limber_script::Outside> {
        Arc::new(OfScripts { clock: self.clock.clone(), randomness: self.randomness.clone() })
    }

    /// Returns a [`random_uuid`].
    pub(crate) fn uuid(&self) -> String {
        random_uuid(&*self.randomness)
    }

    pub(crate) fn folder(&self, path: &str) -> limber_store::Result<Arc<dyn Directory>> {
        self.disk.folder(path)
    }

    /// Returns the space where a folder of the disk lies.
    pub(crate) fn space_at(&self, path: &Path) -> Option<DiskSpace> {
        let parts = self.disk.parts();
        part_of(&parts, path).and_then(|part| part.space)
    }
}

/// What scripts know of the outside world.
struct OfScripts {
    clock: Arc<dyn Clock>,
    randomness: Arc<dyn Randomness>,
}

impl std::fmt::Debug for OfScripts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OfScripts")
    }
}

impl limber_script::Outside for OfScripts {
    fn now_millis(&self) -> i64 {
        i64::try_from(self.clock.now_millis()).unwrap_or(i64::MAX)
    }

    fn random_bits(&self) -> u64 {
        let mut bytes = [0; 8];
        self.randomness.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// Returns the part of a disk that has a path. What is in none of the further folders is in the first one.
pub(crate) fn part_of<'p>(parts: &'p [DiskPart], path: &Path) -> Option<&'p DiskPart> {
    let (first, others) = parts.split_first()?;
    Some(others.iter().find(|part| path.starts_with(&part.root)).unwrap_or(first))
}

/// Returns 16 random bytes as 22 characters of URL-safe base64, not starting with `-` or `_` (Elasticsearch's
/// `UUIDs.randomBase64UUID`).
pub(crate) fn random_uuid(randomness: &dyn Randomness) -> String {
    let mut bytes = [0u8; 16];
    loop {
        randomness.fill(&mut bytes);
        let text = URL_SAFE_NO_PAD.encode(bytes);
        if !text.starts_with(['-', '_']) {
            return text;
        }
    }
}

/// Formats milliseconds since 1970 as `2025-10-16T10:00:00.000Z`.
pub fn format_utc_millis(millis: u64) -> String {
    let instant = jiff::Timestamp::from_millisecond(millis as i64).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{}.{:03}Z", instant.strftime("%Y-%m-%dT%H:%M:%S"), millis % 1000)
}

/// The machine's clocks.
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now_millis(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    }

    fn monotonic_nanos(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// The operating system's random bytes.
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system hands out random bytes");
    }
}

/// Clocks that a test advances: both together, or the wall clock alone.
#[derive(Default)]
pub struct ManualClock {
    wall_millis: AtomicU64,
    /// Starts at 0, far from any wall time, so that confusing the two clocks shows.
    monotonic_millis: AtomicU64,
}

impl ManualClock {
    /// Makes clocks that stand still, with the wall clock at `wall_millis` since 1970.
    pub fn at(wall_millis: u64) -> ManualClock {
        ManualClock { wall_millis: AtomicU64::new(wall_millis), monotonic_millis: AtomicU64::new(0) }
    }

    /// Advances both clocks.
    pub fn advance_ms(&self, ms: u64) {
        self.wall_millis.fetch_add(ms, Ordering::Relaxed);
        self.monotonic_millis.fetch_add(ms, Ordering::Relaxed);
    }

    /// Sets the wall clock, forward or back.
    pub fn set_wall_millis(&self, wall_millis: u64) {
        self.wall_millis.store(wall_millis, Ordering::Relaxed);
    }

    /// Moves the wall clock by `ms`, which may be negative, but not to before 1970.
    pub fn shift_wall_ms(&self, ms: i64) {
        let shifted = |wall: u64| Some(wall.saturating_add_signed(ms));
        // Cannot fail, as the closure always returns a value.
        let _ = self.wall_millis.fetch_update(Ordering::Relaxed, Ordering::Relaxed, shifted);
    }
}

impl Clock for ManualClock {
    fn now_millis(&self) -> u64 {
        self.wall_millis.load(Ordering::Relaxed)
    }

    fn monotonic_nanos(&self) -> u64 {
        self.monotonic_millis.load(Ordering::Relaxed) * 1_000_000
    }
}

/// When recurring work was last done. Initially it was never done.
#[derive(Debug, Default)]
pub(crate) struct LastTime {
    /// The monotonic milliseconds plus 1; 0 means never.
    millis_and_one: AtomicU64,
}

impl LastTime {
    pub(crate) fn note(&self, clock: &dyn Clock) {
        self.millis_and_one.store(clock.monotonic_millis() + 1, Ordering::Relaxed);
    }

    /// Whether the work was never done, or was last done at least `interval_ms` ago.
    pub(crate) fn is_due(&self, clock: &dyn Clock, interval_ms: u64) -> bool {
        match self.millis_and_one.load(Ordering::Relaxed) {
            0 => true,
            last => (clock.monotonic_millis() + 1).saturating_sub(last) >= interval_ms,
        }
    }
}

/// Notices that the wall clock was set: it moved by more or less than the monotonic clock did.
#[derive(Debug, Default)]
pub(crate) struct WallClockWatch {
    /// Both clocks at the previous call.
    last: Mutex<Option<(u64, u64)>>,
}

/// Tolerance for clock slewing, and for the time between reading the two clocks.
const WALL_CLOCK_TOLERANCE_MS: u64 = 60_000;

impl WallClockWatch {
    /// Returns by how much the wall clock was set since the previous call, if by more than a minute; negative
    /// if it was set back.
    pub(crate) fn set_by_ms(&self, clock: &dyn Clock) -> Option<i64> {
        let now = (clock.now_millis(), clock.monotonic_millis());
        let (wall, monotonic) = self.last.lock().replace(now)?;
        let by_ms = now.0 as i64 - wall as i64 - (now.1 as i64 - monotonic as i64);
        (by_ms.unsigned_abs() > WALL_CLOCK_TOLERANCE_MS).then_some(by_ms)
    }
}

/// Repeatable "random" bytes from a seed (SplitMix64).
pub struct SeededRandomness {
    state: AtomicU64,
}

impl SeededRandomness {
    /// Makes a source whose bytes depend only on `seed`.
    pub fn new(seed: u64) -> SeededRandomness {
        SeededRandomness { state: AtomicU64::new(seed) }
    }
}

impl Randomness for SeededRandomness {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let state =
                self.state.fetch_add(random::INCREMENT, Ordering::Relaxed).wrapping_add(random::INCREMENT);
            chunk.copy_from_slice(&random::mix(state).to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_clock_is_set_without_moving_the_other() {
        let clock = ManualClock::at(10_000_000);
        clock.advance_ms(5);
        clock.shift_wall_ms(-3_600_000);
        assert_eq!((clock.now_millis(), clock.monotonic_millis()), (6_400_005, 5));
        clock.shift_wall_ms(-10_000_000);
        assert_eq!((clock.now_millis(), clock.monotonic_millis()), (0, 5));
        clock.set_wall_millis(7);
        clock.advance_ms(1);
        assert_eq!((clock.now_millis(), clock.monotonic_millis()), (8, 6));
    }

    #[test]
    fn a_wall_clock_that_is_set_is_noticed_once() {
        let (clock, watch) = (ManualClock::at(10_000_000), WallClockWatch::default());
        assert_eq!(watch.set_by_ms(&clock), None);
        clock.advance_ms(1 << 40);
        clock.shift_wall_ms(500);
        assert_eq!(watch.set_by_ms(&clock), None);
        clock.shift_wall_ms(-3_600_000);
        assert_eq!(watch.set_by_ms(&clock), Some(-3_600_000));
        assert_eq!(watch.set_by_ms(&clock), None);
        clock.shift_wall_ms(86_400_000);
        assert_eq!(watch.set_by_ms(&clock), Some(86_400_000));
    }

    #[test]
    fn what_recurs_is_due_by_the_monotonic_clock() {
        let (clock, last) = (ManualClock::at(10_000_000), LastTime::default());
        assert!(last.is_due(&clock, u64::MAX), "it was never done");
        last.note(&clock);
        assert!(!last.is_due(&clock, 100) && last.is_due(&clock, 0));
        clock.shift_wall_ms(1 << 40);
        assert!(!last.is_due(&clock, 100));
        clock.shift_wall_ms(-(1 << 40));
        clock.advance_ms(100);
        assert!(last.is_due(&clock, 100));
    }
}
