//! The order of buckets. Source: Elasticsearch's `InternalOrder`, `BucketOrder`, `AggregationPath`.

use std::collections::HashSet;

use limber_mapping::RequestError;
use serde_json::Value;

use crate::aggregation::options::Options;
use crate::aggregation::tree::Aggregation;

/// The value by which buckets are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderBy {
    Count,
    Key,
    /// A sub-aggregation's value.
    Path(OrderPath),
}

/// A path such as `a>b.max`: the names of single-bucket aggregations, the name of the last aggregation, and
/// which of its values is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPath {
    pub text: String,
    pub names: Vec<String>,
    /// `max` in `x.max`; `None` for single-value metrics and document counts.
    pub value: Option<String>,
}

/// One comparison of buckets, and its direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderKey {
    pub by: OrderBy,
    pub ascending: bool,
}

/// The comparisons in order of precedence. Ties are broken by ascending key, as in Elasticsearch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketOrder {
    pub keys: Vec<OrderKey>,
}

impl BucketOrder {
    /// Orders by descending document count, ties by ascending key: the default of `terms`.
    pub fn count_descending() -> BucketOrder {
        BucketOrder { keys: vec![OrderKey { by: OrderBy::Count, ascending: false }] }
    }

    /// Orders by ascending key: the default of histograms.
    pub fn key_ascending() -> BucketOrder {
        BucketOrder { keys: vec![OrderKey { by: OrderBy::Key, ascending: true }] }
    }

    /// Whether buckets are ordered by ascending key alone.
    pub fn is_key_ascending(&self) -> bool {
        matches!(self.keys.first(), Some(OrderKey { by: OrderBy::Key, ascending: true }))
    }

    /// Whether buckets are ordered by key, in either direction.
    pub fn is_key(&self) -> bool {
        matches!(self.keys.first(), Some(OrderKey { by: OrderBy::Key, .. }))
    }

    /// Whether buckets are ordered by descending document count, ties by ascending key.
    pub fn is_count_descending(&self) -> bool {
        matches!(self.keys.first(), Some(OrderKey { by: OrderBy::Count, ascending: false }))
    }

    /// Returns the paths of the sub-aggregations whose values decide.
    pub fn paths(&self) -> impl Iterator<Item = &OrderPath> {
        self.keys.iter().filter_map(|key| match &key.by {
            OrderBy::Path(path) => Some(path),
            _ => None,
        })
    }

    /// Reads the option `order`: an object, or a list of objects, with one member each.
    pub fn parse(options: &mut Options) -> Result<Option<BucketOrder>, RequestError> {
        let Some(value) = options.take("order") else { return Ok(None) };
        if !matches!(value, Value::Array(_) | Value::Object(_)) {
            return Err(options.wrong_type("order", &value));
        }
        let parts: Vec<&Value> = match &value {
            Value::Array(parts) => parts.iter().collect(),
            other => vec![other],
        };
        if parts.is_empty() {
            let reason = "Index 0 out of bounds for length 0";
            let cause = RequestError::bad_request("index_out_of_bounds_exception", reason);
            return Err(options.failed("order", cause));
        }
        let mut keys = Vec::new();
        let mut seen = HashSet::new();
        for part in parts {
            // Elasticsearch uses the last member if there are several.
            let last = part.as_object().and_then(|object| object.iter().next_back());
            let Some((by, direction)) = last else {
                let reason = "Must specify at least one field for [order]";
                return Err(options.failed("order", RequestError::parsing(reason)));
            };
            let ascending = match direction.as_str().map(str::to_ascii_lowercase).as_deref() {
                Some("asc") => true,
                Some("desc") => false,
                _ => {
                    let shown = crate::values::json::scalar_text(direction).unwrap_or_default();
                    let reason = format!("Unknown order direction [{shown}]");
                    return Err(options.failed("order", RequestError::parsing(reason)));
                }
            };
            // A second comparison by the same key never decides anything.
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

    /// Checks every path against `subs`, with the error messages of a shard.
    pub fn check_on_shard(&self, subs: &[Aggregation]) -> Result<(), RequestError> {
        self.paths().try_for_each(|path| {
            path.check_on_shard(subs).map_err(|reason| {
                let cause = RequestError::illegal_argument(reason.clone());
                RequestError::bad_request("invalid_path", path.invalid(&reason)).caused_by(cause)
            })
        })
    }

    /// Checks every path against `subs`, with the error messages of the reduce phase.
    pub fn check(&self, subs: &[Aggregation]) -> Result<(), RequestError> {
        self.paths().try_for_each(|path| {
            path.check(subs).map_err(|reason| {
                let cause = RequestError::illegal_argument(reason.clone());
                RequestError::illegal_argument(path.invalid(&reason)).caused_by(cause)
            })
        })
    }
}

/// Which values of an aggregation its parent's buckets can be ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderValues {
    Nothing,
    /// Its document count.
    Documents,
    /// Its document count, where Elasticsearch's shards accept only `doc_count` or no name at all.
    FilteredDocuments,
    /// Its single value.
    One,
    /// Its values, chosen by name.
    Several,
}

impl OrderValues {
    /// Whether this is a single-bucket aggregation, which a path may lead through.
    pub fn are_documents(self) -> bool {
        matches!(self, OrderValues::Documents | OrderValues::FilteredDocuments)
    }
}

/// Whether an aggregation has a value of a given name. The error messages of a shard and of the reduce phase
/// differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameCheck {
    pub on_shard: Result<(), String>,
    pub in_reduce: Result<(), String>,
}

impl NameCheck {
    /// The name is known to shards and to the reduce phase.
    pub fn known() -> NameCheck {
        NameCheck { on_shard: Ok(()), in_reduce: Ok(()) }
    }

    /// Both refuse the name, with the same message.
    pub fn refused(reason: String) -> NameCheck {
        NameCheck { on_shard: Err(reason.clone()), in_reduce: Err(reason) }
    }

    /// The name is unknown; the reduce phase has a message of its own.
    pub fn unknown(aggregation: &str, name: &str, in_reduce: String) -> NameCheck {
        let on_shard =
            format!("Unknown metric name [{name}] on multi-value metrics aggregation [{aggregation}]");
        NameCheck { on_shard: Err(on_shard), in_reduce: Err(in_reduce) }
    }
}

/// Elasticsearch's message on a shard for a path that leads to nothing comparable.
const NO_VALUE: &str = "Buckets can only be sorted on a sub-aggregator path that is built out of zero or more single-bucket aggregations \
                        within the path and a final single-bucket or a metrics aggregation at the path end.";

impl Aggregation {
    fn order_values(&self) -> OrderValues {
        self.definition().map_or(OrderValues::Nothing, |definition| definition.order_values())
    }

    fn check_order_name(&self, name: &str) -> NameCheck {
        self.definition()
            .map_or_else(NameCheck::known, |definition| definition.check_order_name(&self.name, name))
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

    fn invalid(&self, reason: &str) -> String {
        format!("Invalid aggregation order path [{}]. {reason}", self.text)
    }

    /// Checks the path; the error is the message of a shard.
    fn check_on_shard(&self, subs: &[Aggregation]) -> Result<(), String> {
        let mut level = subs;
        for (position, name) in self.names.iter().enumerate() {
            let Some(found) = level.iter().find(|sub| sub.name == *name && !sub.is_pipeline()) else {
                let name = self.text.split('>').nth(position).map_or(name.as_str(), str::trim);
                return Err(format!(
                    "The provided aggregation [{name}] either does not exist, or is a pipeline aggregation and cannot be used to sort \
                     the buckets."
                ));
            };
            let values = found.order_values();
            if position + 1 < self.names.len() {
                if !values.are_documents() {
                    return Err(format!("{NO_VALUE} [{name}] is not single-bucket."));
                }
                level = &found.subs;
                continue;
            }
            return match (values, self.value.as_deref()) {
                (OrderValues::Nothing, _) => Err(NO_VALUE.to_owned()),
                (OrderValues::Documents | OrderValues::FilteredDocuments, None | Some("doc_count"))
                | (OrderValues::One, None | Some("value")) => Ok(()),
                (OrderValues::FilteredDocuments, _) => Err(NO_VALUE.to_owned()),
                (OrderValues::Documents, _) => Err(format!(
                    "Ordering on a single-bucket aggregation can only be done on its doc_count. Either drop the key (a la \"{name}\") or \
                     change it to \"doc_count\" (a la \"{name}.doc_count\") or \"key\"."
                )),
                (OrderValues::One, _) => Err(format!(
                    "Ordering on a single-value metrics aggregation can only be done on its value. Either drop the key (a la \"{name}\") \
                     or change it to \"value\" (a la \"{name}.value\")"
                )),
                (OrderValues::Several, None) => {
                    Err("When ordering on a multi-value metrics aggregation a metric name must be specified."
                        .to_owned())
                }
                (OrderValues::Several, Some(value)) => found.check_order_name(value).on_shard,
            };
        }
        Err(NO_VALUE.to_owned())
    }

    /// Checks the path; the error is the message of the reduce phase.
    fn check(&self, subs: &[Aggregation]) -> Result<(), String> {
        let mut level = subs;
        for (position, name) in self.names.iter().enumerate() {
            let Some(found) = level.iter().find(|sub| sub.name == *name) else {
                return Err(format!("Cannot find aggregation named [{name}]"));
            };
            let values = found.order_values();
            if let Some(next) = self.names.get(position + 1) {
                match values {
                    OrderValues::Documents | OrderValues::FilteredDocuments => level = &found.subs,
                    OrderValues::Nothing => {
                        return Err(format!(
                            "Can't sort by a descendant of a [{}] aggregation [{next}]",
                            found.type_name
                        ));
                    }
                    _ => {
                        return Err(format!(
                            "Metrics aggregations cannot have sub-aggregations (at [>{next}]"
                        ));
                    }
                }
                continue;
            }
            return match (values, self.value.as_deref()) {
                (OrderValues::Nothing, _) => {
                    Err(format!("Can't sort a [{}] aggregation [{name}]", found.type_name))
                }
                (OrderValues::Documents | OrderValues::FilteredDocuments, None | Some("doc_count"))
                | (OrderValues::One, None | Some("value")) => Ok(()),
                (OrderValues::Documents | OrderValues::FilteredDocuments, Some(value)) => Err(format!(
                    "Unknown value key [{value}] for single-bucket aggregation [{name}]. Either use [doc_count] as key or drop the key all \
                     together."
                )),
                (OrderValues::One, Some(value)) => Err(format!(
                    "Unknown value key [{value}] for single-value metric aggregation [{name}]. Either use [value] as key or drop the key \
                     all together"
                )),
                (OrderValues::Several, None) => {
                    Err("Missing value key in [null] which refers to a multi-value metric aggregation"
                        .to_owned())
                }
                (OrderValues::Several, Some(value)) => found.check_order_name(value).in_reduce,
            };
        }
        Err("The path is empty".to_owned())
    }
}
