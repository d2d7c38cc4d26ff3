//! Pages of mapped segments: "how many of them may count as this process's memory?"
//!
//! They are part of the system's page cache, which the system can reclaim. Until it does, they count as
//! resident, so that the process appears to use more than `memory.limit`. When the resident size exceeds the
//! limit, the pages are released: they stay in the cache, and are mapped again when they are read, 16 at a
//! time in about a microsecond.

use super::Resident;

/// Percentages of `memory.limit`. Mapped pages are released when the resident size exceeds the first, but
/// only if mapped pages have grown by the second since the last release: the rest of the resident size is the
/// program's own memory, which a release cannot reduce.
const RESIDENT_PERCENT: u64 = 95;
const STEP_PERCENT: u64 = 4;

/// Releases mapped pages when there are too many.
#[derive(Debug)]
pub struct MappedMemory {
    limit_bytes: u64,
    /// Mapped bytes that were left after the last release.
    left_bytes: u64,
}

impl MappedMemory {
    /// Creates the state before any release.
    pub fn new(limit_bytes: u64) -> MappedMemory {
        MappedMemory { limit_bytes, left_bytes: 0 }
    }

    /// Releases mapped pages if `resident`, as just measured, is too much.
    pub fn adjust_to(&mut self, resident: Resident) {
        if self.is_too_much(resident) {
            limber_store::mapped::release_pages();
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
