//! The values of a batch of documents.

/// What [`super::Column::gather`] answers. Reuse one across batches: nothing is allocated once it has grown.
#[derive(Debug, Clone)]
pub struct Batch<T> {
    /// All values, in the order of the documents asked for; several of one document ascending.
    pub values: Vec<T>,
    /// `values[i]` belongs to `docs[positions[i]]`; ascending. Empty when the batch [is
    /// aligned](Batch::is_aligned).
    pub positions: Vec<u32>,
    pub(super) aligned: bool,
    pub(super) ranks: Vec<u32>,
    pub(super) present: Vec<u32>,
    pub(super) starts: Vec<i64>,
    pub(super) ends: Vec<i64>,
    /// A group of values, where many of it are wanted.
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
    /// Empties the batch for values that come from elsewhere than a column; `aligned`: exactly one for every
    /// document, in order.
    pub fn reset(&mut self, aligned: bool) {
        self.values.clear();
        self.positions.clear();
        self.aligned = aligned;
    }

    /// Every document has exactly one value: `values[i]` belongs to `docs[i]`.
    #[inline]
    pub fn is_aligned(&self) -> bool {
        self.aligned
    }

    /// (index of the document in the batch, value) of every value.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (usize, T)> {
        self.values
            .iter()
            .enumerate()
            .map(|(index, value)| (if self.aligned { index } else { self.positions[index] as usize }, *value))
    }
}
