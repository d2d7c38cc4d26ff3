//! The value of a field of type `completion`: strings, each of which becomes a term for each of its contexts.

use std::sync::Arc;

use limber_work as work;
use serde_json::Value;

use super::walk::{Stop, Walk};
use super::whole_value::claim_value;
use super::{error, json};
use crate::RequestError;
use crate::field::completion::{Completion, Input};
use crate::field::{FieldSink, Scalar};
use crate::mapping::tree::{Leaf, TERM_BYTES_MAX};

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Reads the object at `at`. Returns the offset after it.
    #[inline(never)]
    pub(super) fn completion(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
        let tree = self.tree;
        let value = self.value_of(at, end)?;
        self.put_inputs(&tree.leaves[leaf as usize], leaf, &value, end - 1)?;
        Ok(end)
    }

    pub(super) fn put_completion(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<(), Stop> {
        let value = match scalar {
            Scalar::Text(text) => Value::from(text),
            Scalar::Bool(flag) => Value::from(flag),
            other => serde_json::from_str(other.text()).unwrap_or(Value::Bool(false)),
        };
        self.put_inputs(node, leaf, &value, at)
    }

    fn put_inputs(&mut self, node: &'a Leaf, leaf: u32, value: &Value, at: usize) -> Result<(), Stop> {
        let field = &*node.field;
        let Some(completion) = field.completion.as_deref() else {
            unreachable!("inputs are read by completions alone");
        };
        let inputs = Input::parse(value, &field.path, completion);
        let mut inputs = inputs.map_err(|cause| self.unreadable(node, at, cause))?;
        // All inputs of the value have the same contexts.
        if let Some(first) = inputs.first().filter(|first| !first.text.is_empty()) {
            let contexts = self.contexts(&field.path, completion, first.contexts.clone());
            let contexts = contexts.map_err(|cause| self.unreadable(node, at, cause))?;
            inputs.iter_mut().for_each(|input| input.contexts = contexts.clone());
        }
        for input in &inputs {
            if input.text.is_empty() {
                self.note_ignored(leaf);
                continue;
            }
            if let Some(cause) = reserved_character(&input.text).filter(|_| !self.is_acknowledged) {
                return Err(error::wrapped(self.bytes, at, cause).into());
            }
            self.put_input(node, completion, input)?;
        }
        // If the value is a string, the walk has already fed the multi-fields.
        if value.is_object() {
            self.feed_parts(node, completion, &inputs, at)?;
        }
        if node.is_named {
            self.note_name(leaf);
        }
        Ok(())
    }

    fn put_input(&mut self, node: &'a Leaf, completion: &Completion, input: &Input) -> Result<(), Stop> {
        let field = &*node.field;
        let Some(analyzer) = field.analyzer.as_ref().filter(|_| node.is_fed) else { return Ok(()) };
        if !self.is_acknowledged {
            // A value may have thousands of inputs, each with thousands of contexts.
            work::check_beyond_deadline().map_err(RequestError::from)?;
        }
        let terms = completion.terms(analyzer, input, |bytes| self.check_room(bytes))?;
        for term in terms {
            if term.len() <= TERM_BYTES_MAX {
                self.sink.term(field, &term);
            }
        }
        Ok(())
    }

    /// Feeds the inputs of an object to the multi-fields: all of them to completions, and only their strings
    /// to others.
    ///
    /// Source: `CompletionFieldMapper#parse`.
    fn feed_parts(
        &mut self,
        node: &'a Leaf,
        completion: &Completion,
        inputs: &[Input],
        at: usize,
    ) -> Result<(), Stop> {
        let tree = self.tree;
        let Some(first) = inputs.first() else { return Ok(()) };
        for &number in &node.multi_fields {
            let part = &tree.leaves[number as usize];
            let Some(own) = part.field.completion.as_deref() else {
                for input in inputs {
                    self.put(part, number, Scalar::Text(&input.text), at)?;
                }
                continue;
            };
            let named = |name: &str| {
                let place = completion.contexts.iter().position(|context| *context.name == *name);
                place.map_or_else(Vec::new, |place| first.contexts[place].clone())
            };
            let given = own.contexts.iter().map(|context| named(&context.name)).collect();
            let contexts = self.contexts(&part.field.path, own, Arc::new(given));
            let contexts = contexts.map_err(|cause| self.unreadable(part, at, cause))?;
            for input in inputs {
                let copy = Input { contexts: contexts.clone(), ..input.clone() };
                self.put_input(part, own, &copy)?;
            }
            if part.is_named {
                self.note_name(number);
            }
        }
        Ok(())
    }

    /// Returns the contexts of a value, with values from the fields named by their paths for those that it
    /// does not give.
    ///
    /// # Errors
    /// One of them cannot be read, or there are no contexts at all.
    fn contexts(
        &self,
        path: &str,
        completion: &Completion,
        given: Arc<Vec<Vec<String>>>,
    ) -> Result<Arc<Vec<Vec<String>>>, RequestError> {
        let mut contexts = Arc::unwrap_or_clone(given);
        contexts.resize(completion.contexts.len(), Vec::new());
        let mut document = None;
        for (context, values) in completion.contexts.iter().zip(&mut contexts) {
            let Some(path) = context.path.as_ref().filter(|_| values.is_empty()) else { continue };
            if document.is_none() {
                claim_value(self.bytes)?;
            }
            let document = document
                .get_or_insert_with(|| serde_json::from_str::<Value>(self.text).unwrap_or(Value::Null));
            let mut found = Vec::new();
            gather(document, path, &mut found);
            for value in found {
                values.extend(context.read(value)?);
            }
        }
        match !completion.contexts.is_empty() && contexts.iter().all(Vec::is_empty) {
            true => Err(RequestError::illegal_argument(format!(
                "Contexts are mandatory in context enabled completion field [{path}]"
            ))),
            false => Ok(Arc::new(contexts)),
        }
    }
}

/// Returns the error for a text with a character that separates the parts of a term.
///
/// Source: Lucene's `SuggestField`.
fn reserved_character(text: &str) -> Option<RequestError> {
    let is_reserved = |unit: &u16| matches!(unit, 0 | 0x1e | 0x1f);
    let (place, unit) = text.encode_utf16().enumerate().find(|(_, unit)| is_reserved(unit))?;
    Some(RequestError::illegal_argument(format!(
        "Illegal input [{text}] UTF-16 codepoint [0x{unit:x}] at position {place} is a reserved character"
    )))
}

/// Collects the values at a dotted path, however the objects on it are written. The limit on the depth of
/// JSON bounds the recursion.
fn gather<'v>(value: &'v Value, path: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, path, found)),
        Value::Object(members) => {
            for (name, value) in members {
                match path.strip_prefix(name.as_str()) {
                    Some("") => found.push(value),
                    Some(rest) if rest.starts_with('.') => gather(value, &rest[1..], found),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}
