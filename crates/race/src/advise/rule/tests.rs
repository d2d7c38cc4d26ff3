//! Properties that every rule must have.

use std::collections::BTreeSet;

use super::{RULES, Rule};
use crate::advise::finding::{Basis, Verdict};
use crate::advise::fixture::{Recorded, recorded};
use crate::advise::quantity::percent;
use crate::advise::server::Question;

/// Formats a verdict: `found: <title> (up to 5 % ...)`, `fine: ...`, `not here: ...`,
/// `unread: <what>: <why>`.
fn said(rule: &Rule, seen: &Recorded) -> String {
    match (rule.check)(seen) {
        Ok(Verdict::Found(finding)) => {
            let most = match finding.gain.basis {
                Basis::Measured => "up to",
                Basis::Judged => "about",
            };
            format!("found: {} ({most} {} {})", finding.title, percent(finding.gain.percent), finding.gain.of)
        }
        Ok(Verdict::Fine(because)) => format!("fine: {because}"),
        Ok(Verdict::NotHere(why)) => format!("not here: {why}"),
        Err(unread) => format!("unread: {}: {}", unread.what, unread.why),
    }
}

/// Checks that the verdict of a rule begins with `expected`.
#[track_caller]
pub fn check(rule: &Rule, seen: &Recorded, expected: &str) {
    let said = said(rule, seen);
    assert!(said.starts_with(expected), "{} says\n  {said}\nnot\n  {expected}", rule.id);
}

#[test]
fn rules_have_names_references_and_a_row_in_the_documentation() {
    let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len());
    let documentation = include_str!("../../../../../docs/advise.md");
    let (_, rules) = documentation.split_once("## Rules").unwrap();
    let mut rows = rules.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    for rule in RULES {
        assert!(!rule.references.is_empty(), "{}", rule.id);
        assert!(rule.question.ends_with('?'), "{}", rule.id);
        assert_eq!(rows.next(), Some(rule.id), "rows of docs/advise.md follow the table of rules");
    }
}

#[test]
fn what_cannot_be_read_is_said_and_never_guessed() {
    for name in ["es-9.4.3", "opensearch-3.8.0", "es-7.10.2", "limber"] {
        let silent = Question::ALL.iter().fold(recorded(name), |seen, question| seen.without(*question));
        for rule in RULES {
            let said = said(rule, &silent);
            assert!(said.starts_with("unread: ") || said.starts_with("not here: "), "{}: {said}", rule.id);
        }
    }
}

#[test]
fn every_finding_has_evidence_and_an_experiment() {
    for name in ["es-9.4.3", "opensearch-3.8.0", "es-7.10.2", "limber"] {
        for rule in RULES {
            if let Ok(Verdict::Found(finding)) = (rule.check)(&recorded(name)) {
                assert!(!finding.evidence.is_empty() && !finding.advice.is_empty(), "{}", rule.id);
                assert!(finding.experiment.starts_with("limber "), "{}", rule.id);
                assert!((0.0..=100.0).contains(&finding.gain.percent), "{}", rule.id);
            }
        }
    }
}
