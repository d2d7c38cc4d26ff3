//! The contexts of a suggestion, as they are shown.

use limber_mapping::Completion;
use serde_json::{Map, Value};

/// Contexts by number and value, without repetitions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FoundContexts(Vec<(usize, String)>);

impl FoundContexts {
    /// Returns the context of a term.
    pub fn of(field: &Completion, term: &[u8]) -> FoundContexts {
        FoundContexts(
            field.context_of(term).map(|(number, value)| (number, value.to_owned())).into_iter().collect(),
        )
    }

    /// Adds the contexts of another suggestion with the same text.
    pub fn extend(&mut self, other: FoundContexts) {
        for context in other.0 {
            if !self.0.contains(&context) {
                self.0.push(context);
            }
        }
    }

    /// Returns the contexts as JSON; `None` if there are none.
    pub fn to_json(&self, field: &Completion) -> Option<Value> {
        let mut shown: Map<String, Value> = Map::new();
        for (number, value) in &self.0 {
            let name = field.contexts.get(*number)?.name.clone();
            match shown.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
                Value::Array(values) => values.push(value.as_str().into()),
                _ => continue,
            }
        }
        (!shown.is_empty()).then_some(Value::Object(shown))
    }
}
