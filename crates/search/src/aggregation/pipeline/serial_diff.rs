//! `serial_diff`: the difference from the value of an earlier bucket. Source: Elasticsearch's
//! `SerialDiffPipelineAggregator`.

use limber_mapping::RequestError;

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::check::sequential_parent;
use super::definition::{Enclosing, Pipeline, SimpleValue};
use super::options::{GapPolicy, buckets_path, finish, format, missing_for};
use super::path::{BucketsPath, values_of};
use super::rows::subs_mut;
use crate::error::{Result, check_request};

/// The options of a `serial_diff`: the path of the value, and the lag in buckets.
#[derive(Debug, Clone)]
pub struct SerialDiff {
    path: BucketsPath,
    gaps: GapPolicy,
    format: Format,
    lag: usize,
}

impl SerialDiff {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        // Elasticsearch names the wrong aggregation.
        let path = buckets_path(options, missing_for("derivative"))?;
        let gaps = GapPolicy::parse(options)?;
        let format = format(options)?;
        if options.has("lag") && !options.is_number("lag") {
            let name = &options.name;
            let reason = format!("Unknown key for a VALUE_STRING in [{name}]: [lag].");
            return Err(RequestError::parsing(reason));
        }
        let lag = options.int("lag")?.unwrap_or(1);
        let lag = usize::try_from(lag).ok().filter(|&lag| lag > 0).ok_or_else(|| {
            RequestError::parsing(format!(
                "Lag must be a positive, non-zero integer.  Value supplied was{lag} in [{}]: [lag].",
                options.name
            ))
        })?;
        finish(options)?;
        Ok(Kind::pipeline(SerialDiff { path, gaps, format, lag }))
    }
}

impl Pipeline for SerialDiff {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        sequential_parent(own, parent)
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let values = values_of(&self.path, self.gaps, work, partial)?;
        for (place, subs) in subs_mut(partial).into_iter().enumerate() {
            check_request()?;
            let before = place.checked_sub(self.lag).map_or(f64::NAN, |before| values[before]);
            if !values[place].is_nan() && !before.is_nan() {
                subs[work.place] = SimpleValue::new(values[place] - before, &self.format)?.into_partial();
            }
        }
        Ok(())
    }
}
