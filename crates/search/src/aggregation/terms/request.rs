//! The options of `terms`. Source: Elasticsearch's `TermsAggregationBuilder`, `BucketCountThresholds`.

use limber_mapping::RequestError;

use super::super::answer::order::BucketOrder;
use super::super::options::{Options, ValuesOptions};
use super::super::tree::Kind;
use super::include::Include;

/// Default of `size`.
const SIZE: i32 = 10;

/// The options of a `terms`: the field, the number of buckets in the answer and of each shard, and their
/// order.
#[derive(Debug, Clone)]
pub struct Terms {
    pub values: ValuesOptions,
    pub size: usize,
    /// Number of buckets that a shard reports.
    pub shard_size: usize,
    pub min_doc_count: u64,
    pub shard_min_doc_count: u64,
    pub order: BucketOrder,
    pub include: Option<Include>,
    pub exclude: Option<Include>,
    pub show_error: bool,
    /// `execution_hint: map`, and `collect_mode` if given: whether it is `breadth_first`. Both only choose
    /// between implementations with the same result; a profile tells which one Elasticsearch takes.
    pub hints_map: bool,
    pub breadth_first: Option<bool>,
}

impl Terms {
    pub(crate) fn parse(options: &mut Options) -> Result<Kind, RequestError> {
        let values = ValuesOptions::parse(options)?;
        Ok(Kind::own(Terms::read(options, values)?))
    }

    /// Reads all options except those of the values.
    pub fn read(options: &mut Options, values: ValuesOptions) -> Result<Terms, RequestError> {
        let size = positive(options, "size", SIZE)?;
        let shard_size = match options.has("shard_size") {
            true => Some(positive(options, "shard_size", -1)?),
            false => None,
        };
        let min_doc_count = count(options, "min_doc_count", 1)?;
        let shard_min_doc_count = count(options, "shard_min_doc_count", 0)?;
        let order = BucketOrder::parse(options)?.unwrap_or_else(BucketOrder::count_descending);
        let include = Include::parse(options, "include")?;
        let exclude = Include::parse(options, "exclude")?;
        let show_error = options.boolean("show_term_doc_count_error")?.unwrap_or(false);
        let breadth_first = match options.text("collect_mode")?.as_deref() {
            None => None,
            Some("breadth_first") => Some(true),
            Some("depth_first") => Some(false),
            Some(mode) => {
                let reason = format!("no [collect_mode] found for value [{mode}]");
                let cause = RequestError::bad_request("parse_exception", reason);
                return Err(options.failed("collect_mode", cause));
            }
        };
        let hints_map = match options.text("execution_hint")?.as_deref() {
            None | Some("global_ordinals") => false,
            Some("map") => true,
            Some(hint) => {
                return Err(RequestError::illegal_argument(format!(
                    "Unknown `execution_hint`: [{hint}], expected any of [map, global_ordinals]"
                )));
            }
        };
        // Elasticsearch's `BucketUtils.suggestShardSideQueueSize`; in the order of keys, the shards' results
        // are exact.
        let suggested = if order.is_key() { size } else { size + size / 2 + 10 };
        let shard_size = shard_size.unwrap_or(suggested).max(size);
        Ok(Terms {
            values,
            size,
            shard_size,
            min_doc_count,
            shard_min_doc_count: shard_min_doc_count.min(min_doc_count),
            order,
            include,
            exclude,
            show_error,
            hints_map,
            breadth_first,
        })
    }
}

/// Reads a number of buckets, which must be above 0.
pub fn positive(options: &mut Options, name: &str, default: i32) -> Result<usize, RequestError> {
    let value = options.int(name)?.unwrap_or(default);
    match usize::try_from(value) {
        Ok(value) if value > 0 => Ok(value),
        _ => {
            let shown = if name == "size" { "size" } else { "shardSize" };
            let reason = format!("[{shown}] must be greater than 0. Found [{value}] in [{}]", options.name);
            Err(options.refused(name, reason))
        }
    }
}

/// Reads a number of documents, which must not be below 0.
pub fn count(options: &mut Options, name: &str, default: i64) -> Result<u64, RequestError> {
    let value = options.long(name)?.unwrap_or(default);
    u64::try_from(value).map_err(|_| {
        let shown = if name == "min_doc_count" { "minDocCount" } else { "shardMinDocCount" };
        let reason =
            format!("[{shown}] must be greater than or equal to 0. Found [{value}] in [{}]", options.name);
        options.refused(name, reason)
    })
}
