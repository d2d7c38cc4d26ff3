//! How documents are grouped and groups become documents: `pivot` and `latest`.

use limber_mapping::{ObjectParser, RequestError};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::config::TransformConfig;
use super::document::{group_id, group_keys, put, value_of};
use crate::api::Result;

/// The name of the composite aggregation.
const COMPOSITE: &str = "_transform";
const NEWEST: &str = "_latest";
/// Aggregations that a group may have: those in Elasticsearch's `TransformAggregations` that Limber supports.
const AGGREGATIONS: &[&str] = &[
    "avg",
    "boxplot",
    "bucket_script",
    "bucket_selector",
    "cardinality",
    "extended_stats",
    "filter",
    "geo_bounds",
    "geo_centroid",
    "max",
    "median_absolute_deviation",
    "min",
    "missing",
    "percentile_ranks",
    "percentiles",
    "range",
    "rare_terms",
    "scripted_metric",
    "stats",
    "sum",
    "terms",
    "top_metrics",
    "value_count",
    "weighted_avg",
];
/// Largest number of groups and aggregations of a pivot: as many aggregations as a search may have.
const NAMES_MAX: usize = 5_000;
/// Largest number of levels of a group's document. A mapping has at most 20, unless its index says otherwise.
const LEVELS_MAX: usize = 50;
const GROUPS: &[&str] = &["terms", "histogram", "date_histogram", "geotile_grid"];

/// Number of characters of a name that is too long that its refusal shows.
const SHOWN_CHARS: usize = 100;

/// How groups are formed and what is computed for each.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Pivot {
        /// Name and composite source, in the order of the request.
        group_by: Vec<(String, Value)>,
        aggregations: Map<String, Value>,
    },
    Latest {
        unique_key: Vec<String>,
        sort: String,
    },
}

impl Default for Shape {
    fn default() -> Shape {
        Shape::Latest { unique_key: Vec::new(), sort: String::new() }
    }
}

/// One page of groups.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Ids and documents.
    pub documents: Vec<(String, Value)>,
    /// Number of source documents in these groups.
    pub source_count: u64,
    /// The key after which the next page begins; `None` on the last page.
    pub after: Option<Value>,
}

fn refused(reason: String) -> RequestError {
    RequestError::bad_request("x_content_parse_exception", reason)
}

impl Shape {
    pub(super) fn pivot(body: &Value) -> Result<Shape> {
        let members = body.as_object().ok_or_else(|| refused("[pivot] is an object".to_owned()))?;
        let (mut group_by, mut aggregations) = (Vec::new(), None);
        for (key, value) in members {
            match key.as_str() {
                "group_by" => {
                    for (name, source) in value.as_object().into_iter().flatten() {
                        check_group(name, source)?;
                        group_by.push((name.clone(), source.clone()));
                    }
                }
                "aggregations" | "aggs" => aggregations = value.as_object(),
                other => {
                    return Err(ObjectParser::new("data_frame_transform_pivot").unknown(other));
                }
            }
        }
        let aggregations = aggregations.filter(|aggregations| !aggregations.is_empty()).ok_or_else(|| {
            RequestError::illegal_argument(
                "Required one of fields [aggregations, aggs], but none were specified.",
            )
        })?;
        if group_by.is_empty() {
            return Err(RequestError::illegal_argument("Required [group_by]"));
        }
        let mut count = group_by.len();
        for (name, _) in &group_by {
            check_levels(name, 0)?;
        }
        check_aggregations(aggregations, 0, &mut count)?;
        check_names(group_by.iter().map(|(name, _)| name).chain(aggregations.keys()))?;
        Ok(Shape::Pivot { group_by, aggregations: aggregations.clone() })
    }

    pub(super) fn latest(body: &Value) -> Result<Shape> {
        let members = body.as_object().ok_or_else(|| refused("[latest] is an object".to_owned()))?;
        let (mut unique_key, mut sort) = (Vec::new(), String::new());
        for (key, value) in members {
            match key.as_str() {
                "unique_key" => {
                    let keys = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                    unique_key.extend(keys.map(str::to_owned));
                }
                "sort" => sort = value.as_str().unwrap_or_default().to_owned(),
                other => return Err(ObjectParser::new("latest_config").unknown(other)),
            }
        }
        let invalid =
            |what: &str| Err(RequestError::validation([format!("latest.{what} must be non-empty")]));
        match (unique_key.is_empty(), sort.is_empty()) {
            (true, _) => invalid("unique_key"),
            (_, true) => invalid("sort"),
            _ => Ok(Shape::Latest { unique_key, sort }),
        }
    }

    /// Returns the search for the page of groups after `after`.
    pub(crate) fn page_request(
        &self,
        config: &TransformConfig,
        query: Value,
        size: u64,
        after: Option<&Value>,
    ) -> Value {
        let (sources, aggregations) = match self {
            Shape::Pivot { group_by, aggregations } => {
                let source = |(name, source): &(String, Value)| json!({ name.as_str(): dated(source) });
                (group_by.iter().map(source).collect::<Vec<_>>(), Value::Object(aggregations.clone()))
            }
            Shape::Latest { unique_key, sort } => {
                let source =
                    |key: &String| json!({ key.as_str(): {"terms": {"field": key, "missing_bucket": true}} });
                let newest = json!({ NEWEST: {"top_hits": {"size": 1, "sort": [{ sort.as_str(): {"order": "desc"} }]}} });
                (unique_key.iter().map(source).collect(), newest)
            }
        };
        let mut composite = json!({ "size": size, "sources": sources });
        if let Some(after) = after {
            composite["after"] = after.clone();
        }
        let mut body = json!({
            "size": 0, "track_total_hits": false, "query": query,
            "aggs": { COMPOSITE: {"composite": composite, "aggs": aggregations} },
        });
        if let Some(mappings) = &config.runtime_mappings {
            body["runtime_mappings"] = mappings.clone();
        }
        body
    }

    /// Makes the documents of a page from the response.
    pub(crate) fn page(&self, aggregations: &Value) -> Page {
        let composite = &aggregations[COMPOSITE];
        let mut page = Page::default();
        for bucket in composite["buckets"].as_array().into_iter().flatten() {
            page.source_count += bucket["doc_count"].as_u64().unwrap_or(0);
            let keys = group_keys(&bucket["key"]);
            let document = match self {
                Shape::Pivot { group_by, aggregations } => {
                    let mut document = json!({});
                    for ((name, _), (_, key)) in group_by.iter().zip(&keys) {
                        put(&mut document, name, key.clone());
                    }
                    for (name, definition) in aggregations {
                        if let Some(value) = value_of(definition, &bucket[name]) {
                            put(&mut document, name, value);
                        }
                    }
                    document
                }
                Shape::Latest { .. } => bucket[NEWEST]["hits"]["hits"][0]["_source"].clone(),
            };
            page.documents.push((group_id(&keys), document));
        }
        page.after = composite.get("after_key").filter(|_| !page.documents.is_empty()).cloned();
        page
    }
}

/// Adds a format, so that dates are returned as strings.
fn dated(source: &Value) -> Value {
    let mut source = source.clone();
    if let Some(histogram) = source.get_mut("date_histogram").and_then(Value::as_object_mut) {
        histogram.entry("format").or_insert_with(|| "strict_date_time".into());
    }
    source
}

fn check_group(name: &str, source: &Value) -> Result<()> {
    let known = source.as_object().and_then(|source| source.keys().next());
    match known {
        Some(kind) if GROUPS.contains(&kind.as_str()) => Ok(()),
        Some(kind) => Err(RequestError::illegal_argument(format!("invalid grouping type: {kind}"))),
        None => Err(refused(format!("[data_frame_transform_group] the group [{name}] is an object"))),
    }
}

/// Checks the types of aggregations, and that they are not too many, nor their values too deep within a
/// document. `above` is the level at which they are, and `count` the number of names so far.
fn check_aggregations(aggregations: &Map<String, Value>, above: usize, count: &mut usize) -> Result<()> {
    *count += aggregations.len();
    if *count > NAMES_MAX {
        return Err(RequestError::illegal_argument(format!(
            "[pivot] has more than [{NAMES_MAX}] groups and aggregations"
        )));
    }
    for (name, definition) in aggregations {
        work::check_beyond_deadline()?;
        let level = check_levels(name, above)?;
        let members = definition.as_object().into_iter().flatten();
        for (kind, body) in members {
            match kind.as_str() {
                "aggs" | "aggregations" => {
                    check_aggregations(body.as_object().unwrap_or(&Map::new()), level, count)?;
                }
                "meta" => {}
                known if AGGREGATIONS.contains(&known) => {}
                other => {
                    return Err(RequestError::bad_request(
                        "status_exception",
                        format!("Unsupported aggregation type [{other}]"),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Returns the level of a value with this name in an object at level `above`.
///
/// # Errors
/// It is more than [`LEVELS_MAX`].
fn check_levels(name: &str, above: usize) -> Result<usize> {
    let level = above + name.split('.').count();
    if level > LEVELS_MAX {
        let start: String = name.chars().take(SHOWN_CHARS).collect();
        return Err(RequestError::validation([format!(
            "field [{start}] has more than [{LEVELS_MAX}] levels"
        )]));
    }
    Ok(level)
}

/// Checks that no two names are the same field, and that none is an object around another.
fn check_names<'n>(names: impl Iterator<Item = &'n String>) -> Result<()> {
    let mut names: Vec<&String> = names.collect();
    // Sorted by their parts, an object comes directly before what is in it.
    names.sort_unstable_by(|one, other| one.split('.').cmp(other.split('.')));
    for pair in names.windows(2) {
        let (name, next) = (pair[0], pair[1]);
        let invalid = |reason: String| Err(RequestError::validation([reason]));
        match next.strip_prefix(name.as_str()) {
            Some("") => return invalid(format!("duplicate field [{name}] detected")),
            Some(rest) if rest.starts_with('.') => {
                return invalid(format!("field [{name}] cannot be both an object and a field"));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_become_documents() {
        let pivot = json!({
            "group_by": {"user.id": {"terms": {"field": "user"}}, "day": {"date_histogram": {"field": "t", "calendar_interval": "1d"}}},
            "aggs": {"sum": {"sum": {"field": "n"}}, "p": {"percentiles": {"field": "n", "percents": [50, 99.5]}}},
        });
        let shape = Shape::pivot(&pivot).expect("a pivot");
        let page = shape.page(&json!({ COMPOSITE: {"after_key": {"user.id": "a", "day": 0}, "buckets": [
            {"key": {"user.id": "a", "day": 0}, "doc_count": 3, "sum": {"value": 6.0}, "p": {"values": {"50.0": 1.0, "99.5": 2.0}}},
        ]}}));
        assert_eq!(page.source_count, 3);
        assert_eq!(
            page.documents[0].1,
            json!({"user": {"id": "a"}, "day": 0, "sum": 6.0, "p": {"50": 1.0, "99_5": 2.0}})
        );
        assert!(
            Shape::pivot(&json!({"group_by": {"a": {"terms": {}}}, "aggs": {"a": {"sum": {}}}})).is_err()
        );
        assert!(
            Shape::pivot(&json!({"group_by": {"a": {"terms": {}}}, "aggs": {"b": {"top_hits": {}}}}))
                .is_err()
        );
    }

    #[test]
    fn names_are_checked() {
        let check = |names: &[&str], expected: Option<&str>| {
            let aggregations: Map<String, Value> =
                names[1..].iter().map(|name| ((*name).to_owned(), json!({"sum": {"field": "n"}}))).collect();
            let refusal =
                Shape::pivot(&json!({"group_by": {names[0]: {"terms": {}}}, "aggs": aggregations})).err();
            let reason = refusal.map(|error| error.reason);
            assert_eq!(reason.is_some(), expected.is_some(), "{names:?}: {reason:?}");
            assert!(reason.unwrap_or_default().contains(expected.unwrap_or_default()), "{names:?}");
        };
        check(&["a", "a-b", "b.a", "b.b", "ab"], None);
        check(&["a", "a-b", "a.b"], Some("field [a] cannot be both an object and a field"));
        check(&["a.b", "c", "a"], Some("field [a] cannot be both an object and a field"));
        check(&["a", "b", "a"], Some("duplicate field [a] detected"));
        check(&["a", &"b.".repeat(LEVELS_MAX)], Some("levels"));
        check(&["a", &"b".repeat(2 * LEVELS_MAX)], None);
        let mut inner = json!({"sum": {"field": "n"}});
        for _ in 0..10 {
            inner = json!({"filter": {"match_all": {}}, "aggs": {"a.b.c.d.e": inner}});
        }
        assert!(Shape::pivot(&json!({"group_by": {"a": {"terms": {}}}, "aggs": {"b": inner}})).is_err());
        let many: Map<String, Value> =
            (0..=NAMES_MAX).map(|n| (format!("n{n}"), json!({"sum": {"field": "n"}}))).collect();
        assert!(Shape::pivot(&json!({"group_by": {"a": {"terms": {}}}, "aggs": many})).is_err());
    }
}
