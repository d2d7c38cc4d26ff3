//! The logs of a space's fields: "where is the log of this field?"

use limber_mapping::FieldId;

use super::fields::FieldBuffer;

/// Logs from the first to the last field that had a value, so that one is found by its number. The fields of
/// nested objects have neighbouring numbers, and a space has no logs for the fields of others.
#[derive(Default)]
pub struct FieldTable {
    /// Number of the first field.
    first: usize,
    logs: Vec<FieldBuffer>,
}

impl FieldTable {
    /// Returns the log of a field that has had a value.
    #[inline]
    pub fn get(&mut self, field: FieldId) -> Option<&mut FieldBuffer> {
        self.logs.get_mut((field.0 as usize).wrapping_sub(self.first))
    }

    /// Whether there is a log for the field.
    #[inline]
    pub fn has(&self, field: FieldId) -> bool {
        (field.0 as usize).wrapping_sub(self.first) < self.logs.len()
    }

    /// Returns by how many bytes the table must grow to have a log for the field.
    pub fn missing_bytes(&self, field: FieldId) -> usize {
        let (before, after) = self.missing(field);
        (before + after) * size_of::<FieldBuffer>()
    }

    /// Returns how many logs are missing before the first one and after the last one.
    fn missing(&self, field: FieldId) -> (usize, usize) {
        let number = field.0 as usize;
        match self.logs.is_empty() {
            true => (0, 1),
            false => {
                (self.first.saturating_sub(number), (number + 1).saturating_sub(self.first + self.logs.len()))
            }
        }
    }

    /// Adds the logs that are missing up to that of the field.
    #[cold]
    pub fn add(&mut self, field: FieldId) {
        let (before, after) = self.missing(field);
        if self.logs.is_empty() {
            self.first = field.0 as usize;
        }
        self.logs.reserve(before + after);
        self.logs.splice(..0, std::iter::repeat_with(FieldBuffer::default).take(before));
        self.logs.extend(std::iter::repeat_with(FieldBuffer::default).take(after));
        self.first -= before;
    }

    /// Returns the logs in the order of their fields, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut FieldBuffer> {
        self.logs.iter_mut()
    }

    /// Returns the logs in the order of their fields.
    pub fn iter(&self) -> impl Iterator<Item = (FieldId, &FieldBuffer)> {
        (self.first as u32..).map(FieldId).zip(&self.logs)
    }

    /// Returns the heap bytes. It asks every field.
    pub fn memory_bytes(&self) -> usize {
        let logs: usize = self.logs.iter().map(FieldBuffer::memory_bytes).sum();
        logs + self.logs.capacity() * size_of::<FieldBuffer>()
    }
}

impl IntoIterator for FieldTable {
    type Item = (FieldId, FieldBuffer);
    type IntoIter = std::iter::Zip<
        std::iter::Map<std::ops::RangeFrom<u32>, fn(u32) -> FieldId>,
        std::vec::IntoIter<FieldBuffer>,
    >;

    fn into_iter(self) -> Self::IntoIter {
        (self.first as u32..).map(FieldId as fn(u32) -> FieldId).zip(self.logs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_reaches_from_the_first_to_the_last_field() {
        let mut table = FieldTable::default();
        assert!(table.get(FieldId(0)).is_none() && table.get(FieldId(7)).is_none());
        for (field, missing, reached) in [(1_000, 1, 1), (1_003, 3, 4), (1_001, 0, 4), (990, 10, 14)] {
            let field = FieldId(field);
            assert_eq!(table.missing_bytes(field), missing * size_of::<FieldBuffer>());
            if missing > 0 {
                assert!(table.get(field).is_none());
                table.add(field);
            }
            table.get(field).expect("it was added").numbers().push(0, i64::from(field.0));
            assert_eq!(table.iter().count(), reached);
        }
        assert!(table.get(FieldId(989)).is_none() && table.get(FieldId(1_004)).is_none());
        let written: Vec<u32> = table
            .into_iter()
            .filter(|(_, log)| !matches!(log, FieldBuffer::Absent))
            .map(|(field, mut log)| {
                assert_eq!(log.numbers().get(0), i64::from(field.0));
                field.0
            })
            .collect();
        assert_eq!(written, [990, 1_000, 1_001, 1_003]);
    }
}
