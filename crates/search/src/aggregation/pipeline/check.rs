//! Validates the positions and the paths of pipeline aggregations. Source: Elasticsearch's
//! `PipelineAggregationBuilder.ValidationContext`,
//! `AggregatorFactories.Builder.resolvePipelineAggregatorOrder`.

use limber_mapping::RequestError;

use super::super::tree::{Aggregation, Kind};
use super::path::{BucketsPath, find};

/// Values that every bucket has.
const OWN_VALUES: &[&str] = &["_count", "_key", "_bucket_count"];

/// Largest number of pipeline aggregations on one level; each of them runs in every parent bucket.
const PIPELINE_COUNT_MAX: usize = 200;

/// Checks the pipeline aggregations of a request. All errors are reported together
/// (`action_request_validation_exception`).
pub fn check(list: &[Aggregation]) -> Result<(), RequestError> {
    let mut faults = Vec::new();
    level(list, None, &mut faults);
    if faults.is_empty() { Ok(()) } else { Err(RequestError::validation(faults)) }
}

fn level(list: &[Aggregation], parent: Option<&Aggregation>, faults: &mut Vec<String>) {
    let pipelines = || {
        list.iter().filter_map(|own| match &own.kind {
            Kind::Pipeline(pipeline) => Some((own, pipeline)),
            _ => None,
        })
    };
    if pipelines().count() > PIPELINE_COUNT_MAX {
        faults.push(format!("more than {PIPELINE_COUNT_MAX} pipeline aggregations beside one another"));
        return;
    }
    let unresolved = pipelines()
        .flat_map(|(_, pipeline)| pipeline.paths())
        .find_map(|path| missing(path, list))
        .or_else(|| cycle(list));
    let is_resolved = unresolved.is_none();
    faults.extend(unresolved);
    for aggregation in list {
        level(&aggregation.subs, Some(aggregation), faults);
    }
    if is_resolved {
        faults.extend(pipelines().filter_map(|(own, pipeline)| pipeline.check(own, parent, list)));
    }
}

/// Returns the first element of a path that leads nowhere.
fn missing(path: &BucketsPath, list: &[Aggregation]) -> Option<String> {
    let mut level = list;
    for (place, step) in path.elements.iter().enumerate() {
        if OWN_VALUES.contains(&step.name.as_str()) {
            return None;
        }
        let Some((found, _)) = find(level, &step.name) else {
            return Some(match place {
                0 => format!("No aggregation found for path [{}]", path.text),
                _ => format!("No aggregation [{}] found for path [{}]", step.name, path.text),
            });
        };
        level = &level[found].subs;
    }
    None
}

/// Returns a pipeline aggregation that depends on itself, directly or indirectly.
fn cycle(list: &[Aggregation]) -> Option<String> {
    let pipeline = |place: usize| match &list[place].kind {
        Kind::Pipeline(pipeline) => Some(pipeline),
        _ => None,
    };
    let reads = |place: usize| -> Vec<usize> {
        let paths = pipeline(place).map(|pipeline| pipeline.paths()).unwrap_or_default();
        paths
            .iter()
            .filter_map(|path| find(list, &path.elements.first()?.name).map(|(found, _)| found))
            .collect()
    };
    for start in 0..list.len() {
        let (mut seen, mut next) = (vec![false; list.len()], reads(start));
        while let Some(place) = next.pop() {
            if place == start {
                return Some(format!(
                    "Cyclical dependency found with pipeline aggregator [{}]",
                    list[start].name
                ));
            }
            if !std::mem::replace(&mut seen[place], true) {
                next.extend(reads(place));
            }
        }
    }
    None
}

/// Refuses parents whose buckets are not sequential.
pub fn sequential_parent(own: &Aggregation, parent: Option<&Aggregation>) -> Option<String> {
    let kind = own.type_name;
    let name = &own.name;
    let Some(parent) = parent else {
        return Some(format!(
            "{kind} aggregation [{name}] must have a histogram, date_histogram or auto_date_histogram as parent but doesn't have a \
             parent"
        ));
    };
    let min_doc_count = parent.definition().and_then(|definition| definition.histogram_min_doc_count());
    let Some(min_doc_count) = min_doc_count else {
        return Some(format!(
            "{kind} aggregation [{name}] must have a histogram, date_histogram or auto_date_histogram as parent"
        ));
    };
    (min_doc_count > 0)
        .then(|| format!("parent histogram of {kind} aggregation [{name}] must have min_doc_count of 0"))
}

/// Refuses a position at the top level.
pub fn any_parent(own: &Aggregation, parent: Option<&Aggregation>) -> Option<String> {
    let (kind, name) = (own.type_name, &own.name);
    parent
        .is_none()
        .then(|| format!("{kind} aggregation [{name}] must be declared inside of another aggregation"))
}

/// Refuses paths that do not contain a multi-bucket aggregation.
pub fn several_buckets(own: &Aggregation, path: &BucketsPath, siblings: &[Aggregation]) -> Option<String> {
    let mut level = siblings;
    let mut found = None;
    for step in &path.elements {
        let Some((place, _)) = find(level, &step.name) else { break };
        found = Some(&level[place]);
        if has_several_buckets(&level[place]) && step.key.is_none() {
            return None;
        }
        // A path can only go on through a single-bucket aggregation, or through one bucket of several.
        let is_single = level[place].definition().is_some_and(|definition| definition.is_single_bucket());
        if step.key.is_none() && !is_single {
            break;
        }
        level = &level[place].subs;
    }
    Some(format!(
        "Unable to find unqualified multi-bucket aggregation in buckets_path. Path must include a multi-bucket aggregation for aggregation \
         [{}] found :{} for buckets path: {}",
        own.name,
        found.map_or_else(String::new, builder_name),
        path.text
    ))
}

/// Refuses paths that do not lead to the document counts of buckets. `fault` makes the message for the name
/// of the aggregation.
pub fn bucket_counts(
    own: &Aggregation,
    path: &BucketsPath,
    siblings: &[Aggregation],
    fault: impl Fn(&str) -> String,
) -> Option<String> {
    let is_count = path.text.ends_with("_count");
    let other = || (!is_count).then(|| format!("buckets_path {}", fault(&own.name)));
    several_buckets(own, path, siblings).or_else(other)
}

/// Whether an aggregation is multi-bucket.
pub fn has_several_buckets(aggregation: &Aggregation) -> bool {
    aggregation.definition().is_some_and(|definition| definition.has_several_buckets())
}

/// Returns the name of the Java class that builds an aggregation of this type.
fn builder_name(aggregation: &Aggregation) -> String {
    let camel: String = aggregation
        .type_name
        .split('_')
        .map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_ascii_uppercase() + rest
        })
        .collect();
    let package = match aggregation.takes_subs() {
        true => format!("bucket.{}", aggregation.type_name.replace('_', "")),
        false => "metrics".to_owned(),
    };
    format!("org.elasticsearch.search.aggregations.{package}.{camel}AggregationBuilder")
}
