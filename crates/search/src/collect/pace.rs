//! When to look again which documents can still be among the best.

/// The longer a segment is searched, the less the worst wanted hit rises: each pause is twice as long as the one before.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    looks: u32,
    pause: u32,
}

impl Pace {
    /// Asked once a window.
    pub fn is_due(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        self.pause = 1 << self.looks.min(16);
        self.looks += 1;
        true
    }
}
