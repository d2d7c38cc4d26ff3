//! The documents of a segment that can still be among the best, as far as an index of values tells.

use limber_segment::{DocId, Segment};
use limber_store::{Charge, Ledger};

use crate::error::Result;
use crate::matcher::{Bits, SegmentBits};

/// Looked for from time to time: the longer a segment is searched, the less the worst wanted hit rises, so
/// that each pause is twice as long as the one before.
#[derive(Default)]
pub(crate) struct Contenders {
    /// `None`: any document, as far as is known.
    bits: Option<(SegmentBits, Charge)>,
    looks: u32,
    /// Windows until the next look.
    pause: u32,
}

impl Contenders {
    /// Asked once a window. `find` gives the documents that are left; `None`: it cannot tell, what is known
    /// stays.
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

    /// Whether none is in the window at `start`.
    pub fn exclude(&self, start: DocId) -> bool {
        self.bits.as_ref().is_some_and(|(bits, _)| bits.window(start).iter().all(|word| *word == 0))
    }

    /// Clears the bits of all others in the window at `start`.
    pub fn mask(&self, start: DocId, window: &mut Bits) {
        if let Some((bits, _)) = &self.bits {
            window.0.iter_mut().zip(bits.window(start)).for_each(|(word, own)| *word &= own);
        }
    }
}
