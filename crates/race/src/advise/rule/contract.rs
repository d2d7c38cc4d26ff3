//! What does a rule have to say of itself?

use crate::advise::finding::{Checked, Evidence, Finding, Gain, Reference, Verdict};
use crate::advise::seen::Seen;

/// A rule; one file each.
pub(crate) struct Rule {
    /// As the report and `docs/advise.md` name it.
    pub id: &'static str,
    /// What it asks, in a few words.
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

/// Why rules about the heap have nothing to look at.
pub(super) const NO_HEAP: &str = "Limber is a native program: it has no heap";
