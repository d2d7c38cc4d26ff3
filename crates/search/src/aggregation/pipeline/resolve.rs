//! Runs the pipeline aggregations, innermost first. Source: Elasticsearch's
//! `InternalAggregation.reducePipelines`.

use std::collections::HashMap;

use super::super::answer::partial::Partial;
use super::super::bind::Shape;
use super::super::tree::{Aggregation, Kind};
use super::definition::{Enclosing, Level, Pipeline};
use super::path::{BucketsPath, find};
use super::rows::subs_mut;
use crate::error::{Result, check_request};

/// Computes the results of all pipeline aggregations in the answer.
pub fn resolve(list: &[Aggregation], shapes: &[Shape], partials: &mut [Partial]) -> Result<()> {
    if !has_pipelines(list) {
        return Ok(());
    }
    level(list, shapes, partials)?;
    for (place, pipeline) in ordered(list).into_iter().filter(|(_, pipeline)| pipeline.is_beside()) {
        let made = pipeline.beside(&Level { list, shapes, partials })?;
        partials[place] = made;
    }
    Ok(())
}

fn has_pipelines(list: &[Aggregation]) -> bool {
    list.iter()
        .any(|aggregation| matches!(aggregation.kind, Kind::Pipeline(_)) || has_pipelines(&aggregation.subs))
}

/// Runs the pipelines inside the aggregations of one level, in one bucket.
fn level(list: &[Aggregation], shapes: &[Shape], partials: &mut [Partial]) -> Result<()> {
    for ((aggregation, shape), partial) in list.iter().zip(shapes).zip(partials) {
        check_request()?;
        if has_pipelines(&aggregation.subs) {
            inside(aggregation, shape, partial)?;
        }
    }
    Ok(())
}

fn inside(own: &Aggregation, shape: &Shape, partial: &mut Partial) -> Result<()> {
    for subs in subs_mut(partial) {
        check_request()?;
        level(&own.subs, &shape.subs, subs)?;
    }
    for (place, pipeline) in ordered(&own.subs) {
        if !pipeline.is_beside() {
            pipeline.over_buckets(&Enclosing { aggregation: own, shape, place }, partial)?;
            continue;
        }
        for subs in subs_mut(partial) {
            check_request()?;
            let made = pipeline.beside(&Level { list: &own.subs, shapes: &shape.subs, partials: subs })?;
            subs[place] = made;
        }
    }
    Ok(())
}

/// Returns the pipelines of a level, each directly after those that it reads. Cycles were refused earlier.
/// It is called for every bucket of a parent, and takes time that is linear in the level.
///
/// Source: `AggregatorFactories.Builder#resolvePipelineAggregatorOrder`.
fn ordered(list: &[Aggregation]) -> Vec<(usize, &dyn Pipeline)> {
    let pipeline = |place: usize| match &list[place].kind {
        Kind::Pipeline(pipeline) => Some(&**pipeline),
        _ => None,
    };
    let mut place_of: HashMap<&str, usize> = HashMap::with_capacity(list.len());
    for (place, aggregation) in list.iter().enumerate() {
        place_of.entry(&aggregation.name).or_insert(place);
    }
    // The pipelines that a pipeline reads.
    let reads = |place: usize| -> Vec<usize> {
        let paths = pipeline(place).map(|own| own.paths()).unwrap_or_default();
        let read = |path: &BucketsPath| {
            let name = path.elements.first()?.name.as_str();
            // Others name a value of an aggregation by a suffix.
            place_of.get(name).copied().or_else(|| find(list, name).map(|(place, _)| place))
        };
        paths.into_iter().filter_map(read).filter(|&read| read != place && pipeline(read).is_some()).collect()
    };
    let mut is_seen = vec![false; list.len()];
    let mut order = Vec::new();
    for first in (0..list.len()).filter(|&place| pipeline(place).is_some()) {
        // Pipelines that wait for what they read, with what is left of that.
        let mut waiting: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
        let mut next = Some(first);
        loop {
            if let Some(place) = next.take().filter(|&place| !std::mem::replace(&mut is_seen[place], true)) {
                waiting.push((place, reads(place).into_iter()));
            }
            let Some((place, rest)) = waiting.last_mut() else { break };
            next = rest.next();
            if next.is_none() {
                order.extend(pipeline(*place).map(|own| (*place, own)));
                waiting.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::super::super::tree::Aggregations;
    use super::*;

    fn names(level: Value) -> Vec<String> {
        let body = json!({"h": {"terms": {"field": "k"}, "aggs": level}});
        let parsed = Aggregations::parse(&body).expect("valid");
        let subs = &parsed.list[0].subs;
        ordered(subs).into_iter().map(|(place, _)| subs[place].name.clone()).collect()
    }

    fn script(reads: &[&str]) -> Value {
        let paths: Map<String, Value> =
            reads.iter().enumerate().map(|(n, read)| (format!("v{n}"), json!(read))).collect();
        json!({"bucket_script": {"buckets_path": paths, "script": "1"}})
    }

    #[test]
    fn a_pipeline_comes_directly_after_those_that_it_reads() {
        let level = json!({"b": script(&["a", "m.value"]), "s": {"bucket_sort": {"size": 5}}, "c": script(&["b"]),
            "a": script(&["m"]), "m": {"max": {"field": "n"}}, "d": script(&["_count"])});
        assert_eq!(names(level), ["a", "b", "s", "c", "d"]);
    }

    #[test]
    fn a_long_chain_in_the_wrong_order_is_followed_to_its_end() {
        let mut level = Map::new();
        for n in (1..200).rev() {
            level.insert(format!("p{n}"), script(&[&format!("p{}", n - 1), "p0"]));
        }
        level.insert("p0".to_owned(), script(&["_count"]));
        let expected: Vec<String> = (0..200).map(|n| format!("p{n}")).collect();
        assert_eq!(names(Value::Object(level)), expected);
    }
}
