//! `include` and `exclude`: which terms may have a bucket.
//!
//! Source: Elasticsearch's `IncludeExclude`. Patterns are Lucene's, matched against the whole term.

use limber_mapping::{Field, RequestError};
use limber_text::automaton::{Regexp, RegexpOptions, TermAutomaton};
use serde_json::{Map, Value};

use super::super::options::Options;
use super::super::source::Source;
use super::super::values::format::Format;
use crate::error::Result;
use crate::values::json;

/// Largest number of values in one list.
const VALUE_COUNT_MAX: usize = 65_536;

/// Elasticsearch's `index.max_regex_length`.
const PATTERN_CHARS_MAX: usize = 1000;

/// One of both options, as given in the request.
#[derive(Debug, Clone)]
pub enum Include {
    Pattern(String),
    Values(Vec<Value>),
    /// One partition of all values, determined by their hashes.
    Partition(Partition),
}

/// `partition` of `num_partitions`: only the terms whose hash is in this partition are counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Partition {
    number: i32,
    count: i32,
}

impl Include {
    pub(crate) fn parse(
        options: &mut Options,
        name: &str,
    ) -> std::result::Result<Option<Include>, RequestError> {
        match options.take(name) {
            None => Ok(None),
            Some(Value::Array(values)) => {
                if values.len() > VALUE_COUNT_MAX {
                    return Err(
                        options.refused(name, format!("[{name}] holds more than {VALUE_COUNT_MAX} values"))
                    );
                }
                if values.iter().any(|value| value.is_object() || value.is_array() || value.is_null()) {
                    let reason = "Array elements in include/exclude clauses should be string values";
                    return Err(options.failed(name, RequestError::bad_request("parse_exception", reason)));
                }
                Ok(Some(Include::Values(values)))
            }
            Some(Value::Object(map)) if name == "include" => {
                Partition::parse(options, map).map(|partition| Some(Include::Partition(partition)))
            }
            Some(other @ (Value::Object(_) | Value::Number(_) | Value::Bool(_))) => {
                Err(options.wrong_type(name, &other))
            }
            Some(value) => {
                let pattern = json::scalar_text(&value).unwrap_or_default();
                if pattern.chars().count() > PATTERN_CHARS_MAX {
                    return Err(RequestError::illegal_argument(format!(
                        "The length of regex [{}] used in the request has exceeded the allowed maximum of [{PATTERN_CHARS_MAX}]. This \
                         maximum can be set by changing the [index.max_regex_length] index level setting.",
                        pattern.chars().count()
                    )));
                }
                Ok(Some(Include::Pattern(pattern)))
            }
        }
    }
}

impl Partition {
    fn parse(options: &Options, map: Map<String, Value>) -> std::result::Result<Partition, RequestError> {
        let (mut number, mut count) = (None, None);
        for (name, value) in &map {
            match name.as_str() {
                "partition" => number = Some(json::int(value)?),
                "num_partitions" => count = Some(json::int(value)?),
                _ => {
                    let reason = format!("Unknown parameter in Include/Exclude clause: {name}");
                    let cause = RequestError::bad_request("parse_exception", reason);
                    return Err(options.failed("include", cause));
                }
            }
        }
        let missing = |what: &str| {
            options.failed(
                "include",
                RequestError::illegal_argument(format!(
                    "Missing [{what}] parameter for partition-based include"
                )),
            )
        };
        let number = number.ok_or_else(|| missing("partition"))?;
        let count = count.ok_or_else(|| missing("num_partitions"))?;
        if number < 0 || number >= count {
            return Err(options
                .refused("include", format!("Partition must be >=0 and < numPartition which is {count}")));
        }
        Ok(Partition { number, count })
    }

    /// Hashes with Murmur3 and a fixed seed. Source: `IncludeExclude.PartitionedStringFilter`.
    fn has_term(self, term: &[u8]) -> bool {
        const SEED: u32 = 31;
        (limber_codec::murmur3::murmur3_32(term, SEED) as i32).rem_euclid(self.count) == self.number
    }

    /// Hashes with David Stafford's ninth variant of the Murmur3 finalizer. Source:
    /// `IncludeExclude.PartitionedLongFilter`.
    fn has_number(self, number: i64) -> bool {
        let mut bits = number as u64;
        bits = (bits ^ (bits >> 32)).wrapping_mul(0x4cd6_944c_5cc2_0b6d);
        bits = (bits ^ (bits >> 29)).wrapping_mul(0xfc12_c5b1_9d32_59e9);
        bits ^= bits >> 32;
        (bits as i64).rem_euclid(i64::from(self.count)) == i64::from(self.number)
    }
}

#[derive(Debug)]
enum Side {
    Pattern(Box<Regexp>),
    /// Sorted.
    Terms(Vec<Vec<u8>>),
    /// Stored numbers, sorted.
    Numbers(Vec<i64>),
    Partition(Partition),
}

/// Both options on one shard.
#[derive(Debug, Default)]
pub struct TermFilter {
    include: Option<Side>,
    exclude: Option<Side>,
}

impl TermFilter {
    /// Binds both options to a shard; `source` has the values.
    pub fn bind(
        include: &Option<Include>,
        exclude: &Option<Include>,
        source: &Source,
        aggregation: &str,
    ) -> Result<TermFilter> {
        let side = |include: &Option<Include>| match include {
            None => Ok(None),
            Some(include) => Side::bind(include, source, aggregation).map(Some),
        };
        Ok(TermFilter { include: side(include)?, exclude: side(exclude)? })
    }

    /// Binds both options to the words of a text.
    pub fn bind_text(
        include: &Option<Include>,
        exclude: &Option<Include>,
        field: &str,
    ) -> Result<TermFilter> {
        TermFilter::bind(include, exclude, &Source::unmapped(field), field)
    }

    /// Whether every value is allowed.
    pub fn allows_all(&self) -> bool {
        self.include.is_none() && self.exclude.is_none()
    }

    /// Whether a term is allowed.
    pub fn allows_term(&self, term: &[u8]) -> bool {
        self.include.as_ref().is_none_or(|side| side.has_term(term))
            && !self.exclude.as_ref().is_some_and(|side| side.has_term(term))
    }

    /// Whether a number is allowed, given as it is stored in columns.
    pub fn allows_number(&self, number: i64) -> bool {
        self.include.as_ref().is_none_or(|side| side.has_number(number))
            && !self.exclude.as_ref().is_some_and(|side| side.has_number(number))
    }
}

impl Side {
    fn bind(include: &Include, source: &Source, aggregation: &str) -> Result<Side> {
        match include {
            Include::Pattern(_) if source.is_numeric() => Err(RequestError::illegal_argument(format!(
                "Aggregation [{aggregation}] cannot support regular expression style include/exclude settings as they can only be applied \
                 to string fields. Use an array of numeric values for include/exclude clauses used to filter numeric fields"
            ))
            .into()),
            Include::Pattern(_) if matches!(source.format, Format::Coded(_)) => Err(RequestError::illegal_argument(format!(
                "Aggregation [{aggregation}] cannot support regular expression style include/exclude settings as they can only be applied \
                 to string fields. Use an array of values for include/exclude clauses"
            ))
            .into()),
            Include::Partition(partition) => Ok(Side::Partition(*partition)),
            Include::Pattern(pattern) => {
                Ok(Side::Pattern(Box::new(Regexp::parse(pattern, RegexpOptions::default())?)))
            }
            Include::Values(values) if source.is_numeric() => {
                let mut numbers = Vec::with_capacity(values.len());
                for value in values {
                    let with = Source { missing: Some(value.clone()), ..source.clone() };
                    numbers.extend(with.missing_number()?);
                }
                numbers.sort_unstable();
                Ok(Side::Numbers(numbers))
            }
            Include::Values(values) => {
                let mut terms = values.iter().map(|value| term_of(source.field.as_deref(), value)).collect::<Result<Vec<_>>>()?;
                terms.sort_unstable();
                Ok(Side::Terms(terms))
            }
        }
    }

    fn has_term(&self, term: &[u8]) -> bool {
        match self {
            Side::Pattern(pattern) => pattern.accepts(term),
            Side::Terms(terms) => terms.binary_search_by(|own| own.as_slice().cmp(term)).is_ok(),
            Side::Partition(partition) => partition.has_term(term),
            Side::Numbers(_) => false,
        }
    }

    fn has_number(&self, number: i64) -> bool {
        match self {
            Side::Numbers(numbers) => numbers.binary_search(&number).is_ok(),
            Side::Partition(partition) => partition.has_number(number),
            Side::Pattern(_) | Side::Terms(_) => false,
        }
    }
}

fn term_of(field: Option<&Field>, value: &Value) -> Result<Vec<u8>> {
    let text = json::scalar_text(value).unwrap_or_default();
    match field {
        Some(field) => Ok(field.encode_term(&text)?),
        None => Ok(text.into_bytes()),
    }
}
