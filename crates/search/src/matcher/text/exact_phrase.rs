//! Finds the occurrences of a phrase that consists of single terms at fixed positions.

use std::ops::Range;

use limber_codec::followed::Starts;

use crate::error::Result;
use crate::matcher::scored::common::{Common, Occurrences};
use crate::matcher::scored::scored_term::{BLOCK, ScoredTerm};

/// Positions are read of documents together in which the term occurs at most this often: bounds the memory.
const TOGETHER_MAX: u64 = 16_384;

pub(in crate::matcher) struct ExactPhrase {
    /// The offset of each term in the phrase, in the order of the terms.
    places: Vec<u32>,
    /// Possible starts of the phrase, given the terms that were examined so far.
    starts: Starts,
    /// A term's positions.
    lists: Vec<u32>,
}

impl ExactPhrase {
    pub(crate) fn new(places: Vec<u32>) -> ExactPhrase {
        ExactPhrase { places, starts: Starts::default(), lists: Vec::new() }
    }

    /// Returns the frequency of the phrase in each document that [`ExactPhrase::keep`] has kept.
    pub fn freqs(&self) -> &[u32] {
        self.starts.counts()
    }

    /// Keeps the documents of a batch that have the phrase. The first two terms, which are the rarest ones,
    /// are looked up first; the others only in documents in which these lie as in the phrase. `select` is
    /// called before positions are read, with the number of times that the phrase can occur in each document
    /// at most; it leaves out documents that are not wanted.
    pub fn keep(
        &mut self,
        terms: &mut [ScoredTerm<'_>],
        common: &mut Common,
        select: impl FnOnce(&mut Common, &[u32]) -> Result<()>,
    ) -> Result<()> {
        self.starts.clear();
        let pair = terms.len().min(2);
        // The documents mostly are those of the first term, which therefore comes last.
        for slot in (0..pair).rev() {
            common.keep_with_positions(slot, &mut terms[slot]);
        }
        let mut most = [u32::MAX; BLOCK];
        let most = &mut most[..common.docs().len()];
        for slot in 0..pair {
            let freqs = &common.occurrences(slot).freqs;
            most.iter_mut().zip(freqs).for_each(|(most, freq)| *most = (*most).min(*freq));
        }
        select(common, most)?;
        let total =
            |slot: usize| common.occurrences(slot).freqs.iter().map(|freq| u64::from(*freq)).sum::<u64>();
        let first = usize::from(pair == 2 && total(1) < total(0));
        self.read(first, true, &mut terms[first], common.occurrences(first));
        if pair == 2 {
            self.read(1 - first, false, &mut terms[1 - first], common.occurrences(1 - first));
        }
        self.keep_started(common);
        for (term, scored) in terms.iter_mut().enumerate().skip(pair) {
            if common.docs().is_empty() {
                break;
            }
            let before = common.docs().len();
            let kept = common.keep_with_positions(0, scored);
            if kept.len() < before {
                self.starts.keep_documents(kept.iter().map(|at| usize::from(*at)));
            }
            self.read(term, false, scored, common.occurrences(0));
            self.keep_started(common);
        }
        Ok(())
    }

    /// Keeps the documents that have a possible start.
    fn keep_started(&mut self, common: &mut Common) {
        let (mut numbers, mut count) = ([0; BLOCK], 0);
        for (at, starts) in self.starts.counts().iter().enumerate() {
            numbers[count] = at as u8;
            count += usize::from(*starts > 0);
        }
        if count < self.starts.counts().len() {
            self.starts.keep_documents(numbers[..count].iter().map(|at| usize::from(*at)));
        }
        common.keep_numbers(&numbers[..count]);
    }

    /// Reads the positions of a term in all documents. They become the possible starts, or those starts are
    /// kept that they follow.
    fn read(&mut self, term: usize, is_first: bool, scored: &mut ScoredTerm<'_>, found: &Occurrences) {
        let (place, ExactPhrase { starts, lists, .. }) = (self.places[term], self);
        if !is_first && starts.counts().len() != found.freqs.len() {
            // The positions of the term before did not decode.
            return;
        }
        starts.begin_pass();
        for part in parts(&found.freqs) {
            let (freqs, spots) = (&found.freqs[part.clone()], &found.spots[part]);
            if !scored.postings.lists(spots, freqs, lists) {
                // The postings know why; see `Postings::status`.
                return starts.clear();
            }
            match is_first {
                true => starts.append(lists, freqs, place),
                false => starts.keep_followed(lists, freqs, place),
            }
        }
        if !is_first {
            starts.end_pass();
        }
    }
}

/// Returns ranges of documents whose positions are read together.
fn parts(freqs: &[u32]) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let (mut until, mut together) = (from, 0);
        while let Some(freq) = freqs.get(until) {
            together += u64::from(*freq);
            if until > from && together > TOGETHER_MAX {
                break;
            }
            until += 1;
        }
        let part = from..until;
        from = until;
        (!part.is_empty()).then_some(part)
    })
}
