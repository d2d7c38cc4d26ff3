//! The values of a batch of documents.

/// Result of [`super::Column::gather`]. Reuse one for all batches: once it has grown, nothing is allocated.
#[derive(Debug, Clone)]
pub struct Batch<T> {
    /// All values, in the order of the requested documents; several values of one document ascend.
    pub values: Vec<T>,
    /// `values[i]` belongs to `docs[positions[i]]`; ascending. Empty when the batch [is
    /// aligned](Batch::is_aligned).
    pub positions: Vec<u32>,
    pub(super) aligned: bool,
    pub(super) ranks: Vec<u32>,
    pub(super) present: Vec<u32>,
    pub(super) starts: Vec<i64>,
    pub(super) ends: Vec<i64>,
    /// Scratch space for a whole group, used when many of its values are wanted.
    pub(super) decoded: Vec<T>,
}

impl<T> Default for Batch<T> {
    fn default() -> Batch<T> {
        let (positions, ranks, present) = Default::default();
        Batch {
            values: Vec::new(),
            positions,
            aligned: false,
            ranks,
            present,
            starts: Vec::new(),
            ends: Vec::new(),
            decoded: Vec::new(),
        }
    }
}

impl<T: Copy> Batch<T> {
    /// Empties the batch, to be filled with values from elsewhere than a column. `aligned` says that there
    /// will be exactly one for every document, in order.
    pub fn reset(&mut self, aligned: bool) {
        self.values.clear();
        self.positions.clear();
        self.aligned = aligned;
    }

    /// Whether every document has exactly one value: `values[i]` belongs to `docs[i]`.
    #[inline]
    pub fn is_aligned(&self) -> bool {
        self.aligned
    }

    /// Iterates over (index of the document in the batch, value).
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (usize, T)> {
        self.values
            .iter()
            .enumerate()
            .map(|(index, value)| (if self.aligned { index } else { self.positions[index] as usize }, *value))
    }
}
