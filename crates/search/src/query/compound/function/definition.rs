//! What a score function says about itself.

use std::fmt::Debug;

use limber_segment::{DocId, Segment};

use crate::error::Error;
use crate::query::bind::Binder;
use crate::score::{Ceiling, Explanation};

/// A function as parsed.
pub(in crate::query) trait ScoreFunction: Debug + Send + Sync {
    /// Looks up fields and compiles scripts.
    ///
    /// # Errors
    /// Fields and scripts that do not fit, in Elasticsearch's words.
    fn bind(&self, binder: &Binder<'_>) -> Result<Box<dyn BoundFunction>, Error>;
}

/// A function bound to a shard.
pub(crate) trait BoundFunction: Debug + Send + Sync {
    /// Opens it on a segment.
    fn open<'a>(&'a self, segment: &'a Segment) -> Result<Box<dyn FunctionReader + 'a>, Error>;

    /// How the value of a document came about. `score`: that of the query.
    fn explain(&self, segment: &Segment, doc: DocId, score: &Explanation) -> Result<Explanation, Error>;

    /// Whether the query's scores enter.
    fn needs_scores(&self) -> bool {
        false
    }

    /// What is known of the function without reading documents, if anything.
    fn ceiling(&self) -> Option<Box<dyn Ceiling + '_>> {
        None
    }
}

/// A function on one segment.
pub(crate) trait FunctionReader {
    /// The function of `docs`, which ascend, into `out`; `scores` are those of the query. All have the same
    /// length.
    fn read(&mut self, docs: &[DocId], scores: &[f32], out: &mut [f64]) -> Result<(), Error>;

    /// The value of one document.
    fn read_one(&mut self, doc: DocId, score: f32) -> Result<f64, Error> {
        let mut out = [0.0];
        self.read(&[doc], &[score], &mut out)?;
        Ok(out[0])
    }
}
