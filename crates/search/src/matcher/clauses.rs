//! Clauses of a compound query, one after another: "may the request go on to the next one?"

use crate::error::{Result, check_request};

/// Clauses that run over a window of documents between two checks. Each may allocate buffers for the window
/// and keep them.
const CLAUSES_PER_CHECK: usize = 8;

/// Runs `run` on each clause. Between clauses, it checks whether the request was cancelled, or holds more
/// memory than it may.
pub(crate) fn each_clause<'c, T: 'c>(
    clauses: impl IntoIterator<Item = &'c mut T>,
    mut run: impl FnMut(&mut T) -> Result<()>,
) -> Result<()> {
    for (number, clause) in clauses.into_iter().enumerate() {
        if number % CLAUSES_PER_CHECK == CLAUSES_PER_CHECK - 1 {
            check_request()?;
        }
        run(clause)?;
    }
    Ok(())
}
