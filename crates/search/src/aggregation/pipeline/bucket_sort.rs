//! `bucket_sort`: sorts and truncates the buckets of its parent. Source: Elasticsearch's
//! `BucketSortPipelineAggregator`.

use std::cmp::Ordering;

use limber_mapping::RequestError;
use serde_json::Value;

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::terms::compare_values;
use super::super::tree::{Aggregation, Kind};
use super::check::any_parent;
use super::definition::{Enclosing, Pipeline};
use super::options::GapPolicy;
use super::path::{BucketsPath, value_of};
use super::rows::{keep, rows};
use crate::error::{Result, check_request};
use crate::request::{Order, Sort};

/// Largest number of sort keys of one aggregation.
const SORT_COUNT_MAX: usize = 64;

/// The options of a `bucket_sort`: the order of the parent's buckets, and which page of them is kept.
#[derive(Debug, Clone)]
pub struct BucketSort {
    /// The path, and whether the order is descending.
    sorts: Vec<(BucketsPath, bool)>,
    from: usize,
    size: Option<usize>,
    gaps: GapPolicy,
}

impl BucketSort {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let list = match options.take("sort") {
            None => Vec::new(),
            Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => {
                return Err(options.wrong_type("sort", &value));
            }
            Some(value) => Sort::parse_list(&value).map_err(|cause| options.failed("sort", cause))?,
        };
        if list.len() > SORT_COUNT_MAX {
            return Err(options.refused("sort", format!("more than {SORT_COUNT_MAX} sorts")));
        }
        let sorts =
            list.into_iter().map(|sort| (BucketsPath::parse(&sort.field), sort.order == Order::Descending));
        let gaps = GapPolicy::parse(options)?;
        let unbuilt = |reason: String| {
            let outer = "failed to build [bucket_sort] after last required field arrived";
            RequestError::bad_request("x_content_parse_exception", outer)
                .caused_by(RequestError::illegal_argument(reason))
        };
        let from = options.int("from")?.unwrap_or(0);
        let from = usize::try_from(from)
            .map_err(|_| unbuilt(format!("[from] must be a non-negative integer: [{from}]")))?;
        let size = match options.int("size")? {
            None => None,
            Some(size) if size <= 0 => {
                return Err(unbuilt(format!("[size] must be a positive integer: [{size}]")));
            }
            Some(size) => usize::try_from(size).ok(),
        };
        Ok(Kind::pipeline(BucketSort { sorts: sorts.collect(), from, size, gaps }))
    }
}

impl Pipeline for BucketSort {
    fn paths(&self) -> Vec<&BucketsPath> {
        self.sorts.iter().map(|(path, _)| path).collect()
    }

    fn check(&self, own: &Aggregation, parent: Option<&Aggregation>, _: &[Aggregation]) -> Option<String> {
        if let Some(fault) = any_parent(own, parent) {
            return Some(fault);
        }
        let is_idle = self.sorts.is_empty() && self.size.is_none() && self.from == 0;
        is_idle.then(|| {
            format!(
                "[{}] is configured to perform nothing. Please set either of [sort, size, from] to use bucket_sort",
                own.name
            )
        })
    }

    fn over_buckets(&self, work: &Enclosing<'_>, partial: &mut Partial) -> Result<()> {
        let (own, shape) = (work.aggregation, work.shape);
        let mut table: Vec<(usize, Vec<f64>)> = Vec::new();
        // Keys that are not numbers, by bucket; empty if no sort compares them.
        let mut texts: Vec<String> = Vec::new();
        let compares_keys = self.sorts.iter().any(|(path, _)| path.text == "_key");
        let found = rows(own, shape, partial)?;
        for (place, row) in found.iter().enumerate() {
            check_request()?;
            if compares_keys {
                texts.push(if row.key.is_nan() { row.text()? } else { String::new() });
            }
            let mut values = Vec::with_capacity(self.sorts.len());
            for (path, _) in &self.sorts {
                values.push(match path.text.as_str() {
                    // Keys that are not numbers are compared as they are.
                    "_key" => row.key,
                    _ => value_of(path, self.gaps, (&own.subs, &shape.subs), row, &own.name)?
                        .unwrap_or(f64::NAN),
                });
            }
            let is_key = |sort: usize| self.sorts[sort].0.text == "_key";
            let has_value = (0..values.len()).any(|sort| is_key(sort) || !values[sort].is_nan());
            if self.sorts.is_empty() || has_value {
                table.push((place, values));
            }
        }
        table.sort_by(|(left, left_values), (right, right_values)| {
            for (sort, (path, descending)) in self.sorts.iter().enumerate() {
                let (a, b) = (left_values[sort], right_values[sort]);
                let ordering = match (a.is_nan(), b.is_nan()) {
                    (true, true) if path.text == "_key" => {
                        let ordering = texts[*left].cmp(&texts[*right]);
                        if *descending { ordering.reverse() } else { ordering }
                    }
                    (true, true) => Ordering::Equal,
                    // Buckets without a value come last in either order.
                    (true, false) => Ordering::Greater,
                    (false, true) => Ordering::Less,
                    _ => compare_values(a, b, !descending),
                };
                if ordering.is_ne() {
                    return ordering;
                }
            }
            Ordering::Equal
        });
        let size = self.size.unwrap_or(usize::MAX);
        let places: Vec<usize> =
            table.into_iter().map(|(place, _)| place).skip(self.from).take(size).collect();
        match keep(partial, &places) {
            true => Ok(()),
            false => Err(RequestError::unsupported(format!(
                "[bucket_sort] in the aggregation [{}]",
                own.type_name
            ))
            .into()),
        }
    }
}
