//! Matches documents of a boolean combination.

use limber_segment::{DocId, NO_MORE_DOCS};

use super::simple::Union;
use super::{Bits, BoxedMatcher, Matcher};
use crate::error::Result;
use crate::matcher::clauses::each_clause;

pub(crate) struct BoolDocs<'a> {
    /// The `must` and `filter` clauses, cheapest first.
    required: Vec<BoxedMatcher<'a>>,
    optional: Option<Optional<'a>>,
    prohibited: Vec<BoxedMatcher<'a>>,
    doc_count: u32,
}

/// The `should` clauses, if some of them are required.
enum Optional<'a> {
    Any(Union<'a>),
    AtLeast(usize, Vec<BoxedMatcher<'a>>),
}

impl<'a> BoolDocs<'a> {
    pub(crate) fn new(
        mut required: Vec<BoxedMatcher<'a>>,
        mut should: Vec<BoxedMatcher<'a>>,
        min_should_match: usize,
        prohibited: Vec<BoxedMatcher<'a>>,
        doc_count: u32,
    ) -> BoolDocs<'a> {
        let optional = match min_should_match {
            0 => None,
            all if all == should.len() => {
                required.append(&mut should);
                None
            }
            1 => Some(Optional::Any(Union { parts: should })),
            many => Some(Optional::AtLeast(many, should)),
        };
        required.sort_by_key(|part| part.cost());
        BoolDocs { required, optional, prohibited, doc_count }
    }

    /// Clears documents that do not match, given that the first `from` required clauses do.
    fn restrict_from(&mut self, from: usize, start: DocId, bits: &mut Bits) -> Result<()> {
        each_clause(&mut self.required[from..], |part| match bits.is_empty() {
            true => Ok(()),
            false => part.restrict(start, bits),
        })?;
        if bits.is_empty() {
            return Ok(());
        }
        if let Some(optional) = &mut self.optional {
            optional.restrict(start, bits)?;
        }
        self.exclude(start, bits)
    }

    fn exclude(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        each_clause(&mut self.prohibited, |part| {
            if bits.is_empty() {
                return Ok(());
            }
            let mut excluded = bits.clone();
            part.restrict(start, &mut excluded)?;
            bits.and_not(&excluded);
            Ok(())
        })
    }
}

impl Optional<'_> {
    fn cost(&self) -> u64 {
        match self {
            Optional::Any(union) => union.cost(),
            Optional::AtLeast(_, parts) => parts.iter().map(|part| part.cost()).sum(),
        }
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        match self {
            Optional::Any(union) => union.next(target),
            Optional::AtLeast(count, parts) => {
                // No document before the `count`-th smallest of the clauses' next documents can match.
                let mut nexts = parts.iter_mut().map(|part| part.next(target)).collect::<Result<Vec<_>>>()?;
                nexts.sort_unstable();
                Ok(nexts.get(*count - 1).copied().unwrap_or(NO_MORE_DOCS))
            }
        }
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        match self {
            Optional::Any(union) => union.fill(start, bits),
            Optional::AtLeast(count, parts) => {
                let mut counter = Counter::default();
                each_clause(parts, |part| {
                    let mut matches = Bits::default();
                    part.fill(start, &mut matches)?;
                    counter.add(&matches);
                    Ok(())
                })?;
                bits.or(&counter.at_least(*count));
                Ok(())
            }
        }
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        match self {
            Optional::Any(union) => union.restrict(start, bits),
            Optional::AtLeast(count, parts) => {
                let mut counter = Counter::default();
                each_clause(parts, |part| {
                    let mut matches = bits.clone();
                    part.restrict(start, &mut matches)?;
                    counter.add(&matches);
                    Ok(())
                })?;
                *bits = counter.at_least(*count);
                Ok(())
            }
        }
    }
}

impl Matcher for BoolDocs<'_> {
    fn cost(&self) -> u64 {
        match (self.required.first(), &self.optional) {
            (Some(first), _) => first.cost(),
            (None, Some(optional)) => optional.cost(),
            (None, None) => u64::from(self.doc_count),
        }
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut target = target;
        // Advances each clause once (leap-frog); the rest is decided by bit sets.
        for part in &mut self.required {
            target = part.next(target)?;
            if target == NO_MORE_DOCS {
                return Ok(NO_MORE_DOCS);
            }
        }
        match &mut self.optional {
            Some(optional) => optional.next(target),
            None if target < self.doc_count => Ok(target),
            None => Ok(NO_MORE_DOCS),
        }
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut own = Bits::default();
        match (self.required.first_mut(), &mut self.optional) {
            (Some(first), _) => {
                first.fill(start, &mut own)?;
                self.restrict_from(1, start, &mut own)?;
            }
            (None, Some(optional)) => {
                optional.fill(start, &mut own)?;
                self.exclude(start, &mut own)?;
            }
            (None, None) => {
                own.set_range(0, self.doc_count.saturating_sub(start).min(super::WINDOW));
                self.exclude(start, &mut own)?;
            }
        }
        bits.or(&own);
        Ok(())
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.restrict_from(0, start, bits)
    }
}

/// Counts for each document of a window how many bit sets contain it. Bit `i` of the count is in plane `i`.
#[derive(Default)]
pub(crate) struct Counter {
    planes: Vec<Bits>,
}

impl Counter {
    /// Adds one to the count of each of these documents.
    pub fn add(&mut self, bits: &Bits) {
        let mut carry = bits.clone();
        for plane in &mut self.planes {
            for (sum, carried) in plane.0.iter_mut().zip(&mut carry.0) {
                (*sum, *carried) = (*sum ^ *carried, *sum & *carried);
            }
        }
        if !carry.is_empty() {
            self.planes.push(carry);
        }
    }

    /// Returns the count of a document.
    pub fn count(&self, index: u32) -> u64 {
        let bit = |(place, plane): (usize, &Bits)| u64::from(plane.contains(index)) << place;
        self.planes.iter().enumerate().map(bit).sum()
    }

    /// Returns the documents that were counted at least `count` times.
    pub fn at_least(&self, count: usize) -> Bits {
        let mut result = Bits::default();
        if count >= 1 << self.planes.len().min(usize::BITS as usize - 1) {
            return result;
        }
        // Compares from the highest bit down: the count is greater so far, or it is equal so far.
        for (at, word) in result.0.iter_mut().enumerate() {
            let (mut greater, mut equal) = (0u64, u64::MAX);
            for (bit, plane) in self.planes.iter().enumerate().rev() {
                let plane = plane.0[at];
                if count >> bit & 1 == 0 {
                    greater |= equal & plane;
                    equal &= !plane;
                } else {
                    equal &= plane;
                }
            }
            *word = greater | equal;
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count() {
        let mut counter = Counter::default();
        // Document n is in the sets 1 to n.
        for set in 1..=9u32 {
            let mut bits = Bits::default();
            bits.set_range(set, 10);
            counter.add(&bits);
        }
        for count in 1..=12usize {
            let mut docs = Vec::new();
            counter.at_least(count).append_to(0, &mut docs);
            assert_eq!(docs, (count as u32..10).collect::<Vec<_>>(), "{count}");
        }
        for doc in 0..12 {
            assert_eq!(counter.count(doc), if doc < 10 { u64::from(doc) } else { 0 });
        }
    }
}
