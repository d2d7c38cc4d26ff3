//! Patterns over coded terms: "does the string that this term stands for match?"

use std::sync::Arc;

use limber_mapping::Field;
use limber_text::automaton::{TermAutomaton, Verdict};

/// Wraps an automaton so that it matches the strings that a field's terms stand for. Where terms are coded,
/// it visits every term, because terms are not in the order of their strings.
pub(crate) fn shown_terms(field: &Arc<Field>, automaton: Arc<dyn TermAutomaton>) -> Arc<dyn TermAutomaton> {
    match field.has_coded_terms() {
        true => Arc::new(ShownTerms { field: field.clone(), automaton }),
        false => automaton,
    }
}

#[derive(Debug)]
struct ShownTerms {
    field: Arc<Field>,
    automaton: Arc<dyn TermAutomaton>,
}

impl TermAutomaton for ShownTerms {
    fn ask(&self, term: &[u8], skip: &mut Vec<u8>) -> Verdict {
        let accepted = self.automaton.ask(self.field.decode_term(term).as_bytes(), skip);
        skip.clear();
        match accepted {
            Verdict::Accepts(distance) => Verdict::Accepts(distance),
            Verdict::Refuses | Verdict::Skip | Verdict::End => Verdict::Refuses,
        }
    }

    fn prefix(&self) -> &[u8] {
        &[]
    }
}
