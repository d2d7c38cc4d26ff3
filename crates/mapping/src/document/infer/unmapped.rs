//! The fields that dynamic mapping adds: "what does this unmapped path become?"

use serde_json::{Value, json};

use super::scalar::{string, typed};
use super::{Inference, ObjectContext};
use crate::RequestError;
use crate::definition::{self, Dynamic, Template};
use crate::document::error;
use limber_work as work;

impl<'a> Inference<'a> {
    /// Returns the dynamic template for a new field: the one that the request names, or the first that
    /// matches.
    fn template(
        &self,
        name: &str,
        path: &str,
        json_type: &str,
        at: usize,
    ) -> Result<Option<&'a Template>, RequestError> {
        let mut templates = self.mapping.templates().iter();
        let Some(asked) = self.templates.get(path) else {
            for template in templates {
                if template.fits(name, path, json_type)? {
                    return Ok(Some(template));
                }
            }
            return Ok(None);
        };
        let found = templates.find(|template| template.name == *asked);
        found.map(Some).ok_or_else(|| {
            let reason =
                format!("Can't find dynamic template for dynamic template name [{asked}] of field [{path}]");
            error::document(self.bytes, at, reason)
        })
    }

    /// Checks that one more field may be added, so that a document with very many keys is refused before all
    /// of them are converted to a mapping.
    pub(super) fn check_room(&self) -> Result<(), RequestError> {
        work::check()?;
        let limit = self.mapping.settings().limits.total_fields;
        if self.mapping.settings().limits.ignores_beyond {
            return Ok(());
        }
        match self.found.len() + self.runtime.len() < limit {
            true => Ok(()),
            false => Err(definition::total_fields_exceeded(limit)),
        }
    }

    /// Counts a field that is about to be added. Returns false if there is no room for it and it is left out.
    fn takes_room(&mut self, body: &Value) -> bool {
        let limits = &self.mapping.settings().limits;
        if !limits.ignores_beyond {
            return true;
        }
        let count = 1 + definition::field_count(body);
        let fits = self.mapping.total_fields() + self.found_count + count <= limits.total_fields;
        self.found_count += if fits { count } else { 0 };
        fits
    }

    /// Adds a field or an object that was not found before. Returns whether there is room for it.
    pub(super) fn find(&mut self, path: &str, body: Value) -> Result<bool, RequestError> {
        self.check_room()?;
        let fits = self.takes_room(&body);
        if fits {
            state_path(path)?;
            self.found.insert(path.to_owned(), body);
        }
        Ok(fits)
    }

    /// Adds a runtime field that was not found before.
    fn find_runtime(&mut self, path: &str, body: Value) -> Result<(), RequestError> {
        self.check_room()?;
        if self.takes_room(&body) {
            state_path(path)?;
            self.runtime.insert(path.to_owned(), body);
        }
        Ok(())
    }

    /// Whether a value at this path needs a field that neither the mapping nor what was found has.
    fn is_new(&self, dynamic: Dynamic, path: &str) -> bool {
        !self.found.contains_key(path)
            && !self.runtime.contains_key(path)
            && !self.mapping.is_known(dynamic, path)
    }

    /// Leaves out a field that no template matches, where `dynamic` requires one.
    ///
    /// # Errors
    /// Such fields are refused.
    fn without_template(&self, dynamic: Dynamic, path: &str, at: usize) -> Result<(), RequestError> {
        if dynamic != Dynamic::StrictAllowTemplates {
            return Ok(());
        }
        let (object, name) = path.rsplit_once('.').unwrap_or(("", path));
        Err(error::strict(self.bytes, at, dynamic, name, object))
    }

    /// Adds a new object in one with this `dynamic`. Returns `None` if its contents are not to be read.
    pub(super) fn new_object(
        &mut self,
        dynamic: Dynamic,
        path: &str,
        at: usize,
    ) -> Result<Option<ObjectContext>, RequestError> {
        let name = path.rsplit('.').next().unwrap_or(path);
        if !self.found.contains_key(path) {
            let template = self.template(name, path, "object", at)?;
            if template.is_none() && dynamic.needs_template() {
                return self.without_template(dynamic, path, at).map(|()| None);
            }
            let mut body = template.map(|template| template.mapping_for(name, "object")).unwrap_or_default();
            if !body.contains_key("type") {
                body.insert("type".into(), "object".into());
            }
            if !self.find(path, Value::Object(body))? {
                return Ok(None);
            }
        }
        let body = &self.found[path];
        if (body["type"] != "object" && body["type"] != "nested")
            || body["enabled"] == false
            || body["enabled"] == "false"
        {
            return Ok(None);
        }
        let dynamic = definition::dynamic(&body["dynamic"]).unwrap_or(dynamic);
        let says = |name: &str, flag: bool, text: &str| body[name] == flag || body[name] == text;
        let is_flat = says("subobjects", false, "false") || says("disable_objects", true, "true");
        Ok(Some(ObjectContext {
            object: None,
            dynamic,
            names_from: is_flat.then(|| definition::names_from(path)),
        }))
    }

    /// Reads the value of an unmapped path in an object with this `dynamic`.
    pub(super) fn unknown(
        &mut self,
        dynamic: Dynamic,
        path: &str,
        at: usize,
        level: usize,
    ) -> Result<usize, RequestError> {
        match self.bytes.get(at) {
            Some(b'{') => match self.new_object(dynamic, path, at)? {
                Some(context) => self.object(context, path, at, level + 1),
                None => self.skip(at),
            },
            Some(b'[') => self.array(at, &mut |this, at| this.unknown(dynamic, path, at, level)),
            Some(_) => self.new_field(dynamic, name_of(path, None), path, at),
            None => self.skip(at),
        }
    }

    /// Reads the scalar at `at` of an unmapped field in an object with this `dynamic`. `name` is the name
    /// that templates match.
    pub(super) fn new_field(
        &mut self,
        dynamic: Dynamic,
        name: &str,
        path: &str,
        at: usize,
    ) -> Result<usize, RequestError> {
        let end = self.skip(at)?;
        if self.is_new(Dynamic::True, path)
            && let Some((json_type, kind, pattern)) = self.scalar(at, end)
        {
            let template = self.template(name, path, json_type, at)?;
            if template.is_none() && dynamic.needs_template() {
                return self.without_template(dynamic, path, at).map(|()| end);
            }
            if let Some(template) = template.filter(|template| template.is_runtime) {
                let kind = if json_type == "string" { "keyword" } else { json_type };
                self.find_runtime(path, template.mapping_for(name, kind).into())?;
                return Ok(end);
            }
            let inferred = match json_type {
                "string" => string(template, name),
                _ => typed(template, name, json_type, kind, pattern.as_deref()),
            };
            self.find(path, inferred)?;
        }
        Ok(end)
    }

    /// Reads the value of an unmapped path in an object of `context`, whose new fields are runtime fields.
    /// Objects themselves are not added.
    pub(super) fn runtime(
        &mut self,
        context: ObjectContext,
        path: &str,
        at: usize,
        level: usize,
    ) -> Result<usize, RequestError> {
        if level > self.mapping.settings().limits.object_levels() {
            return Err(definition::depth_exceeded(path, self.mapping.settings()));
        }
        match self.bytes.get(at) {
            Some(b'{') => self.object(ObjectContext { object: None, ..context }, path, at, level + 1),
            Some(b'[') => self.array(at, &mut |this, at| this.runtime(context, path, at, level)),
            Some(_) => {
                let end = self.skip(at)?;
                let is_new = self.is_new(Dynamic::Runtime, path);
                let Some((json_type, _, pattern)) = self.scalar(at, end).filter(|_| is_new) else {
                    return Ok(end);
                };
                let name = name_of(path, context.names_from);
                if self.template(name, path, json_type, at)?.is_some() {
                    return self.new_field(Dynamic::True, name, path, at);
                }
                let kind = if json_type == "string" { "keyword" } else { json_type };
                let mut body = json!({"type": kind});
                if let Some(pattern) = pattern {
                    body["format"] = pattern.into();
                }
                self.find_runtime(path, body)?;
                Ok(end)
            }
            None => self.skip(at),
        }
    }
}

/// Returns the name of a field that templates match. In a flat object it is the whole path below that object.
pub(super) fn name_of(path: &str, names_from: Option<usize>) -> &str {
    match names_from {
        Some(start) => path.get(start..).unwrap_or(path),
        None => path.rsplit('.').next().unwrap_or(path),
    }
}

/// States the memory that the path of a new field takes: the name of an object is part of the path of each
/// field in it.
fn state_path(path: &str) -> Result<(), RequestError> {
    match work::state_bytes(path.len()) {
        true => Ok(()),
        false => Ok(work::end_document()?),
    }
}
