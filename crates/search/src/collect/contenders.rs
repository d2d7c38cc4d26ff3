//! The documents of a segment that can still be among the best, according to the index of values.

use limber_segment::{DocId, Segment};
use limber_store::{Charge, Ledger};

use crate::error::Result;
use crate::matcher::{Bits, SegmentBits};

/// Recomputed from time to time. The longer a segment is searched, the more slowly the worst wanted hit
/// improves, so each pause is twice as long as the one before.
#[derive(Default)]
pub(crate) struct Contenders {
    /// `None` if nothing is known: any document may be among the best.
    bits: Option<(SegmentBits, Charge)>,
    looks: u32,
    /// Windows until the next recomputation.
    pause: u32,
}

impl Contenders {
    /// Recomputes the contenders if it is time; called once per window. `find` returns the documents that are
    /// left, or `None` if it cannot determine them; the previous set is then still used.
    pub fn refresh(
        &mut self,
        segment: &Segment,
        ledger: &Ledger,
        find: impl FnOnce() -> Result<Option<SegmentBits>>,
    ) -> Result<()> {
        if self.pause > 0 {
            self.pause -= 1;
            return Ok(());
        }
        self.pause = 1 << self.looks.min(16);
        self.looks += 1;
        let bytes = SegmentBits::bytes_of(segment.doc_count());
        let charge = ledger.request.charge(bytes, "<documents that can be among the best>")?;
        if let Some(bits) = find()? {
            self.bits = Some((bits, charge));
        }
        Ok(())
    }

    /// Whether no contender is in the window at `start`.
    pub fn exclude(&self, start: DocId) -> bool {
        self.bits.as_ref().is_some_and(|(bits, _)| bits.window(start).iter().all(|word| *word == 0))
    }

    /// Clears the bits of the documents in the window at `start` that are no contenders.
    pub fn mask(&self, start: DocId, window: &mut Bits) {
        if let Some((bits, _)) = &self.bits {
            window.0.iter_mut().zip(bits.window(start)).for_each(|(word, own)| *word &= own);
        }
    }
}
