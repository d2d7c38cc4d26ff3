//! Errors of a segment, split by who can act on them.

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk, the operating system, or a memory limit.
    #[error(transparent)]
    Store(#[from] limber_store::Error),
    /// Bytes of a section are not what any writer here produces.
    #[error("corrupt {section}: expected {expected} at offset {offset}")]
    Corrupt {
        /// Name of the section.
        section: &'static str,
        /// Offset in the section, in bytes.
        offset: u64,
        /// What should be there.
        expected: &'static str,
    },
    /// A term of the document is longer than [`crate::TERM_BYTES_MAX`] (Lucene's
    /// `IndexWriter.MAX_TERM_LENGTH`).
    #[error(
        "Document contains at least one immense term in field=\"{field}\" (whose UTF8 encoding is longer than the max \
         length {limit_bytes}), all of which were skipped. bytes can be at most {limit_bytes} in length; got {bytes}"
    )]
    ImmenseTerm {
        /// Full dotted path.
        field: String,
        /// Length of the term.
        bytes: usize,
        /// Maximum length of a term.
        limit_bytes: usize,
    },
    /// A token filter (`delimited_term_freq`) gave a term of the document a frequency that cannot be indexed.
    #[error("field \"{field}\": {reason}")]
    TermFrequency {
        /// Full dotted path.
        field: String,
        /// The reason, in words.
        reason: &'static str,
    },
    /// Segments of one shard disagree about the representation of a field; a mapping never allows that.
    #[error("field [{path}] is represented differently in the segments to merge")]
    FieldConflict {
        /// Full dotted path.
        path: String,
    },
    /// The caller's progress hook cancelled a merge.
    #[error("cancelled")]
    Cancelled,
    /// A structure outgrew what its format can address.
    #[error("{what} would exceed {limit}")]
    LimitExceeded {
        /// What exceeds the limit.
        what: &'static str,
        /// Maximum that the format can address.
        limit: u64,
    },
}

impl Error {
    /// Returns [`Error::ImmenseTerm`] for a term of `bytes` bytes.
    #[cold]
    pub(crate) fn immense_term(field: &str, bytes: usize) -> Error {
        Error::ImmenseTerm { field: field.to_owned(), bytes, limit_bytes: crate::TERM_BYTES_MAX }
    }

    /// Returns [`Error::Corrupt`] at a known offset.
    #[cold]
    pub fn corrupt(section: &'static str, offset: u64, expected: &'static str) -> Error {
        Error::Corrupt { section, offset, expected }
    }

    /// Names the section in which a [`limber_codec::Reader`] failed; `base` is the offset in the section at
    /// which the reader's slice starts.
    #[cold]
    pub fn in_section(section: &'static str, base: u64) -> impl Fn(limber_codec::Corrupt) -> Error {
        move |corrupt| Error::Corrupt {
            section,
            offset: base + corrupt.offset as u64,
            expected: corrupt.expected,
        }
    }
}
