//! Values with those that stand in for documents without any.

/// Replaces `out` by `values` with `missing` for every document that has none. `owners`: for each value the
/// place of its document among the `doc_count` of the batch, ascending; `out_positions` becomes that of the
/// new values.
pub(super) fn fill<T: Copy>(
    values: &[T],
    owners: &[u32],
    doc_count: usize,
    missing: T,
    out: &mut Vec<T>,
    out_positions: &mut Vec<u32>,
) {
    out.clear();
    out_positions.clear();
    let mut next = 0;
    for position in 0..doc_count as u32 {
        let start = next;
        while owners.get(next) == Some(&position) {
            next += 1;
        }
        if next == start {
            out.push(missing);
            out_positions.push(position);
        } else {
            out.extend_from_slice(&values[start..next]);
            out_positions.extend_from_slice(&owners[start..next]);
        }
    }
}
