//! A mutable dictionary for templates.
//!
//! Jinja2 has Python's mutable dictionaries, while minijinja's values are immutable. Tracks merge settings
//! with `{% set x = base.copy() %}{% set _ = x.update({...}) %}`, so a copy is this object.

use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Enumerator, Object, ObjectRepr};
use minijinja::{Error, ErrorKind, State, Value};

/// A map that `update` changes in place. Keys keep their insertion order.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    entries: Mutex<Vec<(Value, Value)>>,
}

impl Dictionary {
    /// Copies the entries of `map`. Fails if it cannot be iterated.
    pub(crate) fn copy_of(map: &Value) -> Result<Dictionary, Error> {
        let dictionary = Dictionary::default();
        dictionary.update(map)?;
        Ok(dictionary)
    }

    fn update(&self, other: &Value) -> Result<(), Error> {
        // Read everything first, since `x.update(x)` would otherwise deadlock.
        let mut incoming = Vec::new();
        for key in other.try_iter()? {
            incoming.push((key.clone(), other.get_item(&key)?));
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, value) in incoming {
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some(entry) => entry.1 = value,
                None => entries.push((key, value)),
            }
        }
        Ok(())
    }
}

impl Object for Dictionary {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        Enumerator::Values(entries.iter().map(|(key, _)| key.clone()).collect())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match (method, args) {
            ("update", [other]) => self.update(other).map(|()| Value::from(())),
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}
