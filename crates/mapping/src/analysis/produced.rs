//! Charges the output of analysis to the request as it grows.

use limber_work as work;

/// Counts the bytes of the tokens of one text, and charges the part that exceeds the length of the text.
pub(super) struct Produced {
    bytes: usize,
    accounted: usize,
    is_full: bool,
}

impl Produced {
    /// Bytes of a token's position and ordinal, besides its text.
    const TOKEN_BYTES: usize = 4;
    /// The same for a token as `_analyze` stores and shows it.
    const SHOWN_TOKEN_BYTES: usize = 400;
    /// The output is charged in steps of this size.
    const STEP: usize = 16 << 10;

    /// Creates a counter. Nothing is charged before the tokens are four times the size of `text`.
    pub fn of(text: &str) -> Produced {
        Produced { bytes: 0, accounted: 4 * text.len(), is_full: false }
    }

    /// Counts a token as an index stores it, once per occurrence. Returns `false` if the request has no
    /// memory for more.
    #[inline]
    pub fn has_room_for(&mut self, token: &str, frequency: u32) -> bool {
        self.has_room(token.len() + Self::TOKEN_BYTES * frequency as usize)
    }

    /// Counts a token as `_analyze` shows it. Returns `false` if the request has no memory for more.
    pub fn has_room_for_shown(&mut self, token: &str) -> bool {
        self.has_room(2 * token.len() + Self::SHOWN_TOKEN_BYTES)
    }

    /// Counts bytes. Returns `false` if the request has no memory for more.
    #[inline]
    pub fn has_room(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        if self.bytes > self.accounted + Self::STEP {
            self.is_full |= !work::state_bytes(self.bytes - self.accounted);
            self.accounted = self.bytes;
        }
        !self.is_full
    }
}
