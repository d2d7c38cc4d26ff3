//! Pages of mapped segments: "how much of them may count as this process's memory?"
//!
//! They are the system's cache, which it takes back when it likes; while it does not, they count as resident,
//! and whoever looks at the process from outside sees more than `memory.limit`. So when all that is resident
//! is beyond it, the pages are let go: they stay in the cache, and come back when they are read, 16 at a time
//! for about a microsecond.

use super::Resident;

/// Shares of `memory.limit`: what is resident stays below the first; as much as the second must have been
/// added since the last time, as the program's own pages never go.
const RESIDENT_PERCENT: u64 = 95;
const STEP_PERCENT: u64 = 4;

/// Lets mapped pages go when there are too many.
#[derive(Debug)]
pub struct MappedMemory {
    limit_bytes: u64,
    /// What was left of them the last time.
    left_bytes: u64,
}

impl MappedMemory {
    /// Nothing was let go yet.
    pub fn new(limit_bytes: u64) -> MappedMemory {
        MappedMemory { limit_bytes, left_bytes: 0 }
    }

    /// `resident`: just measured.
    pub fn adjust_to(&mut self, resident: Resident) {
        if self.is_too_much(resident) {
            limber_store::mapped::let_go_of_pages();
            self.left_bytes = super::resident().file_bytes;
        }
    }

    fn is_too_much(&self, resident: Resident) -> bool {
        let percent = self.limit_bytes / 100;
        resident.anonymous_bytes + resident.file_bytes > percent * RESIDENT_PERCENT
            && resident.file_bytes > self.left_bytes + percent * STEP_PERCENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_let_go_when_all_is_near_the_limit_and_much_of_it_is_mapped() {
        let check = |anonymous_bytes, file_bytes, left_bytes, expected| {
            let memory = MappedMemory { limit_bytes: 1000, left_bytes };
            let is_too_much = memory.is_too_much(Resident { anonymous_bytes, file_bytes });
            assert_eq!(is_too_much, expected, "{anonymous_bytes} {file_bytes} {left_bytes}");
        };
        check(100, 800, 0, false);
        check(100, 900, 0, true);
        check(950, 30, 0, false);
        check(950, 50, 0, true);
        check(950, 50, 20, false);
    }
}
