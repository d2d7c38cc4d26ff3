//! The format of a translog generation `translog-<generation>.log`. All numbers are little-endian.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | magic `LMBRTLOG` |
//! | 8 | 4 | format version, 2; version 1 is read too |
//! | 12 | 8 | generation |
//! | 20 | 8 | primary term under which the generation was begun |
//! | 28 | 16 | identity of the shard's history |
//! | 44 | 8 | begun at, milliseconds since 1970 |
//! | 52 | 4 | CRC-32 of the 52 bytes before |
//!
//! The records follow:
//!
//! | size | field |
//! |---|---|
//! | 4 | length of the payload |
//! | 4 | CRC-32 of the payload |
//! | n | payload: type and flags (1 byte), then by type |
//!
//! Index, delete, no-op: varints `seq_no`, `primary_term`, `version`, then `id` (varint length, bytes),
//! `routing` likewise if flag 0x10 is set, and the source up to the end. Mark: the 8 bytes `MARKER`, the
//! length (8 bytes) up to which the file was durable when the mark was written, and the number of operations
//! (8 bytes; not in version 1) in the file before the mark. Every append begins with a mark.
//!
//! Records follow each other without gaps, but the first one after an fsync begins at a multiple of
//! [`BLOCK_BYTES`], after zeros. A block with acknowledged records is never written again, so torn writes
//! cannot damage them. Version 1 has zeros only at its end.
//!
//! **Versions.** The positions of magic and version never change, and the error for a later version names it.
//! [`VERSION`] is raised with every change of the header, the records or their order. Version 1, until
//! 3694ce2, has marks without a count, and zeros only at the end.
//!
//! **Torn or corrupt?** Bytes written after the last fsync may be lost in any order, so a bad record alone
//! proves nothing. It is corruption of acknowledged data if the checkpoint (`checkpoint.rs`) or a later mark
//! says that the translog was durable beyond it. Otherwise it is the torn tail of unacknowledged writes and
//! is truncated.

use limber_codec::checksum::crc32;
use limber_codec::varint::{write_bytes, write_u64};
use limber_codec::{Corrupt, Reader};
use limber_segment::WriteIdentity;

pub(super) const MAGIC: &[u8; 8] = b"LMBRTLOG";
pub(super) const VERSION: u32 = 2;
/// The first version with counting marks and with zeros between records.
pub(super) const VERSION_PADDED: u32 = 2;
pub(super) const HEADER_BYTES: usize = 56;
/// The unit in which common disks and file systems write.
pub(super) const BLOCK_BYTES: u64 = 4096;
/// Length and checksum before every payload.
pub(super) const PREFIX_BYTES: usize = 8;
/// Largest payload: a document of slightly less than 2 GiB.
pub(super) const PAYLOAD_BYTES_MAX: usize = i32::MAX as usize;

pub(super) const MARKER: &[u8; 8] = b"\xf1synced\x1f";
/// Size of a whole mark record.
pub(super) const MARK_BYTES: usize = PREFIX_BYTES + 1 + 8 + 8 + 8;

const TYPE_MASK: u8 = 0x0f;
const HAS_ROUTING: u8 = 0x10;

/// The type of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationType {
    /// Writes a document.
    Index = 1,
    /// Deletes a document.
    Delete = 2,
    /// Does nothing: records that a sequence number was assigned but not used.
    NoOp = 3,
}

const TYPE_MARK: u8 = 4;

pub(super) fn file_name(generation: u64) -> String {
    format!("translog-{generation}.log")
}

/// Returns the generation of a file from its name.
pub(super) fn generation_of(name: &str) -> Option<u64> {
    name.strip_prefix("translog-")?.strip_suffix(".log")?.parse().ok()
}

/// The header of each translog file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Format version; [`VERSION`] in new files.
    pub version: u32,
    /// Number of the file's generation.
    pub generation: u64,
    /// The primary term of the shard when the file was begun.
    pub primary_term: u64,
    /// Identity of the shard's history, the same in all files of one translog.
    pub history: [u8; 16],
    /// When the file was begun, in milliseconds since 1970.
    pub begun_millis: u64,
}

/// Returns the version of a translog file whose header is intact. Magic, version and the position of the
/// checksum are the same in every version.
pub(super) fn version_of(bytes: &[u8]) -> Option<u32> {
    let head = bytes.get(..HEADER_BYTES)?;
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    // A damaged version number must count as damage and not as a newer version.
    (head[..8] == *MAGIC && word(HEADER_BYTES - 4) == crc32(&head[..HEADER_BYTES - 4])).then(|| word(8))
}

impl Header {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&self.generation.to_le_bytes());
        bytes.extend_from_slice(&self.primary_term.to_le_bytes());
        bytes.extend_from_slice(&self.history);
        bytes.extend_from_slice(&self.begun_millis.to_le_bytes());
        bytes.extend_from_slice(&crc32(&bytes).to_le_bytes());
        bytes
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Header, Corrupt> {
        let mut read = Reader::new(bytes);
        let covered =
            bytes.get(..HEADER_BYTES - 4).ok_or_else(|| read.corrupt("a translog header of 56 bytes"))?;
        let magic = read.bytes(8)?;
        read.expect(magic == MAGIC, "translog magic")?;
        let version = read.u32()?;
        read.expect((1..=VERSION).contains(&version), "translog format version 1 or 2")?;
        let generation = read.u64()?;
        let primary_term = read.u64()?;
        let mut history = [0u8; 16];
        history.copy_from_slice(read.bytes(16)?);
        let begun_millis = read.u64()?;
        let crc = read.u32()?;
        read.expect(crc == crc32(covered), "translog header checksum")?;
        Ok(Header { version, generation, primary_term, history, begun_millis })
    }
}

/// One operation on one document, borrowed: what a shard carries out and its translog stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation<'a> {
    /// The type of the operation.
    pub kind: OperationType,
    /// The document's id; empty for a `NoOp`.
    pub id: &'a str,
    /// The routing given with the document.
    pub routing: Option<&'a str>,
    /// The document; empty unless the operation writes one.
    pub source: &'a [u8],
}

impl Operation<'_> {
    /// The no-op, which only uses up a sequence number.
    pub const NO_OP: Operation<'static> =
        Operation { kind: OperationType::NoOp, id: "", routing: None, source: b"" };
}

/// An operation that was carried out, with the sequence number, primary term and version that the shard gave
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// The operation.
    pub operation: Operation<'a>,
    /// Its sequence number, primary term and version.
    pub identity: WriteIdentity,
}

pub(super) enum Payload<'a> {
    Record(Record<'a>),
    /// `operations` counts those in the file before the mark; `None` in version 1.
    Mark {
        durable_len: u64,
        operations: Option<u64>,
    },
}

impl<'a> Record<'a> {
    /// Parses a record's payload (the result of [`super::Translog::read`]).
    pub fn parse(payload: &'a [u8]) -> Result<Record<'a>, Corrupt> {
        match parse_payload(payload)? {
            Payload::Record(record) => Ok(record),
            Payload::Mark { .. } => Err(Reader::new(payload).corrupt("an operation")),
        }
    }
}

pub(super) fn parse_payload(payload: &[u8]) -> Result<Payload<'_>, Corrupt> {
    let mut read = Reader::new(payload);
    let tag = read.u8()?;
    let kind = match tag & TYPE_MASK {
        1 => OperationType::Index,
        2 => OperationType::Delete,
        3 => OperationType::NoOp,
        TYPE_MARK => {
            let marker = read.bytes(8)?;
            read.expect(marker == MARKER, "marker")?;
            let durable_len = read.u64()?;
            let operations = if read.remaining() == 0 { None } else { Some(read.u64()?) };
            return Ok(Payload::Mark { durable_len, operations });
        }
        _ => return Err(read.corrupt("a translog operation type")),
    };
    let (seq_no, primary_term, version) = (read.varint()?, read.varint()?, read.varint()?);
    let identity = WriteIdentity { seq_no, primary_term, version };
    let id = read.prefixed_str()?;
    let routing = if tag & HAS_ROUTING != 0 { Some(read.prefixed_str()?) } else { None };
    let operation = Operation { kind, id, routing, source: read.rest() };
    Ok(Payload::Record(Record { operation, identity }))
}

pub(super) fn mark(durable_len: u64, operations: u64) -> [u8; MARK_BYTES] {
    let mut record = [0u8; MARK_BYTES];
    record[8] = TYPE_MARK;
    record[9..17].copy_from_slice(MARKER);
    record[17..25].copy_from_slice(&durable_len.to_le_bytes());
    record[25..33].copy_from_slice(&operations.to_le_bytes());
    let crc = crc32(&record[PREFIX_BYTES..]);
    record[0..4].copy_from_slice(&((MARK_BYTES - PREFIX_BYTES) as u32).to_le_bytes());
    record[4..8].copy_from_slice(&crc.to_le_bytes());
    record
}

/// Encoded records, ready for one append.
#[derive(Debug, Default)]
pub struct RecordBatch {
    /// Begins with room for the mark, once there is a record.
    bytes: Vec<u8>,
    count: u64,
}

impl RecordBatch {
    /// Returns the largest size of an operation's record.
    pub fn record_bytes(operation: &Operation<'_>) -> usize {
        const NUMBERS: usize = 64;
        operation.source.len() + operation.id.len() + operation.routing.map_or(0, str::len) + NUMBERS
    }

    /// Makes a batch with room for records of `bytes`.
    pub fn with_capacity(bytes: usize) -> RecordBatch {
        RecordBatch { bytes: Vec::with_capacity(MARK_BYTES + bytes), count: 0 }
    }

    /// Encodes one record. Returns its offset from the first record, and its length.
    pub fn push(&mut self, record: &Record<'_>) -> (u32, u32) {
        let Record { operation, identity } = record;
        if self.bytes.is_empty() {
            self.bytes.extend_from_slice(&[0; MARK_BYTES]);
        }
        let start = self.bytes.len();
        self.bytes.reserve(RecordBatch::record_bytes(operation));
        self.bytes.extend_from_slice(&[0; PREFIX_BYTES]);
        self.bytes.push(operation.kind as u8 | if operation.routing.is_some() { HAS_ROUTING } else { 0 });
        write_u64(&mut self.bytes, identity.seq_no);
        write_u64(&mut self.bytes, identity.primary_term);
        write_u64(&mut self.bytes, identity.version);
        write_bytes(&mut self.bytes, operation.id.as_bytes());
        if let Some(routing) = operation.routing {
            write_bytes(&mut self.bytes, routing.as_bytes());
        }
        self.bytes.extend_from_slice(operation.source);
        let payload = start + PREFIX_BYTES;
        let crc = crc32(&self.bytes[payload..]);
        let len = (self.bytes.len() - payload) as u32;
        self.bytes[start..start + 4].copy_from_slice(&len.to_le_bytes());
        self.bytes[start + 4..payload].copy_from_slice(&crc.to_le_bytes());
        self.count += 1;
        ((start - MARK_BYTES) as u32, (self.bytes.len() - start) as u32)
    }

    /// Whether the batch has no operations.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of operations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the heap bytes.
    pub fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Returns the bytes of the append.
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes of an append: a mark and the records. `operations` counts those in the file before
    /// them.
    pub(super) fn into_bytes(mut self, durable_len: u64, operations: u64) -> Vec<u8> {
        if let Some(room) = self.bytes.first_chunk_mut() {
            *room = mark(durable_len, operations);
        }
        self.bytes
    }
}

/// Returns the payload of the record at `offset`, and the offset of the next one; `Err` says what is wrong
/// with the record.
pub(super) fn record_at(bytes: &[u8], offset: usize) -> Result<(&[u8], usize), &'static str> {
    let rest = bytes.get(offset..).unwrap_or_default();
    let (Some(len), Some(crc)) = (rest.get(..4), rest.get(4..8)) else {
        return Err("a record prefix of 8 bytes");
    };
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let len = word(len) as usize;
    if len == 0 || len > PAYLOAD_BYTES_MAX {
        return Err("a record length from 1 to 2^31 - 1");
    }
    let payload =
        rest.get(PREFIX_BYTES..PREFIX_BYTES + len).ok_or("as many bytes as the record length says")?;
    if crc32(payload) != word(crc) {
        return Err("the record's checksum");
    }
    Ok((payload, offset + PREFIX_BYTES + len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_tiny_example() {
        let mut batch = RecordBatch::default();
        let operation = Operation { kind: OperationType::Index, id: "a", routing: Some("r"), source: b"{}" };
        let record =
            Record { operation, identity: WriteIdentity { seq_no: 300, primary_term: 1, version: 2 } };
        assert_eq!((batch.push(&record), batch.push(&record)), ((0, 19), (19, 19)));
        let bytes = batch.into_bytes(700, 9);
        let (head, records) = bytes.split_at(MARK_BYTES);
        assert_eq!(head, mark(700, 9));
        assert_eq!(&records[..4], &[11, 0, 0, 0]);
        assert_eq!(&records[8..19], &[0x11, 0xac, 2, 1, 2, 1, b'a', 1, b'r', b'{', b'}']);
        assert_eq!(records[..19], records[19..]);
        let (payload, next) = record_at(records, 0).expect("sound");
        assert_eq!(next, 19);
        assert_eq!(Record::parse(payload).expect("sound"), record);
    }

    #[test]
    fn every_flipped_bit_of_a_record_is_noticed() {
        let mut batch = RecordBatch::default();
        let operation = Operation { kind: OperationType::Delete, id: "id", routing: None, source: b"" };
        batch.push(&Record { operation, identity: WriteIdentity { seq_no: 1, primary_term: 1, version: 1 } });
        let record = batch.into_bytes(0, 0).split_off(MARK_BYTES);
        for bit in 0..record.len() * 8 {
            let mut damaged = record.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let found = record_at(&damaged, 0);
            assert!(found.is_err(), "bit {bit}");
        }
    }
}
