//! The section that lists a segment's nested spaces.
//!
//! ```text
//! varint space_count, then per space (parents first):
//!    varint path length, path (UTF-8)
//!    varint parent: 0 = the segment's documents, else 1 + the index of an earlier space in this list
//!    varint doc_count
//!    varint field_count: its fields follow those of the preceding space in the field infos
//!    8 * ceil((parents + doc_count) / 64)  words u64 little-endian of the parent bits
//! ```

use std::sync::Arc;

use limber_codec::{Corrupt, Reader, varint};

use super::parent_bits::ParentBits;

/// One space of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpaceEntry {
    pub path: Arc<str>,
    /// Index in the list; `None` for the segment's documents.
    pub parent: Option<usize>,
    pub field_count: u32,
    pub bits: Arc<ParentBits>,
}

pub(crate) fn encode(spaces: &[SpaceEntry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint::write_u64(&mut bytes, spaces.len() as u64);
    for space in spaces {
        varint::write_bytes(&mut bytes, space.path.as_bytes());
        varint::write_u64(&mut bytes, space.parent.map_or(0, |place| place as u64 + 1));
        varint::write_u32(&mut bytes, space.bits.child_count());
        varint::write_u32(&mut bytes, space.field_count);
        space.bits.words().iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    }
    bytes
}

/// Inverse of [`encode`]. `doc_count` and `field_count` are those of the segment's file.
pub(crate) fn decode(bytes: &[u8], doc_count: u32, field_count: usize) -> Result<Vec<SpaceEntry>, Corrupt> {
    let mut reader = Reader::new(bytes);
    let count = reader.varint()?;
    let mut spaces: Vec<SpaceEntry> = Vec::with_capacity(count.min(bytes.len() as u64) as usize);
    let mut fields = 0u64;
    for _ in 0..count {
        let path: Arc<str> = reader.prefixed_str()?.into();
        let parent = reader.varint()?;
        reader.expect(parent <= spaces.len() as u64, "a space before as parent")?;
        let parent = (parent > 0).then(|| parent as usize - 1);
        let parent_count = parent.map_or(doc_count, |place| spaces[place].bits.child_count());
        let (child_count, own_fields) = (reader.varint_u32()?, reader.varint_u32()?);
        fields += u64::from(own_fields);
        reader.expect(fields <= field_count as u64, "fields of the segment")?;
        let word_count = (u64::from(parent_count) + u64::from(child_count)).div_ceil(64);
        let (words, _) = reader.bytes(word_count as usize * 8)?.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let bits = ParentBits::new(words, parent_count, child_count)
            .ok_or_else(|| reader.corrupt("a one for each parent"))?;
        spaces.push(SpaceEntry { path, parent, field_count: own_fields, bits: Arc::new(bits) });
    }
    reader.expect(reader.remaining() == 0, "the end of the nested spaces")?;
    Ok(spaces)
}

#[cfg(test)]
mod tests {
    use super::super::parent_bits::ParentBitsBuilder;
    use super::*;

    fn entry(path: &str, parent: Option<usize>, field_count: u32, counts: &[u32]) -> SpaceEntry {
        let mut builder = ParentBitsBuilder::default();
        counts.iter().for_each(|&count| builder.push(count));
        SpaceEntry { path: path.into(), parent, field_count, bits: Arc::new(builder.finish()) }
    }

    #[test]
    fn bytes_of_a_tiny_table_and_back() {
        let spaces = [entry("n", None, 2, &[2, 0]), entry("n.d", Some(0), 1, &[0, 1])];
        let bytes = encode(&spaces);
        let expected = [
            &[2, 1, b'n', 0, 2, 2][..],
            &[0b1100, 0, 0, 0, 0, 0, 0, 0],
            &[3, b'n', b'.', b'd', 1, 1, 1],
            &[0b101, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(bytes, expected);
        assert_eq!(decode(&bytes, 2, 3).expect("decodes"), spaces);
        assert!(decode(&bytes, 3, 3).is_err());
        assert!(decode(&bytes, 2, 2).is_err());
        for len in 0..bytes.len() {
            assert!(decode(&bytes[..len], 2, 3).is_err(), "{len} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut torn = bytes.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            // Some flips produce another valid table; none may panic.
            let _ = decode(&torn, 2, 3);
        }
    }
}
