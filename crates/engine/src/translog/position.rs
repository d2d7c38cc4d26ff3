//! Positions in a translog. A position names its log, so that it is never confused with a position in another
//! log.

/// The position of an operation's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// Number of the file's generation.
    pub generation: u64,
    /// The offset of the record in the file, in bytes.
    pub offset: u64,
    /// Bytes of the record.
    pub len: u32,
}

/// An open translog. No other translog of this process ever has the same number, even with the same files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogId(pub(super) u64);

/// A position in one open translog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition {
    /// The translog of this position.
    pub log: LogId,
    /// Bytes appended before it since the translog was opened, over all generations.
    pub bytes: u64,
}

/// The position of a stored batch.
#[derive(Debug, Clone, Copy)]
pub struct Appended {
    /// Number of the generation that contains it.
    pub generation: u64,
    /// File offset of the batch's first record.
    pub offset: u64,
    /// The position that [`Translog::sync`](super::Translog::sync) must reach to make the batch durable.
    pub end: LogPosition,
}
