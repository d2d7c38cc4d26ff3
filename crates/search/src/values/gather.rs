//! Values at a path of a document: "what does this JSON have under that name?"

use serde_json::Value;

/// Collects all values at a dotted path; lists and objects are taken whole.
pub(crate) fn gather_whole<'v>(value: &'v Value, path: &str, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather_whole(item, path, out)),
        Value::Object(members) => {
            for (name, inner) in members {
                if name == path {
                    out.push(inner);
                } else if let Some(rest) =
                    path.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'))
                {
                    gather_whole(inner, rest, out);
                }
            }
        }
        _ => {}
    }
}

/// Collects all scalars at a dotted path, through arrays and through members whose names contain dots.
pub(crate) fn gather<'v>(value: &'v Value, path: &str, out: &mut Vec<&'v Value>) {
    gather_with_nulls(value, path, out);
    out.retain(|value| !value.is_null());
}

/// Like [`gather`], but keeps nulls.
pub(crate) fn gather_with_nulls<'v>(value: &'v Value, path: &str, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather_with_nulls(item, path, out)),
        Value::Object(members) => {
            for (name, inner) in members {
                if name == path {
                    leaves(inner, out);
                } else if let Some(rest) =
                    path.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'))
                {
                    gather_with_nulls(inner, rest, out);
                }
            }
        }
        _ => {}
    }
}

fn leaves<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, out)),
        Value::Object(_) => {}
        scalar => out.push(scalar),
    }
}
