//! Selects the segments to merge: "merging which few segments is worth writing them again?"
//!
//! Segments form tiers of similar size, and a tier may have `segments_per_tier` of them. Among all runs of up
//! to `max_merge_at_once` segments, the best combines balance, a small size and many reclaimed deletes. A run
//! of tiny segments may be longer until it reaches `floor_segment_bytes`, because tiny segments cost more
//! in each search and write than in their merge.
//!
//! Source: Lucene's `TieredMergePolicy`; the scoring is its formula.

use crate::settings::MergeSettings;

/// How many times `max_merge_at_once` a run of tiny segments may be.
const TINY_FACTOR: usize = 10;

/// What the policy knows about a segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// The bytes that would remain: the size times the share of live documents.
    pub live_bytes: u64,
    pub doc_count: u32,
    pub deleted_count: u32,
    /// Whether another merge is using it.
    pub is_merging: bool,
}

/// Selects the next natural merge, as indices into `segments` in ascending order; `None` when there is
/// nothing to merge.
pub(crate) fn find_merge(segments: &[Candidate], settings: &MergeSettings) -> Option<Vec<usize>> {
    let mut by_size: Vec<usize> = (0..segments.len()).filter(|&at| !segments[at].is_merging).collect();
    by_size.sort_by_key(|&at| std::cmp::Reverse(segments[at].live_bytes));
    let docs: u64 = segments.iter().map(|segment| u64::from(segment.doc_count)).sum();
    let deleted: u64 = segments.iter().map(|segment| u64::from(segment.deleted_count)).sum();
    let too_many_deletes = docs > 0 && deleted as f64 * 100.0 / docs as f64 > settings.deletes_pct_allowed;

    // A segment that is too large to merge waits until half of it is deleted, or until there are too many
    // deletes in total.
    let is_too_large = |segment: &Candidate| {
        segment.live_bytes > settings.max_merged_segment_bytes / 2
            && (!too_many_deletes
                || f64::from(segment.deleted_count) * 100.0
                    <= f64::from(segment.doc_count) * settings.deletes_pct_allowed)
    };
    by_size.retain(|&at| !is_too_large(&segments[at]));

    let allowed = allowed_count(&by_size, segments, settings);
    if by_size.len() as f64 <= allowed && !too_many_deletes {
        return None;
    }
    let mut best: Option<(f64, Vec<usize>)> = None;
    for start in 0..by_size.len() {
        let mut chosen = Vec::new();
        let (mut bytes, mut floored, mut total) = (0u64, 0u64, 0u64);
        let mut hit_too_large = false;
        for &at in &by_size[start..] {
            let most = match bytes < settings.floor_segment_bytes {
                true => settings.max_merge_at_once * TINY_FACTOR,
                false => settings.max_merge_at_once,
            };
            if chosen.len() >= most {
                break;
            }
            let segment = &segments[at];
            if bytes + segment.live_bytes > settings.max_merged_segment_bytes {
                hit_too_large = true;
                continue;
            }
            chosen.push(at);
            bytes += segment.live_bytes;
            floored += segment.live_bytes.max(settings.floor_segment_bytes);
            let live_share =
                f64::from(segment.doc_count - segment.deleted_count) / f64::from(segment.doc_count.max(1));
            total += (segment.live_bytes as f64 / live_share.max(0.001)) as u64;
        }
        let has_deletes = chosen.iter().any(|&at| segments[at].deleted_count > 0);
        if chosen.is_empty() || (chosen.len() == 1 && !(too_many_deletes && has_deletes)) {
            continue;
        }
        let largest = segments[chosen[0]].live_bytes.max(settings.floor_segment_bytes);
        // 1/n for n segments of equal size; close to 1 when one segment is much larger than the rest.
        let skew = match hit_too_large {
            true => 1.0 / settings.max_merge_at_once as f64,
            false => largest as f64 / floored.max(1) as f64,
        };
        let live_share = bytes as f64 / total.max(1) as f64;
        let score = skew * (bytes as f64).max(1.0).powf(0.05) * live_share.powi(2);
        if best.as_ref().is_none_or(|(best, _)| score < *best) {
            best = Some((score, chosen));
        }
    }
    best.map(|(_, mut chosen)| {
        chosen.sort_unstable();
        chosen
    })
}

/// Returns how many segments a well-merged shard of this size has.
fn allowed_count(by_size: &[usize], segments: &[Candidate], settings: &MergeSettings) -> f64 {
    let floor = settings.floor_segment_bytes.max(1);
    let smallest = by_size.last().map_or(floor, |&at| segments[at].live_bytes.max(floor));
    let mut level = smallest as f64;
    let mut left: f64 = by_size.iter().map(|&at| segments[at].live_bytes as f64).sum();
    let factor = (settings.max_merge_at_once as f64).min(settings.segments_per_tier);
    let mut allowed = 0.0;
    loop {
        let count = left / level;
        if count < settings.segments_per_tier || level >= settings.max_merged_segment_bytes as f64 {
            allowed += count.ceil();
            return allowed.max(settings.segments_per_tier);
        }
        allowed += settings.segments_per_tier;
        left -= settings.segments_per_tier * level;
        level = (level * factor).min(settings.max_merged_segment_bytes as f64);
    }
}

/// Selects the next step towards `max_count` segments, or a merge that drops the deletes of the last one;
/// `None` when the goal is reached.
pub(crate) fn find_forced_merge(segments: &[Candidate], max_count: usize) -> Option<Vec<usize>> {
    let free: Vec<usize> = (0..segments.len()).filter(|&at| !segments[at].is_merging).collect();
    let max_count = max_count.max(1);
    if segments.len() > max_count {
        // Merges the smallest segments, as many as necessary.
        let mut by_size = free;
        by_size.sort_by_key(|&at| segments[at].live_bytes);
        by_size.truncate(segments.len() - max_count + 1);
        by_size.sort_unstable();
        return (by_size.len() > 1).then_some(by_size);
    }
    free.into_iter().find(|&at| max_count == 1 && segments[at].deleted_count > 0).map(|at| vec![at])
}

/// Selects segments with more than `expunge_deletes_allowed` percent deleted documents, at most
/// `max_merge_at_once` of them.
pub(crate) fn find_expunging_merge(segments: &[Candidate], settings: &MergeSettings) -> Option<Vec<usize>> {
    let mut chosen: Vec<usize> = (0..segments.len())
        .filter(|&at| !segments[at].is_merging && segments[at].deleted_count > 0)
        .filter(|&at| {
            f64::from(segments[at].deleted_count) * 100.0
                > f64::from(segments[at].doc_count) * settings.expunge_deletes_allowed
        })
        .collect();
    let mut bytes = 0;
    chosen.retain(|&at| {
        bytes += segments[at].live_bytes;
        bytes <= settings.max_merged_segment_bytes || bytes == segments[at].live_bytes
    });
    chosen.truncate(settings.max_merge_at_once);
    (!chosen.is_empty()).then_some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::IndexSettings;

    const MB: u64 = 1 << 20;

    fn settings() -> MergeSettings {
        IndexSettings::from_flat(&serde_json::Map::new()).expect("valid").merge
    }

    fn sized(mb: &[u64]) -> Vec<Candidate> {
        let candidate = |mb: &u64| Candidate {
            live_bytes: mb * MB,
            doc_count: 1000,
            deleted_count: 0,
            is_merging: false,
        };
        mb.iter().map(candidate).collect()
    }

    #[test]
    fn equal_small_segments_are_merged_ten_at_a_time() {
        assert_eq!(find_merge(&sized(&[1; 10]), &settings()), None);
        assert_eq!(find_merge(&sized(&[1; 21]), &settings()).map(|chosen| chosen.len()), Some(10));
        let mut one_large = vec![1000];
        one_large.extend([1; 30]);
        let chosen = find_merge(&sized(&one_large), &settings()).expect("a merge");
        assert!(!chosen.contains(&0), "the large one is left alone");
    }

    #[test]
    fn tiny_segments_are_merged_before_large_ones_and_many_at_a_time() {
        let mut segments = sized(&[300, 300, 300]);
        segments.iter_mut().for_each(|segment| segment.deleted_count = 500);
        let tiny = Candidate { live_bytes: 20_000, doc_count: 600, deleted_count: 100, is_merging: false };
        segments.extend([tiny; 500]);
        let chosen = find_merge(&segments, &settings()).expect("a merge");
        assert_eq!((chosen[0], chosen.len()), (3, 100));
    }

    #[test]
    fn indexing_for_long_keeps_few_segments_and_writes_each_byte_few_times() {
        let settings = settings();
        let mut segments: Vec<Candidate> = Vec::new();
        let mut written = 0u64;
        for _ in 0..2000 {
            segments.extend(sized(&[4]));
            while let Some(chosen) = find_merge(&segments, &settings) {
                let bytes = chosen.iter().map(|&at| segments[at].live_bytes).sum::<u64>();
                written += bytes;
                for at in chosen.into_iter().rev() {
                    segments.remove(at);
                }
                segments.push(Candidate {
                    live_bytes: bytes,
                    doc_count: 1000,
                    deleted_count: 0,
                    is_merging: false,
                });
            }
            assert!(segments.len() < 60, "{}", segments.len());
        }
        assert!(segments.iter().all(|segment| segment.live_bytes <= settings.max_merged_segment_bytes));
        assert!(written / (2000 * 4 * MB) < 5, "write amplification {}", written / (2000 * 4 * MB));
    }

    #[test]
    fn many_deletes_are_reclaimed() {
        let mut segments = sized(&[10, 10]);
        segments[0].deleted_count = 900;
        assert!(find_merge(&segments, &settings()).is_some_and(|chosen| chosen.contains(&0)));
        assert_eq!(find_expunging_merge(&segments, &settings()), Some(vec![0]));
    }

    #[test]
    fn forced_merges_reach_their_count() {
        let mut segments = sized(&[5, 1, 3, 2]);
        assert_eq!(find_forced_merge(&segments, 1), Some(vec![0, 1, 2, 3]));
        assert_eq!(find_forced_merge(&segments, 3), Some(vec![1, 3]));
        assert_eq!(find_forced_merge(&segments, 4), None);
        segments.truncate(1);
        assert_eq!(find_forced_merge(&segments, 1), None);
        segments[0].deleted_count = 1;
        assert_eq!(find_forced_merge(&segments, 1), Some(vec![0]));
    }
}
