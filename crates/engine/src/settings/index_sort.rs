//! `index.sort.*`: "in which order does an index store its documents?"
//!
//! Source: Elasticsearch's `IndexSortConfig`.

use std::sync::Arc;

use limber_mapping::date::Resolution;
use limber_mapping::{Field, Flattened, Mapping, NumberForm, Representation, RequestError, reserved};
use limber_segment::SortField;
use serde_json::{Value, json};

use crate::api::Result;
use crate::settings::flat::FlatSettings;

const FIELD_KEY: &str = "index.sort.field";

/// Parses the index sort in flat settings; empty when there is none.
pub(super) fn parse(flat: &FlatSettings) -> Result<Arc<[SortField]>> {
    if let Some(sort) = super::mode::sort_of(flat) {
        return Ok(sort.into());
    }
    let fields = list(flat, FIELD_KEY);
    let option = |name: &str| -> Result<Vec<String>> {
        let key = format!("index.sort.{name}");
        let values = list(flat, &key);
        if fields.is_empty() && flat.contains_key(&key) {
            return Err(RequestError::illegal_argument(format!(
                "setting [{key}] requires [{FIELD_KEY}] to be configured"
            )));
        }
        Ok(values)
    };
    let (orders, modes, missing) = (option("order")?, option("mode")?, option("missing")?);
    let orders: Vec<&str> = orders.iter().map(|text| parse_order(text)).collect::<Result<_>>()?;
    let modes: Vec<&str> = modes.iter().map(|text| parse_mode(text)).collect::<Result<_>>()?;
    let missing: Vec<&str> = missing.iter().map(|text| parse_missing(text)).collect::<Result<_>>()?;
    for (name, values) in [("order", &orders), ("mode", &modes), ("missing", &missing)] {
        if !values.is_empty() && values.len() != fields.len() {
            return Err(RequestError::illegal_argument(format!(
                "{FIELD_KEY}:[{}] index.sort.{name}:[{}], size mismatch",
                fields.join(", "),
                values.join(", ")
            )));
        }
    }
    let field = |(at, path): (usize, &String)| {
        let descending = orders.get(at) == Some(&"desc");
        SortField {
            path: path.as_str().into(),
            descending,
            takes_max: modes.get(at).map_or(descending, |mode| *mode == "MAX"),
            missing_first: missing.get(at) == Some(&"_first"),
        }
    };
    Ok(fields.iter().enumerate().map(field).collect())
}

/// Reads a list, or comma-separated strings.
pub(super) fn list(flat: &FlatSettings, key: &str) -> Vec<String> {
    let texts: Vec<String> = match flat.get(key) {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(text)) if limber_work::has_room_for_pieces(text, ",") => {
            text.split(',').map(|part| part.trim().to_owned()).collect()
        }
        _ => Vec::new(),
    };
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

fn parse_order(text: &str) -> Result<&'static str> {
    match text.to_ascii_lowercase().as_str() {
        "asc" => Ok("asc"),
        "desc" => Ok("desc"),
        _ => Err(RequestError::illegal_argument(format!("Illegal sort order:{text}"))),
    }
}

fn parse_mode(text: &str) -> Result<&'static str> {
    match text.to_ascii_uppercase().as_str() {
        "MIN" => Ok("MIN"),
        "MAX" => Ok("MAX"),
        mode @ ("SUM" | "AVG" | "MEDIAN") => Err(RequestError::illegal_argument(format!(
            "Illegal index sort mode:[{mode}], must be one of [MAX, MIN]"
        ))),
        _ => Err(RequestError::illegal_argument(format!("Illegal sort mode: {text}"))),
    }
}

fn parse_missing(text: &str) -> Result<&'static str> {
    match text {
        "_last" => Ok("_last"),
        "_first" => Ok("_first"),
        _ => Err(RequestError::illegal_argument(format!(
            "Illegal missing value:[{text}], must be one of [_last, _first]"
        ))),
    }
}

/// Checks that the mapping has suitable sort fields. Called for every mapping that an index gets.
pub(crate) fn check_index_sort(sort: &[SortField], mapping: &Mapping, index: &str) -> Result<()> {
    sort.iter().try_for_each(|by| check_field(&by.path, mapping, index))
}

fn check_field(path: &str, mapping: &Mapping, index: &str) -> Result<()> {
    let refused = |reason: String| Err(RequestError::illegal_argument(reason));
    if let Some(nested) = mapping.nested_around(path) {
        return refused(format!(
            "cannot apply index sort to field [{path}] under nested object [{}]",
            nested.path
        ));
    }
    if mapping.alias(path).is_some() {
        return refused(format!("Cannot use alias [{path}] as an index sort field"));
    }
    let Some(field) = mapping.field(path).filter(|field| field.id != reserved::PRIMARY_TERM) else {
        return refused(format!("unknown index sort field:[{path}]"));
    };
    if field.runtime.is_some() {
        let reason = format!(
            "runtime field [{path}] shadows an index sort field, which would prevent shards from being allocated"
        );
        return Err(RequestError::bad_request("mapper_parsing_exception", reason));
    }
    if field.flattened == Some(Flattened::Key) {
        return refused(format!("invalid index sort field:[{path}]"));
    }
    let missing_column = |cause: String| {
        let reason = format!("docvalues not found for index sort field:[{path}]");
        Err(RequestError::illegal_argument(reason).caused_by(RequestError::illegal_argument(cause)))
    };
    if field.id == reserved::ID {
        return missing_column(
            "Fielddata access on the _id field is disallowed, you can re-enable it by updating the dynamic cluster setting: \
             indices.id_field_data.enabled"
                .to_owned(),
        );
    }
    if field.representation() == Representation::Text {
        return missing_column(format!(
            "Fielddata is disabled on [{path}] in [{index}]. Text fields are not optimised for operations that require per-document field \
             data like aggregations and sorting, so these operations are disabled by default. Please use a keyword field instead. \
             Alternatively, set fielddata=true on [{path}] in order to load field data by uninverting the inverted index. Note that this \
             can use significant memory."
        ));
    }
    if !field.doc_values {
        return missing_column(format!(
            "Can't load fielddata on [{path}] because fielddata is unsupported on fields of type [{}]. Use doc values instead.",
            field.type_name()
        ));
    }
    match field.sorts_indices() {
        true => Ok(()),
        false if field.is_point() || field.is_cartesian_point() => Ok(field.check_sortable()?),
        false => refused(format!("invalid index sort field:[{path}]")),
    }
}

/// Returns Lucene's name for the sort value of documents without a value.
fn missing_of(field: &Field, is_first: bool, is_least: bool) -> String {
    match field.number_form() {
        None if is_first => "SortField.STRING_FIRST".to_owned(),
        None => "SortField.STRING_LAST".to_owned(),
        Some(NumberForm::Double | NumberForm::Float) if is_least => "-Infinity".to_owned(),
        Some(NumberForm::Double | NumberForm::Float) => "Infinity".to_owned(),
        _ if field.is_narrow() => if is_least { i32::MIN } else { i32::MAX }.to_string(),
        _ if is_least && field.resolution() == Resolution::Nanos => "0".to_owned(),
        _ => if is_least { i64::MIN } else { i64::MAX }.to_string(),
    }
}

/// Describes the sort as `GET _segments` shows it for each segment.
pub(crate) fn describe_sort(sort: &[SortField], mapping: &Mapping) -> Value {
    let describe = |by: &SortField| {
        let is_least = by.missing_first != by.descending;
        let missing = match mapping.field(&by.path) {
            Some(field) => missing_of(&field, by.missing_first, is_least),
            None => if is_least { i64::MIN } else { i64::MAX }.to_string(),
        };
        let mode = if by.takes_max { "max" } else { "min" };
        json!({"field": *by.path, "mode": mode, "missing": missing, "reverse": by.descending})
    };
    sort.iter().map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::flat::{flatten, normalize_index_keys};
    use limber_mapping::MappingSettings;

    fn parsed(sort: Value) -> Result<Arc<[SortField]>> {
        parse(&normalize_index_keys(flatten(&json!({ "sort": sort })).expect("flat")))
    }

    #[test]
    fn settings_are_read_and_refused_as_elasticsearch_does() {
        let check = |sort: Value, expected: &str| {
            let found = match parsed(sort) {
                Ok(sort) => sort
                    .iter()
                    .map(|by| {
                        let order = if by.descending { "desc" } else { "asc" };
                        let mode = if by.takes_max { "max" } else { "min" };
                        let missing = if by.missing_first { "first" } else { "last" };
                        format!("{} {order} {mode} {missing}", by.path)
                    })
                    .collect::<Vec<_>>()
                    .join("; "),
                Err(error) => error.reason,
            };
            assert_eq!(found, expected);
        };
        check(json!({}), "");
        check(json!({"field": []}), "");
        check(json!({"field": "l"}), "l asc min last");
        check(json!({"field": "l,k", "order": "desc,asc"}), "l desc max last; k asc min last");
        check(
            json!({"field": ["l", "k"], "order": ["DESC", "asc"], "mode": ["min", "MAX"], "missing": ["_last", "_first"]}),
            "l desc min last; k asc max first",
        );
        check(
            json!({"order": ["desc"]}),
            "setting [index.sort.order] requires [index.sort.field] to be configured",
        );
        check(
            json!({"missing": "_last"}),
            "setting [index.sort.missing] requires [index.sort.field] to be configured",
        );
        check(
            json!({"field": ["l", "k"], "order": "desc", "mode": ["min", "max"]}),
            "index.sort.field:[l, k] index.sort.order:[desc], size mismatch",
        );
        check(
            json!({"field": ["l", "k"], "mode": "min"}),
            "index.sort.field:[l, k] index.sort.mode:[MIN], size mismatch",
        );
        check(
            json!({"field": ["l", "k"], "missing": "_first"}),
            "index.sort.field:[l, k] index.sort.missing:[_first], size mismatch",
        );
        check(json!({"field": "l", "order": "up"}), "Illegal sort order:up");
        check(
            json!({"field": "l", "mode": "avg"}),
            "Illegal index sort mode:[AVG], must be one of [MAX, MIN]",
        );
        check(json!({"field": "l", "mode": "xyz"}), "Illegal sort mode: xyz");
        check(
            json!({"field": "l", "missing": "5"}),
            "Illegal missing value:[5], must be one of [_last, _first]",
        );
    }

    #[test]
    fn fields_are_checked_as_elasticsearch_does() {
        let body = json!({
            "runtime": {"rt": {"type": "long"}},
            "properties": {
                "l": {"type": "long"}, "k": {"type": "keyword"}, "t": {"type": "text"}, "d": {"type": "date"}, "f": {"type": "double"},
                "b": {"type": "boolean"}, "ip": {"type": "ip"}, "nd": {"type": "long", "doc_values": false}, "g": {"type": "geo_point"},
                "hf": {"type": "half_float"}, "bin": {"type": "binary"}, "o": {"properties": {"x": {"type": "long"}}},
                "n": {"type": "nested", "include_in_root": true, "properties": {"y": {"type": "long"}}},
            },
        });
        let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a mapping");
        let check = |path: &str, expected: &str| {
            let sort = parsed(json!({"field": [path]})).expect("sound");
            let found = check_index_sort(&sort, &mapping, "s")
                .map_or_else(|error| error.reason, |()| "ok".to_owned());
            assert_eq!(found, expected, "{path}");
        };
        ["l", "k", "d", "f", "b", "ip", "o.x", "_seq_no", "_version"]
            .iter()
            .for_each(|path| check(path, "ok"));
        for path in ["o", "nope", "_doc", "_score", "_primary_term"] {
            check(path, &format!("unknown index sort field:[{path}]"));
        }
        for path in ["t", "nd", "bin", "_id"] {
            check(path, &format!("docvalues not found for index sort field:[{path}]"));
        }
        check("hf", "invalid index sort field:[hf]");
        check("n.y", "cannot apply index sort to field [n.y] under nested object [n]");
        check(
            "g",
            "can't sort on geo_point or point field without using specific sorting feature, like geo_distance",
        );
        check(
            "rt",
            "runtime field [rt] shadows an index sort field, which would prevent shards from being allocated",
        );
    }

    #[test]
    fn segments_show_what_elasticsearch_shows() {
        let body = json!({"properties": {"l": {"type": "long"}, "k": {"type": "keyword"}, "i": {"type": "short"}, "f": {"type": "float"}}});
        let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a mapping");
        let sort = json!({"field": ["l", "k", "i", "f"], "order": ["asc", "desc", "desc", "asc"], "mode": ["max", "min", "max", "min"],
            "missing": ["_first", "_first", "_last", "_last"]});
        let sort = parsed(sort).expect("sound");
        assert_eq!(
            describe_sort(&sort, &mapping),
            json!([
                {"field": "l", "mode": "max", "missing": "-9223372036854775808", "reverse": false},
                {"field": "k", "mode": "min", "missing": "SortField.STRING_FIRST", "reverse": true},
                {"field": "i", "mode": "max", "missing": "-2147483648", "reverse": true},
                {"field": "f", "mode": "min", "missing": "Infinity", "reverse": false},
            ])
        );
    }
}
