//! What does a rule answer?

use std::fmt::Display;

/// What came of looking.
pub(super) type Checked = Result<Verdict, Unread>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// Nothing to do, and the number that says so.
    Fine(String),
    /// The server has nothing that the rule is about, such as a heap; the reason.
    NotHere(&'static str),
    Found(Box<Finding>),
}

/// Something that could be better.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    /// One sentence that says what is wrong, with its number.
    pub title: String,
    pub gain: Gain,
    pub evidence: Vec<Evidence>,
    /// What to do.
    pub advice: String,
    /// A command line that would prove it.
    pub experiment: String,
}

/// What acting on a finding can bring at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gain {
    /// 0 to 100.
    pub percent: f64,
    /// Of what: `of the time`, `of the memory`, ...
    pub of: &'static str,
    pub basis: Basis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Read off the server or the machine.
    Measured,
    /// Experience, for want of a number: only the experiment can tell.
    Judged,
}

impl Gain {
    pub(super) fn measured(percent: f64, of: &'static str) -> Gain {
        Gain { percent: percent.clamp(0.0, 100.0), of, basis: Basis::Measured }
    }

    pub(super) fn judged(percent: f64, of: &'static str) -> Gain {
        Gain { percent: percent.clamp(0.0, 100.0), of, basis: Basis::Judged }
    }
}

/// A number that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Evidence {
    pub name: String,
    pub value: String,
    /// Where it was read: an endpoint with the path in its answer, or a file.
    pub source: String,
}

impl Evidence {
    pub(super) fn new(name: impl Display, value: impl Display, source: impl Display) -> Evidence {
        Evidence { name: name.to_string(), value: value.to_string(), source: source.to_string() }
    }
}

/// A number that a rule needs and could not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unread {
    /// An endpoint with the path in its answer, or a file.
    pub what: String,
    pub why: String,
}

impl Unread {
    pub(super) fn new(what: impl Display, why: impl Display) -> Unread {
        Unread { what: what.to_string(), why: why.to_string() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    pub title: &'static str,
    pub url: &'static str,
}
