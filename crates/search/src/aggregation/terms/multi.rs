//! `multi_terms`: a bucket for every combination of several fields' values.
//!
//! Source: Elasticsearch's `MultiTermsAggregationBuilder`, `MultiTermsAggregator`, `InternalMultiTerms`.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use limber_mapping::RequestError;
use limber_segment::SegmentView;
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::order::BucketOrder;
use super::super::answer::partial::{Key, Partial, TermKey, TermsPartial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::combinations::Combinations;
use super::super::buckets::combined_keys::CombinedKeys;
use super::super::buckets::entries::{Emitted, Entries, IdColumn, Pace};
use super::super::buckets::list::{keys_text, part_json};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, KeyReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::Format;
use super::reduce::reduce_terms;
use super::request::Terms;
use super::select::{finish_kept, select_all, terms_partials};
use crate::error::Result;

/// Largest number of fields of one aggregation.
const FIELD_COUNT_MAX: usize = 64;

/// The options of a `multi_terms`: several fields whose values together are the key.
#[derive(Debug, Clone)]
pub struct MultiTerms {
    fields: Vec<ValuesOptions>,
    request: Terms,
}

impl MultiTerms {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let list = match options.take("terms") {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(options.wrong_type("terms", &other)),
        };
        if !(2..=FIELD_COUNT_MAX).contains(&list.len()) {
            return Err(RequestError::illegal_argument(format!(
                "The [terms] parameter in the aggregation [{}] must be present and have at least 2 fields or scripts.",
                options.name
            )));
        }
        let mut fields = Vec::with_capacity(list.len());
        for field in list {
            let Value::Object(map) = field else { return Err(options.wrong_type("terms", &field)) };
            let mut own = Options::new("multi_terms", &options.name, map);
            let values = ValuesOptions::parse_with_zone(&mut own);
            let values = values.and_then(|values| own.finish().map(|()| values));
            fields.push(values.map_err(|cause| options.failed("terms", cause))?);
        }
        let request = Terms::read(options, ValuesOptions::default())?;
        Ok(Kind::own(MultiTerms { fields, request }))
    }
}

impl Request for MultiTerms {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        self.fields.iter().map(|values| (values, Accepts::Anything)).collect()
    }

    fn order(&self) -> Option<&BucketOrder> {
        Some(&self.request.order)
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for MultiTerms {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let sources = context.bound.sources().iter();
        let readers: Vec<KeyReader<'s>> =
            sources.map(|source| KeyReader::new(source, None)).collect::<Result<_>>()?;
        Ok(Box::new(MultiCollector {
            request: &self.request,
            columns: readers.iter().map(|_| IdColumn::default()).collect(),
            width: readers.len(),
            readers,
            cells: Vec::new(),
            numbers: HashTable::new(),
            hasher: FixedState::default(),
            table: BucketTable::default(),
            subs: context.subs,
            emitted: Emitted::default(),
            combined: CombinedKeys::default(),
            key_indexes: vec![Vec::new(); self.fields.len()],
            budget: context.budget,
        }))
    }
}

impl Reduce for MultiTerms {
    type Finding = TermsPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<TermsPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<TermsPartial> {
        reduce_terms(&self.request, own, parts, reducer)
    }
}

impl Render for MultiTerms {
    fn render(&self, terms: &TermsPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.insert("doc_count_error_upper_bound", &terms.error)?;
        out.insert("sum_other_doc_count", &terms.other_doc_count)?;
        let sources = &renderer.shape.sources;
        let format =
            |key_index: usize| sources.get(key_index).map_or(&Format::Raw, |source: &Source| &source.format);
        out.bucket_list(&terms.buckets, |bucket, out| {
            let TermKey::Several(keys) = &bucket.key else { return Ok(()) };
            let shown = keys.iter().enumerate().map(|(key_index, key)| part_json(key, format(key_index)));
            let shown: Vec<Value> = shown.collect::<Result<_>>()?;
            out.insert("key", &shown)?;
            out.insert("key_as_string", &keys_text(keys, sources)?)?;
            if self.request.show_error {
                out.insert("doc_count_error_upper_bound", &bucket.error)?;
            }
            renderer.bucket(bucket.doc_count, &bucket.subs, out)
        })
    }
}

#[derive(Debug)]
struct MultiCollector<'s> {
    request: &'s Terms,
    readers: Vec<KeyReader<'s>>,
    columns: Vec<IdColumn>,
    width: usize,
    /// The cells of each combination: one id for each field.
    cells: Vec<i64>,
    numbers: HashTable<u32>,
    hasher: FixedState,
    table: BucketTable,
    subs: Subs<'s>,
    emitted: Emitted,
    combined: CombinedKeys,
    /// Key indexes of the current batch, by field.
    key_indexes: Vec<Vec<u32>>,
    budget: &'s Budget,
}

impl<'s> MultiCollector<'s> {
    fn number(&mut self, wanted: &[i64]) -> Result<u32> {
        let hash = self.hasher.hash_one(wanted);
        let (cells, width, hasher) = (&mut self.cells, self.width, &self.hasher);
        let is_it = |number: &u32| &cells[*number as usize * width..(*number as usize + 1) * width] == wanted;
        if let Some(&number) = self.numbers.find(hash, is_it) {
            return Ok(number);
        }
        self.budget.spend(width as u64 * 8 + 8)?;
        let number = (cells.len() / width) as u32;
        cells.extend_from_slice(wanted);
        let cells = &*cells;
        self.numbers.insert_unique(hash, number, |&number| {
            hasher.hash_one(&cells[number as usize * width..(number as usize + 1) * width])
        });
        Ok(number)
    }

    fn combination(&self, bucket: u32) -> &[i64] {
        let number = self.table.key(bucket) as usize;
        &self.cells[number * self.width..(number + 1) * self.width]
    }

    fn compare(&self, left: u32, right: u32) -> Ordering {
        let (left, right) = (self.combination(left), self.combination(right));
        let pairs = self.readers.iter().zip(left.iter().zip(right));
        pairs
            .map(|(reader, (&left, &right))| reader.compare(left, right))
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl MultiCollector<'_> {
    /// Collects documents that have exactly one value in every field, if all fields have key indexes. Returns
    /// false otherwise.
    fn collect_key_indexes(&mut self, entries: &Entries<'_>) -> Result<bool> {
        for (reader, key_indexes) in self.readers.iter_mut().zip(&mut self.key_indexes) {
            key_indexes.clear();
            if reader.key_index_count() == 0 || !reader.load_key_indexes(entries.docs, key_indexes)? {
                return Ok(false);
            }
        }
        let (mut combined, key_indexes) =
            (std::mem::take(&mut self.combined), std::mem::take(&mut self.key_indexes));
        let mut combination = vec![0i64; self.width];
        let budget = self.budget;
        let buckets = combined.look_up(&key_indexes, entries, budget, |parent, key_indexes| {
            for ((cell, reader), &key_index) in combination.iter_mut().zip(&mut self.readers).zip(key_indexes)
            {
                *cell = reader.id_at(key_index, budget)?;
            }
            let number = self.number(&combination)?;
            self.table.bucket(parent, i64::from(number), budget).map(Some)
        })?;
        let is_taken = buckets.is_some();
        if let Some(buckets) = buckets {
            self.table.count(buckets);
            if !self.subs.is_empty() {
                let bucket_count = self.table.len();
                self.subs.collect(&Entries {
                    buckets: Some(buckets),
                    bucket: 0,
                    bucket_count,
                    ..*entries
                })?;
            }
        }
        (self.combined, self.key_indexes) = (combined, key_indexes);
        Ok(is_taken)
    }
}

/// The findings of one part of a shard's documents.
#[derive(Debug)]
pub struct MultiFindings {
    table: BucketTable,
    /// The keys of the combinations, by the number that the table has for each; `cells` has their ids.
    keys: Vec<Box<[Key]>>,
    cells: Vec<i64>,
    below: Vec<Findings>,
}

impl<'s> Collector<'s> for MultiCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.readers.iter_mut().try_for_each(|reader| reader.begin(view, self.budget))?;
        self.combined.begin(self.readers.iter().map(KeyReader::key_index_count));
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.positions.is_none() && self.collect_key_indexes(entries)? {
            return Ok(());
        }
        for (reader, column) in self.readers.iter_mut().zip(&mut self.columns) {
            column.fill(&reader.load(entries.docs, self.budget)?, entries.docs.len());
        }
        self.emitted.clear();
        let mut combination = vec![0i64; self.width];
        let mut combinations = Combinations::new(self.width);
        let mut pace = Pace::default();
        // Consecutive documents often have the same combination.
        let (mut last, mut last_number) = (Vec::new(), 0);
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            let count =
                combinations.begin(&self.columns, position, &mut combination, |_| 0, "multi_terms")?;
            pace.step(count)?;
            for _ in 0..count {
                if last != combination {
                    last_number = self.number(&combination)?;
                    last.clone_from(&combination);
                }
                let bucket = self.table.bucket(entries.bucket(entry), i64::from(last_number), self.budget)?;
                self.table.counts[bucket as usize] += 1;
                self.emitted.push(entry, bucket)?;
                combinations.advance(&self.columns, position, &mut combination);
            }
        }
        if !self.subs.is_empty() && self.table.len() > 0 {
            self.subs.collect(&self.emitted.batch(entries, self.table.len())?)?;
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn can_split(&self) -> bool {
        self.subs.can_split()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let keys = |ids: &[i64]| ids.iter().zip(&self.readers).map(|(&id, reader)| reader.key(id)).collect();
        let keys = self.cells.chunks_exact(self.width).map(keys).collect();
        let (table, cells) = (std::mem::take(&mut self.table), std::mem::take(&mut self.cells));
        self.numbers.clear();
        let below = self.subs.take_findings()?;
        Ok(Findings::Multi(Box::new(MultiFindings { table, keys, cells, below })))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Multi(found) = findings else { unreachable!("findings of another collector") };
        let MultiFindings { table, keys, mut cells, below } = *found;
        let mut numbers = Vec::with_capacity(keys.len());
        for (keys, ids) in keys.iter().zip(cells.chunks_exact_mut(self.width)) {
            for ((reader, key), id) in self.readers.iter_mut().zip(keys).zip(ids.iter_mut()) {
                // The ids of terms are local to a collector, so the id is looked up again from the key.
                if matches!(key, Key::Term(_)) {
                    *id = reader.id(key, self.budget)?.unwrap_or(*id);
                }
            }
            numbers.push(i64::from(self.number(ids)?));
        }
        let number_of = |key: i64| Ok(numbers[key as usize]);
        let buckets = self.table.absorb(&table, bucket_of, number_of, self.budget)?;
        self.subs.absorb(below, &buckets)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        self.subs.settle()?;
        let selected = select_all(&self.table, parents, self.request, &self.subs, |left, right| {
            self.compare(left, right)
        });
        let below = finish_kept(&mut self.subs, &selected)?;
        let key = |bucket: u32| {
            let ids = self.combination(bucket).iter();
            TermKey::Several(ids.zip(&self.readers).map(|(&id, reader)| reader.key(id)).collect())
        };
        terms_partials(selected, key, below)
    }
}
