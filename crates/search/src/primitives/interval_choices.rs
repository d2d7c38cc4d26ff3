//! Alternatives of interval sources: combines them, and enumerates the ways to choose one of each.

use std::collections::HashSet;

use limber_mapping::RequestError;

use super::intervals::Source;

/// Maximum number of combinations that may result (`indices.query.bool.max_clause_count`).
const CHOICES_MAX: usize = 4096;

/// Sources without repetitions, in the order in which they were added.
#[derive(Default)]
pub(super) struct Distinct {
    /// The sources.
    pub sources: Vec<Source>,
    /// Their keys, to recognize repetitions.
    keys: HashSet<Vec<u8>>,
}

impl Distinct {
    /// Adds a source, unless it was added before.
    pub fn add(&mut self, source: Source) {
        if self.keys.insert(source.key()) {
            self.sources.push(source);
        }
    }
}

/// Returns the only source of a list of one; otherwise the list, as an error.
pub(super) fn only(mut sources: Vec<Source>) -> Result<Source, Vec<Source>> {
    match sources.len() {
        1 => Ok(sources.remove(0)),
        _ => Err(sources),
    }
}

/// Returns every way to choose one alternative of each source.
pub(super) fn choose(sources: &[Source]) -> Result<Vec<Vec<Source>>, RequestError> {
    let mut ways: Vec<Vec<Source>> = vec![Vec::with_capacity(sources.len())];
    for source in sources {
        let choices = source.split()?;
        if ways.len() * choices.len() > CHOICES_MAX {
            return Err(RequestError::illegal_argument("Too many disjunctions to expand"));
        }
        if let [only] = choices.as_slice() {
            ways.iter_mut().for_each(|way| way.push(only.clone()));
            continue;
        }
        let with = |choice: &Source| {
            let extended = ways.iter().map(|way| way.iter().chain([choice]).cloned().collect::<Vec<_>>());
            extended.collect::<Vec<_>>()
        };
        ways = choices.iter().flat_map(with).collect();
    }
    Ok(ways)
}
