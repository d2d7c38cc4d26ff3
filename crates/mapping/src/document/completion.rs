//! The value of a field of type `completion`: strings, each of which becomes a term for each of its contexts.

use serde_json::Value;

use super::json;
use super::walk::{Stop, Walk};
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
        let value = self.value_of(at, end);
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
        let inputs = inputs.map_err(|cause| self.unreadable(node, at, cause))?;
        for mut input in inputs {
            if input.text.is_empty() {
                let cause = RequestError::illegal_argument("value must have a length > 0");
                return Err(self.unreadable(node, at, cause));
            }
            let added = self.add_contexts(&field.path, completion, &mut input);
            added.map_err(|cause| self.unreadable(node, at, cause))?;
            self.put_input(node, completion, &input)?;
            self.feed_parts(node, completion, &input, value, at)?;
        }
        if node.is_named {
            self.note_name(leaf);
        }
        Ok(())
    }

    fn put_input(&mut self, node: &'a Leaf, completion: &Completion, input: &Input) -> Result<(), Stop> {
        let field = &*node.field;
        let Some(analyzer) = field.analyzer.as_ref().filter(|_| node.is_fed) else { return Ok(()) };
        let terms = completion.terms(analyzer, input);
        self.check_room(terms.iter().map(|term| term.len() + size_of::<Vec<u8>>()).sum())?;
        for term in terms {
            if term.len() <= TERM_BYTES_MAX {
                self.sink.term(field, &term);
            }
        }
        Ok(())
    }

    /// Feeds the input of an object to the multi-fields: all of it to completions, and only its string to
    /// others. If the value is a string, the walk has already fed them.
    ///
    /// Source: `CompletionFieldMapper#parse`.
    fn feed_parts(
        &mut self,
        node: &'a Leaf,
        completion: &Completion,
        input: &Input,
        value: &Value,
        at: usize,
    ) -> Result<(), Stop> {
        if !value.is_object() {
            return Ok(());
        }
        let tree = self.tree;
        for &number in &node.multi_fields {
            let part = &tree.leaves[number as usize];
            let Some(own) = part.field.completion.as_deref() else {
                self.put(part, number, Scalar::Text(&input.text), at)?;
                continue;
            };
            let named = |name: &str| {
                let place = completion.contexts.iter().position(|context| *context.name == *name);
                place.map_or_else(Vec::new, |place| input.contexts[place].clone())
            };
            let contexts = own.contexts.iter().map(|context| named(&context.name)).collect();
            let mut copy = Input { contexts, ..input.clone() };
            let added = self.add_contexts(&part.field.path, own, &mut copy);
            added.map_err(|cause| self.unreadable(part, at, cause))?;
            self.put_input(part, own, &copy)?;
            if part.is_named {
                self.note_name(number);
            }
        }
        Ok(())
    }

    /// Adds values for contexts that the input does not give, from the fields named by their paths.
    ///
    /// # Errors
    /// One of them cannot be read, or there are no contexts at all.
    fn add_contexts(
        &self,
        path: &str,
        completion: &Completion,
        input: &mut Input,
    ) -> Result<(), RequestError> {
        input.contexts.resize(completion.contexts.len(), Vec::new());
        let mut document = None;
        for (context, values) in completion.contexts.iter().zip(&mut input.contexts) {
            let Some(path) = context.path.as_ref().filter(|_| values.is_empty()) else { continue };
            let document = document
                .get_or_insert_with(|| serde_json::from_str::<Value>(self.text).unwrap_or(Value::Null));
            let mut found = Vec::new();
            gather(document, path, &mut found);
            for value in found {
                values.extend(context.read(value)?);
            }
        }
        match !completion.contexts.is_empty() && input.contexts.iter().all(Vec::is_empty) {
            true => Err(RequestError::illegal_argument(format!(
                "Contexts are mandatory in context enabled completion field [{path}]"
            ))),
            false => Ok(()),
        }
    }
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
