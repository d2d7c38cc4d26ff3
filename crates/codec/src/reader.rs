//! A checked cursor over bytes: "what is the next value here, or is this corrupt?"
//!
//! Every read returns a `Result`; nothing here panics or allocates, whatever the bytes are.

/// Bytes that are not what any writer here produces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt {
    /// Offset of the offending value in the slice that was read.
    pub offset: usize,
    /// What should have been there.
    pub expected: &'static str,
}

impl std::fmt::Display for Corrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expected {} at offset {}", self.expected, self.offset)
    }
}

impl std::error::Error for Corrupt {}

/// Reads little-endian values front to back.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from the front.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// Returns the number of bytes consumed so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the number of bytes left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns the bytes that have not been read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Creates an error at the current position.
    pub fn corrupt(&self, expected: &'static str) -> Corrupt {
        Corrupt { offset: self.at, expected }
    }

    /// Fails unless `holds`.
    #[inline]
    pub fn expect(&self, holds: bool, expected: &'static str) -> Result<(), Corrupt> {
        if holds { Ok(()) } else { Err(self.corrupt(expected)) }
    }

    /// Reads the next `len` bytes.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Corrupt> {
        let rest = self.rest();
        if len > rest.len() {
            return Err(self.corrupt("more bytes"));
        }
        self.at += len;
        Ok(&rest[..len])
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Corrupt> {
        match self.rest().first_chunk::<N>() {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(self.corrupt("more bytes")),
        }
    }

    /// Reads one byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Corrupt> {
        Ok(self.array::<1>()?[0])
    }

    /// Reads two bytes, the lowest first.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Corrupt> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Reads four bytes, the lowest first.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Corrupt> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Reads eight bytes, the lowest first.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Corrupt> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Reads eight bytes, the lowest first.
    #[inline]
    pub fn i64(&mut self) -> Result<i64, Corrupt> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    /// Reads a LEB128 number of at most ten bytes ([`crate::varint::write_u64`]).
    #[inline]
    pub fn varint(&mut self) -> Result<u64, Corrupt> {
        match *self.rest() {
            [first, ..] if first < 0x80 => {
                self.at += 1;
                Ok(u64::from(first))
            }
            [first, second, ..] if second < 0x80 => {
                self.at += 2;
                Ok(u64::from(first & 0x7f) | u64::from(second) << 7)
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, Corrupt> {
        let rest = self.rest();
        let mut value = 0u64;
        for (i, &byte) in rest.iter().take(10).enumerate() {
            if i == 9 && byte > 1 {
                break;
            }
            value |= ((byte & 0x7f) as u64) << (7 * i);
            if byte < 0x80 {
                self.at += i + 1;
                return Ok(value);
            }
        }
        Err(self.corrupt("a varint of at most ten bytes"))
    }

    /// Reads a varint that fits 32 bits.
    #[inline]
    pub fn varint_u32(&mut self) -> Result<u32, Corrupt> {
        let at = self.at;
        let value = self.varint()?;
        u32::try_from(value).map_err(|_| Corrupt { offset: at, expected: "a varint of 32 bits" })
    }

    /// Reads a varint length and then that many bytes.
    pub fn prefixed_bytes(&mut self) -> Result<&'a [u8], Corrupt> {
        let len = self.varint()?;
        self.expect(len <= self.remaining() as u64, "a length that fits the bytes left")?;
        self.bytes(len as usize)
    }

    /// Reads a length-prefixed UTF-8 string.
    pub fn prefixed_str(&mut self) -> Result<&'a str, Corrupt> {
        let at = self.at;
        std::str::from_utf8(self.prefixed_bytes()?).map_err(|_| Corrupt { offset: at, expected: "UTF-8" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varint;

    #[test]
    fn reads_back_and_stops_at_the_end() {
        let mut bytes = Vec::new();
        for value in [0, 1, 127, 128, 300, u32::MAX as u64, u64::MAX] {
            varint::write_u64(&mut bytes, value);
        }
        bytes.extend_from_slice(&7u32.to_le_bytes());
        let mut reader = Reader::new(&bytes);
        for value in [0, 1, 127, 128, 300, u32::MAX as u64, u64::MAX] {
            assert_eq!(reader.varint(), Ok(value));
        }
        assert_eq!(reader.u32(), Ok(7));
        assert!(reader.u8().is_err());
        assert!(Reader::new(&[0xff; 12]).varint().is_err());
        assert!(Reader::new(&[200, 1, 0]).prefixed_bytes().is_err());
    }
}
