//! Chooses the volume for a new shard.

use limber_store::DiskSpace;

/// A volume, or the main folder, that could take a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// `None` for the main folder.
    pub volume: Option<String>,
    /// Number of shards of the same index that it has.
    pub of_index: usize,
    /// Number of all shards that it has.
    pub shards: usize,
    pub space: DiskSpace,
}

/// A volume with less than this part of its space available is taken last: its indices are about to be
/// blocked (`cluster.routing.allocation.disk.watermark.flood_stage` is 95 % by default).
const LEAST_FREE_PART: u64 = 20;

impl Candidate {
    /// Smaller is better.
    fn rank(&self) -> (bool, usize, std::cmp::Reverse<u64>, usize) {
        let is_full = self.space.available_bytes < self.space.total_bytes / LEAST_FREE_PART;
        let free_for_each = self.space.available_bytes / (self.shards as u64 + 1);
        (is_full, self.of_index, std::cmp::Reverse(free_for_each), self.shards)
    }
}

/// Sorts the candidates, the best one first.
pub(super) fn rank(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by_key(Candidate::rank);
    candidates
}

/// Returns the shard to which a path of the data folder belongs, and its index: `indices/u/0` and `indices/u`
/// for `indices/u/0/x`. `None` for paths outside of shards.
pub(super) fn shard_of(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("indices/")?;
    let uuid = rest.split('/').next()?;
    let number = rest.get(uuid.len() + 1..)?.split('/').next()?;
    if uuid.is_empty() || number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let index_end = "indices/".len() + uuid.len();
    Some((&path[..index_end + 1 + number.len()], &path[..index_end]))
}
