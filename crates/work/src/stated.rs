//! What code states about a document in advance: how many bytes its values will expand to, and how long
//! patterns have taken.

use std::time::{Duration, Instant};

use crate::current::{ASKED_FROM_BYTES, Current, asked, claim, claim_pieces, with_current};
use crate::document::Document;
use crate::stop::Stop;

/// Bytes of memory in the index buffer (tokens and positions) per byte of text that analysis, copies or
/// multi-fields add. Measured: 5 with one-letter words.
const INDEXED_FACTOR: u64 = 6;
/// Maximum time that patterns of analyzers may take per document, or per request without documents: at
/// worst they are quadratic in the text.
const ANALYSIS_TIME_MAX: Duration = Duration::from_secs(1);
/// Source bytes per millisecond that filters which multiply tokens may take: ten times what ordinary ones
/// take.
const SOURCE_BYTES_A_MILLI: u64 = 256;
/// Bytes that are stated in advance, so that the next values need no check.
const STATED_AHEAD_BYTES: u64 = 64 << 10;

/// Begins a document of `source_bytes`. The memory that it [expands to](state_bytes) is charged if it is much
/// more than that.
pub fn begin_document(source_bytes: usize) {
    with_current(|current| {
        current.leave();
        current.document = Document::of(source_bytes as u64);
        current.analysis_time = Duration::ZERO;
    });
}

/// States that the current document is about to expand by `bytes`, by an analyzer, a copy or a multi-field.
/// Returns `false` if the document is refused and the caller must stop.
#[inline]
pub fn state_bytes(bytes: usize) -> bool {
    with_current(|current| {
        let document = &mut current.document;
        document.made_bytes += bytes as u64;
        document.made_bytes <= document.allowed_bytes || current.states_more()
    })
    .unwrap_or(true)
}

/// Adds `bytes` that were allocated [aside](crate::aside) but stay with the request until its end.
///
/// # Errors
/// Why the request must end.
pub fn hold_bytes(bytes: u64) -> Result<(), Stop> {
    with_current(|current| {
        if let Some(meter) = &current.work.meter {
            meter.note(bytes as i64);
        }
        current.check_beyond_deadline()
    })
    .unwrap_or(Ok(()))
}

/// Does the same as [`claim`] for code that cannot return an error. Returns `false` if the caller must not
/// allocate the bytes and must stop; the refusal becomes the result of the document or of the request.
pub fn has_room_for(bytes: u64) -> bool {
    bytes < ASKED_FROM_BYTES || claim(bytes).map_or_else(refuse, |()| true)
}

/// Does the same as [`claim_pieces`] for code that cannot return an error; see [`has_room_for`].
pub fn has_room_for_pieces(text: &str, separator: &str) -> bool {
    claim_pieces(text, separator).map_or_else(refuse, |()| true)
}

/// Ends the current document.
///
/// # Errors
/// The refusal that made [`state_bytes`] return `false`.
pub fn end_document() -> Result<(), Stop> {
    with_current(|current| {
        current.leave();
        current.document = Document::default();
        match current.refusal.take() {
            Some(refusal) => Err(refusal),
            None => Ok(()),
        }
    })
    .unwrap_or(Ok(()))
}

/// Adds the time that patterns of an analyzer took since `since`, which is set to now. Returns `false` if
/// the document is refused and the caller must stop.
pub fn goes_on(since: &mut Instant) -> bool {
    goes_on_within(since, |current, millis| match current.analysis_time > ANALYSIS_TIME_MAX {
        true => Err(Stop::Patterns { millis }),
        false => Ok(()),
    })
}

/// Whether the analysis of a text may go on. If not, the document that the text belongs to is refused: it
/// must not be indexed with a part of its tokens. Only searches have a deadline, and they report themselves
/// that it has passed, so nothing is refused for it.
pub fn analysis_goes_on() -> bool {
    match asked(Current::check) {
        Ok(()) => true,
        Err(Stop::TimedOut) => false,
        Err(stop) => refuse(stop),
    }
}

/// Notes why the current document is refused. Returns false.
fn refuse(stop: Stop) -> bool {
    with_current(|current| {
        current.refusal.get_or_insert(stop);
    });
    false
}

/// Does the same as [`goes_on`] for filters that run others many times per token; their time limit grows with
/// the document.
pub fn filters_go_on(since: &mut Instant) -> bool {
    goes_on_within(since, |current, millis| {
        let for_size = Duration::from_millis(current.document.source_bytes() / SOURCE_BYTES_A_MILLI);
        match current.analysis_time > ANALYSIS_TIME_MAX + for_size {
            true => Err(Stop::Filters { millis }),
            false => Ok(()),
        }
    })
}

/// Adds the time since `since`, which is set to now, to the analysis time. `within` gets the total in
/// milliseconds and fails if it is too long.
fn goes_on_within(since: &mut Instant, within: impl FnOnce(&Current, u64) -> Result<(), Stop>) -> bool {
    let now = Instant::now();
    let time = now.duration_since(std::mem::replace(since, now));
    let outcome = asked(|current| {
        current.analysis_time += time;
        within(current, current.analysis_time.as_millis() as u64)?;
        current.check_beyond_deadline()
    });
    outcome.map_or_else(refuse, |()| true)
}

/// Limits the time that patterns may take for one document; it starts at zero.
pub fn begin_patterns() {
    with_current(|current| current.pattern_time = Some(Duration::ZERO));
}

/// Limits the time that patterns may take until the returned value is dropped; it starts at zero.
pub fn limit_patterns() -> PatternLimit {
    PatternLimit(with_current(|current| current.pattern_time.replace(Duration::ZERO)).flatten())
}

/// A limit of the time for patterns. Has the time that was spent before, which counts again afterwards.
#[derive(Debug)]
#[must_use]
pub struct PatternLimit(Option<Duration>);

impl Drop for PatternLimit {
    fn drop(&mut self) {
        with_current(|current| current.pattern_time = self.0);
    }
}

/// Adds to the time that patterns took for the current document.
pub fn spend_on_patterns(time: Duration) {
    with_current(|current| {
        if let Some(spent) = &mut current.pattern_time {
            *spent += time;
        }
    });
}

/// Returns the time that patterns took for the current document.
pub fn pattern_time() -> Duration {
    with_current(|current| current.pattern_time).flatten().unwrap_or_default()
}

impl Current {
    #[cold]
    fn states_more(&mut self) -> bool {
        if self.refusal.is_some() {
            return false;
        }
        let document = &mut self.document;
        let stated = (document.made_bytes - document.allowed_bytes) * INDEXED_FACTOR;
        if stated > document.stated_bytes {
            let before = std::mem::replace(&mut document.stated_bytes, stated + STATED_AHEAD_BYTES);
            if let Some(meter) = &self.work.meter {
                meter.note((stated + STATED_AHEAD_BYTES - before) as i64);
            }
            if let Err(refusal) = self.check_beyond_deadline() {
                self.refusal = Some(refusal);
                return false;
            }
        }
        true
    }
}
