//! Binds the sorts of a request to a shard: decides where each key comes from.

use std::sync::Arc;

use limber_mapping::date::Resolution;
use limber_mapping::number::sortable_from_f64;
use limber_mapping::{Field, NumberForm, RequestError};
use limber_script::ScriptContext;

use super::distance::Origins;
use super::nested::BoundNested;
use super::sort::{BoundSort, KeyKind, MissingTerms, Transform};
use crate::context::columns::{check_name, check_sortable};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::request::{GeoSort, NumericType, Order, ScriptSort, Sort};
use crate::script::{BoundScript, RuntimeField, field_or_id};
use crate::values::mode::MultiValueMode;

/// Binds the sorts of a request to a shard; empty when hits come by score alone.
pub(crate) fn bind_sorts(
    sorts: &[Sort],
    shard: &ShardSnapshot,
    context: &SearchContext,
) -> Result<Vec<BoundSort>> {
    sorts.iter().map(|sort| bind(sort, shard, context)).collect()
}

fn bind(sort: &Sort, shard: &ShardSnapshot, context: &SearchContext) -> Result<BoundSort> {
    let mut bound = unbound(sort);
    let inner;
    let mut values_of = shard;
    if let Some(nested) = &sort.nested
        && let Some((nested, scope)) = BoundNested::bind(nested, shard, context)?
    {
        if sort.mode == Some(MultiValueMode::Median) {
            return Err(RequestError::illegal_argument("Unsupported sort mode: MEDIAN").into());
        }
        bound.nested = Some(Arc::new(nested));
        inner = scope;
        values_of = &inner;
    }
    if let Some(geo) = &sort.geo {
        bind_distance(&mut bound, sort, geo, shard, values_of)?;
    } else if let Some(by) = &sort.script {
        bind_script(&mut bound, by, values_of)?;
    } else if sort.is_score() {
        bound.kind = KeyKind::Score;
    } else if !sort.is_doc() {
        bind_field(&mut bound, sort, shard, values_of)?;
    }
    Ok(bound)
}

/// Returns a sort by document order with the name, order and mode of `sort`.
fn unbound(sort: &Sort) -> BoundSort {
    let descending = sort.order == Order::Descending;
    BoundSort {
        name: sort.field.clone(),
        kind: KeyKind::Doc,
        descending,
        mode: sort.mode.unwrap_or(if descending { MultiValueMode::Max } else { MultiValueMode::Min }),
        field: None,
        transform: Transform::None,
        missing_number: 0,
        missing_terms: MissingTerms::Last,
        origins: None,
        format: None,
        own_format: None,
        resolution: Resolution::Millis,
        doc_base: 0,
        script: None,
        nested: None,
        runtime: None,
    }
}

/// Binds a sort by distance. `values_of` is the shard, or the nested documents that contain the points.
fn bind_distance(
    bound: &mut BoundSort,
    sort: &Sort,
    geo: &GeoSort,
    shard: &ShardSnapshot,
    values_of: &ShardSnapshot,
) -> Result<()> {
    if let (Some(field), None) = (shard.mapping.field(&geo.path), &sort.nested) {
        check_context(&field, shard)?;
    }
    let is_nearest_first = !bound.descending && bound.mode == MultiValueMode::Min && bound.nested.is_none();
    let (origins, field) = Origins::bind(geo, is_nearest_first, shard)?;
    if let Some(field) = &field {
        bound.runtime = RuntimeField::bind(field, values_of)?;
    }
    (bound.kind, bound.field, bound.origins) = (KeyKind::Double, field, Some(Arc::new(origins)));
    // Documents without a place are the farthest, in either order.
    bound.missing_number = sortable_from_f64(f64::INFINITY);
    Ok(())
}

/// Binds a sort by the result of a script.
fn bind_script(bound: &mut BoundSort, by: &ScriptSort, values_of: &ShardSnapshot) -> Result<()> {
    let context = if by.is_text { ScriptContext::StringSort } else { ScriptContext::NumberSort };
    bound.kind = if by.is_text { KeyKind::Term } else { KeyKind::Double };
    bound.missing_number = sortable_from_f64(f64::MAX);
    bound.script = Some(Arc::new(BoundScript::bind(&by.script, context, values_of)?));
    Ok(())
}

/// The keys are the values of a field.
fn bind_field(
    bound: &mut BoundSort,
    sort: &Sort,
    shard: &ShardSnapshot,
    values_of: &ShardSnapshot,
) -> Result<()> {
    let like = match field_or_id(&shard.mapping, &sort.field) {
        Some(field) => {
            if sort.nested.is_none() {
                check_context(&field, shard)?;
            }
            check_sortable(&field, values_of)?;
            bound.runtime = RuntimeField::bind(&field, values_of)?;
            bound.field = Some(field.clone());
            field
        }
        None => unmapped_field(sort, shard)?,
    };
    bound.kind = match like.number_form() {
        None => KeyKind::Term,
        Some(NumberForm::Double) => KeyKind::Double,
        Some(NumberForm::Scaled(factor)) => {
            bound.transform = Transform::Scaled(factor);
            KeyKind::Double
        }
        Some(NumberForm::Float) => KeyKind::Float,
        Some(NumberForm::Unsigned) => KeyKind::Unsigned,
        Some(NumberForm::Whole) => KeyKind::Long,
    };
    bind_numeric_type(bound, sort, &like)?;
    check_mode(bound, shard)?;
    bound.own_format = like.date().map(|(format, _)| format.clone());
    if let (Some((own, _)), Some(pattern)) = (like.date(), &sort.format) {
        bound.format = Some(Arc::new(own.with_list(pattern)?));
    } else if sort.format.is_some() {
        return Err(RequestError::unsupported("[format] of a sort on a field that is no date").into());
    }
    bound.bind_missing(&sort.missing, like.is_narrow() && sort.numeric_type.is_none())?;
    if sort.is_widened && bound.transform == Transform::ToDouble {
        bound.place_missing_as_whole(&sort.missing, like.is_narrow());
    }
    Ok(())
}

/// Returns the sorts with the keys of all shards as doubles where a field holds whole numbers in one index
/// and others elsewhere; `None` if there is no such field. Source: Elasticsearch's `SearchPhaseController`.
pub(crate) fn widened(sorts: &[Sort], shards: &[ShardSnapshot]) -> Option<Vec<Sort>> {
    let mixed: Vec<bool> = sorts.iter().map(|sort| is_mixed(sort, shards)).collect();
    mixed.contains(&true).then(|| {
        let widen = |(sort, is_mixed): (&Sort, &bool)| match is_mixed {
            true => Sort { numeric_type: Some(NumericType::Double), is_widened: true, ..sort.clone() },
            false => sort.clone(),
        };
        sorts.iter().zip(&mixed).map(widen).collect()
    })
}

/// Whether the keys of a sort are numbers on all shards, but not of one kind.
fn is_mixed(sort: &Sort, shards: &[ShardSnapshot]) -> bool {
    let is_plain = sort.geo.is_none() && sort.script.is_none() && !sort.is_score() && !sort.is_doc();
    if !is_plain || sort.numeric_type.is_some() || sort.format.is_some() {
        return false;
    }
    let (mut has_whole, mut has_float, mut has_double) = (false, false, false);
    if shards.len() < 2 {
        return false;
    }
    for (number, shard) in shards.iter().enumerate() {
        if number > 0 && Arc::ptr_eq(&shards[number - 1].mapping, &shard.mapping) {
            continue;
        }
        let field = field_or_id(&shard.mapping, &sort.field);
        let Some(field) = field.or_else(|| unmapped_field(sort, shard).ok()) else { continue };
        match field.number_form() {
            Some(NumberForm::Whole) if field.resolution() == Resolution::Millis => has_whole = true,
            Some(NumberForm::Float) => has_float = true,
            Some(NumberForm::Double | NumberForm::Scaled(_)) => has_double = true,
            _ => return false,
        }
    }
    u8::from(has_whole) + u8::from(has_float) + u8::from(has_double) > 1
}

/// Makes the keys of the kind that `numeric_type` names.
fn bind_numeric_type(bound: &mut BoundSort, sort: &Sort, like: &Field) -> Result<()> {
    let is_nanos = like.resolution() == Resolution::Nanos;
    if (is_nanos && sort.numeric_type.is_none()) || sort.numeric_type == Some(NumericType::DateNanos) {
        bound.resolution = Resolution::Nanos;
    }
    let Some(numeric_type) = sort.numeric_type else { return Ok(()) };
    match (numeric_type, bound.kind) {
        (_, KeyKind::Term) => {
            return Err(RequestError::illegal_argument(format!(
                "[numeric_type] option cannot be set on a non-numeric field, got {}",
                like.type_name()
            ))
            .into());
        }
        (_, KeyKind::Unsigned) => {
            return Err(RequestError::unsupported("[numeric_type] of a sort on an unsigned_long").into());
        }
        (NumericType::DateNanos, _) if like.date().is_none() => {
            return Err(RequestError::illegal_argument(
                "trying to convert a known date time formatter to a nanosecond one, wrong field used?",
            )
            .into());
        }
        (NumericType::DateNanos, _) if !is_nanos => bound.transform = Transform::MillisToNanos,
        (NumericType::Date, _) if is_nanos => bound.transform = Transform::NanosToMillis,
        (NumericType::Double, _) if is_nanos => {
            (bound.kind, bound.transform) = (KeyKind::Double, Transform::NanosToDouble)
        }
        (NumericType::Double, KeyKind::Long) => {
            (bound.kind, bound.transform) = (KeyKind::Double, Transform::ToDouble)
        }
        (NumericType::Double, _) => bound.kind = KeyKind::Double,
        (NumericType::Long | NumericType::Date, KeyKind::Double | KeyKind::Float) => {
            if bound.transform != Transform::None {
                return Err(RequestError::unsupported("numeric_type [long] on a scaled_float").into());
            }
            (bound.kind, bound.transform) = (KeyKind::Long, Transform::ToLong);
        }
        _ => {}
    }
    Ok(())
}

/// Refuses `sum`, `avg` and `median` for keys that are terms or unsigned numbers.
fn check_mode(bound: &BoundSort, shard: &ShardSnapshot) -> Result<()> {
    if !matches!(bound.mode, MultiValueMode::Sum | MultiValueMode::Avg | MultiValueMode::Median) {
        return Ok(());
    }
    match bound.kind {
        KeyKind::Unsigned => {
            Err(RequestError::unsupported("a sort on an unsigned_long by a mode other than min and max")
                .into())
        }
        KeyKind::Term => Err(shard
            .query_shard_exception("we only support AVG, MEDIAN and SUM on number based fields")
            .into()),
        _ => Ok(()),
    }
}

/// Refuses a field of nested documents, unless `shard` searches these or the enclosing documents include the
/// values.
///
/// Source: `FieldSortBuilder#validateMissingNestedPath`.
fn check_context(field: &Field, shard: &ShardSnapshot) -> Result<()> {
    let scope = shard.nested.as_ref().map(|scope| scope.nested.space);
    let mut around = shard.mapping.nested_around(&field.path);
    while let Some(nested) = around.filter(|nested| Some(nested.space) != scope) {
        if !nested.include_in_root {
            return Err(shard
                .query_shard_exception(format!(
                    "it is mandatory to set the [nested] context on the nested sort field: [{}].",
                    field.path
                ))
                .into());
        }
        around = shard.mapping.nested_around(&nested.path);
    }
    Ok(())
}

/// Returns a field of the type by which documents are sorted in a shard that does not map the field.
fn unmapped_field(sort: &Sort, shard: &ShardSnapshot) -> Result<Arc<Field>> {
    check_name(&sort.field)?;
    let Some(unmapped_type) = &sort.unmapped_type else {
        return Err(shard
            .query_shard_exception(format!("No mapping found for [{}] in order to sort on", sort.field))
            .into());
    };
    let field = limber_mapping::field_of_type(&sort.field, unmapped_type)
        .filter(|field| field.doc_values && field.check_sortable().is_ok());
    let unknown = || RequestError::illegal_argument(format!("No mapper found for type [{unmapped_type}]"));
    Ok(field.map(Arc::new).ok_or_else(unknown)?)
}
