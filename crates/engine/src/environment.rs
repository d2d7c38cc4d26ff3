//! What the outside world is made of: clock, randomness and disk, so that tests replay.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limber_store::{Directory, Disk, DiskSpace};

pub trait Clock: Send + Sync {
    /// Wall clock, milliseconds since 1970.
    fn now_millis(&self) -> u64;
    /// Never goes back; nanoseconds since some moment.
    fn monotonic_nanos(&self) -> u64;
}

pub trait Randomness: Send + Sync {
    /// Fills `bytes` with unpredictable ones.
    fn fill(&self, bytes: &mut [u8]);
}

/// Everything that is not a pure function of the requests.
#[derive(Clone)]
pub struct Environment {
    pub clock: Arc<dyn Clock>,
    pub randomness: Arc<dyn Randomness>,
    pub disk: Arc<dyn Disk>,
}

impl Environment {
    pub fn system(disk: Arc<dyn Disk>) -> Environment {
        Environment { clock: Arc::new(SystemClock::default()), randomness: Arc::new(SystemRandomness), disk }
    }

    /// 16 random bytes as 22 characters of URL-safe base64, not starting with `-` or `_` (Elasticsearch's `UUIDs.randomBase64UUID`).
    pub(crate) fn uuid(&self) -> String {
        let mut bytes = [0u8; 16];
        loop {
            self.randomness.fill(&mut bytes);
            let text = URL_SAFE_NO_PAD.encode(bytes);
            if !text.starts_with(['-', '_']) {
                return text;
            }
        }
    }

    pub(crate) fn folder(&self, path: &str) -> limber_store::Result<Arc<dyn Directory>> {
        self.disk.folder(path)
    }

    pub(crate) fn space(&self) -> Option<DiskSpace> {
        self.disk.space().ok()
    }
}

/// Milliseconds since 1970 as `2025-10-16T10:00:00.000Z`.
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

/// A clock that a test moves.
#[derive(Default)]
pub struct ManualClock {
    millis: AtomicU64,
}

impl ManualClock {
    pub fn at(millis: u64) -> ManualClock {
        ManualClock { millis: AtomicU64::new(millis) }
    }

    pub fn advance_ms(&self, ms: u64) {
        self.millis.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_millis(&self) -> u64 {
        self.millis.load(Ordering::Relaxed)
    }

    fn monotonic_nanos(&self) -> u64 {
        self.now_millis() * 1_000_000
    }
}

/// Repeatable "random" bytes from a seed (splitmix64).
pub struct SeededRandomness {
    state: AtomicU64,
}

impl SeededRandomness {
    pub fn new(seed: u64) -> SeededRandomness {
        SeededRandomness { state: AtomicU64::new(seed) }
    }
}

impl Randomness for SeededRandomness {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let mut z = self
                .state
                .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
                .wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}
