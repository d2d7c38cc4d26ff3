//! What can be wrong with a text or a pattern.

/// What comes of reading a text or a pattern.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a text or a pattern is refused, in Elasticsearch's words; each variant is one of its exceptions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What is written is wrong, or costs too much.
    #[error("{0}")]
    IllegalArgument(String),
    /// As [`Error::IllegalArgument`], because a part of the text is no number.
    #[error("{reason}")]
    IllegalNumber {
        /// What the whole text is refused with.
        reason: String,
        /// The part that is no number.
        number: String,
    },
    /// This text is no number.
    #[error("For input string: \"{0}\"")]
    NumberFormat(String),
    /// A regular expression that needs more states than it may have.
    #[error("Determinizing automaton would require more than {states_max} effort.")]
    TooComplex {
        /// How many states it may have.
        states_max: u32,
    },
    /// A replacement names a group that the pattern does not have.
    #[error("No group {0}")]
    NoSuchGroup(String),
    /// The request that asks must not go on.
    #[error(transparent)]
    Stopped(#[from] limber_work::Stop),
}

impl Error {
    /// [`Error::IllegalArgument`].
    pub(crate) fn illegal(reason: impl Into<String>) -> Error {
        Error::IllegalArgument(reason.into())
    }
}
