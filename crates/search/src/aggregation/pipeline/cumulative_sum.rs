//! `cumulative_sum`: the sum of a value over all buckets so far. Source: Elasticsearch's
//! `CumulativeSumPipelineAggregator`.

use limber_mapping::RequestError;

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::check::sequential_parent;
use super::definition::{Enclosing, Pipeline, SimpleValue};
use super::options::{GapPolicy, buckets_path, format};
use super::path::{BucketsPath, values_of};
use super::rows::subs_mut;
use crate::error::{Result, check_request};

/// The options of a `cumulative_sum`: the path of the value that is added up from bucket to bucket.
#[derive(Debug, Clone)]
pub struct CumulativeSum {
    path: BucketsPath,
    format: Format,
}

impl CumulativeSum {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let path = buckets_path(options, |_| "Required [buckets_path]".to_owned())?;
        Ok(Kind::pipeline(CumulativeSum { path, format: format(options)? }))
    }
}

impl Pipeline for CumulativeSum {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        sequential_parent(own, parent)
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let values = values_of(&self.path, GapPolicy::InsertZeros, work, partial)?;
        let mut sum = 0.0;
        for (subs, value) in subs_mut(partial).into_iter().zip(values) {
            check_request()?;
            if value.is_finite() {
                sum += value;
            }
            subs[work.place] = SimpleValue::new(sum, &self.format)?.into_partial();
        }
        Ok(())
    }
}
