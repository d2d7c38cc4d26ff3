//! The parts of a document that are stored besides its columns.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

use super::normalized::normalized;
use super::plan::{How, PlanNode, SyntheticPlan};
use crate::field::{Field, OwnedScalar, check_scalar};
use crate::geo::{ReadOptions, parse_points};
use crate::settings::Keep;

/// The parts of a document, or of a nested object, that columns cannot provide. Paths are full paths.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Residue {
    /// Each replaces everything at its path and below.
    pub kept: BTreeMap<String, Value>,
    /// Values of a field in addition to those in its column.
    pub added: BTreeMap<String, Vec<Value>>,
    /// Keyed by path: the residue of each nested object, in their order.
    pub nested: BTreeMap<String, Vec<Residue>>,
}

impl Residue {
    /// Computes the residue of a whole document.
    pub fn of(plan: &SyntheticPlan, source: &Map<String, Value>) -> Residue {
        let mut residue = Residue::default();
        residue.walk(plan, source, "");
        residue.normalize(plan);
        residue
    }

    /// Computes what a forced synthetic source shows besides columns: the values of fields that the index has
    /// in another form.
    pub fn of_fields(plan: &SyntheticPlan, source: &Map<String, Value>) -> Residue {
        let mut residue = Residue::default();
        residue.walk(plan, source, "");
        residue.drop_unindexed(plan);
        residue.normalize(plan);
        residue
    }

    /// Drops what only the source has. The depth of JSON bounds the recursion.
    fn drop_unindexed(&mut self, plan: &SyntheticPlan) {
        self.added.clear();
        self.kept.retain(|path, _| {
            matches!(
                plan.nodes.get(path.as_str()),
                Some(PlanNode::Leaf { how: How::Shown(_) | How::Binary, .. })
            )
        });
        self.nested.values_mut().flatten().for_each(|inner| inner.drop_unindexed(plan));
    }

    /// Brings stored copies into the form in which they are shown. The depth of JSON bounds the recursion.
    fn normalize(&mut self, plan: &SyntheticPlan) {
        self.kept = std::mem::take(&mut self.kept)
            .into_iter()
            .filter_map(|(path, value)| match plan.nodes.get(path.as_str()) {
                Some(PlanNode::Leaf { how: How::Shown(field), keep })
                    if *keep != Keep::Arrays || !value.is_array() =>
                {
                    Some((path, normalized(field, value)?))
                }
                _ => Some((path, value)),
            })
            .collect();
        self.nested.values_mut().flatten().for_each(|inner| inner.normalize(plan));
    }

    /// Encodes the residue; empty if columns provide everything.
    pub fn to_bytes(&self) -> Vec<u8> {
        if self.is_empty() { Vec::new() } else { self.to_json().to_string().into_bytes() }
    }

    /// Inverse of [`Residue::to_bytes`]; `None` if the bytes are not an encoded residue.
    pub fn from_bytes(bytes: &[u8]) -> Option<Residue> {
        if bytes.is_empty() {
            return Some(Residue::default());
        }
        Residue::from_json(serde_json::from_slice(bytes).ok()?)
    }

    fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.added.is_empty() && self.nested.values().flatten().all(Residue::is_empty)
    }

    fn to_json(&self) -> Value {
        let mut body = Map::new();
        if !self.kept.is_empty() {
            body.insert("k".into(), self.kept.clone().into_iter().collect());
        }
        if !self.added.is_empty() {
            body.insert("a".into(), self.added.clone().into_iter().collect());
        }
        let nested = self.nested.iter().filter(|(_, list)| !list.iter().all(Residue::is_empty));
        let nested: Map<String, Value> =
            nested.map(|(path, list)| (path.clone(), list.iter().map(Residue::to_json).collect())).collect();
        if !nested.is_empty() {
            body.insert("n".into(), nested.into());
        }
        body.into()
    }

    fn from_json(body: Value) -> Option<Residue> {
        let Value::Object(mut body) = body else { return None };
        let mut section = |name: &str| match body.remove(name) {
            None => Some(Map::new()),
            Some(Value::Object(section)) => Some(section),
            Some(_) => None,
        };
        let mut residue = Residue { kept: section("k")?.into_iter().collect(), ..Residue::default() };
        for (path, values) in section("a")? {
            let Value::Array(values) = values else { return None };
            residue.added.insert(path, values);
        }
        for (path, list) in section("n")? {
            let Value::Array(list) = list else { return None };
            let list = list.into_iter().map(Residue::from_json).collect::<Option<_>>()?;
            residue.nested.insert(path, list);
        }
        Some(residue)
    }

    fn walk(&mut self, plan: &SyntheticPlan, members: &Map<String, Value>, path: &str) {
        for (name, value) in members {
            let full = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match plan.nodes.get(full.as_str()) {
                Some(PlanNode::Leaf { how, keep }) => self.leaf(&full, value, how, *keep),
                Some(PlanNode::Object { enabled: false, .. }) => self.keep(full, value.clone()),
                Some(PlanNode::Object { nested, keep, .. }) => {
                    self.object(plan, full, value, *nested, *keep);
                }
                None if value.is_null() => {}
                None => self.keep(full, value.clone()),
            }
        }
    }

    fn object(&mut self, plan: &SyntheticPlan, path: String, value: &Value, nested: bool, keep: Keep) {
        let is_kept = match keep {
            Keep::None => false,
            Keep::Arrays => value.is_array(),
            Keep::All => !value.is_null(),
        };
        if is_kept {
            return self.keep(path, value.clone());
        }
        let mut objects = Vec::new();
        gather_objects(value, &mut objects);
        for object in objects {
            if !nested {
                self.walk(plan, object, &path);
                continue;
            }
            let mut inner = Residue::default();
            inner.walk(plan, object, &path);
            self.nested.entry(path.clone()).or_default().push(inner);
        }
    }

    fn leaf(&mut self, path: &str, value: &Value, how: &How, keep: Keep) {
        // A point may itself be an array, so Elasticsearch keeps no arrays of points.
        let is_point = matches!(how, How::Column(field) if field.is_point());
        if matches!(how, How::Kept) || (keep == Keep::Arrays && value.is_array() && !is_point) {
            self.keep(path.to_owned(), value.clone());
            return;
        }
        match how {
            How::Column(field) if field.is_point() => {
                if field.ignore_malformed {
                    self.malformed_points(path, value, field);
                }
            }
            How::Column(field) => {
                let mut refused = Vec::new();
                each_item(value, &mut |item| {
                    if is_refused(field, item) {
                        refused.push(item.clone());
                    }
                });
                if field.ignore_malformed && refused.len() > 1 {
                    refused.sort_by_cached_key(malformed_rank);
                }
                if !refused.is_empty() {
                    self.added.entry(path.to_owned()).or_default().append(&mut refused);
                }
            }
            How::Keyword(field) => each_item(value, &mut |item| {
                if is_too_long(field, item) {
                    self.added.entry(path.to_owned()).or_default().push(item.clone());
                }
            }),
            How::Binary => {
                let mut values: Vec<Vec<u8>> = Vec::new();
                each_item(value, &mut |item| {
                    values.extend(item.as_str().and_then(|text| BASE64.decode(text).ok()));
                });
                values.sort_unstable();
                values.dedup();
                let mut shown: Vec<Value> = values.iter().map(|bytes| BASE64.encode(bytes).into()).collect();
                match shown.len() {
                    0 => {}
                    1 => self.keep(path.to_owned(), shown.remove(0)),
                    _ => self.keep(path.to_owned(), shown.into()),
                }
            }
            How::Shown(field) => {
                if !value.is_null() || field.null_value.is_some() {
                    self.keep(path.to_owned(), value.clone());
                }
            }
            How::Kept => {}
        }
    }

    fn malformed_points(&mut self, path: &str, value: &Value, field: &Field) {
        let options = ReadOptions { ignore_z: field.ignore_z, bring_back: true };
        let is_pair = value.as_array().is_some_and(|list| list.first().is_some_and(Value::is_number));
        let items = match value {
            Value::Array(list) if !is_pair => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        for item in items.iter().filter(|item| !item.is_null()) {
            if parse_points(item, &field.path, options).is_empty() {
                self.added.entry(path.to_owned()).or_default().push(item.clone());
            }
        }
    }

    /// Stores a value. If its path already has one, both become an array, with the earlier value first.
    fn keep(&mut self, path: String, value: Value) {
        let Some(present) = self.kept.get_mut(&path) else {
            self.kept.insert(path, value);
            return;
        };
        let before = std::mem::take(present);
        let list = |value| if let Value::Array(list) = value { list } else { vec![value] };
        *present = list(before).into_iter().chain(list(value)).collect();
    }
}

fn gather_objects<'v>(value: &'v Value, out: &mut Vec<&'v Map<String, Value>>) {
    match value {
        Value::Object(object) => out.push(object),
        Value::Array(list) => list.iter().for_each(|item| gather_objects(item, out)),
        _ => {}
    }
}

/// Visits every item of nested arrays except nulls.
pub(super) fn each_item(value: &Value, each: &mut dyn FnMut(&Value)) {
    match value {
        Value::Null => {}
        Value::Array(list) => list.iter().for_each(|item| each_item(item, each)),
        item => each(item),
    }
}

pub(super) fn is_too_long(field: &Field, item: &Value) -> bool {
    let Some(limit) = field.ignore_above else { return false };
    let text = OwnedScalar::from_json(item);
    text.borrow().text().encode_utf16().count() > limit as usize
}

/// Returns what malformed values are sorted by: Elasticsearch stores them with a byte for the type before
/// the bytes of the value.
fn malformed_rank(value: &Value) -> (u8, String) {
    match value {
        Value::String(text) => (1, text.clone()),
        Value::Number(_) => (0, String::new()),
        _ => (2, String::new()),
    }
}

/// Whether the column does not contain the value, because it is too long or malformed.
fn is_refused(field: &Field, item: &Value) -> bool {
    if is_too_long(field, item) {
        return true;
    }
    let scalar = OwnedScalar::from_json(item);
    field.ignore_malformed && (item.is_object() || check_scalar(field, scalar.borrow()).is_err())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::SourceMode;
    use crate::{Mapping, MappingSettings};

    #[track_caller]
    fn check(properties: Value, keep: Keep, source: Value, expected: Value) {
        let settings =
            MappingSettings { source_mode: SourceMode::Synthetic, keep, ..MappingSettings::default() };
        let body = json!({"dynamic": false, "properties": properties});
        let mapping = Mapping::parse(&body, &settings).expect("a mapping");
        let plan = mapping.synthetic().expect("synthetic");
        let residue = Residue::of(plan, source.as_object().expect("an object"));
        assert_eq!(residue.to_json(), expected);
        let read = Residue::from_bytes(&residue.to_bytes()).expect("reads its own bytes");
        assert_eq!(read.to_json(), expected);
    }

    #[test]
    fn only_what_columns_lack_is_kept() {
        let leaves = json!({"k": {"type": "keyword", "ignore_above": 3}, "l": {"type": "long", "ignore_malformed": true}, "t": {"type": "text"},
            "nd": {"type": "long", "doc_values": false}, "tk": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 3}}},
            "bin": {"type": "binary"}, "off": {"type": "object", "enabled": false}, "from": {"type": "keyword", "copy_to": "to"}, "to": {"type": "keyword"}});
        let none = |source, expected| check(leaves.clone(), Keep::None, source, expected);
        none(json!({"k": ["b", "a"], "l": [3, null], "tk": "x", "t": null}), json!({}));
        none(json!({"k": ["toolong", "a"]}), json!({"a": {"k": ["toolong"]}}));
        none(json!({"l": ["x", 1]}), json!({"a": {"l": ["x"]}}));
        none(json!({"t": ["z", "a"], "nd": [2, 1]}), json!({"k": {"t": ["z", "a"], "nd": [2, 1]}}));
        none(json!({"tk": ["dddd", "b"]}), json!({"a": {"tk": ["dddd"]}}));
        none(json!({"bin": ["Yg==", "YQ==", "Yg=="]}), json!({"k": {"bin": ["YQ==", "Yg=="]}}));
        none(
            json!({"off": {"q": [1, null]}, "new": [1], "gone": null}),
            json!({"k": {"new": [1], "off": {"q": [1, null]}}}),
        );
        none(json!({"from": "a", "to": "b"}), json!({"k": {"from": "a", "to": "b"}}));
    }

    #[test]
    fn objects_and_arrays() {
        let objects = json!({"o": {"properties": {"x": {"type": "long"}}}, "n": {"type": "nested", "properties": {"t": {"type": "text"}, "v": {"type": "long"}}},
            "all": {"type": "long", "synthetic_source_keep": "all"}, "l": {"type": "long"}});
        check(
            objects.clone(),
            Keep::None,
            json!({"o": [{"x": 1, "c": 1}, {"c": 2}], "n": [{"v": 1}, {"t": "a"}], "all": 3, "l": [2, 1]}),
            json!({"k": {"all": 3, "o.c": [1, 2]}, "n": {"n": [{}, {"k": {"n.t": "a"}}]}}),
        );
        check(
            objects,
            Keep::Arrays,
            json!({"o": [{"x": 1}], "n": {"v": [2, 1]}, "l": [2, 1]}),
            json!({"k": {"l": [2, 1], "o": [{"x": 1}]}, "n": {"n": [{"k": {"n.v": [2, 1]}}]}}),
        );
    }

    #[test]
    fn values_without_columns_are_kept_as_they_are_shown() {
        let leaves = json!({"r": {"type": "integer_range"}, "d": {"type": "date_range", "format": "yyyy-MM-dd"}, "f": {"type": "float_range"},
            "ip": {"type": "ip_range"}, "fl": {"type": "flattened", "null_value": "N"}, "t": {"type": "text"}, "k": {"type": "keyword", "store": true}, "nd": {"type": "long", "doc_values": false}});
        let none = |source, expected| check(leaves.clone(), Keep::None, source, expected);
        let kept = |source, shown: Value| none(source, json!({"k": shown}));
        kept(json!({"r": {"gt": 1, "lt": "5"}}), json!({"r": {"gte": 2, "lte": 4}}));
        kept(
            json!({"r": [{"gte": 5}, {"lt": 2}, {"gte": 5, "lte": null}]}),
            json!({"r": [{"gte": null, "lte": 1}, {"gte": 5, "lte": null}]}),
        );
        kept(
            json!({"d": {"gt": "2020-01-01", "lt": "2020-02-01"}}),
            json!({"d": {"gte": "2020-01-02", "lte": "2020-01-31"}}),
        );
        kept(json!({"f": {"gt": 1, "lte": 1.5}}), json!({"f": {"gte": 1.0000001, "lte": 1.5}}));
        kept(
            json!({"ip": ["10.1.0.0/16", {"lte": "::5"}]}),
            json!({"ip": [{"gte": "10.1.0.0", "lte": "10.1.255.255"}, {"gte": null, "lte": "::5"}]}),
        );
        kept(
            json!({"fl": {"b": 1, "a": {"c": ["z", "y", "z"]}, "a.c": true, "n": null}}),
            json!({"fl": {"a": {"c": ["true", "y", "z"]}, "b": "1", "n": "N"}}),
        );
        kept(
            json!({"t": [1, null, [true]], "k": ["b", "a", "b"]}),
            json!({"t": ["1", "true"], "k": ["b", "a", "b"]}),
        );
        kept(json!({"nd": null, "t": null}), json!({"nd": null}));
        none(json!({"fl": {}, "r": []}), json!({}));
    }

    #[test]
    fn updates_lose_nothing_of_earlier_documents() {
        let settings = MappingSettings { source_mode: SourceMode::Synthetic, ..MappingSettings::default() };
        let body = json!({"properties": {"x": {"type": "keyword"}, "y": {"type": "keyword"}}});
        let mapping = Mapping::parse(&body, &settings).expect("a mapping");
        let update = |x: Value| mapping.merge(&json!({"properties": {"x": x}}));
        let kept = update(json!({"type": "keyword", "synthetic_source_keep": "all"})).expect("merges");
        assert_eq!(kept.synthetic().map(|plan| plan.rebuilt().len()), Some(2));
        let copied = update(json!({"type": "keyword", "copy_to": "z"})).expect("merges");
        assert_eq!(copied.synthetic().map(|plan| plan.rebuilt().len()), Some(2));
        let error = update(json!({"type": "keyword", "copy_to": "y"})).expect_err("refused");
        assert!(error.reason.contains("[copy_to] to the present field [y]"), "{}", error.reason);
    }
}
