//! The interface of score functions.

use std::fmt::Debug;

use limber_segment::{DocId, Segment};

use crate::error::Error;
use crate::query::bind::Binder;
use crate::score::{Explanation, MaxScores};

/// A function as parsed from the request.
pub(in crate::query) trait ScoreFunction: Debug + Send + Sync {
    /// Looks up fields and compiles scripts.
    ///
    /// # Errors
    /// Fails with Elasticsearch's messages for unsuitable fields and scripts.
    fn bind(&self, binder: &Binder<'_>) -> Result<Box<dyn BoundFunction>, Error>;
}

/// A function bound to a shard.
pub(crate) trait BoundFunction: Debug + Send + Sync {
    /// Opens the function on a segment.
    fn open<'a>(&'a self, segment: &'a Segment) -> Result<Box<dyn FunctionReader + 'a>, Error>;

    /// Explains the value of a document. `score`: the explanation of the query's score.
    fn explain(&self, segment: &Segment, doc: DocId, score: &Explanation) -> Result<Explanation, Error>;

    /// Whether the function uses the query's scores.
    fn needs_scores(&self) -> bool {
        false
    }

    /// Returns upper bounds of the function that are known without reading documents, if any.
    fn max_scores(&self) -> Option<Box<dyn MaxScores + '_>> {
        None
    }
}

/// A function opened on a segment.
pub(crate) trait FunctionReader {
    /// Writes the function's values for `docs`, which must ascend, to `out`. `scores` has the query's scores.
    /// All three have the same length.
    fn read(&mut self, docs: &[DocId], scores: &[f32], out: &mut [f64]) -> Result<(), Error>;

    /// Returns the value of one document.
    fn read_one(&mut self, doc: DocId, score: f32) -> Result<f64, Error> {
        let mut out = [0.0];
        self.read(&[doc], &[score], &mut out)?;
        Ok(out[0])
    }
}
