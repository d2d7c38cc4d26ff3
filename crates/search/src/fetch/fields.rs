//! `docvalue_fields` (values from the columns) and `fields` (values from the source, as the mapping reads
//! them).

use std::sync::Arc;

use limber_mapping::date::DateFormat;
use limber_mapping::geo::{GeoPoint, Geometry, ReadOptions, parse_points, parse_positions, read_shape};
use limber_mapping::number::{double_from_text, integer_from_text};
use limber_mapping::{
    Field, Mapping, Nested, RangeKind, Representation, RequestError, SpaceId, ValueKind, reserved,
};
use limber_segment::columns::Batch;
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value, json};

use super::computed::{computed_values, is_computed};
use super::formats::{ColumnFormat, error_fetching, source_format};
use super::lookup::{looked_up, lookup_values};
use super::{nested, unmapped};
use crate::context::ShardSnapshot;
use crate::context::columns::{check_column, check_name};
use crate::error::Result;
use crate::primitives::java_order::in_java_order;
use crate::request::{FieldFormat, SearchRequest};
use crate::score::float_to_json;
use crate::script::{ID, NumberSource, RuntimeField, RuntimeTerms, field_or_id};
use crate::values::gather::{gather_whole, gather_with_nulls};
use crate::values::json;

/// What a hit shows of its fields, by their names.
#[derive(Default)]
pub(super) struct Collected {
    /// `fields`.
    pub values: Map<String, Value>,
    /// `ignored_field_values`: values of the source that `fields` cannot show, because the field could not
    /// read them or ignored them.
    pub ignored: Map<String, Value>,
}

/// Returns the hit's `fields` and `docvalue_fields`.
pub(super) fn collect(
    shard: &ShardSnapshot,
    segment: &Segment,
    doc: DocId,
    request: &SearchRequest,
    source: Option<&Value>,
) -> Result<Collected> {
    let mut found = Collected::default();
    add_columns(shard, segment, doc, &request.docvalue_fields, &mut found.values)?;
    if let Some(source) = source.filter(|_| !request.fields.is_empty()) {
        let values = fields_of(shard, segment, doc, request, source, &mut found.ignored)?;
        found.values.extend(values);
    }
    Ok(found)
}

/// Whether `fields` names a field whose values are read from the source.
pub(super) fn read_source(mapping: &Mapping, request: &SearchRequest) -> bool {
    let is_read = |field: &Field| field.id.0 as usize >= reserved::COUNT && !is_computed(field);
    (request.fields.iter())
        .any(|wanted| mapping.matching_names(&wanted.field).any(|(_, field)| is_read(&field)))
}

/// Adds the `docvalue_fields`.
fn add_columns(
    shard: &ShardSnapshot,
    segment: &Segment,
    doc: DocId,
    asked: &[FieldFormat],
    found: &mut Map<String, Value>,
) -> Result<()> {
    for wanted in asked {
        check_name(&wanted.field)?;
        for (name, field) in shard.mapping.matching_names(&wanted.field) {
            if wanted.field.contains('*')
                && (matches!(field.representation(), Representation::Text | Representation::Shape)
                    || field.range_kind().is_some()
                    || field.summary.is_some()
                    || reserved::WITHOUT_COLUMN.contains(&&*name)
                    || !field.doc_values)
            {
                continue;
            }
            // The values of `_id` are read from the stored documents.
            let field = if &*name == ID { field_or_id(&shard.mapping, ID).unwrap_or(field) } else { field };
            check_column(&field, shard)?;
            if matches!(field.representation(), Representation::Shape | Representation::Text)
                || field.range_kind().is_some()
                || field.summary.is_some()
            {
                return Err(RequestError::unsupported(format_args!(
                    "[docvalue_fields] on field [{}] of type [{}]",
                    field.path,
                    field.type_name()
                ))
                .into());
            }
            let values = column_values(shard, segment, &field, doc, wanted)?;
            if !values.is_empty() {
                found.insert(name.to_string(), values.into());
            }
        }
    }
    Ok(())
}

/// Returns the `fields`: values of the source under the requested names, and values computed from other
/// fields. `ignored` gets the values that are not shown, by the same names.
fn fields_of(
    shard: &ShardSnapshot,
    segment: &Segment,
    doc: DocId,
    request: &SearchRequest,
    source: &Value,
    ignored: &mut Map<String, Value>,
) -> Result<Map<String, Value>> {
    let mapping = &*shard.mapping;
    let is_own = |(_, field): &(Arc<str>, Arc<Field>)| field.id.0 as usize >= reserved::COUNT;
    let (mut runtime, mut wanted): (Vec<Wanted<'_>>, Vec<Wanted<'_>>) = (Vec::new(), Vec::new());
    for format in &request.fields {
        limber_work::check_beyond_deadline()?;
        for (name, field) in mapping.matching_names(&format.field).filter(is_own) {
            if runtime.len() + wanted.len() == WANTED_MAX {
                let reason = format!("[fields] select more than [{WANTED_MAX}] fields of a document");
                return Err(RequestError::illegal_argument(reason).into());
            }
            let around = mapping.nested_around(&field.path);
            let list = if is_computed(&field) { &mut runtime } else { &mut wanted };
            list.push(Wanted { around, name, field, format });
        }
    }
    let scope = shard.nested.as_ref().map(|scope| &*scope.nested);
    let patterns: Vec<&str> = (request.fields.iter())
        .filter(|wanted| wanted.include_unmapped)
        .map(|wanted| wanted.field.as_str())
        .collect();
    let mut values = object_values(mapping, source, scope, &wanted, &patterns, ignored)?;
    let base = scope.map_or(0, |scope| scope.path.len() + 1);
    for one in runtime.iter().filter(|one| one.is_in(scope)) {
        let computed = match looked_up(&one.field) {
            Some(looked_up) => lookup_values(shard, segment, doc, request, source, looked_up)?,
            None => computed_values(shard, segment, &one.field, doc, one.format)?,
        };
        if !computed.is_empty() {
            values.insert(one.name[base..].to_owned(), computed.into());
        }
    }
    if let Some(scope) = scope.filter(|_| !values.is_empty()) {
        for path in nested::paths_to(mapping, &scope.path).into_iter().rev() {
            let inner = std::mem::take(&mut values);
            values.insert(path, json!([inner]));
        }
    }
    Ok(values)
}

/// How many fields `fields` may select for a document, each as often as a pattern selects it: a thousand `*`
/// would be a thousand times the fields of the mapping.
const WANTED_MAX: usize = 100_000;

/// A field requested by `fields`, and the nested object that contains it.
struct Wanted<'a> {
    /// The field's path, or the path of its alias.
    name: Arc<str>,
    field: Arc<Field>,
    format: &'a FieldFormat,
    around: Option<&'a Arc<Nested>>,
}

impl Wanted<'_> {
    /// Whether the field belongs directly to the objects of `scope`; for `None`, to the documents.
    fn is_in(&self, scope: Option<&Nested>) -> bool {
        self.around.map(|around| around.space) == scope.map(|scope| scope.space)
    }
}

/// Returns the values of an object's own fields by their full paths, and those of its nested objects as a
/// list by their path from here. `scope` is the object itself if it is nested. `unmapped`: names and
/// patterns that also select unmapped fields. `ignored` gets values that are not shown.
fn object_values(
    mapping: &Mapping,
    source: &Value,
    scope: Option<&Nested>,
    wanted: &[Wanted<'_>],
    unmapped: &[&str],
    ignored: &mut Map<String, Value>,
) -> Result<Map<String, Value>> {
    // A document may have thousands of nested objects, each of which is asked for all fields.
    limber_work::check_beyond_deadline()?;
    let mut found = Map::new();
    let base = scope.map_or(0, |scope| scope.path.len() + 1);
    let space = scope.map_or(SpaceId::ROOT, |scope| scope.space);
    for Wanted { name, field, format, .. } in wanted.iter().filter(|one| one.is_in(scope)) {
        limber_work::check_beyond_deadline()?;
        let mut hidden = Vec::new();
        let values = source_values(mapping, source, field, &field.path[base..], format, &mut hidden)?;
        if !values.is_empty() {
            found.insert(name[base..].to_owned(), values.into());
        }
        if !hidden.is_empty() {
            ignored.insert(name[base..].to_owned(), hidden.into());
        }
    }
    unmapped::collect(mapping, source, scope.map(|scope| &*scope.path), unmapped, &mut found)?;
    for nested in mapping.nested_objects().iter().filter(|nested| nested.parent == space) {
        let below = format!("{}.", nested.path);
        if unmapped.is_empty() && !wanted.iter().any(|one| one.field.path.starts_with(&below)) {
            continue;
        }
        let mut objects = Vec::new();
        nested::objects_at(source, &nested.path[base..], &mut objects);
        let mut list: Vec<Value> = Vec::new();
        for object in objects {
            // As in Elasticsearch, only the ignored values of the hit itself are shown.
            let mut ignored = Map::new();
            let values = object_values(mapping, object, Some(nested), wanted, unmapped, &mut ignored)?;
            if !values.is_empty() {
                list.push(values.into());
            }
        }
        if !list.is_empty() {
            found.insert(nested.path[base..].to_owned(), list.into());
        }
    }
    Ok(found)
}

/// Returns the values of the stored fields (`store: true`) that `names` and patterns select, read from the
/// source. Names of no field are ignored; the name of an object is an error.
pub fn stored(mapping: &Mapping, source: &Value, names: &[String]) -> Result<Map<String, Value>> {
    let mut found = Map::new();
    let mut show = |field: &Field| -> Result<()> {
        let wanted = FieldFormat::of(field.path.to_string());
        let values = source_values(mapping, source, field, &field.path, &wanted, &mut Vec::new())?;
        if !values.is_empty() {
            found.insert(wanted.field, values.into());
        }
        Ok(())
    };
    for name in names {
        limber_work::check_beyond_deadline()?;
        if name.contains('*') {
            mapping.matching(name).filter(|field| field.store).try_for_each(|field| show(&field))?;
            continue;
        }
        match mapping.field(name) {
            Some(field) if field.store => show(&field)?,
            None if mapping.object(name).is_some() => {
                return Err(
                    RequestError::illegal_argument(format!("field [{name}] isn't a leaf field")).into()
                );
            }
            _ => {}
        }
    }
    Ok(found)
}

pub(super) fn column_values(
    shard: &ShardSnapshot,
    segment: &Segment,
    field: &Arc<Field>,
    doc: DocId,
    wanted: &FieldFormat,
) -> Result<Vec<Value>> {
    let format = ColumnFormat::of(field, wanted)?;
    let runtime = RuntimeField::bind(field, shard)?;
    let mut shown = Vec::new();
    if field.representation() == Representation::Number {
        let mut batch = Batch::default();
        let Some(source) = NumberSource::open(segment, &field.path, runtime.as_ref())? else {
            return Ok(shown);
        };
        source.gather(&[doc], &mut batch)?;
        for number in batch.values {
            shown.push(format.show(field, number));
        }
        return Ok(shown);
    }
    if let Some(runtime) = runtime {
        let mut terms = RuntimeTerms::default();
        runtime.open(segment)?.terms(&[doc], &mut terms)?;
        return Ok(terms.iter().map(|(_, term)| field.decode_term(term).into()).collect());
    }
    let (Some(column), Some(terms)) = (segment.ordinals(&field.path)?, segment.terms(&field.path)?) else {
        return Ok(shown);
    };
    let (mut ordinals, mut term) = (Vec::new(), Vec::new());
    column.values(doc, &mut ordinals)?;
    for ordinal in ordinals {
        terms.term(u64::from(ordinal), &mut term)?;
        shown.push(field.decode_term(&term).into());
    }
    Ok(shown)
}

/// Returns the values of the source at `path` as the field reads them; `ignored` gets those that it cannot
/// read or ignores.
pub(super) fn source_values(
    mapping: &Mapping,
    source: &Value,
    field: &Field,
    path: &str,
    wanted: &FieldFormat,
    ignored: &mut Vec<Value>,
) -> Result<Vec<Value>> {
    match &field.values {
        ValueKind::Range(kind) => {
            let format = source_format(field, wanted)?;
            return Ok(source_ranges(source, kind, path, format.as_ref()));
        }
        ValueKind::Point => return source_points(source, field, path, wanted),
        ValueKind::CartesianPoint => return source_positions(source, field, path, wanted),
        ValueKind::Shape { .. } | ValueKind::CartesianShape { .. } => {
            return source_shapes(source, field, path, wanted);
        }
        _ => {}
    }
    let is_shown_whole = field.flattened.is_some()
        || field.completion.is_some()
        || field.relations.is_some()
        || field.summary.is_some()
        || field.feature.is_some_and(|feature| feature.is_named);
    if is_shown_whole {
        return source_keys(source, field, path, wanted);
    }
    let format = source_format(field, wanted)?;
    if let Some(constant) = field.constant() {
        return Ok(constant.map(Value::from).into_iter().collect());
    }
    let mut raw = Vec::new();
    let outside = &field.path[..field.path.len() - path.len()];
    for path in in_java_order(mapping.source_paths(field), |path| path) {
        if let Some(path) = path.strip_prefix(outside) {
            gather_with_nulls(source, path, &mut raw);
        }
    }
    let mut shown = Vec::with_capacity(raw.len());
    for value in raw {
        match value {
            Value::Null => shown.extend(field.show_null(format.as_ref())),
            value => match field.show_source(value, format.as_ref()) {
                Some(value) => shown.push(value),
                None => ignored.push(value.clone()),
            },
        }
    }
    Ok(shown)
}

/// Returns the unchanged values of the source at the path of a field whose values may be objects.
fn source_keys(source: &Value, field: &Field, path: &str, wanted: &FieldFormat) -> Result<Vec<Value>> {
    if wanted.format.is_some() {
        return source_format(field, wanted).map(|_| Vec::new());
    }
    let mut raw = Vec::new();
    gather_whole(source, path, &mut raw);
    let mut shown = Vec::new();
    raw.reverse();
    while let Some(value) = raw.pop() {
        match value {
            Value::Array(items) => raw.extend(items.iter().rev()),
            Value::Null => {}
            value => shown.push(value.clone()),
        }
    }
    Ok(shown)
}

/// Returns the ranges of the source at `path`, with their ends as the type reads them; unreadable ones are
/// ignored.
fn source_ranges(source: &Value, kind: &RangeKind, path: &str, format: Option<&DateFormat>) -> Vec<Value> {
    let mut raw = Vec::new();
    gather_whole(source, path, &mut raw);
    let mut shown = Vec::new();
    while !raw.is_empty() {
        for value in std::mem::take(&mut raw) {
            match value {
                Value::Array(items) => raw.extend(items),
                Value::Object(members) => {
                    let ends =
                        members.iter().map(|(name, end)| Some((name.clone(), range_end(kind, end, format)?)));
                    shown.extend(ends.collect::<Option<Map<String, Value>>>().map(Value::Object));
                }
                Value::String(_) if *kind == RangeKind::Ip => shown.push(value.clone()),
                _ => {}
            }
        }
    }
    shown
}

fn range_end(kind: &RangeKind, end: &Value, format: Option<&DateFormat>) -> Option<Value> {
    let text = json::scalar_text(end)?;
    match kind {
        RangeKind::Date { format: own } => {
            let millis = own.parse_millis(&text).ok()?;
            Some(format.unwrap_or(own).format_millis(millis).into())
        }
        RangeKind::Ip => Some(text.into()),
        RangeKind::Double => double_from_text(&text).map(Value::from),
        RangeKind::Float => double_from_text(&text).map(|value| float_to_json(value as f32)),
        RangeKind::Integer | RangeKind::Long => {
            integer_from_text(&text).and_then(|number| i64::try_from(number.value).ok()).map(Value::from)
        }
    }
}

/// Returns the points of the source at `path`, each as GeoJSON, WKT or WKB.
fn source_points(source: &Value, field: &Field, path: &str, wanted: &FieldFormat) -> Result<Vec<Value>> {
    let show = place_format(field, wanted)?;
    let mut raw = Vec::new();
    gather_whole(source, path, &mut raw);
    let options = ReadOptions { ignore_z: field.ignore_z, bring_back: field.ignore_malformed };
    let points = raw.into_iter().flat_map(|value| parse_points(value, &field.path, options));
    Ok(points.map(show).collect())
}

/// Returns the points of a plane in the source at `path`, each as GeoJSON, WKT or WKB.
fn source_positions(source: &Value, field: &Field, path: &str, wanted: &FieldFormat) -> Result<Vec<Value>> {
    let show = geometry_format(field, wanted)?;
    let mut raw = Vec::new();
    gather_whole(source, path, &mut raw);
    let positions = raw.into_iter().flat_map(|value| parse_positions(value, &field.path, field.ignore_z));
    Ok(positions.map(|position| show(Geometry::Point(position))).collect())
}

/// Returns the shapes of the source at `path`, each as GeoJSON, WKT or WKB; unreadable ones are ignored.
fn source_shapes(source: &Value, field: &Field, path: &str, wanted: &FieldFormat) -> Result<Vec<Value>> {
    let show = geometry_format(field, wanted)?;
    let mut raw = Vec::new();
    gather_whole(source, path, &mut raw);
    let options = field.shape_options();
    let mut shown = Vec::new();
    // The nesting of lists is bounded by the depth limit of the JSON parser.
    while let Some(value) = raw.pop() {
        match value {
            Value::Array(items) => raw.extend(items),
            one => shown.extend(read_shape(one, &options).ok().map(|given| show(given.geometry))),
        }
    }
    shown.reverse();
    Ok(shown)
}

/// Returns the function that formats shapes.
fn geometry_format(field: &Field, wanted: &FieldFormat) -> Result<fn(Geometry) -> Value> {
    let show: fn(Geometry) -> Value = match wanted.format.as_deref() {
        None | Some("geojson") => |shape| shape.to_geojson(),
        Some("wkt") => |shape| shape.to_wkt().into(),
        Some("wkb") => |shape| shape.to_wkb().into(),
        Some(other) => return Err(unrecognized_format(field, other).into()),
    };
    Ok(show)
}

fn unrecognized_format(field: &Field, format: &str) -> RequestError {
    let cause = RequestError::illegal_argument(format!("Unrecognized geometry format [{format}]."));
    error_fetching(&field.path, cause)
}

/// Returns the function that formats points.
pub(super) fn place_format(field: &Field, wanted: &FieldFormat) -> Result<fn(GeoPoint) -> Value> {
    Ok(match wanted.format.as_deref() {
        None | Some("geojson") => GeoPoint::to_geojson,
        Some("wkt") => |point| point.to_wkt().into(),
        Some("wkb") => |point| point.to_wkb().into(),
        Some(other) => return Err(unrecognized_format(field, other).into()),
    })
}
