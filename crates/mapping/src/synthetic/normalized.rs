//! Values that no column can rebuild, in the form in which synthetic source shows them: "what does
//! Elasticsearch make of this value?"
//!
//! They are stored in this form. Ranges have inclusive bounds and are sorted, the keys of flattened objects
//! are sorted and their values are texts, and texts have no nulls.
//!
//! Source: the responses of Elasticsearch 9.4.3.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::{Map, Value, json};

use super::residue::{each_item, is_too_long};
use crate::field::{Ends, Field, RangeKind, RangeReader, block_of, scalar_text};

/// The most levels of the object of a flattened field; a name with more dots keeps the others.
const LEVELS_MAX: usize = 50;

/// Returns the shown form of all values of a field; `None` if nothing is shown.
///
/// A value that the field cannot read, because it was indexed under an earlier mapping, stays as it is.
pub(super) fn normalized(field: &Field, value: Value) -> Option<Value> {
    if let Some(kind) = field.range_kind() {
        return match ranges(field, kind, &value) {
            Some(ranges) => one_or_all(ranges),
            None => Some(value),
        };
    }
    if field.summary.is_some() {
        return summaries(field, &value);
    }
    if field.flattened.is_some() {
        return flattened(field, &value);
    }
    one_or_all(texts(field, &value))
}

/// Returns the only value alone, and several values as an array; `None` if there are none.
pub fn one_or_all(mut values: Vec<Value>) -> Option<Value> {
    match values.len() {
        0 => None,
        1 => values.pop(),
        _ => Some(values.into()),
    }
}

fn ranges(field: &Field, kind: &RangeKind, value: &Value) -> Option<Vec<Value>> {
    let mut found: Vec<Ends> = Vec::new();
    let mut seen = HashSet::new();
    let mut is_readable = true;
    each_item(value, &mut |item| match read_range(field, kind, item) {
        Some(ends) if seen.insert((ends.lower, ends.upper)) => found.push(ends),
        Some(_) => {}
        None => is_readable = false,
    });
    // Elasticsearch does not sort ranges of addresses.
    if *kind != RangeKind::Ip {
        found.sort_by_key(|ends| (ends.lower, ends.upper));
    }
    is_readable.then(|| found.into_iter().map(|ends| kind.to_json(ends)).collect())
}

fn read_range(field: &Field, kind: &RangeKind, item: &Value) -> Option<Ends> {
    let Value::Object(members) = item else { return block_of(item.as_str()?).ok() };
    let mut reader = RangeReader::new(field, kind);
    for (name, value) in members {
        reader.take(name, value).ok().filter(|is_known| *is_known)?;
    }
    reader.finish().ok()
}

/// Returns the first summary, then the values that are none, which the field ignored.
fn summaries(field: &Field, value: &Value) -> Option<Value> {
    let (mut shown, mut ignored) = (Vec::new(), Vec::new());
    each_item(value, &mut |item| match field.of.read_summary(field, item) {
        Ok(numbers) if shown.is_empty() => shown.push(field.of.show_summary(field, &numbers)),
        _ => ignored.push(item.clone()),
    });
    shown.append(&mut ignored);
    one_or_all(shown)
}

/// Returns the texts in the order of the document, then those that are too long for the field.
fn texts(field: &Field, value: &Value) -> Vec<Value> {
    let (mut kept, mut too_long) = (Vec::new(), Vec::new());
    let mut add = |item: &Value| {
        let Some(text) = scalar_text(item) else { return };
        match is_too_long(field, item) {
            true => too_long.push(Value::from(text)),
            false => kept.push(Value::from(field.normalize(&text).into_owned())),
        }
    };
    match (&field.null_value, value) {
        (Some(null), Value::Null) => add(null),
        (Some(null), Value::Array(list)) => {
            list.iter().for_each(|item| if item.is_null() { add(null) } else { each_item(item, &mut add) });
        }
        _ => each_item(value, &mut add),
    }
    kept.append(&mut too_long);
    kept
}

/// Returns an object with sorted keys, each with its sorted texts without duplicates.
fn flattened(field: &Field, value: &Value) -> Option<Value> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    gather(field, value, &mut String::new(), &mut found);
    let mut shown = Map::new();
    for (path, texts) in found {
        if let Some(value) = one_or_all(texts.into_iter().map(Value::from).collect()) {
            insert(&mut shown, &path, value, LEVELS_MAX);
        }
    }
    (!shown.is_empty()).then(|| shown.into())
}

/// Collects the scalars below a key. The limit on the depth of JSON bounds the recursion.
fn gather(field: &Field, value: &Value, path: &mut String, out: &mut BTreeMap<String, BTreeSet<String>>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let length = path.len();
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                gather(field, value, path, out);
                path.truncate(length);
            }
        }
        Value::Array(list) => list.iter().for_each(|item| gather(field, item, path, out)),
        scalar => {
            let scalar = field.null_value.as_ref().filter(|_| scalar.is_null()).unwrap_or(scalar);
            if let Some(text) = scalar_text(scalar).filter(|_| !path.is_empty()) {
                out.entry(path.clone()).or_default().insert(text);
            }
        }
    }
}

/// Adds a value at a path, of which at most `levels` names become objects. Below a key that already has a
/// text, the rest of the path stays one name.
fn insert(members: &mut Map<String, Value>, path: &str, value: Value, levels: usize) {
    let taken = |name: &str| members.get(name).is_some_and(|value| !value.is_object());
    let Some((name, rest)) = path.split_once('.').filter(|(name, _)| levels > 0 && !taken(name)) else {
        members.insert(path.to_owned(), value);
        return;
    };
    if let Value::Object(inner) = members.entry(name).or_insert_with(|| json!({})) {
        insert(inner, rest, value, levels - 1);
    }
}
