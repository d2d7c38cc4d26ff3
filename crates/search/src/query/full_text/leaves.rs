//! The leaves of query strings: "how many queries do the words of this text become?"

use std::cell::Cell;

use limber_work as work;

use crate::error::Error;
use crate::query::parse::{QueryLimits, too_many_nested_clauses};

/// How many times as many leaves a query string may have as there may be clauses: those on fields that do not
/// exist, or that a text does not fit, are no clauses in the end.
const LEAVES_PER_CLAUSE: usize = 4;

/// Counts the queries that a query string becomes, one for each word and field. Thousands of words in a
/// thousand fields would be millions of queries before their terms are counted.
#[derive(Debug, Default)]
pub(super) struct Leaves(Cell<usize>);

impl Leaves {
    /// Counts a word, phrase or pattern in this many fields.
    ///
    /// # Errors
    /// There are too many, or the request must end.
    pub fn count(&self, fields: usize) -> Result<(), Error> {
        work::check()?;
        self.0.set(self.0.get() + fields);
        let clauses_max = QueryLimits::default().clauses_max;
        match self.0.get() > LEAVES_PER_CLAUSE * clauses_max as usize {
            true => Err(too_many_nested_clauses(clauses_max).into()),
            false => Ok(()),
        }
    }
}
