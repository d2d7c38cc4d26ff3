//! `median_absolute_deviation`: the median of the distances from the median. Source: Elasticsearch's
//! `MedianAbsoluteDeviationAggregator`.

use limber_mapping::RequestError;

use super::super::answer::members::Members;
use super::super::answer::order::OrderValues;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::digest::Digest;
use super::digest_collector::{DigestCollector, Numbers, compression, merged};
use super::numeric::single;
use crate::error::Result;

const COMPRESSION: f64 = 1000.0;

/// The options of a `median_absolute_deviation`: the field and the compression of its t-digest.
#[derive(Debug, Clone)]
pub struct MedianAbsoluteDeviation {
    values: ValuesOptions,
    compression: f64,
}

impl MedianAbsoluteDeviation {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let compression = compression(options, COMPRESSION)?;
        Ok(Kind::own(MedianAbsoluteDeviation { values: ValuesOptions::parse(options)?, compression }))
    }
}

fn deviation(digest: &Digest) -> f64 {
    if digest.count() == 0 { f64::NAN } else { digest.deviations().quantile(0.5) }
}

impl Request for MedianAbsoluteDeviation {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Quantities)]
    }

    fn needs_scores(&self) -> bool {
        self.values.may_read_score()
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn order_values(&self) -> OrderValues {
        OrderValues::One
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for MedianAbsoluteDeviation {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(DigestCollector::new(
            self.compression,
            context,
            Numbers { names: &["value"], of: |digest| [deviation(digest)].into() },
        )?))
    }
}

impl Reduce for MedianAbsoluteDeviation {
    type Finding = Digest;

    fn reduce(&self, _: &Aggregation, parts: Vec<Digest>, _: &mut Reducer<'_>) -> Result<Digest> {
        Ok(merged(parts, self.compression))
    }
}

impl Render for MedianAbsoluteDeviation {
    fn render(&self, finding: &Digest, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let value = deviation(finding);
        single(out, value, !value.is_nan(), &renderer.shape.format)
    }

    fn number(&self, finding: &Digest, _: Option<&str>) -> Option<f64> {
        Some(deviation(finding))
    }
}
