//! Adds the `missing` value to documents without any value.

/// Replaces the contents of `out` by `values`, with `missing` added for every document that has none.
/// `owners` has the position of each value's document among the `doc_count` documents of the batch,
/// ascending; `out_positions` gets the positions for the new values.
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
