//! Field infos to bytes and back; layout in [`super::format`].

use limber_codec::{Corrupt, Reader, varint};
use limber_mapping::Representation;

use super::meta::FieldInfo;

pub(super) fn encode(fields: &[FieldInfo]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 + fields.len() * 32);
    varint::write_u64(&mut bytes, fields.len() as u64);
    for field in fields {
        varint::write_bytes(&mut bytes, field.path.as_bytes());
        bytes.push(match field.representation {
            Representation::Text => 0,
            Representation::Terms => 1,
            Representation::Number => 2,
            Representation::Shape => 3,
        });
        bytes.push(
            u8::from(field.index)
                | u8::from(field.column) << 1
                | u8::from(field.norms) << 2
                | u8::from(field.frequencies) << 3
                | u8::from(field.positions) << 4
                | u8::from(field.spatial) << 5,
        );
    }
    bytes
}

/// Inverse of [`encode`].
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<FieldInfo>, Corrupt> {
    let mut reader = Reader::new(bytes);
    let count = reader.varint()?;
    let mut fields = Vec::with_capacity(count.min(bytes.len() as u64) as usize);
    for _ in 0..count {
        let path = reader.prefixed_str()?;
        let representation = match reader.u8()? {
            0 => Representation::Text,
            1 => Representation::Terms,
            2 => Representation::Number,
            3 => Representation::Shape,
            _ => return Err(reader.corrupt("a representation")),
        };
        let flags = reader.u8()?;
        reader.expect(flags < 1 << 6, "known flags of a field")?;
        fields.push(FieldInfo {
            path: path.into(),
            representation,
            index: flags & 1 != 0,
            column: flags & 2 != 0,
            norms: flags & 4 != 0,
            frequencies: flags & 8 != 0,
            positions: flags & 16 != 0,
            spatial: flags & 32 != 0,
        });
    }
    reader.expect(reader.remaining() == 0, "the end of the field infos")?;
    Ok(fields)
}
