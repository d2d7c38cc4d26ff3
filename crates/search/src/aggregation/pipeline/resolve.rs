//! Runs the pipeline aggregations, innermost first. Source: Elasticsearch's
//! `InternalAggregation.reducePipelines`.

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

/// Returns the pipelines of a level, each after those that it reads. Cycles were refused earlier.
fn ordered(list: &[Aggregation]) -> Vec<(usize, &dyn Pipeline)> {
    let pipeline = |place: usize| match &list[place].kind {
        Kind::Pipeline(pipeline) => Some(&**pipeline),
        _ => None,
    };
    // For each pipeline, the pipelines that it reads.
    let mut waiting: Vec<(usize, &dyn Pipeline, Vec<usize>)> = (0..list.len())
        .filter_map(|place| {
            let own = pipeline(place)?;
            let paths = own.paths();
            let first =
                |path: &&BucketsPath| find(list, &path.elements.first()?.name).map(|(place, _)| place);
            let reads =
                paths.iter().filter_map(first).filter(|&read| read != place && pipeline(read).is_some());
            Some((place, own, reads.collect()))
        })
        .collect();
    let mut is_done = vec![false; list.len()];
    let mut order = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let before = order.len();
        waiting.retain(|(place, own, reads)| {
            let is_ready = reads.iter().all(|&read| is_done[read]);
            if is_ready {
                is_done[*place] = true;
                order.push((*place, *own));
            }
            !is_ready
        });
        if order.len() == before {
            break;
        }
    }
    order
}
