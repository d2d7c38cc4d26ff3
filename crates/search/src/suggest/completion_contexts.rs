//! The contexts under which an option was found, as they are shown.

use limber_mapping::Completion;
use serde_json::{Map, Value};

/// By number of the context and value; each once.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FoundContexts(Vec<(usize, String)>);

impl FoundContexts {
    /// The context of a term.
    pub fn of(field: &Completion, term: &[u8]) -> FoundContexts {
        FoundContexts(
            field.context_of(term).map(|(number, value)| (number, value.to_owned())).into_iter().collect(),
        )
    }

    /// Takes in the contexts of another suggestion with the same text.
    pub fn extend(&mut self, other: FoundContexts) {
        for context in other.0 {
            if !self.0.contains(&context) {
                self.0.push(context);
            }
        }
    }

    /// `None`: there are none.
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
