//! The declaration of a field.

use std::collections::BTreeMap;

use serde_json::Value;

use super::described::FieldType;

/// A leaf field: its type, and the parameters that differ from the defaults, in normal form.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub kind: &'static dyn FieldType,
    pub params: BTreeMap<&'static str, Value>,
    pub fields: BTreeMap<String, Leaf>,
    pub copy_to: Vec<String>,
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Leaf) -> bool {
        self.kind.name() == other.kind.name()
            && self.params == other.params
            && self.fields == other.fields
            && self.copy_to == other.copy_to
    }
}

impl Leaf {
    /// Creates a field of this type without parameters.
    pub fn of(kind: &'static dyn FieldType) -> Leaf {
        Leaf { kind, params: BTreeMap::new(), fields: BTreeMap::new(), copy_to: Vec::new() }
    }

    /// Returns the parameter as declared, else the type's default, else null.
    pub fn param(&self, name: &str) -> Value {
        self.params.get(name).cloned().unwrap_or_else(|| self.kind.default_of(name))
    }

    /// Returns the additional field for the keyed terms of a flattened field.
    pub fn keyed(&self) -> Option<Leaf> {
        let kind = self.kind.keys()?;
        Some(Leaf { kind, params: self.params.clone(), fields: BTreeMap::new(), copy_to: Vec::new() })
    }

    /// Returns its multi-fields and the additional fields of its type, with the suffixes of their names.
    pub fn beside(&self) -> Vec<(String, Leaf)> {
        let declared = self.fields.iter().map(|(name, leaf)| (name.clone(), leaf.clone()));
        declared.chain(self.kind.parts(self)).collect()
    }

    /// Whether the parameter is true, by declaration or default.
    pub fn flag(&self, name: &str) -> bool {
        self.param(name).as_bool().unwrap_or(false)
    }
}
