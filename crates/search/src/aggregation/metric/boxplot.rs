//! `boxplot`: quartiles, extremes and whiskers. Source: Elasticsearch's `BoxplotAggregationBuilder`,
//! `InternalBoxplot`.

use limber_mapping::{RequestError, Summary, SummaryColumn};

use super::super::answer::members::Members;
use super::super::answer::order::{NameCheck, OrderValues};
use super::super::answer::partial::{Finding, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::double;
use super::digest::Digest;
use super::digest_collector::{DigestCollector, Numbers, compression, merged};
use super::distribution::Distribution;
use super::weighted_distributions::{OfDistribution, WeightedDistributions};
use crate::error::Result;

const COMPRESSION: f64 = 100.0;

/// Whiskers reach to the farthest value within this many interquartile ranges of the box (Tukey).
const WHISKER: f64 = 1.5;

const NAMES: [&str; 7] = ["min", "max", "q1", "q2", "q3", "lower", "upper"];

/// The options of a `boxplot`: the field and the compression of its t-digest.
#[derive(Debug, Clone)]
pub struct Boxplot {
    values: ValuesOptions,
    compression: f64,
}

impl Boxplot {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let compression = compression(options, COMPRESSION)?;
        Ok(Kind::own(Boxplot { values: ValuesOptions::parse(options)?, compression }))
    }
}

/// Returns the values of [`NAMES`].
fn numbers(digest: &Digest) -> [f64; NAMES.len()] {
    let values = digest.values();
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN];
    };
    let [q1, q2, q3] = [0.25, 0.5, 0.75].map(|share| digest.quantile(share));
    let reach = WHISKER * (q3 - q1);
    let means = || values.iter().map(|(mean, _)| *mean);
    let lower = means().find(|mean| *mean >= q1 - reach).unwrap_or(first.0);
    let upper = means().rev().find(|mean| *mean <= q3 + reach).unwrap_or(last.0);
    [first.0, last.0, q1, q2, q3, lower, upper]
}

impl Request for Boxplot {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Quantities)]
    }

    fn summary_columns(&self, summary: &Summary) -> &'static [SummaryColumn] {
        summary.weighted_columns()
    }

    fn needs_scores(&self) -> bool {
        self.values.may_read_score()
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn order_values(&self) -> OrderValues {
        OrderValues::Several
    }

    fn check_order_name(&self, own: &str, name: &str) -> NameCheck {
        if NAMES.contains(&name) {
            return NameCheck::known();
        }
        let constant = name.to_uppercase();
        let reason = format!(
            "No enum constant org.elasticsearch.xpack.analytics.boxplot.InternalBoxplot.Metrics.{constant}"
        );
        NameCheck::unknown(own, name, reason)
    }
}

impl Collect for Boxplot {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let sources = context.bound.sources();
        if sources[0].summary.is_some() {
            return Ok(Box::new(WeightedDistributions::new(self, sources, context.budget)));
        }
        Ok(Box::new(DigestCollector::new(
            self.compression,
            context,
            Numbers { names: &NAMES, of: |digest| numbers(digest).into() },
        )?))
    }
}

impl OfDistribution for Boxplot {
    fn begin(&self) -> Distribution {
        Distribution::Digest(Digest::new(self.compression))
    }

    fn compared(&self, distribution: &Distribution, name: Option<&str>) -> f64 {
        let Distribution::Digest(digest) = distribution else { return f64::NAN };
        let place = name.and_then(|name| NAMES.iter().position(|own| *own == name));
        numbers(digest)[place.unwrap_or(0)]
    }

    fn found(&self, distribution: Distribution) -> Partial {
        match distribution {
            Distribution::Digest(digest) => Finding::into_partial(digest),
            Distribution::Hdr(_) => unreachable!("the values of a boxplot are in a t-digest"),
        }
    }
}

impl Reduce for Boxplot {
    type Finding = Digest;

    fn reduce(&self, _: &Aggregation, parts: Vec<Digest>, _: &mut Reducer<'_>) -> Result<Digest> {
        Ok(merged(parts, self.compression))
    }
}

impl Render for Boxplot {
    fn render(&self, digest: &Digest, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let (numbers, format) = (numbers(digest), &renderer.shape.format);
        for (name, number) in NAMES.iter().zip(numbers) {
            out.insert(name, &double(number))?;
        }
        if !format.is_raw() {
            for (name, number) in NAMES.iter().zip(numbers) {
                out.insert(&format!("{name}_as_string"), &format.text(number)?)?;
            }
        }
        Ok(())
    }

    fn number(&self, finding: &Digest, value: Option<&str>) -> Option<f64> {
        let place = NAMES.iter().position(|name| Some(*name) == value)?;
        Some(numbers(finding)[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whiskers_end_at_values() {
        let mut digest = Digest::new(100.0);
        (1..=9).map(f64::from).chain([100.0]).for_each(|value| digest.add(value));
        digest.prepare();
        assert_eq!(numbers(&digest), [1.0, 100.0, 3.25, 5.5, 7.75, 1.0, 9.0]);
    }
}
