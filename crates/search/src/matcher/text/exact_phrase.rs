//! Counts the occurrences of a phrase that consists of single terms at fixed positions, in a document that
//! has all of the terms.

use crate::matcher::scored::scored_term::ScoredTerm;

pub(in crate::matcher) struct ExactPhrase {
    /// The offset of each term in the phrase, in the order of the terms.
    places: Vec<u32>,
    /// The terms by ascending frequency in the current document.
    order: Vec<(u32, usize)>,
    /// Possible starts of the phrase, given the terms that were examined so far.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl ExactPhrase {
    pub(crate) fn new(places: Vec<u32>) -> ExactPhrase {
        ExactPhrase { places, order: Vec::new(), starts: Vec::new(), positions: Vec::new() }
    }

    /// Returns an upper bound of the phrase's score in the current document, which must have all terms.
    #[inline]
    pub fn bound(&self, terms: &mut [ScoredTerm<'_>]) -> f32 {
        let least = terms.iter_mut().map(|term| term.postings.freq()).min().unwrap_or(0);
        terms[0].score_of(least)
    }

    /// Whether the current document, which must have all terms, contains the phrase.
    #[inline]
    pub fn holds(&mut self, terms: &mut [ScoredTerm<'_>]) -> bool {
        self.freq(terms) > 0
    }

    /// Returns the frequency of the phrase in the current document.
    pub fn freq(&mut self, terms: &mut [ScoredTerm<'_>]) -> u32 {
        self.order.clear();
        self.order.extend(terms.iter_mut().enumerate().map(|(at, term)| (term.postings.freq(), at)));
        // There are few terms, so this is an insertion sort.
        self.order.sort_unstable();
        for (turn, (_, at)) in self.order.iter().enumerate() {
            let (postings, place) = (&mut terms[*at].postings, self.places[*at]);
            if turn == 0 {
                postings.positions(&mut self.starts);
                let before = self.starts.partition_point(|position| *position < place);
                self.starts.drain(..before);
                self.starts.iter_mut().for_each(|position| *position -= place);
            } else {
                postings.positions(&mut self.positions);
                keep_common(&mut self.starts, &self.positions, place);
            }
            if self.starts.is_empty() {
                return 0;
            }
        }
        self.starts.len() as u32
    }
}

/// Keeps the starts that have a position `place` after them; both lists ascend.
#[inline]
fn keep_common(starts: &mut Vec<u32>, positions: &[u32], place: u32) {
    let (mut kept, mut at) = (0, 0);
    for read in 0..starts.len() {
        let wanted = starts[read].saturating_add(place);
        while at < positions.len() && positions[at] < wanted {
            at += 1;
        }
        if at == positions.len() {
            break;
        }
        starts[kept] = starts[read];
        kept += usize::from(positions[at] == wanted);
    }
    starts.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_kept_where_the_next_term_follows() {
        for (starts, positions, place, kept) in [
            (&[0, 3, 9][..], &[1, 5, 10][..], 1, &[0, 9][..]),
            (&[0, 3, 9], &[], 1, &[]),
            (&[], &[1], 1, &[]),
            (&[4, 5], &[6, 7], 2, &[4, 5]),
            (&[u32::MAX], &[3], 2, &[]),
        ] {
            let mut found = starts.to_vec();
            keep_common(&mut found, positions, place);
            assert_eq!(found, kept, "{starts:?} {positions:?} {place}");
        }
    }
}
