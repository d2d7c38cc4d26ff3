//! Caches the results of a shard's stored queries during a search.

use std::collections::HashMap;

use limber_segment::SegmentId;
use limber_store::Charge;
use limber_store::sync::Mutex;

use crate::error::Result;
use crate::held::LABEL;

/// Best scores of stored queries, by segment and by the query's ordinal there; `None` if none of the
/// percolated documents matches. Matching, scoring and explaining share the results, so that a query runs
/// once.
#[derive(Debug)]
pub(crate) struct Answers(Mutex<Known>);

#[derive(Debug)]
struct Known {
    scores: HashMap<(SegmentId, u32), Option<f32>>,
    charge: Option<Charge>,
}

/// Bytes of one result in the table, which is half empty after it has grown.
const ANSWER_BYTES: u64 = 64;

impl Answers {
    /// `charge` is the memory charge of the percolated documents, which grows with the results; `None` if
    /// memory is not charged.
    pub fn new(charge: Option<Charge>) -> Answers {
        Answers(Mutex::new(Known { scores: HashMap::new(), charge }))
    }

    /// Returns the result of a stored query by its ordinal in a segment, if it is known: the best score, or
    /// `None` if no document matches.
    pub fn get(&self, segment: SegmentId, query: u32) -> Option<Option<f32>> {
        self.0.lock().scores.get(&(segment, query)).copied()
    }

    /// Stores the result of a stored query, and charges its memory.
    pub fn put(&self, segment: SegmentId, query: u32, best: Option<f32>) -> Result<()> {
        let known = &mut *self.0.lock();
        if let Some(charge) = &mut known.charge {
            charge.grow(ANSWER_BYTES, LABEL)?;
        }
        known.scores.insert((segment, query), best);
        Ok(())
    }
}
