//! What analysis makes of a text, told to the request as it grows.

use limber_work as work;

/// Bytes of the tokens of one text, of which the request is told as far as they are more than the text.
pub(super) struct Produced {
    bytes: usize,
    told: usize,
    is_full: bool,
}

impl Produced {
    /// A token's place and number beside its bytes.
    const TOKEN_BYTES: usize = 4;
    /// The same as `_analyze` keeps and shows it.
    const SHOWN_TOKEN_BYTES: usize = 400;
    /// The request is told in steps of this.
    const STEP: usize = 16 << 10;

    /// Nothing is told before the tokens are four times the size of `text`.
    pub fn of(text: &str) -> Produced {
        Produced { bytes: 0, told: 4 * text.len(), is_full: false }
    }

    /// Counts a token as an index keeps it, as often as its term counts; `false` when the request has no
    /// memory for more.
    #[inline]
    pub fn has_room_for(&mut self, token: &str, frequency: u32) -> bool {
        self.has_room(token.len() + Self::TOKEN_BYTES * frequency as usize)
    }

    /// Counts a token as `_analyze` shows it; `false` when the request has no memory for more.
    pub fn has_room_for_shown(&mut self, token: &str) -> bool {
        self.has_room(2 * token.len() + Self::SHOWN_TOKEN_BYTES)
    }

    /// Counts bytes; `false` when the request has no memory for more.
    #[inline]
    pub fn has_room(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        if self.bytes > self.told + Self::STEP {
            self.is_full |= !work::makes(self.bytes - self.told);
            self.told = self.bytes;
        }
        !self.is_full
    }
}
