//! Names with dots: "which keys of which objects lead to this field?"

use std::collections::HashMap;
use std::sync::Arc;

use hashbrown::HashTable;

use super::{Entry, ObjectNode, Target, Tree};
use crate::RequestError;
use crate::definition::{self, Node};

impl ObjectNode {
    /// Returns the byte offset at which the names of its fields begin in their paths.
    pub(crate) fn names_from(&self) -> usize {
        definition::names_from(&self.path)
    }

    /// Returns the name, within this object, of a field or object at a path below it.
    pub(crate) fn name_of<'p>(&self, path: &'p str) -> &'p str {
        path.get(self.names_from()..).unwrap_or(path)
    }
}

impl Tree {
    /// Lets documents have objects where a flat object has names with dots: each beginning of a name leads to
    /// an object with the possible continuations. If the beginning is a field as well, objects of that field
    /// lead there.
    ///
    /// # Errors
    /// A field has the name of a multi-field of another.
    pub(super) fn add_beginnings(
        &mut self,
        owner: u32,
        object: &definition::Object,
    ) -> Result<(), RequestError> {
        for (name, node) in &object.properties {
            let Node::Leaf(leaf) = node else { continue };
            let parts = leaf.fields.keys().map(|part| format!("{name}.{part}"));
            if let Some(twice) = parts.into_iter().find(|part| object.properties.contains_key(part)) {
                let path = definition::joined(&self.objects[owner as usize].path, &twice);
                let reason = format!("Field [{path}] is defined more than once");
                return Err(RequestError::bad_request("mapper_parsing_exception", reason));
            }
        }
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for name in object.properties.keys() {
            for (dot, _) in name.match_indices('.') {
                let beginning = &name[..dot];
                if numbers.contains_key(beginning) {
                    continue;
                }
                let around = &self.objects[owner as usize];
                let node = ObjectNode {
                    path: definition::joined(&around.path, beginning).into(),
                    dynamic: around.dynamic,
                    enabled: around.enabled,
                    nested: None,
                    is_flat: true,
                    begins_names_of: Some(owner),
                    keys: HashTable::new(),
                };
                let number = self.objects.len() as u32;
                self.objects.push(node);
                numbers.insert(beginning, number);
                if !object.properties.contains_key(beginning) {
                    self.add(owner, beginning, Target::Object(number));
                }
            }
        }
        let names: Vec<(&String, Target)> = (object.properties.keys())
            .filter_map(|name| {
                // An alias has no entry.
                let entry = self.find(&self.objects[owner as usize], name.as_bytes())?;
                Some((name, self.entries[entry as usize].target))
            })
            .collect();
        for (name, target) in &names {
            if let Target::Leaf(leaf) = target {
                let leaf = &mut self.leaves[*leaf as usize];
                leaf.flat_in = Some(owner);
                leaf.beginning = numbers.get(name.as_str()).copied();
            }
        }
        let longer = numbers.iter().filter(|(beginning, _)| !object.properties.contains_key(**beginning));
        let longer = longer.map(|(beginning, number)| (*beginning, Target::Object(*number)));
        let all = names.iter().map(|(name, target)| (name.as_str(), *target)).chain(longer);
        for (name, target) in all.collect::<Vec<_>>() {
            for (dot, _) in name.match_indices('.') {
                if let Some(beginning) = numbers.get(&name[..dot]) {
                    self.add(*beginning, &name[dot + 1..], target);
                }
            }
        }
        Ok(())
    }

    /// Gives every object the dotted names of what lies in its enabled objects (`{"a.b": 1}` means
    /// `{"a": {"b": 1}}`). Names that lead into a nested object are left to the walker, which opens its
    /// document.
    pub(super) fn alias_dotted_names(&mut self) {
        let is_real = |object: &ObjectNode| object.begins_names_of.is_none();
        let by_path: HashMap<Arc<str>, u32> = self
            .objects
            .iter()
            .enumerate()
            .filter(|(_, object)| is_real(object))
            .map(|(number, object)| (object.path.clone(), number as u32))
            .collect();
        let mut real: Vec<(u32, String, Target)> = Vec::new();
        for (number, object) in self.objects.iter().enumerate().filter(|(_, object)| is_real(object)) {
            for &entry in &object.keys {
                let Entry { key, target, .. } = &self.entries[entry as usize];
                real.push((number as u32, String::from_utf8_lossy(key).into_owned(), *target));
            }
        }
        let stops = |object: &ObjectNode| !object.enabled || object.nested.is_some();
        for (owner, key, target) in real {
            let around = self.objects[owner as usize].path.clone();
            if around.is_empty() || stops(&self.objects[owner as usize]) {
                continue;
            }
            let path = format!("{around}.{key}");
            let mut end = around.len();
            while let Some(split) = path[..end].rfind('.') {
                let above = by_path[&path[..split]];
                self.add(above, &path[split + 1..], target);
                end = split;
                if stops(&self.objects[above as usize]) {
                    end = 0;
                    break;
                }
            }
            if self.objects[0].enabled && end > 0 {
                self.add(0, &path, target);
            }
        }
    }

    /// Returns the flat object that declares the fields of `object`, and the name within it that ends with
    /// `key`.
    pub fn name_in_flat<'t>(&'t self, object: &'t ObjectNode, key: &str) -> (&'t ObjectNode, String) {
        match object.begins_names_of {
            None => (object, key.to_owned()),
            Some(owner) => {
                let owner = &self.objects[owner as usize];
                (owner, definition::joined(owner.name_of(&object.path), key))
            }
        }
    }
}
