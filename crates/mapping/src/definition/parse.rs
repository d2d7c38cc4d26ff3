//! Parses JSON to a definition: "is this body a mapping?"

use serde_json::{Map, Value};

use super::check::checked;
use super::count::total_fields_exceeded;
use super::flat::{self, Around};
use super::properties::{Inside, properties};
use super::source::SourceSection;
use super::templates::Template;
use super::tree::{Dynamic, Includes, Node, Object, Root};
use super::{data_stream, runtime, time_series};
use crate::date::DateFormat;
use crate::definition::field_script::check_script;
use crate::field::{Check, FieldType, Leaf, Location};
use crate::json::java::{boolean, java_text, mapper_parsing, named_boolean};
use crate::settings::{Keep, MappingSettings};
use crate::{RequestError, field_type};

/// Parses the body of `mappings`. Errors are `mapper_parsing_exception` with Elasticsearch's reasons, wrapped
/// in "Failed to parse mapping: ...".
pub(crate) fn parse(body: &Value, settings: &MappingSettings) -> Result<Root, RequestError> {
    let body = match body {
        Value::Null => return Ok(Root::default()),
        Value::Object(body) => body,
        _ => {
            return Err(wrapped(mapper_parsing(
                "Expected map for property [mappings] on field [_doc] but got a class java.lang.String",
            )));
        }
    };
    if body.contains_key("_doc") {
        return Err(RequestError::illegal_argument(
            "The mapping definition cannot be nested under a type [_doc] unless include_type_name is set to true.",
        ));
    }
    let limit = settings.limits.total_fields;
    if limit < usize::MAX && !has_at_most(body, limit) {
        return Err(total_fields_exceeded(limit));
    }
    root(body, settings).map_err(wrapped)
}

/// Whether a body declares at most `limit` fields. Checked before anything is built from it.
fn has_at_most(body: &Map<String, Value>, limit: usize) -> bool {
    fn count(body: &Map<String, Value>, left: &mut usize) -> bool {
        for section in ["properties", "fields"] {
            let Some(Value::Object(fields)) = body.get(section) else { continue };
            let Some(less) = left.checked_sub(fields.len()) else { return false };
            *left = less;
            let mut bodies = fields.values().filter_map(Value::as_object);
            if !bodies.all(|body| count(body, left)) {
                return false;
            }
        }
        true
    }
    let mut left = limit;
    count(body, &mut left)
}

pub(crate) fn wrapped(cause: RequestError) -> RequestError {
    // Errors about limits and conflicts are not wrapped.
    if cause.kind != "mapper_parsing_exception"
        && ["Limit of", "[copy_to] may not"].iter().any(|start| cause.reason.starts_with(start))
    {
        return cause;
    }
    mapper_parsing(format!("Failed to parse mapping: {}", cause.reason)).caused_by(cause)
}

fn root(body: &Map<String, Value>, settings: &MappingSettings) -> Result<Root, RequestError> {
    let mut root = Root::default();
    let mut unknown = Vec::new();
    for (name, value) in body {
        match name.as_str() {
            "dynamic" => root.object.dynamic = Some(dynamic(value)?),
            "enabled" => root.object.enabled = Some(named_boolean("enabled.enabled", value)?),
            "subobjects" => root.object.subobjects = Some(flat::parse(value)?),
            "disable_objects" => root.object.disable_objects(value)?,
            "properties" => {
                let inside = Inside { path: "", depth: 1, is_flat: flat::is_flat(body)? };
                root.object.properties = properties(value, inside, settings)?;
            }
            "date_detection" => root.date_detection = Some(named_boolean(name, value)?),
            "numeric_detection" => root.numeric_detection = Some(named_boolean(name, value)?),
            "dynamic_date_formats" | "date_formats" => {
                root.dynamic_date_formats = Some(dynamic_date_formats(value)?);
            }
            "dynamic_templates" => root.dynamic_templates = Some(Template::parse_list(value)?),
            "_meta" => match value {
                Value::Object(_) => {
                    crate::claim_tree(value)?;
                    root.meta = Some(value.clone());
                }
                _ => return Err(mapper_parsing("[_meta] config must be an object")),
            },
            "_routing" => root.routing_required = Some(routing(value)?),
            "_source" => root.source = Some(SourceSection::parse(value)?),
            "runtime" => root.runtime.extend(runtime::parse(value, true)?),
            "derived" => root.runtime.extend(runtime::parse_derived(value)?),
            "_data_stream_timestamp" => root.data_stream_timestamp = Some(data_stream::parse(value)?),
            "_field_names" => root.field_names = Some(field_names(value)?),
            "_size" | "_tier" | "_doc_count" | "_ignored" | "_id" | "_index" | "_inference_fields" => {
                return Err(RequestError::unsupported(format!("[{name}] in a mapping")));
            }
            _ => unknown.push(format!("{name} : {}", java_text(value))),
        }
    }
    if !unknown.is_empty() {
        return Err(mapper_parsing(format!(
            "Root mapping definition has unsupported parameters:  [{}]",
            unknown.join("] [")
        )));
    }
    root.object.settle_flat(Around { path: "", dynamic: Dynamic::True, settings })?;
    Ok(root)
}

/// Parses `dynamic`.
pub(crate) fn dynamic(value: &Value) -> Result<Dynamic, RequestError> {
    match value {
        Value::Bool(true) => Ok(Dynamic::True),
        Value::Bool(false) => Ok(Dynamic::False),
        Value::String(text) => match text.as_str() {
            "true" => Ok(Dynamic::True),
            "false" => Ok(Dynamic::False),
            "strict" => Ok(Dynamic::Strict),
            "runtime" => Ok(Dynamic::Runtime),
            "strict_allow_templates" => Ok(Dynamic::StrictAllowTemplates),
            "false_allow_templates" => Ok(Dynamic::FalseAllowTemplates),
            _ => Err(mapper_parsing("Could not convert [dynamic.dynamic] to boolean")),
        },
        _ => Err(mapper_parsing("Could not convert [dynamic.dynamic] to boolean")),
    }
}

fn dynamic_date_formats(value: &Value) -> Result<Vec<String>, RequestError> {
    let formats = match value {
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => many
            .iter()
            .map(|one| one.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| mapper_parsing("[dynamic_date_formats] must be a list of strings"))?,
        _ => return Err(mapper_parsing("[dynamic_date_formats] must be a list of strings")),
    };
    for format in &formats {
        if format.starts_with("epoch_") {
            return Err(mapper_parsing(format!("Epoch [{format}] is not supported as dynamic date format")));
        }
        DateFormat::shared(format)?;
    }
    Ok(formats)
}

fn routing(value: &Value) -> Result<bool, RequestError> {
    let Value::Object(object) = value else {
        return Err(mapper_parsing("[_routing] config must be an object"));
    };
    let mut required = false;
    for (name, value) in object {
        match name.as_str() {
            "required" => required = boolean(value)?,
            other => return Err(unknown_parameter(other, "_routing", "_routing")),
        }
    }
    Ok(required)
}

/// Parses `_field_names`, which 7.x and OpenSearch have.
fn field_names(value: &Value) -> Result<bool, RequestError> {
    let Value::Object(object) = value else {
        return Err(mapper_parsing("[_field_names] config must be an object"));
    };
    let mut enabled = true;
    for (name, value) in object {
        match name.as_str() {
            "enabled" => enabled = boolean(value)?,
            other => return Err(unknown_parameter(other, "_field_names", "_field_names")),
        }
    }
    Ok(enabled)
}

fn unknown_parameter(name: &str, field: &str, kind: &str) -> RequestError {
    mapper_parsing(format!("unknown parameter [{name}] on mapper [{field}] of type [{kind}]"))
}

pub(crate) fn depth_exceeded(path: &str, settings: &MappingSettings) -> RequestError {
    RequestError::illegal_argument(format!(
        "Limit of mapping depth [{}] has been exceeded due to object field [{path}]",
        settings.limits.object_levels()
    ))
}

pub(crate) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Returns the byte offset at which a name begins after it is [joined] to `path`.
pub(crate) fn names_from(path: &str) -> usize {
    if path.is_empty() { 0 } else { path.len() + 1 }
}

/// Parses the property at `path`, which is in an object of level `depth`.
pub(super) fn node(
    value: &Value,
    path: &str,
    depth: usize,
    settings: &MappingSettings,
) -> Result<Node, RequestError> {
    let Value::Object(body) = value else {
        let name = path.rsplit('.').next().unwrap_or(path);
        let class = if value.is_array() { "java.util.ArrayList" } else { "java.lang.String" };
        return Err(mapper_parsing(format!(
            "Expected map for property [fields] on field [{name}] but got a class {class}"
        )));
    };
    let kind = match body.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(other) => return Err(unknown_type(&java_text(other), path)),
        None if body.contains_key("properties") || (body.len() == 1 && body.contains_key("enabled")) => {
            "object"
        }
        None => {
            let name = path.rsplit('.').next().unwrap_or(path);
            return Err(mapper_parsing(format!("No type specified for field [{name}]")));
        }
    };
    if matches!(kind, "object" | "nested") {
        let nested = (kind == "nested").then(Includes::default);
        return object(body, nested, path, depth, settings).map(Node::Object);
    }
    if kind == "alias" {
        return alias(body, path).map(Node::Alias);
    }
    leaf(body, kind, path, settings, false).map(Node::Leaf)
}

/// Returns the path to which an alias refers. Source: `FieldAliasMapper`.
fn alias(body: &Map<String, Value>, path: &str) -> Result<String, RequestError> {
    let last = path.rsplit('.').next().unwrap_or(path);
    let target = match body.get("path") {
        None | Some(Value::Null) => {
            return Err(mapper_parsing(format!("The [path] property must be specified for field [{last}].")));
        }
        Some(target) => java_text(target),
    };
    match body.iter().find(|(name, _)| !matches!(name.as_str(), "type" | "path")) {
        None => Ok(target),
        Some((name, value)) => Err(unsupported_parameter(name, value, last)),
    }
}

fn unsupported_parameter(name: &str, value: &Value, last: &str) -> RequestError {
    mapper_parsing(format!(
        "Mapping definition for [{last}] has unsupported parameters:  [{name} : {}]",
        java_text(value)
    ))
}

fn unknown_type(kind: &str, path: &str) -> RequestError {
    let name = path.rsplit('.').next().unwrap_or(path);
    mapper_parsing(format!(
        "The mapper type [{kind}] declared on field [{name}] does not exist. It might have been created within a future \
         version or requires a plugin to be installed. Check the documentation."
    ))
}

/// Parses an object. `nested` is set if its type is `nested`.
fn object(
    body: &Map<String, Value>,
    nested: Option<Includes>,
    path: &str,
    depth: usize,
    settings: &MappingSettings,
) -> Result<Object, RequestError> {
    let mut object = Object { nested, ..Object::default() };
    for (name, value) in body {
        match (name.as_str(), &mut object.nested) {
            ("include_in_parent", Some(includes)) => includes.parent = include(name, value, path)?,
            ("include_in_root", Some(includes)) => includes.root = include(name, value, path)?,
            ("subobjects", Some(_)) => {
                return Err(mapper_parsing(format!(
                    "Nested type [{}] does not support [subobjects] parameter",
                    path.rsplit('.').next().unwrap_or(path)
                )));
            }
            _ => {}
        }
        match name.as_str() {
            "type" => {}
            "include_in_parent" | "include_in_root" if object.nested.is_some() => {}
            "dynamic" => object.dynamic = Some(dynamic(value)?),
            "enabled" => object.enabled = Some(named_boolean("enabled.enabled", value)?),
            "subobjects" => object.subobjects = Some(flat::parse(value)?),
            "disable_objects" if object.nested.is_none() => object.disable_objects(value)?,
            "properties" => {
                let inside = Inside { path, depth: depth + 1, is_flat: flat::is_flat(body)? };
                object.properties = properties(value, inside, settings)?;
            }
            "synthetic_source_keep" => object.keep = Some(keep(value, path, object.nested.is_some())?),
            "include_in_all" | "store_array_source" => {
                return Err(RequestError::unsupported(format!("[{name}] on object field [{path}]")));
            }
            _ => {
                return Err(unsupported_parameter(name, value, path.rsplit('.').next().unwrap_or(path)));
            }
        }
    }
    Ok(object)
}

/// Parses `synthetic_source_keep` of an object. Arrays of nested objects keep their order in any case.
fn keep(value: &Value, path: &str, is_nested: bool) -> Result<Keep, RequestError> {
    let keep = Keep::parse(&java_text(value))?;
    if is_nested && keep == Keep::Arrays {
        let name = path.rsplit('.').next().unwrap_or(path);
        let reason = format!(
            "parameter [ synthetic_source_keep ] can't be set to [arrays] for nested object [{name}]"
        );
        return Err(RequestError::bad_request("mapper_exception", reason));
    }
    Ok(keep)
}

/// Parses `include_in_parent` or `include_in_root`.
fn include(name: &str, value: &Value, path: &str) -> Result<bool, RequestError> {
    let last = path.rsplit('.').next().unwrap_or(path);
    named_boolean(&format!("{last}.{name}"), value)
}

/// Returns the type with this name, or the error that says why there is none.
pub(super) fn kind_of(name: &str, path: &str) -> Result<&'static dyn FieldType, RequestError> {
    if let Some(kind) = field_type::find(name) {
        return Ok(kind);
    }
    if field_type::MISSING.contains(&name) {
        return Err(RequestError::unsupported(format!("field type [{name}] declared on field [{path}]")));
    }
    Err(unknown_type(name, path))
}

fn leaf(
    body: &Map<String, Value>,
    kind_name: &str,
    path: &str,
    settings: &MappingSettings,
    is_multi_field: bool,
) -> Result<Leaf, RequestError> {
    let kind = kind_of(kind_name, path)?;
    let mut leaf = Leaf::of(kind);
    let last = path.rsplit('.').next().unwrap_or(path);
    for (name, value) in body {
        match name.as_str() {
            "type" => {}
            "fields" if is_multi_field => {
                return Err(RequestError::illegal_argument(format!(
                    "Encountered a multi-field [{last}] which itself contains a multi-field. Defining chained multi-fields is not supported."
                )));
            }
            "fields" => multi_fields(&mut leaf, value, path, settings)?,
            "copy_to" if is_multi_field => {
                return Err(RequestError::illegal_argument(format!(
                    "[copy_to] may not be used to copy from a multi-field: [{path}]"
                )));
            }
            "copy_to" => leaf.copy_to = copy_to(value)?,
            _ => parameter(&mut leaf, kind, name, value, body, last, settings)?,
        }
    }
    check_script(&leaf, last)?;
    time_series::check(&leaf, is_multi_field, path)?;
    kind.check(&leaf, &Location { path, is_multi_field })?;
    kind.complete(&mut leaf);
    for name in kind.always_shown() {
        leaf.params.entry(*name).or_insert_with(|| kind.default_of(name));
    }
    if leaf.params.contains_key("search_analyzer") && !leaf.params.contains_key("analyzer") {
        leaf.params.insert("analyzer", "default".into());
    }
    let has_positions = matches!(leaf.param("index_options").as_str(), Some("positions" | "offsets"));
    if leaf.params.contains_key("position_increment_gap") && !has_positions {
        return Err(RequestError::illegal_argument(format!(
            "Cannot set position_increment_gap on field [{last}] without positions enabled"
        )));
    }
    crate::definition::field_build::check_leaf(&leaf, path, settings)?;
    Ok(leaf)
}

/// Parses the multi-fields of a leaf.
fn multi_fields(
    leaf: &mut Leaf,
    value: &Value,
    path: &str,
    settings: &MappingSettings,
) -> Result<(), RequestError> {
    let last = path.rsplit('.').next().unwrap_or(path);
    let Value::Object(fields) = value else {
        if value.as_array().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        return Err(mapper_parsing(format!(
            "expected map for property [fields] on field [{last}] but got something else"
        )));
    };
    for (sub_name, sub) in fields {
        let sub_path = joined(path, sub_name);
        if sub_name.contains('.') || sub_name.is_empty() {
            return Err(mapper_parsing(format!(
                "Field name [{sub_name}] which is a multi field of [{last}] cannot contain '.'"
            )));
        }
        let Value::Object(body) = sub else {
            return Err(mapper_parsing(format!(
                "illegal field [{sub_name}], only fields can be specified inside fields"
            )));
        };
        let kind = match body.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            _ => {
                return Err(mapper_parsing(format!("no type specified for property [{sub_name}]")));
            }
        };
        if matches!(kind, "object" | "nested" | "alias") {
            return Err(mapper_parsing(format!("Type [{kind}] cannot be used in multi field")));
        }
        leaf.fields.insert(sub_name.clone(), self::leaf(body, kind, &sub_path, settings, true)?);
    }
    Ok(())
}

/// Parses a parameter that belongs to the type of the leaf. `last` is the leaf's name, `body` all of its
/// parameters.
fn parameter(
    leaf: &mut Leaf,
    kind: &'static dyn FieldType,
    name: &str,
    value: &Value,
    body: &Map<String, Value>,
    last: &str,
    settings: &MappingSettings,
) -> Result<(), RequestError> {
    let Some(param) = kind.param(name) else {
        let refused = kind.refused_parameter(name, last, body);
        return Err(refused.unwrap_or_else(|| unknown_parameter(name, last, kind.name())));
    };
    if value.is_null()
        && !matches!(
            param.check,
            Check::NullValue
                | Check::NullPoint
                | Check::NullCartesianPoint
                | Check::OnlyDefault
                | Check::Dimensions
                | Check::Metric
                | Check::GaugeMetric
                | Check::PositionMetric
                | Check::Meta
                | Check::Script
        )
    {
        return Err(mapper_parsing(format!(
            "[{name}] on mapper [{last}] of type [{}] must not have a [null] value",
            kind.name()
        )));
    }
    let normal = checked(param, value, last, kind, settings)?;
    let is_printed = matches!(param.check, Check::ExplicitBool) || normal != kind.default_of(name);
    if is_printed && !normal.is_null() {
        leaf.params.insert(param.name, normal);
    }
    Ok(())
}

fn copy_to(value: &Value) -> Result<Vec<String>, RequestError> {
    let list = match value {
        Value::String(one) => return Ok(vec![one.clone()]),
        Value::Array(list) => list,
        _ => return Err(mapper_parsing("[copy_to] must be a field name or a list of field names")),
    };
    list.iter()
        .map(|one| {
            one.as_str()
                .map(str::to_owned)
                .ok_or_else(|| mapper_parsing("[copy_to] must be a field name or a list of field names"))
        })
        .collect()
}
