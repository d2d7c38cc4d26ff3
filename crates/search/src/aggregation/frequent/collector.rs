//! Collects the transactions of a shard's documents.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use limber_segment::{DocId, SegmentView};

use super::super::answer::partial::{Finding, Key, Partial};
use super::super::bucket::{Docs, mark};
use super::super::buckets::entries::{Entries, IdColumn};
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::source::{KeyReader, Source};
use super::super::terms::TermFilter;
use super::database::item_key;
use super::request::FrequentFinding;
use super::transactions::{Item, TransactionTable, Transactions};
use crate::error::Result;
use crate::query::{BoundQuery, MatchingDocs};

/// Bytes of a table entry for the number of a value.
const NUMBER_BYTES: u64 = 16;

/// Marks an item of the shard that is not in the current bucket's part.
const UNUSED: u32 = u32::MAX;

/// Reads one of the aggregation's fields.
#[derive(Debug)]
struct FieldItems<'s> {
    place: u32,
    reader: KeyReader<'s>,
    /// Which values are items.
    filter: TermFilter,
    /// The item by the reader's id; `None` if the value is excluded.
    numbers: HashMap<i64, Option<u32>, FixedState>,
    column: IdColumn,
}

impl FieldItems<'_> {
    /// Returns the item of an id of the reader.
    fn item(&mut self, id: i64, items: &mut Vec<Item>, budget: &Budget) -> Result<Option<u32>> {
        if let Some(&known) = self.numbers.get(&id) {
            return Ok(known);
        }
        let key = self.reader.key(id);
        let is_wanted = match &key {
            Key::Term(term) => self.filter.allows_term(term),
            _ => self.filter.allows_number(id),
        };
        budget.spend(NUMBER_BYTES)?;
        let number = match is_wanted {
            true => {
                let item = Item { field: self.place, key: item_key(key) };
                budget.spend(item.bytes())?;
                items.push(item);
                Some(items.len() as u32 - 1)
            }
            false => None,
        };
        self.numbers.insert(id, number);
        Ok(number)
    }
}

/// Collects the values of each document of a shard as one transaction.
#[derive(Debug)]
pub struct FrequentCollector<'s> {
    fields: Vec<FieldItems<'s>>,
    /// Documents that do not match count in the total, but without items.
    query: Option<&'s BoundQuery>,
    docs: Docs<'s>,
    matching: Vec<DocId>,
    marks: Vec<bool>,
    items: Vec<Item>,
    /// Number of documents by bucket.
    totals: Vec<u64>,
    table: TransactionTable,
    budget: &'s Budget,
}

impl<'s> FrequentCollector<'s> {
    pub(crate) fn new(
        fields: Vec<(&'s Source, TermFilter)>,
        query: Option<&'s BoundQuery>,
        budget: &'s Budget,
    ) -> Result<FrequentCollector<'s>> {
        let one = |(place, (source, filter)): (usize, (&'s Source, TermFilter))| {
            Ok(FieldItems {
                place: place as u32,
                reader: KeyReader::new(source, None)?,
                filter,
                numbers: HashMap::default(),
                column: IdColumn::default(),
            })
        };
        Ok(FrequentCollector {
            fields: fields.into_iter().enumerate().map(one).collect::<Result<_>>()?,
            query,
            docs: Docs(None),
            matching: Vec::new(),
            marks: Vec::new(),
            items: Vec::new(),
            totals: Vec::new(),
            table: TransactionTable::default(),
            budget,
        })
    }

    /// Makes the transaction of the document at an index of the batch; its items are ascending, without
    /// duplicates.
    fn transaction(&mut self, position: usize, out: &mut Vec<u32>) -> Result<()> {
        out.clear();
        for field in &mut self.fields {
            let starts = &field.column.starts;
            for at in starts[position] as usize..starts[position + 1] as usize {
                let id = field.column.ids[at];
                out.extend(field.item(id, &mut self.items, self.budget)?);
            }
        }
        out.sort_unstable();
        out.dedup();
        Ok(())
    }

    /// Makes the finding of one bucket. `own` has its transactions; `places` is a buffer for the items'
    /// indexes in it, filled with [`UNUSED`] before and after.
    fn part(&self, bucket: u32, own: &[u32], places: &mut [u32]) -> Result<Transactions> {
        let total = self.totals.get(bucket as usize).copied().unwrap_or(0);
        let mut part = Transactions::of(total);
        let mut used = Vec::new();
        for &transaction in own {
            let items = self.table.items(transaction as usize);
            for &item in items {
                if places[item as usize] == UNUSED {
                    places[item as usize] = used.len() as u32;
                    used.push(item);
                }
            }
            let numbers = items.iter().map(|&item| places[item as usize]);
            self.budget.spend(part.push(numbers, self.table.count(transaction as usize)))?;
        }
        for item in used {
            let item = item as usize;
            places[item] = UNUSED;
            self.budget.spend(self.items[item].bytes())?;
            part.items.push(self.items[item].clone());
        }
        Ok(part)
    }
}

impl<'s> Collector<'s> for FrequentCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        if let Some(query) = self.query {
            self.docs = Docs(Some(MatchingDocs::open(query, &view.segment)?));
        }
        self.fields.iter_mut().try_for_each(|field| field.reader.begin(view, self.budget))
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.totals.len() {
            self.budget.spend((entries.bucket_count - self.totals.len()) as u64 * 8)?;
            self.totals.resize(entries.bucket_count, 0);
        }
        if let Docs(Some(docs)) = &mut self.docs {
            docs.retain(entries.docs, &mut self.matching)?;
            mark(entries.docs, &self.matching, &mut self.marks);
        }
        for field in &mut self.fields {
            let values = field.reader.load(entries.docs, self.budget)?;
            field.column.fill(&values, entries.docs.len());
        }
        let mut transaction = Vec::new();
        for entry in 0..entries.len() {
            let (position, bucket) = (entries.position(entry), entries.bucket(entry));
            self.totals[bucket as usize] += 1;
            if self.query.is_some() && !self.marks[position] {
                continue;
            }
            self.transaction(position, &mut transaction)?;
            if !transaction.is_empty() {
                self.budget.spend(self.table.add(bucket, &transaction, 1))?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let mut by_owner: Vec<u32> = (0..self.table.len() as u32).collect();
        by_owner.sort_by_key(|&transaction| self.table.owner(transaction as usize));
        let mut places = vec![UNUSED; self.items.len()];
        let part = |&bucket: &u32| {
            let owner = |&transaction: &u32| self.table.owner(transaction as usize);
            let from = by_owner.partition_point(|transaction| owner(transaction) < bucket);
            let to = by_owner.partition_point(|transaction| owner(transaction) <= bucket);
            self.part(bucket, &by_owner[from..to], &mut places)
                .map(|found| FrequentFinding::Shard(found).into_partial())
        };
        buckets.iter().map(part).collect()
    }
}
