//! `buckets_path`: finds the value that a path leads to. Source: Elasticsearch's `AggregationPath`,
//! `BucketHelpers.resolveBucketValue`.

use limber_mapping::RequestError;

use super::super::answer::partial::{Bucket, Partial};
use super::super::bind::Shape;
use super::super::definition::Definition;
use super::super::tree::Aggregation;
use super::definition::Enclosing;
use super::options::GapPolicy;
use super::rows::{Row, row_count, rows};
use crate::error::{Result, check_request};

/// One element of a path: `name`, `name['key']`, or at the end `name.value`. At the end, `name['key'].value`
/// means the same as `name['key']>value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// The name as written, without brackets.
    pub name: String,
    pub key: Option<String>,
}

/// A `buckets_path`, divided at its separators: the names of aggregations, and the value of the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketsPath {
    pub text: String,
    pub elements: Vec<Element>,
}

impl BucketsPath {
    /// Parses a path such as `a>b.value` or `a['key']>b`.
    pub fn parse(text: &str) -> BucketsPath {
        let element = |step: &str| {
            let step = step.trim();
            match step.strip_suffix(']').and_then(|inside| inside.split_once('[')) {
                Some((name, key)) => {
                    let key = key.trim_matches(['\'', '"']);
                    Element { name: name.to_owned(), key: Some(key.to_owned()) }
                }
                None => Element { name: step.to_owned(), key: None },
            }
        };
        let mut elements: Vec<Element> = Vec::new();
        for step in text.split('>') {
            let (keyed, value) = match step.split_once("'].") {
                Some((keyed, value)) => (format!("{keyed}']"), Some(value)),
                None => (step.to_owned(), None),
            };
            elements.push(element(&keyed));
            elements.extend(value.map(|value| Element { name: value.trim().to_owned(), key: None }));
        }
        BucketsPath { text: text.to_owned(), elements }
    }

    /// Returns the options of the sub-aggregation of type `T` that the path names, and its place among the
    /// sub-aggregations of `own`. `wanted` describes the type in the error.
    ///
    /// # Errors
    /// `aggregation_execution_exception` if the path leads to anything else.
    pub fn request<'a, T: Definition>(&self, own: &'a Aggregation, wanted: &str) -> Result<(usize, &'a T)> {
        let place = match self.elements.as_slice() {
            [only] => find(&own.subs, &only.name).map(|(place, _)| place),
            _ => None,
        };
        let found = place.and_then(|place| Some((place, own.subs[place].request::<T>()?)));
        found.ok_or_else(|| {
            let (path, at) = (&self.text, &own.name);
            let reason = format!("buckets_path must reference {wanted}, got: [{path}] at aggregation [{at}]");
            RequestError::bad_request("aggregation_execution_exception", reason).into()
        })
    }

    /// Whether the path is `_count`, the document count of the bucket itself.
    pub fn is_count(&self) -> bool {
        self.text == "_count"
    }
}

fn place_prefix(step: &str, name: &str) -> bool {
    step.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

/// Finds the aggregation that an element names, and which of its values is meant. Names may contain dots.
pub fn find<'s>(list: &[Aggregation], step: &'s str) -> Option<(usize, Option<&'s str>)> {
    if let Some(place) = list.iter().position(|aggregation| aggregation.name == step) {
        return Some((place, None));
    }
    let named = |aggregation: &Aggregation| place_prefix(step, &aggregation.name);
    let longest =
        (0..list.len()).filter(|&place| named(&list[place])).max_by_key(|&place| list[place].name.len())?;
    Some((longest, Some(&step[list[longest].name.len() + 1..])))
}

/// Returns the values of all buckets of the pipeline's parent; NaN if a bucket has none.
pub fn values_of(
    path: &BucketsPath,
    gaps: GapPolicy,
    work: &Enclosing<'_>,
    partial: &Partial,
) -> Result<Vec<f64>> {
    let (own, shape) = (work.aggregation, work.shape);
    let value = |row: &Row<'_>| {
        check_request()?;
        let value = value_of(path, gaps, (&own.subs, &shape.subs), row, &own.name)?;
        Ok(value.unwrap_or(f64::NAN))
    };
    rows(own, shape, partial)?.iter().map(value).collect()
}

/// Returns a bucket's value under a gap policy. NaN is a gap; `None` means that the path leads nowhere here.
pub fn value_of(
    path: &BucketsPath,
    gaps: GapPolicy,
    (list, shapes): (&[Aggregation], &[Shape]),
    row: &Row<'_>,
    enclosing: &str,
) -> Result<Option<f64>> {
    if path.is_count() {
        return Ok(Some(row.doc_count as f64));
    }
    if path.text == "_key" {
        return Ok(Some(gaps.fill(row.key, false)));
    }
    let value = number_at(&path.elements, (list, shapes), row.subs, enclosing)?;
    Ok(value.map(|value| gaps.fill(value, row.doc_count == 0)))
}

/// Returns the value that a path leads to from the results of one bucket.
pub fn number_at(
    steps: &[Element],
    (list, shapes): (&[Aggregation], &[Shape]),
    partials: &[Partial],
    enclosing: &str,
) -> Result<Option<f64>> {
    let Some((step, rest)) = steps.split_first() else { return Err(wrong("Bucket", enclosing)) };
    let Some((place, value)) = find(list, &step.name) else { return Ok(None) };
    let (own, shape) = (&list[place], &shapes[place]);
    let (Some(partial), below) = (partials.get(place), (own.subs.as_slice(), shape.subs.as_slice())) else {
        return Ok(None);
    };
    // `stats[avg]` means the same as `stats.avg`.
    let is_metric = !own.takes_subs();
    let value = if is_metric { value.or(step.key.as_deref()) } else { value };
    if rest.is_empty() {
        if value == Some("_bucket_count") {
            return Ok(Some(row_count(partial) as f64));
        }
        return match partial {
            Partial::Absent => Ok(None),
            _ => number(own, partial, value).map(Some),
        };
    }
    if let Some(bucket) = single(partial) {
        return match rest {
            [last] if last.name == "_count" => Ok(Some(bucket.doc_count as f64)),
            _ => number_at(rest, below, &bucket.subs, &own.name),
        };
    }
    if rest.len() == 1 && rest[0].name == "_bucket_count" {
        return Ok(Some(row_count(partial) as f64));
    }
    let Some(key) = &step.key else { return Err(wrong("Object[]", &own.name)) };
    let mut found = None;
    for row in rows(own, shape, partial)? {
        if row.text()? == *key {
            found = Some(row);
            break;
        }
    }
    match (found, rest) {
        (None, _) => Ok(None),
        (Some(row), [last]) if last.name == "_count" => Ok(Some(row.doc_count as f64)),
        (Some(row), rest) => number_at(rest, below, row.subs, &own.name),
    }
}

/// Returns the only bucket of a single-bucket aggregation.
pub fn single(partial: &Partial) -> Option<&Bucket> {
    match partial {
        Partial::Single(bucket) => Some(bucket),
        Partial::Own(finding) => finding.single(),
        _ => None,
    }
}

fn number(own: &Aggregation, partial: &Partial, value: Option<&str>) -> Result<f64> {
    let found = match (partial, own.definition()) {
        (Partial::Single(bucket), _) if value == Some("_count") => Some(bucket.doc_count as f64),
        (Partial::Simple(made), _) => Some(made.number(value).unwrap_or(f64::NAN)),
        (Partial::Pipeline(made), _) => Some(made.number(value).unwrap_or(f64::NAN)),
        (Partial::Absent, _) | (_, None) => Some(f64::NAN),
        (partial, Some(definition)) => {
            definition.check_number(own, value)?;
            definition.number(partial, value)
        }
    };
    let name = || own.definition().map_or("Object[]", |definition| definition.java_name(partial, value));
    found.ok_or_else(|| wrong(name(), &own.name))
}

/// Elasticsearch's error for a path that does not lead to a number.
pub fn wrong(found: &str, at: &str) -> crate::error::Error {
    RequestError::illegal_argument(format!(
        "buckets_path must reference either a number value or a single value numeric metric aggregation, got: [{found}] at aggregation [{at}]"
    ))
    .into()
}
