//! Implements the library's interface to a running script.

use std::sync::Arc;
use std::time::Instant;

use limber_mapping::RequestError;
use limber_mapping::date::DateFormat;
use limber_work as work;

use super::interpreter::{Run, kept_function};
use crate::documents::FieldValues;
use crate::error::{Outcome, ScriptError, failed};
use crate::language::LambdaBody;
use crate::library::{Machine, call_method, field_items};
use crate::outside::{OfMachine, Outside};
use crate::types::Binary;
use crate::values::{Value, each_container, is_of_one_script};

/// Number of steps of the library, of about 10 nanoseconds each, between two checks of the time.
const STEPS_PER_CHECK: usize = 1 << 16;
/// Memory of at least this size is reserved before it is allocated.
const CLAIMED_FROM_BYTES: usize = 64 << 10;

impl Run<'_> {
    /// Deducts memory that is allocated already from what the script may still use.
    fn note_growth(&mut self, amount: usize, at: u32) -> Outcome<()> {
        self.growth_left = self.growth_left.checked_sub(amount as u64).ok_or_else(|| used_up(at))?;
        Ok(())
    }
}

fn used_up(at: u32) -> ScriptError {
    ScriptError::limit(at, "The memory that a script may use has been used up.")
}

impl Machine for Run<'_> {
    fn reader(&mut self, field: u16, at: u32) -> Outcome<(&mut dyn FieldValues, usize)> {
        let Some(batch) = &mut self.batch else {
            return Err(ScriptError::argument(at, "[doc] is not there in this context"));
        };
        let bound = batch.documents.field(field);
        if let Some(refused) = &bound.refused {
            return Err(ScriptError::new(at, refused.kind, refused.reason.clone()));
        }
        if bound.field.is_none() {
            return Err(ScriptError::argument(at, format!("No field found for [{}] in mapping", bound.name)));
        }
        Ok((batch.documents.values(field, &batch.docs)?, batch.at))
    }

    fn note_made(&mut self, value: &Value) {
        each_container(value, |container| self.made.push(container.clone()));
    }

    fn timestamp(&self) -> Option<&Arc<str>> {
        self.timestamp.as_ref()
    }

    fn outside(&self) -> &dyn Outside {
        self.script.outside.as_deref().unwrap_or(&OfMachine)
    }

    fn field_named(&self, name: &str) -> Option<u16> {
        self.batch.as_ref().and_then(|batch| batch.documents.number_of(name))
    }

    fn is_mapped(&self, name: &str) -> bool {
        self.batch.as_ref().is_some_and(|batch| batch.documents.is_mapped(name))
    }

    fn field_is_mapped(&self, field: u16) -> bool {
        self.batch.as_ref().is_some_and(|batch| batch.documents.field(field).field.is_some())
    }

    fn random_by_doc(&self, seed: i32) -> Option<f64> {
        self.batch.as_ref().map(|batch| batch.documents.random_by_doc(batch.docs[batch.at], seed))
    }

    fn field_size(&mut self, field: u16, at: u32) -> Outcome<usize> {
        let (reader, doc) = self.reader(field, at)?;
        Ok(reader.count(doc))
    }

    fn field_value(&mut self, field: u16, nth: usize, at: u32) -> Outcome<Value> {
        let (reader, doc) = self.reader(field, at)?;
        match reader.count(doc) {
            0 => Err(ScriptError::new(
                at,
                "illegal_state_exception",
                "A document doesn't have a value for a field! Use doc[<field>].size()==0 to check if a document is missing a field!",
            )),
            count if nth >= count => Err(ScriptError::new(
                at,
                "index_out_of_bounds_exception",
                format!("Index {nth} out of bounds for length {count}"),
            )),
            _ => {
                let value = reader.value(doc, nth)?;
                // The script may keep the string.
                if let Value::Str(text) = &value {
                    self.grow(text.len(), at)?;
                }
                Ok(value)
            }
        }
    }

    fn field_values(&mut self, field: u16, at: u32) -> Outcome<Vec<Value>> {
        let count = self.field_size(field, at)?;
        (0..count).map(|nth| self.field_value(field, nth, at)).collect()
    }

    fn param(&mut self, name: &str) -> Outcome<Value> {
        let found = match &self.params {
            Value::Map(map) => map.borrow().get_text(name).cloned(),
            _ => None,
        };
        match found {
            Some(value) => Ok(value),
            None if name == "_source" => self.source(),
            None => Ok(Value::Null),
        }
    }

    fn check_frozen(&mut self, target: &Value, at: u32) -> Outcome<()> {
        self.frozen.check(target, &self.ctx, at)
    }

    fn grow(&mut self, amount: usize, at: u32) -> Outcome<()> {
        self.check_room(amount, at)?;
        self.note_growth(amount, at)
    }

    fn check_room(&self, amount: usize, at: u32) -> Outcome<()> {
        if self.growth_left < amount as u64 {
            return Err(used_up(at));
        }
        if amount >= CLAIMED_FROM_BYTES {
            // A text is built and then copied to where it is shared.
            work::claim(2 * amount as u64).map_err(RequestError::from)?;
        }
        Ok(())
    }

    fn regex(&self, number: u16) -> &crate::values::Regex {
        &self.script.regexes[usize::from(number)]
    }

    fn extractor(&self, number: u16) -> &crate::values::Extractor {
        &self.script.extractors[usize::from(number)]
    }

    fn check_time(&self, at: u32) -> Outcome<()> {
        work::check().map_err(RequestError::from)?;
        if Instant::now() > self.until {
            return Err(ScriptError::limit(at, "The time that a script may take has been used up."));
        }
        Ok(())
    }

    fn items(&mut self, list: &Value, at: u32) -> Outcome<Vec<Value>> {
        Ok(match list {
            Value::List(items) => {
                // The copy, and the list that its items may be appended to.
                let bytes = items.borrow().len() * size_of::<Value>();
                work::claim(2 * bytes as u64).map_err(RequestError::from)?;
                items.borrow().clone()
            }
            Value::Set(set) => set.borrow().walk().into_iter().map(|(item, _)| item).collect(),
            Value::Field(field) => self.field_values(*field, at)?,
            Value::FieldAccess(field) if !self.field_is_mapped(*field) => Vec::new(),
            Value::FieldAccess(field) => self.field_values(*field, at)?,
            Value::Null => {
                return Err(ScriptError::new(at, "null_pointer_exception", "Cannot iterate over [null]"));
            }
            Value::Object(object) if object.list().is_some() => {
                let list = object.list().cloned().unwrap_or(Value::Null);
                self.items(&list, at)?
            }
            other => match field_items(self, other, at) {
                Some(items) => items?,
                None => {
                    let reason = format!("Cannot iterate over [{}]", other.class());
                    return Err(ScriptError::argument(at, reason));
                }
            },
        })
    }

    fn check_kept(&self, value: &Value, at: u32) -> Outcome<()> {
        match self.given.is_some() && is_of_one_script(value) {
            true => Err(kept_function(at)),
            false => Ok(()),
        }
    }

    fn spend(&mut self, steps: usize, at: u32) -> Outcome<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps < STEPS_PER_CHECK {
            return Ok(());
        }
        self.steps = 0;
        self.check_time(at)
    }

    fn binary(&mut self, op: Binary, left: &Value, right: &Value, at: u32) -> Outcome<Value> {
        if op == Binary::Add {
            let text_bytes = |value: &Value| if let Value::Str(text) = value { text.len() } else { 0 };
            self.check_room(text_bytes(left) + text_bytes(right), at)?;
        }
        let value = Value::binary(op, left, right).map_err(|failure| failed(failure, at))?;
        if let Value::Str(text) = &value {
            self.note_growth(text.len(), at)?;
        }
        Ok(value)
    }

    fn lambda(&mut self, lambda: &Value, arguments: &[Value], at: u32) -> Outcome<Value> {
        self.tick(at)?;
        match lambda {
            Value::Lambda(closure) => self.call_lambda(*closure, arguments, at),
            // A pattern is the predicate that finds it.
            Value::Pattern(_) => call_method(self, lambda, "test", arguments.to_vec(), at),
            other => {
                let reason = format!("Cannot cast from [{}] to a function.", other.class());
                Err(ScriptError::cast(at, reason))
            }
        }
    }

    fn takes(&self, lambda: &Value, count: usize) -> bool {
        let Value::Lambda(closure) = lambda else { return false };
        let lambda = &self.script.lambdas[usize::from(closure.number)];
        !matches!(lambda.body, LambdaBody::Reference(_)) && lambda.parameters.len() == count
    }

    fn params(&self) -> &Value {
        &self.params
    }

    fn given(&self) -> Option<&Value> {
        self.given.as_ref()
    }

    fn date_format(&self) -> Option<&Arc<DateFormat>> {
        self.date_format.as_ref()
    }

    fn random_by_bytes(&self, bytes: &[u8], seed: i32) -> Option<f64> {
        self.batch.as_ref().map(|batch| batch.documents.random_by_bytes(bytes, seed))
    }
}

impl Run<'_> {
    /// Lets the source that was read last be read again: its lists and maps are among those made.
    pub(super) fn forget_source(&mut self) {
        if let Some(batch) = &mut self.batch {
            batch.source = None;
        }
    }

    /// Returns `params._source`.
    fn source(&mut self) -> Outcome<Value> {
        let Some(batch) = &mut self.batch else { return Ok(Value::Null) };
        let doc = batch.docs[batch.at];
        if let Some((loaded, source)) = &batch.source
            && *loaded == doc
        {
            return Ok(source.clone());
        }
        if batch.documents.is_nested() {
            return Err(ScriptError::unsupported(0, "[params._source] of a nested document"));
        }
        let source = batch.documents.source(doc)?;
        limber_mapping::claim_parsed(&source).map_err(RequestError::from)?;
        let json: serde_json::Value = limber_mapping::parse_source(&source).unwrap_or_default();
        let (source_bytes, source) = (source.len(), Value::from_json(&json));
        let mut container_bytes = 0;
        each_container(&source, |container| {
            container_bytes += container.bytes();
            self.made.push(container.clone());
        });
        batch.source = Some((doc, source.clone()));
        // The lists and maps may stay until the state is examined, even if it has none of them.
        if self.given.is_some() {
            self.grow(source_bytes.max(container_bytes), 0)?;
        }
        Ok(source)
    }
}
