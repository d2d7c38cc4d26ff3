//! The definition of a rule.

use crate::advise::finding::{Checked, Evidence, Finding, Gain, Reference, Verdict};
use crate::advise::seen::Seen;

/// A rule. Each rule has its own file.
pub(crate) struct Rule {
    /// Its name in the report and in `docs/advise.md`.
    pub id: &'static str,
    /// The question it answers, in a few words.
    pub question: &'static str,
    pub references: &'static [Reference],
    pub check: fn(&Seen) -> Checked,
}

pub(super) fn fine(because: String) -> Checked {
    Ok(Verdict::Fine(because))
}

pub(super) fn not_here(why: &'static str) -> Checked {
    Ok(Verdict::NotHere(why))
}

pub(super) fn found(
    title: String,
    gain: Gain,
    evidence: Vec<Evidence>,
    advice: impl Into<String>,
    experiment: String,
) -> Checked {
    Ok(Verdict::Found(Box::new(Finding { title, gain, evidence, advice: advice.into(), experiment })))
}

/// Why rules about the heap do not apply to Limber.
pub(super) const NO_HEAP: &str = "Limber is a native program: it has no heap";
