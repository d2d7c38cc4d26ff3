//! Matches documents of `terms_set`: each must match a minimum number of several queries.

use std::sync::Arc;

use limber_mapping::{Field, NumberForm, RequestError};
use limber_script::OpenScript;
use limber_segment::columns::Batch;
use limber_segment::{DocId, Segment};

use crate::context::seen::Seen;
use crate::error::Result;
use crate::matcher::boolean::Counter;
use crate::matcher::clauses::each_clause;
use crate::matcher::simple::Union;
use crate::matcher::{Bits, Matcher};
use crate::primitives::BoundNeeded;
use crate::script::NumberSource;

pub(crate) struct CoveredDocs<'a> {
    any: Union<'a>,
    needed: OpenNeeded<'a>,
    seen: Seen,
    docs: Vec<DocId>,
    counts: Vec<i64>,
}

/// The minimum number of matching clauses of each document.
pub(crate) enum OpenNeeded<'a> {
    /// The first value of the field. A document without a value never matches.
    Field {
        field: Arc<Field>,
        numbers: Option<Box<NumberSource<'a>>>,
        batch: Batch<i64>,
    },
    Script(Box<OpenScript<'a>>),
    Count(i64),
}

impl<'a> OpenNeeded<'a> {
    /// Opens the minimum number of matching clauses on a segment.
    pub fn open(needed: &'a BoundNeeded, segment: &'a Segment) -> Result<OpenNeeded<'a>> {
        Ok(match needed {
            BoundNeeded::Field { field, runtime } => OpenNeeded::Field {
                field: field.clone(),
                numbers: NumberSource::open(segment, &field.path, runtime.as_ref())?.map(Box::new),
                batch: Batch::default(),
            },
            BoundNeeded::Script(script) => OpenNeeded::Script(Box::new(script.open(segment)?)),
            BoundNeeded::Count(count) => OpenNeeded::Count(*count as i64),
        })
    }

    /// Reads the minimum number for each of `docs`, which must ascend. It is at least 1.
    pub fn read(&mut self, docs: &[DocId], out: &mut Vec<i64>) -> Result<()> {
        out.clear();
        match self {
            OpenNeeded::Count(count) => out.resize(docs.len(), *count),
            OpenNeeded::Field { field, numbers, batch } => {
                out.resize(docs.len(), i64::MAX);
                let Some(numbers) = numbers else { return Ok(()) };
                numbers.gather(docs, batch)?;
                let mut previous = usize::MAX;
                for (position, stored) in batch.iter() {
                    if position != previous {
                        out[position] = whole(field, stored);
                    }
                    previous = position;
                }
            }
            OpenNeeded::Script(script) => script.values(docs, &[], |value| {
                out.push(value.f64() as i64);
                Ok::<(), RequestError>(())
            })?,
        }
        out.iter_mut().for_each(|count| *count = (*count).max(1));
        Ok(())
    }
}

/// Truncates a stored number to an integer.
fn whole(field: &Field, stored: i64) -> i64 {
    match field.number_form() {
        _ if field.is_floating() => field.decode_f64(stored) as i64,
        Some(NumberForm::Unsigned) => field.decode_f64(stored).min(i64::MAX as f64) as i64,
        _ => field.resolution().millis(stored),
    }
}

impl<'a> CoveredDocs<'a> {
    /// Only documents that are `seen` match.
    pub(crate) fn new(any: Union<'a>, needed: OpenNeeded<'a>, seen: Seen) -> CoveredDocs<'a> {
        CoveredDocs { any, needed, seen, docs: Vec::new(), counts: Vec::new() }
    }

    /// Adds the counted documents that reach their minimum.
    fn add(&mut self, start: DocId, counter: &Counter, bits: &mut Bits) -> Result<()> {
        self.docs.clear();
        counter.at_least(1).append_to(start, &mut self.docs);
        self.seen.retain(&mut self.docs);
        if self.docs.is_empty() {
            return Ok(());
        }
        self.needed.read(&self.docs, &mut self.counts)?;
        for (doc, needed) in self.docs.iter().zip(&self.counts) {
            if counter.count(doc - start) as i64 >= *needed {
                bits.set(doc - start);
            }
        }
        Ok(())
    }
}

impl Matcher for CoveredDocs<'_> {
    fn cost(&self) -> u64 {
        self.any.cost()
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        self.any.next(target)
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut counter = Counter::default();
        each_clause(&mut self.any.parts, |part| {
            let mut matches = Bits::default();
            part.fill(start, &mut matches)?;
            counter.add(&matches);
            Ok(())
        })?;
        self.add(start, &counter, bits)
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut counter = Counter::default();
        each_clause(&mut self.any.parts, |part| {
            let mut matches = bits.clone();
            part.restrict(start, &mut matches)?;
            counter.add(&matches);
            Ok(())
        })?;
        bits.clear();
        self.add(start, &counter, bits)
    }
}
