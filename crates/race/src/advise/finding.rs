//! The result of checking a rule.

use std::fmt::Display;

/// Result of a check: a verdict, or what could not be read.
pub(super) type Checked = Result<Verdict, Unread>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// There is nothing to do; the string has the number that shows it.
    Fine(String),
    /// The server does not have what the rule is about, such as a heap; the string says why.
    NotHere(&'static str),
    Found(Box<Finding>),
}

/// Something that could be better.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    /// One sentence that says what is wrong, with the number that shows it.
    pub title: String,
    pub gain: Gain,
    pub evidence: Vec<Evidence>,
    /// What to do.
    pub advice: String,
    /// A command line that would prove it.
    pub experiment: String,
}

/// The most that acting on a finding can bring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gain {
    /// 0 to 100.
    pub percent: f64,
    /// What the percentage is a share of: `of the time`, `of the memory`, ...
    pub of: &'static str,
    pub basis: Basis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Read from the server or the machine.
    Measured,
    /// Estimated from experience, because there is no number to read; only the experiment can show it.
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
    /// The place it was read from: an endpoint with the path in its answer, or a file.
    pub source: String,
}

impl Evidence {
    pub(super) fn new(name: impl Display, value: impl Display, source: impl Display) -> Evidence {
        Evidence { name: name.to_string(), value: value.to_string(), source: source.to_string() }
    }
}

/// A number that a rule needs but that could not be read.
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
