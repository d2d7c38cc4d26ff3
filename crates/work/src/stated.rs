//! What code says of a document before it makes it: "there will be so much more of it, and patterns took so long."

use std::time::Duration;

use crate::current::{Current, with_current};
use crate::document::Document;
use crate::stop::Stop;

/// A byte of text that analysis, copies or multi-fields add, as tokens and positions in the index's buffer. Measured: 5 with one-letter words.
const INDEXED_FACTOR: u64 = 6;
/// Stated ahead, so that the next values need no look.
const STATED_AHEAD_BYTES: u64 = 64 << 10;

/// Begins a document of `source_bytes`: what is [made](makes) of it is charged as far as it is much more than that.
pub fn begin_document(source_bytes: usize) {
    with_current(|current| {
        current.leave();
        current.document = Document::of(source_bytes as u64);
    });
}

/// `bytes` are about to be made of the document in work, by an analyzer, a copy or a multi-field; false: stop, the document is refused.
#[inline]
pub fn makes(bytes: usize) -> bool {
    with_current(|current| {
        let document = &mut current.document;
        document.made_bytes += bytes as u64;
        document.made_bytes <= document.allowed_bytes || current.states_more()
    })
    .unwrap_or(true)
}

/// Ends the document in work.
///
/// # Errors
/// What [`makes`] refused.
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

/// Patterns begin with the time that one document may spend on them.
pub fn begin_patterns() {
    with_current(|current| current.pattern_time = Some(Duration::ZERO));
}

/// Adds to the time that patterns took for the document in work.
pub fn spend_on_patterns(time: Duration) {
    with_current(|current| {
        if let Some(spent) = &mut current.pattern_time {
            *spent += time;
        }
    });
}

/// What patterns took for the document in work.
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
