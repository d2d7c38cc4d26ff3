//! What is known of a shard's queries while it is searched: "does this one match what is held, and how well?"

use std::collections::HashMap;

use limber_segment::SegmentId;
use limber_store::Charge;
use limber_store::sync::Mutex;

use crate::error::Result;
use crate::held::LABEL;

/// Best scores of queries, by the segment and the query's ordinal in it; `None`: no document that is held
/// matches. Whoever matches, scores and explains shares them, so that a query runs once.
#[derive(Debug)]
pub(crate) struct Answers(Mutex<Known>);

#[derive(Debug)]
struct Known {
    scores: HashMap<(SegmentId, u32), Option<f32>>,
    charge: Option<Charge>,
}

/// Of one answer in the table, which is half empty after it grew.
const ANSWER_BYTES: u64 = 64;

impl Answers {
    /// `charge`: of the documents that are held, which grows by what becomes known. `None`: nobody is
    /// charged.
    pub fn new(charge: Option<Charge>) -> Answers {
        Answers(Mutex::new(Known { scores: HashMap::new(), charge }))
    }

    /// What is known of a stored query by its ordinal in a segment: the best score of the documents, or that
    /// none matches.
    pub fn get(&self, segment: SegmentId, query: u32) -> Option<Option<f32>> {
        self.0.lock().scores.get(&(segment, query)).copied()
    }

    /// Keeps what a stored query came to; charged.
    pub fn put(&self, segment: SegmentId, query: u32, best: Option<f32>) -> Result<()> {
        let known = &mut *self.0.lock();
        if let Some(charge) = &mut known.charge {
            charge.grow(ANSWER_BYTES, LABEL)?;
        }
        known.scores.insert((segment, query), best);
        Ok(())
    }
}
