//! The order of buckets: "which bucket comes first?" Source: Elasticsearch's `InternalOrder`, `BucketOrder`, `AggregationPath`.

use std::collections::HashSet;

use limber_mapping::RequestError;
use serde_json::Value;

use super::options::Options;
use super::tree::{Aggregation, Kind};

/// What buckets are compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderBy {
    Count,
    Key,
    /// A sub-aggregation's value.
    Path(OrderPath),
}

/// `a>b.max`: single-bucket aggregations on the way, the last one's name, and which of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPath {
    pub text: String,
    pub names: Vec<String>,
    /// `max` in `x.max`; `None` for single-value metrics and document counts.
    pub value: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderKey {
    pub by: OrderBy,
    pub ascending: bool,
}

/// The comparisons to make, first one first. Ties fall to ascending keys, as Elasticsearch's do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketOrder {
    pub keys: Vec<OrderKey>,
}

impl BucketOrder {
    pub fn count_descending() -> BucketOrder {
        BucketOrder { keys: vec![OrderKey { by: OrderBy::Count, ascending: false }] }
    }

    pub fn key_ascending() -> BucketOrder {
        BucketOrder { keys: vec![OrderKey { by: OrderBy::Key, ascending: true }] }
    }

    pub fn is_key_ascending(&self) -> bool {
        matches!(self.keys.first(), Some(OrderKey { by: OrderBy::Key, ascending: true }))
    }

    /// Ordered by key in either direction.
    pub fn is_key(&self) -> bool {
        matches!(self.keys.first(), Some(OrderKey { by: OrderBy::Key, .. }))
    }

    pub fn is_count_descending(&self) -> bool {
        matches!(self.keys.first(), Some(OrderKey { by: OrderBy::Count, ascending: false }))
    }

    pub fn paths(&self) -> impl Iterator<Item = &OrderPath> {
        self.keys.iter().filter_map(|key| match &key.by {
            OrderBy::Path(path) => Some(path),
            _ => None,
        })
    }

    /// Reads the option `order`: an object or a list of objects of one member each.
    pub fn parse(options: &mut Options) -> Result<Option<BucketOrder>, RequestError> {
        let Some(value) = options.take("order") else { return Ok(None) };
        if !matches!(value, Value::Array(_) | Value::Object(_)) {
            return Err(options.wrong_type("order", &value));
        }
        let parts: Vec<&Value> = match &value {
            Value::Array(parts) => parts.iter().collect(),
            other => vec![other],
        };
        let mut keys = Vec::new();
        let mut seen = HashSet::new();
        for part in parts {
            let object = part.as_object().filter(|object| object.len() == 1);
            let Some((by, direction)) = object.and_then(|object| object.iter().next()) else {
                let reason = "Must specify at least one field for [order]";
                return Err(options.failed("order", RequestError::parsing(reason)));
            };
            let ascending = match direction.as_str().map(str::to_ascii_lowercase).as_deref() {
                Some("asc") => true,
                Some("desc") => false,
                _ => {
                    let shown = crate::json::scalar_text(direction).unwrap_or_default();
                    let reason = format!("Unknown order direction [{shown}]");
                    return Err(options.failed("order", RequestError::parsing(reason)));
                }
            };
            // What is equal by a key is so by the same key again.
            if !seen.insert(by.as_str()) {
                continue;
            }
            let by = match by.as_str() {
                "_count" => OrderBy::Count,
                "_key" => OrderBy::Key,
                path => OrderBy::Path(OrderPath::parse(path)),
            };
            keys.push(OrderKey { by, ascending });
        }
        Ok((!keys.is_empty()).then_some(BucketOrder { keys }))
    }

    /// Checks that every path begins with one of `subs`; on a shard, histograms refuse others in words of their own.
    pub fn check_on_shard(&self, subs: &[Aggregation]) -> Result<(), RequestError> {
        let wrong = self.paths().find_map(|path| Some((path, path.wrong_on_shard(subs)?)));
        let Some((OrderPath { text, .. }, reason)) = wrong else { return Ok(()) };
        let cause = RequestError::illegal_argument(reason.clone());
        Err(RequestError::new(
            400,
            "invalid_path",
            format!("Invalid aggregation order path [{text}]. {reason}"),
        )
        .caused_by(cause))
    }

    /// Checks that every path leads to a value of `subs`.
    pub fn check(&self, subs: &[Aggregation]) -> Result<(), RequestError> {
        self.paths().try_for_each(|path| path.check(subs))
    }
}

impl OrderPath {
    fn parse(text: &str) -> OrderPath {
        let mut names: Vec<String> = text.split('>').map(|name| name.trim().to_owned()).collect();
        let mut value = None;
        if let Some(last) = names.last_mut() {
            let bracketed = last.strip_suffix(']').and_then(|inside| inside.split_once('['));
            if let Some((name, key)) = bracketed.or_else(|| last.rsplit_once('.')) {
                (value, *last) = (Some(key.to_owned()), name.to_owned());
            }
        }
        OrderPath { text: text.to_owned(), names, value }
    }

    /// What a histogram's shard says about the path's first step.
    fn wrong_on_shard(&self, subs: &[Aggregation]) -> Option<String> {
        let name = self.names.first().map_or("", String::as_str);
        let Some(found) = subs.iter().find(|sub| sub.name == name) else {
            return Some(format!(
                "The provided aggregation [{name}] either does not exist, or is a pipeline aggregation and cannot be used to sort the \
                 buckets."
            ));
        };
        match (&found.kind, &self.value) {
            (Kind::Percentiles(percentiles), Some(value)) if !percentiles.has_point(value) => {
                Some(format!("Unknown metric name [{value}] on multi-value metrics aggregation [{name}]"))
            }
            _ => None,
        }
    }

    fn check(&self, subs: &[Aggregation]) -> Result<(), RequestError> {
        let invalid = |reason: String| {
            let cause = RequestError::illegal_argument(reason.clone());
            Err(RequestError::illegal_argument(format!(
                "Invalid aggregation order path [{}]. {reason}",
                self.text
            ))
            .caused_by(cause))
        };
        let mut level = subs;
        for (position, name) in self.names.iter().enumerate() {
            let Some(found) = level.iter().find(|sub| sub.name == *name) else {
                return invalid(format!("Cannot find aggregation named [{name}]"));
            };
            let is_last = position + 1 == self.names.len();
            match &found.kind {
                Kind::Filter(_) | Kind::Missing(_) if !is_last => level = &found.subs,
                Kind::Filter(_) | Kind::Missing(_) => return Ok(()),
                Kind::Metric(metric) if is_last => {
                    if metric.is_multi_value() && self.value.is_none() {
                        return invalid(
                            "Missing value key in [null] which refers to a multi-value metric aggregation"
                                .to_owned(),
                        );
                    }
                    return match metric.order_value_name(self.value.as_deref()) {
                        Ok(()) => Ok(()),
                        Err(reason) => invalid(reason),
                    };
                }
                Kind::Cardinality(_) if is_last => return Ok(()),
                Kind::Percentiles(percentiles) if is_last => {
                    return percentiles.order_value_name(self.value.as_deref()).or_else(invalid);
                }
                Kind::Own(definition) if definition.is_single_bucket() => {
                    if is_last {
                        return Ok(());
                    }
                    level = &found.subs;
                }
                Kind::Own(definition) if is_last => {
                    return definition.order_value_name(found, self.value.as_deref()).or_else(invalid);
                }
                _ => return invalid(format!("Can't sort a [{}] aggregation [{name}]", found.type_name)),
            }
        }
        invalid("The path is empty".to_owned())
    }
}
