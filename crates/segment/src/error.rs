//! What can go wrong with a segment, split by who can act.

/// What functions of this crate give.
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
        /// Which one.
        section: &'static str,
        /// Byte in it.
        offset: u64,
        /// What should be there.
        expected: &'static str,
    },
    /// The document's fault: a term longer than [`crate::TERM_BYTES_MAX`] (Lucene's
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
        /// Most that a term may have.
        limit_bytes: usize,
    },
    /// The document's fault: a frequency that a token filter gives a term (`delimited_term_freq`), which
    /// cannot be indexed.
    #[error("field \"{field}\": {reason}")]
    TermFrequency {
        /// Full dotted path.
        field: String,
        /// Why, in words.
        reason: &'static str,
    },
    /// Segments of one shard disagree about what a field is; a mapping never lets that happen.
    #[error("field [{path}] is represented differently in the segments to merge")]
    FieldConflict {
        /// Full dotted path.
        path: String,
    },
    /// The caller's progress hook ended a merge.
    #[error("cancelled")]
    Cancelled,
    /// A structure has outgrown what its format can address.
    #[error("{what} would exceed {limit}")]
    LimitExceeded {
        /// What there is too much of.
        what: &'static str,
        /// Most that the format can address.
        limit: u64,
    },
}

impl Error {
    /// `ImmenseTerm` of a length.
    #[cold]
    pub(crate) fn immense_term(field: &str, bytes: usize) -> Error {
        Error::ImmenseTerm { field: field.to_owned(), bytes, limit_bytes: crate::TERM_BYTES_MAX }
    }

    /// `Corrupt` at a known place.
    #[cold]
    pub fn corrupt(section: &'static str, offset: u64, expected: &'static str) -> Error {
        Error::Corrupt { section, offset, expected }
    }

    /// Names the section in which a [`limber_codec::Reader`] failed; `base` is where the reader's slice
    /// starts in it.
    #[cold]
    pub fn in_section(section: &'static str, base: u64) -> impl Fn(limber_codec::Corrupt) -> Error {
        move |corrupt| Error::Corrupt {
            section,
            offset: base + corrupt.offset as u64,
            expected: corrupt.expected,
        }
    }
}
