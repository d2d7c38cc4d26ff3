//! Errors of strings and patterns.

/// The result of parsing a string or a pattern.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a string or a pattern is refused, in Elasticsearch's words; each variant is one of its exceptions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The string is invalid or too expensive.
    #[error("{0}")]
    IllegalArgument(String),
    /// Like [`Error::IllegalArgument`], because a part of the string is no number.
    #[error("{reason}")]
    IllegalNumber {
        /// The reason for the whole string.
        reason: String,
        /// The part that is no number.
        number: String,
    },
    /// The string is no number.
    #[error("For input string: \"{0}\"")]
    NumberFormat(String),
    /// A regular expression needs more states than allowed.
    #[error("Determinizing automaton would require more than {states_max} effort.")]
    TooComplex {
        /// The number of states allowed.
        states_max: u32,
    },
    /// A replacement names a group that the pattern does not have.
    #[error("No group {0}")]
    NoSuchGroup(String),
    /// The request was stopped.
    #[error(transparent)]
    Stopped(#[from] limber_work::Stop),
}

impl Error {
    /// Creates an [`Error::IllegalArgument`].
    pub(crate) fn illegal(reason: impl Into<String>) -> Error {
        Error::IllegalArgument(reason.into())
    }
}
