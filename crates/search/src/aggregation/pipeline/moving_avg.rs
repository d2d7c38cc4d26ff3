//! `moving_avg`: what a model makes of the values before each bucket, and forecasts after the last one. It is
//! an aggregation of Elasticsearch 7 and OpenSearch. Source: `MovAvgPipelineAggregator`.

use limber_mapping::RequestError;

use super::super::answer::partial::{KeyedBucket, Partial};
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::check::sequential_parent;
use super::definition::{Enclosing, Pipeline, SimpleValue};
use super::moving_model::Model;
use super::options::{GapPolicy, buckets_path, finish, format, missing_for};
use super::path::{BucketsPath, values_of};
use super::rows::subs_mut;
use crate::error::{Result, check_request};

/// Most buckets that can be forecast, which is Elasticsearch's limit on all buckets of a search.
const PREDICT_COUNT_MAX: usize = 65_536;

/// The options of a `moving_avg`: the path of the value, the window, and the model that runs on it.
#[derive(Debug, Clone)]
pub struct MovingAvg {
    path: BucketsPath,
    gaps: GapPolicy,
    format: Format,
    window: usize,
    model: Model,
    is_fitted: bool,
    predict: usize,
}

impl MovingAvg {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let path = buckets_path(options, missing_for("movingAvg"))?;
        let gaps = GapPolicy::parse(options)?;
        let format = format(options)?;
        let window = positive(options, "window")?.unwrap_or(5);
        let predict = positive(options, "predict")?.unwrap_or(0);
        if predict > PREDICT_COUNT_MAX {
            return Err(RequestError::parsing(format!(
                "[predict] value must be at most {PREDICT_COUNT_MAX}. Value supplied was [{predict}] in [{}].",
                options.name
            )));
        }
        let kind = options.text("model")?.unwrap_or_else(|| "simple".to_owned());
        let settings = options.object("settings")?.unwrap_or_default();
        let model = Model::parse(&kind, settings, &options.name, window)?;
        let fits = options.boolean("minimize")?;
        if fits == Some(true) && !model.can_be_fitted() {
            // Elasticsearch says so, with two spaces and this letter case.
            return Err(RequestError::parsing(format!("The [{kind}] model cannot be minimized.")));
        }
        let is_fitted = fits.unwrap_or(model.is_fitted_by_default());
        finish(options)?;
        Ok(Kind::pipeline(MovingAvg { path, gaps, format, window, model, is_fitted, predict }))
    }

    /// Chooses the coefficients by the last windows of `values`: the last but one is learned from, the last
    /// one is what should have been forecast.
    fn model(&self, values: &[f64]) -> Result<Model> {
        let enough = self.window.checked_mul(2).filter(|&enough| self.is_fitted && values.len() >= enough);
        let Some(start) = enough.map(|enough| values.len() - enough) else { return Ok(self.model) };
        let (train, test) = values[start..].split_at(self.window);
        self.model.fitted(train, test)
    }

    fn value(&self, number: f64) -> Result<Partial> {
        Ok(SimpleValue::new(number, &self.format)?.into_partial())
    }

    /// Writes forecasts into the buckets after `last`, and makes those that are not there.
    fn forecast(
        &self,
        forecasts: &[f64],
        last: usize,
        work: &Enclosing<'_>,
        partial: &mut Partial,
    ) -> Result<()> {
        let mut rest = forecasts.iter();
        for (subs, number) in subs_mut(partial).into_iter().skip(last + 1).zip(rest.by_ref()) {
            check_request()?;
            subs[work.place] = self.value(*number)?;
        }
        let written = subs_mut(partial).len().saturating_sub(last + 1).min(forecasts.len());
        let Partial::Histogram(buckets) = partial else {
            return match written == forecasts.len() {
                true => Ok(()),
                false => Err(RequestError::unsupported(format!(
                    "[predict] of a moving_avg in the aggregation [{}]",
                    work.aggregation.type_name
                ))
                .into()),
            };
        };
        for number in &forecasts[written..] {
            check_request()?;
            let Some(before) = buckets.last() else { break };
            let key = match &work.shape.date {
                Some(dates) => dates.rounding.next(before.key),
                None => before.key.saturating_add(1),
            };
            let mut subs = vec![Partial::Absent; work.aggregation.subs.len()];
            subs[work.place] = self.value(*number)?;
            buckets.push(KeyedBucket { key, doc_count: 0, subs });
        }
        Ok(())
    }
}

/// Takes an option that must be a positive integer.
fn positive(options: &mut Options, option: &str) -> std::result::Result<Option<usize>, RequestError> {
    match options.int(option)? {
        None => Ok(None),
        Some(number) => match usize::try_from(number) {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(RequestError::parsing(format!(
                "[{option}] value must be a positive, non-zero integer.  Value supplied was [{number}] in [{}].",
                options.name
            ))),
        },
    }
}

impl Pipeline for MovingAvg {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        sequential_parent(own, parent)
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let all = values_of(&self.path, self.gaps, work, partial)?;
        let values: Vec<f64> = all.iter().copied().filter(|value| !value.is_nan()).collect();
        let model = self.model(&values)?;
        let window = |end: usize| &values[end.saturating_sub(self.window)..end];
        let (mut seen, mut last) = (0, 0);
        for (place, (subs, value)) in subs_mut(partial).into_iter().zip(&all).enumerate() {
            check_request()?;
            if value.is_nan() {
                continue;
            }
            let before = window(seen);
            if model.has_enough(before.len()) {
                let number = model.forecasts(before, 1).first().copied().unwrap_or(f64::NAN);
                subs[work.place] = self.value(number)?;
            }
            (seen, last) = (seen + 1, place);
        }
        if self.predict == 0 || all.is_empty() {
            return Ok(());
        }
        self.forecast(&model.forecasts(window(seen), self.predict), last, work, partial)
    }
}
