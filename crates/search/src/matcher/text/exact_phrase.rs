//! A phrase of single terms, each at its place: "how often do these terms stand so in the document that they
//! are on?"

use crate::matcher::scored::scored_term::ScoredTerm;

pub(in crate::matcher) struct ExactPhrase {
    /// The place of each term in the phrase, in the order of the terms.
    places: Vec<u32>,
    /// The terms, rarest in the current document first.
    order: Vec<(u32, usize)>,
    /// Where the phrase may begin, as far as the terms that were looked at allow.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl ExactPhrase {
    pub(crate) fn new(places: Vec<u32>) -> ExactPhrase {
        ExactPhrase { places, order: Vec::new(), starts: Vec::new(), positions: Vec::new() }
    }

    /// The phrase scores no more in the document that all terms are on.
    #[inline]
    pub fn bound(&self, terms: &mut [ScoredTerm<'_>]) -> f32 {
        let least = terms.iter_mut().map(|term| term.postings.freq()).min().unwrap_or(0);
        terms[0].score_of(least)
    }

    /// Whether the phrase is in the document that all terms are on.
    #[inline]
    pub fn holds(&mut self, terms: &mut [ScoredTerm<'_>]) -> bool {
        self.freq(terms) > 0
    }

    /// How often it is there.
    pub fn freq(&mut self, terms: &mut [ScoredTerm<'_>]) -> u32 {
        self.order.clear();
        self.order.extend(terms.iter_mut().enumerate().map(|(at, term)| (term.postings.freq(), at)));
        // Few terms: a sort by insertion.
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

/// Keeps the starts from which a position lies `place` further on; both ascend.
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
