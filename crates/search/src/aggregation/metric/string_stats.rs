//! `string_stats`: lengths and entropy of strings. Source: Elasticsearch's `StringStatsAggregator`,
//! `InternalStringStats`.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::FixedState;
use limber_mapping::RequestError;
use limber_segment::SegmentView;
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::partial::{Finding, Key, OwnFinding, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::entries::{Entries, check_table};
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, KeyReader};
use super::super::tree::{Aggregation, Kind};
use super::super::values::claimed;
use super::super::values::format::double;
use crate::error::Result;

const NAMES: [&str; 5] = ["count", "min_length", "max_length", "avg_length", "entropy"];

/// The options of a `string_stats`: the field, and whether the distribution of characters is shown.
#[derive(Debug, Clone)]
pub struct StringStats {
    values: ValuesOptions,
    show_distribution: bool,
}

impl StringStats {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let show_distribution = options.boolean("show_distribution")?.unwrap_or(false);
        Ok(Kind::own(StringStats { values: ValuesOptions::parse(options)?, show_distribution }))
    }
}

/// The finding in one bucket. Lengths are in UTF-16 code units, as in Java.
#[derive(Debug, Clone, Default)]
pub struct StringFinding {
    count: u64,
    total_length: u64,
    min_length: u64,
    max_length: u64,
    /// The number of occurrences of each character.
    chars: BTreeMap<char, u64>,
}

impl OwnFinding for StringFinding {}

impl StringFinding {
    fn add(&mut self, text: &str, times: u64) {
        let length = text.encode_utf16().count() as u64;
        self.min_length = if self.count == 0 { length } else { self.min_length.min(length) };
        self.max_length = self.max_length.max(length);
        self.count += times;
        self.total_length += length * times;
        text.chars().for_each(|char| *self.chars.entry(char).or_default() += times);
    }

    fn merge(&mut self, other: StringFinding) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other;
            return;
        }
        self.min_length = self.min_length.min(other.min_length);
        self.max_length = self.max_length.max(other.max_length);
        self.count += other.count;
        self.total_length += other.total_length;
        other.chars.into_iter().for_each(|(char, times)| *self.chars.entry(char).or_default() += times);
    }

    /// Returns the relative frequency of each character, the most frequent first.
    fn distribution(&self) -> Vec<(char, f64)> {
        let mut shares: Vec<(char, f64)> = self
            .chars
            .iter()
            .map(|(&char, &times)| (char, times as f64 / self.total_length as f64))
            .collect();
        shares.sort_by(|left, right| right.1.total_cmp(&left.1));
        shares
    }

    /// Returns the Shannon entropy in bits per character.
    fn entropy(&self) -> f64 {
        self.distribution().into_iter().map(|(_, share)| -share * share.log2()).sum()
    }

    fn number(&self, name: &str) -> Option<f64> {
        Some(match name {
            "count" => self.count as f64,
            "min_length" => self.min_length as f64,
            "max_length" => self.max_length as f64,
            "avg_length" => self.total_length as f64 / self.count as f64,
            "entropy" => self.entropy(),
            _ => return None,
        })
    }
}

impl Request for StringStats {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Terms)]
    }

    fn takes_subs(&self) -> bool {
        false
    }
}

impl Collect for StringStats {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(StringCollector {
            keys: KeyReader::new(&context.bound.sources()[0], None)?,
            counts: HashMap::default(),
            first: Vec::new(),
            by_key_index: Vec::new(),
            key_indexes: Vec::new(),
            absorbed: Vec::new(),
            starts: Vec::new(),
            budget: context.budget,
        }))
    }
}

impl Reduce for StringStats {
    type Finding = StringFinding;

    fn reduce(
        &self,
        _: &Aggregation,
        parts: Vec<StringFinding>,
        _: &mut Reducer<'_>,
    ) -> Result<StringFinding> {
        let mut all = StringFinding::default();
        parts.into_iter().for_each(|part| all.merge(part));
        Ok(all)
    }
}

impl Render for StringStats {
    fn render(&self, found: &StringFinding, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let format = &renderer.shape.format;
        out.insert("count", &found.count)?;
        if found.count == 0 {
            for name in ["min_length", "max_length", "avg_length"] {
                out.insert(name, &Value::Null)?;
            }
            out.insert("entropy", &double(0.0))?;
        } else {
            out.insert("min_length", &found.min_length)?;
            out.insert("max_length", &found.max_length)?;
            out.insert("avg_length", &double(found.total_length as f64 / found.count as f64))?;
            out.insert("entropy", &double(found.entropy()))?;
        }
        if self.show_distribution {
            // There may be a million characters.
            claimed::objects(found.chars.len(), std::iter::once("char"))?;
            let shares =
                found.distribution().into_iter().map(|(char, share)| (char.to_string(), double(share)));
            out.insert("distribution", &Value::Object(shares.collect()))?;
        }
        if found.count > 0 && matches!(format, super::super::values::format::Format::Decimal(_)) {
            for name in &NAMES[1..] {
                let number = found.number(name).unwrap_or(f64::NAN);
                out.insert(&format!("{name}_as_string"), &format.text(number)?)?;
            }
        }
        Ok(())
    }

    fn number(&self, finding: &StringFinding, value: Option<&str>) -> Option<f64> {
        finding.number(value?)
    }
}

/// Largest number of counters by bucket and ordinal, which take 16 MiB.
const SLOTS_MAX: usize = 1 << 20;

/// Adjacent documents are counted in different lanes, so that those with the same term do not wait for each
/// other.
const LANES: usize = 4;

/// Counts the terms of each bucket. The characters of a term are examined once, at the end.
#[derive(Debug)]
struct StringCollector<'s> {
    keys: KeyReader<'s>,
    /// Number of documents by bucket and term.
    counts: HashMap<(u32, i64), u64, FixedState>,
    /// Number of documents by term of the first bucket, which is often the only one.
    first: Vec<u64>,
    /// The same by bucket and ordinal of a term in the current segment, in lanes.
    by_key_index: Vec<[u32; LANES]>,
    key_indexes: Vec<u32>,
    /// The findings of other collectors, by bucket.
    absorbed: Vec<StringFinding>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for StringCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.keys.begin(view, self.budget)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.key_indexes.clear();
        let width = self.keys.key_index_count();
        let slots = width.saturating_mul(entries.bucket_count);
        if (1..=SLOTS_MAX).contains(&slots)
            && entries.positions.is_none()
            && self.keys.load_key_indexes(entries.docs, &mut self.key_indexes)?
        {
            if slots > self.by_key_index.len() {
                let len = slots.max(self.by_key_index.len() * 2).min(SLOTS_MAX);
                self.budget.spend(((len - self.by_key_index.len()) * size_of::<[u32; LANES]>()) as u64)?;
                self.by_key_index.resize(len, [0; LANES]);
            }
            for (entry, key_index) in self.key_indexes.iter().enumerate() {
                let slot = entries.bucket(entry) as usize * width + *key_index as usize;
                self.by_key_index[slot][entry % LANES] += 1;
            }
            return Ok(());
        }
        let values = self.keys.load(entries.docs, self.budget)?;
        if entries.is_single_bucket() {
            let most = values.values.iter().copied().max().map_or(0, |most| most as usize + 1);
            if most > self.first.len() {
                self.budget.spend((most - self.first.len()) as u64 * 8)?;
                self.first.resize(most, 0);
            }
            values.values.iter().for_each(|&id| self.first[id as usize] += 1);
            return Ok(());
        }
        let counts = &mut self.counts;
        values.try_join(entries, &mut self.starts, |_, bucket, id| {
            check_table(counts)?;
            let before = counts.len();
            *counts.entry((bucket, id)).or_default() += 1;
            match counts.len() > before {
                true => self.budget.spend(32),
                false => Ok(()),
            }
        })
    }

    fn end_segment(&mut self) -> Result<()> {
        let width = self.keys.key_index_count().max(1);
        for (slot, lanes) in std::mem::take(&mut self.by_key_index).into_iter().enumerate() {
            let count: u64 = lanes.into_iter().map(u64::from).sum();
            if count == 0 {
                continue;
            }
            let (bucket, id) = ((slot / width) as u32, self.keys.id_at((slot % width) as u32, self.budget)?);
            if bucket > 0 {
                *self.counts.entry((bucket, id)).or_default() += count;
                self.budget.spend(32)?;
                continue;
            }
            if id as usize >= self.first.len() {
                self.budget.spend((id as usize + 1 - self.first.len()) as u64 * 8)?;
                self.first.resize(id as usize + 1, 0);
            }
            self.first[id as usize] += count;
        }
        Ok(())
    }

    fn can_split(&self) -> bool {
        true
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let of_counts = self.counts.keys().map(|(bucket, _)| *bucket).max().unwrap_or(0);
        let most = of_counts.max(self.absorbed.len().saturating_sub(1) as u32);
        let buckets: Vec<u32> = (0..=most).collect();
        let findings = Findings::Own(self.finish(&buckets)?);
        (self.counts, self.first, self.absorbed) = Default::default();
        Ok(findings)
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Own(found) = findings else { unreachable!("findings of another collector") };
        for (found, &bucket) in found.into_iter().zip(bucket_of) {
            let bucket = bucket as usize;
            if bucket >= self.absorbed.len() {
                self.budget
                    .spend(((bucket + 1 - self.absorbed.len()) * size_of::<StringFinding>()) as u64)?;
                self.absorbed.resize(bucket + 1, StringFinding::default());
            }
            self.budget.check()?;
            if let Some(found) = StringFinding::from_partial(found) {
                self.absorbed[bucket].merge(found);
            }
        }
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let mut absorbed = std::mem::take(&mut self.absorbed);
        let own = |bucket: &u32| absorbed.get_mut(*bucket as usize).map(std::mem::take).unwrap_or_default();
        let mut all: Vec<StringFinding> = buckets.iter().map(own).collect();
        let of_first = (0i64..).zip(&self.first).filter(|(_, times)| **times > 0);
        let of_first = of_first.map(|(id, &times)| ((0, id), times));
        for ((bucket, id), times) in self.counts.iter().map(|(&key, &times)| (key, times)).chain(of_first) {
            // Every bucket may have all terms, and its own map of their characters.
            self.budget.check()?;
            if let Ok(place) = buckets.binary_search(&bucket)
                && let Key::Term(term) = self.keys.key(id)
            {
                all[place].add(&String::from_utf8_lossy(&term), times);
            }
        }
        Ok(all.into_iter().map(Finding::into_partial).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_entropy() {
        let mut found = StringFinding::default();
        found.add("ab", 1);
        found.add("aabb", 1);
        assert_eq!((found.count, found.min_length, found.max_length, found.total_length), (2, 2, 4, 6));
        assert_eq!(found.entropy(), 1.0);
        let mut other = StringFinding::default();
        other.add("a", 2);
        found.merge(other);
        assert_eq!((found.count, found.min_length, found.distribution()[0]), (4, 1, ('a', 5.0 / 8.0)));
    }
}
