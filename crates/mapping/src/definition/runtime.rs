//! Runtime fields: "which fields are computed during a search, and how?"
//!
//! Source: Elasticsearch's `RuntimeField`, `AbstractScriptFieldType.Builder` and `CompositeRuntimeField`;
//! error messages are those of 9.4.3.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_work as work;
use serde_json::{Map, Value, json};

use super::lookup::{self, Lookup};
use crate::date::{DateFormat, Locale};
use crate::field::{Field, FieldId, FieldType, Leaf, RuntimeScript};
use crate::json::java::{java_class, java_text, mapper_parsing};
use crate::{RequestError, field_type};

/// A field of the section `runtime`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuntimeField {
    kind: &'static str,
    meta: Option<Value>,
    format: Option<String>,
    locale: Option<String>,
    /// `{"source", "lang", "params"}`; `None` if the value comes from the source.
    script: Option<Value>,
    continues_on_error: Option<bool>,
    /// For `composite`: its subfields.
    fields: BTreeMap<String, RuntimeField>,
    /// For `lookup`: its parameters.
    lookup: Option<Lookup>,
    /// The type of the field in the section `derived`, if it comes from there.
    derived: Option<&'static str>,
}

/// The type whose script computes several fields.
const COMPOSITE: &str = "composite";
/// The type that shows documents of another index.
const LOOKUP: &str = "lookup";

/// Returns the type with this name, and its parameters besides `meta` and `script`.
fn kind_of(name: &str) -> Option<(&'static str, &'static [&'static str])> {
    if name == COMPOSITE {
        return Some((COMPOSITE, &["fields"]));
    }
    if name == LOOKUP {
        return Some((LOOKUP, lookup::PARAMETERS));
    }
    let kind = field_type::find(name)?;
    Some((kind.name(), kind.runtime_params()?))
}

/// Whether there are runtime fields of this type, here or in Elasticsearch.
pub(super) fn is_kind(name: &str) -> bool {
    KINDS_MISSING.contains(&name) || kind_of(name).is_some()
}

/// Checks the declaration of a runtime field.
pub(super) fn check(name: &str, body: &Map<String, Value>) -> Result<(), RequestError> {
    field(name, body).map(drop)
}

/// Elasticsearch's types that Limber does not have.
const KINDS_MISSING: &[&str] = &["geo_shape"];

/// The fields of a section `runtime`; `None` removes a field.
pub(crate) type RuntimeFields = BTreeMap<String, Option<RuntimeField>>;

/// Parses the section. With `is_update`, `null` removes a field.
pub(crate) fn parse(value: &Value, is_update: bool) -> Result<RuntimeFields, RequestError> {
    let Value::Object(members) = value else {
        return Err(RequestError::bad_request("parse_exception", "runtime must be a map type"));
    };
    let mut fields = RuntimeFields::new();
    for (name, body) in members {
        // A request may have thousands of them, each with a name of one letter.
        work::check_beyond_deadline()?;
        let field = match body {
            Value::Null if is_update => None,
            Value::Null => {
                return Err(mapper_parsing(format!(
                    "Runtime field [{name}] was set to null but its removal is not supported in this context"
                )));
            }
            Value::Object(body) => Some(field(name, body)?),
            other => {
                return Err(mapper_parsing(format!(
                    "Expected map for runtime field [{name}] definition but got a {}",
                    java_class(other)
                )));
            }
        };
        fields.insert(name.clone(), field);
    }
    Ok(fields)
}

/// Parses the section `derived`, which removes no fields.
pub(super) fn parse_derived(value: &Value) -> Result<RuntimeFields, RequestError> {
    let mut fields = RuntimeFields::new();
    for (name, shown, body) in super::derived::as_runtime(value)? {
        let made = RuntimeField { derived: Some(shown), ..field(&name, &body)? };
        fields.insert(name, Some(made));
    }
    Ok(fields)
}

fn field(name: &str, body: &Map<String, Value>) -> Result<RuntimeField, RequestError> {
    let kind = match body.get("type") {
        Some(kind) => java_text(kind),
        None => return Err(mapper_parsing(format!("No type specified for runtime field [{name}]"))),
    };
    if KINDS_MISSING.contains(&kind.as_str()) {
        return Err(RequestError::unsupported(format!(
            "runtime field type [{kind}] declared on field [{name}]"
        )));
    }
    let Some((kind, parameters)) = kind_of(&kind) else {
        return Err(mapper_parsing(format!(
            "The mapper type [{kind}] declared on runtime field [{name}] does not exist. It might have been created within a future \
             version or requires a plugin to be installed. Check the documentation."
        )));
    };
    let mut field = RuntimeField {
        kind,
        meta: None,
        format: None,
        locale: None,
        script: None,
        continues_on_error: None,
        fields: BTreeMap::new(),
        lookup: (kind == LOOKUP).then(Lookup::default),
        derived: None,
    };
    for (parameter, value) in body {
        set_parameter(&mut field, name, parameters, parameter, value)?;
    }
    check_composite(&field, name)?;
    if let Some(lookup) = &field.lookup {
        lookup.finish(name)?;
    }
    Ok(field)
}

/// Sets a parameter of the field called `name`. `parameters` are those that only its type has.
fn set_parameter(
    field: &mut RuntimeField,
    name: &str,
    parameters: &[&str],
    parameter: &str,
    value: &Value,
) -> Result<(), RequestError> {
    let kind = field.kind;
    match parameter {
        "type" => {}
        "meta" if value.is_object() => field.meta = Some(value.clone()),
        "meta" => {
            return Err(mapper_parsing(format!(
                "[meta] must be an object, got {}[{}] for field [{name}]",
                java_class(value),
                java_text(value)
            )));
        }
        _ if parameters == lookup::PARAMETERS => match &mut field.lookup {
            Some(lookup) if parameters.contains(&parameter) => lookup.set(name, parameter, value)?,
            _ => return Err(unknown_parameter(name, kind, parameter)),
        },
        "script" if value.is_null() => {
            return Err(mapper_parsing(format!(
                "[script] on runtime field [{name}] of type [{kind}] must not have a [null] value"
            )));
        }
        "script" => field.script = Some(script(name, value)?),
        "on_script_error" => match value.as_str() {
            Some("continue") => field.continues_on_error = Some(true),
            Some("fail") => field.continues_on_error = Some(false),
            _ => {
                return Err(RequestError::illegal_argument(format!(
                    "Unknown value [{}] for field [on_script_error] - accepted values are [continue, fail]",
                    java_text(value)
                )));
            }
        },
        "format" if parameters.contains(&"format") => {
            let format = java_text(value);
            DateFormat::shared(&format)?;
            field.format = Some(format);
        }
        "locale" if parameters.contains(&"locale") => {
            field.locale = Some(Locale::parse(&java_text(value))?.tag().to_owned());
        }
        "fields" if parameters.contains(&"fields") => field.fields = parts(name, value)?,
        _ => return Err(unknown_parameter(name, kind, parameter)),
    }
    Ok(())
}

fn unknown_parameter(name: &str, kind: &str, parameter: &str) -> RequestError {
    mapper_parsing(format!("unknown parameter [{parameter}] on runtime field [{name}] of type [{kind}]"))
}

/// Checks that a composite field has a script, and fields.
fn check_composite(field: &RuntimeField, name: &str) -> Result<(), RequestError> {
    if field.kind != COMPOSITE {
        return Ok(());
    }
    if field.script.is_none() {
        return Err(RequestError::illegal_argument(format!(
            "composite runtime field [{name}] must declare a [script]"
        )));
    }
    if field.fields.is_empty() {
        return Err(RequestError::illegal_argument(format!(
            "composite runtime field [{name}] must declare its [fields]"
        )));
    }
    Ok(())
}

fn parts(name: &str, value: &Value) -> Result<BTreeMap<String, RuntimeField>, RequestError> {
    let mut found = BTreeMap::new();
    for (part, field) in parse(value, false)? {
        let Some(field) = field else { continue };
        for (parameter, is_there) in
            [("script", field.script.is_some()), ("on_script_error", field.continues_on_error.is_some())]
        {
            if is_there && field.kind != COMPOSITE {
                return Err(RequestError::illegal_argument(format!(
                    "Cannot use [{parameter}] parameter on sub-field [{part}] of composite field [{name}]"
                )));
            }
        }
        if matches!(field.kind, COMPOSITE | LOOKUP) {
            return Err(RequestError::illegal_argument(format!(
                "Cannot use [{}] type in sub-field [{part}] of composite field [{name}]",
                field.kind
            )));
        }
        found.insert(part, field);
    }
    Ok(found)
}

/// Returns a script in its long form.
fn script(name: &str, value: &Value) -> Result<Value, RequestError> {
    let members = match value {
        Value::String(source) => return Ok(json!({"source": source, "lang": "painless"})),
        Value::Object(members) => members,
        other => {
            return Err(RequestError::illegal_argument(format!(
                "Unexpected value for [script]: [{}]",
                java_text(other)
            )));
        }
    };
    if members.contains_key("id") {
        return Err(RequestError::illegal_argument(format!(
            "stored scripts are not supported for runtime field [{name}]"
        )));
    }
    for (key, wanted, fits) in [
        ("source", "String", members.get("source").is_none_or(Value::is_string)),
        ("params", "Map", members.get("params").is_none_or(Value::is_object)),
    ] {
        if !fits {
            let reason = format!("Value must be of type {wanted}: [{key}]");
            return Err(RequestError::bad_request("parse_exception", reason));
        }
    }
    let mut long = Map::new();
    long.insert("source".into(), members.get("source").cloned().unwrap_or_default());
    long.insert("lang".into(), members.get("lang").cloned().unwrap_or_else(|| "painless".into()));
    long.extend(
        members
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "source" | "lang"))
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    Ok(Value::Object(long))
}

/// Returns the section with an update merged in.
pub(super) fn merge(present: &RuntimeFields, update: &RuntimeFields) -> RuntimeFields {
    let mut merged = present.clone();
    for (name, field) in update {
        match field {
            Some(_) => merged.insert(name.clone(), field.clone()),
            None => merged.remove(name),
        };
    }
    merged
}

/// Renders the fields of the section `derived`, or those of `runtime`.
pub(super) fn render(fields: &RuntimeFields, is_derived: bool) -> Map<String, Value> {
    let fields = fields.iter().filter_map(|(name, field)| Some((name, field.as_ref()?)));
    let fields = fields.filter(|(_, field)| field.derived.is_some() == is_derived);
    fields.map(|(name, field)| (name.clone(), field.to_json())).collect()
}

/// Compiles the fields of a section, by path.
pub(crate) fn compile(fields: &RuntimeFields) -> Result<Vec<Arc<Field>>, RequestError> {
    let mut compiled = Vec::new();
    for (name, field) in fields {
        let Some(field) = field else { continue };
        work::check_beyond_deadline()?;
        let script = field.script.clone().map(Arc::new);
        if field.kind != COMPOSITE {
            compiled.push(field.compile(name, script.clone(), field.continues_on_error, None)?);
        }
        for (part, inner) in &field.fields {
            work::check_beyond_deadline()?;
            let path = format!("{name}.{part}");
            compiled.push(inner.compile(&path, script.clone(), field.continues_on_error, Some(part))?);
        }
    }
    Ok(compiled)
}

impl RuntimeField {
    fn compile(
        &self,
        path: &str,
        script: Option<Arc<Value>>,
        continues_on_error: Option<bool>,
        part: Option<&str>,
    ) -> Result<Arc<Field>, RequestError> {
        let of: &'static dyn FieldType = match self.lookup {
            Some(_) => &field_type::Lookup,
            None => field_type::find(self.kind).unwrap_or(&field_type::Keyword),
        };
        let mut leaf = Leaf::of(of);
        leaf.params.extend(self.format.clone().map(|format| ("format", format.into())));
        leaf.params.extend(self.locale.clone().map(|locale| ("locale", locale.into())));
        let values = of.values(&leaf)?;
        let script = RuntimeScript {
            script,
            continues_on_error: continues_on_error == Some(true),
            part: part.map(Arc::from),
            constant: None,
            lookup: self.lookup.as_ref().map(|lookup| lookup.finish(path)).transpose()?.map(Arc::new),
        };
        Ok(Arc::new(Field {
            doc_values: self.lookup.is_none(),
            coerce: true,
            ignore_malformed: true,
            ignore_z: true,
            runtime: Some(script),
            ..Field::bare(FieldId(u32::MAX), Arc::from(path), of, values)
        }))
    }

    fn to_json(&self) -> Value {
        let mut body = Map::new();
        body.insert("type".into(), self.derived.unwrap_or(self.kind).into());
        let parameters = [
            ("meta", self.meta.clone()),
            ("format", self.format.clone().map(Value::from)),
            ("locale", self.locale.clone().map(Value::from)),
            ("script", self.script.clone()),
            (
                "on_script_error",
                self.continues_on_error.map(|goes_on| if goes_on { "continue" } else { "fail" }.into()),
            ),
        ];
        body.extend(parameters.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        if let Some(lookup) = &self.lookup {
            lookup.render(&mut body);
        }
        if !self.fields.is_empty() {
            let fields = self.fields.iter().map(|(name, field)| (name.clone(), field.to_json()));
            body.insert("fields".into(), Value::Object(fields.collect()));
        }
        Value::Object(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_composite_field_share_its_script() {
        let section = json!({"c": {
            "type": "composite",
            "script": {"source": "emit('a', 1)", "params": {"p": "long"}},
            "fields": {"a": {"type": "long"}, "b": {"type": "keyword"}},
        }});
        let fields = compile(&parse(&section, false).expect("valid")).expect("valid");
        let scripts: Vec<&Arc<Value>> = fields
            .iter()
            .map(|field| {
                let runtime = field.runtime.as_ref().expect("a runtime field");
                runtime.script.as_ref().expect("a script")
            })
            .collect();
        assert_eq!(fields.iter().map(|field| &*field.path).collect::<Vec<_>>(), ["c.a", "c.b"]);
        assert!(Arc::ptr_eq(scripts[0], scripts[1]));
        assert_eq!(scripts[0]["params"]["p"], "long");
    }
}
