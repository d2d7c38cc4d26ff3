//! `moving_percentiles`: percentiles of the values in a window that moves along the buckets. Source:
//! Elasticsearch's `MovingPercentilesPipelineAggregator`.

use limber_mapping::RequestError;

use super::super::answer::partial::Partial;
use super::super::metric::{Distribution, MovingDistribution, Percentiles};
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::check::sequential_parent;
use super::definition::{Enclosing, Pipeline, PipelineValue};
use super::moving_fn::{span, window};
use super::options::{GapPolicy, buckets_path, format};
use super::path::BucketsPath;
use super::rows::{rows, subs_mut};
use crate::error::{Result, check_request};

/// The options of a `moving_percentiles`: the path of the `percentiles` aggregation, and the window over
/// which its digests are merged.
#[derive(Debug, Clone)]
pub struct MovingPercentiles {
    path: BucketsPath,
    window: i64,
    shift: i64,
}

impl MovingPercentiles {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let window = window(options)?;
        let shift = i64::from(options.int("shift")?.unwrap_or(0));
        let path = buckets_path(options, |_| "Required [buckets_path]".to_owned())?;
        // Elasticsearch parses both options but ignores them.
        GapPolicy::parse(options)?;
        format(options)?;
        Ok(Kind::pipeline(MovingPercentiles { path, window, shift }))
    }
}

impl Pipeline for MovingPercentiles {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        sequential_parent(own, parent)
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let own = work.aggregation;
        let (place, percentiles) = self.path.request::<Percentiles>(own, "a percentiles aggregation")?;
        let found: Vec<Option<&Distribution>> = rows(own, work.shape, partial)?
            .into_iter()
            .map(|row| match row.subs.get(place) {
                Some(Partial::Distribution(distribution)) => Some(&**distribution),
                _ => None,
            })
            .collect();
        let count = found.len();
        let mut moving = MovingDistribution::new(percentiles.empty(), &found)?;
        let format = work.shape.subs.get(place).map_or(&Format::Raw, |shape| &shape.format);
        for (bucket, subs) in subs_mut(partial).into_iter().enumerate() {
            check_request()?;
            moving.slide(span(count, bucket, self.window, self.shift))?;
            let answer = |point: f64| percentiles.moving_answer(&moving, point);
            subs[work.place] = PipelineValue {
                bucket: None,
                typed_name: percentiles.full_name(),
                body: percentiles.json_of(format, answer)?,
                numbers: percentiles.numbers_of(answer),
            }
            .into_partial();
        }
        Ok(())
    }
}
