//! `cumulative_cardinality`: the number of distinct values in all buckets so far. Source: Elasticsearch's
//! `CumulativeCardinalityPipelineAggregator`.

use limber_mapping::RequestError;

use super::super::answer::partial::Partial;
use super::super::metric::Cardinality;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::check::sequential_parent;
use super::definition::{Enclosing, Pipeline, PipelineValue};
use super::options::{buckets_path, format};
use super::path::BucketsPath;
use super::rows::{rows, subs_mut};
use crate::error::{Result, check_request};

/// The options of a `cumulative_cardinality`: the path of the `cardinality` whose sketches are merged from
/// bucket to bucket.
#[derive(Debug, Clone)]
pub struct CumulativeCardinality {
    path: BucketsPath,
    format: Format,
}

impl CumulativeCardinality {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let path = buckets_path(options, |_| "Required [buckets_path]".to_owned())?;
        Ok(Kind::pipeline(CumulativeCardinality { path, format: format(options)? }))
    }
}

impl Pipeline for CumulativeCardinality {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        sequential_parent(own, parent)
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let own = work.aggregation;
        let (place, request) = self.path.request::<Cardinality>(own, "a cardinality aggregation")?;
        let mut all = request.empty_sketch();
        let mut counts = Vec::new();
        for row in rows(own, work.shape, partial)? {
            check_request()?;
            if let Some(Partial::Cardinality(sketch)) = row.subs.get(place) {
                all.merge(sketch);
            }
            let count = all.cardinality();
            let mut made = PipelineValue::of_number(count as f64, &self.format, "simple_long_value")?;
            made.body.insert("value".into(), count.into());
            counts.push(made.into_partial());
        }
        subs_mut(partial).into_iter().zip(counts).for_each(|(subs, count)| subs[work.place] = count);
        Ok(())
    }
}
